"""A run of the grader on one page: how each notebook went, what was found how often, and whom to look at first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean, median

from sdpa_helpers.classroom.collect import RENAMED
from sdpa_helpers.classroom.grade_folder import Noted

LOOK_AT = 10
"""How many submissions are named."""

SET_ASIDE = "late, not graded"
"""Said of those whose files were all left aside."""

LOWEST = "few points"
"""Said of those that earned less than half: the last reason to look at one."""

FEW = 0.5
"""A share of the points that is low."""

ORDINARY = ("late", "several-files", "passed-over")
"""Flags that nobody has to act on: alone they bring no submission among those to look at."""


@dataclass(frozen=True)
class NotebookLine:
    """How one notebook went: points are of those who have a mark."""

    notebook: str
    handed_in: int
    """By how many learners, be it graded or not."""
    mean: float | None
    """None where nobody has a mark, as the median."""
    median: float | None
    max_points: float


@dataclass(frozen=True)
class LookAt:
    """A submission that somebody should look at, with all that is said of it."""

    noted: Noted
    why: tuple[str, ...]


@dataclass(frozen=True)
class Overview:
    """What fits on a page, however large the class is."""

    learners: int
    handed_in: int
    """Notebooks of which a file is there."""
    absent: int
    """Notebooks of which none is."""
    notebooks: tuple[NotebookLine, ...]
    statuses: tuple[tuple[str, int], ...]
    """(status, how many submissions have it), the most frequent first."""
    flags: tuple[tuple[str, int], ...]
    """(kind, how many submissions have one, or learners where it is about their name), the most frequent first."""
    look_at: tuple[LookAt, ...]
    """At most ten, of every kind some."""
    worth_a_look: int
    """How many there are in all."""


def overview(submissions: Sequence[Noted]) -> Overview:
    """Sum up what was graded."""
    statuses = Counter(noted.status for noted in submissions)
    flags = Counter(kind for noted in submissions for kind in noted.flags if kind != RENAMED)
    flags[RENAMED] = len({noted.student for noted in submissions if RENAMED in noted.flags})
    handed_in = sum(map(_came, submissions))
    groups = _groups(submissions)
    return Overview(
        learners=len({noted.student for noted in submissions}),
        handed_in=handed_in,
        absent=len(submissions) - handed_in,
        notebooks=tuple(_line(name, submissions) for name in sorted({n.notebook for n in submissions})),
        statuses=_most_first(statuses),
        flags=_most_first(+flags),
        look_at=tuple(LookAt(noted, _why(noted)) for noted in _some_of_each(groups)),
        worth_a_look=sum(map(len, groups)),
    )


def _most_first(counted: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def _came(noted: Noted) -> bool:
    return noted.status != "missing" or noted.files > 0


def _line(notebook: str, submissions: Iterable[Noted]) -> NotebookLine:
    here = [noted for noted in submissions if noted.notebook == notebook]
    points = [noted.points for noted in here if not noted.no_mark]
    worth = max((noted.max_points for noted in here), default=0.0)
    mean, middle = (fmean(points), median(points)) if points else (None, None)
    return NotebookLine(notebook, sum(map(_came, here)), mean, middle, worth)


def _why(noted: Noted) -> tuple[str, ...]:
    """All that is said of a submission, but for its student's name, which has a line of its own."""
    status: tuple[str, ...] = (noted.status,) if noted.status != "graded" else ()
    if noted.status == "missing" and noted.files:
        return (SET_ASIDE, *(flag for flag in noted.flags if flag not in (RENAMED, "late")))
    low = (LOWEST,) if noted.status == "graded" and _is_low(noted) else ()
    return (*status, *(flag for flag in noted.flags if flag != RENAMED), *low)


def _groups(submissions: Iterable[Noted]) -> list[list[Noted]]:
    """Those to look at, by the first reason for it: what failed, then what is flagged, then few points.

    The rarest reason comes first, and in each the fewest points.
    """
    found: dict[str, list[Noted]] = {}
    for noted in submissions:
        reasons = [why for why in _why(noted) if why not in ORDINARY and why != "missing"]
        if reasons:
            found.setdefault(reasons[0], []).append(noted)
    for group in found.values():
        group.sort(key=lambda noted: (_share(noted), noted.student, noted.notebook))
    ordered = sorted(
        found.items(), key=lambda item: (item[0] != "grader-failed", item[0] == LOWEST, len(item[1]), item[0])
    )
    return [group for _, group in ordered]


def _is_low(noted: Noted) -> bool:
    return noted.max_points > 0 and _share(noted) < FEW


def _share(noted: Noted) -> float:
    return noted.points / noted.max_points if noted.max_points else 0.0


def _some_of_each(groups: list[list[Noted]]) -> list[Noted]:
    """The first of every group, then the second, until there are enough; those of a group stay together."""
    turns = [noted for turn in zip_longest(*groups) for noted in turn if noted is not None]
    chosen = {id(noted) for noted in turns[:LOOK_AT]}
    return [noted for group in groups for noted in group if id(noted) in chosen]
