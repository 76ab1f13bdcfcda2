"""Was the machine too busy for a kernel, or did the kernel do nothing?

Linux counts how long each thread computed, and how long it was ready to run and had no processor.
"""

import contextlib
import math
import os

from sdpa_helpers.sandbox.kernel_process import cpu_of, tree

A_GOOD_PART = 0.5
"""Of the time on the clock. Who waits for less has slept for longer than all its CPU time."""


def was_busy(pid: int, seconds: float) -> bool:
    """Whether a thread below a process had to wait for a processor a good part of so many seconds.

    True as well where the system does not tell.
    """
    waits = [wait for process in tree(pid) for wait in _waits(process)]
    return not waits or max(waits) > A_GOOD_PART * seconds


def spent_here() -> float:
    """Seconds that this thread, which listens to a kernel, has computed or waited for a processor so far."""
    return sum(_schedstat("/proc/thread-self"))


def idle(pid: int, seconds: float, cpu: float, spent: float) -> float:
    """Of so many seconds those in which neither a kernel nor this thread computed, or waited for a processor.

    cpu, spent: CPU-seconds of the kernel, and `spent_here()`, when they began. 0.0 where the system does not tell.
    """
    waits = [wait for process in tree(pid) for wait in _waits(process)]
    busy = cpu_of(pid) - cpu + max(waits, default=math.inf) + spent_here() - spent
    return max(0.0, seconds - busy)


def _waits(pid: int) -> list[float]:
    """How many seconds each thread of a process has waited."""
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += _schedstat(f"/proc/{pid}/task/{thread}")[1:]
    return found


def _schedstat(thread: str) -> list[float]:
    """[seconds that a thread computed, seconds that it waited for a processor]; [] where the system does not tell."""
    try:
        with open(f"{thread}/schedstat") as file:
            return [int(number) / 1e9 for number in file.read().split()[:2]]
    except (OSError, ValueError):
        return []
