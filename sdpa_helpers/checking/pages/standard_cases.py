"""Cases that every exercise on arrays wants, made from the exercise's own way to draw its inputs.

An answer can be wrong only where an axis has length 1, where two arguments trade places, in float32, or for a long
vector. These cases are easily forgotten, so an author asks for them in one line each.
"""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Case, Inputs

WORDS = {
    "n_q": "one query",
    "n_k": "one key",
    "n": "one number",
    "d": "vectors of length one",
    "d_k": "keys of length one",
    "d_v": "values of length one",
    "batch": "a batch of one",
    "heads": "one head",
}
"""What a size of 1 is called; a size with another name is written "NAME = 1"."""


def one_of_each(draw: Callable[..., Inputs], only: tuple[str, ...] = (), **sizes: int) -> tuple[Case, ...]:
    """For every size (or those in `only`) a case in which it is 1 and the others are as given.

    draw: called with a generator and all sizes by name.
    """
    return tuple(
        Case(
            WORDS.get(size, f"{size} = 1"),
            lambda rng, size=size: draw(rng, **(sizes | {size: 1})),
            says="An axis of length 1 is an axis like any other: it stays.",
        )
        for size in only or sizes
    )


def mirrored(draw: Callable[[np.random.Generator], Inputs], name: str, says: str = "") -> Case:
    """The case with its first two inputs in each other's place."""

    def swapped(rng: np.random.Generator) -> Inputs:
        first, second, *others = draw(rng)
        return (second, first, *others)

    return Case(name, swapped, says=says)


def in_float32(draw: Callable[[np.random.Generator], Inputs], name: str = "float32", says: str = "") -> Case:
    """The case with every array of float64 in float32."""

    def narrow(rng: np.random.Generator) -> Inputs:
        return tuple(
            x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x
            for x in draw(rng)
        )

    return Case(name, narrow, says=says)
