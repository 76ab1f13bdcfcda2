"""Processes that keep processors busy beside a measurement, as a browser or another program does.

They end with the `with` block, and also when this process dies in any other way: each reads from a pipe that only this
process holds open, and ends when that closes.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORK = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    pass
"""


@contextmanager
def busy(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes, each of which takes all of a processor that it gets."""
    with ExitStack() as stack:
        started = []
        for _ in range(processes):
            worker = subprocess.Popen([sys.executable, "-c", WORK], stdin=subprocess.PIPE)
            stack.enter_context(worker)  # at the end: closes the pipe, and waits
            stack.callback(worker.kill)
            started.append(worker)
        yield started
