"""A fork server as the trusted side sees it: how it is asked for kernels, whether it runs, how to end it."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

_WARM_WITHIN = 120.0
_PIDFD = hasattr(os, "pidfd_open")


class CannotStart(Exception):
    """The level does not work here; its text says why."""


class ForkServer:
    """A process from which kernels fork; workers that are forked from the process that made it share it."""

    def __init__(self, path: Path, spawn: Callable[[socket.socket, socket.socket], subprocess.Popen]) -> None:
        """path: of its socket, which is made. spawn: starts the process, with its listener and its leash."""
        self.path = path
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o600)
        # The server ends when this leash does. bubblewrap dies with its parent too, but not if that was killed in
        # the moment before bubblewrap asked for it.
        self.leash, held = socket.socketpair()
        self.process = spawn(listener, held)
        self.ended = os.pidfd_open(self.process.pid) if _PIDFD else -1
        self.closed = False
        listener.close()
        held.close()

    def connect(self) -> socket.socket:
        """A connection to it, once it is warm; CannotStart when it has ended."""
        deadline = time.monotonic() + _WARM_WITHIN
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self.path))
                return connection
            except ConnectionRefusedError:
                connection.close()
            if not self.healthy() or time.monotonic() > deadline:
                raise CannotStart("the fork server did not start.")
            time.sleep(0.01)

    def healthy(self) -> bool:
        """Whether it still runs."""
        if self.closed:
            return False
        if not _PIDFD:
            return self.process.poll() is None  # where workers are never forked
        return not select.select([self.ended], [], [], 0)[0]

    def end(self, owner: bool, patience: float = 0.0) -> None:
        """Let go of it; its owner ends it, and with it everything that has forked from it.

        patience: how long it may take to end its kernels itself; 0 where their end is that of their name space.
        """
        if owner and not self.closed:
            if patience and self._listens():
                self.leash.shutdown(socket.SHUT_RDWR)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(patience)
            # The group: bubblewrap that was killed while it set up leaves a child that waits for it without end.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.leash.close()
        if self.ended >= 0 and not self.closed:
            os.close(self.ended)
        self.closed = True

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(self.path)) == 0
