"""How many axes a pasted function wants, in which order, and which part of what it returns is what.

It is tried: with matrices, with a batch of them, with heads in front of the length and behind it; with as many keys as
queries where it knows of no other, as where it makes a causal mask of its own.
"""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """Of a trial: all differ, so that a result's shape tells what it is."""

    queries: int
    keys: int
    width: int
    values: int

    @property
    def is_square(self) -> bool:
        """As many keys as queries."""
        return self.queries == self.keys

    @property
    def one_width(self) -> bool:
        """Values as wide as keys."""
        return self.width == self.values


TRIED = (Sizes(3, 4, 5, 7), Sizes(3, 4, 5, 5), Sizes(4, 4, 5, 7), Sizes(4, 4, 5, 5))
_HEADS = 6


@dataclass(frozen=True)
class Way:
    """A way to call a function of Q, K, V and a mask."""

    axes: int = 0
    """How many it wants; 0: as many as come."""
    masked: bool = False
    """Whether it cannot do without a mask."""
    heads_behind: bool = False
    """Whether it wants (batch, length, heads, width)."""
    parts: tuple[str, ...] = ()
    """What it returns, each "output", "swapped" (heads behind the length), "merged" (in one row) or "weights"."""

    @property
    def says(self) -> str:
        """What was taken for granted."""
        order = {2: "matrices", 3: "(batch, length, width)", 4: "(batch, heads, length, width)"}.get(
            self.axes, ""
        )
        order = "(batch, length, heads, width)" if self.heads_behind else order
        return order and f"called with {order}"

    def called(self, function: Callable, Q: Any, K: Any, V: Any, *mask: Any) -> Any:
        """What it returns, as (output, weights) or the output, with the axes of what came."""
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in (Q, K, V)))
        if self.masked and (not mask or mask[0] is None):
            mask = (np.ones((*lead, Q.shape[-2], K.shape[-2]), bool),)
        inner = lead
        if self.axes > 2:
            inner = (prod(lead),) if self.axes == 3 else (prod(lead[:-1]), *(lead[-1:] or (1,)))
            Q, K, V = (_laid(x, lead, inner) for x in (Q, K, V))
            full = (Q.shape[-2], K.shape[-2])
            mask = tuple(
                m if m is None else _laid(np.broadcast_to(m, lead + full), lead, inner) for m in mask
            )
        sides = (np.swapaxes(x, 1, 2) if self.heads_behind else x for x in (Q, K, V))
        result = function(*sides, *mask)
        if not self.parts:
            return result
        results = result if isinstance(result, tuple) else (result,)
        known = {
            name: back(part, name, inner, lead)
            for name, part in zip(self.parts, results, strict=False)
            if name
        }
        output = next((part for name, part in known.items() if name != "weights"), results[0])
        return (output, known["weights"]) if "weights" in known and len(known) == 2 else output


def _laid(x: Any, lead: tuple, inner: tuple) -> Any:
    return np.broadcast_to(x, lead + x.shape[-2:]).reshape(inner + x.shape[-2:])


def back(part: Any, name: str, inner: tuple, lead: tuple) -> Any:
    """A part with its axes in the order (..., length, width); as it is where its shape is none that was seen."""
    array = np.asarray(part)
    if inner == lead and name in ("output", "weights"):
        return part
    if name == "merged" and array.ndim == 3:
        array = array.reshape(*array.shape[:2], inner[-1], -1)
    if name in ("merged", "swapped") and array.ndim == 4:
        array = np.swapaxes(array, 1, 2)
    fits = array.ndim >= 2 and array.shape[:-2] == inner
    return array.reshape(lead + array.shape[-2:]) if fits else part


_ORDERS = ((Way(),), (Way(3),), (Way(4), Way(4, heads_behind=True)))


def ways_of(function: Callable, sizes: Sizes, masked: bool) -> list[Way]:
    """The ways in which it returns an output for such sizes: those with the fewest axes."""
    for orders in _ORDERS:
        found = []
        for one in orders:
            way = replace(one, masked=masked)
            with contextlib.suppress(Exception):
                if parts := _parts(way.called(function, *drawn(sizes, way)), sizes, way):
                    found.append(replace(way, parts=parts))
        if found:
            return found
    return []


def furthest(function: Callable, masked: bool) -> Way:
    """Where every way ends with an error: the one that comes to the last line."""

    def line(way: Way) -> int:
        try:
            way.called(function, *drawn(TRIED[0], way))
        except Exception:
            trace, lines = sys.exc_info()[2], [0]
            while trace:
                lines += [trace.tb_lineno] * trace.tb_frame.f_code.co_filename.startswith("<your")
                trace = trace.tb_next
            return lines[-1]
        return 0

    return max((replace(way, masked=masked) for orders in _ORDERS for way in orders), key=line)


def wants_matrices(function: Callable, sizes: Sizes, way: Way) -> bool:
    """Whether a batch ends with an error where matrices do not."""
    if way.axes == 0:
        try:
            way.called(function, *drawn(sizes, Way(3)))
        except Exception:
            return True
    return False


def drawn(sizes: Sizes, way: Way) -> tuple[np.ndarray, ...]:
    """Q, K and V of such sizes, with a batch and heads where a way wants them."""
    rng, lead = np.random.default_rng(0), {0: (), 3: (2,), 4: (2, _HEADS)}[way.axes]
    shapes = ((sizes.queries, sizes.width), (sizes.keys, sizes.width), (sizes.keys, sizes.values))
    return tuple(rng.normal(size=lead + shape) for shape in shapes)


def _parts(result: Any, sizes: Sizes, way: Way) -> tuple[str, ...]:
    lead = {0: (), 3: (2,), 4: (2, _HEADS)}[way.axes]
    n, wide = sizes.queries, sizes.values
    names = {(*lead, n, wide): "output", (*lead, n, sizes.keys): "weights"}
    if way.axes == 4:
        names |= {(2, n, _HEADS, wide): "swapped", (2, n, _HEADS * wide): "merged"}
    parts = result if isinstance(result, tuple) else (result,)
    found = tuple(names.get(np.shape(part), "") for part in parts)
    return found if {*found} - {"", "weights"} else ()


def looks_one_way(function: Callable, sizes: Sizes, way: Way) -> bool:
    """Whether one end's output has nothing of the other end's value: there is a triangle of its own, either one."""
    Q, K, V = drawn(sizes, way)
    outputs = []
    with contextlib.suppress(Exception):
        for first, last in ((0, 0), (0, 1), (1, 0)):
            values = V.copy()
            values[..., 0, :] += first
            values[..., -1, :] += last
            result = way.called(function, Q, K, values)
            outputs.append(np.asarray(result[0] if isinstance(result, tuple) else result))
        usual, later, earlier = outputs
        return any(
            np.array_equal(usual[..., at, :], other[..., at, :], equal_nan=True)
            for at, other in ((0, later), (-1, earlier))
        )
    return False
