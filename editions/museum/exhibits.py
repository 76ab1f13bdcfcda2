"""What the museum shows of a mistake. All of it is computed from the exercise's page: nothing is listed twice."""

import ast
import contextlib
import difflib
import io
import re
from dataclasses import dataclass

from editions.kit.wrong_answers import how_often
from sdpa_helpers.checking.card.highlight import words_html
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.side_by_side import as_html
from sdpa_helpers.checking.diagnose import source_of, try_out
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.helping.shrink import example_of
from sdpa_helpers.head.consequences import Consequence, consequence, percent, shown

MOST_LINES = 40
"""Of a wrong answer that is no change of a line or two, and is shown whole."""
NOT_HERE = "mend_"
"""Exercises whose mistakes are those of another: they stand there once."""


@dataclass(frozen=True)
class Line:
    """A line of code: "−" for what goes, "+" for what comes, "" for what stays."""

    sign: str
    html: str


@dataclass(frozen=True)
class Lived:
    """A little world, and what share of its answers is right with this mistake."""

    world: str
    about: str
    share: str
    survives: bool


@dataclass(frozen=True)
class Exhibit:
    """One mistake."""

    name: str
    says: str
    """HTML."""
    lines: tuple[Line, ...]
    """What differs from one right answer, or the whole where that is another text altogether."""
    example: str
    """HTML: the smallest input that shows it, and both results; "" where a sentence says it all."""
    leads_to: str
    """What the trained head does with it, in a sentence; "" where it has no place there."""
    matrices: str
    """HTML that shows that."""
    worlds: tuple[Lived, ...]
    section: str
    """The heading in the lesson that treats it."""
    answers: int
    """How many of the collected wrong answers make it."""

    @property
    def title(self) -> str:
        """Its name in words."""
        return self.name.replace("-", " ")


@dataclass(frozen=True)
class MuseumRoom:
    """The mistakes of one exercise."""

    exercise: Exercise
    exhibits: tuple[Exhibit, ...]
    collected: int
    """How many wrong answers to it were collected."""

    @property
    def name(self) -> str:
        """The exercise's."""
        return self.exercise.name


def room_of(exercise: Exercise) -> MuseumRoom:
    """All mistakes of an exercise, in the order of its page, each name once."""
    counted, collected = how_often(exercise.name)
    first = {wrong.name: wrong for wrong in reversed(exercise.wrong)}
    names = dict.fromkeys(wrong.name for wrong in exercise.wrong)
    return MuseumRoom(
        exercise, tuple(_exhibit(exercise, first[name], counted[name]) for name in names), collected
    )


def _exhibit(exercise: Exercise, wrong: WrongAnswer, answers: int) -> Exhibit:
    with contextlib.redirect_stdout(io.StringIO()):
        result = try_out(exercise, wrong.function)
        small = example_of(result, wrong.function)
        leads = Consequence() if exercise.is_made else consequence(exercise.name, wrong.function, False)
    return Exhibit(
        wrong.name,
        code_spans(wrong.says),
        _difference(source_of(exercise.reference), source_of(wrong.function)),
        as_html(exercise, small) if small else "",
        leads.says,
        shown(leads),
        tuple(Lived(one.world.name, one.world.about, percent(one.share), one.survives) for one in leads.seen),
        wrong.section or exercise.section,
        answers,
    )


def _difference(right: str, wrong: str) -> tuple[Line, ...]:
    """The lines that differ, with the line above them; the whole of a wrong answer that shares too little."""
    before, after = ([line for line in text.splitlines() if line.strip()] for text in (right, wrong))
    pieces = difflib.SequenceMatcher(None, [*map(_meaning, before)], [*map(_meaning, after)], autojunk=False)
    if pieces.ratio() < 0.5:
        return _lines("", after[:MOST_LINES])
    found: list[Line] = []
    for kind, a, a_end, b, b_end in pieces.get_opcodes():
        if kind != "equal":
            above = [line for line in before[max(a - 1, 0) : a] if '"""' not in line]
            found += [line for line in _lines("", above) if line not in found[-1:]]
            found += _lines("−", before[a:a_end]) + _lines("+", after[b:b_end])
    return tuple(found)


def _meaning(line: str) -> str:
    """The same for lines that differ in their brackets' number or their spaces alone."""
    try:
        return ast.dump(ast.parse(line.strip()))
    except SyntaxError:
        return line.strip()


def _lines(sign: str, texts: list[str]) -> tuple[Line, ...]:
    return tuple(Line(sign, words_html(re.sub(r"\s+$", "", text))) for text in texts)
