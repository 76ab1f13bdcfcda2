"""What the exports of feedback share: each learner's pages, an index of them, and zips that are the same each time."""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Template

from sdpa_helpers.classroom.exports.order import CannotExport, Order
from sdpa_helpers.classroom.files import DRAFTS
from sdpa_helpers.classroom.packing import add_to_zip
from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.grading.result import GradedNotebook


@dataclass(frozen=True)
class Link:
    """A line of an index."""

    name: str
    href: str
    """"" where there is nothing to be opened."""
    points: str
    """E.g. "7 of 9", or the word in their place."""


def handed_in(order: Order) -> Iterator[tuple[str, tuple[GradedNotebook, ...]]]:
    """Each learner with the notebooks of which a file was handed in."""
    came = (result for result in order.results() if result.status != "missing")
    for student, theirs in groupby(came, key=lambda result: result.student):
        yield student, tuple(theirs)


def link_to(result: GradedNotebook, href: str) -> Link:
    """A notebook in its learner's index."""
    return Link(result.notebook, href, result.no_mark or f"{result.points:g} of {result.max_points:g}")


def index_page(title: str, links: Iterable[Link]) -> str:
    """The index as HTML; names are escaped."""
    return _template().render(title=title, links=list(links))


@cache
def _template() -> Template:
    return environment().get_template("feedback_index.html")


def page_of(result: GradedNotebook) -> bytes:
    """The page of one notebook."""
    return feedback_page(result).encode("utf-8")


def write_zip(path: Path, entries: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip, whole or not at all, in the order of its names; CannotExport where two have one name."""
    listed = sorted(entries)
    if len({name for name, _ in listed}) < len(listed):
        raise CannotExport("two learners' feedback would have the same name: see handed_in.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(DRAFTS.replace("*", path.name))
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in listed:
                add_to_zip(archive, name, data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def left_out(who: Iterable[str], why: str) -> tuple[str, ...]:
    """A note on those whose pages are not in it."""
    named = sorted(set(who))
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return (f"{why}: {', '.join(named[:_NAMED])}{more}",) if named else ()


_NAMED = 20
