"""Ladders to an exercise: the lines of a right answer, and lines of wrong answers of its bank among them.

Every order in which a function can be put together is tried as an answer is, with the same cases and diagnoses. The
learner's own order may be another than ours, and right.
"""

import ast
import html
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sdpa_helpers.checking.answers.time_limit import observe_all, observe_within
from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.highlight import words_html
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.render import framed, heading, practice_card
from sdpa_helpers.checking.card.wording import State
from sdpa_helpers.checking.diagnose import Result, assess
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.helping.shrink import Small, example_of
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.course.code_blocks import Block, as_function, parts_of, put_together
from sdpa_helpers.course.registry import find
from sdpa_helpers.show.ladder import BLANK, LONGEST, Line, OrderVerdict, Rungs

PRACTICE = "This is practice: nothing of it is counted."


class WrongLine(NamedTuple):
    """A line that makes one of the exercise's wrong answers."""

    instead_of: str
    """How the right line begins."""
    text: str
    name: str
    """What the bank calls the answer in which it stands for the right line."""


@dataclass(frozen=True)
class CodeLadder:
    """The way up to an exercise."""

    exercise_name: str
    wrong: tuple[WrongLine, ...]
    """Two to four."""
    blanks: tuple[str, str]
    """Expressions that are left out on the second rung; each stands once in the answer."""
    answer: Callable | None = None
    """A right answer in more lines than the reference has, where that has few."""

    @property
    def name(self) -> str:
        """By which the ladder is asked for."""
        return self.exercise_name

    @cached_property
    def exercise(self) -> Exercise:
        """What it leads up to."""
        return find(self.exercise_name)

    @cached_property
    def head(self) -> str:
        """The line with `def`."""
        return parts_of(self.answer or self.exercise.reference).head

    @cached_property
    def right(self) -> tuple[Block, ...]:
        """The right lines, in an order that is right."""
        return parts_of(self.answer or self.exercise.reference).blocks

    @cached_property
    def offered(self) -> tuple[tuple[Block, str], ...]:
        """All lines as they are offered, each with the name of its mistake, or ""."""
        wrong = [(Block(line.text, self.replaced(line).depth), line.name) for line in self.wrong]
        every = [*((block, "") for block in self.right), *wrong]
        chance = random.Random(self.name)
        chance.shuffle(every)
        while [block for block, name in every if not name] == list(self.right):
            chance.shuffle(every)
        return tuple(every)

    def replaced(self, line: WrongLine) -> Block:
        """The right line in whose place a wrong one would go."""
        (found,) = (block for block in self.right if block.text.startswith(line.instead_of))
        return found

    def rungs(self) -> Rungs:
        """What a panel shows."""
        return Rungs(
            name=self.name,
            title=self.name,
            kind="code",
            task="Put these lines in order. A few belong to wrong answers: leave them out.",
            head=words_html(self.head),
            offered=tuple(Line(words_html(block.text), block.depth) for block, _ in self.offered),
            with_blanks=tuple(Line(_with_fields(text), depth) for text, depth in self._with_blanks()),
            last=_LAST,
            answer_line=f"# exercise: {self.name}",
            try_order=self.try_order,
            try_blanks=self.try_blanks,
        )

    def try_order(self, order: Sequence[int]) -> OrderVerdict:
        """The verdict on lines in an order."""
        if not order:
            return told("There is no line yet", "Put the first one below the line with `def`.")
        chosen = [self.offered[number] for number in order]
        if early := self._used_too_early([block.text for block, _ in chosen]):
            place, name = early
            more = f"Line {place + 2} uses `{name}`, and no line above it makes `{name}`."
            return told("Not in this order", more, "failed")._replace(marked=(order[place],))
        verdict, result = self._verdict(put_together(self.head, [block for block, _ in chosen]))
        if verdict.passed or result is None:
            return verdict
        named = {mistake.name for mistake in result.mistakes}
        if marked := tuple(number for number, (_, name) in zip(order, chosen, strict=True) if name in named):
            return verdict._replace(marked=marked)
        wrong = next((place for place, (_, name) in enumerate(chosen) if name), None)
        return verdict if wrong is None else self._about_line(wrong, order, result)

    def _about_line(self, place: int, order: Sequence[int], result: Result) -> OrderVerdict:
        """What the bank says of one wrong line, where several together give what no known mistake gives."""
        block, name = self.offered[order[place]]
        says = next(wrong.says for wrong in self.exercise.wrong if wrong.name == name)
        right = sum(c.verdict.passed for c in result.cases)
        what = f"{self.name}: {right} of {len(result.cases)} cases passed"
        more = f"Look at line {place + 2}, `{block.text}`. {says}"
        return told(what, more, "failed")._replace(marked=(order[place],))

    def try_blanks(self, typed: Sequence[str]) -> OrderVerdict:
        """The verdict on what was typed into the blanks."""
        for number, text in enumerate(typed, 1):
            if why := _no_expression(text):
                return told(
                    f"Blank {number} is not filled yet" if not text.strip() else f"Blank {number}: {why}"
                )
        blocks = [Block(_filled(text, typed), depth) for text, depth in self._with_blanks()]
        return self._verdict(put_together(self.head, blocks))[0]

    def _with_blanks(self) -> list[Block]:
        """The right lines with names in the place of what is left out."""
        lines = []
        for text, depth in self.right:
            for number, blank in enumerate(self.blanks):
                text = text.replace(blank, _NAME.format(number))
            lines.append(Block(text, depth))
        return lines

    def _used_too_early(self, lines: Sequence[str]) -> tuple[int, str] | None:
        """(which line, a name that it uses), of the names that the lines of this ladder make."""
        made_here = set().union(*(_names(block.text, ast.Store) for block, _ in self.offered))
        made: set[str] = set()
        for number, line in enumerate(lines):
            used = _names(line, ast.Load) | (_names(line, ast.Store) if _changes(line) else set())
            if missing := sorted((used & made_here) - made - set(self._arguments)):
                return number, missing[0]
            made |= _names(line, ast.Store)
        return None

    @property
    def _arguments(self) -> list[str]:
        return re.findall(r"\w+", self.head.partition("(")[2])

    def _verdict(self, source: str) -> tuple[OrderVerdict, Result | None]:
        try:
            function = as_function(source, self.name, self.exercise.reference.__globals__)
        except SyntaxError as error:
            return told("Python can't read this", f"Line {error.lineno}: {error.msg}. {_INDENTED}"), None
        result = tried(self.exercise, function, source)
        if result.passed:
            cases = len(result.cases)
            return OrderVerdict(
                True, _passed_card(self.name, cases), f"Right: all {cases} cases passed."
            ), result
        small = _example(result, function)
        right = sum(c.verdict.passed for c in result.cases)
        what = f"Not right yet: {right} of {len(result.cases)} cases passed"
        said = " ".join([f"{what}.", *(mistake.says for mistake in result.mistakes)])
        shown = styled(practice_card(result, small, PRACTICE))
        return OrderVerdict(False, shown, said), result


def tried(exercise: Exercise, function: Callable, source: str) -> Result:
    """What comes of the exercise's cases, within the time limits of a check."""
    known = truths(exercise, PUBLIC_SEED)
    answers = observe_all(function, [(t.inputs, t.watch) for t in known])
    return assess(exercise, answers, PUBLIC_SEED, source)


def _names(line: str, context: type[ast.expr_context]) -> set[str]:
    """The names that a line makes (Store) or uses (Load), without those that live in a comprehension only."""
    tree = ast.parse(line + " pass" if line.endswith(":") else line)
    targets = [n.target for n in ast.walk(tree) if isinstance(n, ast.comprehension)]
    inner = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, context)} - inner


def _changes(line: str) -> bool:
    """Whether a line changes what it names: `A /= …`."""
    return not line.endswith(":") and isinstance(ast.parse(line).body[0], ast.AugAssign)


def told(what: str, more: str = "", state: State = "not-attempted") -> OrderVerdict:
    """A card with a sentence, where nothing was tried."""
    sign = "✗" if state == "failed" else "○"
    inside = heading(sign, what) + (f"<p>{code_spans(more)}</p>" if more else "")
    return OrderVerdict(False, styled(framed(inside, state)), f"{what}. {more}")


def passed_card(what: str) -> str:
    """A card that says so, and that it is not counted."""
    return styled(framed(f"{heading('✓', what)}<p class='about'>{PRACTICE}</p>", "passed"))


def _passed_card(name: str, cases: int) -> str:
    return passed_card(f"{name}: right, all {cases} cases passed")


def _example(result: Result, function: Callable) -> Small | None:
    return example_of(result, function, lambda f, inputs: observe_within(f, inputs, seconds=_EXAMPLE_SECONDS))


_EXAMPLE_SECONDS = 0.1
_NAME = "BLANK_{}"
_INDENTED = "An indented line belongs to the line above it that ends with a colon."
_LAST = (
    "Now the empty cell: write the function from memory. Where you get stuck, come back here for one line, "
    "then go on. The check below that cell counts."
)


def _with_fields(text: str) -> str:
    shown = words_html(text)
    for number in (0, 1):
        shown = shown.replace(_NAME.format(number), BLANK.format(number))
    return shown


def _filled(text: str, typed: Sequence[str]) -> str:
    for number, expression in enumerate(typed):
        text = text.replace(_NAME.format(number), f"({expression.strip()})")
    return text


def _no_expression(text: str) -> str:
    """Why this can't be put in for a blank, or ""."""
    if len(text) > LONGEST:
        return f"more than {LONGEST} characters"
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"{html.unescape(text)[:40]!r} is not one expression" if text.strip() else "empty"
    return ""
