"""An answer as it can stand in a file of its own: its function, and what that needs of the notebook's other cells."""

import ast
import builtins
import io
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sdpa_helpers.checking.code.answer_cells import ANSWER_LINE
from sdpa_helpers.course.notebook_cells import Cell, Notebook, names_in


class Missing(LookupError):
    """An answer calls that of another exercise, which is not in the file; its text is the exercise's name."""


class Statement(NamedTuple):
    """A statement at the top of a cell, or of a file."""

    text: str
    bound: frozenset[str]
    """The names that it gives to something."""
    needs: frozenset[str]
    """Names that it or its functions need."""


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a Python text, with the comments right above them; SyntaxError where it is none."""
    lines = text.split("\n")
    found, used = [], 0
    for node in ast.parse(text).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        last = node.end_lineno or node.lineno
        if first < used:  # two of them on one line
            own = ast.unparse(node)
        else:
            while first > used and _is_comment(lines[first - 1]):
                first -= 1
            own = "\n".join(lines[first:last])
        used = max(used, last)
        names = names_in(own)
        found.append(Statement(own, frozenset(names.bound), frozenset(names.at_once | names.later)))
    return tuple(found)


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not ANSWER_LINE.match(line)


def gathered(notebook: Notebook, name: str, cell: Cell, there: Collection[str]) -> tuple[Statement, ...]:
    """What the answer to an exercise is made of, each statement below those that it needs.

    there: the other exercises whose answers are in the file.

    Raises:
        Missing: it calls the answer to one that is not.
        SyntaxError: a cell is no Python.
    """
    gathering = _Gathering(notebook, cell, frozenset(there))
    gathering.take(name)
    return tuple(gathering.taken)


@dataclass
class _Gathering:
    notebook: Notebook
    cell: Cell
    there: frozenset[str]
    taken: list[Statement] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def take(self, name: str) -> None:
        """Everything that gives this name its value, and what that needs."""
        if name in self.seen or hasattr(builtins, name):
            return
        self.seen.add(name)
        for statement in self._giving(name):
            for needed in sorted(statement.needs):
                self.take(needed)
            if statement not in self.taken:
                self.taken.append(statement)

    def _giving(self, name: str) -> list[Statement]:
        own = [s for s in statements(self.notebook.python(self.cell)) if name in s.bound]
        if own:
            return own
        other = self.notebook.binding(name)
        if other is None:
            return []
        if name in other.answers:
            if name in self.there:
                return []
            raise Missing(name)
        return [s for s in statements(self.notebook.python(other)) if name in s.bound]


def renamed(text: str, names: dict[str, str]) -> str:
    """A text with other names in the place of some; attributes and keywords of calls keep theirs."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    rows = text.split("\n")
    for token in reversed(list(_names(tokens))):
        if token.string in names:
            (row, start), (_, end) = token.start, token.end
            rows[row - 1] = rows[row - 1][:start] + names[token.string] + rows[row - 1][end:]
    return "\n".join(rows)


def _names(tokens: list[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    depth = 0
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
        is_attribute = before is not None and before.string == "."
        is_keyword = depth > 0 and after is not None and after.string == "="
        if token.type == tokenize.NAME and not is_attribute and not is_keyword:
            yield token
