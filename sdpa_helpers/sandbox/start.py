"""The level that this process starts its kernels at: made when first needed, ended with the process."""

import time
from multiprocessing.util import Finalize

from sdpa_helpers.sandbox import scratch
from sdpa_helpers.sandbox.connection import Boxed, Plain, Running
from sdpa_helpers.sandbox.levels import LEVELS, Level
from sdpa_helpers.sandbox.limits import Limits

OFF = "off"
"""No sandbox: a kernel is an ordinary process."""

_made: dict[str, Level] = {}


def start_kernel(level: str, limits: Limits, modules: tuple[str, ...] = ()) -> Running:
    """A kernel at a level ("off" for none); a warm one has `modules` imported."""
    if level == OFF:
        return Plain(limits.memory_mb)
    if broken_down(level):
        end(level)
    if level not in _made:
        scratch.sweep()
        made = _made[level] = LEVELS[level]()
        Finalize(made, made.close, exitpriority=10)  # runs in a worker too, where atexit does not
    box = _made[level].launch(limits, modules)
    try:
        return Boxed(box)
    except Exception:
        box.close()
        raise


def broken_down(level: str, within: float = 0.0) -> bool:
    """Whether the level itself has ended, so that the end of its kernel says nothing about a submission.

    within: seconds to wait for that. A fork server's kernels end a moment before bubblewrap does.
    """
    deadline = time.monotonic() + within
    while level in _made and _made[level].healthy() and time.monotonic() < deadline:
        time.sleep(0.01)
    return level in _made and not _made[level].healthy()


def end(level: str) -> None:
    """End a level now; the next kernel starts it anew."""
    if level in _made:
        _made.pop(level).close()
