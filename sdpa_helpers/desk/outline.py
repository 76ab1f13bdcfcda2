"""What a lesson's notebook says: title, minutes, which predictions it asks; and whether a copy was run to its end."""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MINUTES = re.compile(r"\*\*(\d+) minutes\*\*")
_ASKED = re.compile(r"^[^#\n]*\bpredict\(\s*[\"'](\w+)[\"']", re.MULTILINE)


@dataclass(frozen=True)
class Outline:
    """The head of a lesson."""

    name: str
    """The notebook, e.g. "03_softmax"."""
    title: str
    """Without its number, e.g. "Softmax"."""
    minutes: int
    """0 where the notebook does not say."""
    predictions: frozenset[str]
    """Their names."""


def outline_of(notebook: Path) -> Outline:
    """Read a lesson's head. Of a damaged one only the name is known: the others are there all the same."""
    try:
        about = notebook.stat()
        return _read(notebook, about.st_mtime_ns, about.st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Outline(notebook.stem, notebook.stem, 0, frozenset())


def end_reached(copy: Path) -> bool:
    """Whether the last code cell of a learner's copy has run, as the file was saved."""
    try:
        about = copy.stat()
        return _ran_to_its_end(copy, about.st_mtime_ns, about.st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def short_done(copy: Path) -> bool | None:
    """Whether the last code cell of a copy's short has run, as the file was saved; None where it has no short."""
    try:
        about = copy.stat()
        return _ran_its_short(copy, about.st_mtime_ns, about.st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


@functools.lru_cache(maxsize=64)
def _ran_to_its_end(copy: Path, _time: int, _size: int) -> bool:
    return _last_has_run(json.loads(copy.read_text(encoding="utf-8"))["cells"])


@functools.lru_cache(maxsize=64)
def _ran_its_short(copy: Path, _time: int, _size: int) -> bool | None:
    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    short = [cell for cell in cells if "short" in cell["metadata"].get("tags", ())]
    return _last_has_run(short) if short else None


def _last_has_run(cells: list[dict[str, Any]]) -> bool:
    ran = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    return bool(ran) and ran[-1] is not None


@functools.lru_cache(maxsize=64)
def _read(notebook: Path, _time: int, _size: int) -> Outline:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    first = next((text_of(cell) for cell in cells if cell["cell_type"] == "markdown"), "")
    heading = first.partition("\n")[0].lstrip("# ").strip()
    number, dot, title = heading.partition(" · ")
    minutes = _MINUTES.search(first)
    asked = {name for cell in cells if cell["cell_type"] == "code" for name in _ASKED.findall(text_of(cell))}
    return Outline(
        notebook.stem, title if dot else number, int(minutes[1]) if minutes else 0, frozenset(asked)
    )


def text_of(cell: dict[str, Any]) -> str:
    """A cell's source, which files hold as lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
