"""The levels that this process starts its kernels at: made when first needed, ended with the process."""

import os
import time
from multiprocessing.util import Finalize

from sdpa_helpers.sandbox import scratch
from sdpa_helpers.sandbox.elsewhere import Fresh
from sdpa_helpers.sandbox.levels import LEVELS, Level
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.ordinary import Ordinary
from sdpa_helpers.sandbox.running import Running
from sdpa_helpers.sandbox.visible_files import KernelPackage

OFF = "off"
"""No sandbox: a kernel is an ordinary process."""

_made: dict[tuple[str, KernelPackage], Level] = {}


def prepare(level: str, package: KernelPackage) -> None:
    """Begin to make a level ready, and return at once: a fork server warms up while the caller does other things."""
    if broken_down(level, package):
        _made.pop((level, package)).close()
    if (level, package) not in _made:
        scratch.sweep()
        made = _made[level, package] = _class_of(level)(package)
        Finalize(made, made.close, exitpriority=10)  # runs in a worker too, where atexit does not


def _class_of(level: str) -> type[Level]:
    if level == OFF:
        return Ordinary if hasattr(os, "fork") else Fresh
    return LEVELS[level]


def start_kernel(level: str, limits: Limits, package: KernelPackage) -> Running:
    """A kernel at a level ("off" for none) that sees `package`."""
    prepare(level, package)
    return _made[level, package].launch(limits)


def broken_down(level: str, package: KernelPackage, within: float = 0.0) -> bool:
    """Whether the level itself has ended, so that the end of its kernel says nothing about a submission.

    within: seconds to wait for that. A fork server's kernels end a moment before bubblewrap does.
    """
    made = _made.get((level, package))
    if made is None:
        return False
    deadline = time.monotonic() + within
    while made.healthy() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not made.healthy()


def end(level: str) -> None:
    """End a level now, whatever packages it was made for; the next kernel starts it anew."""
    for known in [key for key in _made if key[0] == level]:
        _made.pop(known).close()
