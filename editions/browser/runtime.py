"""The folder from which a page loads Python: Pyodide, the wheels of the course, and the lock file that names them.

    python -m editions.browser.runtime build/site/pyodide

Pyodide's own files come from npm, which has compared them with its lock file; each wheel is taken only with the
sha256 it should have (see `fetch.py`, `sources.toml`). `pyodide-lock.json` is for notebooks, where a plain
`import sdpa_helpers` loads what a notebook needs and `from sdpa_helpers.lessons import …` what figures and proofs
need too. A page with one exercise starts from an image of Python's memory (see `image.py`).
"""

import argparse
import json
import os
import re
import shutil
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from editions.browser import image
from editions.browser.fetch import Carrier, Places, Unobtainable, WantedFile, gather, write_atomically
from editions.browser.our_wheel import OurWheel, empty_wheel, our_wheel
from editions.npm import npm_folder

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).with_name("sources.toml")
RUNTIME_FILES = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
LIGHT_FILES = ("pyodide.js", "python_stdlib.zip", image.SCRIPT.name, *image.FILES)
"""All that a page with one exercise loads."""
LOCK = "pyodide-lock.json"
KINDS = ("light", "notebook", "lessons")  # each needs what the ones before it need

Entry = dict[str, Any]


@dataclass(frozen=True)
class Sources:
    """sources.toml, read."""

    carrier: Carrier
    compiled: dict[str, list[str]]  # by kind: names of Pyodide's lock file
    pure: dict[str, Entry]  # by name: version, sha256, depends, for


def read_sources(path: Path = SOURCES) -> Sources:
    """What the runtime is made of."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    return Sources(Carrier(**text["carrier"]), text["compiled"], text["pure"])


def build_runtime(
    into: Path, wheels: Path | None = None, mirror: str | None = None, cache: Path | None = None
) -> Path:
    """Write the folder `into` (created or renewed; other files in it are removed) and give it back.

    `wheels` is a folder looked into first ($SDPA_PYODIDE_WHEELS where it is not given), `mirror` an address looked at
    last.

    Raises:
        Unobtainable: a wheel could not be had; the text says which and what to do.
        editions.npm.NotInstalled: npm is missing.
    """
    given = wheels or (Path(text) if (text := os.environ.get("SDPA_PYODIDE_WHEELS")) else None)
    sources, pyodide = read_sources(), npm_folder() / "pyodide"
    theirs = json.loads((pyodide / LOCK).read_text(encoding="utf-8"))
    names = closure(theirs["packages"], [name for kind in KINDS for name in sources.compiled[kind]])
    names -= sources.pure.keys()
    wanted = [_of_pyodide(theirs["packages"][name]) for name in sorted(names)]
    pure = {name: _of_pypi(name, entry) for name, entry in sources.pure.items()}
    places = Places(sources.carrier, given, own_distribution(pyodide), mirror, cache)
    files = gather([*wanted, *pure.values()], places)

    entries = {name: theirs["packages"][name] for name in names}
    entries |= {
        name: pure_entry(name, sources.pure[name], files[pure[name].file_name], pure[name]) for name in pure
    }
    wheel = our_wheel(ROOT)
    needs = {kind: needed(sources, kind) for kind in KINDS}
    of_lessons = empty_wheel("sdpa_lessons", wheel.version)
    ours = our_entry("sdpa-helpers", wheel, ["sdpa_helpers"], needs["light"])
    full = ours | {"depends": sorted({*needs["light"], *needs["notebook"]})}
    lessons = our_entry(
        "sdpa-lessons", of_lessons, ["sdpa_helpers.lessons"], ["sdpa-helpers", *needs["lessons"]]
    )
    files |= {one.file_name: one.content for one in (wheel, of_lessons)}
    files |= {name: (pyodide / name).read_bytes() for name in RUNTIME_FILES}
    files[LOCK] = lock_bytes(theirs["info"], entries | {"sdpa-helpers": full, "sdpa-lessons": lessons})
    light = [entries[name] for name in sorted(closure(entries, needs["light"]))]
    packed = [files[entry["file_name"]] for entry in [*light, ours]]
    files |= image.light_files(files, packed)
    _write(into, files)
    return into


def own_distribution(pyodide: Path) -> str | None:
    """Where Pyodide's makers keep the files of this version, as its own loader says; None where it says nothing."""
    version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
    loader = (pyodide / "pyodide.mjs").read_text(encoding="utf-8")
    named = re.search(r"setCdnUrl\(`(https://[^`$]+)\$\{[\w.]+\}([^`$]*)`\)", loader)
    return named and f"{named[1]}{version}{named[2]}"


def closure(packages: dict[str, Entry], names: list[str]) -> set[str]:
    """These packages of a lock file and all that they depend on, by their keys in it.

    A dependency may be spelled in another way than its key ("prompt_toolkit").
    """
    keys = {_canonical(key): key for key in packages}
    found, waiting = set(), [_canonical(name) for name in names]
    while waiting:
        key = keys[waiting.pop()]
        if key not in found:
            found.add(key)
            waiting += [_canonical(name) for name in packages[key]["depends"]]
    return found


def needed(sources: Sources, kind: str) -> list[str]:
    """What a kind of page asks for by name, sorted."""
    return sorted(
        {*sources.compiled[kind], *(name for name, it in sources.pure.items() if it["for"] == kind)}
    )


def pure_entry(name: str, source: Entry, content: bytes, wanted: WantedFile) -> Entry:
    """The lock file's entry of a pure wheel from PyPI."""
    return _entry(
        name, source["version"], wanted.file_name, content, top_level(content), source.get("depends", [])
    )


def our_entry(name: str, wheel: OurWheel, imports: list[str], depends: list[str]) -> Entry:
    """The lock file's entry of a wheel of ours."""
    return _entry(name, wheel.version, wheel.file_name, wheel.content, imports, depends)


def top_level(wheel: bytes) -> list[str]:
    """The names that a wheel offers to `import`."""
    with zipfile.ZipFile(BytesIO(wheel)) as archive:
        first = {name.split("/")[0].removesuffix(".py") for name in archive.namelist()}
    return sorted(name for name in first if name.isidentifier())


def lock_bytes(info: Entry, packages: dict[str, Entry]) -> bytes:
    """A lock file, the same bytes for the same packages."""
    return (json.dumps({"info": info, "packages": packages}, indent=1, sort_keys=True) + "\n").encode()


def _entry(
    name: str, version: str, file_name: str, content: bytes, imports: list[str], depends: list[str]
) -> Entry:
    return {
        "name": name,
        "version": version,
        "file_name": file_name,
        "install_dir": "site",
        "sha256": sha256(content).hexdigest(),
        "imports": imports,
        "depends": sorted(depends),
        "package_type": "package",
        "unvendored_tests": False,
    }


def _of_pyodide(entry: Entry) -> WantedFile:
    return WantedFile(entry["file_name"], entry["sha256"])


def _of_pypi(name: str, source: Entry) -> WantedFile:
    file_name = f"{name.replace('-', '_')}-{source['version']}-py3-none-any.whl"
    return WantedFile(file_name, source["sha256"], f"{name}=={source['version']}")


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _write(into: Path, files: dict[str, bytes]) -> None:
    """The lock file last: who reads it finds what it names."""
    into.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=LOCK.__eq__):
        path = into / name
        if not (path.is_file() and path.read_bytes() == files[name]):
            write_atomically(path, files[name])
    for path in into.iterdir():
        if path.name not in files:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def main() -> None:
    """python -m editions.browser.runtime FOLDER [--wheels FOLDER] [--mirror URL]"""
    parser = argparse.ArgumentParser(
        prog="python -m editions.browser.runtime",
        description="Write the folder from which a page loads Python.",
    )
    parser.add_argument("into", type=Path)
    parser.add_argument("--wheels", type=Path, help="a folder that holds the wheels; looked into first")
    parser.add_argument("--mirror", help="an address with Pyodide's wheels; looked at last")
    asked = parser.parse_args()
    try:
        folder = build_runtime(asked.into, asked.wheels, asked.mirror)
    except Unobtainable as error:
        sys.exit(str(error))
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    of_light = sum(sizes[name] for name in LIGHT_FILES)
    print(f"{folder}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB; a page with one exercise loads "
          f"{of_light / 1e6:.1f} MB of it")  # fmt: skip


if __name__ == "__main__":
    main()
