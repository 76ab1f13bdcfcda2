"""A room to test: on a port of its own, with two exercises and one question, and what is sent to it."""

import http.client
import json
import threading
from contextlib import contextmanager

from sdpa_helpers.classroom.room.lines import LineSubjects
from sdpa_helpers.classroom.room.questions import RoomQuestion
from sdpa_helpers.classroom.room.room import Room
from sdpa_helpers.classroom.room.server import RoomServer
from sdpa_helpers.classroom.room.store import Store

ASK = "03_softmax/one_score_rises"
KNOWN = LineSubjects(
    {"softmax": 15.0, "entropy": 8.0}, {ASK: 3}, lambda exercise, name: name in ("not-summed", "a-b")
)
ASKED = {ASK: RoomQuestion(ASK, "How many?", "How many?", ("1", "2", "5"), ("a", "b", "c"), 2, "5")}
GAVE = "0123456789ab"


def line(exercise="softmax", points=1.0, when=1.0, **more):
    kept = {"time": when, "exercise": exercise, "points": points, "max": 15.0, "mistakes": ["not-summed"]}
    return {**kept, "tries": 1, "minutes": 0.5, **more}


@contextmanager
def opened(file, site=None):
    store = Store(file)
    server = RoomServer(
        ("127.0.0.1", 0), Room(store, KNOWN, ASKED, site is not None, file.with_name("names.toml")), site
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        store.close()
        thread.join()


def ask(server, path, data=None, body=None, **headers):
    """(status, what came back)."""
    pipe = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    sent = json.dumps(data).encode() if data is not None else body
    headers = {"Content-Type": "application/json"} | {n.replace("_", "-"): v for n, v in headers.items()}
    try:
        pipe.request("GET" if sent is None else "POST", path, sent, headers)
        reply = pipe.getresponse()
        text = reply.read()
    finally:
        pipe.close()
    return reply.status, json.loads(text) if text[:1] in (b"{", b"[") else text


def new(server):
    return ask(server, "/join", {})[1]["who"]


def key(server):
    return {"X_Room_Key": server.room.store.key}
