"""Lesson 01, exercise `keys_where_the_long_one_wins`: make keys of which the longer, not the better one, wins."""

import numpy as np

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import finite

PROMPT = r"""`keys_where_the_long_one_wins()`: a score grows with the key's length, not only with its direction. Make an example in which the length decides.

Return `(q, K)`:

- `q`, shape `(d_k,)`: a query, with `d_k` from 2 to 8.
- `K`, shape `(2, d_k)`: two keys. The first is the better match, the second is longer.
- Use finite numbers between −100 and 100, and no vector of zeros.

Your example earns a point for each of these:

1. the first key has the larger cosine with the query,
2. the second key has the larger score, `K @ q`,
3. it isn't close: the second key's cosine is positive and at most half of the first's, and its score at least three times the first's.
"""


def keys_where_the_long_one_wins():
    """A query and two keys; the second points further away and scores higher -> q (d_k,), K (2, d_k)."""
    q = np.array([1.0, 0.0])
    K = np.array([[1.0, 0.0], [4.0, 8.0]])
    return q, K


def _made(value):
    """(the two cosines, the two scores), or why there are none."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Misses("no-query-and-keys", "two things are asked for: the query and the keys")
    try:
        q, K = (
            finite(part, name, (axes, axes), 100.0).astype(np.float64)
            for part, name, axes in zip(value, "qK", (1, 2), strict=True)
        )
    except ValueError as error:
        seen = "the query or the keys are not as the prompt describes them"
        raise Misses("no-query-and-keys", seen, str(error)) from None
    if not 2 <= q.size <= 8 or K.shape != (2, q.size):
        shapes = f"they are {q.shape} and {K.shape}"
        raise Misses(
            "no-query-and-keys", "the shapes are not (d_k,) and (2, d_k) with d_k from 2 to 8", shapes
        )
    lengths = np.linalg.norm(K, axis=1) * np.linalg.norm(q)
    if not lengths.all():
        raise Misses("no-query-and-keys", "a vector of zeros has no direction")
    return K @ q / lengths, K @ q


def _first_points_closer(value):
    (first, second), _ = _made(value)
    seen = f"the cosines are {first:.4g} and {second:.4g}"
    if abs(first - second) < 1e-9:
        raise Misses("same-direction", "both keys make the same angle with the query", seen)
    if first < second:
        raise Misses("longer-and-better", "the second key points closer to the query than the first", seen)


def _second_scores_higher(value):
    (_, cosine), (first, second) = _made(value)
    if second > first:
        return
    seen = f"the scores are {first:.4g} and {second:.4g}"
    if cosine <= 0:
        raise Misses("points-away", "the second key's score is not positive: no length helps it", seen)
    raise Misses("not-long-enough", "the second key's score is not the larger one", seen)


def _not_closely(value):
    _first_points_closer(value)
    _second_scores_higher(value)
    (first_cosine, cosine), (first, second) = _made(value)
    if cosine <= 0:
        raise Misses("points-away", "the second key's cosine is not positive")
    if cosine > first_cosine / 2 + 1e-12:
        seen = f"the cosines are {first_cosine:.4g} and {cosine:.4g}"
        raise Misses("only-just", "the second key's cosine is more than half of the first's", seen)
    if second < 3 * first - 1e-12:
        seen = f"the scores are {first:.4g} and {second:.4g}"
        raise Misses("only-just", "the second key's score is less than three times the first's", seen)


def _answer(q, *K):
    return lambda: (np.array(q, dtype=float), np.array(K, dtype=float))


EXERCISE = Exercise(
    name="keys_where_the_long_one_wins",
    lesson="01_dot_product",
    title="Make keys where the long one wins",
    prompt=PROMPT,
    section="3. Length and angle",
    difficulty=2,
    minutes=6,
    reference=keys_where_the_long_one_wins,
    cases=(
        criterion(
            "the first key points closer",
            _first_points_closer,
            says="The cosine compares directions alone: it divides the lengths out.",
        ),
        criterion(
            "the second key scores higher",
            _second_scores_higher,
            says="A score is the query's length times the key's length times the cosine.",
        ),
        criterion(
            "and not closely",
            _not_closely,
            says="A key that is twice as long scores twice as high in the same direction.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "same-direction",
            _answer([1, 2], [1, 2], [10, 20]),
            "Your keys make the same angle with the query, so neither is the better match: only their lengths differ. "
            "Turn the second one away.",
        ),
        WrongAnswer(
            "longer-and-better",
            _answer([1, 0], [1, 1], [9, 0]),
            "Your second key is longer and points closer too, so it deserves to win. Make the first the one that lies "
            "along the query.",
        ),
        WrongAnswer(
            "not-long-enough",
            _answer([1, 0], [5, 0], [1, 2]),
            "Your second key points further away and is not long enough to make up for it. Multiply it by a larger "
            "number: the cosine stays, the score grows.",
        ),
        WrongAnswer(
            "points-away",
            _answer([1, 0], [1, 0], [-20, 3]),
            "Your second key makes an angle of 90° or more with the query. Its score is then 0 or negative, and the "
            "longer the key, the lower it gets. Keep the angle below 90°.",
        ),
        WrongAnswer(
            "only-just",
            _answer([1, 0], [1, 0], [2, 1]),
            "It works, narrowly. For the last point turn the second key further away, to at most half the cosine, and "
            "make it long enough for three times the score.",
        ),
        WrongAnswer(
            "no-query-and-keys",
            lambda: (np.ones((2, 3)), np.ones(3)),
            "What came back is not a query of shape `(d_k,)` and keys of shape `(2, d_k)`, in this order, with numbers "
            "between −100 and 100.",
        ),
    ),
    also_right=(
        _answer([0, 0, 2], [0, 0, 1], [10, 10, 6]),
        _answer([-1, 1], [-1, 1], [20, 50]),
        lambda: [[3, 0, 0, 0], [[0.5, 0.1, 0, 0], [2, 9, 9, 9]]],
    ),
    hints=(
        "Draw the query along one axis. Where is the first key, if it is to have the largest cosine there is?",
        "Let the first key lie along the query: its cosine is 1. Give the second a cosine of about 0.45, and then "
        "only its length has to grow.",
        "With `q = [1, 0]` a score is the key's first coordinate. `[1, 0]` scores 1; a second key `[4, y]` scores 4, "
        "and a large `y` turns it away.",
    ),
)
