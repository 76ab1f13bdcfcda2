"""Lesson 10, exercise `what_you_measured`: three numbers from a run of your own."""

from collections.abc import Callable
from typing import Any

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.kinds.small_inputs import number

PROMPT = """`what_you_measured()`: the table of lesson 10 has no $d_k = 48$. Measure how its first steps go, **in a cell of your own**:

```python
from sdpa_helpers.lessons import does_scaling_matter as lesson
from sdpa_helpers.lessons.does_scaling_matter.experiments import early_loss

early_loss(lesson.Arm(48, "1", "Adam"), rate=0.01, seeds=range(25, 30), steps=40)
```

This trains five models, with seeds that the lesson has not used, for 40 steps, and returns the loss of each on lists that it has not seen. Do it three times: as it stands, then with the scale `"1/√dₖ"`, and then with that scale at five times the learning rate, `rate=0.05`.

Return `(no_scale, scaled, faster)`, the three **means over the five seeds**, to three decimals or more. Return the numbers themselves and do not train in the function: it is only asked what you found. Each number earns a third of the points if it is right to 0.001. A whole training magnifies rounding until processors disagree; 40 steps do not, so yours finds the same digits as ours.
"""

RIGHT = (2.83343, 2.37195, 2.05246)
"""What the prompt's three calls give; `ATEN_CPU_CAPABILITY=default` with one thread changes them by 0.00005 at most."""
OTHER_SEEDS = (2.84428, 2.40082, 2.31620), (2.82575, 2.30024, 2.44418)
"""The same with seeds 0 to 4 and 20 to 24."""
NEAR = 1e-3
SETTINGS = "no-scale-elsewhere", "scaled-elsewhere", "faster-elsewhere"


def what_you_measured():
    """Loss after 40 steps at d_k = 48: no scale, 1/√d_k, and 1/√d_k at five times the rate -> three numbers."""
    return 2.8334, 2.3720, 2.0525


def _three(value: Any) -> tuple[float, ...]:
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Misses("not-three-numbers", "return three numbers, as a tuple")
    try:
        return tuple(number(part, "a mean", 0.0, 100.0) for part in value)
    except ValueError as error:
        raise Misses("not-three-numbers", "one of the three is no such number", str(error)) from None


def _is(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR


def _judge_of(place: int) -> Callable[[Any], None]:
    def judge(value: Any) -> None:
        came = _three(value)
        if not _is(came[place], RIGHT[place]):
            raise Misses(_fault(came, place), "this is not the mean loss of these five models after 40 steps")

    return judge


def _fault(came: tuple[float, ...], place: int) -> str:
    """What a wrong number is, where that is known."""
    one, right = came[place], RIGHT[place]
    elsewhere = [i for i in range(3) if _is(one, RIGHT[i])]
    if elsewhere:
        return "exchanged" if _is(came[elsewhere[0]], right) else "setting-not-changed"
    if max(came) > 10 * max(RIGHT) or sum(came) > 50:
        return "percent-not-loss"
    if _is(one / 5, right):
        return "sum-not-mean"
    if any(_is(one, others[place]) for others in OTHER_SEEDS):
        return "other-seeds"
    if any(one == round(right, digits) for digits in (0, 1, 2)):
        return "too-few-digits"
    return SETTINGS[place]


ORDER = 60
EXERCISE = Exercise(
    name="what_you_measured",
    lesson="10_does_scaling_matter",
    title="Measure it yourself",
    prompt=PROMPT,
    section="10. Run a slice again",
    difficulty=2,
    minutes=8,
    reference=what_you_measured,
    cases=(
        criterion("without a scale", _judge_of(0), says='Scale "1", rate 0.01.'),
        criterion("with 1/√dₖ", _judge_of(1), says='Scale "1/√dₖ", rate 0.01.'),
        criterion("five times as fast", _judge_of(2), says='Scale "1/√dₖ", rate=0.05.'),
    ),
    wrong=(
        WrongAnswer(
            "not-three-numbers",
            lambda: [2.8334, 2.3720],
            "Return three numbers: the means over the five seeds, for the three settings of the prompt.",
        ),
        WrongAnswer(
            "percent-not-loss",
            lambda: (60.4, 99.9, 7.0),
            "These look like percentages of right answers. The prompt asks for the loss, which `early_loss` returns.",
        ),
        WrongAnswer(
            "exchanged",
            lambda: (2.3720, 2.8334, 2.0525),
            "Two of the numbers are exchanged: first no scale, then 1/√d_k, then that at five times the rate.",
        ),
        WrongAnswer(
            "setting-not-changed",
            lambda: (2.8334, 2.3720, 2.3720),
            "One setting is in it twice. The second call has another scale than the first, the third another rate than "
            "the second.",
        ),
        WrongAnswer(
            "sum-not-mean",
            lambda: (14.1672, 11.8598, 10.2623),
            "These are sums over the five seeds. Return their means.",
        ),
        WrongAnswer(
            "other-seeds",
            lambda: OTHER_SEEDS[0],
            "This is what other seeds give. Take `seeds=range(25, 30)`, all five.",
        ),
        WrongAnswer(
            "too-few-digits",
            lambda: (2.83, 2.37, 2.05),
            "The numbers are rounded too far: return three decimals, or all that you have.",
        ),
        WrongAnswer(
            "no-scale-elsewhere",
            lambda: (2.61, 2.3720, 2.0525),
            'The prompt\'s first call gives another number. Did you take the mean of what it returns, with scale "1", Adam, '
            "d_k = 48, a rate of 0.01 and 40 steps?",
        ),
        WrongAnswer(
            "scaled-elsewhere",
            lambda: (2.8334, 2.61, 2.0525),
            'The prompt\'s call gives another number with the scale "1/√dₖ". Everything else stays: Adam, d_k = 48, a rate '
            "of 0.01, 40 steps.",
        ),
        WrongAnswer(
            "faster-elsewhere",
            lambda: (2.8334, 2.3720, 2.61),
            'The third call gives another number. It has the scale "1/√dₖ" and `rate=0.05`, and else what the first one has.',
        ),
    ),
    also_right=(lambda: [2.833, 2.372, 2.052], lambda: RIGHT),
    hints=(
        "One call of `early_loss` for each setting; `.mean()` of what it returns.",
        "Only two things change between the three calls: the scale in `Arm`, and `rate`.",
        '`early_loss(lesson.Arm(48, "1/√dₖ", "Adam"), rate=0.05, seeds=range(25, 30), steps=40).mean()` is the third.',
    ),
)
