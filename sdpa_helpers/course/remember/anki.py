"""The deck as a text file that Anki imports (File, Import). A second import updates notes, not when they are due.

The file's first lines are those that Anki's manual describes under "Importing, Text files".
"""

from collections.abc import Sequence
from pathlib import Path

from sdpa_helpers.course.remember.items import Item
from sdpa_helpers.show.predict import rich

_HEAD = (
    "#separator:tab",
    "#html:true",
    "#notetype:Basic",
    "#deck:Scaled dot-product attention",
    "#guid column:1",
    "#tags column:4",
)


def write_anki(items: Sequence[Item], path: Path) -> None:
    """Write the deck into a file, new or an older deck of ours. OSError where that cannot be, or is another's file."""
    if path.exists() and not path.read_bytes().startswith(_HEAD[0].encode()):
        raise FileExistsError(f"{path} is there and no deck of ours: it stays as it is")
    path.write_text(as_anki(items), encoding="utf-8")


def as_anki(items: Sequence[Item]) -> str:
    """One note a line: its name, what is asked, what is true, the lesson as a tag."""
    return "\n".join([*_HEAD, *map(_note, items)]) + "\n"


def _note(item: Item) -> str:
    options = "".join(f"<li>{rich(choice.text)}</li>" for choice in item.choices)
    right = item.choices[item.right]
    front = f"<p>{rich(item.question)}</p><ul>{options}</ul>"
    back = f"<p><b>{rich(right.text)}</b></p><p>{rich(right.because)}</p>"
    fields = (f"sdpa-{item.key}", front, back, f"sdpa::{item.lesson}")
    return "\t".join(" ".join(field.split()) for field in fields)  # a tab or a new line would end a field
