"""What wrong numbers have in common over all cases: a factor, or a factor that one of the inputs gives."""

import inspect
import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Tried

_PLAIN = {
    2.0: "twice",
    0.5: "half of",
    3.0: "three times",
    4.0: "four times",
    0.25: "a quarter of",
    -1.0: "minus",
}


def pattern_over_cases(exercise: Exercise, tried: list[Tried], *, exact: bool = True) -> str:
    """One sentence that holds in every case that failed, or ""; needs two cases and no error.

    exact: a factor that has no plain word is told in digits, as it must not be where inputs are hidden.
    """
    failed = [t for t in tried if not t.verdict.passed]
    if failed and all(_nearly(t) for t in failed):
        return (
            "Your numbers are right to about seven digits, in every failed case: look for float32, for a small number "
            "that was added, or for finite differences."
        )
    ratios = [_ratio(t) for t in failed]
    if len(failed) < 2 or any(r is None for r in ratios):
        return ""
    found = np.array([r for r in ratios if r is not None])
    if np.abs(found - 1).max() < 1e-5:
        return ""
    passed_too = any(t.verdict.passed for t in tried)
    where = "In every failed case" if passed_too else "In every case"
    if np.allclose(found, found[0], rtol=1e-6):
        number = f"{found[0]:.6g} times" if exact else "one and the same factor times"
        factor = next((w for n, w in _PLAIN.items() if np.isclose(found[0], n, rtol=1e-6)), number)
        return f"{where} your result is {factor} the right one."
    for name, sizes in _sizes(exercise, failed):
        for words, factors in _powers(name, np.array(sizes, dtype=float)):
            if np.allclose(found, factors, rtol=1e-6):
                return f"{where} your result is the right one {words}."
    both = {
        words
        for words, factors in _of_two(_sizes(exercise, failed))
        if np.allclose(found, factors, rtol=1e-6)
    }
    return f"{where} your result is the right one {both.pop()}." if len(both) == 1 else ""


def _nearly(t: Tried) -> bool:
    """Whether all that is wrong about an answer comes after its seventh digit."""
    want, got = t.truth.expected, t.answer
    pairs = zip(want.items, got.items, strict=False) if got and want.kind == "tuple" else [(want, got)]
    return got is not None and got.kind == want.kind and all(_near(w.array, g.array) for w, g in pairs if g)


def _near(want: np.ndarray | None, got: np.ndarray | None) -> bool:
    if want is None or got is None or want.shape != got.shape or not want.dtype.kind == got.dtype.kind == "f":
        return False
    return bool(np.allclose(got, want, rtol=2e-6, atol=2e-7 * np.abs(want[np.isfinite(want)]).max(initial=0)))


def _ratio(t: Tried) -> float | None:
    """The factor between an answer and the truth, if it is one factor."""
    want, got = t.truth.expected.array, t.answer.array if t.answer is not None else None
    if want is None or got is None or want.shape != got.shape:
        return None
    if {want.dtype.kind, got.dtype.kind} & {"b", "c"}:
        return None
    want, got = want.astype(float).ravel(), got.astype(float).ravel()
    if not (np.isfinite(want).all() and np.isfinite(got).all()):
        return None
    large = np.abs(want) > 1e-9 * np.abs(want).max(initial=0)
    if not large.any() or np.abs(got[~large]).max(initial=0) > 1e-9 * np.abs(want).max():
        return None
    with np.errstate(all="ignore"):
        ratios = got[large] / want[large]
    return float(ratios[0]) if ratios[0] != 0 and np.allclose(ratios, ratios[0], rtol=1e-6) else None


def _sizes(exercise: Exercise, failed: list[Tried]) -> Iterator[tuple[str, list[float]]]:
    """The numbers that a case has: its plain arguments by name, and the sizes of its arrays."""
    names, axes = list(inspect.signature(exercise.reference).parameters), _axes(exercise.prompt)
    inputs = [t.truth.inputs for t in failed]
    for n, name in enumerate(names):
        values = [given[n] if n < len(given) else None for given in inputs]
        if all(isinstance(v, int | float) and not isinstance(v, bool) and v > 0 for v in values):
            yield f"`{name}`", [float(v) for v in values]  # type: ignore[arg-type]
        elif all(isinstance(v, np.ndarray) for v in values):
            for axis, which in ((-1, "last"), (-2, "second last")):
                if all(v.ndim >= -axis for v in values):  # type: ignore[union-attr]
                    called = axes.get((name, axis), f"the length of `{name}`'s {which} axis")
                    yield called, [v.shape[axis] for v in values]  # type: ignore[union-attr]


_SHAPES = re.compile(r"((?:`\w+`(?:, | and ))*`\w+`), shape `\(([^)`]*)\)`")


@lru_cache(maxsize=128)
def _axes(prompt: str) -> dict[tuple[str, int], str]:
    """What a prompt calls the last two axes of each array: {("Q", -1): "d_k", …}."""
    found = {}
    for arrays, shape in _SHAPES.findall(prompt):
        sizes = [size.strip() for size in shape.split(",") if size.strip()]
        for axis, size in zip((-1, -2), reversed(sizes), strict=False):
            if re.fullmatch(r"[a-z]\w*", size):
                found |= {(array, axis): size for array in re.findall(r"`(\w+)`", arrays)}
    return found


def _of_two(sizes: Iterable[tuple[str, list[float]]]) -> Iterator[tuple[str, np.ndarray]]:
    """What two sizes give together: divided by n_q and times the square root of d_k."""
    called = {name: np.array(values, dtype=float) for name, values in sizes}
    for one, other in itertools.combinations(called, 2):
        if np.array_equal(called[one], called[other]):
            continue
        for (first, a), (second, b) in itertools.product(
            _powers(one, called[one]), _powers(other, called[other])
        ):
            yield f"{first} and {second}", a * b


def _powers(name: str, sizes: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if np.ptp(sizes) == 0:
        return
    yield f"times {name}", sizes
    yield f"divided by {name}", 1 / sizes
    yield f"times the square root of {name}", np.sqrt(sizes)
    yield f"divided by the square root of {name}", 1 / np.sqrt(sizes)
