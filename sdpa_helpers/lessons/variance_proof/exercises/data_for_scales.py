"""Lesson 02, exercise `try_scales`: the data of its cases."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import redraw


def blind_data(rng):
    """An article's exercise, with other numbers: two equal scores, one 0 (or reversed), values in arithmetic steps.

    Scores 1, 0, 1: keys 0 and 2 share the rest evenly, and the middle value is their average.
    """
    start, step = rng.uniform(-3, 3, size=2), rng.uniform(1, 3, size=2) * [1, -1]
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    return np.array([[1.0, 0.0]]), keys, start + np.array([[0.0], [1.0], [2.0]]) * step


def mended(rng):
    Q, K, V = blind_data(rng)
    V[2, 1] += rng.uniform(1, 4)
    return Q, K, V, np.array([2**-0.5, 1.0, 0.5])


def one_query_sees(rng):
    Q, K, V = blind_data(rng)
    return np.vstack([Q, [[0.3, 1.7]]]), K, V, np.array([2**-0.5, 1.0, 0.5])


def wide(rng, scales):
    """Every value adds up to 0, and so does every output: who compares sums sees nothing."""
    V = rng.normal(size=(5, 4))
    V -= V.mean(axis=-1, keepdims=True)
    return rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), V, np.array(scales)


def same_keys(rng):
    Q, key, V = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=(4, 5))
    return Q, np.tile(key, (4, 1)), V, np.array([0.5, 1.0])


def large_scores(rng):
    """One query far above all keys but for one, one far below: neither the mean nor the largest of all is a help."""
    K = rng.normal(size=(4, 3))
    K[:, 0] = rng.permutation([-0.1, -0.05, 0.0, 1.0]) * rng.uniform(0.95, 1)
    Q = np.array([[1000.0, 0.0, 0.0], [-1000.0, 0.0, 0.0]])
    return Q, K, rng.normal(size=(4, 5)), np.array([1e-3, 1e-3, 1.0, -1.0])


def with_gap(rng, gap, offset=0.0):
    """Two scales whose outputs differ by at most `gap`: in all by clearly more, and on average by clearly less.

    The first number differs most, and some query's numbers by clearly less: who asks more of the others is told apart.
    """
    Q, K, V, scales = redraw(rng, _two_scales, _telling)
    return Q, K, V * gap / _apart(Q, K, V, scales).max() + offset, scales


def _two_scales(rng):
    Q, K, V = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
    return Q, K, V, np.array([0.5, 1.5])


def _apart(Q, K, V, scales):
    """How far each number of the two outputs lies from the other's."""
    one, other = (softmax(scale * (Q @ K.T)) @ V for scale in scales)
    return np.abs(one - other)


def _telling(*inputs):
    apart = _apart(*inputs)
    most, less = apart.max(), max(apart.mean(), apart.max(axis=-1).min())
    return apart[0, 0] == most and np.linalg.norm(apart) > 1.5 * most and less < 0.7 * most


def nine_scales(rng):
    Q, K, V = rng.normal(size=(10, 9)), rng.normal(size=(12, 9)), rng.normal(size=(12, 11))
    return Q, K, V, np.array([0.1, 0.2, 0.3, 0.4, 0.1, 0.6, 0.7, 0.9, 1.1])
