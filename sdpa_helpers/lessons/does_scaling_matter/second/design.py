"""The second experiment's arms, tasks, rates and seeds. Registered: committed before its run, and not changed since.

What had been seen before of an earlier run, and why that was thrown away, is told in `registered`.

A factor at the scores is a start and a rate: with W' = √s · W, queries and keys of W' have the scores that W has with
the factor s. Gradients at W' are 1/√s times as large, so W' moves as √s · W does where SGD's rate for it is s · η, and
Adam's √s · η. Two of the ways below have such **own rates** for W_q and W_k. In units of 1/√dₖ the six fixed ways are
three starts (spread of the scores √dₖ, 1, 1/√dₖ) with one rate for all, or with what 1/√dₖ's W_q and W_k would have.
"""

from typing import NamedTuple

from sdpa_helpers.lessons.does_scaling_matter.arms import Task


class Way(NamedTuple):
    """A way to scale."""

    name: str
    power: float
    """The factor at the scores is d_k to this power; a learned one starts there."""
    start: float = 0.0
    """W_q and W_k start d_k to this power times as large as usual."""
    rates: float = 0.0
    """W_q and W_k learn at η times d_k to this power with SGD, to half of it with Adam."""
    kind: str = "fixed"
    """ "fixed", "learned", or "normed": queries and keys of length 1, and a learned factor."""


USUAL = Way("1/√dₖ", -0.5)
WAYS = (
    USUAL,
    Way("1", 0.0),
    Way("1, own rates", 0.0, rates=-0.5),
    Way("smaller start", 0.0, start=-0.25),
    Way("1/dₖ", -1.0),
    Way("1/dₖ, own rates", -1.0, rates=0.5),
    Way("learned", -0.5, kind="learned"),
    Way("learned from 1", 0.0, kind="learned"),
    Way("QK-norm", 0.0, kind="normed"),
)
SAME = Way("smaller start, own rates", 0.0, start=-0.25, rates=-0.5)
"""1/√dₖ by the two lines above, so it's not trained again: that it is the same is checked in its place."""

OPTIMIZERS = ("SGD", "Adam")
WIDTHS = (16, 64, 512)
LADDER = tuple(float(f"{first}e{power}") for power in range(-6, 5) for first in (1, 2.2, 4.6))
"""All rates that there are."""


def ladder(low: float, high: float) -> tuple[float, ...]:
    """The rates from one to another, both included."""
    return LADDER[LADDER.index(low) : LADDER.index(high) + 1]


RATES = {"SGD": ladder(0.1, 46.0), "Adam": ladder(0.001, 0.46)}
OUTWARD = 3
"""How often, at most, an arm tries the ladder's next rate as well, because its best is the lowest or the highest."""
ENOUGH = 0.9
"""What counts as learned. From then on a run isn't trained further, and counts as this share."""

RACE = Task(steps=300)
"""The first experiment's lists, half as many steps again."""
TUNING, EVALUATION = tuple(range(400, 406)), tuple(range(410, 422))
"""Seeds. No other part of the course has used them, nor had the earlier run."""
LATE = RACE.steps + RACE.every
"""Steps of a run that never got to 90%: differences come out too small, never too large."""


class Place(NamedTuple):
    """A task of the map."""

    names: int
    pairs: int

    @property
    def task(self) -> Task:
        """The race's task with this many names and pairs, for as long as the map's last column."""
        return RACE._replace(names=self.names, pairs=self.pairs, steps=MAP_STEPS[-1], every=20)


MAP_STEPS = (100, 200, 500, 1000, 2000)
MAP = (Place(32, 8), Place(64, 16), Place(128, 16))
MAP_WIDTH = 512
MAP_WAYS = tuple(way for way in WAYS if way.name in ("1", "1/√dₖ"))
MAP_RATES = {"SGD": ladder(0.046, 2.2), "Adam": ladder(0.00046, 0.022)}
MAP_TUNING, MAP_EVALUATION = tuple(range(430, 433)), tuple(range(440, 445))
