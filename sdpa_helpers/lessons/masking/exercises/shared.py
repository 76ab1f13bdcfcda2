"""What several exercises of lesson 05 use: sizes to draw, and what holds for every causal mask."""

import numpy as np

from sdpa_helpers.checking.exercise import Invariant

FUTURE = "Some query sees a key that comes after it."


def some_size(rng, low, high):
    """A plain int from low to high, both included."""
    return int(rng.integers(low, high + 1))


def additive(mask, hidden=-np.inf):
    return np.where(mask, 0.0, hidden)


def nobody_is_blind(inputs, mask):
    return bool(mask.any(axis=-1).all())


def no_future(offset=lambda inputs: 0):
    """Query i sees no key after i + offset."""
    return lambda inputs, mask: not np.triu(mask, k=1 + offset(inputs)).any()


BLIND = Invariant("a-query-sees-nothing", "At least one query sees no key at all.", nobody_is_blind)
