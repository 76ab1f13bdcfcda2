"""The room over HTTP: a thread for each connection, Python's own server, one port.

What a stranger sends is bounded before it is read: the size of a body, seconds of silence, connections. A page of
another site can't post here: bodies have to be JSON, and a browser's Origin has to be ours.
"""

import json
import mimetypes
import shutil
import socket
import sqlite3
import sys
import threading
from collections import Counter
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sdpa_helpers.classroom.room.lines import MOST_ASKED, MOST_BYTES, NotALine, read_body
from sdpa_helpers.classroom.room.room import Refused, Room

PAGES = Path(__file__).parent / "pages"
OWN = {"/": "here.html", "/board": "board.html", "/phone": "phone.html"}
SHARED = ("here.js", "board.js", "phone.js", "shared.js", "room.css", "icon.svg")
FILES = {f"/room/{name}": name for name in SHARED}
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
SILENCE = 30
"""Seconds after which a quiet connection is closed."""
FROM_ONE_ADDRESS, IN_ALL = 300, 1_500
"""Connections at the same time."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    wbufsize = -1  # one packet for the head and the body
    server: "RoomServer"  # type: ignore[assignment]

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """A page, what a page shows, or a file of the site."""
        path = self.path.partition("?")[0]
        views = {
            "/board.json": self.server.room.board,
            "/phone.json": lambda: self.server.room.phone(self.headers.get("X-Room-Key", "")),
            "/questions.json": self.server.room.questions,
            "/here.json": lambda: self.server.room.here(self.headers.get("X-Room-Who", "")),
        }
        if path in views:
            self._answer(views[path])
        elif name := OWN.get(path) or FILES.get(path):
            self._file(PAGES / name, {"Content-Security-Policy": POLICY})
        else:
            self._of_site(path)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Something to take in."""
        self._answer(self._taken)

    def _taken(self) -> object:
        path = self.path.partition("?")[0]
        body, room = self._body(MOST_ASKED if path == "/ask" else MOST_BYTES), self.server.room
        if path == "/join":
            return room.join(self.client_address[0])
        if path == "/line":
            return room.take(read_body(body))
        if path == "/ask":
            return room.ask(self.headers.get("X-Room-Key", ""), read_body(body))
        raise Refused(404, "there is no such page")

    def _body(self, most: int) -> bytes:
        told = self.headers.get("Content-Length", "")
        length = int(told) if told.isascii() and told.isdigit() and len(told) < 10 else -1
        if not 0 <= length <= most:
            self.close_connection = True
            raise Refused(413 if length > 0 else 411, f"at most {most} bytes, and their number first")
        body = self.rfile.read(length)
        origin = self.headers.get("Origin")
        if origin is not None and origin.partition("//")[2] != self.headers.get("Host"):
            raise Refused(403, "a page of another site sent this")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "JSON is expected")
        return body

    def _answer(self, asked: Any) -> None:
        try:
            status, data = 200, asked()
        except Refused as refused:
            status, data = refused.status, {"message": str(refused)}
        except NotALine as refused:
            status, data = 400, {"message": str(refused)}
        except sqlite3.Error as error:  # the disk is full: who sent it tries again
            status, data = 503, {"message": str(error)}
        body = b"" if data is None else json.dumps(data, default=asdict).encode()
        self._head(200 if body or status != 200 else 204, status, "application/json", len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, good: int, status: int, kind: str, length: int, **more: str) -> None:
        self.send_response(good if status == 200 else status)
        headers = {"Content-Type": kind, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        for name, value in (headers | more).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _of_site(self, path: str) -> None:
        site = self.server.site
        wanted = path.removeprefix("/site/")
        if path == "/site":
            return self._moved("/site/")
        if site is None or wanted == path:
            return self._answer(_not_here)
        place = (site / unquote(wanted).replace("\0", "")).resolve()
        if place.is_dir() and not path.endswith("/"):
            return self._moved(f"{path}/")
        place = place / "index.html" if place.is_dir() else place
        if not place.is_relative_to(site) or not place.is_file():
            return self._answer(_not_here)
        self._file(place, {"Cache-Control": "max-age=300"})

    def _moved(self, where: str) -> None:
        self._head(301, 200, "text/plain", 0, Location=where)

    def _file(self, place: Path, more: dict[str, str]) -> None:
        kind = mimetypes.guess_type(place.name)[0] or "application/octet-stream"
        kind = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
        with place.open("rb") as file:
            self._head(200, 200, kind, place.stat().st_size, **more)
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)


def _not_here() -> object:
    raise Refused(404, "there is no such page")


class RoomServer(ThreadingHTTPServer):
    """The room on a port."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], room: Room, site: Path | None = None) -> None:
        self.room, self.site = room, site.resolve() if site else None
        self.open, self.counting = Counter[str](), threading.Lock()
        super().__init__(address, Handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Refuse one connection too many."""
        with self.counting:
            host = client_address[0]
            if self.open[host] >= FROM_ONE_ADDRESS or self.open.total() >= IN_ALL:
                return False
            self.open[host] += 1
            return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.counting:
                self.open[client_address[0]] -= 1
                self.open += Counter()  # forgets who has none

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who leaves in the middle is no error of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def own_address() -> str:
    """This machine's on its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))
            return asked.getsockname()[0]
        except OSError:
            return "127.0.0.1"
