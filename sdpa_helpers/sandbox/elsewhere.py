"""Kernels without a sandbox on systems other than Linux: watched by psutil, for there is no /proc and no pidfd.

Nobody has tried this on Windows or macOS; on Linux the tests have.
"""

import base64
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from sdpa_helpers.sandbox import scratch, visible_files
from sdpa_helpers.sandbox.levels import BOX_MB, IMPORTS_MB, INSIDE, Level, request
from sdpa_helpers.sandbox.limits import Limits

_LOOK_AGAIN_AFTER = 0.1


class WatchedProcess:
    """A kernel that is an ordinary process."""

    why = ""

    def __init__(self, pid: int, channel: socket.socket, folder: Path, hang_up: Callable[[], None]) -> None:
        self.pid, self.process, self.channel = pid, psutil.Process(pid), channel
        self.folder, self.hang_up = folder, hang_up
        self.seen = (0.0, 0.0)

    @property
    def cpu(self) -> float:
        """CPU-seconds of the process and of its children that have ended, as of a moment ago."""
        when, used = self.seen
        if time.monotonic() - when > _LOOK_AGAIN_AFTER:
            with contextlib.suppress(psutil.Error):
                used = sum(self.process.cpu_times()[:4])
            self.seen = (time.monotonic(), used)
        return used

    def forget_peak(self) -> None:
        """Nothing: these systems forget no peak."""

    def held(self) -> int:
        """Unknown."""
        return 0

    used = held

    def is_alive(self) -> bool:
        """Whether it runs."""
        try:
            return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def close(self) -> None:
        """End it with all its descendants, and remove its folder."""
        with contextlib.suppress(psutil.Error):
            for process in (*self.process.children(recursive=True), self.process):
                with contextlib.suppress(psutil.Error):
                    process.kill()
        self.channel.close()
        self.hang_up()
        scratch.remove(self.folder)


class Fresh(Level):
    """Each kernel is an interpreter of its own: for systems whose processes cannot fork.

    All that is installed can be imported here, as far as the kernel's package does not stand in its way.
    """

    name = "off"

    def launch(self, limits: Limits) -> WatchedProcess:
        """Start a kernel, which imports for itself."""
        folder = scratch.make("plain")
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(
            [sys.executable, "-s", "-m", f"{INSIDE}.fresh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=plain_environment(self.staged, folder),
            cwd=folder,
            pass_fds=() if sys.platform == "win32" else (theirs.fileno(),),
        )
        assert process.stdin is not None
        named = _for(process.pid, theirs)
        with contextlib.suppress(OSError):  # a kernel that has ended shows at once
            process.stdin.write(named + b"\n")
            process.stdin.flush()
            changed = {"NPROC": None, "AS": limits.memory_mb + IMPORTS_MB, "FSIZE": BOX_MB}
            ours.sendall(request(limits, changed=changed))
        theirs.close()

        def hang_up() -> None:
            process.communicate()

        return WatchedProcess(process.pid, ours, folder, hang_up)


def _for(pid: int, connection: socket.socket) -> bytes:
    """A line that names a socket to another process; see `inside.fresh`."""
    if sys.platform == "win32":
        return base64.b64encode(connection.share(pid))
    return b"%d" % connection.fileno()


def plain_environment(staged: Path, home: Path) -> dict[str, str]:
    """The environment of a kernel without a sandbox: nothing of the grader's but where programs lie."""
    kept = {k: os.environ[k] for k in ("PATH", "SYSTEMROOT", "LC_ALL") if k in os.environ}
    return {**visible_files.environment(str(staged), str(home)), "TMPDIR": str(home), **kept}
