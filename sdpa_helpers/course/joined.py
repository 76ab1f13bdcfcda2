"""The room that one has joined: it is sent the lines of the log, one by one, by a thread, and nothing else. What the
instructor tells of answers comes back with the replies, and is kept for the next check.

`sdpa lab --room ADDRESS` joins before JupyterLab starts, `join_room(ADDRESS)` in a notebook. While the room is away
nothing is said and nothing waits: lines are kept for some minutes and sent again.
"""

import contextlib
import importlib
import json
import os
import queue
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from functools import cache
from http.client import HTTPException
from typing import Any

from sdpa_helpers.course import told
from sdpa_helpers.course.attempts import Attempt

VARIABLE = "SDPA_ROOM"
"""Environment variable by which kernels know the room: address, token and name, as JSON."""
PATIENCE = 1.0
"""Seconds for one reply."""
PAUSE, TRIES = 5.0, 60
"""Seconds until a line is sent again, and how often."""
MOST_WAITING = 100


@dataclass(frozen=True)
class Joined:
    """A place in a room."""

    address: str
    """E.g. "http://192.168.1.5:8642"."""
    who: str
    """What the room knows this learner by; nobody else is told."""
    name: str
    """A color and an animal, e.g. "blue heron"."""
    color: str = ""
    """How the color looks, as "#2f6fdb"."""

    @property
    def page(self) -> str:
        """The learner's own page: votes, a hand, the slip."""
        return f"{self.address}/#{self.who}"


class NoRoom(Exception):
    """Nothing that answers as a room does; the text says so."""


def join_room(address: str) -> str:
    """Join the room at an address, as "192.168.1.5:8642": it is sent the lines of your log, never your code.

    Returns a sentence with the color and the animal that are your name there. It says so too where no room answers.
    """
    try:
        place = join(address)
    except NoRoom as error:
        return str(error)
    os.environ[VARIABLE] = json.dumps(asdict(place))
    return f"You are “{place.name}” in this room. Your page there: {place.page}"


def join(address: str) -> Joined:
    """Ask for a place; NoRoom where there is none."""
    base = address.strip().rstrip("/")
    base = base if "//" in base else f"http://{base}"
    if not re.fullmatch(r"https?://[\w.\[\]:-]+", base, re.ASCII):
        raise NoRoom(f"{address!r} is no address of a room: it looks like 192.168.1.5:8642")
    if sys.platform == "emscripten":
        raise NoRoom(f"In a browser one joins by opening {base}/ and the course from there.")
    try:
        said = _post(f"{base}/join", {}, 5 * PATIENCE)
        given = json.loads(said)
        texts = [str(given[name])[:40] for name in ("who", "name", "color")]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        raise NoRoom(f"No room answers at {base}; everything else works without it.") from None
    _keep_told(said)
    return Joined(base, *texts)


def joined() -> Joined | None:
    """The room that this process is in."""
    with contextlib.suppress(KeyError, ValueError, TypeError):
        return Joined(**json.loads(os.environ[VARIABLE]))
    return None


def tell(attempt: Attempt | None) -> None:
    """Have a line sent, where there is a room; it takes no time and never fails."""
    if attempt and sys.platform == "emscripten":
        with contextlib.suppress(Exception):  # whatever it is, the lesson goes on
            _page().postMessage(attempt.line())
        return
    place = joined() if attempt else None
    if attempt is None or place is None:
        return
    with contextlib.suppress(queue.Full, RuntimeError):  # too many wait; no thread can be had
        _waiting().put_nowait((place, attempt))


@cache
def _page() -> Any:
    """The browser's page around this kernel: it knows the room, sends the lines, and hands on what comes back."""
    js, ffi = importlib.import_module("js"), importlib.import_module("pyodide.ffi")
    told_here = js.BroadcastChannel.new("sdpa-told")
    told_here.onmessage = ffi.create_proxy(lambda message: told.keep_from_room(str(message.data)))
    return js.BroadcastChannel.new("sdpa-attempts")


@cache
def _waiting() -> queue.Queue[tuple[Joined, Attempt]]:
    lines = queue.Queue[tuple[Joined, Attempt]](MOST_WAITING)
    threading.Thread(target=_send_all, args=(lines,), daemon=True, name="sdpa-room").start()
    return lines


def _send_all(lines: queue.Queue[tuple[Joined, Attempt]]) -> None:
    while True:
        place, attempt = lines.get()
        for _ in range(TRIES):
            if _sent(place, attempt):
                break
            time.sleep(PAUSE)


def _sent(place: Joined, attempt: Attempt) -> bool:
    """Whether nothing is left to do: the room has it, or doesn't want it."""
    try:
        said = _post(
            f"{place.address}/line", {"who": place.who, "line": json.loads(attempt.line())}, PATIENCE
        )
    except urllib.error.HTTPError as error:
        return error.code not in (429, 503)
    except Exception:  # whatever it is, the lesson goes on
        return False
    _keep_told(said)
    return True


def _keep_told(reply: bytes) -> None:
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        told.keep_from_room(json.loads(reply)["names"])


def _post(address: str, data: object, seconds: float) -> bytes:
    asked = urllib.request.Request(address, json.dumps(data).encode(), {"Content-Type": "application/json"})
    # No proxy: a room is on the same network.
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=seconds) as reply:
        return reply.read(2 * told.MOST_BYTES)
