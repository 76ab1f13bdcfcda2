"""The lessons, in the order of the course, and what each one has: exercises, questions in words, claims."""

import importlib
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.checking.pages.page import read
from sdpa_helpers.course.claim import Claim

HERE = Path(__file__).parents[1] / "lessons"

FIRST = "00_start_here"
"""The lesson before all others, without exercises and claims."""

DOORS = {
    "00a_numpy_in_five_minutes": "NumPy in five minutes",
    "00b_words_in_five_minutes": "Words in five minutes",
}
"""Two short notebooks for whom something is new, and their titles; nothing in the course waits for them."""

_NUMBER = re.compile(r"(?m)^NUMBER = (\d+)$")
_ORDER = re.compile(r"(?m)^(?:order: |ORDER = )(\d+)$")
_MADE = re.compile(r"(?m)^EXERCISE\b")


def by_number(lessons: Path) -> tuple[str, ...]:
    """The lessons by their folders, in the order of their numbers, e.g. "03_softmax" for softmax/ with NUMBER = 3.

    Only the text is read: what a lesson imports may ask for this list. ValueError names a folder without a number, and
    folders with the same.
    """
    found = dict[int, str]()
    for page in sorted(lessons.glob("*/exercises/__init__.py")):
        name, number = page.parents[1].name, _NUMBER.search(page.read_text(encoding="utf-8"))
        if number is None:
            raise ValueError(f"{page}: a line `NUMBER = 3` is expected, the number of the lesson")
        if (other := found.setdefault(int(number[1]), name)) != name:
            raise ValueError(f"{page}: {other} has the number {number[1]} too")
    return tuple(f"{number:02}_{name}" for number, name in sorted(found.items()))


LESSONS = by_number(HERE)
"""The notebooks; the folder of a lesson is its notebook's name without the number."""


@dataclass(frozen=True)
class ExerciseSheet:
    """What the exercise notebook of a lesson holds."""

    lesson: str
    """The notebook, e.g. "01_dot_product"."""
    title: str
    """The lesson's title, e.g. "The dot product"."""
    question: str
    """What the lesson answers, one sentence; the map in lesson 00 and the README's table show it."""
    notes: str
    """What holds for all its exercises, in Markdown."""
    exercises: tuple[Exercise | WrittenExercise, ...]
    """In the order of the notebook."""


def folder_of(lesson: str) -> str:
    """The folder of sdpa_helpers/lessons that holds a lesson, e.g. "dot_product" for "01_dot_product"."""
    if lesson not in LESSONS:
        raise LookupError(f"there is no exercise notebook {lesson!r}; there are: {', '.join(LESSONS)}")
    return lesson.partition("_")[2]


def lesson_in(folder: str) -> str:
    """The lesson that a folder holds, e.g. "01_dot_product" for "dot_product"; LookupError: none does."""
    for lesson in (FIRST, *DOORS, *LESSONS):
        if lesson.partition("_")[2] == folder:
            return lesson
    raise LookupError(
        f"sdpa_helpers/lessons/{folder} is the folder of no lesson; there are: {', '.join(LESSONS)}"
    )


@cache
def sheet_of(lesson: str) -> ExerciseSheet:
    """What the exercise notebook of a lesson holds; LookupError names the lessons there are."""
    home = f"sdpa_helpers.lessons.{folder_of(lesson)}.exercises"
    page = importlib.import_module(home)
    folder = Path(page.__path__[0])
    exercises = tuple(_exercise(home, folder, name) for name in in_order(folder))
    return ExerciseSheet(lesson, page.TITLE, page.QUESTION, page.NOTES.strip(), exercises)


def in_order(folder: Path) -> list[str]:
    """The exercises in a folder: every page, and every file of Python with an EXERCISE.

    They stand as the `order: 10` in a page's head says, or the `ORDER = 10` of a file; those without come last. Only
    the text is read. Where an edition has a file in the place of a page, it is one exercise.
    """
    texts = {page: page.read_text(encoding="utf-8") for page in (*folder.glob("*.md"), *folder.glob("*.py"))}
    there = [
        (place_in(text), at.stem) for at, text in texts.items() if at.suffix == ".md" or _MADE.search(text)
    ]
    return list(dict.fromkeys(name for _, name in sorted(there)))


def place_in(text: str) -> int:
    """Where the text of an exercise says that it stands, e.g. 10; more than all where it says nothing."""
    found = _ORDER.search(text)
    return int(found[1]) if found else 1000


def _exercise(home: str, folder: Path, name: str) -> Exercise | WrittenExercise:
    """From its page, or from its file where it has none."""
    page = folder / f"{name}.md"
    return read(page) if page.is_file() else importlib.import_module(f"{home}.{name}").EXERCISE


@cache
def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook that are checked by a program, e.g. those of "01_dot_product"."""
    return tuple(e for e in sheet_of(lesson).exercises if isinstance(e, Exercise))


@cache
def written_of(lesson: str) -> tuple[WrittenExercise, ...]:
    """The exercises of a notebook that are answered in words; () where there are none."""
    return tuple(e for e in sheet_of(lesson).exercises if isinstance(e, WrittenExercise))


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise of the course that is checked by a program, by its name."""
    return {exercise.name: exercise for lesson in LESSONS for exercise in exercises_of(lesson)}


@cache
def all_written() -> dict[str, WrittenExercise]:
    """Every exercise of the course that is answered in words, by its name."""
    return {exercise.name: exercise for lesson in LESSONS for exercise in written_of(lesson)}


def find(name: str) -> Exercise:
    """The exercise with this name; LookupError says which is near, or lists those there are."""
    known = all_exercises()
    if name in all_written():
        raise LookupError(f"{name} is answered in words: a person reads it, there is no check and no hint")
    if name not in known:
        near = get_close_matches(name, known, 1, 0.5)
        says = "The name of the function says which exercise it answers, or check(f, exercise=…) does."
        rest = f": did you mean {near[0]}?" if near else f". {says} There are: {', '.join(known)}"
        raise LookupError(f"there is no exercise called {name!r}{rest}")
    return known[name]


def claim_numbered(number: int) -> Claim:
    """One claim of the ledger; LookupError says which numbers there are."""
    claims = all_claims()
    for claim in claims:
        if claim.number == number:
            return claim
    raise LookupError(f"the ledger has no claim {number}: it has 1 to {claims[-1].number}")


def all_claims() -> list[Claim]:
    """Every claim of the ledger, in the order of its number; a lesson without `claims.py` makes none."""
    there = [folder for lesson in LESSONS if (HERE / (folder := folder_of(lesson)) / "claims.py").is_file()]
    modules = [importlib.import_module(f"sdpa_helpers.lessons.{folder}.claims") for folder in there]
    return sorted((claim for module in modules for claim in module.CLAIMS), key=lambda claim: claim.number)
