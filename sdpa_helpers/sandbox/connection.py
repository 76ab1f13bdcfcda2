"""The trusted side's connection to a kernel in a box, and the kernel without a box."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import nbval.kernel
import psutil
import zmq

from sdpa_helpers.sandbox import scratch, visible_files
from sdpa_helpers.sandbox.kernel_process import Box
from sdpa_helpers.sandbox.visible_files import KernelPackage

MAX_MESSAGE = 16 << 20


class Running(Protocol):
    """A kernel that runs."""

    key: bytes
    """What its messages are signed with."""

    @property
    def shell(self) -> zmq.Socket:
        """Where requests go, and replies come from."""
        ...

    @property
    def iopub(self) -> zmq.Socket:
        """Where outputs come from."""
        ...

    @property
    def why(self) -> str:
        """Which limit has ended it: "memory", "disk", or "" for none."""
        ...

    @property
    def cpu(self) -> float:
        """CPU-seconds of all its processes."""
        ...

    def is_alive(self) -> bool:
        """Whether it runs."""
        ...

    def close(self) -> None:
        """End it and remove what it had."""
        ...


class Boxed:
    """A kernel in a sandbox, with the sockets to it."""

    def __init__(self, box: Box) -> None:
        self.box, self.key = box, box.key.encode()
        self.context = zmq.Context(io_threads=1)
        # A message beyond the limit ends the connection, which is never made again: what could be listening
        # there by then? Few messages wait unread; they are counted as they are read.
        for option, value in (
            (zmq.MAXMSGSIZE, MAX_MESSAGE),
            (zmq.RCVHWM, 1000),
            (zmq.RECONNECT_IVL, -1),
            (zmq.LINGER, 0),
        ):
            self.context.setsockopt(option, value)
        self.iopub, self.shell = self.context.socket(zmq.SUB), self.context.socket(zmq.DEALER)
        self.iopub.subscribe(b"")
        self.iopub.connect(f"ipc://{box.address}-2")
        self.shell.connect(f"ipc://{box.address}-1")

    @property
    def cpu(self) -> float:
        """CPU-seconds of all its processes."""
        return self.box.cpu

    @property
    def why(self) -> str:
        """Which limit has ended it."""
        return self.box.why

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.box.is_alive()

    def close(self) -> None:
        """End it and remove what it had."""
        self.box.kill()
        self.context.destroy(linger=0)
        self.box.close()


class Plain:
    """A kernel as an ordinary process of this account, with a limit on its memory and a short environment."""

    why = ""

    def __init__(self, memory_mb: int, package: KernelPackage) -> None:
        self.folder = scratch.make("plain")
        box = self.folder / "box"
        box.mkdir()
        staged = visible_files.write_files(package, self.folder / "package")
        self.manager, self.client = nbval.kernel.start_new_kernel(
            kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME,
            cwd=str(box),
            env=_plain_environment(staged, box),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **_limits_at_start(memory_mb),
        )
        self.key = self.client.session.key
        self.iopub, self.shell = self.client.iopub_channel.socket, self.client.shell_channel.socket
        self.process = psutil.Process(self.manager.provisioner.pid)  # type: ignore[union-attr]
        _limit_running(self.process.pid, memory_mb)

    @property
    def cpu(self) -> float:
        """CPU-seconds of the process."""
        try:
            return sum(self.process.cpu_times()[:4])
        except psutil.Error:
            return 0.0

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.manager.is_alive()

    def close(self) -> None:
        """End it and its process group, remove its folder."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        scratch.remove(self.folder)


def _plain_environment(staged: Path, box: Path) -> dict[str, str]:
    kept = {k: os.environ[k] for k in ("PATH", "SYSTEMROOT", "VIRTUAL_ENV", "LC_ALL") if k in os.environ}
    return {**visible_files.environment(str(staged), str(box)), "TMPDIR": str(box), **kept}


def _process_limits(memory_mb: int) -> dict[str, tuple[int, int]]:
    memory, file = memory_mb << 20, 64 << 20
    return {"RLIMIT_AS": (memory, memory), "RLIMIT_CORE": (0, 0), "RLIMIT_FSIZE": (file, file)}


def _limit_running(pid: int, memory_mb: int) -> None:
    """On Linux a running kernel gets its limits; nothing of the submission has run in it yet."""
    if sys.platform.startswith("linux"):
        import resource

        for name, values in _process_limits(memory_mb).items():
            resource.prlimit(pid, getattr(resource, name), values)


def _limits_at_start(memory_mb: int) -> dict[str, Any]:
    """On macOS limits can be set at the start alone; Windows has no such call."""
    if sys.platform.startswith("linux") or sys.platform == "win32":
        return {}
    import resource

    def apply() -> None:
        for name, values in _process_limits(memory_mb).items():
            resource.setrlimit(getattr(resource, name), values)

    return {"preexec_fn": apply}
