"""The levels of confinement, each a way to start a kernel; `Warm` is the best, `Landlocked` the last."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sdpa_helpers.sandbox import scratch, seccomp, visible_files
from sdpa_helpers.sandbox.fork_servers import CannotStart, ForkServer
from sdpa_helpers.sandbox.inside.messages import framed
from sdpa_helpers.sandbox.kernel_process import Box
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.running import Running
from sdpa_helpers.sandbox.visible_files import KernelPackage

INSIDE = "sdpa_helpers.sandbox.inside"
SPARE_MB = 512  # a single process meets its own limit, a MemoryError, before the watchdog ends everything
IMPORTS_MB = 1536  # address space that a cold kernel needs for what a warm one has imported already
MAX_FILES = 64
"""Descriptors of one process: each may be a socket, whose buffer no limit on memory counts."""
BOX_MB = 64
"""What a kernel may write to its own folder, and again to /dev/shm: in memory, gone with it."""


class Level:
    """A way to start kernels that see one package. One object per process; `close` removes what it has made."""

    name = ""

    def __init__(self, package: KernelPackage) -> None:
        self.package = package
        self.folder = scratch.make("sandbox")
        self.folder.chmod(0o711)
        self.owner = os.getpid()
        try:
            self.begin()
        except Exception:  # no room, for one: what goes on without this level makes use of it
            scratch.remove(self.folder)
            raise

    def begin(self) -> None:
        """Make what all kernels of the level need."""
        self.staged = visible_files.stage(self.package, self.folder / "package")

    def launch(self, limits: Limits) -> Running:
        """Start a kernel."""
        raise NotImplementedError

    def healthy(self) -> bool:
        """False when the level itself has broken down, so that a kernel's end says nothing about it."""
        return True

    def close(self) -> None:
        """Remove the level's own files and processes."""
        if os.getpid() == self.owner:
            scratch.remove(self.folder)


def request(limits: Limits, **more: Any) -> bytes:
    """What `inside.confine` reads; `changed`: entries of its limits that this level
    has otherwise, None for one that it has not."""
    resources = {
        "AS": limits.memory_mb,
        "CPU": int(limits.seconds) + 5,
        "NPROC": 64,
        "FSIZE": BOX_MB,
        "NOFILE": MAX_FILES,
        "SIGPENDING": 64,  # timers count as well: 96,000 of them were 37 MB of the system's memory
    }
    resources |= more.pop("changed", {})
    resources = {name: value for name, value in resources.items() if value is not None}
    filters = {name: base64.b64encode(more.pop(name, b"")).decode() for name in ("filter", "late_filter")}
    wall = limits.wall_seconds + 60  # only should the trusted side fail to end it
    fixed = {"subprocesses": limits.subprocesses, "wall": wall, "box_mb": BOX_MB}
    return framed(json.dumps({"limits": resources, **fixed, **filters, **more}).encode())


def send_request(asking: socket.socket, request: bytes) -> socket.socket:
    """Send a request along with one end of a new pair of sockets; returns the other end, the kernel's channel."""
    ours, theirs = socket.socketpair()
    try:
        sent = socket.send_fds(asking, [request], [theirs.fileno()])
        asking.sendall(request[sent:])
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours


def _cold(limits: Limits) -> dict[str, int]:
    return {"AS": limits.memory_mb + IMPORTS_MB}


def _reported_pid(leash: socket.socket) -> int:
    """The pid of the process that reports; the system translates it into our name space."""
    text, ancillary, _, _ = leash.recvmsg(1 << 16, socket.CMSG_SPACE(12))
    if not text or text.startswith(b"error") or not ancillary:
        raise CannotStart(text.decode(errors="replace")[:300] or "the sandbox ended before its kernel began")
    return struct.unpack("3i", ancillary[0][2])[0]


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    return _credited(ours), theirs


def _credited(ours: socket.socket) -> socket.socket:
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    ours.settimeout(30.0)
    return ours


def spawn(
    command: list[str],
    errors: Any,
    *keep: int,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen:
    """Start a program in a session of its own; what it says of its troubles goes to the file `errors`."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=environment or {"PATH": "/usr/bin:/bin"},
        cwd="/",
        pass_fds=keep,
        start_new_session=True,
    )


def complaint(errors: Any) -> str:
    """The end of what programs have said of their troubles."""
    errors.seek(0)
    return errors.read().decode(errors="replace").strip()[-300:]


PYTHON = (visible_files.INTERPRETER, "-S", "-m")
"""Starts a module of what runs inside; -S: no folder of packages is there but the one that it is given."""


def _in_memory(content: bytes) -> int:
    """A descriptor that `content` can be read from."""
    descriptor = os.memfd_create("sdpa")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class _Bubblewrapped(Level):
    """What the two levels with bubblewrap have in common."""

    def begin(self) -> None:
        """Find bubblewrap; it copies what kernels import."""
        self.program = shutil.which("bwrap") or ""
        if not self.program:
            raise CannotStart("bubblewrap is not installed")
        self.errors = (self.folder / "errors.txt").open("w+b")

    def run(self, *arguments: str, keep: Iterable[socket.socket]) -> subprocess.Popen:
        """Run `python -m …inside.<arguments>` in a view of its own, with the sockets that it keeps."""
        copied = {_in_memory(content): name for name, content in visible_files.contents(self.package).items()}
        try:
            return spawn(self._command(copied, arguments), self.errors, *(k.fileno() for k in keep), *copied)
        finally:
            for descriptor in copied:
                os.close(descriptor)

    def _command(self, copied: dict[int, str], arguments: tuple[str, ...]) -> list[str]:
        """The whole command line; `copied`: descriptor → name of what is in the package."""
        outer, reachable, uid = [], dict[str, str](), visible_files.sandbox_uid()
        if uid:
            closed = [
                path for path in visible_files.seen(self.package) if not visible_files.is_of_system(path)
            ]
            folders = dict.fromkeys(map(os.path.dirname, closed))
            reachable = {folder: f"/tmp/{number}" for number, folder in enumerate(folders)}
            program = str(Path(__file__).with_name("as_user.py"))
            outer = [sys.executable, "-I", "-S", program, str(uid), *folders, "--"]

        def source_of(path: str) -> str:
            folder, name = os.path.split(path)
            return f"{reachable[folder]}/{name}" if folder in reachable else path

        view = visible_files.bubblewrap(self.program, source_of, self.package, copied, BOX_MB)
        return [*outer, *view, "--as-pid-1", "--", *PYTHON, *arguments]

    def started(self, asking: socket.socket, request: bytes, after: Any = lambda: None) -> Box:
        """The box that is asked for through a connection."""
        channel = None
        try:
            channel = send_request(asking, request)
            pid = _reported_pid(asking)
        except (OSError, CannotStart) as error:
            if channel is not None:
                channel.close()
            asking.close()
            after()
            raise CannotStart(f"{error} {complaint(self.errors)}".strip()) from error
        return Box(pid, channel, asking, after)

    def close(self) -> None:
        """Close the file of complaints too."""
        self.errors.close()
        super().close()


class Warm(_Bubblewrapped):
    """Kernels fork from an interpreter that has imported everything, each into namespaces of its own.

    Workers that are forked from the process that made the level share its fork server.
    """

    name = "warm"

    def begin(self) -> None:
        """Start the fork server."""
        super().begin()
        self.server = ForkServer(self.folder / "server", self._spawn)

    def _spawn(self, listener: socket.socket, leash: socket.socket) -> subprocess.Popen:
        numbers = (str(listener.fileno()), str(leash.fileno()))
        return self.run(f"{INSIDE}.fork_server", *numbers, self.package.warm_up, keep=(listener, leash))

    def launch(self, limits: Limits) -> Box:
        """Fork a kernel."""
        try:
            asking = _credited(self.server.connect())
        except CannotStart as error:
            raise CannotStart(f"{error} {complaint(self.errors)}") from error
        program = seccomp.for_namespaces(limits.subprocesses)
        box = self.started(asking, request(limits, filter=program))
        box.watch((limits.memory_mb + SPARE_MB) << 20)
        return box

    def healthy(self) -> bool:
        """Whether the fork server still runs."""
        return self.server.healthy()

    def close(self) -> None:
        """End the fork server, and with it everything that has forked from it."""
        self.server.end(owner=os.getpid() == self.owner)
        super().close()


class Cold(_Bubblewrapped):
    """One bubblewrap and one fresh interpreter for each kernel."""

    name = "bubblewrap"

    def launch(self, limits: Limits) -> Box:
        """Start a kernel, which imports for itself."""
        ours, theirs = _pair()
        process = self.run(f"{INSIDE}.alone", str(theirs.fileno()), keep=(theirs,))
        theirs.close()
        asked = request(limits, filter=seccomp.for_namespaces(limits.subprocesses), changed=_cold(limits))
        box = self.started(ours, asked, after=lambda: _end(process))
        box.watch((limits.memory_mb + SPARE_MB) << 20)
        return box


class Landlocked(Level):
    """A single process that Landlock and a filter of system calls keep to its own folder."""

    name = "landlock"

    def begin(self) -> None:
        """Find out what may be read; the same for all kernels."""
        super().begin()
        seen, covered = visible_files.seen(self.package), visible_files.covered()
        self.readable = [entry for path in seen for entry in visible_files.apart_from(path, covered)]
        self.reachable = _reachable(seen)

    def launch(self, limits: Limits) -> Box:
        """Start a kernel, which imports for itself."""
        folder = scratch.make("box")
        box_folder = folder / "box"
        (box_folder / "tmp").mkdir(parents=True)
        uid = visible_files.sandbox_uid() if self.reachable else 0
        folder.chmod(0o711)
        if uid:
            for path in (box_folder, box_folder / "tmp"):
                os.chown(path, uid, uid)
        leash, theirs = _pair()
        command = [*PYTHON, f"{INSIDE}.fenced", str(theirs.fileno())]
        environment = visible_files.environment(str(self.staged), str(box_folder))
        with (folder / "errors.txt").open("w+b") as errors:
            process = spawn(command, errors, theirs.fileno(), environment=environment)
            theirs.close()
            try:
                channel = send_request(leash, self._request(limits, box_folder, uid))
                pid = _reported_pid(leash)
            except (OSError, CannotStart) as error:
                said = complaint(errors)
                _end(process)
                scratch.remove(folder)
                raise CannotStart(f"{error} {said}") from error
        box = Box(pid, channel, leash, lambda: _end(process), folder)
        box.watch((limits.memory_mb + SPARE_MB) << 20, BOX_MB << 20)
        return box

    def _request(self, limits: Limits, box: Path, uid: int) -> bytes:
        return request(
            limits,
            filter=seccomp.for_landlock(),
            late_filter=seccomp.after_start(),
            changed={**_cold(limits), "FSIZE": 8},
            uid=uid,
            readable=[*self.readable, str(self.staged)],
            listed=visible_files.standard_library(),
            box=str(box),
            parent_is_init=os.getpid() == 1,
        )


def _reachable(paths: list[str]) -> bool:
    """Whether a user without any rights can read these."""
    folders = {
        folder for path in paths for folder in (path, *map(str, Path(path).parents)) if os.path.isdir(folder)
    }
    return all(os.stat(folder).st_mode & 0o005 == 0o005 for folder in folders)


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


LEVELS: dict[str, type[Level]] = {"warm": Warm, "bubblewrap": Cold, "landlock": Landlocked}
"""Best first."""
