"""Messages between a kernel and the grader: four bytes that say how many follow, and so many.

First the grader sends `KEY_BYTES` by which both know each other's messages again. A request is a mark, then `CELL` or
`CHECK`, then its text. What a kernel says itself is a letter, a mark and bytes: `DONE` with the answer to a check, or
`NOTED` with the number of what was seen. What a notebook shows is JSON alone, {"asked": the number of the request that
it belongs to, "kind", "content"}. Both sides of the sandbox write and read them here.
"""

import base64
import hashlib
import itertools
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

LENGTH = struct.Struct(">I")
KEY_BYTES = 32
MARK_BYTES = 16
FROM_KERNEL, FROM_GRADER = b"kernel", b"grader"
CELL, CHECK = b"P", b"C"
DONE, NOTED = b"D", b"N"
READY = "0"
"""What the first `DONE` answers: no request, but the wait for a kernel that can be asked."""


def marks(key: bytes, who: bytes) -> Callable[[bytes], bytes]:
    """What gives one side's messages, one after the other, the marks that only who has the key can make.

    A mark belongs to a message at its place: repeated, left out or exchanged, it is another's.
    """
    digest, place = hashlib.blake2b, itertools.count().__next__

    def mark(message: bytes) -> bytes:
        counted = place().to_bytes(8, "big") + message
        return digest(counted, digest_size=MARK_BYTES, key=key, person=who).digest()

    return mark


def pack(value: Any) -> bytes:
    """JSON; bytes as base64, half characters and what JSON does not know as text."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _plain(value: Any) -> str:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else repr(value)


_ENCODER = json.JSONEncoder(default=_plain, ensure_ascii=False)


def framed(packed: bytes) -> bytes:
    """The bytes of a message on its way."""
    return LENGTH.pack(len(packed)) + packed


def receive(connection: socket.socket) -> Any:
    """The next message from somebody who is trusted; EOFError when there will be none."""
    (length,) = LENGTH.unpack(exactly(connection.recv, LENGTH.size))
    return json.loads(exactly(connection.recv, length))


def receive_with_socket(connection: socket.socket) -> tuple[Any, socket.socket | None]:
    """The next message, and the socket that came along with it."""
    head, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, 1)
    head += exactly(connection.recv, LENGTH.size - len(head)) if head else _nothing_more()
    message = json.loads(exactly(connection.recv, LENGTH.unpack(head)[0]))
    if not descriptors:
        return message, None
    came = socket.socket(fileno=descriptors[0])
    came.set_inheritable(False)
    return message, came


def exactly(receive: Callable[[int], bytes], size: int) -> bytes:
    """So many bytes of a connection's `recv`; EOFError when there will not be so many."""
    parts = []
    while size:
        part = receive(min(size, 1 << 20)) or _nothing_more()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _nothing_more() -> bytes:
    raise EOFError("the other side has hung up")
