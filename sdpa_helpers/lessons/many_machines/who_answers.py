"""Lesson 09: the question "Lea?" and the words it is asked of, as vectors, to be shared by two machines."""

from typing import NamedTuple

from numpy import ndarray as Array

from sdpa_helpers.head.model import looks_up
from sdpa_helpers.head.run import SHOWN


class LeaAsks(NamedTuple):
    """The list of the walk-through, as the trained head sees it."""

    words: list[str]
    drinks: tuple[str, ...]
    """What the coordinates of an answer stand for."""
    q: Array
    """(d_k,): the query of the word that asks."""
    K: Array
    V: Array


def lea_asks() -> LeaAsks:
    """Its words, the drinks, and q, K and V."""
    head = looks_up()
    Q, K, V = (part[0] for part in head.project(SHOWN))
    return LeaAsks(SHOWN.words(head, 0), head.drinks, Q[-1], K, V)
