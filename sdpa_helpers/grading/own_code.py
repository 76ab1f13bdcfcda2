"""Which code grades: a short text that changes with every line that marks could depend on."""

import hashlib
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

PARTS = ("attention", "checking", "course", "grading", "lessons", "sandbox")
"""The rooms that results depend on."""

_NAMES_A_LESSON = re.compile(r"\bsdpa_helpers\.lessons\.(\w+)")
_USES = re.compile(r"^uses:(.*)$", re.MULTILINE)
"""The line in the head of a page, e.g. "uses: shared, masking/shared": a lesson stands before a stroke."""


@cache
def own_code() -> str:
    """The digest of the package's own source files, computed once in a process; the same wherever the code is."""
    return digest_of(Path(__file__).parents[1])


@cache
def code_for(lesson: str) -> str:
    """The same without the lessons that this one has nothing of: `lesson` is its folder, e.g. "softmax"."""
    return digest_of(Path(__file__).parents[1], lesson)


def digest_of(package: Path, lesson: str = "") -> str:
    """The digest of a package folder: names and lines of its Python files and pages, however lines end there.

    lesson: of the lessons' folders only this one, those that it names, and those that they name.
    """
    digest = hashlib.sha256()
    lessons = None if not lesson else _with_those_named(package / "lessons", lesson)
    for name, path in sorted(_files(package, lessons)):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()[:32]


def _files(package: Path, lessons: Collection[str] | None) -> Iterator[tuple[str, Path]]:
    """(name, path) of those that count; of lessons all, or what belongs to none of their folders and to these."""
    for part in PARTS:
        for ending in ("py", "md"):
            for path in package.glob(f"{part}/**/*.{ending}"):
                inside = path.relative_to(package).parts
                if lessons is None or part != "lessons" or len(inside) == 2 or inside[1] in lessons:
                    yield "/".join(inside), path


def _with_those_named(lessons: Path, first: str) -> set[str]:
    """A lesson's folder, and those that its code names, as an exercise made with what an earlier one is made of."""
    found, todo = set[str](), [first]
    while todo:
        if (folder := todo.pop()) in found:
            continue
        found.add(folder)
        for path in lessons.glob(f"{folder}/**/*.py"):
            todo += _NAMES_A_LESSON.findall(path.read_text(encoding="utf-8"))
        for path in lessons.glob(f"{folder}/exercises/*.md"):
            for used in _USES.findall(path.read_text(encoding="utf-8")):
                todo += re.findall(r"(\w+)/", used)
    return found
