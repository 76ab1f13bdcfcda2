"""What one kernel may use."""

from dataclasses import dataclass

IDLE_OF_ALL = 1800.0
"""Seconds that the submissions of a run may wait without computing, all together, before each may only half as long."""


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
    idle: float = 10.0
    """Seconds that it may do nothing: neither compute nor wait for a processor."""
    subprocesses: bool = False
    """Whether a submission may start other programs, and fork."""
    wall: float | None = None
    """Seconds on the clock for the whole notebook; `patience` times `seconds` when left out."""

    @property
    def wall_seconds(self) -> float:
        """How long the whole may take on the clock."""
        return self.patience * self.seconds if self.wall is None else self.wall

    def idle_of(self, submissions: int) -> float:
        """`idle` for each of so many submissions: all of it, and at least half, however many there are."""
        return max(self.idle / 2, min(self.idle, IDLE_OF_ALL / max(1, submissions)))
