"""What a room keeps, which no kill loses, and what is named and counted of it."""

import os
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.classroom.room.names import ANIMALS, COLORS, new_name
from sdpa_helpers.classroom.room.questions import card_words, questions
from sdpa_helpers.classroom.room.store import NotARoom, Store
from sdpa_helpers.classroom.room.tally import Tally, board_rows, stuck, times
from sdpa_helpers.course.attempts import Attempt
from tests.classroom.rooms import ASK, ask, line
from tests.ports import free_port


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "room.sqlite").write_text("a text that somebody needs, longer than a page " * 100)
    with pytest.raises(NotARoom):
        Store(tmp_path / "room.sqlite")


def test_a_kill_loses_nothing(tmp_path):
    file, port = tmp_path / "room.sqlite", free_port()
    first, secret = _started(file, port)
    try:
        who = _ask(port, "/join", {})[1]["who"]
        sent = [_ask(port, "/line", {"who": who, "line": line(when=n)})[0] for n in range(10)]
        assert sent == [204] * 10
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait(timeout=60)
    again, same = _started(file, port)
    try:
        assert same == secret
        assert _ask(port, "/line", {"who": who, "line": line(when=99)})[0] == 204
        (row,) = _ask(port, "/board.json")[1]["rows"]
        assert (row["exercise"], row["tried"]) == ("softmax", 1)
    finally:
        again.send_signal(signal.SIGINT)
        assert "Closed." in again.communicate(timeout=60)[0]


def _started(file, port):
    options = ["--port", str(port), "--host", "127.0.0.1", "--file", str(file)]
    command = [sys.executable, "-u", "-m", "sdpa_helpers", "room", *options]
    room = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    told = [room.stdout.readline() for _ in range(5)]
    return room, re.search(r"/phone#(\w+)", "".join(told))[1]


def _ask(port, path, data=None):
    return ask(SimpleNamespace(server_port=port), path, data)


def test_names_are_given_out_once():
    taken = set()
    for _ in range(len(COLORS) * len(ANIMALS) + 5):
        taken.add(new_name(taken))
    assert len(taken) == len(COLORS) * len(ANIMALS) + 5


def red(when, who="blue heron", points=0.0):
    return Event(when, who, "check", "softmax", attempt=Attempt(when, "softmax", points, 2, ("a-b",), 1, 1.0))


def tallied(*events):
    tally = Tally(names={"blue heron", "red fox"})
    for event in events:
        tally.add(event)
    return tally


@pytest.mark.parametrize(
    ("events", "now", "is_stuck"),
    [
        ([red(0), red(60), red(120), red(299)], 300, True),
        ([red(0), red(60), red(120)], 300, False),
        ([red(0), red(60), red(120), red(301)], 302, False),  # slower than that is thinking
        ([red(0), red(60), red(120), red(180), red(200, points=2.0)], 210, False),
        ([red(0), red(60), red(120), red(180)], 3_000, False),  # long ago
        ([red(0), red(1), red(2), red(3, "red fox")], 10, False),
    ],
)
def test_who_is_stuck(events, now, is_stuck):
    assert bool(stuck(tallied(*events), now)) is is_stuck


def test_green_stays_green_and_its_time_ends():
    tally = tallied(red(0), red(60, points=2.0), red(120), red(180))
    (row,) = board_rows(tally, lambda exercise, mistake: "says")
    assert (row.tried, row.green, row.mistakes) == (1, 1, ())
    assert times(tally)[0].minutes == 2.0


def test_questions_have_what_the_notebooks_measured():
    found = questions()
    assert len(found) > 100
    assert sum(one.right is not None for one in found.values()) > 0.9 * len(found)
    assert found[ASK].options[found[ASK].right] == found[ASK].measured or found[ASK].measured
    assert "maximum" in card_words("softmax", "no-max-subtracted")
    assert card_words("softmax", "a-step-left-out") == "A step left out."
    assert card_words("softmax", "no-such-name") == card_words("nothing", "not-summed") == ""
