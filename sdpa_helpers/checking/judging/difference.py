"""How an answer differs from what is expected, in words that show no more than they may: kind, shape, dtype, values."""

from typing import NamedTuple

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.answers.sealed import Seal

_RELATIVE = {2: 5e-3, 4: 2e-5, 8: 1e-8}
"""By the bytes of a float."""


class Difference(NamedTuple):
    """How an answer differs from what is expected; all empty when it does not."""

    fault: str = ""
    """The kind of difference, e.g. "wrong-shape"."""
    seen: str = ""
    """What was observed; holds nothing of the expected values."""
    compare: str = ""
    """Seen against expected."""


def tolerances(expected: np.ndarray) -> tuple[float, float]:
    """(relative, absolute) tolerance for an expected array: from its dtype and the size of its numbers."""
    if expected.dtype.kind != "f":
        return 0.0, 0.0
    relative = _RELATIVE[expected.dtype.itemsize]
    finite = np.abs(expected[np.isfinite(expected)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0 and expected.dtype == np.float64:
        return relative, 1e-12  # what rounding leaves of a sum that is exactly 0
    return relative, 0.05 * relative * largest + 4 * float(np.finfo(expected.dtype).eps)


def close(expected: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Elementwise: equal up to tolerance; NaN only where NaN is expected, infinities equal."""
    if expected.dtype.kind != "f":
        return np.asarray(values == expected)
    relative, absolute = tolerances(expected)
    finite = np.isfinite(expected)
    with np.errstate(all="ignore"):  # as np.isclose, which takes its time
        near = np.abs(values - expected) <= absolute + relative * np.abs(expected)
        if finite.all():
            return np.asarray(near)
        both_nan = np.isnan(values) & np.isnan(expected)
        return np.asarray(np.where(finite, near, (values == expected) | both_nan))


def difference(expected: Answer, answer: Answer) -> Difference:
    """How an answer differs from what is expected."""
    if answer.kind == "error":
        return Difference("raised-error", _raised(answer))
    if answer.kind == "none":
        return Difference("returned-nothing", "returned None: is a `return` missing?")
    if expected.kind == "tuple":
        return _difference_of_tuples(expected, answer)
    if answer.kind not in ("array", "number"):  # of a part of a tuple it can be anything
        came = answer.type_name or "NotImplemented"
        return Difference("wrong-kind", f"returned {_an(came)}; expected {_kind(expected)}")
    assert expected.array is not None
    assert answer.array is not None
    if expected.array.shape != answer.array.shape:
        return Difference("wrong-shape", _shapes(expected.array, answer.array))
    if not _dtype_fits(expected.array.dtype, answer.array.dtype):
        wanted = expected.array.dtype
        whole = "whole numbers, " if expected.array.ndim else "a whole number, "
        came = "numbers" if answer.array.ndim else "a number"
        text = (
            f"returned {came} of dtype {answer.array.dtype}; expected {whole * (wanted.kind == 'i')}{wanted}"
        )
        return Difference("wrong-dtype", text)
    return _difference_of_values(expected.array, answer.array)


def difference_behind_seals(hollow: Answer, seals: tuple[Seal, ...], answer: Answer) -> Difference:
    """The same where the expected numbers cannot be read: of those it says only whether they are the right ones."""
    if hollow.kind == "tuple" and answer.kind == "tuple" and len(hollow.items) == len(answer.items):
        for i, (want, seal, got) in enumerate(zip(hollow.items, seals, answer.items, strict=True)):
            found = difference_behind_seals(want, (seal,), got)
            if found.fault:
                return found._replace(seen=f"part {i} of the tuple: {found.seen}")
        return Difference()
    found = difference(hollow, answer)
    if found.fault == "wrong-shape":
        return found._replace(seen=found.seen.removesuffix(SWAPPED))  # which compares numbers
    if found.fault not in ("", "wrong-values", "not-finite"):
        return found
    assert answer.array is not None
    if seals[0].fits(answer.array):
        return Difference()
    return _not_what_is_sealed(answer.array)


def _not_what_is_sealed(values: np.ndarray) -> Difference:
    """What can be said of wrong numbers without the right ones: how many of them are none."""
    what = "the number is" if not values.ndim else "the numbers are"
    if values.dtype.kind == "b":
        what = "True and False are"
    told = f"{what} not what is expected"
    for wild, name, fault in ((np.isnan, "NaN", "not-finite"), (np.isinf, "infinite", "wrong-values")):
        if count := int(wild(values).sum()):
            return Difference(
                fault, f"{told}; {count} of your {values.size} {'is' if count == 1 else 'are'} {name}"
            )
    return Difference("wrong-values", told)


def _raised(answer: Answer) -> str:
    line = f" ({answer.line})" if answer.line else ""
    where = f". {answer.where}" if answer.where else ""
    if READ_ONLY in answer.message:
        return f"wrote into the caller's array, which is read-only here{line}"
    return f"raised {answer.error}: {answer.message}{line}{where}"


READ_ONLY = "read-only"
"""What NumPy's errors say of an array that cannot be written."""


def _an(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"


def _difference_of_tuples(expected: Answer, answer: Answer) -> Difference:
    parts = len(expected.items)
    if answer.kind != "tuple":
        name = _an(answer.type_name) if answer.array is None or answer.kind == "other" else _kind(answer)
        return Difference("wrong-kind", f"returned {name}; expected a tuple of {parts}")
    if len(answer.items) != parts:
        return Difference("wrong-kind", f"returned a tuple of {len(answer.items)}; expected {parts}")
    for i, (want, got) in enumerate(zip(expected.items, answer.items, strict=True)):
        found = difference(want, got)
        if found.fault:
            return found._replace(seen=f"part {i} of the tuple: {found.seen}")
    return Difference()


def _difference_of_values(expected: np.ndarray, values: np.ndarray) -> Difference:
    right = close(expected, values)
    if right.all():
        return Difference()
    wrong = ~right
    if (~np.isfinite(values) & np.isfinite(expected)).any():
        return Difference(
            "not-finite", _not_finite(values, wrong & (np.isnan(values) | np.isfinite(expected)))
        )
    if values.dtype.kind in "bi" and values.ndim == 0:
        shown = expected if expected.dtype.kind == values.dtype.kind else f"{expected:.12g}"
        return Difference("wrong-values", f"returned {values}", f"expected {shown}")
    if values.dtype.kind == "b":
        where = _first(wrong)
        seen = f"{int(wrong.sum())} of {values.size} entries differ, the first{_at(where)}: {values[where]}"
        return Difference("wrong-values", seen, f"expected {expected[where]}")
    with np.errstate(all="ignore"):
        distance = np.where(wrong, np.abs(values.astype(float) - expected.astype(float)), -1.0)
    distance[np.isnan(distance)] = np.inf
    where = tuple(int(i) for i in np.unravel_index(int(distance.argmax()), distance.shape))
    came, wanted = apart(float(values[where]) + 0.0, float(expected[where]) + 0.0)  # no -0
    off = f", off by {distance[where]:.3g}" if np.isfinite(distance[where]) else ""
    seen = f"returned {came}{off}" if values.ndim == 0 else f"{_count(wrong)}returned {came}{_at(where)}{off}"
    return Difference("wrong-values", seen, f"expected {wanted}{pattern(expected, values)}")


def _not_finite(values: np.ndarray, wrong: np.ndarray) -> str:
    """wrong: NaN wherever none belongs, and what else is wrong where a finite number belongs."""
    spoiled = wrong & ~np.isfinite(values)
    where = _first(spoiled)
    if not values.ndim:
        return f"returned {values[where]}"
    kinds = {"NaN": np.isnan(values[spoiled]).any(), "infinite": np.isinf(values[spoiled]).any()}
    n, what = int(spoiled.sum()), " or ".join(name for name, there in kinds.items() if there)
    are, which = ("is", ":") if n == 1 else ("are", "; the first:")
    return f"{n} of {values.size} numbers {are} {what} and should not be{which} {values[where]}{_at(where)}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with four digits, or with as many as show that they differ."""
    texts = (repr(one), repr(other))
    for digits in range(4, 18):
        texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def pattern(expected: np.ndarray, values: np.ndarray) -> str:
    """What a wrong array has to do with the right one, if that is simple: a factor, an offset, a sign."""
    if not np.isfinite(values).all() or not np.isfinite(expected).all():
        return ""
    with np.errstate(all="ignore"):
        return _factor_or_offset(expected, values)


def _factor_or_offset(expected: np.ndarray, values: np.ndarray) -> str:
    large = np.abs(expected) > 1e-6 * np.abs(expected).max()
    if large.sum() < 2:
        return ""
    ratio = values[large] / expected[large]
    if (
        abs(ratio[0]) > 1e-6
        and abs(ratio[0] - 1) > 1e-5
        and np.allclose(ratio, ratio[0], rtol=1e-6)
        and np.allclose(values[~large], 0, atol=1e-9)
    ):
        return f"; every number is {apart(float(ratio[0]), 1.0)[0]} times the right one"
    offset = values - expected
    if abs(offset.flat[0]) > 1e-5 * np.abs(expected).max() and np.allclose(offset, offset.flat[0], rtol=1e-6):
        return f"; every number is {offset.flat[0]:+.4g} away from the right one"
    return ""


def _count(wrong: np.ndarray) -> str:
    n = int(wrong.sum())
    return f"{n} of {wrong.size} numbers {'differs' if n == 1 else 'differ'}; the largest difference: "


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0]) if mask.ndim else ()


def _at(where: tuple[int, ...]) -> str:
    return f" at {list(where)}" if where else ""


def _kind(answer: Answer) -> str:
    assert answer.array is not None
    if answer.kind == "number":
        return "True or False" if answer.array.dtype.kind == "b" else "one number"
    return f"a NumPy array of shape {answer.array.shape}"


def _shapes(expected: np.ndarray, values: np.ndarray) -> str:
    came = f"returned an array of shape {values.shape}" if values.ndim else "returned one number"
    wanted = f"shape {expected.shape}" if expected.ndim else "one number"
    turned = values.swapaxes(-1, -2) if values.ndim >= 2 else values
    swapped = turned.shape == expected.shape and bool(close(expected, turned).all())
    return f"{came}; expected {wanted}" + (SWAPPED if swapped else "")


SWAPPED = ": the last two axes are swapped"


def _dtype_fits(expected: np.dtype, came: np.dtype) -> bool:
    """Same family, and no less precise: float64 for float32 is fine, float32 for float64 is not."""
    if expected.kind == "f" and came.kind == "i" and expected.itemsize == 8:
        return True  # a Python int where a number is asked for
    if expected.kind != came.kind:
        return False
    return expected.kind != "f" or came.itemsize >= expected.itemsize
