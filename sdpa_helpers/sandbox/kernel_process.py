"""A running kernel as the trusted side sees it: its connection, what it uses, how to end it. Linux only."""

import contextlib
import errno
import math
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.sandbox import scratch

_LINUX = sys.platform.startswith("linux")  # elsewhere this is imported, and not used
_TICKS = os.sysconf("SC_CLK_TCK") if _LINUX else 100


@dataclass
class Usage:
    """What a tree of processes uses."""

    memory: int
    """Bytes; shared pages count once."""
    cpu: float
    """CPU-seconds so far."""


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    found, todo = [], [pid]
    while todo:
        process = todo.pop()
        found.append(process)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                todo += map(int, _read(f"/proc/{process}/task/{thread}/children").split())
    return found


def usage(pid: int, enough: int) -> Usage:
    """What the tree uses; shared pages are told apart only where the simple sum exceeds `enough`."""
    processes = tree(pid)
    memory = sum(map(_resident, processes))
    if memory > enough:
        memory = sum(map(_proportional, processes))
    return Usage(memory, sum(map(_cpu, processes)))


def cpu_of(pid: int) -> float:
    """CPU-seconds of the tree so far."""
    return sum(map(_cpu, tree(pid)))


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


_OF_A_THREAD = 24 << 10
"""Bytes that the system needs for a thread: its stack there, and what is known of it."""


def _resident(pid: int) -> int:
    """What lies in memory for a process, page tables and the system's part of its threads included."""
    status = _read(f"/proc/{pid}/status")
    return (_number(status, "VmRSS") << 10) + _of_the_system(status)


def _proportional(pid: int) -> int:
    """The same with shared pages divided among those who share them."""
    status = _read(f"/proc/{pid}/status")
    share = _number(_read(f"/proc/{pid}/smaps_rollup"), "Pss") or _number(status, "VmRSS")
    return (share << 10) + _of_the_system(status)


def _of_the_system(status: str) -> int:
    return (_number(status, "VmPTE") << 10) + _number(status, "Threads") * _OF_A_THREAD


def _number(text: str, name: str) -> int:
    """The number behind a name in a file of /proc; 0 when it is not there."""
    found = text.partition(f"\n{name}:")[2].split(maxsplit=1)
    return int(found[0]) if found else 0


def _cpu(pid: int) -> float:
    """The CPU-seconds of a process and of its children that have ended."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


class Memory(NamedTuple):
    """What one process holds, in bytes; all 0 where that cannot be read."""

    now: int
    peak: int
    """The most it has held, since that was forgotten or it began."""


def memory_of(pid: int) -> Memory:
    """What a process holds, and has held."""
    status = _read(f"/proc/{pid}/status")
    return Memory(*(_kilobytes(status.partition(f"{name}:")[2]) << 10 for name in ("VmRSS", "VmHWM")))


def _kilobytes(text: str) -> int:
    return int(text.split(maxsplit=1)[0]) if text else 0


def _forget_peak(pid: int) -> bool:
    """Let a process's peak be what it holds now, and nothing of it be used yet.

    Whether that could be done: who has shut itself off from this user keeps both.
    """
    with contextlib.suppress(OSError):
        for what in ("5", "1"):
            Path(f"/proc/{pid}/clear_refs").write_text(what)
        return True
    return False


def used(pid: int) -> int:
    """Bytes of its memory that a process has used since then, shared libraries left out."""
    total, counts = 0, False
    for line in _read(f"/proc/{pid}/smaps").splitlines():
        if line[:1] in "0123456789abcdef":  # another part of it: "7f00-7f08 r-xp … /usr/lib/libc.so"
            counts = ".so" not in line
        elif counts and line.startswith("Referenced:"):
            total += int(line.split()[1]) << 10
    return total


@dataclass
class Box:
    """One kernel in a sandbox."""

    pid: int
    """Pid 1 of its name space; for Landlock and without a sandbox the kernel itself."""
    channel: socket.socket
    """Our end of its connection: requests go in, messages come out."""
    leash: socket.socket
    """Closed on this side, it ends the kernel."""
    after: Callable[[], None] = lambda: None
    """Called when it has ended."""
    folder: Path | None = None
    """What it may write to, where that lies on disk."""
    why: str = ""
    """Which limit the watchdog found exceeded: "memory" or "disk"; "" while all is well."""
    cpu: float = 0.0
    """CPU-seconds of all its processes, as last seen."""
    peak: int = 0
    """The most memory that was seen, in bytes."""
    _before: dict[int, Memory] = field(default_factory=dict)
    """Process → what it held when its peak was to be forgotten."""
    _unused: list[int] = field(default_factory=list)
    """The processes of which nothing counted as used then."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.ended = os.pidfd_open(self.pid)

    def watch(self, memory: int, disk: float = math.inf, interval: float = 0.1) -> None:
        """End the kernel when its processes together use more than `memory` bytes, or its folder `disk`."""
        self._watchdog = threading.Thread(target=self._watch, args=(memory, disk, interval), daemon=True)
        self._watchdog.start()

    def _watch(self, memory: int, disk: float, interval: float) -> None:
        while not self._stop.wait(interval):
            now = usage(self.pid, memory)
            self.cpu, self.peak = max(self.cpu, now.cpu), max(self.peak, now.memory)
            if now.memory > memory:
                self.why = "memory"
            elif self.folder is not None and is_over(self.folder, disk):
                self.why = "disk"
            if self.why:
                return self.kill()

    def forget_peak(self) -> None:
        """From now on count the most memory that its processes have held anew."""
        processes = tree(self.pid)
        self._unused = [pid for pid in processes if _forget_peak(pid)]
        self._before = {pid: memory_of(pid) for pid in processes}

    def held(self) -> int:
        """The most memory that they have held since then, in bytes, beyond what they held at that moment."""
        now = {pid: memory_of(pid).peak for pid in self._before}
        return sum(now[pid] - known.now for pid, known in self._before.items() if now[pid] > known.peak)

    def used(self) -> int:
        """How much of their memory they have used since then, in bytes, be it new or old."""
        return sum(map(used, self._unused))

    def is_alive(self) -> bool:
        """Whether the kernel runs."""
        return self.ended >= 0 and not select.select([self.ended], [], [], 0)[0]

    def kill(self) -> None:
        """End everything in the sandbox at once."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.ended, signal.SIGKILL)

    def close(self) -> None:
        """End everything, wait until it is gone, remove what it had."""
        self._stop.set()
        self.kill()
        self.channel.close()
        with contextlib.suppress(OSError):
            self.leash.shutdown(socket.SHUT_WR)
        if hasattr(self, "_watchdog") and self._watchdog is not threading.current_thread():
            self._watchdog.join()
        if self.ended >= 0:
            select.select([self.ended], [], [], 10.0)
            os.close(self.ended)
            self.ended = -1
        self.after()
        self.leash.close()
        if self.folder is not None:
            scratch.remove(self.folder)


MAX_ENTRIES = 2_000
"""Files and folders of one kernel: on a slow disk 13,000 took half a minute to be removed."""

_HIDDEN = (errno.ENAMETOOLONG, errno.EACCES)


def is_over(folder: Path, disk: float, entries: int = MAX_ENTRIES) -> bool:
    """Whether a folder takes more than `disk` bytes, whatever lies in it counted as a block, or holds too many things.

    Looks no further than that. What lies so deep that no path reaches it, or cannot be read, could be anything:
    it is too much.
    """
    seen, size, todo = 0, 0, [str(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as found:
                for entry in found:
                    with contextlib.suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    seen, size = seen + 1, size + 4096
                    if seen > entries or size > disk:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError as error:
            if error.errno in _HIDDEN:
                return True
    return False
