"""What the kernel of JupyterLite loads: a lock file made of the runtime's own, and the few small wheels it adds.

JupyterLite's kernel asks for some packages by name before it runs a first cell. Two of them do nothing for this
course and cost megabytes and seconds (an installer, and static analysis for completions): they get an empty wheel.
Names are still completed, from the objects themselves. The installer is replaced by a sentence, as nothing is fetched
from anywhere.
"""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from editions.browser import image
from editions.browser.fetch import write_atomically
from editions.browser.our_wheel import OurWheel, empty_wheel, named, pure_wheel
from editions.browser.runtime import LOCK, RUNTIME_FILES, closure, lock_bytes, our_entry
from editions.lite import fonts

EMPTY = ("jedi", "micropip")
"""The kernel asks for them by name."""
LEFT_OUT = {*EMPTY, "parso", "ssl", "openssl"}
LOADED = ("piplite", "ipykernel", "comm", "pyodide_kernel", "ipython", "sqlite3", "sdpa_helpers")
"""Loaded with Python itself, all at once, rather than one after another when the kernel and the first cell ask."""
DEPENDS = {
    "ipykernel": ["comm"],
    "pyodide-kernel": ["comm", "ipykernel", "ipython", "traitlets"],
    fonts.NAME: ["matplotlib"],
}
ENVIRONMENT = {"HOME": "/home/pyodide", "SDPA_HOME": "/drive/.sdpa"}
"""Points and predictions: in the browser's own storage, as the notebooks are. Jupyter hides names with a dot."""
LOADER = Path(__file__).with_name("python.js")
WARM = Path(__file__).with_name("before_image.py")

KERNEL_EXTENSION = Path(sys.prefix) / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"

Entry = dict[str, Any]


def write_kernel(into: Path, pyodide: Path) -> Path:
    """Write the lock file and the wheels into the folder `into`; they name those in `pyodide` beside them."""
    lock = json.loads((pyodide / LOCK).read_text(encoding="utf-8"))
    prefix = os.path.relpath(into, pyodide).replace(os.sep, "/")
    packages = {name: _lean(entry) for name, entry in lock["packages"].items() if name not in LEFT_OUT}
    for wheel in _wheels(pyodide / packages["matplotlib"]["file_name"]):
        name = _name(wheel).replace("_", "-")
        entry = our_entry(name, wheel, [_name(wheel)], DEPENDS.get(name, []))
        packages[name] = entry | {"file_name": f"{prefix}/{wheel.file_name}"}
        write_atomically(into / wheel.file_name, wheel.content)
    packages = _list_follows(packages)
    write_atomically(into / LOCK, lock_bytes(lock["info"], packages))
    return into / LOCK


def write_image(lock: Path, pyodide: Path) -> None:
    """Write beside the lock file what the kernel starts from: files of what it loads, and an image of its memory."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    names = sorted(closure(packages, [*LOADED, *EMPTY]))
    wheels = [(pyodide / packages[name]["file_name"]).read_bytes() for name in names]
    runtime = {name: (pyodide / name).read_bytes() for name in (*RUNTIME_FILES, LOCK)}
    files = image.image_files("kernel", runtime, image.laid(wheels), WARM, ENVIRONMENT)
    for name, content in files.items():
        write_atomically(lock.parent / name, content)
    version = _version(image.SCRIPT.read_bytes(), *files.values())
    there = os.path.relpath(pyodide, lock.parent).replace(os.sep, "/")
    script = LOADER.read_text(encoding="utf-8").replace("../../pyodide/", f"{there}/")
    script = script.replace('VERSION = ""', f'VERSION = "{version}"')
    (lock.parent / LOADER.name).write_text(script, encoding="utf-8")


def _version(*contents: bytes) -> str:
    return sha256(b"".join(contents)).hexdigest()[:10]


def _wheels(drawing: Path) -> list[OurWheel]:
    theirs = [_of_jupyterlite(name) for name in ("ipykernel", "pyodide_kernel")]
    return [*theirs, _piplite(), *(empty_wheel(name, "0") for name in EMPTY), fonts.font_list(drawing)]


def _list_follows(packages: dict[str, Entry]) -> dict[str, Entry]:
    """Our list of fonts needs matplotlib, so it comes last, over the one in there; who wants matplotlib gets both."""
    drawing, ours = packages["matplotlib"], packages[fonts.NAME]
    asking = {
        name: entry | {"depends": sorted({*entry["depends"], fonts.NAME})}
        for name, entry in packages.items()
        if "matplotlib" in entry["depends"] and name != fonts.NAME
    }
    imports = {"matplotlib": drawing | {"imports": []}, fonts.NAME: ours | {"imports": drawing["imports"]}}
    return packages | asking | imports


def settings(site: Path, lock: Path) -> dict[str, Any]:
    """What JupyterLite's kernel extension is told. Addresses are relative to the site, so it works under any path."""

    loader = lock.with_name(LOADER.name)

    def from_site(path: Path) -> str:
        return "./" + os.path.relpath(path, site).replace(os.sep, "/")

    return {
        "pyodideUrl": f"{from_site(loader)}?v={_version(loader.read_bytes())}",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {
            "lockFileURL": from_site(lock),
            "packages": [*LOADED, *EMPTY],
            "env": ENVIRONMENT,
        },
    }


def _lean(entry: Entry) -> Entry:
    return entry | {"depends": [name for name in entry["depends"] if name.replace("_", "-") not in LEFT_OUT]}


def _name(wheel: OurWheel) -> str:
    return wheel.file_name.split("-")[0]


def _of_jupyterlite(name: str) -> OurWheel:
    """A wheel that the kernel extension carries. Its code runs on this Pyodide's Python, whatever its metadata ask."""
    wheel = next(iter(sorted((KERNEL_EXTENSION / "static" / "pypi").glob(f"{name}-*.whl"))))
    return named(name, wheel.name.split("-")[1], wheel.read_bytes())


def _piplite() -> OurWheel:
    sources = sorted((Path(__file__).parent / "piplite").glob("*.py"))
    return pure_wheel("piplite", "0", {f"piplite/{path.name}": path.read_bytes() for path in sources})
