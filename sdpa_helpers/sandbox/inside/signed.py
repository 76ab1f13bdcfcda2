"""Who answers for a kernel: the main thread, which has the connection and the key, and runs nothing of a notebook's.

Learners' code and the hidden checks run in the one thread that it starts. `unseen.loader` loads this, and from `serve`
on it calls nothing but what stands here and functions in C: there is nothing on the way that could be replaced, and
no object that learners' code can reach leads here. What is left are frames and the memory itself; whoever looks at
those is noted by `audit`, before it sees anything.
"""

import _thread
import hmac
import itertools
import os
import signal
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from sdpa_helpers.sandbox.inside.audit import listen
from sdpa_helpers.sandbox.inside.messages import (
    CELL,
    DONE,
    FROM_GRADER,
    FROM_KERNEL,
    KEY_BYTES,
    LENGTH,
    MARK_BYTES,
    NOTED,
    exactly,
    marks,
)

_STACK = 32 << 20
"""Bytes for the thread that runs the notebook; a process's first has 8 MB."""


class Notebook(NamedTuple):
    """What the second thread calls."""

    begin: Callable[[str], None]
    """Is told the number of each request."""
    run: Callable[[str], None]
    """Runs a cell; its outputs go their own way."""
    check: Callable[[str, dict], bytes] | None
    """Does a hidden check on the functions among these names."""
    names: dict
    finish: Callable[[], None]
    """Sends what was printed."""


def serve(connection: socket.socket, lock: Any, notebook: Notebook, known: tuple[str, ...]) -> None:
    """Answer requests until there is nobody to ask. lock: held while somebody writes. known: see `listen`."""
    take, send, pack = connection.recv, connection.sendall, LENGTH.pack
    key = exactly(take, KEY_BYTES)
    ours, theirs = marks(key, FROM_KERNEL), marks(key, FROM_GRADER)
    pid, owner, leave = os.getpid, os.getpid(), os._exit
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # else `_thread.interrupt_main` would raise an error here

    def say(kind: bytes, packed: bytes) -> None:
        if pid() != owner:  # a child that the notebook has forked
            return
        with lock:
            signed = kind + ours(kind + packed) + packed
            send(pack(len(signed)) + signed)

    def receive() -> bytes:
        (size,) = LENGTH.unpack(exactly(take, LENGTH.size))
        signed = exactly(take, size)
        request = signed[MARK_BYTES:]
        if not hmac.compare_digest(theirs(request), signed[:MARK_BYTES]):
            leave(1)  # somebody stands between the grader and this
        return request

    asked, done = _thread.allocate_lock(), _thread.allocate_lock()
    asked.acquire()
    done.acquire()
    desk = [b""]
    begin = listen(lambda number: say(NOTED, b"%d" % number), known)

    def work() -> None:
        for number in itertools.count(1):
            asked.acquire()
            kind, text = desk[0][:1], desk[0][1:]
            begin(text if kind == CELL else b"")
            try:
                desk[0] = _answer(notebook, number, kind, text.decode())
            except BaseException:  # a notebook may have spoiled anything out there
                desk[0] = b""
            if pid() != owner:
                leave(0)
            done.release()

    _thread.stack_size(_STACK)
    _thread.start_new_thread(work, ())
    _thread.stack_size(0)
    say(DONE, b"")
    while True:
        try:
            desk[0] = receive()
        except (EOFError, OSError):
            return  # the grader has hung up, or the notebook has closed the connection
        asked.release()
        done.acquire()
        say(DONE, desk[0])


def _answer(notebook: Notebook, number: int, kind: bytes, text: str) -> bytes:
    notebook.begin(f"{number}")
    answer = b""
    if kind == CELL:
        notebook.run(text)
    elif notebook.check is not None:
        answer = notebook.check(text, notebook.names)
    notebook.finish()
    return answer
