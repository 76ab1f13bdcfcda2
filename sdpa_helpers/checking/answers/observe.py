"""Call a learner's function and describe what it gave: the one thing that runs next to untrusted code.

`observe` turns whatever comes back into an `Answer`: plain data, no behaviour. This module needs NumPy alone, because
the grader copies it, and what it imports, into the kernel in which a submission runs.
Nothing here knows what the right answer is.
"""

import contextlib
import math
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.packed_array import DTYPES
from sdpa_helpers.checking.answers.where import Place, place_of

MAX_ANSWER_BYTES = 1 << 20
"""Of the numbers in an answer, all its parts together; the largest that is right has 80 KB."""
MAX_LISTED = 100_000
MAX_TEXT = 400
MAX_NESTED = 1
"""Tuples and lists of arrays within each other, whose parts are looked at; no right answer has more than 0."""


@dataclass(frozen=True)
class Answer:
    """What a function returned, or how it failed."""

    kind: str
    """ "array", "number" (0-d), "tuple", "none", "not-attempted", "error", "made", or "other" (`type_name` says
    what).

    In `check` also "stopped" (`message` says after how long, `line` where) and "not-run"."""
    type_name: str = ""
    array: np.ndarray | None = None
    """The values, of an "array" and a "number"; of "other" the numbers it holds, where it is a list or a tensor."""
    items: tuple["Answer", ...] = ()
    """The parts of a "tuple"."""
    error: str = ""
    """The exception's type, for "error"."""
    message: str = ""
    """Its text."""
    line: str = ""
    """The learner's line in which it was raised."""
    where: str = ""
    """The shapes of what that line worked on."""
    changed: tuple[int, ...] = ()
    """The positions of the arguments that were not the same after the call."""
    peak_bytes: int = 0
    """The memory it held at once, where that was measured."""
    differs: bool = False
    """A second call with the same inputs gave another result."""
    made: str = ""
    """What was made, as `made_value.write` writes it, where that was asked for."""

    @property
    def plain(self) -> "Answer":
        """What came back, and nothing of how."""
        if not (self.changed or self.peak_bytes or self.differs):
            return self
        return replace(self, changed=(), peak_bytes=0, differs=False)


@dataclass(frozen=True)
class Watch:
    """What to look at beside the result; each costs time."""

    memory: bool = False
    """Measure `Answer.peak_bytes`."""
    twice: bool = False
    """Call again, for `Answer.differs`."""
    made: bool = False
    """Carry the whole value, for `Answer.made`."""
    outside: bool = False
    """Whether somebody else watches the memory of the whole process meanwhile."""


NOTHING_ELSE = Watch()
NOT_ATTEMPTED = Answer("not-attempted")


def observe(function: Callable | None, arguments: tuple, watch: Watch = NOTHING_ELSE) -> Answer:
    """Call `function(*arguments)` and describe the result; never raises for what the function does."""
    before = copies(arguments)
    describes = describe_made if watch.made else describe
    if watch.memory:
        answer, peak = _measured(function, arguments, watch.outside)
    else:
        answer, peak = _called(function, arguments, describes), 0
    changed = tuple(
        n for n, (old, new) in enumerate(zip(before, arguments, strict=True)) if not _untouched(old, new)
    )
    differs = False
    if watch.twice and answer.kind in ("array", "number", "tuple", "made") and not changed:
        differs = not alike(answer, _called(function, arguments, describes))
    return replace(answer, changed=changed, peak_bytes=peak, differs=differs)


def _called(function: Callable | None, arguments: tuple, describes: "Describe | None" = None) -> Answer:
    _spoil_free_memory(arguments)
    with quiet():
        return call(function, arguments, describes)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings: what a function does wrong shows in what it returns."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


Describe = Callable[[Any], Answer]
"""How a result becomes an `Answer`."""


def call(
    function: Callable | None, arguments: tuple, describes: Describe | None = None, *, placed: bool = True
) -> Answer:
    """The result of one call, and nothing else about it. placed: say of an error where it was raised."""
    try:
        return (describes or describe)(function(*arguments))  # type: ignore[misc]
    except (Exception, SystemExit) as error:
        if type(error) is NotImplementedError and not str(error):
            return NOT_ATTEMPTED  # as some stubs raise it
        place = place_of(error, function) if placed else Place()
        text = _text(" ".join(str(error).split()))
        return Answer(
            "error",
            error=type(error).__name__,
            message=text,
            line=_text(place.line),
            where=_text(place.operands),
        )


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()[:MAX_TEXT]


ROUGH_BYTES = 8 << 20
"""What the system's count of a process's memory may hold beside a call's own arrays, and earn nobody a denial.

Inputs and results on their way take 3 MB; the rest is for what a system counts in lots (huge pages of 2 MB, pages that
each processor counts for itself), which differs from machine to machine.
"""


def beyond_doubt(held: int) -> int:
    """How much of what the system counted must have been the call's, in bytes."""
    return max(0, held - ROUGH_BYTES)


def _measured(function: Callable | None, arguments: tuple, outside: bool) -> tuple[Answer, int]:
    """The answer, and how many bytes the call held at once at most.

    Python's own count is exact, and misses what another library or a map of memory holds; the system's is rough.
    """
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start(1)
    before = 0 if outside else _peak_from_now_on()
    try:
        tracemalloc.reset_peak()
        held = tracemalloc.get_traced_memory()[0]
        answer = _called(function, arguments)
        counted = max(0, tracemalloc.get_traced_memory()[1] - held)
    finally:
        if ours:
            tracemalloc.stop()
    return answer, max(counted, beyond_doubt(_peak() - before)) if before else counted


def _peak_from_now_on() -> int:
    """Let the system forget the most memory that this process has held: what it holds, in bytes, or 0 if it can't."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _peak()
    except OSError:
        return 0


def _peak() -> int:
    """The most memory that this process has held since then, in bytes."""
    with open("/proc/self/status") as file:
        return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:")), 0)


def copies(arguments: tuple) -> tuple:
    """The arguments with arrays of their own, which can be written."""
    return tuple(np.array(value) if isinstance(value, np.ndarray) else value for value in arguments)


def has_nan(answer: Answer) -> bool:
    """Whether there is NaN in an answer, or in a part of it."""
    values = answer.array
    inside = values is not None and values.dtype.kind in "fc" and bool(np.isnan(values).any())
    return inside or any(map(has_nan, answer.items))


def _untouched(old: Any, new: Any) -> bool:
    if not isinstance(old, np.ndarray):
        return True
    return old.shape == new.shape and old.dtype == new.dtype and old.tobytes() == new.tobytes()


def _spoil_free_memory(arguments: tuple) -> None:
    """Leave NaN where the next arrays will lie: what was never written shows."""
    for value in arguments:
        if isinstance(value, np.ndarray) and 0 < value.nbytes <= 1 << 16:
            spoiled = [np.full(max(1, value.nbytes // 8), np.nan) for _ in range(4)]
            del spoiled


def alike(first: Answer, second: Answer) -> bool:
    """Whether two calls gave the same: up to rounding, which the order of a sum may change."""
    if (first.kind, first.error, first.made) != (second.kind, second.error, second.made):
        return False
    if (first.array is None) != (second.array is None) or len(first.items) != len(second.items):
        return False
    if first.array is not None and second.array is not None:
        a, b = first.array, second.array
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-12, equal_nan=True))
    return all(map(alike, first.items, second.items))


def describe(value: Any, depth: int = 0) -> Answer:
    """Turn a value into an `Answer`. depth: in how many tuples and lists it lies."""
    name = type(value).__name__
    if value is NotImplemented or value is Ellipsis:
        return NOT_ATTEMPTED
    if value is None:
        return Answer("none", name)
    if depth > MAX_NESTED and isinstance(value, (tuple, list)):
        return Answer("other", name)
    if isinstance(value, tuple):
        return Answer("tuple", name, items=tuple(describe(item, depth + 1) for item in value[:16]))
    if isinstance(value, np.floating) and value.dtype == np.longdouble:
        value = np.float64(value)  # one number, as a Fraction is
    if not isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return _something_else(value, depth)
    if isinstance(value, np.ndarray) and value.size * value.itemsize > MAX_ANSWER_BYTES:
        return _too_large("NumPy array", value.shape)  # also a small array that is broadcast to a giant
    return _as_array(value, name)


def describe_made(value: Any) -> Answer:
    """Turn a value that a learner made into an `Answer` that holds all of it."""
    if value is None or value is NotImplemented or value is Ellipsis:
        return describe(value)
    try:
        return Answer("made", type(value).__name__, made=made_value.write(value))
    except made_value.Unfit as error:
        return Answer("other", str(error))


def _too_large(name: str, shape: tuple[int, ...]) -> Answer:
    return Answer("other", f"{name} of shape {shape}, too large to look at"[:80])


def _as_array(value: Any, name: str) -> Answer:
    try:
        array = np.array(value)  # a plain copy: subclasses lose their behaviour here
    except (OverflowError, ValueError):
        return Answer("other", name)
    if array.dtype.name not in DTYPES:
        return Answer("other", f"{name} of dtype {array.dtype.name[:40]}")
    return Answer("number" if array.ndim == 0 else "array", name, array=array)


def _something_else(value: Any, depth: int) -> Answer:
    """A list or a tensor with its numbers, a fraction as the number it is, whatever else by its name."""
    module = type(value).__module__.partition(".")[0]
    name = type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"
    if isinstance(value, Fraction):
        return _as_array(_float_of(value), name)
    if isinstance(value, list) and len(value) <= 16 and any(isinstance(item, np.ndarray) for item in value):
        parts = tuple(describe(item, depth + 1) for item in value)
        shapes = {part.array.shape if part.array is not None else None for part in parts}
        array = np.array([part.array for part in parts]) if len(shapes) == 1 and None not in shapes else None
        return Answer("other", name, array=array, items=parts)
    if isinstance(value, list):
        if (count := _count(value)) > MAX_LISTED:
            return Answer("other", f"list of more than {MAX_LISTED} numbers" if count else name)
        inside = _as_array(_plain(value), name)
    elif module == "torch" and hasattr(value, "detach"):
        if value.numel() * value.element_size() > MAX_ANSWER_BYTES:
            return _too_large(name, tuple(value.shape))
        inside = _as_array(value.detach().cpu().numpy(), name)
    else:
        return Answer("other", name)
    return Answer("other", name, array=inside.array)


def _float_of(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _count(value: Any, depth: int = 0) -> int:
    """How many things a nested list holds; more than allowed when it is too deep or too long to be counted."""
    if not isinstance(value, list):
        return 1
    if depth > 8 or len(value) > MAX_LISTED:
        return MAX_LISTED + 1
    total = 0
    for item in value:
        total += _count(item, depth + 1)
        if total > MAX_LISTED:
            break
    return total


def _plain(value: Any) -> Any:
    """A nested list in which an array or a number of NumPy is a list or a number, too."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return (
        value.tolist() if isinstance(value, (np.ndarray, np.generic)) and value.size <= MAX_LISTED else value
    )
