"""No sandbox: kernels fork from a warm process of this account, with limits, and end with all that they started."""

import contextlib
import os
import socket
import subprocess
import sys

from sdpa_helpers.sandbox import scratch
from sdpa_helpers.sandbox.elsewhere import WatchedProcess, plain_environment
from sdpa_helpers.sandbox.fork_servers import CannotStart, ForkServer
from sdpa_helpers.sandbox.kernel_process import Box
from sdpa_helpers.sandbox.levels import (
    INSIDE,
    PYTHON,
    SPARE_MB,
    Level,
    complaint,
    request,
    send_request,
    spawn,
)
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.running import Running

LINUX = sys.platform.startswith("linux")
_END_WITHIN = 10.0
MAX_DISK = 1 << 30
"""Bytes that a kernel's own folder may hold: this is no wall, but a loop that writes comes to an end."""

_LIMITS = {"NPROC": None}  # it counts all processes of the account


class Ordinary(Level):
    """Kernels are ordinary processes: for notebooks that one would run oneself.

    They find no more to import than at the other levels, but what lies elsewhere can be read, and so imported.
    """

    name = "off"

    def begin(self) -> None:
        """Start the fork server."""
        super().begin()
        (self.folder / "home").mkdir()
        self.errors = (self.folder / "errors.txt").open("w+b")
        self.server = ForkServer(self.folder / "server", self._spawn)

    def _spawn(self, listener: socket.socket, leash: socket.socket) -> subprocess.Popen:
        numbers = (str(listener.fileno()), str(leash.fileno()))
        command = [*PYTHON, f"{INSIDE}.ordinary", *numbers, self.package.warm_up]
        environment = plain_environment(self.staged, self.folder / "home")
        return spawn(command, self.errors, *map(int, numbers), environment=environment)

    def launch(self, limits: Limits) -> Running:
        """Fork a kernel."""
        folder = scratch.make("plain")
        leash = channel = None
        try:
            leash = self.server.connect()
            leash.settimeout(30.0)
            asked = request(limits, box=str(folder), changed=_LIMITS)
            channel = send_request(leash, asked)
            pid = int(leash.recv(32))
        except (OSError, ValueError, CannotStart) as error:
            for connection in (leash, channel):
                if connection is not None:
                    connection.close()
            scratch.remove(folder)
            raise CannotStart(f"{error} {complaint(self.errors)}".strip()) from error
        if not LINUX:
            return WatchedProcess(pid, channel, folder, lambda: _hang_up(leash))
        box = Box(pid, channel, leash, lambda: _wait_for_the_end(leash), folder)
        box.watch((limits.memory_mb + SPARE_MB) << 20, MAX_DISK)
        return box

    def healthy(self) -> bool:
        """Whether the fork server still runs."""
        return self.server.healthy()

    def close(self) -> None:
        """End the fork server, and with it its kernels."""
        self.server.end(owner=os.getpid() == self.owner, patience=_END_WITHIN)
        self.errors.close()
        super().close()


def _wait_for_the_end(leash: socket.socket) -> None:
    """The fork server hangs up when the kernel has ended with all that it started."""
    with contextlib.suppress(OSError):
        leash.settimeout(_END_WITHIN)
        while leash.recv(64):
            pass


def _hang_up(leash: socket.socket) -> None:
    """Let the fork server end the kernel with all that it started, and wait for it."""
    with contextlib.suppress(OSError):
        leash.shutdown(socket.SHUT_WR)
    _wait_for_the_end(leash)
    leash.close()
