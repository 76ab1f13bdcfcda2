"""Answers as learners, chatbots and public code write them, each with a verdict and the names that are true of it.

They stand beside an exercise's page, in NAME.answers.txt, and no wheel and no edition holds them. An entry is a header
line and the source of an answer cell below it (without its `# exercise:` line; `np` is NumPy there):

    === right | title in a few words | own
    === wrong: slug, slug | title | where it is from

Names stand in the order of their importance: of the exercise's own wrong answers (listed, or an option of its
products), of a set of general ones, or with a `?` in front, where no known name is true: that is then what a future
name should be.
"""

import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import HERE, LESSONS, folder_of

ENDING = ".answers.txt"
_HEADER = "=== "
_SLUG = re.compile(r"\??[a-z0-9_.]+(-[a-z0-9_.]+)*")


@dataclass(frozen=True)
class CorpusAnswer:
    """One answer, and what an expert would say of it."""

    lesson: str
    """The notebook, e.g. "01_dot_product"."""
    exercise: str
    """The function that it answers, e.g. "best_key"."""
    right: bool
    """Whether it does what the prompt asks, for every input that the prompt allows."""
    names: tuple[str, ...]
    """What is true to say of a wrong answer, the most important first; () of a right one."""
    title: str
    """In a few words; no two entries of a file have the same."""
    source_of: str
    """Where it is from: "own", or a public source."""
    code: str
    """The text of the answer cell."""


def spared_mutants(exercise: Exercise) -> tuple[tuple[str, str], ...]:
    """Mutants of right answers that pass and need not fail, with the reasons, from the corpus's own file.

    A line "=== reason" stands above those that it speaks of, each a line "EXERCISE: before → after".
    """
    file = course_root() / "tests" / "corpus" / "spared_mutants.txt"
    found, reason = [], ""
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        name, _, mutant = line.partition(": ")
        if line.startswith(_HEADER):
            reason = line.removeprefix(_HEADER)
        elif name == exercise.name:
            found.append((mutant, reason))
    return tuple(found)


def in_other_styles(exercise: Exercise) -> list[Callable]:
    """Right answers to an exercise, beside its reference: those on its page, and those that people wrote.

    What an answer prints on the way is of no use here, and costs time in thousands of mutants: it is left out.
    """
    written = (e for e in answers_to(exercise) if e.right and "print(" not in e.code)
    return [*exercise.also_right, *map(function_of, written)]


def answers_to(exercise: Exercise) -> tuple[CorpusAnswer, ...]:
    """The answers beside an exercise's page; () where there are none, as in an edition. ValueError as in `read`."""
    path = Path(exercise.reference.__code__.co_filename).with_name(f"{exercise.name}{ENDING}")
    return read(path.read_text(encoding="utf-8"), path, exercise.lesson) if path.is_file() else ()


def all_answers() -> tuple[CorpusAnswer, ...]:
    """All answers of all lessons, in the order of their files; ValueError as in `read`."""
    places = [
        (lesson, path)
        for lesson in LESSONS
        for path in sorted((HERE / folder_of(lesson) / "exercises").glob(f"*{ENDING}"))
    ]
    found = (read(path.read_text(encoding="utf-8"), path, lesson) for lesson, path in places)
    return tuple(entry for file in found for entry in file)


def read(text: str, path: Path, lesson: str) -> tuple[CorpusAnswer, ...]:
    """The entries of one file; ValueError names it, and the header at fault."""
    before, *blocks = re.split(rf"(?m)^(?={_HEADER})", text)
    if before.strip():
        line, came = next((n, text) for n, text in enumerate(before.splitlines(), 1) if text.strip())
        form = "`=== right | title | own` or `=== wrong: name, name | title | where it is from`"
        raise ValueError(f"{path.name}, line {line}: {form} is expected first, and this came: {came[:60]}")
    found = tuple(_entry(block, path, lesson) for block in blocks)
    titles = [entry.title for entry in found]
    for title in titles:
        if titles.count(title) > 1:
            raise ValueError(f"{path}: two entries are called {title!r}")
    return found


def _entry(block: str, path: Path, lesson: str) -> CorpusAnswer:
    header, _, code = block.partition("\n")

    def malformed(why: str) -> ValueError:
        return ValueError(f"{path}: {header!r}: {why}")

    fields = [part.strip() for part in header.removeprefix(_HEADER).split("|")]
    if len(fields) != 3 or not all(fields):
        raise malformed("a header has a verdict, a title and a source")
    verdict, title, source_of = fields
    kind, colon, listed = verdict.partition(":")
    names = tuple(name.strip() for name in listed.split(",")) if colon else ()
    if kind not in ("right", "wrong") or (kind == "wrong") != bool(names):
        raise malformed("the verdict is `right`, or `wrong:` and at least one name")
    if bad := [name for name in names if not _SLUG.fullmatch(name)]:
        raise malformed(f"no name: {', '.join(map(repr, bad))}")
    if not code.strip():
        raise malformed("no code")
    name = path.name.removesuffix(ENDING)
    return CorpusAnswer(lesson, name, kind == "right", names, title, source_of, code.strip() + "\n")


def function_of(entry: CorpusAnswer) -> Callable:
    """The function of an answer, made anew; ValueError when its code doesn't run or lacks the function.

    Its text is known to `linecache`, so that tracebacks and `inspect.getsource` show it.
    """
    filename = f"<{entry.lesson}/{entry.exercise}: {entry.title}>"
    linecache.cache[filename] = (len(entry.code), None, entry.code.splitlines(keepends=True), filename)
    cell: dict[str, object] = {"np": np, "__name__": "__main__"}
    try:
        exec(compile(entry.code, filename, "exec"), cell)
    except Exception as error:
        raise ValueError(f"{filename}: {error!r}") from error
    answer = cell.get(entry.exercise)
    if not callable(answer):
        raise ValueError(f"{filename}: there is no function {entry.exercise}")
    return answer
