"""The list of fonts that matplotlib makes when it is first imported, made once here: in a page that takes seconds.

Pyodide's matplotlib brings such a list, but one of another version, which it does not take; and it says in red, under
the first figure of every lesson, that it makes its own.
"""

import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from matplotlib import font_manager
from matplotlib.font_manager import FontEntry
from matplotlib.ft2font import FT2Font

from editions.browser.our_wheel import OurWheel, pure_wheel

NAME = "sdpa-fonts"
PLACE = "matplotlib/fontlist.json"
"""Where the matplotlib of Pyodide looks for the list."""
DATA = "matplotlib/mpl-data/"
FIELDS = ("name", "style", "variant", "weight", "stretch", "size")
_VERSION = re.compile(r"^    __version__ = (\d+)", re.MULTILINE)


def font_list(matplotlib_wheel: Path) -> OurWheel:
    """A wheel that holds the list of fonts of a wheel of matplotlib."""
    with zipfile.ZipFile(matplotlib_wheel) as archive, tempfile.TemporaryDirectory() as temporary:
        manager = archive.read("matplotlib/font_manager.py").decode()
        names = [name for name in archive.namelist() if name.startswith(f"{DATA}fonts/")]
        archive.extractall(temporary, names)
        found = {kind: _entries(Path(temporary), names, kind) for kind in ("ttf", "afm")}
    version = _VERSION.search(manager)
    if version is None:
        raise RuntimeError("this matplotlib does not say which version its list of fonts has")
    told = {
        "__class__": "FontManager",
        "_version": int(version[1]),
        "_FontManager__default_weight": "normal",
        "default_size": None,
        "defaultFamily": {"ttf": "DejaVu Sans", "afm": "Helvetica"},
        "afmlist": found["afm"],
        "ttflist": found["ttf"],
    }
    return pure_wheel(NAME.replace("-", "_"), "1", {PLACE: _bytes(told)})


def _entries(root: Path, names: list[str], kind: str) -> list[dict[str, Any]]:
    return [
        _entry(root / name, name.removeprefix(DATA)) for name in sorted(names) if name.endswith(f".{kind}")
    ]


def _entry(path: Path, relative: str) -> dict[str, Any]:
    about = _read_ttf(path) if path.suffix == ".ttf" else _read_afm(path)
    return {"__class__": "FontEntry", "fname": relative} | {field: getattr(about, field) for field in FIELDS}


def _read_ttf(path: Path) -> FontEntry:
    return font_manager.ttfFontProperty(FT2Font(str(path)))


def _read_afm(path: Path) -> FontEntry:
    with path.open("rb") as file:
        return font_manager.afmFontProperty(str(path), font_manager._afm.AFM(file))


def _bytes(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True).encode()
