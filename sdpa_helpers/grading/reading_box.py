"""A fork of this process in which hostile text is read: with limits on its CPU time and memory, and a deadline.

No learner's code runs in it. What it finds comes back as JSON, part by part, so that what was found before a limit is
kept; it is read with a budget, and whoever asked checks its types. How the limits are chosen: computing time counts,
not the clock, so that what is found does not depend on how busy the machine is.

A box that has read one text to its end may read the next, within what is left of its limits: a fork costs more than
most texts. What it cannot read is read in a new box, so that what is found does not depend on what was read before.

Only Linux keeps these limits; elsewhere the text is read in this process.
"""

import contextlib
import gc
import json
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

FORKS = sys.platform.startswith("linux") and hasattr(os, "fork")
"""Whether there is a box on this platform."""

Ended = Literal["", "time", "memory", "deadline", "too-much", "failed"]
"""How the reading ended: "" when it was finished."""


@dataclass(frozen=True)
class BoxLimits:
    """What one box may use."""

    cpu_seconds: int = 2
    memory_mb: int = 340
    """On top of what the process has. A worker has 250 MB at most when it begins: both together stay below 600."""
    wall_seconds: float = 60.0
    """On the clock. A busy machine never needs as long, and a box that does is tried once more."""
    answer_bytes: int = 16 << 20
    """Of all that comes back."""


@dataclass(frozen=True)
class Boxed:
    """What came out of a box."""

    parts: tuple[Any, ...]
    """JSON values, in their order; each came whole."""
    ended: Ended
    error: str = ""
    """What was raised in it, where something was."""


def boxed(read: Callable[[], Iterator[Any]], limits: BoxLimits | None = None) -> Boxed:
    """Run `read` in a box; it yields JSON values, part by part. Never raises because of what it read.

    Where boxes are kept, `read` can be pickled.
    """
    given = limits or BoxLimits()
    if not FORKS:
        return _here(read)
    if (box := _waiting(given)) is not None and not (found := box.go_on(read)).ended:
        return found
    found = _forked(read, given)
    return _forked(read, given) if found.ended == "deadline" else found


def keep_boxes() -> None:
    """From now on a box that came to the end of its text waits for the next. For a process that only grades."""
    global _kept
    _kept = []


def _here(read: Callable[[], Iterator[Any]]) -> Boxed:
    """The same without a box."""
    parts: list[Any] = []
    try:
        for part in read():
            parts.append(json.loads(json.dumps(part)))
    except MemoryError:
        return Boxed(tuple(parts), "memory")
    except Exception as error:
        return Boxed(tuple(parts), "failed", _told(error))
    return Boxed(tuple(parts), "")


# ---- this side --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    """A box that runs."""

    child: int
    """Its pid."""
    pipe: socket.socket
    """Our end: further texts go in, parts come out."""
    limits: BoxLimits

    def go_on(self, read: Callable[[], Iterator[Any]]) -> Boxed:
        """Let it read another text."""
        with contextlib.suppress(OSError):  # it has ended, which shows below
            self.pipe.sendall(pickle.dumps(read))
        return self.answer()

    def answer(self) -> Boxed:
        """What comes out of it; then it is kept, or ended."""
        ended: Ended | None = "deadline"
        parts, status = list[bytes](), 0
        try:
            parts, ended = _receive(self.pipe.fileno(), self.limits)
        finally:
            if ended == "" and _kept is not None:
                _kept.append(self)
            else:
                self.pipe.close()
                status = _reap(self.child, kill=ended in ("deadline", "too-much"))
        return _unwrapped(parts, _why(status) if ended is None else ended)


_kept: list[_Box] | None = None
"""Boxes that wait for another text; None where none is kept."""


def _waiting(limits: BoxLimits) -> _Box | None:
    """A box that has read before, with these limits."""
    kept = _kept or []
    return next((kept.pop(at) for at, box in enumerate(kept) if box.limits == limits), None)


def _forked(read: Callable[[], Iterator[Any]], limits: BoxLimits) -> Boxed:
    ours, theirs = socket.socketpair()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of forking beside threads: the fork needs no lock
        child = os.fork()
    if child == 0:
        _read_and_exit(read, theirs, limits)
    theirs.close()
    return _Box(child, ours, limits).answer()


def _receive(pipe: int, limits: BoxLimits) -> tuple[list[bytes], Ended | None]:
    """(the whole parts, how it ended); None where only the exit status tells."""
    deadline = time.monotonic() + limits.wall_seconds
    ready = select.poll()  # `select` takes no file above number 1024, and a cluster's worker has many
    ready.register(pipe, select.POLLIN)
    buffer, parts, came = bytearray(), [], 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not ready.poll(1000 * left):
            return parts, "deadline"
        try:
            chunk = os.read(pipe, 1 << 16)
        except ConnectionResetError:  # it ended before it read what was asked
            chunk = b""
        if not chunk:
            return parts, None
        came += len(chunk)
        if came > limits.answer_bytes:
            return parts, "too-much"
        buffer += chunk
        while len(buffer) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(buffer)
            if len(buffer) < _HEAD.size + size:
                break
            part = bytes(buffer[_HEAD.size : _HEAD.size + size])
            del buffer[: _HEAD.size + size]
            if part == _FINISHED:
                return parts, ""
            parts.append(part)


def _reap(child: int, *, kill: bool) -> int:
    """The child's exit status, after it has ended."""
    if kill:
        os.kill(child, signal.SIGKILL)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:  # somebody here waits for all children
        return 0


def _why(status: int) -> Ended:
    if status == -signal.SIGXCPU:
        return "time"
    return "failed" if status == _RAISED else "memory"  # a parser without memory may also end by a signal


def _unwrapped(parts: list[bytes], ended: Ended) -> Boxed:
    """The parts as values; an error that was raised comes as the last of them."""
    found: list[Any] = []
    for part in parts:
        try:
            kind, value = json.loads(part)
        except (ValueError, TypeError, RecursionError, MemoryError):
            return Boxed(tuple(found), "failed", "what came out of the box is no JSON")
        if kind == "error":
            return Boxed(tuple(found), "failed", str(value)[:_MOST_TOLD])
        found.append(value)
    return Boxed(tuple(found), ended)


# ---- inside -----------------------------------------------------------------------------------------------

_HEAD = struct.Struct("!I")
_FINISHED = b"[]"
_RAISED, _NO_MEMORY = 3, 4
_MOST_TOLD = 300
_GROWTH = 64 << 20
"""Bytes: a box that has grown by more reads no other text."""


def _read_and_exit(read: Callable[[], Iterator[Any]], ours: socket.socket, limits: BoxLimits) -> None:
    """What the child does, until it is asked no more or has grown; it never returns."""
    status, pipe = _RAISED, ours.fileno()
    try:
        gc.disable()  # a collection would write to all of the parent's pages
        most = _confine(pipe, limits) + _GROWTH
        asked = ours.makefile("rb")
        while True:
            for part in read():
                _send(pipe, _as_bytes(["part", part]))
            _send(pipe, _FINISHED)
            if _address_space() > most or not asked.peek(1):
                break
            read = pickle.load(asked)
        status = 0
    except MemoryError:
        status = _NO_MEMORY
    except BaseException as error:
        with contextlib.suppress(BaseException):
            _send(pipe, _as_bytes(["error", _told(error)]))
    finally:
        os._exit(status)


def _confine(pipe: int, limits: BoxLimits) -> int:
    """No files but the pipe, no core file, and the limits; the first to go when memory runs out.

    Returns the bytes of address space that it begins with.
    """
    import resource

    os.closerange(3, pipe)
    os.closerange(pipe + 1, max(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 10))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to act on: it ends this one
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    if size := _address_space():
        most = size + (limits.memory_mb << 20)
        _limit(resource.RLIMIT_AS, most, most)
    return size


def _limit(what: int, soft: int, hard: int) -> None:
    """Lower a limit; one that is lower already stays."""
    import resource

    ceiling = resource.getrlimit(what)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(what, (soft, hard))


def _address_space() -> int:
    """Bytes of address space that this process has; 0 where nobody tells."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _send(pipe: int, part: bytes) -> None:
    data = memoryview(_HEAD.pack(len(part)) + part)
    while data:
        data = data[os.write(pipe, data) :]


def _as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()  # ASCII: half a pair of surrogates passes too


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MOST_TOLD]
