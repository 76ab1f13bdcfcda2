"""Lesson 04, exercise `relative_error`: a gradient check that sees NaN."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`relative_error(a, b)`: how far apart two gradients are, as a share of their size. A test that uses it must not be fooled.

- `a` and `b`: two arrays, of any shape.
- Returns one number: the largest $|a - b|$, divided by the largest entry in size of **either** array.
- If the shapes differ: `inf`. Shapes `(4, 1)` and `(4,)` differ, although NumPy would broadcast them.
- If any entry of `a` or of `b` is NaN or infinite: `inf`.
- If both are zero everywhere: `0`.

Examples: {example:1}. {example:2}. {example:3}: for gradients this small the error is large.
"""


def relative_error(a, b):
    """Largest difference for the size: two arrays -> one number, inf if they cannot be compared."""
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    size = max(np.abs(a).max(), np.abs(b).max())
    return np.abs(a - b).max() / size if size > 0 else 0.0


def _comparable(a, b):
    return a.shape == b.shape and bool(np.isfinite(a).all() and np.isfinite(b).all())


def _error_by(measure):
    """relative_error with another measure for the arrays that can be compared at all."""
    return lambda a, b: measure(a, b) if _comparable(a, b) else np.inf


def _largest(a, b):
    return max(np.abs(a).max(), np.abs(b).max())


def _relative(a, b):
    return np.abs(a - b).max() / s if (s := _largest(a, b)) > 0 else 0.0


def _nan_skipped(a, b):
    if a.shape != b.shape:
        return np.inf
    size = max(np.nanmax(np.abs(a)), np.nanmax(np.abs(b)))
    return np.nanmax(np.abs(a - b)) / size if size > 0 else 0.0


def _only_nan_found(a, b):
    if a.shape != b.shape or np.isnan(a).any() or np.isnan(b).any():
        return np.inf
    return _relative(a, b)


def _one_side_only(a, b):
    return _relative(a, b) if a.shape == b.shape and np.isfinite(a).all() else np.inf


def _shape_ignored(a, b):
    return _relative(a, b) if np.isfinite(a).all() and np.isfinite(b).all() else np.inf


def _nearly(rng, *shape, error):
    a = rng.normal(size=shape)
    return a, a + error * rng.normal(size=shape)


def _with(values_a, values_b):
    """Two equal gradients, except for special entries at [1, 2]."""

    def make(rng):
        a, b = _nearly(rng, 3, 4, error=1e-9)
        a[1, 2], b[1, 2] = values_a, values_b
        return a, b

    return make


def _infinite(rng):
    """Both infinite at one place: their difference there is NaN. The second is also infinite at another."""
    a, b = _nearly(rng, 2, 5, error=1e-9)
    a[0, 1] = b[0, 1] = np.inf
    return a, b


def _row_and_column(rng):
    """As many numbers and as many axes, and all of them equal."""
    column = rng.normal() + np.zeros((4, 1))
    return column.T.copy(), column


def _zeros_and_more(rng):
    """Some entries are zero in one or both; the largest entry is negative, and larger in the first."""
    a, b = _nearly(rng, 5, 3, error=1e-3)
    a[0], b[0], a[1] = 0.0, 0.0, 0.0
    a[3, 1], b[3, 1] = -5.1, -5.0
    return read_only(3 * a), read_only(3 * b)


def _tiny(rng):
    """Gradients of opposite sign; the largest difference is negative, and the second is the larger one."""
    a = 1e-20 * rng.normal(size=(4, 2, 3))
    a[2, 0, 1] = -6e-20
    return a, -1.5 * a + 1e-22 * rng.normal(size=a.shape)


def _second_larger(rng):
    a, b = _nearly(rng, 2, 1, 4, 1, error=1e-2)
    b[0, 0, 2] = -float(rng.uniform(5, 6))
    return a, b


def _minute(rng):
    """The first is the larger one, and the largest difference is negative."""

    def draw(rng):
        a = 1e-120 * rng.uniform(1, 2, size=(1, 5))
        return a, a * (1 + 0.1 * rng.uniform(-1, 1, size=a.shape))

    return redraw(rng, draw, lambda a, b: a.max() > 1.01 * b.max() and (b - a).max() > 1.1 * (a - b).max())


def _last_of_forty(rng):
    a, b = _nearly(rng, 40, error=1e-9)
    b[-1] += 0.5
    return a, b


def _in_parts(*, guard, measure, distance, size, divide):
    """relative_error in five parts, each of which can be wrong; see MISTAKES.

    guard: when the answer is inf, and whether two arrays of zeros are looked for.
    """
    cannot, zeros = guard
    divided = _as_it_comes if divide is _or_zero and not zeros else divide

    def answer(a, b):
        return np.inf if cannot(a, b) else divided(distance(a, b, measure), size(a, b, measure), a, b)

    return answer


def _largest_entry(x):
    return np.abs(x).max()


def _unequal(a, b):
    return a.shape != b.shape


def _not_finite(*arrays):
    return not all(np.isfinite(x).all() for x in arrays)


def _or_zero(distance, size, a, b):
    return distance / size if size > 0 else 0.0


def _as_it_comes(distance, size, a, b):
    return distance / np.float64(size)


def _each_over(entry_size):
    """Each difference over the size of its own entry, and then the largest quotient."""
    return lambda distance, size, a, b: np.max(np.abs(a - b) / entry_size(a, b))


_BOUNDS = (float(np.finfo(np.float64).eps), 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
"""Small numbers that people put into a denominator."""


MISTAKES = Products(
    (
        Factor(
            "guard",
            (lambda a, b: not _comparable(a, b), True),
            (
                Option("nothing-checked-first", (lambda a, b: False, False)),
                Option(
                    "nothing-looked-at-first",
                    (lambda a, b: False, True),
                    "Shapes and NaN are not looked at: NaN in, NaN out, and (4, 1) is compared with (4,). `error "
                    "> 1e-6` is False for NaN, so a test that uses it passes. Handle these before you compare.",
                ),
                *(
                    Option(
                        "only-shapes-looked-at",
                        (_unequal, zeros),
                        "You look at the shapes, and not at NaN or infinity: NaN in, NaN out, and `error > 1e-6` is "
                        "False for NaN, so a test that uses it passes.",
                    )
                    for zeros in (True, False)
                ),
                Option("shape-ignored", (lambda a, b: _not_finite(a, b), True)),
                Option(
                    "shapes-half-compared",
                    (lambda a, b: a.size != b.size or a.ndim != b.ndim or _not_finite(a, b), True),
                    "You compared how many numbers the arrays hold, or how many axes they have. (1, 4) and (4, 1) agree "
                    "in both, and are two shapes all the same: compare `a.shape` with `b.shape`.",
                ),
                Option("shapes-half-compared", (lambda a, b: a.ndim != b.ndim or _not_finite(a, b), True)),
                Option(
                    "zeros-before-shapes",
                    (lambda a, b: bool(a.any() or b.any()) and not _comparable(a, b), True),
                    "You ask whether both are zero before you look at the shapes. Zeros of shape (4, 1) and of shape (4,) "
                    "cannot be compared either: the answer is inf.",
                ),
                Option("one-side-only", (lambda a, b: _unequal(a, b) or _not_finite(a), True)),
                Option("one-side-only", (lambda a, b: _unequal(a, b) or _not_finite(b), True)),
                Option(
                    "infinity-overlooked",
                    (lambda a, b: _unequal(a, b) or bool(np.isnan(a).any() or np.isnan(b).any()), True),
                ),
            ),
        ),
        Factor("measure", _largest_entry, (Option("norms-not-maxima", np.linalg.norm),)),
        Factor(
            "distance",
            lambda a, b, measure: measure(a - b),
            (
                Option("signed-difference", lambda a, b, measure: (a - b).max()),
                Option("mean-not-maximum", lambda a, b, measure: np.abs(a - b).mean()),
            ),
        ),
        Factor(
            "size",
            lambda a, b, measure: max(measure(a), measure(b)),
            (
                Option("absolute-error", lambda a, b, measure: 1.0),
                Option("signed-size", lambda a, b, measure: max(a.max(), b.max())),
                Option("sizes-added", lambda a, b, measure: measure(a) + measure(b)),
                Option("first-size-only", lambda a, b, measure: measure(a)),
                Option("second-size-only", lambda a, b, measure: measure(b)),
                Option(
                    "mean-of-the-sizes",
                    lambda a, b, measure: (measure(a) + measure(b)) / 2,
                    "You divided by the mean of both sizes; divide by the larger one.",
                ),
            ),
        ),
        Factor(
            "divide",
            _or_zero,
            (
                Option("zeros-give-nan", _as_it_comes),
                Option(
                    "threshold-for-zero",
                    lambda d, s, a, b: d / s if s > 1e-12 else 0.0,
                    "Gradients below a threshold count as zero for you, and then any difference between them does. Only a "
                    "size of exactly 0 is its own case.",
                ),
                *(
                    Option("constant-in-denominator", lambda d, s, a, b, small=small: d / (s + small))
                    for small in _BOUNDS
                ),
                *(
                    Option("floor-in-denominator", lambda d, s, a, b, small=small: d / max(s, small))
                    for small in _BOUNDS
                ),
                Option(
                    "entry-by-entry",
                    _each_over(lambda a, b: np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300)),
                ),
                *(
                    Option(
                        "rel-error-of-cs231n",
                        _each_over(lambda a, b, small=small: np.maximum(small, np.abs(a) + np.abs(b))),
                    )
                    for small in _BOUNDS
                ),
                *(
                    Option("entry-by-entry", _each_over(lambda a, b, small=small: np.abs(b) + small))
                    for small in _BOUNDS
                ),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: entry by entry, and nothing looked at first."""


EXERCISE = Exercise(
    name="relative_error",
    lesson="04_gradients",
    title="A gradient check that sees NaN",
    prompt=PROMPT,
    examples=(
        Example(([1, -4], [1, -3]), form="values", shows="1/4 = 0.25"),
        Example(([np.nan, 1], [np.nan, 1]), form="values"),
        Example(([1e-12], [-1e-12]), form="values"),
    ),
    section="7. Check the whole backward pass",
    difficulty=3,
    minutes=10,
    reference=relative_error,
    cases=(
        Case("two gradients, nearly equal, some zeros, read-only", _zeros_and_more),
        Case(
            "tiny gradients, of opposite sign",
            _tiny,
            says="Whether 1e-20 is a large error depends on the size of the gradients.",
        ),
        Case(
            "NaN in the first",
            _with(np.nan, 0.5),
            says="NaN is not close to anything: the answer is inf. Look before you compare.",
        ),
        Case(
            "NaN in the second",
            _with(0.5, np.nan),
            says="NaN is not close to anything: the answer is inf. Look before you compare.",
        ),
        Case(
            "infinity in both",
            _infinite,
            says="inf − inf is NaN: a gradient that is not finite is wrong, also when both are.",
        ),
        Case(
            "nothing but zeros", lambda rng: (np.zeros((2, n := int(rng.integers(3, 60)))), np.zeros((2, n)))
        ),
        Case(
            "infinity in the first only",
            _with(np.inf, 0.5),
            says="A gradient that is not finite is wrong: the answer is inf.",
        ),
        Case(
            "minus infinity in the second only",
            _with(0.5, -np.inf),
            says="A gradient that is not finite is wrong: the answer is inf. −inf is not finite either.",
        ),
        Case(
            "the second is larger, with a minus; four axes",
            _second_larger,
            says="The size is that of the largest entry of either array, without its sign.",
        ),
        Case(
            "sizes below 10⁻¹⁰⁰",
            _minute,
            says="However small the gradients are, what counts is their difference for their size.",
        ),
        Case(
            "forty numbers, the last one wrong",
            _last_of_forty,
            says="One wrong entry among many is an error, wherever it stands.",
        ),
        Case(
            "a row against a column",
            _row_and_column,
            says="Shapes (1, 4) and (4, 1) broadcast without an error, and hold as many numbers. A gradient of the wrong "
            "shape is wrong.",
        ),
        Case(
            "a column against a row",
            lambda rng: (np.zeros((n := int(rng.integers(3, 60)), 1)), np.zeros(n)),
            says="Shapes (4, 1) and (4,) broadcast without an error. A gradient of the wrong shape is wrong, also where "
            "all of it is 0.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "absolute-error",
            _error_by(lambda a, b: np.abs(a - b).max()),
            "This is the absolute error. 1e-12 is perfect for gradients of size 1 and useless for gradients of size "
            "1e-12: divide by the larger of the two largest entries.",
        ),
        WrongAnswer(
            "nan-skipped",
            _nan_skipped,
            "NaN is stepped over, so a gradient with NaN passes as nearly right: np.nanmax skips it, and so does "
            "a loop with `if error > worst`, because `>` with NaN is False. Ask np.isfinite first.",
            ("What does np.nanmax do? And what is `nan > 0`?",),
        ),
        WrongAnswer(
            "nothing-checked-first",
            lambda a, b: np.abs(a - b).max() / np.maximum(np.abs(a).max(), np.abs(b).max()),
            "NaN in, NaN out: and `error > 1e-6` is False for NaN, so a test that uses it passes. Two arrays of "
            "zeros give 0/0. Handle these before you divide.",
        ),
        WrongAnswer(
            "infinity-overlooked",
            _only_nan_found,
            "You looked for NaN and not for infinity: inf − inf is NaN. np.isfinite finds both.",
        ),
        WrongAnswer(
            "one-side-only",
            _one_side_only,
            "You checked only the first array. The second can hold NaN too.",
        ),
        WrongAnswer(
            "shape-ignored",
            _shape_ignored,
            "Arrays of shapes (4, 1) and (4,) were compared all the same. Different shapes: the answer is inf.",
        ),
        WrongAnswer(
            "signed-difference",
            _error_by(lambda a, b: (a - b).max() / s if (s := _largest(a, b)) > 0 else 0.0),
            "You left out the absolute value of the difference: an error below zero does not count.",
        ),
        WrongAnswer(
            "signed-size",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := max(a.max(), b.max())) > 0 else 0.0),
            "You left out the absolute value where you take the size: large negative entries are large.",
        ),
        WrongAnswer(
            "mean-not-maximum",
            _error_by(lambda a, b: np.abs(a - b).mean() / s if (s := _largest(a, b)) > 0 else 0.0),
            "You took the mean difference. One wrong entry among a million would vanish in it: take the largest.",
        ),
        WrongAnswer(
            "norms-not-maxima",
            _error_by(
                lambda a, b: (
                    np.linalg.norm(a - b) / s if (s := max(np.linalg.norm(a), np.linalg.norm(b))) > 0 else 0.0
                )
            ),
            "You compared norms, which many right entries can fill up. Take the largest entries.",
        ),
        WrongAnswer(
            "norms-over-their-sum",
            lambda a, b: np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b)),
            "This is ‖a − b‖ / (‖a‖ + ‖b‖), as many courses check gradients. Norms can be filled up by many right "
            "entries, two of them add up to more than the larger one, and NaN, zeros and shapes are not looked at. "
            "Look at these first, then divide the largest difference by the largest entry.",
        ),
        WrongAnswer(
            "sizes-added",
            _error_by(
                lambda a, b: np.abs(a - b).max() / s if (s := np.abs(a).max() + np.abs(b).max()) > 0 else 0.0
            ),
            "You divided by both sizes together; divide by the larger one.",
        ),
        WrongAnswer(
            "first-size-only",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := np.abs(a).max()) > 0 else 0.0),
            "You divided by the size of the first array only; take the larger of the two sizes.",
        ),
        WrongAnswer(
            "second-size-only",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := np.abs(b).max()) > 0 else 0.0),
            "You divided by the size of the second array only; take the larger of the two sizes.",
        ),
        WrongAnswer(
            "entry-by-entry",
            _error_by(
                lambda a, b: np.max(np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300))
            ),
            "You divided each difference by its own entry: where a gradient is almost zero, harmless rounding looks "
            "like a total failure. Divide once, by the largest entry.",
        ),
        WrongAnswer(
            "rel-error-of-cs231n",
            lambda a, b: np.max(np.abs(a - b) / np.maximum(1e-8, np.abs(a) + np.abs(b))),
            "Each difference is divided by its own |a| + |b|, with a floor: that is `rel_error` as CS231n's notebooks "
            "have it. Where a gradient is almost zero, harmless rounding then looks like a total failure. NaN and "
            "shapes come first; then divide once, by the largest entry of either array.",
        ),
        WrongAnswer(
            "constant-in-denominator",
            _error_by(lambda a, b: np.abs(a - b).max() / (_largest(a, b) + 1e-8)),
            "The small number in your denominator is far larger than tiny gradients, and hides that they differ. Treat "
            "zero as its own case.",
        ),
        WrongAnswer(
            "floor-in-denominator",
            _error_by(lambda a, b: np.abs(a - b).max() / max(_largest(a, b), 1e-12)),
            "Your denominator never gets below a small number, and tiny gradients lie below it: that they differ "
            "is hidden. Treat zero as its own case.",
        ),
        WrongAnswer(
            "zeros-give-nan",
            _error_by(lambda a, b: np.abs(a - b).max() / np.float64(_largest(a, b))),
            "For two arrays of zeros this is 0/0 = NaN. They are equal: the answer is 0.",
        ),
        WrongAnswer(
            "yes-or-no",
            lambda a, b: bool(a.shape == b.shape and np.allclose(a, b)),
            "This says yes or no. Return a number: it also tells how far off a wrong gradient is.",
        ),
    ),
    also_right=(
        lambda a, b: (
            np.inf
            if np.shape(a) != np.shape(b) or not np.isfinite([a, b]).all()
            else float(np.max(np.abs(a - b)) / (np.max(np.abs([a, b])) or 1.0))
        ),
        lambda a, b: (
            float("inf")
            if a.shape != b.shape or np.isnan(np.sum(a) * 0 + np.sum(b) * 0)
            else np.linalg.norm((a - b).ravel(), np.inf)
            / (max(np.linalg.norm(x.ravel(), np.inf) for x in (a, b)) or 1)
        ),
    ),
    hints=(
        "Which three situations have no ordinary answer? Treat those before any arithmetic.",
        "Shapes that differ, or any entry that is not finite: inf. Both all zero: 0. Otherwise one division.",
        "`np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max())`, after `a.shape != b.shape`, "
        "`np.isfinite(a).all()` and the same for b; and mind a size of 0.",
    ),
    invariants=(
        Invariant(
            "larger-than-two",
            "It is larger than 2, which finite gradients of one shape cannot reach: a and −a are 2 apart.",
            lambda inputs, r: bool(r <= 2 + 1e-9) or not _comparable(*inputs),
            tells=True,
        ),
    ),
    mistakes=MISTAKES,
)
