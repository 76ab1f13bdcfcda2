"""A failing example as pairs: what came back against what was expected, in numbers that differ visibly.

Only what differs is here: of a tuple the parts that are wrong. `side_by_side` draws it.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.difference import close
from sdpa_helpers.checking.naming.forms import in_right_kind

MAX_ROWS, MAX_COLUMNS, MAX_SLICES = 8, 8, 3
"""What is shown of a matrix, and how many matrices of an array with more axes."""
MAX_TEXT = 160
MAX_ERROR = 80
"""Of an error's own text, here; the list of cases has all of it."""


@dataclass(frozen=True)
class Cell:
    """One number."""

    text: str
    is_wrong: bool
    tint: float
    """From −1 to 1: the number in relation to the largest one; NaN for what is not finite."""


@dataclass(frozen=True)
class Grid:
    """A matrix, or a vector as one row."""

    label: str
    """Which matrix of an array with more axes, e.g. "[0, 1]"; "" for the whole."""
    rows: tuple[tuple[Cell, ...], ...]
    is_vector: bool = False
    called: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """What its rows are called, and its columns."""


@dataclass(frozen=True)
class Side:
    """One of the two answers: words where it is no array, else one number, or grids."""

    title: str
    """ "yours" or "expected", with the shape where the shapes differ."""
    words: str = ""
    number: Cell | None = None
    grids: tuple[Grid, ...] = ()
    left_out: str = ""
    """What is not shown of a large array."""


@dataclass(frozen=True)
class Pair:
    """What came back against what was expected."""

    label: str
    """Which part of a tuple; "" for the whole answer."""
    yours: Side
    expected: Side
    count: str = ""
    """E.g. "2 of 4 numbers are wrong"; "" where they cannot be compared one by one."""


def pairs_of(yours: Answer, expected: Answer, names: tuple[str, ...] = ()) -> list[Pair]:
    """What differs; [] where the difference is nothing that can be shown, like the type of the numbers.

    names: what the parts of a tuple are called. The numbers in a thing of the wrong kind (a list, a tensor) are
    compared all the same.
    """
    given, yours = yours, in_right_kind(expected, yours)
    if _is_bool(yours) and given.array is not None and not _is_bool(given) and _differ(yours, expected):
        yours = given  # 0 and 1 for False and True: they are what came back
    if yours.kind == "tuple" and expected.kind == "tuple" and len(yours.items) == len(expected.items):
        parts = zip(yours.items, expected.items, strict=True)
        called = dict(enumerate(names))
        found = [_pair(called.get(i, f"part {i} of the tuple"), a, b) for i, (a, b) in enumerate(parts)]
    else:
        found = [_pair("", yours, expected)]
    kind = f"yours, a {short(given.type_name)}" if given.kind == "other" and yours is not given else ""
    return [_titled(pair, kind) for pair in found if pair is not None]


def _is_bool(answer: Answer) -> bool:
    return answer.array is not None and answer.array.dtype.kind == "b"


def _differ(yours: Answer, expected: Answer) -> bool:
    return not np.array_equal(yours.array, expected.array)  # type: ignore[arg-type]


def _titled(pair: Pair, title: str) -> Pair:
    return replace(pair, yours=replace(pair.yours, title=title)) if title else pair


def _pair(label: str, yours: Answer, expected: Answer) -> Pair | None:
    arrays = [a.array for a in (yours, expected) if a.array is not None]
    wrong = _wrong(*arrays) if len(arrays) == 2 else None
    style, count, titles = _style(arrays or _arrays(expected), wrong), "", ("yours", "expected")
    if wrong is not None and wrong.any() and wrong.size > 1:
        things = "entries" if arrays[1].dtype.kind == "b" else "numbers"
        count = f"{wrong.sum()} of {wrong.size} {things} {'is' if wrong.sum() == 1 else 'are'} wrong"
    if len(arrays) == 2 and arrays[0].shape != arrays[1].shape:
        titles = (f"yours, {_shape(arrays[0])}", f"expected, {_shape(arrays[1])}")
    left, right = _side(titles[0], yours, wrong, style), _side(titles[1], expected, None, style)
    if _texts(left) == _texts(right) and left.title == "yours":
        return None
    return Pair(label, left, right, count)


def _arrays(answer: Answer) -> list[np.ndarray]:
    """The arrays of a tuple."""
    return [item.array for item in answer.items if item.array is not None]


def _wrong(values: np.ndarray, expected: np.ndarray) -> np.ndarray | None:
    """Which numbers are wrong; None where they cannot be compared one by one."""
    if values.shape != expected.shape or (values.dtype.kind == "b") != (expected.dtype.kind == "b"):
        return None
    return ~close(expected, values) if values.dtype.kind in "biuf" else np.array(values != expected)


def _texts(side: Side) -> tuple:
    numbers = [[[cell.text for cell in row] for row in grid.rows] for grid in side.grids]
    return side.words, side.number.text if side.number else "", numbers


def _shape(array: np.ndarray) -> str:
    return f"shape {array.shape}" if array.ndim else "one number"


# ---- one side ------------------------------------------------------------------------------------------------


def _side(title: str, answer: Answer, wrong: np.ndarray | None, style: "Style") -> Side:
    array = answer.array
    if array is None:
        parts = enumerate(answer.items) if answer.kind == "tuple" else ()
        inside = [(i, item.array) for i, item in parts if item.array is not None]
        grids = tuple(grid for i, part in inside for grid in _grids(f"part {i}", part, None, style))
        return Side(title, grids=grids) if grids else Side(title, words=_words(answer))
    if array.ndim == 0:
        return Side(title, number=style.cell(array, bool(wrong) if wrong is not None else False))
    return Side(title, grids=_grids("", array, wrong, style), left_out=_left_out(array))


def _grids(label: str, array: np.ndarray, wrong: np.ndarray | None, style: "Style") -> tuple[Grid, ...]:
    marks = np.zeros(array.shape, bool) if wrong is None else wrong
    if array.ndim < 2:
        row = _rows(np.atleast_2d(array), np.atleast_2d(marks), style)
        return (Grid(label, row, is_vector=array.ndim == 1),)
    places = [at for at, _ in zip(np.ndindex(array.shape[:-2]), range(MAX_SLICES), strict=False)]
    labels = [f"{label} {list(at)}".strip() if at else label for at in places]
    return tuple(
        Grid(said, _rows(array[at], marks[at], style)) for said, at in zip(labels, places, strict=True)
    )


def _left_out(array: np.ndarray) -> str:
    if array.ndim == 1:
        return f"the first {MAX_COLUMNS} of {array.size} numbers" if array.size > MAX_COLUMNS else ""
    n = math.prod(array.shape[:-2])
    parts = [f"the first {MAX_SLICES} of {n} matrices"] if n > MAX_SLICES else []
    if array.shape[-2] > MAX_ROWS or array.shape[-1] > MAX_COLUMNS:
        parts.append(f"the upper left part of {array.shape[-2]} × {array.shape[-1]}")
    return ", ".join(parts)


def _rows(matrix: np.ndarray, wrong: np.ndarray, style: "Style") -> tuple[tuple[Cell, ...], ...]:
    shown = zip(matrix[:MAX_ROWS, :MAX_COLUMNS], wrong[:MAX_ROWS, :MAX_COLUMNS], strict=True)
    return tuple(tuple(style.cell(x, bool(bad)) for x, bad in zip(*row, strict=True)) for row in shown)


def _words(answer: Answer) -> str:
    if answer.kind == "error":
        return short(f"{answer.error}: {answer.where or short(answer.message, MAX_ERROR)}")
    if answer.kind == "tuple":
        return f"a tuple of {len(answer.items)}"
    if answer.kind == "none":
        return "None"
    return short(f"a {answer.type_name}" if answer.type_name else answer.kind)


def short(text: str, length: int = MAX_TEXT) -> str:
    """The beginning of a text that may be of any length."""
    return text if len(text) <= length else text[: length - 1] + "…"


# ---- numbers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """How the numbers of a pair are written, alike on both sides."""

    digits: int
    """Decimals."""
    size: float
    """The largest size of a number; its tint is the full one."""
    has_powers: bool
    """Whether a number is written with a power of ten."""

    def cell(self, value: np.generic | np.ndarray, is_wrong: bool) -> Cell:
        """A number as it is shown."""
        x = float(np.real(value))
        tint = max(-1.0, min(1.0, x / self.size)) if math.isfinite(x) else math.nan
        return Cell(self.write(value, is_wrong), is_wrong, tint)

    def write(self, value: np.generic | np.ndarray, is_wrong: bool = True) -> str:
        """A number as text. What is right and only rounding away from 0 is 0."""
        if value.dtype.kind == "b":
            return str(bool(value))
        if value.dtype.kind in "iu" and not self.has_powers:
            return str(int(value))  # an index stays one beside 1.333
        if value.dtype.kind == "c":
            return f"{complex(value):.{max(self.digits, 1)}g}"
        x = float(value)
        if not math.isfinite(x):
            return str(x)
        if x == 0 or (not is_wrong and abs(x) < 1e-13 * self.size):
            x = 0.0  # also for −0
        if not self.has_powers:
            return f"{x:.{self.digits}f}"
        if x == 0:
            return "0"
        mantissa, power = f"{x:.{self.digits}e}".split("e")
        return f"{mantissa}e{int(power)}"


def _style(arrays: list[np.ndarray], wrong: np.ndarray | None) -> Style:
    """As many decimals as the numbers have, up to three; more until every wrong number reads unlike the right one."""
    real = [a.ravel()[:512] for a in arrays if a.dtype.kind in "biuf"]
    numbers = [float(x) for a in real for x in a if np.isfinite(x)]
    size = max(map(abs, numbers), default=0.0) or 1.0
    whole = all(x.is_integer() for x in numbers) and size < 1e15
    has_powers = not whole and not 1e-3 <= size < 1e6
    needed = 2 if has_powers else 3
    if not has_powers:
        needed = next(
            (d for d in range(3) if all(math.isclose(x, round(x, d), rel_tol=1e-9) for x in numbers)), 3
        )
    differing = [] if wrong is None else list(zip(arrays[0][wrong][:64], arrays[1][wrong][:64], strict=True))
    for digits in range(needed, 17):
        style = Style(digits, size, has_powers)
        if all(style.write(a) != style.write(b) for a, b in differing):
            return style
    return Style(needed, size, has_powers=True) if not has_powers else Style(16, size, has_powers)
