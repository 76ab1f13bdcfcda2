"""What several exercises of lesson 05 use: sizes and masks to draw, what holds for every mask, the additive form."""

import numpy as np

from sdpa_helpers.checking.exercise import Invariant


def some_size(rng, low, high):
    """A plain int from low to high, both included."""
    return int(rng.integers(low, high + 1))


def additive(mask, hidden=-np.inf):
    return np.where(mask, 0.0, hidden)


def nobody_is_blind(inputs, mask):
    return bool(mask.any(axis=-1).all())


def no_future(mask, offset=0):
    """Query i sees no key after i + offset."""
    return not np.triu(mask, k=1 + offset).any()


BLIND = Invariant("a-query-sees-nothing", "At least one query sees no key at all.", nobody_is_blind)


LEVELS = np.array([500.0, 30_000.0, 5_000.0, 30_000.0])
"""The rows of a case with hidden giants: visible scores near minus this, hidden ones near plus this. The steps tell
fills of −100, −1,000 and −10,000 apart."""


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


def by_rows(scores, mask):
    """The weights, one query after the other."""
    out = np.zeros(scores.shape)
    allowed = np.broadcast_to(mask, scores.shape)
    for where in np.ndindex(*scores.shape[:-1]):
        row = scores[where][allowed[where]]
        if row.size:
            out[where][allowed[where]] = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    return out


def by_index(mask, scores, hidden):
    """Masked by `scores[~mask] = hidden`: that takes a mask of the same shape."""
    scores = scores.copy()
    scores[~mask] = hidden
    return scores
