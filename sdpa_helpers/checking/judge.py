"""Compare an answer with the truth of a case: a pure function, used by `check` and by the grader alike.

The order of questions: was it attempted, did it raise, is it the right kind, shape, dtype, finite, close.
Independently of that, which known wrong answers give exactly this on the same inputs?
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Inputs, stream
from sdpa_helpers.checking.observe import Answer, observe, pack_inputs, unpack_inputs

PUBLIC_SEED = "public"
"""The seed of `check` and `sdpa check`; a grader takes another."""

_RELATIVE = {"float16": 5e-3, "float32": 2e-5, "float64": 1e-8}


CaseStatus = Literal[
    "passed", "failed", "error", "not-attempted", "missing", "timeout", "out-of-memory", "not-run"
]
"""What became of a case; the last four come from the grader, where there was no answer to judge."""


@dataclass(frozen=True)
class Truth:
    """A case with its numbers."""

    case: Case
    packed: str
    """The inputs, as `observe.pack_inputs` writes them."""
    expected: Answer
    """What the reference returns."""
    wrong: dict[str, Answer]
    """What each known wrong answer returns, by its name."""

    @property
    def inputs(self) -> Inputs:
        """Fresh inputs: nobody can spoil them for the next caller."""
        return unpack_inputs(self.packed)


@dataclass(frozen=True)
class Verdict:
    """What one case earned, and what was seen."""

    case: str
    """The case's name."""
    status: CaseStatus
    points: float
    max_points: float
    fault: str = ""
    """The kind of difference, e.g. "wrong-shape"."""
    seen: str = ""
    """What was observed; holds nothing of the expected values."""
    compare: str = ""
    """Seen against expected, for the learner's own check only."""
    explained_by: tuple[str, ...] = ()
    """The known wrong answers that return this here (also for a passed case: they pass it too)."""
    broken: str = ""
    """The invariant that the answer breaks."""

    @property
    def passed(self) -> bool:
        """Whether the case earned its points."""
        return self.status == "passed"


@lru_cache(maxsize=512)
def truths(exercise: Exercise, seed: str) -> tuple[Truth, ...]:
    """Every case of an exercise with the numbers that a seed draws for it."""
    found = []
    for case in exercise.cases:
        packed = pack_inputs(case.make(stream(seed, exercise.name, case.name)))
        expected = observe(exercise.reference, unpack_inputs(packed))
        if expected.kind in ("error", "none", "other", "not-attempted"):
            raise ValueError(f"the reference of {exercise.name!r} fails in case {case.name!r}: {expected}")
        wrong = {w.name: observe(w.function, unpack_inputs(packed)) for w in exercise.wrong}
        found.append(Truth(case, packed, expected, wrong))
    return tuple(found)


def judge(exercise: Exercise, truth: Truth, answer: Answer) -> Verdict:
    """The verdict on one answer to one case."""
    case = truth.case
    if answer.kind == "not-attempted":
        seen = "the function still returns NotImplemented"
        return Verdict(case.name, "not-attempted", 0.0, case.points, fault="not-attempted", seen=seen)
    fault, seen, compare = difference(truth.expected, answer)
    explained = tuple(name for name, wrong in truth.wrong.items() if same(wrong, answer))
    if not fault:
        return Verdict(case.name, "passed", case.points, case.points, explained_by=explained)
    broken = _broken_invariant(exercise, truth, answer) if fault == "wrong-values" else ""
    status = "error" if fault == "raised-error" else "failed"
    return Verdict(case.name, status, 0.0, case.points, fault, seen, compare, explained, broken)


def values_of(answer: Answer) -> np.ndarray | tuple[np.ndarray | None, ...] | None:
    """What an invariant looks at: the array, or the arrays of a tuple."""
    return tuple(item.array for item in answer.items) if answer.kind == "tuple" else answer.array


def _broken_invariant(exercise: Exercise, truth: Truth, answer: Answer) -> str:
    parts = zip(truth.expected.items, answer.items, strict=True)
    if any(b.array is None or a.array is None or a.array.shape != b.array.shape for a, b in parts):
        return ""  # the first part differs in its values, a later one in more
    for invariant in exercise.invariants:
        if not invariant.holds(truth.inputs, values_of(answer)):
            return invariant.name
    return ""


def tolerances(expected: np.ndarray) -> tuple[float, float]:
    """(relative, absolute) tolerance for an expected array: from its dtype and the size of its numbers."""
    if expected.dtype.kind != "f":
        return 0.0, 0.0
    relative = _RELATIVE[expected.dtype.name]
    finite = np.abs(expected[np.isfinite(expected)])
    largest = float(finite.max()) if finite.size else 0.0
    return relative, 0.05 * relative * largest + 4 * float(np.finfo(expected.dtype).eps)


def close(expected: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Elementwise: equal up to tolerance; NaN only where NaN is expected, infinities equal."""
    relative, absolute = tolerances(expected)
    return np.isclose(values, expected, rtol=relative, atol=absolute, equal_nan=True)


def same(known: Answer, answer: Answer) -> bool:
    """Whether an answer is what a known (wrong) answer returns for the same inputs."""
    if known.kind != answer.kind:
        return False
    if known.kind == "error":
        return (known.error, known.message) == (answer.error, answer.message)
    if known.kind == "tuple":
        return len(known.items) == len(answer.items) and all(map(same, known.items, answer.items))
    if known.kind == "other":
        return known.type_name == answer.type_name
    if known.array is None or answer.array is None:
        return known.kind == "none"
    if known.array.shape != answer.array.shape or known.array.dtype.kind != answer.array.dtype.kind:
        return False
    return bool(close(known.array, answer.array).all())


def difference(expected: Answer, answer: Answer) -> tuple[str, str, str]:
    """(fault, what was seen, what was seen against expected); all empty when the answer is right."""
    if answer.kind == "error":
        where = f" ({answer.line})" if answer.line else ""
        return "raised-error", f"raised {answer.error}: {answer.message}{where}", ""
    if answer.kind == "none":
        return "returned-nothing", "returned None: is a `return` missing?", ""
    if expected.kind == "tuple":
        return _difference_of_tuples(expected, answer)
    if answer.kind in ("tuple", "other"):
        return "wrong-kind", f"returned a {answer.type_name}; expected {_kind(expected)}", ""
    assert expected.array is not None
    assert answer.array is not None
    if expected.array.shape != answer.array.shape:
        return "wrong-shape", _shapes(expected.array, answer.array), ""
    if not _dtype_fits(expected.array.dtype, answer.array.dtype):
        text = f"returned numbers of dtype {answer.array.dtype}; expected {expected.array.dtype}"
        return "wrong-dtype", text, ""
    return _difference_of_values(expected.array, answer.array)


def _difference_of_tuples(expected: Answer, answer: Answer) -> tuple[str, str, str]:
    parts = len(expected.items)
    if answer.kind != "tuple":
        name = answer.type_name if answer.array is None else _kind(answer)
        return "wrong-kind", f"returned {name}; expected a tuple of {parts}", ""
    if len(answer.items) != parts:
        return "wrong-kind", f"returned a tuple of {len(answer.items)}; expected {parts}", ""
    for i, (want, got) in enumerate(zip(expected.items, answer.items, strict=True)):
        fault, seen, compare = difference(want, got)
        if fault:
            return fault, f"part {i} of the tuple: {seen}", compare
    return "", "", ""


def _difference_of_values(expected: np.ndarray, values: np.ndarray) -> tuple[str, str, str]:
    right = close(expected, values)
    if right.all():
        return "", "", ""
    spoiled = ~np.isfinite(values) & np.isfinite(expected)
    if spoiled.any():
        where = _first(spoiled)
        what = f"{values[where]}{_at(where)}"
        return "not-finite", f"{int(spoiled.sum())} of {values.size} numbers are not finite: {what}", ""
    wrong = ~right
    if values.dtype.kind in "bi" and values.ndim == 0:
        return "wrong-values", f"returned {values}", f"expected {expected}"
    if values.dtype.kind == "b":
        where = _first(wrong)
        seen = f"{int(wrong.sum())} of {values.size} entries differ, the first{_at(where)}: {values[where]}"
        return "wrong-values", seen, f"expected {expected[where]}"
    with np.errstate(all="ignore"):
        distance = np.where(wrong, np.abs(values.astype(float) - expected.astype(float)), -1.0)
    distance[np.isnan(distance)] = np.inf
    where = tuple(int(i) for i in np.unravel_index(int(distance.argmax()), distance.shape))
    number = f"{values[where]:.4g}{_at(where)}, off by {distance[where]:.3g}"
    seen = f"returned {number}" if values.ndim == 0 else _count(wrong) + number
    return "wrong-values", seen, f"expected {expected[where]:.4g}{pattern(expected, values)}"


def pattern(expected: np.ndarray, values: np.ndarray) -> str:
    """What a wrong array has to do with the right one, if that is simple: a factor, an offset, a sign."""
    large = np.abs(expected) > 1e-6 * np.abs(expected).max()
    if not np.isfinite(values).all() or large.sum() < 2:
        return ""
    ratio = values[large] / expected[large]
    if (
        abs(ratio[0]) > 1e-6
        and np.allclose(ratio, ratio[0], rtol=1e-6)
        and np.allclose(values[~large], 0, atol=1e-9)
    ):
        return f"; every number is {ratio[0]:.4g} times the right one"
    offset = values - expected
    if np.allclose(offset, offset.flat[0], rtol=1e-6):
        return f"; every number is {offset.flat[0]:+.4g} away from the right one"
    return ""


def _count(wrong: np.ndarray) -> str:
    n = int(wrong.sum())
    return f"{n} of {wrong.size} numbers {'differs' if n == 1 else 'differ'}, the largest difference: "


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
    swapped = values.ndim >= 2 and values.swapaxes(-1, -2).shape == expected.shape
    return f"{came}; expected {wanted}" + (": the last two axes are swapped" if swapped else "")


def _dtype_fits(expected: np.dtype, came: np.dtype) -> bool:
    """Same family, and no less precise: float64 for float32 is fine, float32 for float64 is not."""
    if expected.kind == "f" and came.kind == "i" and expected.itemsize == 8:
        return True  # a Python int where a number is asked for
    if expected.kind != came.kind:
        return False
    return expected.kind != "f" or came.itemsize >= expected.itemsize
