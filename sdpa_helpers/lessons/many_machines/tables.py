"""Lesson 09: what was counted, as lines of text that stand below an answer."""

from collections.abc import Mapping

from jaxtyping import Int
from numpy import ndarray as Array


def work_table(work: Int[Array, "ranks steps"], full: Int[Array, "ranks steps"]) -> str:
    """Pairs by rank and step, the busiest of each step, and how the sums compare with those without a mask."""
    lines = ["pairs   " + "".join(f"  step {step}" for step in range(work.shape[1])) + "     sum"]
    lines += [_row(f"rank {rank}", row) for rank, row in enumerate(work)]
    lines.append(_row("busiest", work.max(axis=0)))
    lines.append(_row("no mask", full.max(axis=0)))
    return "\n".join(lines)


def _row(name: str, row: Int[Array, "steps"]) -> str:
    return f"{name:8}" + "".join(f"{pairs:8,}" for pairs in row) + f"{row.sum():8,}"


def bytes_table(sent: Mapping[str, float]) -> str:
    """What each rank sends, by method, beside the least."""
    least = min(sent.values())
    return "\n".join(
        f"{method:11}{number:14,.0f} bytes{number / least:7.2f} × the least"
        for method, number in sent.items()
    )
