"""Whether two results are the same to a test case: to six digits, and whatever they are made of.

Less strict than `judge`, which marks answers: a learner's own test case compares numbers, not dtypes.
"""

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.difference import apart

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""How closely an expected number has to agree with a right one of float64, and how far a wrong one differs."""


def same(right: Answer, other: Answer) -> bool:
    """Whether two results are the same to a test: shapes, numbers up to rounding, and True or False as such."""
    first, second = _arrays(right), _arrays(other)
    if first is None or second is None or len(first) != len(second):
        return False
    return all(map(_same, first, second))


def _arrays(answer: Answer) -> list[np.ndarray] | None:
    """The arrays of a result; None of one that holds something else, or is an error."""
    if answer.kind == "tuple":
        parts = [_arrays(item) for item in answer.items]
        return None if None in parts else [array for part in parts for array in part or ()]
    return None if answer.array is None else [answer.array]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    return bool(_near(a, b).all())


def _near(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    relative = 1e-4 if a.dtype == np.float32 else RELATIVE
    return np.isclose(b, a, rtol=relative, atol=ABSOLUTE, equal_nan=True)


def essence(answer: Answer) -> object:
    """Equal for results that are the same to a test, nearly always."""
    arrays = _arrays(answer)
    if arrays is None:
        return answer.kind
    return tuple((a.shape, a.dtype.kind == "b", *(f"{n:.5g}" for n in a.ravel().tolist())) for a in arrays)


def where_apart(name: str, right: Answer, given: Answer) -> str:
    """Where what is expected differs, with both numbers."""
    wanted, came = _arrays(right), _arrays(given)
    if wanted is None or came is None or len(wanted) != len(came):
        return "" if came is not None else "what you expect is no number, array, or tuple of these"
    for a, b in zip(wanted, came, strict=True):
        if a.shape != b.shape:
            return f"you expect the shape {b.shape}; a right {name} gives {a.shape}"
        if not _same(a, b):
            off = ~_near(a, b)
            at = tuple(np.argwhere(off)[0].tolist()) if off.any() else (0,) * a.ndim
            one, other = b[at].item(), a[at].item()
            if isinstance(one, float) and isinstance(other, float):
                one, other = apart(one, other)
            return f"you expect {one}{f' at {list(at)}' if at else ''}; a right {name} gives {other}"
    return ""
