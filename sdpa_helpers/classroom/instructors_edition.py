"""`sdpa release --edition instructor`: what learners get, and what is needed to teach and grade.

Beside the student edition: solutions, rubrics and model answers, the grader with its demo, the docs with the
instructor's kit, and slides and PDFs where `make slides` and `make print` have made them. No tests of the course, and
nothing of git: whoever changes the course works in its checkout.
"""

import re
from pathlib import Path

from sdpa_helpers.classroom.core_track import lessons_of_track
from sdpa_helpers.classroom.release import (
    ALL,
    FILES,
    FOLDERS,
    edition_files,
    list_of_lessons,
    present,
    refuse_place,
    write_edition,
)
from sdpa_helpers.course.places import course_root

FOLDERS_TO_TEACH = FOLDERS | {
    "sdpa_helpers": (*FOLDERS["sdpa_helpers"], ".svg"),
    "solutions": (".ipynb",),
    "tests/submissions": (".ipynb",),
    "docs": (".md", ".html", ".json", ".png", ".svg", ".gif"),
}
BUILT = {"slides": (".html",), "print": (".pdf",)}
"""Folders of build/ that lie at the top of the edition, and the endings of what is taken from them."""
TARGETS = ("grade", "exam")
"""Of teachers.mk, the targets that work without the course's tests."""
CONTAINER = ("Dockerfile", ".dockerignore")
"""What `make exam` builds its image from."""


def release_to_teach(target: Path, track: str = ALL) -> list[str]:
    """Write the instructor's edition into `target`, a new or empty folder; returns what it holds at the top.

    track: as for learners, of which "core" and "short" leave parts of the lessons out.
    Raises CannotRelease as `release` does.
    """
    root = course_root()
    refuse_place(target, root, FOLDERS_TO_TEACH)
    files = {*present(root, (*FILES, *CONTAINER)), *edition_files(root, FOLDERS_TO_TEACH, left_out="")}
    texts = {} if track == ALL else lessons_of_track(root, track)
    texts["teachers.mk"] = _makefile((root / "teachers.mk").read_text(encoding="utf-8"))
    built = _built(root)
    texts["README.md"] = _README.format(
        lessons=list_of_lessons(root), built=_ALSO.format(_and(sorted(built))) if built else ""
    )
    write_edition(target, root, files, texts)
    for name, folder in built.items():
        write_edition(target / name, folder, _files_in(folder, BUILT[name]), {})
    return sorted(path.name for path in target.iterdir())


def _built(root: Path) -> dict[str, Path]:
    """The folders of build/ that hold something for this edition, by name."""
    folders = {name: root / "build" / name for name in BUILT}
    return {name: folder for name, folder in folders.items() if _files_in(folder, BUILT[name])}


def _files_in(folder: Path, endings: tuple[str, ...]) -> list[str]:
    return sorted(path.name for path in folder.glob("*") if path.suffix in endings and path.is_file())


def _makefile(text: str) -> str:
    """teachers.mk with its variables and those targets alone that work here; they need the extra "grade"."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    kept = [p for p in paragraphs if re.search(rf"^(EXTRAS|{'|'.join(TARGETS)})\b.*[:=]", p, re.MULTILINE)]
    kept = [re.sub(r"^EXTRAS \?= .*$", "EXTRAS ?= grade", p, flags=re.MULTILINE) for p in kept]
    return "\n\n".join([kept[0], f".PHONY: {' '.join(TARGETS)}", *kept[1:]]) + "\n"


def _and(names: list[str]) -> str:
    return " and ".join(f"`{name}/`" for name in names)


_ALSO = "\nBuilt for you: {}.\n"
_README = Path(__file__).with_name("instructors_readme.md").read_text(encoding="utf-8")
