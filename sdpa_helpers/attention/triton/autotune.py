"""Which tile is fastest on the GPU at hand: SDPA_TRITON_AUTOTUNE=1 in the environment tries, prints and keeps it.

blocks.py has tiles that fit; it was made without a GPU and knows no times. With the switch, the first call of each
kind (program, dtype, size of heads, mask, causality, lengths to the next power of two) times the table's tile and
its neighbours, which differ from it in one thing, prints a table like this, and goes on with the fastest:

    forward, bfloat16, heads of 128, causal, 4096 queries, 4096 keys
      rows columns warps stages warp_specialize         ms
       128     128     8      2           False      1.234  the table's
       128      64     8      2           False      1.100  fastest
       128     128     8      3           False             OutOfResources: shared memory

The answers of different tiles differ in their last bits, and times vary: with the switch a call need not give the
same bits in the next process.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from sdpa_helpers.attention.triton.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Callable

SWITCH = "SDPA_TRITON_AUTOTUNE"
SMALLEST, LARGEST = 16, 128  # rows and columns that are tried
WARPS = (4, 8)
MOST_STAGES = 4


class Kind(NamedTuple):
    """Calls that share a tile."""

    program: str
    architecture: int
    dtype: str
    size: int  # of a head
    is_causal: bool
    masked: bool
    n_q: int  # lengths rounded up to powers of two
    n_k: int


class Trial(NamedTuple):
    block: Block
    milliseconds: float | None  # None: it does not run
    reason: str = ""


def wanted() -> bool:
    """Whether the switch is on."""
    return os.environ.get(SWITCH, "") not in ("", "0")


def neighbours(block: Block, program: str) -> list[Block]:
    """The tile itself, then those that differ from it in one thing."""
    rows, columns, warps, stages, warp_specialize = block
    changed = [
        *(block._replace(rows=x) for x in (rows // 2, rows * 2)),
        *(block._replace(columns=x) for x in (columns // 2, columns * 2)),
        *(block._replace(warps=x) for x in WARPS if x != warps),
        *(block._replace(stages=x) for x in (stages - 1, stages + 1)),
        block._replace(warp_specialize=not warp_specialize),
    ]
    return [block, *(x for x in changed if is_one(x, program))]


def is_one(block: Block, program: str) -> bool:
    """Whether a program takes such a tile."""
    sides = min(block.rows, block.columns) >= SMALLEST and max(block.rows, block.columns) <= LARGEST
    straight = program != "key_gradients" or block.columns % block.rows == 0
    return sides and straight and 1 <= block.stages <= MOST_STAGES


def try_all(blocks: list[Block], time: Callable[[Block], float]) -> list[Trial]:
    """Each one's time; a tile that the GPU or the compiler does not take has a reason instead."""
    trials = []
    for block in blocks:
        try:
            trials.append(Trial(block, time(block)))
        except Exception as error:  # of the compiler, of the driver: there are many kinds
            first_line = (str(error).splitlines() or [""])[0]
            trials.append(Trial(block, None, f"{type(error).__name__}: {first_line}"))
    return trials


def fastest(trials: list[Trial]) -> Block:
    """Of those that run; the first, which is the table's, if none does."""
    times = {trial.block: trial.milliseconds for trial in trials if trial.milliseconds is not None}
    return min(times, key=times.__getitem__) if times else trials[0].block


def table(kind: Kind, trials: list[Trial]) -> str:
    """As it is printed."""
    seen = ", ".join(word for word, holds in (("causal", kind.is_causal), ("a mask", kind.masked)) if holds)
    heads, lengths = f"heads of {kind.size}", f"{kind.n_q} queries, {kind.n_k} keys"
    title = f"{kind.program}, {kind.dtype}, {heads}, {seen or 'no mask'}, {lengths}"
    lines = [title, "  " + " ".join(Block._fields) + f"{'ms':>11}"]
    best = fastest(trials)
    for number, (block, milliseconds, reason) in enumerate(trials):
        fields = " ".join(f"{value!s:>{len(name)}}" for name, value in block._asdict().items())
        time = " " * 11 if milliseconds is None else f"{milliseconds:11.3f}"
        words = [
            reason,
            "the table's" if number == 0 else "",
            "fastest" if block == best and not reason else "",
        ]
        lines.append(f"  {fields}{time}  {', '.join(filter(None, words))}".rstrip())
    return "\n".join(lines)


KEPT: dict[Kind, Block] = {}


def choose(kind: Kind, block: Block, time: Callable[[Block], float]) -> Block:
    """The fastest tile for calls of that kind, which are tried once in a process."""
    if kind not in KEPT:
        trials = try_all(neighbours(block, kind.program), time)
        KEPT[kind] = fastest(trials)
        print(table(kind, trials), flush=True)
    return KEPT[kind]
