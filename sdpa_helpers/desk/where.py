"""Where the desk's things lie, below the course's root."""

import os
from pathlib import Path

FOLDERS = ("notebooks", "exercises")
"""What is copied into work/, as folders of the same names."""
FIRST = "00_start_here"
"""The lesson that opens."""
HOME = ".home"
"""In work/: what is kept in a user's home folder where that can be written."""


class DeskProblem(Exception):
    """The desk cannot do what it was asked; the text says why, and what to do."""


def work_of(root: Path) -> Path:
    """The folder of the learner's copies."""
    return root / "work"


def refuse_links(root: Path, *places: Path) -> None:
    """DeskProblem where a link stands in a place of ours, or above it: what it leads to is not ours to write to."""
    for place in places:
        own, real = Path(os.path.realpath(root), place.relative_to(root)), Path(os.path.realpath(place))
        if real != own:
            raise DeskProblem(
                f"{place} leads to {real}, by a link: nothing is written there, and nothing was changed. Remove the "
                "link (what it leads to stays as it is), or put a folder or file of your own in its place"
            )


def is_course(root: Path) -> bool:
    """Whether this folder is a course's root."""
    return (root / "exercises").is_dir() and (root / "notebooks" / f"{FIRST}.ipynb").is_file()


def notebooks_in(root: Path, folder: str) -> list[Path]:
    """The course's own notebooks of a folder, in their order."""
    return sorted(path for path in (root / folder).glob("*.ipynb") if not path.name.startswith("."))
