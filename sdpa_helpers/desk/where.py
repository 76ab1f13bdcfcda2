"""Where the desk's things lie, below the course's root."""

from pathlib import Path

FOLDERS = ("notebooks", "exercises")
"""What is copied into work/, as folders of the same names."""
FIRST = "00_start_here"
"""The lesson that opens."""


class DeskProblem(Exception):
    """The desk cannot do what it was asked; the text says why, and what to do."""


def work_of(root: Path) -> Path:
    """The folder of the learner's copies."""
    return root / "work"


def is_course(root: Path) -> bool:
    """Whether this folder is a course's root."""
    return (root / "exercises").is_dir() and (root / "notebooks" / f"{FIRST}.ipynb").is_file()


def notebooks_in(root: Path, folder: str) -> list[Path]:
    """The course's own notebooks of a folder, in their order."""
    return sorted(path for path in (root / folder).glob("*.ipynb") if not path.name.startswith("."))
