"""The text of an exercise's page: its head, title, prompt, and what stands below each heading, line by line."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEAD = (
    *("name", "lesson", "order", "section", "difficulty", "minutes"),
    *("allows", "ready", "uses", "mends", "remade"),
)
NEEDED = ("name", "lesson", "difficulty", "minutes")
HEADINGS = (
    *("Answer", "Hints", "Cases", "Always true", "Right too", "Mistakes", "May live", "Helpers"),
    *("Criteria", "Planted"),
)
_ITEM = re.compile(r"- (?:\*\*(?P<name>[^*]+)\*\*)?(?P<rest>.*)")


class PageError(ValueError):
    """A page cannot be read; the text names the page, the line, what stands there and what was expected."""


@dataclass(frozen=True)
class Item:
    """One entry of a list."""

    line: int
    name: str
    codes: tuple[tuple[int, str], ...]
    """Line and text of what stands behind the name, and behind each "or"."""
    says: str
    hints: tuple[str, ...]


class PageText:
    """A page as it is written; PageError where that is not the form of one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise self.wrong(1, "this is not UTF-8: save the page in that encoding") from None
        self.head, first = self._head()
        self.title, self.prompt, self.parts = self._split(first)

    def wrong(self, line: int, message: str) -> PageError:
        """The error to raise; line: from 1."""
        return PageError(f"{self.path.name}, line {line}: {message}")

    def line_of(self, text: str) -> int:
        """The number of the first line that holds a text; 1 where none does."""
        return next((number for number, line in enumerate(self.lines, 1) if text in line), 1)

    def names(self, entry: str) -> tuple[str, ...]:
        """What an entry of the head lists, e.g. the files that it uses."""
        return names_in(self.head.get(entry, ""))

    def _head(self) -> tuple[dict[str, str], int]:
        if not self.lines or self.lines[0] != "---" or "---" not in self.lines[1:]:
            raise self.wrong(1, f"a page begins with a head between two lines `---`: {', '.join(HEAD)}")
        end = self.lines.index("---", 1)
        head = dict[str, str]()
        for number, line in enumerate(self.lines[1:end], 2):
            name, colon, value = line.partition(":")
            if not colon or name not in HEAD:
                raise self.wrong(number, f"`{line}` is no entry of the head; there are: {', '.join(HEAD)}")
            head[name] = value.strip()
        if missing := [name for name in NEEDED if not head.get(name)]:
            raise self.wrong(1, f"the head lacks {', '.join(missing)}")
        if head["name"] != self.path.stem:
            raise self.wrong(2, f"`{head['name']}` is another name than the file's, {self.path.stem}")
        return head, end + 1

    def _split(self, first: int) -> tuple[str, str, dict[str, tuple[int, list[str]]]]:
        """(title, prompt, heading → (number of the line behind it, lines))."""
        begins = [n for n in range(first, len(self.lines)) if self.lines[n].startswith("## ")]
        text = "\n".join(self.lines[first : begins[0] if begins else None]).strip()
        title, _, prompt = text.partition("\n")
        if low := re.search(rf"(?m)^###+ ({'|'.join(HEADINGS)})\s*$", "\n".join(self.lines)):
            raise self.wrong(
                self.line_of(low[0].strip()),
                f"`{low[0].strip()}`: a page's headings are written `## {low[1]}`",
            )
        if not title.startswith("# ") or not prompt.strip():
            raise self.wrong(first + 1, "behind the head a line `# Title` is expected, and then the prompt")
        found = {}
        for begin, end in itertools.pairwise([*begins, len(self.lines)]):
            heading = self.lines[begin][3:].strip()
            if heading not in HEADINGS or heading in found:
                why = "stands twice" if heading in found else f"is none of {', '.join(HEADINGS)}"
                raise self.wrong(begin + 1, f"the heading `{heading}` {why}")
            found[heading] = (begin + 2, self.lines[begin + 1 : end])
        asked = "Criteria" if "Criteria" in found else "Cases"
        own = ("Planted",) if self.head.get("mends") else (asked, "Mistakes")
        for heading in ("Answer", "Hints", *own):
            if heading not in found:
                raise self.wrong(len(self.lines), f"the heading `## {heading}` is missing")
        return title[2:].strip(), prompt.strip() + "\n", found

    def code(self, heading: str) -> tuple[str, int]:
        """(the code between ``` of a part, the number of its first line); ("", 0) without one."""
        first, lines = self.parts.get(heading, (0, []))
        fences = [n for n, line in enumerate(lines) if line.startswith("```")]
        if not fences and heading != "Answer":
            return "", 0
        if len(fences) != 2:
            raise self.wrong(first, f"below `## {heading}` code is expected between ```python and ```")
        return "\n".join(lines[fences[0] + 1 : fences[1]]) + "\n", first + fences[0] + 1

    def items(self, heading: str) -> Iterator[Item]:
        """The entries of a part; none where it is missing."""
        first, lines = self.parts.get(heading, (0, []))
        begins = [n for n, line in enumerate(lines) if line.startswith("- ")]
        for number, line in enumerate(lines[: begins[0] if begins else None]):
            if line.strip() and not line.startswith("<!--"):
                raise self.wrong(
                    first + number, f"`{line[:40]}`: an entry begins with `- ` in the first column"
                )
        for begin, end in itertools.pairwise([*begins, len(lines)]):
            found = _ITEM.fullmatch(lines[begin])
            assert found
            codes, says, hints = [(first + begin, found["rest"].strip())], [], []
            for number, line in enumerate(map(str.strip, lines[begin + 1 : end]), begin + 1):
                if line.startswith(("- **", "* ", "**", "Or `")):
                    raise self.wrong(
                        first + number, f"`{line[:40]}`: an entry begins with `- ` in the first column"
                    )
                if line.startswith(("or `", "or start:", "or result:")):
                    codes.append((first + number, line[3:]))
                elif line.startswith("> "):
                    hints.append(line[2:])
                elif line:
                    says.append(line)
            yield Item(first + begin, found["name"] or "", tuple(codes), " ".join(says), tuple(hints))


def names_in(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
