"""Ways to mask a softmax, right and wrong: what `masked_softmax` and `attention` are compared with."""

from collections.abc import Callable
from typing import Any

import numpy as np

LEVELS = np.array([500.0, 30_000.0, 5_000.0, 30_000.0])
"""The rows of a case with hidden giants: visible scores near minus this, hidden ones near plus this. The steps tell
fills of −100, −1,000 and −10,000 apart."""


def hide(scores, mask):
    return np.where(mask, scores, -np.inf)


def fill(number: float) -> Callable:
    return lambda scores, mask: np.where(mask, scores, number)


def added(number: float) -> Callable:
    return lambda scores, mask: scores + np.where(mask, 0.0, number)


def softmax(x, axis: Any = -1):
    """Over `axis`; a slice of −∞ gives zeros."""
    largest = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(largest), largest, 0.0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


def unguarded(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def without_maximum_unguarded(x):
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def global_maximum_unguarded(x):
    return without_maximum_unguarded(x - x.max())


def with_epsilon(epsilon: float) -> Callable:
    def softmax(x):
        largest = x.max(axis=-1, keepdims=True)
        e = np.exp(x - np.where(np.isfinite(largest), largest, 0.0))
        return e / (e.sum(axis=-1, keepdims=True) + epsilon)

    return softmax


def seen(x):
    return np.isfinite(x)


def share(numbers):
    total = numbers.sum(axis=-1, keepdims=True)
    return numbers / np.where(total == 0, 1.0, total)


def zero_scores_hidden(scores, mask):
    product = scores * mask
    return np.where(product == 0, -np.inf, product)


def rows_hidden(scores, mask):
    return np.where(mask.all(axis=-1, keepdims=True), scores, -np.inf)


def mask_then_renormalise(scores, mask):
    weights = softmax(scores) * mask
    return weights / weights.sum(axis=-1, keepdims=True)


def mask_then_renormalise_guarded(scores, mask):
    return share(softmax(scores) * mask)


def some_empty_rows(rng, *shape):
    """A mask in which rows 1 and 3 of the first matrix see nothing, and every other row sees some keys."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    mask[0, ..., [1, 3], :] = False
    return mask


def lengths_mask(rng, batch, n_k):
    lengths = rng.permutation(np.arange(2, n_k))[:batch]
    return np.arange(n_k) < lengths[:, None]


def rows_add_up(weights, mask) -> bool:
    some = np.broadcast_to(True if mask is None else mask, weights.shape).any(axis=-1)
    return bool(np.allclose(weights.sum(axis=-1), some, atol=1e-8))
