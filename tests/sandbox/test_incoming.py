"""What a kernel may send: whatever comes, the grader's memory and patience have a bound."""

import contextlib
import json
import resource
import socket
import struct
import threading

import pytest

from sdpa_helpers.sandbox import bounded_kernel, incoming
from sdpa_helpers.sandbox.bounded_kernel import RESULT, GradedKernel
from sdpa_helpers.sandbox.incoming import Forged, Incoming, Malformed, OutputLimit, parse
from sdpa_helpers.sandbox.inside.audit import NOTES
from sdpa_helpers.sandbox.inside.messages import (
    CELL,
    DONE,
    FROM_GRADER,
    FROM_KERNEL,
    KEY_BYTES,
    NOTED,
    exactly,
    framed,
    marks,
    pack,
)
from sdpa_helpers.sandbox.limits import Limits

KEY = b"k" * KEY_BYTES


@pytest.fixture(autouse=True)
def known_key(monkeypatch):
    monkeypatch.setattr(bounded_kernel.secrets, "token_bytes", lambda size: KEY[:size])


def own(kind, packed=b"", place=1, key=KEY):
    """What a kernel with this key says in this place; in place 0 it says that it is ready."""
    mark = marks(key, FROM_KERNEL)
    for _ in range(place):
        mark(b"")
    return framed(kind + mark(kind + packed) + packed)


class Puppet:
    """A kernel whose every byte a test decides."""

    why, cpu = "", 0.0

    def __init__(self):
        self.channel, self.theirs = socket.socketpair()
        self.theirs.sendall(own(DONE, place=0))

    def is_alive(self):
        """It does not end by itself."""
        return True

    def close(self):
        """Hang up."""
        self.channel.close()
        self.theirs.close()

    def answer(self, data):
        """Send `data` to whom may not read all of it, once there is a request."""

        def send():
            try:
                exactly(self.theirs.recv, KEY_BYTES)
                self.theirs.recv(1 << 16)
                self.theirs.sendall(data)
            except OSError:
                pass

        threading.Thread(target=send, daemon=True).start()


@pytest.fixture
def heard():
    """heard(data) is what the grader makes of it: the exception, or the messages until the cell is done."""
    made = []

    def go(data, **options):
        puppet = Puppet()
        kernel = GradedKernel(puppet, Limits(cell_seconds=60.0), **options)
        made.append(kernel)
        puppet.answer(data)
        asked, found = kernel.execute_cell_input("1"), []
        while (message := kernel.get_message("iopub", 60))["msg_type"] != "status":
            found.append(message)
        assert message["parent_header"]["msg_id"] == asked
        return found

    go.kernels = made
    yield go
    for kernel in made:
        kernel.stop()


def message(kind, content, asked="1"):
    return framed(pack({"asked": asked, "kind": kind, "content": content}))


def said(text):
    return message("stream", {"name": "stdout", "text": text})


FINISHED = own(DONE)


def test_messages_come_in_order_and_a_late_one_of_an_earlier_cell_is_none_of_this(heard):
    late = message("stream", {"name": "stdout", "text": "late"}, asked="0")
    found = heard(late + said("a") + said("b") + FINISHED)
    assert [(m["parent_header"]["msg_id"], m["content"]["text"]) for m in found] == [
        ("0", "late"),
        ("1", "a"),
        ("1", "b"),
    ]


def test_what_is_printed_need_not_be_kept(heard):
    shown = message("display_data", {"data": {"text/plain": "1"}, "metadata": {}})
    found = heard(said("x" * 1000) * 1000 + shown + FINISHED, prints=False)
    assert [m["msg_type"] for m in found] == ["display_data"]


TOO_MUCH = {
    "a message of 4 GB": b"\xff" * 4,
    "one byte too many": struct.pack(">I", incoming.MAX_MESSAGE + 1),
    "more than the cell's bytes": said("x" * (6 << 20)) * 3,
    "20,001 messages": said("") * 20_001,
    "broad JSON": framed(b"[" + b"[]," * 250_000 + b"[]]"),
    "broad JSON, little by little": message("display_data", {"data": {"a": [[]] * 90_000}, "metadata": {}})
    * 3,
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_is_too_much_ends_the_run(heard, name):
    with pytest.raises(OutputLimit):
        heard(TOO_MUCH[name])


NO_MESSAGES = {
    "nothing": framed(b""),
    "no JSON": framed(b"HTTP"),
    "half a message": said("a")[:4] + said("a")[5:] + b"}",
    "deep JSON": framed(b"[" * 100_000 + b"]" * 100_000),
    "a list": framed(b"[]"),
    "no fields": framed(b"{}"),
    "one field more": framed(b'{"asked": "1", "kind": "clear_output", "content": {}, "nonce": 1}'),
    "a number for the request": framed(b'{"asked": 1, "kind": "clear_output", "content": {}}'),
    "an unknown kind": message("comm_open", {}),
    "a request that is yet to come": message("clear_output", {}, asked="2"),
    "a request below all": message("clear_output", {}, asked="-1"),
    "a request with 5,000 digits": message("clear_output", {}, asked="1" * 5000),
    "text that is none": message("stream", {"name": "stdout", "text": ["x"]}),
    "an error without a name": message("error", {"evalue": "x"}),
    "data that is none": message("display_data", {"data": [], "metadata": {}}),
    "a truth for a number": message("execute_result", {"data": {}, "metadata": {}, "execution_count": True}),
    "half a character": framed(
        b'{"asked": "1", "kind": "error", "content": {"ename": "\\ud800", "evalue": ""}}'
    ),
    "half a character in a key": framed(
        b'{"asked": "1", "kind": "display_data", "content": {"data": {"\\ud800": ""}, "metadata": {}}}'
    ),
    "not UTF-8": framed(b'"\xff\xfe"'),
    "a number of 5,000 digits": framed(b"1" * 5000),
}


@pytest.mark.parametrize("name", NO_MESSAGES)
def test_what_is_no_message_ends_the_run_and_is_named(heard, name):
    with pytest.raises(Malformed):
        heard(NO_MESSAGES[name] + FINISHED)


ANSWER = b'{"kind": "none"}'
FORGED = {
    "another's mark": own(DONE, key=b"l" * KEY_BYTES),
    "no mark at all": framed(DONE),
    "the first one again": own(DONE, place=0),
    "the next one": own(DONE, place=2),
    "another answer with this one's mark": FINISHED[:-1] + bytes([FINISHED[-1] ^ 1]),
    "an answer in place of none": framed(FINISHED[4:] + ANSWER),
    "a note in its place": framed(NOTED + FINISHED[5:]),
    "a note of somebody else's": own(NOTED, b"0", key=b"l" * KEY_BYTES),
    "done without a mark": message("done", {}),
    "a note without a mark": message("noted", {}),
    "what the grader says": framed(DONE + marks(KEY, FROM_GRADER)(DONE)),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_only_the_kernel_says_has_its_mark_and_its_place(heard, name):
    with pytest.raises(Forged):
        heard(said("a") + FORGED[name] + FINISHED)


def test_done_comes_once_and_for_what_was_asked(heard):
    """Whoever had the key could say it again; nobody asked for it."""
    with pytest.raises(Forged, match="nobody has asked"):
        heard(FINISHED + own(DONE, place=2))


def test_a_check_brings_its_answer_and_a_note_what_was_seen(heard):
    found = heard(own(NOTED, b"3") + own(NOTED, b"0", place=2) + own(DONE, ANSWER, place=3))
    assert [m["content"]["data"][RESULT] for m in found] == [{"answer": {"kind": "none"}, "held": 0}]
    assert heard.kernels[0].noticed == [NOTES[3], NOTES[0]]


def test_a_request_has_the_graders_mark():
    puppet = Puppet()
    kernel = GradedKernel(puppet, Limits(cell_seconds=60.0))
    try:
        kernel.execute_cell_input("1 + 1")
        assert exactly(puppet.theirs.recv, KEY_BYTES) == KEY
        request = CELL + b"1 + 1"
        expected = framed(marks(KEY, FROM_GRADER)(request) + request)
        assert exactly(puppet.theirs.recv, len(expected)) == expected
    finally:
        kernel.stop()


def test_a_whole_character_may_be_spelled_in_halves():
    spelled = b'{"asked": "1", "kind": "error", "content": {"ename": "\\ud83d\\ude00", "evalue": ""}}'
    assert parse(spelled)[2]["ename"] == "😀"


def test_nothing_is_stored_beyond_the_budget():
    """A message that never finishes: what is kept of it never exceeds what was announced, and one read."""
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack(">I", 1 << 20))
    taking = Incoming(ours, Limits(output_bytes=1 << 20))
    found, sent = [], 0
    while not found:
        sent += theirs.send(b"x" * min(1 << 16, (1 << 20) - sent))
        found = taking.read()
        assert len(taking.begun) <= (1 << 20) + 4
    assert [len(packed) for packed in found] == [1 << 20]
    ours.close()
    theirs.close()


COSTLY = {
    "deep": framed(b"[" * 490_000),
    "broad": framed(
        b'{"asked": "1", "kind": "clear_output", "content": {"a": [' + b'{"a":1},' * 240_000 + b"1]}}"
    ),
    "wide characters": framed(
        json.dumps(
            {"asked": "1", "kind": "error", "content": {"ename": "E", "evalue": "x" * (15 << 20) + "😀"}}
        ).encode()
    ),
    "many of them": message("display_data", {"data": {"a": "é" * 350}, "metadata": {}}) * 19_990,
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_worker_stays_small(heard, name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.suppress(OutputLimit, Malformed):
        heard(COSTLY[name] + FINISHED)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


def test_a_kernel_that_takes_no_request_costs_the_clock_alone():
    from sdpa_helpers.sandbox.bounded_kernel import TimedOut

    puppet = Puppet()
    kernel = GradedKernel(puppet, Limits(cell_seconds=0.1, patience=1.0))
    try:
        with pytest.raises(TimedOut):
            kernel.execute_cell_input("x" * (1 << 20))
    finally:
        kernel.stop()


def test_who_closes_the_connection_and_lives_is_named(heard, monkeypatch):
    monkeypatch.setattr(Puppet, "answer", lambda puppet, _: puppet.theirs.close())
    with pytest.raises(Malformed, match="closed"):
        heard(b"")
