"""One worker process of this machine: it has one submission at a time, a deadline, and a limit on its memory."""

import contextlib
import multiprocessing.connection
import multiprocessing.context
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import psutil

from sdpa_helpers.grading.fails_alone import place_of
from sdpa_helpers.grading.grade_one import Attempt, Settings, attempt, given_up
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.reading_box import keep_boxes
from sdpa_helpers.grading.run import SandboxEnded

MARGIN = 120.0
"""Seconds that a submission may take beside its own limits: to be read and judged, its kernels to start."""

ROOM_MB = 400
"""How much more memory a worker may have than it began with, about 90 MB: never 600."""

KEPT_MB = 250
"""A worker that has more when it has done a submission is replaced: the next would begin with all of it."""

_GROWTH = 100 << 20

_STOPS_WITHIN = 1.0
"""Seconds: it takes a millisecond, unless the process waits for a disk."""

MAX_RESULT = 16 << 20
"""Bytes of one result; those of the largest notebooks are far below."""

_LENGTH = struct.Struct("!Q")


# ---- what a worker does -----------------------------------------------------------------------------------


def work(submission: Submission, settings: Settings) -> Attempt | None:
    """Grade one: an error of the machine is no submission's fault, and a bug of ours stops no batch.

    None when the sandbox ended again and again, as if this process had.
    """
    try:
        return attempt(submission, settings)
    except SandboxEnded:
        return None
    except MemoryError:
        reason = f"Grading this notebook took more memory than the grader has for one, {ROOM_MB} MB."
        return Attempt(given_up(submission, reason))
    except OSError as error:
        return Attempt(None, trouble=f"{type(error).__name__}: {error}")
    except Exception as error:
        reason = (
            f"The grader itself failed on this notebook ({place_of(error)}). "
            "Tell your instructor; it was not you who made the mistake."
        )
        return Attempt(given_up(submission, reason))


def overdue(submission: Submission) -> Attempt:
    """What is known of a submission whose worker had to be ended; a calmer moment may do better."""
    reason = "It was not done at the grader's own deadline, which leaves time for more than all its limits."
    return Attempt(given_up(submission, reason), slow=True)


@dataclass(frozen=True)
class Kin:
    """What a forked worker has of its grader's, beside its own end of the connection."""

    leash: multiprocessing.connection.Connection
    """Nothing is ever sent on it: it ends with the grader, or when the grader lets go."""
    graders: tuple[multiprocessing.connection.Connection | socket.socket, ...] = ()
    """The grader's ends, of the leash and of every connection: a worker that kept them would hold itself."""


def _serve(connection: socket.socket, kin: Kin) -> None:
    """Grade what arrives until the grader closes the connection."""
    for end in kin.graders:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's to act on
    threading.Thread(target=_end_with_parent, args=(kin.leash,), daemon=True).start()
    limit_memory()
    keep_boxes()
    incoming = Incoming(connection)
    while (task := incoming.wait()) is not None:
        _send(connection, work(*task))


def _end_with_parent(leash: multiprocessing.connection.Connection) -> None:
    """A worker ends at once, and with it its kernels, when its grader was killed or has let go of the leash."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel, leash])
    os._exit(1)


def limit_memory() -> None:
    """From now on this process may have so much more address space; what it starts may ask for more again."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + (ROOM_MB << 20)
    resource.setrlimit(
        resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


# ---- what passes between them -----------------------------------------------------------------------------


class Lost(Exception):
    """The other side has ended, or sends what it never would."""


class Incoming:
    """Objects that arrive on a connection, each with its length before it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.held = connection, bytearray()

    def wait(self) -> tuple[Submission, Settings] | None:
        """The next object; None when the connection is closed. For the worker, who has nothing else to do."""
        with contextlib.suppress(Lost):
            while not (arrived := self.take()):
                self.read()
            return arrived[0]
        return None

    def read(self) -> bool:
        """Read what is there, False when there is nothing; raises Lost when no more can come."""
        try:
            got = self.connection.recv(1 << 16)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Lost from error
        if not got:
            raise Lost
        self.held += got
        return True

    def take(self) -> tuple:
        """(object,) when one is whole, else ()."""
        if len(self.held) < _LENGTH.size:
            return ()
        (length,) = _LENGTH.unpack_from(self.held)
        if length > MAX_RESULT:
            raise Lost
        if len(self.held) < _LENGTH.size + length:
            return ()
        found = pickle.loads(self.held[_LENGTH.size : _LENGTH.size + length])
        del self.held[: _LENGTH.size + length]
        return (found,)


def _send(connection: socket.socket, value: object) -> None:
    content = pickle.dumps(value)
    connection.sendall(_LENGTH.pack(len(content)) + content)


# ---- a worker as its grader sees it -----------------------------------------------------------------------


class Worker:
    """A worker process, idle or with a submission."""

    def __init__(self, context: multiprocessing.context.BaseContext, kin: Kin) -> None:
        self.connection, theirs = socket.socketpair()
        self.incoming = Incoming(self.connection)
        self.deadline = 0.0
        self.gone = False
        self.task: tuple[Submission, Settings] | None = None
        forked = context.get_start_method() == "fork"
        given = replace(kin, graders=(*kin.graders, self.connection) if forked else ())
        self.process = context.Process(target=_serve, args=(theirs, given), daemon=True)  # type: ignore[attr-defined]
        self.process.start()
        self.began = self._memory()
        """Bytes: a fork has those of its grader, which no new one would lack."""
        theirs.close()

    def begin(self, submission: Submission, settings: Settings, margin: float) -> None:
        """Send it a submission; from now on the clock runs."""
        self.task = (submission, settings)
        self.deadline = time.monotonic() + settings.limits.wall_seconds + margin
        self.connection.settimeout(10.0)
        with contextlib.suppress(OSError):  # it has ended, or stands still: the next look says so
            _send(self.connection, self.task)
        self.connection.setblocking(False)

    def look(self) -> tuple[Submission, Attempt | None] | None:
        """The submission with what came of it, None for that when the worker has died; None while it works."""
        if self.task is None:
            return None
        submission, _ = self.task
        lost, arrived = not self.usable(), ()
        try:
            while not (arrived := self.incoming.take()) and self.incoming.read():
                pass
        except Lost:
            lost = True
        if arrived:
            self.task = None
            if self._has_grown():
                self.close()
            return submission, arrived[0]
        if lost:
            self.end()
            return submission, None
        if time.monotonic() > self.deadline:
            self.end()
            return submission, overdue(submission)
        return None

    def _has_grown(self) -> bool:
        """Whether it has more memory than what it does for one submission leaves behind."""
        return self._memory() > max(KEPT_MB << 20, self.began + _GROWTH)

    def _memory(self) -> int:
        """Bytes that it has; 0 when nobody tells."""
        try:
            return psutil.Process(self.process.pid).memory_info().rss
        except psutil.Error:
            return 0

    def usable(self) -> bool:
        """Whether it works, or waits for work."""
        return not self.gone and self.process.is_alive()

    def end(self) -> None:
        """End it now, with all that it has started."""
        if self.gone:
            return
        started: Iterable[psutil.Process] = ()
        with contextlib.suppress(psutil.Error):
            started = _stopped(psutil.Process(self.process.pid)).children(recursive=True)
        self.process.kill()
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.close()

    def close(self) -> None:
        """Wait for it to end, which it does when it has nothing to do; what comes too late is not read."""
        if self.gone:
            return
        self.connection.close()
        self.process.join(10.0)
        self.process.kill()
        self.process.join()
        self.process.close()
        self.task, self.gone = None, True


def _stopped(process: psutil.Process) -> psutil.Process:
    """The process, standing still: what it was about to start it has started, and nothing comes after that."""
    process.suspend()
    end = time.monotonic() + _STOPS_WITHIN
    while process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE) and time.monotonic() < end:
        time.sleep(0.001)
    return process
