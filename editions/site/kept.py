"""Write the service worker at the site's root: it knows each file of the site by its sum, and its part."""

import json
import re
from pathlib import Path
from urllib.parse import quote

from editions.try_it.sums import WALL_FILES, behind_the_wall, sum_of

KEEPER = "keep.js"
BASE, REST = "base", "rest"
"""Parts: what every exercise and lesson needs; what is kept only with the whole site. Others are named by a lesson."""
ALWAYS = ("try", "look", "front", "_static", "_images", "index.html", "in-the-browser.html", "offline.html")
"""Of the base: folders and pages."""
APART = ("lite", "pyodide", "_sources")
"""JupyterLite has a keeper of its own; of Python only what the light pages load is kept; sources are no pages."""
NO_PAGE_ASKS = re.compile(r"\.map$|/locales/")
"""Files of themes for other languages, and for their makers."""


def write_keeper(site: Path) -> None:
    """Write `keep.js` for what the other steps have built."""
    listed = json.dumps(files_of(site), indent=0)
    script = Path(__file__).with_name(KEEPER).read_text(encoding="utf-8")
    (site / KEEPER).write_text(script.replace("LIST = {}", f"LIST = {listed}"), encoding="utf-8")


def files_of(site: Path) -> dict[str, tuple[str, str, int]]:
    """Address → (sum, part, bytes) of all that can be kept."""
    python = {
        _from_root(one.address): (one.sum, BASE, one.bytes)
        for one in behind_the_wall(site / "try", site / "pyodide")
    }
    return python | {quote(name): _entry(site / name, name) for name in _names(site)}


def _names(site: Path) -> list[str]:
    names = (path.relative_to(site).as_posix() for path in sorted(site.rglob("*")) if path.is_file())
    apart = {KEEPER, *(f"try/{name}" for name in WALL_FILES)}
    return [
        name
        for name in names
        if name not in apart and name.split("/")[0] not in APART and not NO_PAGE_ASKS.search(name)
    ]


def _entry(path: Path, name: str) -> tuple[str, str, int]:
    content = path.read_bytes()
    return sum_of(content), part_of(name), len(content)


def part_of(name: str) -> str:
    """The part to which a file of the site belongs."""
    folder, _, page = name.partition("/")
    if folder in ("lessons", "exercises"):
        return Path(page).stem
    return BASE if folder in ALWAYS else REST


def _from_root(address: str) -> str:
    return address.removeprefix("../") if address.startswith("../") else f"try/{address}"
