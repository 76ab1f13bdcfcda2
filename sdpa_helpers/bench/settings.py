"""What `sdpa bench` measures: shapes, masks, dtypes, directions, and which of their products by default.

Every setting is bounded. A formula holds all scores at once, so it takes part only while they fit FORMULA_MIB; the
lengths of the figure go on without it. How long a setting may take is in `rounds.py`.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

Shape = tuple[int, ...]  # batch, heads, length, features

LENGTHS = (16, 64, 256, 512, 1024, 2048, 4096, 8192)
WEIGHED = (
    256,
    1024,
    4096,
    8192,
)  # each in a process of its own; below, the allocator takes as much as the call
SHAPES: list[Shape] = [
    (1, 8, 1024, 64),
    (4, 8, 512, 64),
    (1, 32, 128, 128),
    (2, 4, 2048, 80),
    (1, 1, 4096, 128),
]
MASKS = ("full", "causal", "bool", "float", "padding-50", "padding-90")
DTYPES = ("float32", "float64", "bfloat16")
DIRECTIONS = ("forward", "backward")

FORMULA_MIB = 256  # all scores of a call; the formulas need some copies of them


class Setting(NamedTuple):
    """One call that all backends make in turn."""

    shape: Shape
    mask: str = "full"  # one of MASKS
    dtype: str = "float32"
    direction: str = "forward"

    @property
    def scores_mib(self) -> float:
        """Memory of all scores at once."""
        itemsize = {"float64": 8, "bfloat16": 2}.get(self.dtype, 4)
        return math.prod(self.shape[:3]) * self.shape[2] * itemsize / 2**20

    @property
    def operations(self) -> float:
        """Of the matrix products that the definition needs: two forward, five backward, at the scores that count."""
        seen = {"causal": 0.5, "padding-50": 0.5, "padding-90": 0.1}.get(self.mask, 1.0)
        products = 2 if self.direction == "forward" else 5
        return products * 2 * math.prod(self.shape) * self.shape[2] * seen


class Plan(NamedTuple):
    """What is timed, at each number of threads, and whose peak memory is measured, at one."""

    timed: list[Setting]
    weighed: list[Setting]


class BenchOptions(NamedTuple):
    """What the options of `sdpa bench` say; empty: the default."""

    shapes: tuple[Shape, ...] = ()
    masks: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    quick: bool = False


def of_length(n: int) -> Shape:
    """The shape of the figure's lines: all sizes but the length stay."""
    return (1, 4, n, 64)


def plan(asked: BenchOptions) -> Plan:
    """The settings that were asked for, in all combinations; else the default ones."""
    if any(asked[:4]):
        timed = _product(
            asked.shapes or tuple(SHAPES[:1]),
            asked.masks or MASKS[:2],
            asked.dtypes or DTYPES[:1],
            asked.directions or DIRECTIONS,
        )
        return Plan(timed, [x for x in timed if x.direction == "forward"])
    return _quick() if asked.quick else _default()


def _product(
    shapes: tuple[Shape, ...], masks: tuple[str, ...], dtypes: tuple[str, ...], directions: tuple[str, ...]
) -> list[Setting]:
    return list(itertools.starmap(Setting, itertools.product(shapes, masks, dtypes, directions)))


def _default() -> Plan:
    lengths = [Setting(of_length(n), mask) for n in LENGTHS for mask in MASKS[:2]]
    shapes = [Setting(shape, mask) for shape in SHAPES for mask in MASKS[:2]]
    backward = [Setting(shape, mask, direction="backward") for shape in SHAPES[::4] for mask in MASKS[:2]]
    masked = [Setting(of_length(2048), mask) for mask in MASKS[2:]]
    dtypes = [Setting(SHAPES[0], dtype=dtype) for dtype in DTYPES[1:]]
    return Plan(lengths + shapes + backward + masked + dtypes, [Setting(of_length(n)) for n in WEIGHED])


def _quick() -> Plan:
    lengths = [Setting(of_length(n), mask) for n in (16, 128, 512, 1024) for mask in MASKS[:2]]
    others = [Setting(of_length(1024), "padding-90"), Setting(of_length(512), direction="backward")]
    return Plan(lengths + others, [])
