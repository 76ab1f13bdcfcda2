"""The five articles whose claims the ledger checks: what kind each is, and which claims stand in which of its parts."""

import re
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.course.content import ContentEntry, Section, read_content


@dataclass(frozen=True)
class ArticlePart:
    """A part of an article, by its heading, and the claims that stand in it."""

    heading: str
    first: int
    """The number of its first claim."""
    last: int


@dataclass(frozen=True)
class Article:
    """One of the five."""

    letter: str
    what: str
    """What kind of text it is."""
    parts: tuple[ArticlePart, ...]


def _article(section: Section) -> Article:
    letter, _, what = section.title.partition(": ")
    return Article(letter, what, tuple(_part(section, entry) for entry in section.of(ContentEntry)))


def _part(section: Section, entry: ContentEntry) -> ArticlePart:
    found = re.fullmatch(r"(\d+) to (\d+): (.+)", entry.text)
    if not found:
        raise section.wrong("a part is written as `- 5 to 9: its heading`", entry.line)
    return ArticlePart(found[3], int(found[1]), int(found[2]))


ARTICLES = tuple(map(_article, read_content(Path(__file__).with_suffix(".md")).sections))


def article_of(number: int) -> Article:
    """The article that makes a claim; LookupError when none does."""
    for article in ARTICLES:
        if article.parts[0].first <= number <= article.parts[-1].last:
            return article
    raise LookupError(f"no article makes claim {number}: they are 1 to {ARTICLES[-1].parts[-1].last}")


def part_of(number: int) -> ArticlePart:
    """The part of its article in which a claim stands."""
    return next(part for part in article_of(number).parts if part.first <= number <= part.last)
