"""What several exercises of lesson 02 use: numbers to draw, rows to read."""

import numpy as np


def some_size(rng, low=5, high=40):
    """A number of coordinates that has no meaning elsewhere: not 8, not 64, not a square."""
    return int(rng.choice([n for n in range(low, high) if n != 8 and round(n**0.5) ** 2 != n]))


def some_positive(rng):
    return float(rng.uniform(0.3, 3.0))


def some_signed(rng):
    return float(rng.choice([-1, 1]) * rng.uniform(0.4, 2.5))


def unit_rows(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)
