"""What a kernel sends, counted while it comes: nothing beyond a cell's budget is stored, nothing unmeasured parsed."""

import json
import socket
from typing import Any

from sdpa_helpers.sandbox.inside.messages import LENGTH
from sdpa_helpers.sandbox.limits import Limits

MAX_MESSAGE = 16 << 20
MAX_PARTS = 500_000
"""Commas and brackets, in one message and in all that one cell leaves unread: each may become an object here."""

_AT_ONCE = 1 << 16
_SHAPES: dict[str, dict[str, type]] = {
    "stream": {"name": str, "text": str},
    "display_data": {"data": dict, "metadata": dict},
    "update_display_data": {"data": dict, "metadata": dict},
    "execute_result": {"data": dict, "metadata": dict, "execution_count": int},
    "error": {"ename": str, "evalue": str},
    "clear_output": {},
}
"""Kind of message → the fields of its content that are read."""


class OutputLimit(Exception):
    """The kernel sent, or announced, more than its budget."""


class Malformed(Exception):
    """What the kernel sent is no message; the text says why."""


class Forged(Exception):
    """What came claims to be the kernel's own, and is not; the text says why."""


class Incoming:
    """The messages that come through a connection, while they are within the budget of one cell."""

    def __init__(self, connection: socket.socket, limits: Limits) -> None:
        self.connection, self.limits = connection, limits
        self.begun = bytearray()
        self.messages = self.bytes = 0
        self.largest = MAX_MESSAGE

    def renew(self, largest: int = MAX_MESSAGE) -> None:
        """The whole budget again, for the next cell. largest: bytes of one message."""
        self.messages = self.bytes = 0
        self.largest = largest

    def read(self) -> list[bytes]:
        """The packed messages that are complete now. Raises EOFError when there will be no more, else OutputLimit."""
        try:
            came = self.connection.recv(_AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError as error:
            raise EOFError from error
        if not came:
            raise EOFError
        self.begun += came
        found, at = [], 0
        while len(self.begun) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.begun, at)
            self._refuse_beyond_budget(length)
            start, end = at + LENGTH.size, at + LENGTH.size + length
            if len(self.begun) < end:
                break
            found.append(bytes(self.begun[start:end]))
            self.messages, self.bytes, at = self.messages + 1, self.bytes + length, end
        del self.begun[:at]
        return found

    def _refuse_beyond_budget(self, length: int) -> None:
        if length > self.largest or self.bytes + length > self.limits.output_bytes:
            raise OutputLimit
        if self.messages >= self.limits.messages:
            raise OutputLimit


def parts(packed: bytes) -> int:
    """At most how many values a message can hold beside one."""
    return sum(packed.count(mark) for mark in (b",", b"[", b"{"))


def parse(packed: bytes) -> tuple[str, str, dict[str, Any]]:
    """(the number of the request that it answers, its kind, its content); raises Malformed for anything else.

    Raises Forged for what only a marked message says.
    """
    message = load(packed)
    if not isinstance(message, dict) or set(message) != {"asked", "kind", "content"}:
        raise Malformed("it has other fields than a message")
    asked, kind, content = message["asked"], message["kind"], message["content"]
    if not isinstance(asked, str) or not isinstance(kind, str) or not isinstance(content, dict):
        raise Malformed("its fields are of other types than a message's")
    if kind in ("done", "noted"):
        raise Forged("it says that the kernel was done, without its mark")
    shape = _SHAPES.get(kind)
    if shape is None:
        raise Malformed("its kind is unknown")
    if any(type(content.get(name)) is not wanted for name, wanted in shape.items()):
        raise Malformed(f"its content is not that of the kind {kind}")
    return asked, kind, {name: content[name] for name in shape}


def load(packed: bytes) -> Any:
    """JSON from somebody who is not trusted; raises Malformed for anything else."""
    try:
        value = json.loads(packed)
        if b"\\ud" in packed or b"\\uD" in packed:
            _refuse_half_characters(value)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"it is not JSON that can be read ({type(error).__name__})") from error
    return value


def _refuse_half_characters(value: Any) -> None:
    """JSON can spell halves of characters (surrogates), which no file can hold; our kernel never sends one."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode()
            _refuse_half_characters(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_half_characters(item)
