"""Messages between a kernel and the grader: four bytes that say how many follow, then JSON.

A request is {"asked": its number as text, "code", "plain"}; an output is {"asked": what it answers, "kind",
"content"}, and the last one is of the kind "done". Both sides of the sandbox write and read them here.
"""

import base64
import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct(">I")
READY = "0"
"""What the first "done" answers: no request, but the wait for a kernel that can be asked."""


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
    (length,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    return json.loads(_exactly(connection, length))


def receive_with_socket(connection: socket.socket) -> tuple[Any, socket.socket | None]:
    """The next message, and the socket that came along with it."""
    head, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, 1)
    head += _exactly(connection, LENGTH.size - len(head)) if head else _nothing_more()
    message = json.loads(_exactly(connection, LENGTH.unpack(head)[0]))
    if not descriptors:
        return message, None
    came = socket.socket(fileno=descriptors[0])
    came.set_inheritable(False)
    return message, came


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20)) or _nothing_more()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _nothing_more() -> bytes:
    raise EOFError("the other side has hung up")
