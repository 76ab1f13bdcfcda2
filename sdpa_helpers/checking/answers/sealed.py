"""Expected numbers behind a seal: an answer can be compared with them, and they cannot be read.

For editions with homework in them (`sdpa release --graded`). The line of numbers is cut into cells of one width; which
cells the expected numbers lie in is kept as a slow, salted hash of all of them together. So that rounding never
carries a right number over an edge, each number chooses among four grids, a quarter of a cell apart, the one in which
it lies most nearly in the middle. Two bits a number, and the width of the cells, are what can be read: the width says
how large the largest number is, up to a factor of two. Whole numbers, True and False are hashed as they are.
"""

import base64
import hashlib
import math
from dataclasses import dataclass

import numpy as np

GRIDS = 4
"""So many grids a number can choose from."""
WORK = 1 << 12
"""scrypt's cost for a new seal: about 10 ms and 4 MB for each guess."""
_MIDDLE = 0.5 - 0.5 / GRIDS
"""At least so far, in cells, an expected number lies from the edges of its own."""
_NAN, _PLUS, _MINUS, _FAR = (np.int64(2**62 + n) for n in range(4))
"""Cells for what lies in none: NaN, the infinities, numbers far from every expected one."""


@dataclass(frozen=True)
class Seal:
    """One expected array or number, of which the form can be read and the numbers cannot."""

    form: tuple[str, str, str]
    """An answer's kind, the name of its type, its dtype, e.g. ("array", "ndarray", "float64")."""
    shape: tuple[int, ...]
    width: float
    """Of a cell, a power of two; 0 where numbers have to be equal."""
    grids: str
    """For each number which grid it chose, two bits each, in base64; "" where the width is 0."""
    salt: str
    work: int
    """scrypt's cost."""
    digest: str

    def hollow(self) -> np.ndarray:
        """An array of this form, with nothing in it: NaN, 0 or False."""
        dtype = np.dtype(self.form[2])
        return np.full(self.shape, np.nan if dtype.kind == "f" else 0, dtype=dtype)

    def fits(self, values: np.ndarray) -> bool:
        """Whether these are the expected numbers, up to rounding; their shape and kind of dtype fit already."""
        grids = _unpacked(self.grids, values.size) if self.width else None
        return self.digest == _digest(_cells(values, self.width, grids), self.salt, self.work)


@dataclass(frozen=True)
class SealedCase:
    """What an edition without answers knows of one case."""

    packed: str
    """The inputs, as `carried.pack_inputs` writes them."""
    seals: tuple[Seal, ...]
    """Of what is expected; of a tuple one for each part."""
    is_tuple: bool = False


def seal(
    form: tuple[str, str, str], expected: np.ndarray, tolerances: tuple[float, float], salt: str
) -> Seal:
    """Seal an expected array so that every answer within the tolerances, (relative, absolute), fits.

    salt: a text that no other array is sealed with. Raises ValueError for numbers that cannot be sealed.
    """
    if expected.dtype.kind not in "bifu":
        raise ValueError(f"numbers of dtype {expected.dtype} cannot be sealed")
    salted = hashlib.sha256(salt.encode()).hexdigest()[:32]
    if expected.dtype.kind != "f":
        cells = _cells(expected, 0.0, None)
        return Seal(form, expected.shape, 0.0, "", salted, WORK, _digest(cells, salted, WORK))
    width = _width(expected, *tolerances)
    grids = _chosen(expected, width)
    cells = _cells(expected, width, grids)
    return Seal(form, expected.shape, width, _packed(grids), salted, WORK, _digest(cells, salted, WORK))


def _width(expected: np.ndarray, relative: float, absolute: float) -> float:
    """One width for the array, from its largest number: others say nothing of their size."""
    finite = np.abs(expected[np.isfinite(expected)].astype(float))
    widest = absolute + relative * float(finite.max(initial=0.0))
    return 2.0 ** math.ceil(math.log2(widest / _MIDDLE))


def _places(values: np.ndarray, width: float) -> np.ndarray:
    """Where numbers lie, in cells of the first grid."""
    with np.errstate(all="ignore"):
        return values.astype(float).ravel() / width


def _chosen(expected: np.ndarray, width: float) -> np.ndarray:
    """For each number the grid in which it is nearest to the middle of its cell; what is not finite counts as 0."""
    places = np.where(np.isfinite(expected).ravel(), _places(expected, width), 0.0)
    from_middle = np.abs(np.mod(places[:, None] - np.arange(GRIDS) / GRIDS, 1.0) - 0.5)
    return from_middle.argmin(axis=1).astype(np.uint8)


def _cells(values: np.ndarray, width: float, grids: np.ndarray | None) -> bytes:
    """The cells of all numbers."""
    if grids is None:
        wide = np.uint64 if values.dtype.kind == "u" else np.int64
        return np.ascontiguousarray(values).astype(wide).astype("<i8").tobytes()
    places = _places(values, width)
    near = np.abs(places) < 2.0**53  # False for NaN
    cells = np.floor(np.where(near, places - grids / GRIDS, 0.0)).astype(np.int64)
    flat = values.ravel()
    kinds = [np.isnan(flat), np.isposinf(flat), np.isneginf(flat), ~near]
    return np.select(kinds, [_NAN, _PLUS, _MINUS, _FAR], cells).astype("<i8").tobytes()


def _digest(cells: bytes, salt: str, work: int) -> str:
    short = hashlib.sha256(cells).digest()
    return hashlib.scrypt(short, salt=bytes.fromhex(salt), n=work, r=8, p=1, dklen=16).hex()


def _packed(grids: np.ndarray) -> str:
    four = np.resize(grids, -(-grids.size // 4) * 4) if grids.size else grids
    four = four.reshape(-1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)
    return base64.b64encode(np.bitwise_or.reduce(four, axis=1).astype(np.uint8).tobytes()).decode("ascii")


def _unpacked(text: str, size: int) -> np.ndarray:
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return ((packed[:, None] >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3).ravel()[:size]
