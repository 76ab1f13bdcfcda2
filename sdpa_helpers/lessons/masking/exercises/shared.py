"""What several exercises of lesson 05 use: sizes to draw, what holds for every causal mask, and the additive form."""

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
