"""The five words that lessons 01 to 05 compute with, any numbers, and lines that are typed in a terminal."""

import math
from collections.abc import Callable

import numpy as np

WORDS = ["the", "cat", "fears", "big", "dogs"]
QUESTIONS = ["alive", "small and alive", "action", "big"]
K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]], dtype=float)
Q = np.array([[1, 0, 0], [1, 0, -1], [0, 1, 0], [0, 0, 1]], dtype=float)
V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)


def soft(scores) -> np.ndarray:
    """Softmax in the standard library, for one row."""
    exponentials = [math.exp(s - max(scores)) for s in scores]
    return np.array([e / math.fsum(exponentials) for e in exponentials])


def normal(*shapes) -> list[np.ndarray]:
    """Arrays of these shapes, the same each time."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in shapes]


def talk(ask: Callable, *lines: str) -> str:
    """What `ask(say, read)` says in a terminal in which these lines are typed, and then no more."""
    said, left = [], iter(lines)

    def read(prompt):
        said.append(prompt)
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    ask(said.append, read)
    return "\n".join(said)
