"""People who share answers, as groups: in pairs, five who wrote together would be ten rows. Sharing proves nothing."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sdpa_helpers.classroom.pages.similar import Similar, TwoPeople
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.result import GradedNotebook

LEAST = 2
"""Answers that two people share, from which they are put together: one says little."""
LARGE = 8
"""People. A larger group is taken apart into those who share more."""


@dataclass(frozen=True)
class Group:
    """People each of whom shares answers with another of them."""

    people: tuple[tuple[str, int], ...]
    """(who, how many of the answers are also theirs), most first."""
    exercises: tuple[tuple[str, int], ...]
    """(exercise, how many of them share it), most first."""
    least: int
    """So many answers at least everybody shares with another of them."""


def groups(people: Iterable[TwoPeople]) -> tuple[Group, ...]:
    """The groups, those that share most answers first."""
    found = _apart(list(people), LEAST)
    return tuple(sorted(found, key=lambda g: (-g.least, -len(g.exercises), -len(g.people), g.people)))


def _apart(people: list[TwoPeople], least: int) -> list[Group]:
    linked = [two for two in people if len(two.pairs) >= least]
    found = []
    for members in _connected(linked):
        inside = [two for two in linked if two.one in members]
        closer = _apart(inside, least + 1) if len(members) > LARGE else []
        found += closer or [_group(members, inside)]
    return found


def _connected(people: Iterable[TwoPeople]) -> list[set[str]]:
    """The people by who is linked to whom, be it through others."""
    of: dict[str, set[str]] = {}
    for two in people:
        whole = of.get(two.one, {two.one}) | of.get(two.other, {two.other})
        for member in whole:
            of[member] = whole
    return list({id(members): members for members in of.values()}.values())


def _group(members: Collection[str], inside: list[TwoPeople]) -> Group:
    theirs: dict[str, set[str]] = defaultdict(set)
    by_exercise: dict[str, set[str]] = defaultdict(set)
    for two in inside:
        for pair in two.pairs:
            for who in (two.one, two.other):
                theirs[who].add(pair.one.exercise)
                by_exercise[pair.one.exercise].add(who)
    closest = Counter[str]()
    for two in inside:
        for who in (two.one, two.other):
            closest[who] = max(closest[who], len(two.pairs))
    counted = {who: len(theirs[who]) for who in members}
    return Group(
        _most(counted), _most({name: len(who) for name, who in by_exercise.items()}), min(closest.values())
    )


def _most(counted: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


# ---- earlier terms ----------------------------------------------------------------------------------------


def of_earlier(folder: Path) -> Iterable[GradedNotebook]:
    """The results of an earlier run, whose people are called by its name too."""
    for result in ResultsFolder(folder).read_results():
        yield replace(result, student=f"{result.student} ({folder.resolve().name})")


def with_somebody_of(similar: Similar, students: Collection[str]) -> Similar:
    """The same without pairs of people who were both here earlier."""
    here = tuple(two for two in similar.people if two.one in students or two.other in students)
    return replace(similar, people=here)
