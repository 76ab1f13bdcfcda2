"""Lesson 10, exercise `what_you_measured`: three numbers from a run of your own."""

from typing import Any, NamedTuple

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import number

PROMPT = """`what_you_measured()`: the table of lesson 10 has no $d_k = 48$. Measure it, in a cell of your own, with at least five seeds that the lesson has not used (20 and above):

```python
from sdpa_helpers.lessons import does_scaling_matter as lesson

lesson.rerun(lesson.Arm(48, "1", "Adam"), rate=0.01, seeds=range(20, 25))
```

This trains five models in a few seconds, and returns the percentage of right answers for each. Do it three times: as it stands, then with the scale `"1/√dₖ"`, and then with that scale at ten times the learning rate, `rate=0.1`.

Return `(no_scale, scaled, scaled_too_fast)`, the three **means over your seeds**, in percent. Each earns a point if it agrees with runs of forty other seeds, to within four standard errors of a mean of five.
"""


class Range(NamedTuple):
    """Where means of five seeds lie: forty seeds (20 to 59), their mean and four standard errors of five."""

    low: float
    high: float


NO_SCALE, SCALED, TOO_FAST = Range(45.0, 72.5), Range(98.5, 100.0), Range(4.4, 10.1)


def what_you_measured():
    """Percent right at d_k = 48: no scale, 1/√d_k, and 1/√d_k at ten times the rate -> three numbers."""
    return 60.4, 99.9, 7.0


def _three(value: Any) -> tuple[float, float, float]:
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Misses("not-three-numbers", "return three numbers, as a tuple")
    try:
        a, b, c = (number(part, "a mean", 0.0, 100.0) for part in value)
    except ValueError as error:
        raise Misses("not-three-numbers", "one of the three is no percentage", str(error)) from None
    if max(a, b, c) <= 1:
        raise Misses("shares-not-percent", "all three are at most 1: these are shares, not percentages")
    return a, b, c


def _no_scale(value: Any) -> None:
    first, second, _ = _three(value)
    if not NO_SCALE.low <= first <= NO_SCALE.high:
        if NO_SCALE.low <= second <= NO_SCALE.high and first >= SCALED.low:
            raise Misses("exchanged", "the first two numbers seem to have changed places")
        raise Misses("no-scale-elsewhere", "other seeds put the first number elsewhere")


def _scaled(value: Any) -> None:
    first, second, _ = _three(value)
    if not SCALED.low <= second <= SCALED.high:
        if NO_SCALE.low <= second <= NO_SCALE.high and first >= SCALED.low:
            raise Misses("exchanged", "the first two numbers seem to have changed places")
        raise Misses("scaled-elsewhere", "other seeds put the second number elsewhere")


def _too_fast(value: Any) -> None:
    third = _three(value)[2]
    if not TOO_FAST.low <= third <= TOO_FAST.high:
        raise Misses("rate-not-changed", "other seeds put the third number elsewhere")


EXERCISE = Exercise(
    name="what_you_measured",
    lesson="10_does_scaling_matter",
    title="Measure it yourself",
    prompt=PROMPT,
    section="7. Run a slice again",
    difficulty=2,
    minutes=8,
    reference=what_you_measured,
    cases=(
        criterion(
            "without a scale", _no_scale, says='Scale "1", rate 0.01: between the table\'s columns 32 and 64.'
        ),
        criterion("with 1/√dₖ", _scaled, says='Scale "1/√dₖ", rate 0.01.'),
        criterion("ten times as fast", _too_fast, says='Scale "1/√dₖ", rate=0.1.'),
    ),
    wrong=(
        WrongAnswer(
            "not-three-numbers",
            lambda: [60.4, 99.9],
            "Return three numbers: the means over your seeds, for the three settings of the prompt.",
        ),
        WrongAnswer(
            "shares-not-percent",
            lambda: (0.604, 0.999, 0.07),
            "These are shares. `rerun` returns percentages: return their means as they are.",
        ),
        WrongAnswer(
            "exchanged",
            lambda: (99.9, 60.4, 7.0),
            "The first two numbers are exchanged: first no scale, then 1/√d_k.",
        ),
        WrongAnswer(
            "no-scale-elsewhere",
            lambda: (12.1, 99.9, 7.0),
            'Runs of other seeds put the first number between 45 and 72.5. Did you take scale "1", Adam, d_k = 48, a rate '
            "of 0.01 and the mean of at least five seeds?",
        ),
        WrongAnswer(
            "scaled-elsewhere",
            lambda: (60.4, 90.0, 7.0),
            'Runs of other seeds put the second number above 98.5. Did you take the scale "1/√dₖ" and a rate of 0.01?',
        ),
        WrongAnswer(
            "rate-not-changed",
            lambda: (60.4, 99.9, 99.9),
            "Runs of other seeds put the third number near guessing. Did you set `rate=0.1`?",
        ),
    ),
    also_right=(lambda: [52.0, 99.8, 7.5],),
    hints=(
        "One call of `rerun` for each setting; `.mean()` of what it returns.",
        "Only two things change between the three calls: the scale in `Arm`, and `rate`.",
        '`lesson.rerun(lesson.Arm(48, "1/√dₖ", "Adam"), rate=0.1, seeds=range(20, 25)).mean()` is the third.',
    ),
)
