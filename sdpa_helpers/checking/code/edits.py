"""A mistake is an edit of the answer: a piece of its source that reads otherwise, a first line, or a last step.

`before` → `after` changes what stands there once; `start: x = …` puts a line before the first; `result: …` is returned
in place of `result`, which is what the answer returns. Edits in different places are mistakes that go together, so
nobody has to write down two at once.
"""

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from typing import Any

START, RESULT = "start", "result"
_EDIT = re.compile(r"(?:`([^`]+)` → |(start|result): )`([^`]*)`")
_NUMBERS = re.compile(r", N = (.+)$")


class NoEdit(ValueError):
    """What is written is no edit of the answer; the text says why."""


@dataclass(frozen=True)
class Edit:
    """One change of the answer's source."""

    before: str
    """The text that goes; START for a line before the first, RESULT for what is returned instead."""
    after: str

    def place_in(self, source: str) -> tuple[int, int]:
        """Where it begins and ends; NoEdit unless that text stands there exactly once."""
        times = source.count(self.before)
        if times != 1:
            how = (
                "does not stand" if times == 0 else "stands twice" if times == 2 else f"stands {times} times"
            )
            near = get_close_matches(self.before, _pieces(source), 1) if times == 0 else ()
            hint = f"; near is `{near[0]}`" if near else ""
            raise NoEdit(
                f"`{self.before}` {how} in the answer; an edit names a text that stands there once{hint}"
            )
        begin = source.index(self.before)
        return begin, begin + len(self.before)

    def meets(self, other: "Edit", source: str) -> bool:
        """Whether both change the same place otherwise, so that they are not two mistakes at once."""
        if self == other:
            return False
        if RESULT in (self.before, other.before):
            return self.before == other.before
        if START in (self.before, other.before):
            first = [re.match(r"\w*", edit.after) for edit in (self, other)]
            return self.before == other.before and len({m[0] for m in first if m}) == 1
        (a, a_end), (b, b_end) = self.place_in(source), other.place_in(source)
        return a < b_end and b < a_end


def _pieces(source: str) -> list[str]:
    """The lines of a text, and all that is an expression in it."""
    found = (ast.get_source_segment(source, node) for node in ast.walk(ast.parse(source)))
    return [*map(str.strip, source.splitlines()), *filter(None, found)]


Edits = tuple[Edit, ...]


def edits_in(line: str) -> list[Edits]:
    """What a line of a page says: edits that go together, once for each number that N stands for."""
    line = line.partition(" · ")[0]  # behind it stands what is not code
    numbers = _NUMBERS.search(line)
    body = line[: numbers.start()] if numbers else line
    each = [Edit(m[1] or m[2], m[3]) for m in _EDIT.finditer(body)]
    if not each:
        raise NoEdit(
            f"no edit here: `before` → `after`, start: `…` or result: `…` is expected, and this came: {line}"
        )
    values = [value.strip() for value in numbers[1].split(",")] if numbers else []
    if not values and any(re.search(r"\bN\b", edit.after) for edit in each):
        raise NoEdit(f"N stands for numbers, and none are given: `, N = 2, 3` is expected behind {body}")
    if values and not any(re.search(r"\bN\b", edit.after) for edit in each):
        raise NoEdit(f"numbers are given for N, and no N stands in {body}")
    if not values:
        return [tuple(each)]
    return [tuple(Edit(e.before, re.sub(r"\bN\b", value, e.after)) for e in each) for value in values]


@dataclass(frozen=True)
class EditableAnswer:
    """An answer that can be edited."""

    name: str
    source: str
    """Of its function alone."""
    space: dict[str, Any]
    """The names that it is written with."""

    def text(self, edits: Edits) -> str:
        """The source with these edits, as far as they change what stands there; a line of which they leave nothing
        goes."""
        places = sorted((*e.place_in(self.source), e.after) for e in edits if e.before not in (START, RESULT))
        if any(one[1] > next_one[0] for one, next_one in itertools.pairwise(places)):
            raise NoEdit("two of these edits change the same place")
        text, last = [], 0
        for begin, end, after in places:
            text += [self.source[last:begin], after]
            last = end
        return re.sub(r"(?m)^ +\n", "", "".join([*text, self.source[last:]]))

    def shown(self, edits: Edits) -> str:
        """The whole function with these edits, first line and last step too; its comments are lost."""
        return ast.unparse(ast.parse(self._whole_text(edits)))

    def _whole_text(self, edits: Edits) -> str:
        text = self.text(edits)
        first, last = ([e for e in edits if e.before == where] for where in (START, RESULT))
        for edit in (*first, *last):
            _refuse_what_is_no_python(edit)
        if not (first or last):
            return text
        try:
            joints = _joints_of(text)
        except SyntaxError as error:
            raise _no_python(error, text) from None
        return joints.with_ends([e.after for e in first], [e.after for e in last])

    def edited(self, edits: Edits) -> Callable:
        """The function with these edits; NoEdit where that is no Python."""
        text = self._whole_text(edits)
        changes = " and ".join(f"{e.before} → {e.after}" for e in edits)
        try:
            code = compile(text, f"{self.name}, {changes}", "exec")
        except SyntaxError as error:
            raise _no_python(error, text) from None
        space = dict(self.space)
        exec(code, space)  # a page of the course's own, as much code as any file of it
        made = space[self.name]
        space[self.name] = self.space.get(
            self.name, made
        )  # an edit that calls the answer calls the right one
        return made


def _no_python(error: SyntaxError, text: str) -> NoEdit:
    return NoEdit(f"with this edit the answer is no Python ({error.msg}): {text}")


@cache
def _refuse_what_is_no_python(edit: Edit) -> None:
    try:
        ast.parse(edit.after, mode="exec" if edit.before == START else "eval")
    except SyntaxError as error:
        raise NoEdit(f"{edit.before}: `{edit.after}` is no Python ({error.msg})") from None


@dataclass(frozen=True)
class _Joints:
    """A function's text, cut where a first line and a last step go: of a thousand pairs of edits few differ in it, and
    compiling a text takes a third of the time of changing what was parsed.
    """

    head: str
    """All above the first line that does something."""
    body: str
    """From there to the last step."""
    indent: str
    returned: str | None
    """What the last step returns; None where it is no `return` of something, and is part of the body."""

    def with_ends(self, first: list[str], results: list[str]) -> str:
        """The text with lines before the first one, and with what is returned in place of `result`."""
        lines = [self.head, *(f"{self.indent}{line}\n" for line in first), self.body]
        value = self.returned
        if results and value is None:
            raise NoEdit("result: … needs an answer whose last line returns something")
        for result in results:
            if _uses_the_result(result):
                lines.append(f"{self.indent}result = ({value})\n")
            value = result
        if value is not None:
            lines.append(f"{self.indent}return ({value})\n")
        return "".join(lines)


@lru_cache(maxsize=512)
def _joints_of(text: str) -> _Joints:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = text.splitlines(keepends=True)
    at_first = function.body[1:] if ast.get_docstring(function) else function.body
    begin = _first_line(at_first[0]) - 1 if at_first else len(lines)
    last = function.body[-1]
    indent = " " * function.body[0].col_offset
    if not isinstance(last, ast.Return) or last.value is None:
        return _Joints("".join(lines[:begin]), "".join(lines[begin:]), indent, None)
    end = last.lineno - 1
    returned = ast.get_source_segment(text, last.value)
    return _Joints("".join(lines[:begin]), "".join(lines[begin:end]), indent, returned)


def _first_line(statement: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    return min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))


@cache
def _uses_the_result(result: str) -> bool:
    given = ast.parse(result, mode="eval")
    return any(isinstance(node, ast.Name) and node.id == "result" for node in ast.walk(given))


@dataclass(frozen=True)
class Deviant:
    """A wrong answer, with what is wrong about it. It is compiled when it is first called for."""

    names: tuple[str, ...]
    parts: tuple[Edits, ...]
    """The edits of each name."""
    of: "Pairs" = field(repr=False)

    @cached_property
    def function(self) -> Callable:
        """What two mistakes have in common is done once."""
        return self.of.function(tuple(dict.fromkeys(sum(self.parts, ()))))

    @property
    def alone(self) -> tuple[Callable, ...]:
        """For each name the function that deviates in nothing but that."""
        return tuple(map(self.of.function, self.parts))


@dataclass(frozen=True)
class Pairs:
    """All wrong answers with one or two of the listed mistakes: of two, those that edit different places."""

    answer: EditableAnswer
    listed: tuple[tuple[str, Edits], ...]
    """Each mistake's name, with each way to make it."""
    alone: frozenset[str] = frozenset()
    """The names of those that go with no other."""
    _made: dict[Edits, Callable] = field(default_factory=dict, compare=False)
    _deviants: dict[int, tuple[Deviant, ...]] = field(default_factory=dict, compare=False)

    def __hash__(self) -> int:
        return hash(self.listed)

    def deviants(self, deviations: int) -> tuple[Deviant, ...]:
        """Those with exactly so many mistakes."""
        if deviations not in self._deviants:
            self._deviants[deviations] = tuple(self._combined(deviations))
        return self._deviants[deviations]

    def _combined(self, deviations: int) -> Iterator[Deviant]:
        those = self.listed if deviations == 1 else [one for one in self.listed if one[0] not in self.alone]
        for chosen in itertools.combinations(those, deviations):
            names, parts = tuple(name for name, _ in chosen), tuple(edits for _, edits in chosen)
            if len(set(names)) == len(names) and not self._meet(parts):
                yield Deviant(names, parts, self)

    @property
    def names(self) -> frozenset[str]:
        """Of all listed mistakes."""
        return frozenset(name for name, _ in self.listed)

    def _meet(self, several: tuple[Edits, ...]) -> bool:
        pairs = itertools.combinations(several, 2)
        return any(a.meets(b, self.answer.source) for one, other in pairs for a in one for b in other)

    def function(self, edits: Edits) -> Callable:
        """The answer with these edits."""
        if edits not in self._made:
            self._made[edits] = self.answer.edited(edits)
        return self._made[edits]
