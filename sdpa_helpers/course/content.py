"""A page of a lesson's content: Markdown whose sections, below `## `, have paragraphs, entries and code.

    # What the lesson asks

    ## one_score_rises

    How many of the five weights change?

    - all 5
      All weights share one sum.

An entry begins with `- `, and what stands indented below belongs to it. Code stands between ```python and ```; it sees
NumPy as `np`. A lesson has the pages that lie in its folder; one that does not is as if it were empty.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sdpa_helpers.checking.pages.page_text import PageError


@dataclass(frozen=True)
class ContentEntry:
    """One entry of a list."""

    line: int
    text: str
    """Its first line."""
    says: str
    """What stands indented below, in one line."""


@dataclass(frozen=True)
class Code:
    """What stands between ```python and ```."""

    line: int
    """That of its first line."""
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Lines of text up to the next empty one, an entry, or code."""

    line: int
    text: str


Kind = TypeVar("Kind", Paragraph, ContentEntry, Code)


@dataclass(frozen=True)
class Section:
    """What stands below one heading."""

    path: Path
    line: int
    title: str
    blocks: tuple[Paragraph | ContentEntry | Code, ...]

    def wrong(self, message: str, line: int = 0) -> PageError:
        """The error to raise; line: that of the heading by default."""
        return PageError(f"{self.path.parent.name}/{self.path.name}, line {line or self.line}: {message}")

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Its paragraphs, its entries, or its code."""
        return [block for block in self.blocks if isinstance(block, kind)]

    def run(self) -> tuple[dict[str, Any], Any]:
        """(the names that its code binds, the value of its last line, as in a notebook's cell)."""
        space: dict[str, Any] = {"np": np}
        value = None
        for code in self.of(Code):
            try:
                tree = ast.increment_lineno(ast.parse(code.text), code.line - 1)
                *before, last = tree.body
                alone = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
                body = before if alone else tree.body
                exec(compile(ast.Module(body, []), str(self.path), "exec"), space)
                value = eval(compile(alone, str(self.path), "eval"), space) if alone else None
            except SyntaxError as error:
                line = code.line - 1 + (error.lineno or 1)
                raise self.wrong(f"this is no Python: {error.msg}", line) from None
            except Exception as error:
                raise self.wrong(f"the code fails: {error!r}", code.line) from error
        return space, value


@dataclass(frozen=True)
class ContentPage:
    """A page, section by section."""

    title: str
    sections: tuple[Section, ...]


def home_of(lesson: str) -> Path:
    """The folder of a lesson, e.g. that of "03_softmax"."""
    return Path(__file__).parents[1] / "lessons" / lesson.partition("_")[2]


def page_of(lesson: str, name: str) -> ContentPage:
    """A page of a lesson, e.g. its "recall"; an empty one where the lesson has none."""
    return read_content(home_of(lesson) / f"{name}.md")


def read_content(path: Path) -> ContentPage:
    """The page; an empty one where there is no such file. PageError says which line is not of this form."""
    if not path.is_file():
        return ContentPage("", ())
    outside = Section(path, 1, "", ())
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise outside.wrong("this is not UTF-8: save the page in that encoding") from None
    begins = [n for n, line in enumerate(lines) if line.startswith("## ")]
    head = [line for line in lines[: begins[0] if begins else None] if line.strip()]
    if not head or not head[0].startswith("# "):
        raise outside.wrong("a line `# Title` is expected first")
    sections = list[Section]()
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        title = lines[begin][3:].strip()
        if title in [section.title for section in sections]:
            raise outside.wrong(f"the heading `{title}` stands twice", begin + 1)
        section = Section(path, begin + 1, title, ())
        sections.append(Section(path, begin + 1, title, tuple(_blocks(section, lines[begin + 1 : end]))))
    return ContentPage(head[0][2:].strip(), tuple(sections))


def _blocks(section: Section, lines: list[str]) -> Iterator[Paragraph | ContentEntry | Code]:
    number = 0
    while number < len(lines):
        line, at = lines[number], section.line + 1 + number
        number += 1
        if line.startswith("```"):
            if "```" not in lines[number:]:
                raise section.wrong("the code that begins here has no end: a line ```", at)
            end = lines.index("```", number)
            yield Code(at + 1, "\n".join(lines[number:end]) + "\n")
            number = end + 1
        elif line.startswith("- "):
            end = _end(lines, number, lambda one: one.startswith(" "))
            yield ContentEntry(at, line[2:].strip(), " ".join(map(str.strip, lines[number:end])))
            number = end
        elif line.startswith(" "):
            raise section.wrong(f"`{line.strip()[:40]}` is indented below no entry: one begins with `- `", at)
        elif line.strip():
            end = _end(lines, number, lambda one: bool(one.strip()) and not one.startswith(("- ", "```")))
            yield Paragraph(at, " ".join(map(str.strip, lines[number - 1 : end])))
            number = end


def _end(lines: list[str], begin: int, belongs: Callable[[str], bool]) -> int:
    """The number of the first line from `begin` on that does not belong."""
    return next((n for n in range(begin, len(lines)) if not belongs(lines[n])), len(lines))
