"""Where the course's notebooks lie: beside the package in a checkout, or in the current folder."""

from pathlib import Path

LAID = ".laid.json"
"""A folder with this file holds a learner's working copies."""


def course_root() -> Path:
    """The folder that holds notebooks/, exercises/ and solutions/; FileNotFoundError says how to get there."""
    candidates = [Path(__file__).parents[2], Path.cwd(), *Path.cwd().parents]
    for folder in candidates:
        if (folder / LAID).exists():
            continue
        if (folder / "exercises").is_dir() and (folder / "notebooks" / "00_start_here.ipynb").is_file():
            return folder
    raise FileNotFoundError(
        "the course's exercises/ folder was not found beside the package, nor in this folder or above it; "
        f"run this from the course's own folder (this is {Path.cwd()})"
    )
