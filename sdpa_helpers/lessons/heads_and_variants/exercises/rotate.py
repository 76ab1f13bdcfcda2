"""Lesson 08, exercise `rotate`: positions as rotations (RoPE)."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.heads_and_variants.exercises.shared import CHANGED, HALF, SINGLE, half, single

PROMPT = r"""`rotate(x, positions, base=10000.0)`: RoPE writes a token's position into its query or key by turning pairs of coordinates. Pair `c` of a token at position $p$ is turned by the angle $p\,\theta_c$ with $\theta_c = \mathrm{base}^{-2c/d}$:

$$(a, b) \;\mapsto\; (a\cos p\theta_c - b\sin p\theta_c,\; a\sin p\theta_c + b\cos p\theta_c)$$

- `x`, shape `(..., n, d)` with even `d`; `positions`, shape `(n,)`: any numbers, not only 0, 1, 2, …
- Pairs are **neighbors**, as in the paper (Su et al. 2021): pair `c` holds the coordinates `2c` and `2c + 1`, counted from `c = 0`. (Code for Llama often pairs coordinate `c` with `c + d/2` instead. That works as well, with weights trained for it; here it is wrong.)
- Returns the rotated tokens in the shape of `x`, each coordinate in its place.

Example: base 4 makes the angles of the two pairs p and p/2. {example:1}: the first pair is turned by 0.6 radians, the second by 0.3.
"""


def rotate(x, positions, base=10000.0):
    """RoPE, neighbors paired: x (..., n, d), positions (n,) -> the shape of x."""
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-np.arange(0, d, 2) / d)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.empty(x.shape)
    out[..., 0::2] = a * np.cos(angles) - b * np.sin(angles)
    out[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return out


def _neighbors(x):
    return x[..., 0::2], x[..., 1::2]


def _halves(x):
    return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]


def _in_turns(a, b):
    return np.stack([a, b], axis=-1).reshape(*a.shape[:-1], -1)


def _side_by_side(a, b):
    return np.concatenate([a, b], axis=-1)


def _turn(a, b, angles):
    return a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)


def _turn_back(a, b, angles):
    return _turn(a, b, -angles)


def _one_after_the_other(a, b, angles):
    a = a * np.cos(angles) - b * np.sin(angles)
    return a, a * np.sin(angles) + b * np.cos(angles)


def _cosine_and_sine_swapped(a, b, angles):
    return a * np.sin(angles) - b * np.cos(angles), a * np.cos(angles) + b * np.sin(angles)


def _both_signs_plus(a, b, angles):
    return a * np.cos(angles) + b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)


def _added(a, b, angles):
    return a + np.sin(angles), b + np.cos(angles)


def _by_matrices(x, positions, base=10000.0):
    out = np.zeros(x.shape)
    for i, p in enumerate(positions):
        for c in range(0, x.shape[-1], 2):
            angle = p / base ** (c / x.shape[-1])
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            out[..., i, c : c + 2] = x[..., i, c : c + 2] @ turn.T
    return out


def _complex(x, positions, base=10000.0):
    numbers = x[..., 0::2] + 1j * x[..., 1::2]
    turns = np.exp(1j * np.outer(positions, base ** (-np.arange(x.shape[-1] // 2) / (x.shape[-1] // 2))))
    numbers = numbers * turns
    return _in_turns(numbers.real, numbers.imag)


def _whole_row_twice(x, positions, base=10000.0):
    angles = np.repeat(np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])), 2, axis=-1)
    a, b = _neighbors(x)
    return x * np.cos(angles) + _in_turns(-b, a) * np.sin(angles)


def _in_place(x, positions, base=10000.0):
    x[...] = rotate(x, positions, base)
    return x


def _build(convert, pairs, place, speed, together) -> Callable:
    """RoPE whose parts can be wrong."""
    take, put = pairs

    def rotate(x, positions, base=10000.0):
        x = convert(x)
        d = x.shape[-1]
        a, b = take(x)
        angles = place(np.asarray(positions, dtype=float))[:, None] * speed(np.arange(d // 2), d, base)
        return put(*together(a, b, angles))

    return rotate


MISTAKES = Products(
    (
        Factor(
            "pairs",
            (_neighbors, _in_turns),
            (
                Option("halves-paired", (_halves, _side_by_side)),
                Option("not-put-back-in-turns", (_neighbors, _side_by_side)),
            ),
        ),
        Factor(
            "place",
            lambda p: p,
            (
                Option("positions-counted-from-1", lambda p: p + 1),
                Option("positions-counted-anew", lambda p: np.arange(len(p)) * 1.0),
                Option("positions-counted-anew", lambda p: np.arange(1, len(p) + 1) * 1.0),
                Option("in-degrees", np.radians),
                Option("circles-not-radians", lambda p: 2 * np.pi * p),
            ),
        ),
        Factor(
            "speed",
            lambda c, d, base: base ** (-2 * c / d),
            (
                Option("one-angle-for-all-pairs", lambda c, d, base: 1.0 + 0.0 * c),
                Option("exponent-without-the-2", lambda c, d, base: base ** (-c / d)),
                Option("exponent-four-times", lambda c, d, base: base ** (-4 * c / d)),
                Option("pairs-counted-from-1", lambda c, d, base: base ** (-2 * (c + 1) / d)),
                Option("exponent-not-divided-by-d", lambda c, d, base: base ** (-2.0 * c)),
                Option("positive-exponent", lambda c, d, base: base ** (2 * c / d)),
                Option("pairs-in-reverse", lambda c, d, base: base ** (-2 * c[::-1] / d)),
                Option("base-not-used", lambda c, d, base: 10000.0 ** (-2 * c / d)),
                Option("base-not-used", lambda c, d, base: np.e ** (-2 * c / d)),
            ),
        ),
        Factor(
            "together",
            _turn,
            (
                Option("turned-backwards", _turn_back),
                Option("first-coordinate-overwritten", _one_after_the_other),
                Option("sine-and-cosine-swapped", _cosine_and_sine_swapped),
                Option("both-signs-plus", _both_signs_plus),
                Option("positions-added", _added),
            ),
        ),
        Factor(
            "convert",
            lambda x: x,
            (
                Option("float32-somewhere", single, rare=True),
                Option("half-precision-somewhere", half, rare=True),
            ),
        ),
    ),
    _build,
)


def _with(**parts) -> Callable:
    """The answer with these parts in place of the right ones."""
    return _build(**{factor.name: factor.right for factor in MISTAKES.factors} | parts)


def _wrong(name: str, says: str, **more) -> WrongAnswer:
    """The wrong answer with the first option of that name."""
    factor, option = next((f, o) for f in MISTAKES.factors for o in f.options if o.name == name)
    return WrongAnswer(name, _with(**{factor.name: option.value}), says, **more)


def _draw(rng, d, positions, *batch):
    return rng.normal(size=(*batch, len(positions), d)), np.array(positions, dtype=float)


def _read_only(rng):
    x, positions = _draw(rng, 10, [2, 0, 5], 3)
    return read_only(strided(x)), read_only(positions)


EXERCISE = Exercise(
    name="rotate",
    lesson="08_heads_and_variants",
    title="Rotate by position (RoPE)",
    prompt=PROMPT,
    examples=(Example(([[1, 0, 1, 0]], [0.6], 4.0)),),
    section="6. RoPE: position as a rotation",
    difficulty=3,
    minutes=12,
    reference=rotate,
    cases=(
        Case("five tokens of width six", lambda rng: _draw(rng, 6, range(5))),
        Case("a batch with heads", lambda rng: _draw(rng, 10, range(4), 2, 3)),
        Case(
            "positions in any order",
            lambda rng: _draw(rng, 6, rng.permutation([3, 0, 11, 40, 7, 1000]), 2),
            says="The angle depends on `positions`, not on where a token stands in the array.",
        ),
        Case(
            "another base",
            lambda rng: (*_draw(rng, 12, [2, 9, 30], 2), float(rng.integers(300, 900))),
            says="θ is base to the power −2c/d, with the base that was passed in.",
        ),
        Case(
            "between and before the tokens",
            lambda rng: _draw(rng, 6, [0.5, -3, 2.25, -0.75]),
            says="Positions can be fractions, as when a long context is squeezed into a short one, and negative.",
        ),
        Case("position 0", lambda rng: _draw(rng, 10, [0], 1), says="At position 0 nothing is turned."),
        Case(
            "a single pair",
            lambda rng: _draw(rng, 2, [1, 4, 6], 3),
            says="With d = 2 there is one pair, and θ is 1.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _draw(rng, 4, [1, 5, 2, 8], 4),
            says="Batch, tokens and width are all 4: no shape can warn you here.",
        ),
        Case("a longer text", lambda rng: _draw(rng, 22, range(13))),
        Case("read-only, strided", _read_only),
    ),
    wrong=(
        _wrong(
            "halves-paired",
            "You paired coordinate c with c + d/2, as code for Llama does. Here neighbors are pairs: 0 with 1, 2 with 3, "
            "and so on.",
        ),
        _wrong(
            "not-put-back-in-turns",
            "The pairs are turned correctly and put back in another order: first coordinates in the left half, second "
            "ones in the right. Each coordinate belongs where it was, 2c and 2c + 1.",
        ),
        _wrong(
            "turned-backwards",
            "You turned the other way: the minus belongs to b·sin in the first coordinate.",
        ),
        _wrong(
            "first-coordinate-overwritten",
            "The second coordinate was computed from the first one after it had been turned. Both need the old pair: keep "
            "it until both are done.",
        ),
        _wrong("sine-and-cosine-swapped", "Sine and cosine are swapped: at angle 0 nothing may change."),
        _wrong("both-signs-plus", "Both signs are plus. A rotation has one minus: a·cos − b·sin."),
        _wrong(
            "positions-added",
            "You added sines and cosines to x, as the first Transformer did. RoPE multiplies: it turns each pair.",
        ),
        _wrong(
            "one-angle-for-all-pairs",
            "All pairs are turned by the same angle, p. Pair c is turned by p·θ_c, and θ_c gets smaller from pair to pair.",
        ),
        _wrong(
            "exponent-without-the-2",
            "Your exponent is −c/d. With c counting pairs it is −2c/d.",
        ),
        _wrong(
            "exponent-four-times",
            "Your exponent is −4c/d: a factor of 2 came in twice, perhaps because your c counts coordinates already.",
        ),
        _wrong("pairs-counted-from-1", "You counted pairs from 1. The first pair has c = 0, so its θ is 1."),
        _wrong("exponent-not-divided-by-d", "The exponent is not divided by d: θ_c = base^(−2c/d)."),
        _wrong(
            "positive-exponent", "The exponent has the wrong sign: θ_c = base^(−2c/d) gets smaller with c."
        ),
        _wrong("pairs-in-reverse", "The slowest pair comes first. The first pair turns fastest, with θ = 1."),
        _wrong("base-not-used", "You did not use the base that was passed in."),
        _wrong(
            "positions-counted-from-1",
            "You added 1 to the positions. They are used as they are: at 0 nothing turns.",
        ),
        _wrong(
            "positions-counted-anew",
            "You numbered the tokens yourself. Their positions are in `positions`: with a cache a single token may stand "
            "at 1000.",
        ),
        _wrong("in-degrees", "You treated p·θ as degrees. The angle is in radians, as np.cos takes it."),
        _wrong("circles-not-radians", "You multiplied the angle by 2π. It is p·θ_c, in radians."),
        WrongAnswer(
            "zeros-returned",
            lambda x, positions, base=10000.0: np.zeros(x.shape),
            "Everything is zero: the array has the right shape, but nothing was written into it.",
        ),
        WrongAnswer("changes-its-input", _in_place, CHANGED),
        _wrong("float32-somewhere", SINGLE, clue="float32"),
        _wrong("half-precision-somewhere", HALF),
    ),
    also_right=(_with(), _by_matrices, _complex, _whole_row_twice),
    hints=(
        "Take one token with d = 2 first: one pair, one angle. Then, how many angles does a whole sequence have?",
        "Angles have shape (n, d/2): positions down, θ across. `x[..., 0::2]` and `x[..., 1::2]` have the same last axes.",
        "`angles = positions[:, None] * base ** (-np.arange(0, d, 2) / d)`. Make an empty array in the shape of x and fill "
        "its even and odd coordinates with the two formulas.",
    ),
    invariants=(
        Invariant(
            "pair-lengths-changed",
            "A rotation keeps the length of each pair. Yours changes it.",
            lambda inputs, out: bool(
                np.allclose(
                    out[..., 0::2] ** 2 + out[..., 1::2] ** 2,
                    inputs[0][..., 0::2] ** 2 + inputs[0][..., 1::2] ** 2,
                )
            ),
        ),
    ),
    mistakes=MISTAKES,
)
