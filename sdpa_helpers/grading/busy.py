"""Was the machine too busy for a submission? Linux counts how long a thread was ready to run, and had no processor."""

import contextlib
import os

from sdpa_helpers.sandbox.kernel_process import tree

A_GOOD_PART = 0.5
"""Of the time on the clock. Who waits for less has slept for longer than all its CPU time."""


def was_busy(pid: int, seconds: float) -> bool:
    """Whether a thread below a process had to wait for a processor a good part of so many seconds.

    True as well where the system does not tell.
    """
    waits = [wait for process in tree(pid) for wait in _waits(process)]
    return not waits or max(waits) > A_GOOD_PART * seconds


def _waits(pid: int) -> list[float]:
    """How many seconds each thread of a process has waited."""
    found = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                found.append(int(file.read().split()[1]) / 1e9)
    return found
