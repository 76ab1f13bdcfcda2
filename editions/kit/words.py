"""What a program cannot know about teaching a lesson: its `kit.md`, and the drawing beside it, `board.svg`.

    ## Goal

    A learner can write softmax that survives any finite scores.

    ## Questions

    - larger_divisor · tempting 1
      An article says that more scaling makes weights sharper.

The headings are Goal, Begin, On the board, Show, Skip and End with. Below `## Questions`, which it may have too, stand
predictions of the lesson, the number of the wrong answer to expect first, and what one has to know before; below
`## Homework first` the exercises that come first when homework is chosen.
"""

import re
from dataclasses import dataclass
from functools import cache

from sdpa_helpers.course.content import ContentEntry, Paragraph, Section, home_of, page_of

_NEEDED = ("Goal", "Begin", "On the board", "Show", "Skip", "End with")
_QUESTIONS, _HOMEWORK = "Questions", "Homework first"
_QUESTION = re.compile(r"(\w+) · tempting ([1-4])")


@dataclass(frozen=True)
class ToAsk:
    """A prediction to ask a class."""

    name: str
    tempting: int
    """The wrong answer to expect first, from 1."""
    about: str
    """What one has to know first, where the lesson has said it before."""


@dataclass(frozen=True)
class Words:
    """What the kit says of a lesson, in Markdown."""

    goal: str
    begin: str
    board: str
    show: str
    skip: str
    end: str
    questions: tuple[ToAsk, ...] = ()
    central: tuple[str, ...] = ()
    """Exercises that come first when homework is chosen."""


@cache
def words_of(lesson: str) -> Words | None:
    """What its page says; None where a lesson has none. PageError says which line of the page cannot be read."""
    sections = page_of(lesson, "kit").sections
    if not sections:
        return None
    known = {section.title: section for section in sections}
    if unknown := [known[title] for title in known if title not in (*_NEEDED, _QUESTIONS, _HOMEWORK)]:
        raise unknown[0].wrong(
            f"`{unknown[0].title}` is none of {', '.join((*_NEEDED, _QUESTIONS, _HOMEWORK))}"
        )
    if missing := [title for title in _NEEDED if title not in known]:
        raise sections[0].wrong(f"the heading `## {missing[0]}` is missing")
    asked, first = known.get(_QUESTIONS), known.get(_HOMEWORK)
    return Words(
        *(_text(known[title]) for title in _NEEDED),
        tuple(_to_ask(asked, entry) for entry in asked.of(ContentEntry)) if asked else (),
        tuple(entry.text for entry in first.of(ContentEntry)) if first else (),
    )


def has_board(lesson: str) -> bool:
    """Whether there is a drawing for the board."""
    return (home_of(lesson) / "board.svg").is_file()


def _text(section: Section) -> str:
    return "\n\n".join(text.text for text in section.of(Paragraph))


def _to_ask(section: Section, entry: ContentEntry) -> ToAsk:
    found = _QUESTION.fullmatch(entry.text)
    if not found:
        raise section.wrong("`- name_of_a_prediction · tempting 1` is expected", entry.line)
    return ToAsk(found[1], int(found[2]), entry.says)
