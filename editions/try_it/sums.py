"""What the light pages take of Python, each file with the sum it had when they were built."""

import base64
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from editions.browser.runtime import LIGHT_FILES

WALL_FILES = ("frame.js", "worker.js")
"""Ours that run behind the wall: handed over like Python's own."""


@dataclass(frozen=True)
class Sum:
    """One file as a page may fetch it."""

    name: str
    address: str
    """From the folder of the pages; what runs behind the wall has its version in it."""
    sum: str
    """As `integrity` and Content-Security-Policy write it: "sha256-…" in base64."""
    bytes: int


def sum_of(content: bytes) -> str:
    """ "sha256-…" in base64."""
    return f"sha256-{base64.b64encode(sha256(content).digest()).decode()}"


def behind_the_wall(pages: Path, pyodide: Path) -> list[Sum]:
    """Every file that Python behind the wall is made of, and no other."""
    ours = [_sum(pages / name, name) for name in WALL_FILES]
    return ours + [_sum(pyodide / name, f"../{pyodide.name}/{name}") for name in LIGHT_FILES]


def files_js(files: list[Sum]) -> str:
    """The module by which a page knows them."""
    known = {one.name: {"address": one.address, "sum": one.sum, "bytes": one.bytes} for one in files}
    return f"// Written by the build.\nexport const FILES = {json.dumps(known, indent=1)};\n"


def _sum(path: Path, address: str) -> Sum:
    content = path.read_bytes()
    version = sha256(content).hexdigest()[:16]
    return Sum(path.name, f"{address}?v={version}", sum_of(content), len(content))
