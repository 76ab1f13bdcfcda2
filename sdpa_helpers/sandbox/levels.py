"""The levels of confinement, each a way to start a kernel; `Warm` is the best, `Landlocked` the last."""

import base64
import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sdpa_helpers.sandbox import scratch, seccomp, visible_files
from sdpa_helpers.sandbox.kernel_process import Box, wait_for_socket
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import KernelPackage

_INSIDE = "sdpa_helpers.sandbox.inside"
_SPARE_MB = 512  # a single process meets its own limit, a MemoryError, before the watchdog ends everything
_IMPORTS_MB = 1536  # address space that a cold kernel needs for what a warm one has imported already
BOX_MB = 64
"""What a kernel may write to its own folder, and again to /dev/shm: in memory, gone with it."""


class CannotStart(Exception):
    """The level does not work here; its text says why."""


class Level:
    """A way to start kernels that see one package. One object per process; `close` removes what it has made."""

    name = ""

    def __init__(self, package: KernelPackage) -> None:
        self.package = package
        self.folder = scratch.make("sandbox")
        self.folder.chmod(0o711)
        self.staged = visible_files.stage(package, self.folder / "package")
        self.owner = os.getpid()

    def launch(self, limits: Limits, modules: tuple[str, ...] = (), /) -> Box:
        """Start a kernel. modules: what it will import; a level that can have done so beforehand does."""
        raise NotImplementedError

    def healthy(self) -> bool:
        """False when the level itself has broken down, so that a kernel's end says nothing about it."""
        return True

    def close(self) -> None:
        """Remove the level's own files and processes."""
        if os.getpid() == self.owner:
            scratch.remove(self.folder)


def _request(limits: Limits, key: str, ip: str, program: bytes, **more: Any) -> bytes:
    """What `inside.confine` reads; `changed`: entries of its limits that this level has otherwise."""
    resources = {
        "AS": limits.memory_mb,
        "CPU": int(limits.seconds) + 5,
        "NPROC": 64,
        "FSIZE": BOX_MB,
        "NOFILE": 256,
    }
    resources |= more.pop("changed", {})
    coded = {n: base64.b64encode(more.pop(n)).decode() for n in ("late_filter",) if n in more}
    wall = limits.wall_seconds + 60  # only should the trusted side fail to end it
    fixed = {"key": key, "ip": ip, "limits": resources, "wall": wall, "box_mb": BOX_MB}
    return json.dumps({**fixed, "filter": base64.b64encode(program).decode(), **coded, **more}).encode()


def _cold(limits: Limits) -> dict[str, int]:
    return {"AS": limits.memory_mb + _IMPORTS_MB}


def _report(connection: socket.socket) -> tuple[str, int]:
    """(role, pid) of the next process that reports; the system translates its pid into our name space."""
    text, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(12))
    if not text or text.startswith(b"error") or not ancillary:
        raise CannotStart(text.decode(errors="replace")[:300] or "the sandbox ended before its kernel began")
    return text.decode(), struct.unpack("3i", ancillary[0][2])[0]


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return _credited(ours), theirs


def _credited(ours: socket.socket) -> socket.socket:
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    ours.settimeout(30.0)
    return ours


def _spawn(command: list[str], errors: Any, *keep: socket.socket) -> subprocess.Popen:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        pass_fds=[s.fileno() for s in keep],
        start_new_session=True,
    )


class _Bubblewrapped(Level):
    """What the two levels with bubblewrap have in common."""

    def __init__(self, package: KernelPackage) -> None:
        program = shutil.which("bwrap")
        if program is None:
            raise CannotStart("bubblewrap is not installed")
        super().__init__(package)
        self.program = program
        self.errors = (self.folder / "errors.txt").open("w+b")

    def command(self, *arguments: str) -> list[str]:
        """The whole command line that runs `python -m …inside.<arguments>` in a view of its own."""
        shown, uid = visible_files.sources(self.staged, self.package), visible_files.sandbox_uid()
        hidden = visible_files.hidden_paths(self.package)
        python = [sys.executable, "-s", "-m", *arguments]
        if uid == 0:
            return [
                *visible_files.bubblewrap(self.program, shown, hidden, BOX_MB),
                "--as-pid-1",
                "--",
                *python,
            ]
        outer = Path(__file__).with_name("as_user.py")
        places = [(f"/tmp/{n}", place) for n, (_, place) in enumerate(shown)]
        inner = [*visible_files.bubblewrap(self.program, places, hidden, BOX_MB), "--as-pid-1", "--", *python]
        lying = [source for source, _ in shown]
        return [sys.executable, "-I", "-S", str(outer), str(uid), *lying, "--", *inner]

    def complaint(self) -> str:
        """The end of what the programs said."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-300:]

    def started(self, connection: socket.socket, key: str, after: Any = lambda: None) -> Box:
        """The box whose two processes report on the connection."""
        try:
            pids = dict(_report(connection) for _ in range(2))
        except (OSError, CannotStart) as error:
            connection.close()
            after()
            raise CannotStart(f"{error} {self.complaint()}".strip()) from error
        address = f"/proc/{pids['kernel']}/root/run/k"
        return Box(address, key, pids["init"], connection, after)

    def close(self) -> None:
        """Close the file of complaints too."""
        self.errors.close()
        super().close()


class Warm(_Bubblewrapped):
    """Kernels fork from an interpreter that has imported everything, each into namespaces of its own.

    Workers that are forked from the process that made the level share its fork server.
    """

    name = "warm"

    def __init__(self, package: KernelPackage) -> None:
        super().__init__(package)
        self.path = self.folder / "server"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(self.path))
        self.path.chmod(0o600)
        # The server ends when this leash does. bubblewrap dies with its parent too, but not if that was killed in
        # the moment before bubblewrap asked for it.
        self.leash, held = socket.socketpair()
        sockets = (str(listener.fileno()), str(held.fileno()))
        command = self.command(f"{_INSIDE}.fork_server", *sockets, package.warm_up)
        self.server = _spawn(command, self.errors, listener, held)
        self.ended = os.pidfd_open(self.server.pid)
        listener.close()
        held.close()

    def launch(self, limits: Limits, modules: tuple[str, ...] = (), /) -> Box:
        """Fork a kernel; the fork server imports first what it does not have yet."""
        connection = self._connect()
        key = secrets.token_hex(32)
        try:
            connection.send(" ".join(modules).encode() or b" ")
            connection.send(_request(limits, key, "/run/k", seccomp.for_namespaces()))
        except OSError as error:
            connection.close()
            raise CannotStart(f"the fork server has ended. {self.complaint()}") from error
        box = self.started(connection, key)
        wait_for_socket(box, f"{box.address}-0", 20.0)
        box.watch((limits.memory_mb + _SPARE_MB) << 20, 0)
        return box

    def healthy(self) -> bool:
        """Whether the fork server still runs."""
        return self.ended >= 0 and not select.select([self.ended], [], [], 0)[0]

    def _connect(self) -> socket.socket:
        """A connection to the fork server, which listens once it is warm."""
        deadline = time.monotonic() + 120
        while True:
            connection = _credited(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            try:
                connection.connect(str(self.path))
                return connection
            except ConnectionRefusedError:
                connection.close()
            if not self.healthy() or time.monotonic() > deadline:
                raise CannotStart(f"the fork server did not start. {self.complaint()}")
            time.sleep(0.01)

    def close(self) -> None:
        """End the fork server, and with it everything that has forked from it."""
        if os.getpid() == self.owner:
            # The group: bubblewrap that was killed while it set up leaves a child that waits for it without end.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
        self.leash.close()
        if self.ended >= 0:
            os.close(self.ended)
            self.ended = -1
        super().close()


class Cold(_Bubblewrapped):
    """One bubblewrap and one fresh interpreter for each kernel."""

    name = "bubblewrap"

    def launch(self, limits: Limits, _modules: tuple[str, ...] = (), /) -> Box:
        """Start a kernel, which imports for itself."""
        ours, theirs = _pair()
        key = secrets.token_hex(32)
        process = _spawn(self.command(f"{_INSIDE}.alone", str(theirs.fileno())), self.errors, theirs)
        theirs.close()
        with contextlib.suppress(OSError):
            ours.send(_request(limits, key, "/run/k", seccomp.for_namespaces(), changed=_cold(limits)))
        box = self.started(ours, key, after=lambda: _end(process))
        wait_for_socket(box, f"{box.address}-0", 30.0)
        box.watch((limits.memory_mb + _SPARE_MB) << 20, 0)
        return box


class Landlocked(Level):
    """A single process that Landlock and a filter of system calls keep to its own folder."""

    name = "landlock"

    def launch(self, limits: Limits, _modules: tuple[str, ...] = (), /) -> Box:
        """Start a kernel, which imports for itself."""
        folder = scratch.make("box")
        box_folder, sockets = folder / "box", folder / "s"
        (box_folder / "tmp").mkdir(parents=True)
        sockets.mkdir()
        uid = visible_files.sandbox_uid() if self._reachable() else 0
        folder.chmod(0o711)
        if uid:
            for path in (box_folder, box_folder / "tmp", sockets):
                os.chown(path, uid, uid)
        ours, theirs = _pair()
        key = secrets.token_hex(32)
        command = [sys.executable, "-s", "-m", f"{_INSIDE}.fenced", str(theirs.fileno())]
        with (folder / "errors.txt").open("w+b") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=visible_files.environment(str(self.staged), str(box_folder)),
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            theirs.close()
            ours.send(self._request(limits, key, box_folder, sockets, uid))
            try:
                _, pid = _report(ours)
            except (OSError, CannotStart) as error:
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip()[-300:]
                _end(process)
                scratch.remove(folder)
                raise CannotStart(f"{error} {said}") from error
        box = Box(f"{sockets}/k", key, pid, ours, lambda: _end(process), folder)
        wait_for_socket(box, f"{box.address}-0", 30.0)
        box.watch((limits.memory_mb + _SPARE_MB) << 20, BOX_MB << 20)
        return box

    def _request(self, limits: Limits, key: str, box: Path, sockets: Path, uid: int) -> bytes:
        readable = [
            *visible_files.python_paths(),
            str(self.staged),
            "/usr",
            "/lib",
            "/lib64",
            "/etc/ld.so.cache",
        ]
        hidden = [
            h
            for h in visible_files.hidden_paths(self.package)
            if any(visible_files.lies_in(h, r) for r in readable)
        ]
        if hidden:
            raise CannotStart(f"Landlock cannot hide {hidden[0]}, which lies among the installed packages")
        return _request(
            limits,
            key,
            f"{sockets}/k",
            seccomp.for_landlock(),
            late_filter=seccomp.after_start(),
            changed={**_cold(limits), "FSIZE": 8, "NOFILE": 128},
            uid=uid,
            readable=readable,
            box=str(box),
            sockets=str(sockets),
            parent_is_init=os.getpid() == 1,
        )

    @staticmethod
    def _reachable() -> bool:
        """Whether a user without any rights can read the interpreter and the packages."""
        for start in visible_files.python_paths():
            for path in (Path(start), *Path(start).parents):
                if path.stat().st_mode & 0o005 != 0o005 and path.is_dir():
                    return False
        return True


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


LEVELS: dict[str, type[Level]] = {"warm": Warm, "bubblewrap": Cold, "landlock": Landlocked}
"""Best first."""
