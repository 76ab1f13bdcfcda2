"""Options that several commands have."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sdpa_helpers.sandbox.limits import Limits

Seconds = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=1.0,
        help="CPU-seconds for each submission; on the clock it may take four times that.",
    ),
]
Memory = Annotated[int, typer.Option("--memory", min=256, help="Memory for each submission, in MB.")]

Seed = Annotated[str, typer.Option(help="The same one draws the same. Default: a fresh one.")]
Subprocesses = Annotated[bool, typer.Option("--subprocesses", help="Let submissions start other programs.")]


def limits(timeout: float, memory: int, subprocesses: bool = False) -> "Limits":
    """One cell may take a quarter of the time, so that an endless loop leaves some to the other exercises."""
    from sdpa_helpers.sandbox.limits import Limits

    cell = min(10.0, timeout / 4)
    return Limits(seconds=timeout, cell_seconds=cell, memory_mb=memory, subprocesses=subprocesses)
