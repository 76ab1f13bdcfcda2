"""Holm's correction for many questions to the same numbers: of a lesson's experiment, of a class's grades."""

from collections.abc import Mapping
from typing import TypeVar

Name = TypeVar("Name")


def holm(ps: Mapping[Name, float]) -> dict[Name, float]:
    """Each p, corrected for all: the smallest times their number, the next times one less, never falling again."""
    found, least = {}, 0.0
    for place, name in enumerate(sorted(ps, key=lambda name: ps[name])):
        least = max(least, min(1.0, ps[name] * (len(ps) - place)))
        found[name] = least
    return {name: found[name] for name in ps}
