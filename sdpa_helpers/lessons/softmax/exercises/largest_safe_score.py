"""Lesson 03, exercise `largest_safe_score`: how large may a score be?"""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`largest_safe_score(n_k, dtype)`: how large may scores be before the *plain* formula overflows, with nothing subtracted?

- `n_k`, an `int`: the number of keys. In the worst case all of them have the same score $s$.
- `dtype`, a string: `"float16"`, `"float32"` or `"float64"`.
- Returns one number, in float64: the $s$ for which the sum of the $n_k$ exponentials equals the largest number of that dtype.

Example: {example:1}. The largest number of float16 is 65504.
"""


def largest_safe_score(n_k, dtype):
    """The largest score that n_k keys may share: int, dtype name -> float."""
    largest = float(np.finfo(dtype).max)
    return float(np.log(largest) - np.log(n_k))


def _some_keys(rng, dtype):
    return int(rng.integers(100, 5000)), dtype


_LIMITS = {"float16": 11.09, "float32": 88.72, "float64": 709.78}


def _in_parts(*, dtype, largest, keys, logarithm, after):
    """largest_safe_score in five parts, each of which can be wrong; see MISTAKES."""
    return lambda n_k, given: after(keys(float(logarithm(largest(dtype(given)))), n_k, logarithm))


def _always(dtype):
    return lambda _given: dtype


MISTAKES = Products(
    (
        Factor(
            "dtype",
            lambda dtype: dtype,
            tuple(Option(f"always-{dtype}", _always(dtype)) for dtype in ("float16", "float32", "float64")),
        ),
        Factor(
            "largest",
            lambda dtype: float(np.finfo(dtype).max),
            (
                Option("smallest-number", lambda dtype: float(np.finfo(dtype).tiny)),
                Option("rounding-unit", lambda dtype: float(np.finfo(dtype).eps)),
                Option("computed-in-the-small-dtype", lambda dtype: np.finfo(dtype).max),
            ),
        ),
        Factor(
            "keys",
            lambda limit, n_k, log: limit - log(n_k),
            (
                Option("one-key-only", lambda limit, n_k, log: limit),
                Option("logarithm-divided", lambda limit, n_k, log: limit / n_k),
                Option("keys-multiplied", lambda limit, n_k, log: limit + log(n_k)),
                Option("keys-subtracted", lambda limit, n_k, log: limit - n_k),
                Option("root-of-keys", lambda limit, n_k, log: limit - log(n_k) / 2),
            ),
        ),
        Factor("logarithm", np.log, (Option("base-2", np.log2), Option("base-10", np.log10))),
        Factor(
            "after",
            lambda s: s,
            (
                Option("rounded-down", np.floor),
                Option("sign-flipped", lambda s: -s),
                *(
                    Option(
                        "rounded",
                        lambda s, n=n: np.round(s, n),
                        "Your result has only a few decimals, by rounding or by a search in steps. Keep all its digits.",
                    )
                    for n in (0, 1, 2, 3, 4)
                ),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: one key only, and rounded down."""


EXERCISE = Exercise(
    name="largest_safe_score",
    lesson="03_softmax",
    title="How large may a score be?",
    prompt=PROMPT,
    examples=(Example((4096, "float16"), form="call"),),
    difficulty=2,
    minutes=10,
    reference=largest_safe_score,
    cases=(
        Case(
            "thousands of keys, float16",
            lambda rng: (int(rng.integers(2000, 9000)), "float16"),
            says="Lesson 03 measures it for 4096 keys: 2.77.",
        ),
        Case("some keys, float16", lambda rng: _some_keys(rng, "float16")),
        Case("some keys, float32", lambda rng: _some_keys(rng, "float32")),
        Case("some keys, float64", lambda rng: _some_keys(rng, "float64")),
        Case(
            "very few keys, float16",
            lambda rng: (int(rng.integers(2, 9)), "float16"),
            says="With few keys the sum is hardly more than the exponential itself.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-key-only",
            lambda n_k, dtype: largest_safe_score(1, dtype),
            "This is where one exponential overflows. The sum of n_k of them overflows earlier: n_k · e^s has to "
            "fit.",
            ("Write down the sum of n_k equal exponentials.",),
        ),
        WrongAnswer(
            "logarithm-divided",
            lambda n_k, dtype: largest_safe_score(1, dtype) / n_k,
            "You divided the logarithm by n_k. Divide the largest number by n_k, then take the logarithm: ln(L / "
            "n_k).",
        ),
        WrongAnswer(
            "keys-multiplied",
            lambda n_k, dtype: largest_safe_score(1, dtype) + np.log(n_k),
            "More keys allow you a larger score here; it has to be a smaller one. n_k · e^s ≤ L gives s ≤ ln L − "
            "ln n_k.",
        ),
        WrongAnswer(
            "keys-subtracted",
            lambda n_k, dtype: largest_safe_score(1, dtype) - n_k,
            "You subtracted n_k itself; its logarithm belongs there.",
        ),
        WrongAnswer(
            "root-of-keys",
            lambda n_k, dtype: largest_safe_score(1, dtype) - np.log(np.sqrt(n_k)),
            "You used the root of n_k. A sum of n_k equal numbers is n_k times as large.",
        ),
        WrongAnswer(
            "no-logarithm",
            lambda n_k, dtype: float(np.finfo(dtype).max) / n_k,
            "This is how large each exponential may be. Which score has that exponential? Take the logarithm.",
        ),
        WrongAnswer(
            "base-2",
            lambda n_k, dtype: largest_safe_score(n_k, dtype) / np.log(2),
            "You took the logarithm to base 2. The exponential has base e: np.log undoes it.",
        ),
        WrongAnswer(
            "base-10",
            lambda n_k, dtype: largest_safe_score(n_k, dtype) / np.log(10),
            "You took the logarithm to base 10. The exponential has base e: np.log undoes it.",
        ),
        WrongAnswer(
            "always-float32",
            lambda n_k, dtype: largest_safe_score(n_k, "float32"),
            "You always use float32's largest number. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "always-float64",
            lambda n_k, dtype: largest_safe_score(n_k, "float64"),
            "You always use float64's largest number. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "always-float16",
            lambda n_k, dtype: largest_safe_score(n_k, "float16"),
            "You always use float16's largest number, 65504. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "smallest-number",
            lambda n_k, dtype: float(np.log(float(np.finfo(dtype).tiny))) - np.log(n_k),
            "You used the smallest normal number. What overflows is the largest: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "rounding-unit",
            lambda n_k, dtype: float(np.log(float(np.finfo(dtype).eps))) - np.log(n_k),
            "You used eps, the distance from 1 to the next number. What overflows is the largest: "
            "np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "computed-in-the-small-dtype",
            lambda n_k, dtype: float(np.log(np.finfo(dtype).max / np.dtype(dtype).type(n_k))),
            "np.finfo(dtype).max is itself a number of that dtype, so the limit was computed in it and lost digits. "
            "Make it a Python float first.",
            ("float(np.finfo(dtype).max) is the same number in float64.",),
        ),
        WrongAnswer(
            "constants-rounded",
            lambda n_k, dtype: _LIMITS[dtype] - np.log(n_k),
            "You took the logarithms of the largest numbers with a few digits, as the lesson prints them. Compute "
            "them from np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "rounded-down",
            lambda n_k, dtype: float(np.floor(largest_safe_score(n_k, dtype))),
            "You cut the decimals off. Scores are real numbers: keep them.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda n_k, dtype: -largest_safe_score(n_k, dtype),
            "The sign is turned around: ln(n_k / L) in place of ln(L / n_k).",
        ),
    ),
    also_right=(
        lambda n_k, dtype: np.log(float(np.finfo(dtype).max) / n_k),
        lambda n_k, dtype: np.log(np.float64(np.finfo(dtype).max)) - np.log(n_k),
    ),
    hints=(
        "If all n_k keys have the score s, what is the sum of their exponentials?",
        "n_k · e^s has to stay at or below the largest number of the dtype, which np.finfo knows. Solve for s.",
        "s = ln(L / n_k) with `L = float(np.finfo(dtype).max)`.",
    ),
    mistakes=MISTAKES,
)
