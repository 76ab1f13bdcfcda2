"""What one kernel may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 60.0
    """CPU time of the whole notebook."""
    cell_seconds: float = 10.0
    """CPU time of one cell."""
    memory_mb: int = 4096
    """Memory of all its processes together."""
    messages: int = 20_000
    """Messages that one cell may send."""
    output_bytes: int = 16 << 20
    """Bytes that one cell may send."""
    patience: float = 4.0
    """How many times as long either limit on CPU time may take on the clock: a busy machine costs nobody points."""
    subprocesses: bool = False
    """Whether a submission may start other programs, and fork."""
    wall: float | None = None
    """Seconds on the clock for the whole notebook; `patience` times `seconds` when left out."""

    @property
    def wall_seconds(self) -> float:
        """How long the whole may take on the clock."""
        return self.patience * self.seconds if self.wall is None else self.wall
