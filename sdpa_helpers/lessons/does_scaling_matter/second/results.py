"""The second experiment's results, as the registered tests and the lesson's figures want them. Needs no torch."""

import json
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.course.claim import Verdict, verdict_of
from sdpa_helpers.course.holm import holm
from sdpa_helpers.lessons.does_scaling_matter.second import design
from sdpa_helpers.lessons.does_scaling_matter.second.registered import NOTABLE, REGISTERED
from sdpa_helpers.lessons.does_scaling_matter.second.statistics import (
    Difference,
    Seen,
    chosen,
    clear,
    difference,
    sooner_is_better,
)

FILE = Path(__file__).with_name("results.json")
SETTINGS = tuple(product(design.WIDTHS, design.OPTIMIZERS))
USUAL = design.USUAL.name

Test = tuple[str, str]
"""What is tested, and in which setting."""


class Outcome(NamedTuple):
    """What became of a registered sentence."""

    verdict: Verdict
    cases: dict[str, bool | None]
    """By setting."""


@lru_cache(maxsize=1)
def results() -> dict[str, Any]:
    """The whole file: "about", and "found" by the names of its parts."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def _found(*name: object) -> Any:
    return results()["found"][" ".join(map(str, name))]


def _split(values: Array, tuning: int) -> Seen:
    return Seen(values[:, :tuning], values[:, tuning:])


def steps(d_k: int, optimizer: str, way: str) -> Array:
    """Steps to 90%, `LATE` where that never came: rates × seeds, tuning seeds first."""
    rows = _found("race", d_k, way, optimizer)["steps"]
    return np.array([[design.LATE if one is None else one for one in row] for row in rows], dtype=float)


def race(d_k: int, optimizer: str, way: str) -> Seen:
    """Steps to 90% with a minus: more is better."""
    taken = steps(d_k, optimizer, way)
    tuned = sooner_is_better(taken, _right(d_k, optimizer, way))
    return Seen(tuned[:, : len(design.TUNING)], -taken[:, len(design.TUNING) :])


def right(d_k: int, optimizer: str, way: str) -> Seen:
    """Percent right at the end of the race; more than 90 counts as 90."""
    return _split(_right(d_k, optimizer, way), len(design.TUNING))


def _right(d_k: int, optimizer: str, way: str) -> Array:
    return np.array(_found("race", d_k, way, optimizer)["right"], dtype=float)


def there(d_k: int, optimizer: str, way: str) -> Seen:
    """100 for a run that got to 90%, else 0; tuned for the steps."""
    ran = race(d_k, optimizer, way)
    return Seen(ran.tuning, 100.0 * (ran.evaluation > -design.LATE))


def on_map(names: int, optimizer: str, way: str, column: int) -> Seen:
    """Percent right at one of the map's steps, tuned for it."""
    values = np.array(_found("map", names, way, optimizer)["right"], dtype=float)
    return _split(values[..., column], len(design.MAP_TUNING))


def gained(names: int, optimizer: str) -> Seen:
    """Scale 1: points gained from step 200 to the last, tuned for the last."""
    last, early = (on_map(names, optimizer, "1", column) for column in (-1, design.MAP_STEPS.index(200)))
    return Seen(last.tuning, last.evaluation - early.evaluation)


def value(seen: Seen) -> float:
    """The mean of the evaluation seeds at the rate that tuning chooses."""
    return float(seen.evaluation[int(chosen(seen.tuning.mean(-1)))].mean())


def race_steps(d_k: int, optimizer: str, way: str) -> float:
    """Mean steps to 90% of the tuned arm."""
    return -value(race(d_k, optimizer, way))


def _sooner(d_k: int, optimizer: str, way: str, other: str = USUAL) -> Difference:
    theirs = race(d_k, optimizer, other)
    return difference(race(d_k, optimizer, way), theirs, NOTABLE["steps"] * -value(theirs))


@lru_cache(maxsize=1)
def tests() -> dict[Test, Difference]:
    """Every test of the registered file; those that only fill the figure of the race as well."""
    found: dict[Test, Difference] = {}
    points = NOTABLE["right"]
    for d_k, optimizer in SETTINGS:
        at = f"{d_k} {optimizer}"
        for way in design.WAYS[1:]:
            found["sooner " + way.name, at] = _sooner(d_k, optimizer, way.name)
        found["starts_badly", at] = _sooner(d_k, optimizer, "learned from 1", "learned")
        for name, way in (("works", "learned"), ("sharp", "1/dₖ")):
            found[name, at] = difference(there(d_k, optimizer, way), 50.0, points)
    for optimizer, (narrow, wide) in product(
        design.OPTIMIZERS, zip(design.WIDTHS, design.WIDTHS[1:], strict=False)
    ):
        less, more = (right(d_k, optimizer, "1") for d_k in (wide, narrow))
        found["wider", f"{narrow} to {wide}, {optimizer}"] = difference(more, less, points)
    for place, optimizer in product(design.MAP, design.OPTIMIZERS):
        at = f"{place.names} names, {optimizer}"
        found["fails", at] = difference(on_map(place.names, optimizer, "1", -1), 50.0, points)
        found["stalls", at] = difference(gained(place.names, optimizer), 10.0, points)
    return found


@lru_cache(maxsize=1)
def answers() -> dict[Test, bool | None]:
    """Of every test: whether it is clearly more than 0, clearly less, or not clear. Holm over all of them."""
    corrected = holm({name: found.p for name, found in tests().items()})
    return {name: clear(found, corrected[name]) for name, found in tests().items()}


def _cases(test: str, no: bool = False) -> dict[str, bool | None]:
    """A test's answers by setting; `no` where the sentence is true of what is less."""
    found = {setting: said for (name, setting), said in answers().items() if name == test}
    return {setting: None if said is None else said != no for setting, said in found.items()}


def _starts_badly() -> dict[str, bool | None]:
    later = [name for name, said in _cases("starts_badly", no=True).items() if said]
    return dict.fromkeys(later, True) or {"none of six": None}


def outcomes() -> dict[str, Outcome]:
    """By the name of the registered sentence, in its order."""
    cases = {
        "fails": _cases("fails", no=True),
        "stalls": _cases("stalls", no=True),
        "wider": _cases("wider"),
        "works": _cases("works"),
        "starts_badly": _starts_badly(),
        "shrinks": _cases("sooner 1/dₖ", no=True),
        "sharp": _cases("sharp", no=True),
        "variance": {str(d): abs(_found("spread", d, USUAL) - 1) < 0.1 for d in design.WIDTHS},
        "no_tuning": _cases("sooner learned", no=True),
        "same": {f"{d} {optimizer}": _found("same", d, optimizer) for d, optimizer in SETTINGS},
        "start_matters": _cases("sooner 1, own rates", no=True),
        "rates_matter": _cases("sooner smaller start", no=True),
        "normed": _cases("sooner QK-norm"),
    }
    return {r.name: Outcome(verdict_of(cases[r.name].values()), cases[r.name]) for r in REGISTERED}
