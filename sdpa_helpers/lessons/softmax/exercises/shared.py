"""What several exercises of lesson 03 use: rows of scores and a softmax without guards."""

import numpy as np

from sdpa_helpers.checking.exercise import Case
from sdpa_helpers.checking.pages.standard_cases import one_of_each


def spread_rows(rng, *shape):
    """Rows whose sizes are ordinary and whose maxima differ: every shift and every axis matters."""
    return rng.normal(size=shape) * 1.5 + rng.normal(size=(*shape[:-1], 1))


def thousands(rng):
    """A row near 1000, one near −1000, one from −1000 to 1000, one near 0 with a single −1000."""
    near = rng.uniform(-1.5, 1.5, size=(4, 6))
    near[0] += 1000
    near[1] -= 1000
    near[2, :3] += 1000
    near[2, 3:] -= 1000
    near[3, 0] -= 1000
    return near


def with_hidden(rng):
    """Scores with entries of −∞ (one, three, none a row), the second row far below 0; exact zeros and a tie.

    Far enough that half of a row's maximum is no guard: any finite size is promised.
    """
    x = rng.normal(size=(3, 5)) + np.array([[2.0], [-rng.uniform(12_000, 90_000)], [0.5]])
    x[0, 1] = x[1, 0] = x[1, 2] = x[1, 4] = -np.inf
    x[0, 3] = x[2, 2] = 0.0
    x[2, 4] = x[2, 0]
    return x


def plain_softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def one_hot(x, axis=-1):
    hot = np.zeros_like(x)
    np.put_along_axis(hot, np.expand_dims(x.argmax(axis=axis), axis), 1.0, axis=axis)
    return hot


def sums_to_one(inputs, weights):
    return bool(np.allclose(weights.sum(axis=inputs[-1] if len(inputs) > 1 else -1), 1, atol=1e-6))


def cases_of_shape(inputs=lambda x: (x,)):
    """Scores in shapes in which an answer can go wrong without a warning: ones, equal sizes, long rows."""

    def draw(rng, batch, n_q, n_k):
        return inputs(spread_rows(rng, batch, n_q, n_k))

    return (
        *one_of_each(draw, only=("n_q", "n_k"), batch=1, n_q=3, n_k=4),
        Case(
            "a batch of three, all sizes equal",
            lambda rng: draw(rng, 3, 3, 3),
            says="When all sizes are equal no shape can warn you: which axis is which?",
        ),
        Case("ten rows of forty", lambda rng: inputs(spread_rows(rng, 10, 40))),
    )
