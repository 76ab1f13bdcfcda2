"""One line of what `sdpa bench` found, as it is stored and as it is printed."""

from __future__ import annotations

from dataclasses import dataclass

from sdpa_helpers.bench.settings import Setting


@dataclass
class TimedRow:
    """One line of the CSV; None where a thing was not measured."""

    shape: str
    is_causal: bool
    direction: str  # "forward" or "backward"
    backend: str
    milliseconds: float  # the median
    ratio: float  # to F.sdpa in the same round, the median
    percent_of_gemm: float  # of the speed of a product of matrices, in the same round
    extra_mib: float | None = None  # peak memory beyond the inputs, the output included
    mask: str = "full"  # one of settings.MASKS
    dtype: str = "float32"
    threads: int = 1
    ratio_low: float | None = None  # the quartiles
    ratio_high: float | None = None
    rounds: int | None = None  # that it took part in
    busy: int = 0  # processes that were kept busy beside

    @property
    def setting(self) -> Setting:
        return Setting(tuple(map(int, self.shape.split(","))), self.mask, self.dtype, self.direction)


HEADER = (
    f"{'shape':<13} {'mask':<10} {'dtype':<8} {'direction':<9} {'backend':<12}{'time':>10}    {'ratio':>7} (quartiles)"
    "   speed"
)
"""Above the lines of `line`."""


def line(row: TimedRow) -> str:
    """A row as it is printed."""
    return (
        f"{row.shape:<13} {row.mask:<10} {row.dtype:<8} {row.direction:<9} {row.backend:<12}"
        f"{row.milliseconds:10.3f} ms {row.ratio:7.2f} ({row.ratio_low:.2f} … {row.ratio_high:.2f})"
        f" {row.percent_of_gemm:5.0f} % of GEMM"
    )
