"""What the trusted side can ask of a kernel that runs, at whatever level."""

import socket
from typing import Protocol


class Running(Protocol):
    """A kernel that runs."""

    pid: int
    """Of the process that all others of it come from."""
    channel: socket.socket
    """Our end of its connection: requests go in, messages come out."""

    @property
    def why(self) -> str:
        """Which limit has ended it: "memory", "disk", or "" for none."""
        ...

    @property
    def cpu(self) -> float:
        """CPU-seconds of all its processes."""
        ...

    def forget_peak(self) -> None:
        """From now on count the most memory that it has held anew."""
        ...

    def held(self) -> int:
        """The most memory that it has held since then, in bytes, beyond what it held at that moment.

        Pages are counted as the system counts them, so this is rough; 0 where the system does not tell.
        """
        ...

    def used(self) -> int:
        """How much of its memory it has used since then, in bytes, new or old; 0 where the system does not tell."""
        ...

    def is_alive(self) -> bool:
        """Whether it runs."""
        ...

    def close(self) -> None:
        """End it and remove what it had."""
        ...
