"""Lesson 08, exercise `keys_that_linear_attention_confuses`: two keys between which only softmax chooses well."""

import numpy as np

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import finite

PROMPT = r"""`keys_that_linear_attention_confuses()`: softmax weighs a key by $e^{q\cdot k/\sqrt{d_k}}$, [`linear_attention`](#linear_attention) by $\varphi(q)\cdot\varphi(k)$ with φ = elu + 1. Make an example in which the two disagree.

Return `(q, K)`:

- `q`, shape `(d_k,)`: a query, with `d_k` from 2 to 8.
- `K`, shape `(2, d_k)`: two keys of the same length (their norms differ by less than $10^{-9}$), so that direction alone decides.
- Use numbers between −30 and 30, and no vector of zeros.

Your example earns points for these:

1. softmax gives the first key a weight of at least 0.99 (1 point),
2. it does, and linear attention can't tell the two keys apart or prefers the second: it gives the first at most 0.5 (1 point),
3. it does, and linear attention gives the first key at most 0.2 (1 point).
"""


def keys_that_linear_attention_confuses():
    """A query and two keys of one length, of which φ prefers the wrong one -> q (d_k,), K (2, d_k)."""
    q = np.array([1.0, -20.0])
    K = np.array([[0.0, -5.0], [5.0, 0.0]])  # φ makes −20 and −5 nearly 0
    return q, K


def _features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0.0)))


def _made(value):
    """(softmax's weight, linear attention's weight) of the first key, or why there are none."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Misses("no-query-and-keys", "return two things: the query and the keys")
    try:
        q, K = (
            finite(part, name, (axes, axes), 30.0).astype(np.float64)
            for part, name, axes in zip(value, "qK", (1, 2), strict=True)
        )
    except ValueError as error:
        seen = "the query or the keys are not as the prompt describes them"
        raise Misses("no-query-and-keys", seen, str(error)) from None
    if not 2 <= q.size <= 8 or K.shape != (2, q.size):
        seen = "the shapes are not (d_k,) and (2, d_k) with d_k from 2 to 8"
        raise Misses("no-query-and-keys", seen, f"they are {q.shape} and {K.shape}")
    lengths = np.linalg.norm(K, axis=1)
    if not (lengths.all() and q.any()):
        raise Misses("no-query-and-keys", "a vector of zeros has no direction")
    if abs(lengths[0] - lengths[1]) >= 1e-9:
        seen = f"they are {lengths[0]:.6g} and {lengths[1]:.6g}"
        raise Misses("lengths-differ", "the two keys have different lengths", seen)
    first, second = K @ q / np.sqrt(q.size)
    return 1 / (1 + np.exp(np.minimum(second - first, 700.0))), _share(_features(K) @ _features(q))


def _share(weights):
    return weights[0] / weights.sum()


def _softmax_is_sure(value):
    weight, _ = _made(value)
    if weight < 0.99:
        fault = "softmax-prefers-the-other" if weight < 0.5 else "softmax-is-not-sure"
        raise Misses(fault, "softmax gives the first key too little", f"it gives {weight:.4g}")


def _linear_is_not(value, most, fault):
    _softmax_is_sure(value)
    _, weight = _made(value)
    if weight > most + 1e-9:
        seen = f"linear attention gives the first key more than {most}"
        raise Misses("linear-agrees" if weight > 0.5 + 1e-9 else fault, seen, f"it gives {weight:.4g}")


def _answer(q, *K):
    return lambda: (np.array(q, dtype=float), np.array(K, dtype=float))


EXERCISE = Exercise(
    name="keys_that_linear_attention_confuses",
    lesson="08_heads_and_variants",
    title="Make keys that linear attention confuses",
    prompt=PROMPT,
    section="7. Linear attention: leave out the softmax",
    difficulty=4,
    minutes=10,
    reference=keys_that_linear_attention_confuses,
    cases=(
        criterion(
            "softmax is sure of the first key",
            _softmax_is_sure,
            says="The two scores have to differ by at least ln 99 = 4.6 after the division by √d_k.",
        ),
        criterion(
            "and linear attention is not",
            lambda value: _linear_is_not(value, 0.5, "not-by-far"),
            says="φ(q)·φ(k) has to be as large for the second key as for the first.",
        ),
        criterion(
            "and prefers the second by far",
            lambda value: _linear_is_not(value, 0.2, "not-by-far"),
            says="φ of a negative coordinate is nearly 0, however negative it is.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "lengths-differ",
            _answer([1, -20], [0, -5], [9, 0]),
            "Your keys have different lengths. Here the direction alone should decide: make them equally long.",
        ),
        WrongAnswer(
            "softmax-is-not-sure",
            _answer([1, -1], [0, -1], [1, 0]),
            "Softmax is not sure enough of the first key: it has to give it at least 0.99. Make the query longer.",
        ),
        WrongAnswer(
            "softmax-prefers-the-other",
            _answer([1, -20], [5, 0], [0, -5]),
            "Softmax prefers your second key. The first one has to have the larger dot product with the query.",
        ),
        WrongAnswer(
            "linear-agrees",
            _answer([20, 0], [5, 0], [0, 5]),
            "Linear attention agrees with softmax about the first key. Where do dot products see a match that φ does not? "
            "Try negative coordinates: −20 times −5 is a match of 100, and φ makes both almost 0.",
        ),
        WrongAnswer(
            "not-by-far",
            _answer([20, -20], [1, -np.sqrt(24)], [5, 0]),
            "Linear attention prefers the wrong key, though not by far. For the last point let the first key match in "
            "nothing but a negative coordinate.",
        ),
        WrongAnswer(
            "no-query-and-keys",
            lambda: (np.ones((2, 3)), np.ones(3)),
            "What came back is not a query of shape `(d_k,)` and keys of shape `(2, d_k)`, in this order, with numbers "
            "between −30 and 30.",
        ),
    ),
    also_right=(
        _answer([2, -30, 0], [-3, -4, 0], [4, 0, 3]),
        lambda: [[-20, 1], [[-5, 0], [0, 5]]],
    ),
    hints=(
        "φ is positive everywhere and nearly 0 for negative numbers. Which dot products does it get most wrong?",
        "Two negative coordinates make a positive product. For φ the match of −20 with −5 is e⁻²⁰ · e⁻⁵: next to "
        "nothing.",
        "`q = [1, -20]`, the first key along the negative axis, the second, as long, along the positive one.",
    ),
)
