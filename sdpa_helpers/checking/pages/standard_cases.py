"""Cases that every exercise on arrays wants and that are easily forgotten: one line asks for them all."""

from collections.abc import Callable

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
