"""Lesson 10, exercise `steps_to_reach`: how soon does a run get to 90%?"""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`steps_to_reach(steps, accuracy, level)`: how many steps each run needed.

- `steps`, shape `(looks,)`: when the accuracy was measured, in training steps or thousands of steps. The numbers rise.
- `accuracy`, shape `(..., looks)`: what was measured then, for each run. Numbers from 0 to 1.
- `level`: a number from 0 to 1.
- Returns an array of shape `(...)`, or one number for one run: the **first** of the steps at which the accuracy was at least `level`. NaN for a run that never got there.

Example: {inputs:1}. The run gets there at step 20, although it falls back later: the answer is {result:1}.
"""


def steps_to_reach(steps, accuracy, level):
    """The first step with this accuracy, NaN where it was never reached: (looks,), (..., looks) -> (...)."""
    there = accuracy >= level
    return np.where(there.any(axis=-1), steps[there.argmax(axis=-1)], np.nan)


def _in_parts(*, compare, which, never, told):
    """steps_to_reach in four parts, each of which can be wrong; see MISTAKES."""

    def answer(steps, accuracy, level):
        there = compare(accuracy, level)
        places = which(there)
        return np.where(there.any(axis=-1), told(steps, places), never(steps))

    return answer


def _from_then_on(there):
    """The first place from which on it stays there; 0 where it does not stay."""
    stays = np.flip(np.logical_and.accumulate(np.flip(there, -1), axis=-1), -1)
    return stays.argmax(axis=-1)


def _last(there):
    return there.shape[-1] - 1 - np.flip(there, -1).argmax(axis=-1)


_RIGHT = {
    "compare": lambda accuracy, level: accuracy >= level,
    "which": lambda there: there.argmax(axis=-1),
    "never": lambda steps: np.nan,
    "told": lambda steps, places: steps[places],
}


def _answer(**parts):
    return _in_parts(**(_RIGHT | parts))


def _zero_for_not_there(steps, accuracy, level):
    there = np.where(accuracy >= level, steps, 0.0)
    first = np.where(there == 0, np.inf, there).min(axis=-1)
    return np.where(first == np.inf, np.nan, first)


MISTAKES = Products(
    (
        Factor(
            "compare",
            _RIGHT["compare"],
            (
                Option("above-not-at-least", lambda accuracy, level: accuracy > level),
                Option("below-the-level", lambda accuracy, level: accuracy < level),
            ),
        ),
        Factor(
            "which",
            _RIGHT["which"],
            (
                Option("the-last-time", _last),
                Option("how-often", lambda there: np.minimum(there.sum(axis=-1), there.shape[-1] - 1)),
            ),
        ),
        Factor(
            "never",
            _RIGHT["never"],
            (
                Option("never-is-the-first-look", lambda steps: steps[0]),
                Option("never-is-the-last-look", lambda steps: steps[-1]),
                Option("never-is-infinity", lambda steps: np.inf),
                Option("never-is-zero", lambda steps: 0.0),
                Option("never-is-minus-one", lambda steps: -1.0),
            ),
        ),
        Factor(
            "told",
            _RIGHT["told"],
            (
                Option("a-place-not-a-step", lambda steps, places: places),
                Option("looks-counted-from-one", lambda steps, places: places + 1),
                Option("one-look-late", lambda steps, places: steps[np.minimum(places + 1, len(steps) - 1)]),
                Option("one-look-early", lambda steps, places: steps[np.maximum(places - 1, 0)]),
            ),
        ),
    ),
    _in_parts,
)


def _steps(rng, looks):
    """Not evenly spaced, and from a number above 0 on."""
    return np.cumsum(rng.integers(3, 15, size=looks)).astype(float)


def _from_zero(rng, looks):
    steps = _steps(rng, looks)
    return steps - steps[0]


def _runs(rng, *shape, level=0.9):
    """Runs that rise through the level in the middle, fall back once, and come again."""
    looks = shape[-1]
    rising = np.sort(rng.uniform(0.0, level - 0.05, shape), axis=-1)
    at = rng.integers(2, looks - 4, size=shape[:-1])
    places = np.arange(looks)
    above = level + 0.08 * rng.random(shape)
    is_there = (places == at[..., None]) | (places >= at[..., None] + 3)
    return np.where(is_there, above, rising)


def _some_never(rng):
    accuracy = _runs(rng, 5, 9)
    accuracy[[1, 4]] = np.minimum(accuracy[[1, 4]], 0.85)
    return _steps(rng, 9), accuracy, 0.9


def _in_thousands(rng):
    """Steps that are no whole numbers, many looks, and one run of each arm, each there at another look."""
    looks, arms = 23, 7
    accuracy = np.sort(rng.uniform(0, 0.85, (arms, 1, looks)), axis=-1)
    for arm in range(arms):
        accuracy[arm, 0, 10 + arm] = 0.9 - 1e-12  # not there yet
        accuracy[arm, 0, 11 + arm :] = 0.95
    return np.cumsum(rng.uniform(0.1, 0.9, looks)), accuracy, 0.9


def _exactly(rng):
    accuracy = np.tile([0.1, 0.25, 0.5, 0.75, 0.75, 1.0, 1.0], (3, 1))
    accuracy[:, 2] = 0.75 - 1e-12
    return _steps(rng, 7), accuracy, 0.75


_ONE_AXIS = "steps has one axis: one list of looks serves all runs"
_SPARED = (
    *((f"→ if np.ndim(steps) {which}: raise ValueError", _ONE_AXIS) for which in ("> 1", "== 2", "> 2")),
    *(
        (f"→ if np.ndim(steps) >= {n} and np.shape(steps)[-{n}] == 1: raise ValueError", _ONE_AXIS)
        for n in (2, 3)
    ),
    ("→ level = np.abs(level)", "a level is not negative; whether 0.9 is 0.9 in float32 is left open"),
)


EXERCISE = Exercise(
    name="steps_to_reach",
    lesson="10_does_scaling_matter",
    title="How soon is a run there?",
    prompt=PROMPT,
    examples=(Example(([0, 10, 20, 30, 40], [0.1, 0.5, 0.9, 0.8, 1.0], 0.9), shows="20"),),
    section="5. What came out",
    difficulty=2,
    minutes=8,
    reference=steps_to_reach,
    cases=(
        Case("four runs", lambda rng: (_steps(rng, 10), _runs(rng, 4, 10), 0.9)),
        Case(
            "two runs never get there",
            _some_never,
            says="A run that never gets there has no such step: NaN.",
        ),
        Case("exactly at the level", _exactly, says="At least means ≥."),
        Case("one run", lambda rng: (_steps(rng, 11), _runs(rng, 11, level=0.7), 0.7)),
        Case(
            "two arms of three runs, read-only",
            lambda rng: (_steps(rng, 12), read_only(_runs(rng, 2, 3, 12)), 0.9),
        ),
        Case(
            "there at the first look, or at the last",
            lambda rng: (_from_zero(rng, 4), np.array([[0.95, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.97]]), 0.9),
        ),
        Case("one run of each of seven arms, steps in thousands", _in_thousands),
        Case("nobody gets there", lambda rng: (_steps(rng, 6), rng.uniform(0, 0.5, (3, 6)), 0.9)),
        Case("a single look", lambda rng: (_steps(rng, 1), np.array([[0.3], [0.95], [0.2]]), 0.9)),
        Case(
            "float32",
            lambda rng: (_steps(rng, 9), _runs(rng, 1, 3, 9, level=0.5).astype(np.float32), 0.5),
        ),
    ),
    wrong=(
        WrongAnswer(
            "above-not-at-least",
            _answer(compare=lambda accuracy, level: accuracy > level),
            "You wait for an accuracy above the level. A run that is exactly there is there: use ≥.",
        ),
        WrongAnswer(
            "below-the-level",
            _answer(compare=lambda accuracy, level: accuracy < level),
            "This is the first step at which the accuracy is below the level.",
        ),
        WrongAnswer(
            "the-last-time",
            _answer(which=_last),
            "This is the last look at which the run is there. Return the first.",
        ),
        WrongAnswer(
            "how-often",
            _answer(which=lambda there: np.minimum(there.sum(axis=-1), there.shape[-1] - 1)),
            "You counted the looks at which the run is there. Find the first of them.",
        ),
        WrongAnswer(
            "stays-there",
            lambda steps, accuracy, level: np.where(
                (accuracy[..., -1] >= level), steps[_from_then_on(accuracy >= level)], np.nan
            ),
            "This is the step after which the run stays at the level. The first time counts, even if it falls back.",
        ),
        WrongAnswer(
            "never-is-the-first-look",
            _answer(never=lambda steps: steps[0]),
            "A run that never gets there comes out as one that is there at the first look: `argmax` of nothing but "
            "False is 0. Return NaN for it.",
        ),
        WrongAnswer(
            "never-is-the-last-look",
            _answer(never=lambda steps: steps[-1]),
            "A run that never gets there counts as if it had, at the last look. Return NaN for it.",
        ),
        WrongAnswer(
            "never-is-infinity",
            _answer(never=lambda steps: np.inf),
            "Infinity is a fair name for never, but the prompt says NaN.",
        ),
        WrongAnswer(
            "never-is-zero",
            _answer(never=lambda steps: 0.0),
            "A run that never gets there gets 0 steps: the best result of all. Return NaN for it.",
        ),
        WrongAnswer(
            "step-0-is-never",
            _zero_for_not_there,
            "You put 0 where the run is not there yet, so a run that is there at step 0 looks as if it were not. A look at "
            "step 0 is a look like any other: ask the accuracy, not the step.",
        ),
        WrongAnswer(
            "never-is-minus-one",
            _answer(never=lambda steps: -1.0),
            "A run that never gets there gets −1, which every mean will take for a very fast run. Return NaN for it.",
        ),
        WrongAnswer(
            "a-place-not-a-step",
            _answer(told=lambda steps, places: places),
            "This is the place of the look. Return the training step that stands there in `steps`.",
        ),
        WrongAnswer(
            "looks-counted-from-one",
            _answer(told=lambda steps, places: places + 1),
            "This is the number of looks. Return the training step at that look, from `steps`.",
        ),
        WrongAnswer(
            "one-look-late",
            _answer(told=lambda steps, places: steps[np.minimum(places + 1, len(steps) - 1)]),
            "This is the look after the right one.",
        ),
        WrongAnswer(
            "one-look-early",
            _answer(told=lambda steps, places: steps[np.maximum(places - 1, 0)]),
            "This is the look before the right one: there the run was not there yet.",
        ),
    ),
    also_right=(
        lambda steps, accuracy, level: np.apply_along_axis(
            lambda run: next((s for s, a in zip(steps, run, strict=True) if a >= level), np.nan), -1, accuracy
        ),
    ),
    hints=(
        "Ask at each look whether the run is there. Which look is the first True?",
        "`argmax` of an array of True and False is the place of the first True, and 0 if there is none: tell the two apart.",
        "`there.any(axis=-1)` says which runs get there at all; `np.where` puts NaN in the place of the others.",
    ),
    mistakes=MISTAKES,
    spared=_SPARED,
)
