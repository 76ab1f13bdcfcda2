"""Files that a command makes and git tracks: written where they differ, and a line for each says whether it did."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def put(path: Path, text: str) -> bool:
    """Write the file, as these bytes, unless it has them; True where it had not."""
    data = text.encode()
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def tell(name: str, changed: bool) -> None:
    """Print the line, e.g. "unchanged docs/ledger.md"."""
    print(f"{'made' if changed else 'unchanged':9} {name}", flush=True)


def keep(root: Path, name: str, text: str) -> None:
    """Both, for one file of the course."""
    tell(name, put(root / name, text))


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """A page with each text between its two marks, `<!-- name -->` and `<!-- end -->`, which have to be there."""
    for name, text in tables.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        assert len(pattern.findall(page)) == 1, f"the page has no place for {name!r}"
        page = pattern.sub(lambda found, text=text: found[1] + text + found[2], page)
    return page


def keep_page(page: Path, filled: Callable[[str], str]) -> int:
    """What a command with a page does at its end: write it, or with --check say by 1 that it is another."""
    text = page.read_text(encoding="utf-8")
    new = filled(text)
    if "--check" in sys.argv:
        return int(text != new)
    page.write_text(new, encoding="utf-8")
    return 0
