"""Lesson 06, exercise `roofline`: the roof of a machine."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`roofline(intensity, peak_flops, bandwidth)`: the highest speed at which an operation can run.

- `intensity`: FLOPs per byte, one number or an array of any shape.
- `peak_flops`: what the processor can compute, in FLOP/s. `bandwidth`: what the memory can deliver, in bytes/s.
- Returns the highest speed in FLOP/s, in the shape of `intensity`. Computing and moving happen at the same time; the slower of the two decides.

Example: {example:1}.
"""


def roofline(intensity, peak_flops, bandwidth):
    """The highest speed in FLOP/s at this intensity (a number or an array): the same shape."""
    return np.minimum(peak_flops, intensity * bandwidth)


def _roofline_in_place(intensity, peak_flops, bandwidth):
    intensity *= bandwidth
    return np.minimum(intensity, peak_flops)


def _intensities(rng, ridge):
    below, above = ridge * rng.uniform(0.01, 0.9, size=3), ridge * rng.uniform(1.2, 50, size=3)
    return np.concatenate([below, above])


def _build(memory, choose, unit):
    return lambda intensity, peak_flops, bandwidth: choose(peak_flops, memory(intensity, bandwidth)) / unit


MISTAKES = Products(
    (
        Factor(
            "memory",
            lambda intensity, bandwidth: intensity * bandwidth,
            (
                Option("intensity-over-bandwidth", lambda intensity, bandwidth: intensity / bandwidth),
                Option(
                    "intensity-upside-down",
                    lambda intensity, bandwidth: bandwidth / np.asarray(intensity, float),
                ),
                Option("numbers-not-bytes", lambda intensity, bandwidth: intensity * bandwidth / 4),
            ),
        ),
        Factor(
            "choose",
            np.minimum,
            (
                Option("the-larger-limit", np.maximum),
                Option("limits-added", np.add),
                Option("times-added", lambda one, other: one * other / (one + other)),
                Option("the-smallest-of-all", lambda one, other: np.min(other * 1.0, initial=one)),
                Option("truth-of-an-array", min),
            ),
        ),
        Factor("unit", 1.0, (Option("giga-flops", 1e9),)),
    ),
    _build,
)


EXERCISE = Exercise(
    name="roofline",
    lesson="06_complexity",
    title="The roof of a machine",
    prompt=PROMPT,
    examples=(Example(([0, 5, 50], 100, 10)),),
    difficulty=2,
    minutes=10,
    reference=roofline,
    section="4. The roofline",
    cases=(
        Case(
            "below the ridge",
            lambda rng: (rng.uniform(0.3, 0.9), 3e11, 2e10),
            says="Here the memory is slower than the processor.",
        ),
        Case(
            "above the ridge",
            lambda rng: (rng.uniform(300, 900), 3e11, 2e10),
            says="Here the processor is slower than the memory.",
        ),
        Case("many at once", lambda rng: (read_only(_intensities(rng, 12.5)), 1.5e11, 1.2e10)),
        Case(
            "a table of a GPU",
            lambda rng: (_intensities(rng, 295.0).reshape(2, 3), 989e12, 3.35e12),
            says="Arrays of any shape: one speed for each intensity.",
        ),
        Case(
            "nothing computed",
            lambda rng: (np.array([0.0, rng.uniform(1, 2), 1e4]), 5e10, 1e10),
            says="A plain copy has intensity 0, and speed 0 in FLOP/s.",
        ),
        Case(
            "one intensity in an array",
            lambda rng: (rng.uniform(1, 4, size=1), 5e10, 1e10),
            says="An array with one entry is an array: the speed has shape (1,).",
        ),
        Case(
            "four axes",
            lambda rng: (rng.uniform(0.1, 9, size=(2, 1, 1, 3)), 5e10, 1e10),
            says="Any shape: axes of length 1 stay.",
        ),
        Case(
            "a machine in other units",
            lambda rng: (rng.uniform(1, 4, size=5), 3e-5, 1e-5),
            says="With FLOP/s counted in units of 10¹⁶ the numbers are small: nothing is rounded.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "the-larger-limit",
            lambda intensity, peak_flops, bandwidth: np.maximum(peak_flops, intensity * bandwidth),
            "You took the larger of the two limits. An operation has to wait for the slower one: the "
            "smaller limit counts.",
        ),
        WrongAnswer(
            "limits-added",
            lambda intensity, peak_flops, bandwidth: peak_flops + intensity * bandwidth,
            "You added the limits. Only the smaller one counts.",
        ),
        WrongAnswer(
            "times-added",
            lambda intensity, peak_flops, bandwidth: (
                intensity * bandwidth * peak_flops / (peak_flops + intensity * bandwidth)
            ),
            "You added the time of computing and the time of moving. The roofline lets both happen "
            "at once: the longer one counts.",
        ),
        WrongAnswer(
            "always-the-peak",
            lambda intensity, peak_flops, bandwidth: peak_flops + 0.0 * intensity,
            "You return the peak for every intensity. Below the ridge the memory is slower.",
        ),
        WrongAnswer(
            "always-the-memory",
            lambda intensity, peak_flops, bandwidth: intensity * bandwidth,
            "You return intensity · bandwidth always. Above the ridge that is more than the processor can do.",
        ),
        WrongAnswer(
            "intensity-upside-down",
            lambda intensity, peak_flops, bandwidth: np.minimum(
                peak_flops, bandwidth / np.asarray(intensity, dtype=float)
            ),
            "You divided the bandwidth by the intensity. FLOPs per byte times bytes per second gives "
            "FLOPs per second: multiply.",
        ),
        WrongAnswer(
            "intensity-over-bandwidth",
            lambda intensity, peak_flops, bandwidth: np.minimum(peak_flops, intensity / bandwidth),
            "You divided the intensity by the bandwidth. FLOPs per byte times bytes per second gives FLOPs per second: "
            "multiply.",
        ),
        WrongAnswer(
            "a-truth-value",
            lambda intensity, peak_flops, bandwidth: np.asarray(intensity) * bandwidth < peak_flops,
            "You say which side of the ridge it is. Return the speed.",
        ),
        WrongAnswer(
            "the-ridge",
            lambda intensity, peak_flops, bandwidth: peak_flops / bandwidth,
            "This is the ridge, in FLOPs per byte. Return the speed at the given intensity.",
        ),
        WrongAnswer(
            "share-of-the-peak",
            lambda intensity, peak_flops, bandwidth: np.minimum(1.0, intensity * bandwidth / peak_flops),
            "This is the share of the peak. Return FLOP/s.",
        ),
        WrongAnswer(
            "giga-flops",
            lambda intensity, peak_flops, bandwidth: np.minimum(peak_flops, intensity * bandwidth) / 1e9,
            "These are GFLOP/s. Return FLOP/s, like the inputs.",
        ),
        WrongAnswer(
            "numbers-not-bytes",
            lambda intensity, peak_flops, bandwidth: np.minimum(peak_flops, intensity * bandwidth / 4),
            "You divided by 4, as if the bandwidth counted bytes and the intensity float32 numbers. "
            "Both are in bytes here.",
        ),
        WrongAnswer(
            "the-smallest-of-all",
            lambda intensity, peak_flops, bandwidth: np.min(intensity * bandwidth * 1.0, initial=peak_flops),
            "You took one minimum over the whole array. Each intensity has its own: np.minimum, not np.min.",
        ),
        WrongAnswer(
            "truth-of-an-array",
            lambda intensity, peak_flops, bandwidth: min(peak_flops, intensity * bandwidth),
            "Python's `min` and `if` ask one question about two numbers and cannot choose inside an array. np.minimum does "
            "it for each entry.",
            errors_tell=True,
        ),
        WrongAnswer(
            "zero-above-the-ridge",
            lambda intensity, peak_flops, bandwidth: np.where(
                intensity * bandwidth < peak_flops, intensity * bandwidth, 0.0
            )[()],
            "Above the ridge you return 0. There the speed is the peak.",
        ),
        WrongAnswer(
            "changes-its-input",
            _roofline_in_place,
            "Your function writes into the caller's array. Make a new array: no `+=`, `/=`, `out=` or `x[...] =` on "
            "an argument.",
        ),
    ),
    also_right=(
        lambda intensity, peak_flops, bandwidth: np.fmin(np.multiply(intensity, bandwidth), peak_flops),
        lambda intensity, peak_flops, bandwidth: np.clip(intensity * bandwidth, None, peak_flops),
        lambda intensity, peak_flops, bandwidth: np.where(
            np.asarray(intensity) < peak_flops / bandwidth, np.asarray(intensity) * bandwidth, peak_flops
        ),
        lambda intensity, peak_flops, bandwidth: (
            1 / np.maximum(1 / peak_flops, 1 / (np.maximum(intensity, 1e-300) * bandwidth))
        ),
    ),
    hints=(
        "Two things limit the speed. Write both down in FLOP/s.",
        "The processor allows peak_flops. The memory allows intensity · bandwidth. The smaller one "
        "decides, entry by entry.",
        "`np.minimum(a, b)` compares entry by entry, for numbers and arrays alike.",
    ),
    invariants=(
        Invariant(
            "above-the-peak",
            "At least one speed lies above the processor's peak.",
            lambda inputs, speed: bool(np.all(speed <= inputs[1] * (1 + 1e-9))),
        ),
    ),
    mistakes=MISTAKES,
)
