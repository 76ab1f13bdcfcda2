"""Jupyter's messages on the wire: both sides of the sandbox write and read them here.

A message is [addresses…, delimiter, signature, header, parent's header, metadata, content]; the last four are
JSON (jupyter-client.readthedocs.io, "Messaging in Jupyter", wire protocol).
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

DELIMITER = b"<IDS|MSG>"
Message = dict[str, Any]


def pack(value: Any) -> bytes:
    """JSON; bytes as base64, half characters and what JSON does not know as text."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _plain(value: Any) -> str:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else repr(value)


_ENCODER = json.JSONEncoder(default=_plain, ensure_ascii=False)


def write(
    key: bytes,
    number: str,
    kind: str,
    content: dict,
    parent: dict | None = None,
    packed: Callable[[Any], bytes] = pack,
) -> list[bytes]:
    """The frames of a message, from the delimiter on. number: its id; parent: the header of what it answers."""
    header = {
        "msg_id": number,
        "msg_type": kind,
        "session": number.partition("-")[0],
        "username": "learner",
        "date": datetime.now(UTC).isoformat(),
        "version": "5.3",
    }
    parts = [packed(header), packed(parent or {}), b"{}", packed(content)]
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        digest.update(part)
    return [DELIMITER, digest.hexdigest().encode(), *parts]


def read(frames: list[bytes]) -> tuple[list[bytes], Message]:
    """(addresses, message); the signature is not looked at. Raises ValueError for what is no message."""
    at = frames.index(DELIMITER)
    if len(frames) < at + 6:
        raise ValueError("a message has a signature and four parts")
    header, parent, _, content = (_json(frame) for frame in frames[at + 2 : at + 6])
    if not all(isinstance(part, dict) for part in (header, parent, content)):
        raise ValueError("the parts of a message are objects")
    message = {"header": header, "parent_header": parent, "content": content}
    return frames[:at], {**message, "msg_type": header.get("msg_type")}


def _json(frame: bytes) -> Any:
    """The value in a frame, without the half characters (surrogates) that JSON can spell and UTF-8 can't."""
    value = json.loads(frame)
    if b"\\ud" in frame or b"\\uD" in frame:
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = json.loads(text)
    return value
