"""What several exercises of lesson 04 use: detours through other dtypes."""

import numpy as np

from sdpa_helpers.checking.exercise import Case
from sdpa_helpers.checking.pages.standard_cases import one_of_each


def half(x):
    return x.astype(np.float16).astype(x.dtype)


def single(x):
    return x.astype(np.float32).astype(x.dtype)


def transposed(x):
    return np.swapaxes(x, -1, -2)


def renormalised(W):
    with np.errstate(all="ignore"):
        return W / W.sum(axis=-1, keepdims=True)


def cases_of_shape(draw, only, **sizes):
    """Inputs in shapes in which an answer can go wrong without a warning: ones, equal sizes, many rows of many.

    draw: called with a generator and `batch`, and every name in sizes. only: the sizes that are 1 in a case each.
    """
    equal = dict.fromkeys(sizes, 3)
    large = {name: 10 + n for n, name in enumerate(sizes)} | {list(sizes)[-1]: 40}
    return (
        *(one_of_each(draw, only=only, batch=1, **sizes) if only else ()),
        Case(
            "a batch of three, all sizes equal",
            lambda rng: draw(rng, batch=3, **equal),
            says="When all sizes are equal no shape can warn you: which axis is which?",
        ),
        Case("many rows of many", lambda rng: draw(rng, batch=1, **large)),
    )
