"""Those who join a room: their checks arrive, what the instructor tells comes back, and nobody waits for it."""

import threading
import time

import pytest

from sdpa_helpers.course import attempts, joined, saved, told
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import check
from tests.classroom.rooms import GAVE, ask, key, line, new


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(joined.VARIABLE, "")
    monkeypatch.setattr(joined, "PAUSE", 0.05)


def wait_for(met):
    end = time.monotonic() + 10
    while not met() and time.monotonic() < end:
        time.sleep(0.01)
    assert met()


@pytest.mark.usefixtures("alone")
def test_checks_of_who_joined_arrive(server):
    said = joined.join_room(f"127.0.0.1:{server.server_port}")
    name = joined.joined().name
    assert f"You are “{name}”" in said
    check(find("softmax").reference)
    wait_for(lambda: name in server.room.tally.works["softmax"])
    assert server.room.tally.works["softmax"][name].green


@pytest.mark.usefixtures("alone")
def test_what_the_instructor_tells_stands_in_the_next_check_of_who_joined(server):
    def odd(x, axis=-1):
        return x * 1.37 + 0.21

    joined.join_room(f"127.0.0.1:{server.server_port}")
    given = check(odd, exercise="softmax").result.unknown
    for says in ("You scaled it.", "You scaled and moved it.", ""):
        asked = {"exercise": "softmax", "answer": given, "says": says, "points": -1 if says else 0}
        assert ask(server, "/ask", asked, **key(server))[0] == 204
        joined.tell(attempts.log("softmax", 1, 15))  # whatever is sent brings it back
        wait_for(lambda says=says: told.sentence_for("softmax", given) == says)
        assert check(odd, exercise="softmax").told == says
    assert "points" not in (saved.home() / told.FILE).read_text()


@pytest.mark.usefixtures("alone")
def test_who_joins_later_has_it_at_once(server):
    asked = {"exercise": "softmax", "answer": GAVE, "says": "Fine.", "points": 0}
    assert ask(server, "/ask", asked, **key(server))[0] == 204
    joined.join_room(f"127.0.0.1:{server.server_port}")
    assert told.sentence_for("softmax", GAVE) == "Fine."
    who = new(server)
    assert ask(server, "/line", {"who": who, "hand": True}) == (204, b"")
    assert "Fine." in ask(server, "/line", {"who": who, "line": line()})[1]["names"]


@pytest.mark.usefixtures("alone")
def test_nobody_waits_for_a_room_that_is_away(server, monkeypatch):
    joined.join_room(f"127.0.0.1:{server.server_port}")
    asked_in, post = set(), joined._post

    def noted(*request):
        asked_in.add(threading.current_thread())
        return post(*request)

    monkeypatch.setattr(joined, "_post", noted)
    server.shutdown()
    server.server_close()
    for _ in range(200):  # more than are kept
        joined.tell(attempts.log("softmax", 1, 15))
    wait_for(lambda: asked_in)
    assert threading.main_thread() not in asked_in


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "", "file:///etc/passwd", "http://", "nowhere.invalid:80", "[::"]
)
def test_where_no_room_is_a_sentence_says_so(address):
    assert "room" in joined.join_room(address)
    assert joined.joined() is None
