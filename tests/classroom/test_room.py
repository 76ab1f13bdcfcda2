"""`sdpa room`: what it takes and refuses, and what it shows."""

import re
import socket
import threading

import pytest

from sdpa_helpers.classroom.room.room import LINES_AT_ONCE
from sdpa_helpers.classroom.sentences.store import read_sentences
from tests.classroom.rooms import ASK, GAVE, ask, key, line, new, opened


def test_a_class_on_the_board_and_the_phone(server):
    who = [new(server) for _ in range(4)]
    assert ask(server, "/line", {"who": who[0], "line": line()})[0] == 204
    (row,) = ask(server, "/board.json")[1]["rows"]
    assert (row["tried"], row["green"], row["mistakes"]) == (1, 0, [])  # one of four: not told yet
    for number in range(4):
        ask(server, "/line", {"who": who[1], "line": line(when=number)})
    ask(server, "/line", {"who": who[2], "line": line(points=15.0, mistakes=[])})
    ask(server, "/line", {"who": who[3], "hand": True})
    phone = ask(server, "/phone.json", **key(server))[1]
    (row,) = phone["board"]["rows"]
    assert (row["tried"], row["green"]) == (3, 1)
    assert [(m["name"], m["learners"]) for m in row["mistakes"]] == [("not-summed", 2)]
    (found,) = phone["stuck"]
    assert (found["exercise"], found["mistake"], found["tries"]) == ("softmax", "not-summed", 4)
    assert found["name"] == ask(server, "/here.json", X_Room_Who=who[1])[1]["name"]
    assert phone["times"] == [{"exercise": "softmax", "minutes": 0.5, "tried": 3, "green": 1}]
    (hand,) = phone["hands"]
    assert ask(server, "/ask", {"lower": hand["name"]}, **key(server))[0] == 204
    assert ask(server, "/phone.json", **key(server))[1]["hands"] == []


def test_a_sentence_from_the_phone_reaches_who_gave_the_answer_and_the_board(server, tmp_path):
    who = [new(server) for _ in range(4)]
    for number, one in enumerate(who[:3]):
        key_of = GAVE if number < 2 else "f" * 12
        ask(server, "/line", {"who": one, "line": line(when=number, mistakes=[], answer=key_of)})
    asked = {"exercise": "softmax", "answer": GAVE, "says": "You `scaled` <b>it</b>.", "points": -1}
    (found,) = ask(server, "/phone.json", **key(server))[1]["nameless"]
    assert found == {"exercise": "softmax", "key": GAVE, "learners": 2, "says": "", "points": 0.0}
    assert ask(server, "/board.json")[1]["rows"][0]["mistakes"] == []
    assert ask(server, "/ask", asked, X_Room_Key="wrong")[0] == 403
    assert ask(server, "/ask", asked, **key(server))[0] == 204
    (found,) = ask(server, "/phone.json", **key(server))[1]["nameless"]
    assert (found["says"], found["points"]) == (asked["says"], -1.0)
    told = "You <code>scaled</code> &lt;b&gt;it&lt;/b&gt;."
    (shown,) = ask(server, "/board.json")[1]["rows"][0]["mistakes"]
    assert (shown["says"], shown["learners"]) == (told, 2)
    here = [ask(server, "/here.json", X_Room_Who=one)[1]["told"] for one in who]
    assert [[one["says"] for one in mine] for mine in here] == [[told], [told], [], []]
    kept = read_sentences(tmp_path / "names.toml")["softmax", GAVE]
    assert (kept.says, kept.points) == (asked["says"], -1.0)
    ask(server, "/line", {"who": who[0], "line": line(when=9, points=15.0, mistakes=[])})
    assert ask(server, "/here.json", X_Room_Who=who[0])[1]["told"] == []


def test_the_answer_of_who_is_stuck_can_be_named_too(server):
    who, other = new(server), new(server)
    for number in range(4):
        assert ask(server, "/phone.json", **key(server))[1]["nameless"] == []
        ask(server, "/line", {"who": who, "line": line(when=number, mistakes=[], answer=GAVE)})
        ask(server, "/line", {"who": other, "line": line("entropy", when=0, mistakes=[], answer=GAVE)})
    (found,) = ask(server, "/phone.json", **key(server))[1]["nameless"]
    assert (found["exercise"], found["key"], found["learners"]) == ("softmax", GAVE, 1)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"exercise": "softmx"}, 400),
        ({"answer": "0"}, 400),
        ({"says": "x" * 601}, 400),
        ({"says": ["x"]}, 400),
        ({"points": 99}, 400),
        ({"points": True}, 400),
        ({"points": "1"}, 400),
        ({"more": 1}, 400),
        ({"says": "x" * 5_000}, 413),
    ],
)
def test_what_is_no_sentence_is_refused(server, tmp_path, sent, status):
    asked = {"exercise": "softmax", "answer": GAVE, "says": "Fine.", "points": 0}
    assert ask(server, "/ask", asked | sent, **key(server))[0] == status
    assert not (tmp_path / "names.toml").exists()


@pytest.mark.parametrize(("broken", "why"), [("names.toml", "line 2"), ("registered.toml", "cannot be read")])
def test_a_file_of_sentences_that_cannot_be_read_is_told_and_kept(server, tmp_path, broken, why):
    (tmp_path / "names.toml").write_text("version = 1")
    (tmp_path / broken).write_text("version = 1\nsoftmax = 3")
    before = (tmp_path / "names.toml").read_text()
    asked = {"exercise": "softmax", "answer": GAVE, "says": "Fine.", "points": 0}
    status, said = ask(server, "/ask", asked, **key(server))
    assert (status, why in said["message"]) == (409, True)
    assert (tmp_path / "names.toml").read_text() == before
    assert (tmp_path / broken).read_text() == "version = 1\nsoftmax = 3"


def test_two_rounds_and_the_measurement(server):
    who = [new(server) for _ in range(3)]
    assert ask(server, "/line", {"who": who[0], "vote": ASK, "option": 1})[0] == 409
    told = line(ASK, 0.0, max=1.0, mistakes=[], option=0)
    assert ask(server, "/line", {"who": who[2], "line": told})[0] == 204  # from a notebook, whenever that was
    stages = iter(["first", "discuss", "second", "reveal", "closed"])
    ask(server, "/ask", {"stage": next(stages), "question": ASK}, **key(server))
    assert ask(server, "/line", {"who": who[0], "vote": ASK, "option": 0})[0] == 204
    assert ask(server, "/line", {"who": who[0], "vote": ASK, "option": 1})[0] == 204  # may change
    poll = ask(server, "/board.json")[1]["poll"]
    assert (poll["answered"], poll["first"], poll["right"]) == ([2, 0], [], None)
    assert ask(server, "/phone.json", **key(server))[1]["board"]["poll"]["first"] == [1, 1, 0]
    ask(server, "/ask", {"stage": next(stages), "question": ASK}, **key(server))
    assert ask(server, "/line", {"who": who[0], "vote": ASK, "option": 2})[0] == 409
    ask(server, "/ask", {"stage": next(stages), "question": ASK}, **key(server))
    assert ask(server, "/here.json", X_Room_Who=who[0])[1]["voted"] == -1
    ask(server, "/line", {"who": who[0], "vote": ASK, "option": 2})
    ask(server, "/ask", {"stage": next(stages), "question": ASK}, **key(server))
    poll = ask(server, "/board.json")[1]["poll"]
    assert (poll["first"], poll["second"], poll["right"], poll["measured"]) == ([1, 1, 0], [0, 0, 1], 2, "5")
    ask(server, "/ask", {"stage": next(stages), "question": ASK}, **key(server))
    assert ask(server, "/board.json")[1]["poll"] is None


def test_a_slip_is_handed_in_when_slips_are_collected(server):
    who = new(server)
    assert ask(server, "/line", {"who": who, "slip": "why √d?"})[0] == 409
    ask(server, "/ask", {"stage": "slip", "question": ""}, **key(server))
    assert ask(server, "/line", {"who": who, "slip": "why √d?"})[0] == 204
    ask(server, "/line", {"who": who, "slip": " why\n√64? "})
    assert ask(server, "/phone.json", **key(server))[1]["slips"] == ["why √64?"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"line": line()}, 403),
        ({"who": "somebody", "line": line()}, 403),
        ({"who": ["x"], "line": line()}, 403),
        ({"who": "me"}, 400),
        ({"who": "me", "line": "softmax"}, 400),
        ({"who": "me", "line": line("no_such_exercise")}, 400),
        ({"who": "me", "line": line(points=99.0)}, 400),
        ({"who": "me", "line": line(code="def f(x): return x")}, 400),
        ({"who": "me", "line": line(mistakes=["<script>"])}, 400),
        ({"who": "me", "line": line(mistakes=["a"] * 4)}, 400),
        ({"who": "me", "line": line(minutes=float("nan"))}, 400),
        ({"who": "me", "line": line(), "hand": True}, 400),
        ({"who": "me", "hand": 1}, 400),
        ({"who": "me", "vote": ASK, "option": 3}, 400),
        ({"who": "me", "vote": ASK, "option": -1}, 400),
        ({"who": "me", "vote": ASK, "option": True}, 400),
        ({"who": "me", "vote": "03_softmax/other", "option": 0}, 400),
        ({"who": "me", "slip": "x" * 281}, 400),
        ({"who": "me", "slip": " "}, 400),
        ([], 400),
    ],
)
def test_what_is_no_line_is_refused(server, sent, status):
    if isinstance(sent, dict) and sent.get("who") == "me":
        sent = {**sent, "who": new(server)}
    assert ask(server, "/line", sent)[0] == status
    assert ask(server, "/board.json")[1]["rows"] == []


def test_size_kind_and_origin_are_looked_at_first(server):
    who = new(server)
    good = {"who": who, "line": line()}
    assert ask(server, "/line", {**good, "more": "x" * 1_000})[0] == 413
    assert ask(server, "/line", body=b"{" * 500)[0] == 400
    assert ask(server, "/line", good, Content_Type="text/plain")[0] == 415
    assert ask(server, "/line", good, Origin="http://elsewhere.example")[0] == 403
    assert ask(server, "/line", good, Origin="null")[0] == 403
    assert ask(server, "/line", good, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 204
    assert ask(server, "/nothing", {})[0] == 404
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=5) as pipe:
        pipe.sendall(b"POST /line HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n")
        assert b" 411 " in pipe.recv(200)


def test_who_sends_too_much_waits_and_others_do_not(server):
    loud, quiet = new(server), new(server)
    sent = [ask(server, "/line", {"who": loud, "hand": True})[0] for _ in range(LINES_AT_ONCE + 5)]
    assert sent[0] == 204
    assert sent[-1] == 429
    assert ask(server, "/line", {"who": quiet, "line": line()})[0] == 204


def test_the_instructors_page_needs_the_key(server):
    for wrong in ("", "wrong", "é"):
        assert ask(server, "/phone.json", X_Room_Key=wrong)[0] == 403
        assert ask(server, "/ask", {"stage": "closed", "question": ""}, X_Room_Key=wrong)[0] == 403
    assert ask(server, "/ask", {"stage": "first", "question": "?"}, **key(server))[0] == 400
    assert ask(server, "/ask", {"stage": "party", "question": ASK}, **key(server))[0] == 400
    assert server.room.store.key not in str(
        [ask(server, page) for page in ("/board.json", "/phone", "/board", "/")]
    )


def test_the_same_line_twice_is_one(server):
    who = new(server)
    for _ in range(3):
        assert ask(server, "/line", {"who": who, "line": line()})[0] == 204
    assert ask(server, "/line", {"who": new(server), "line": line()})[0] == 204
    assert [work.tries for work in server.room.tally.works["softmax"].values()] == [1, 1]


def test_words_that_somebody_made_up_reach_no_screen(server):
    ask(
        server, "/line", {"who": new(server), "line": line(mistakes=["look-out-of-the-window", "not-summed"])}
    )
    (row,) = ask(server, "/board.json")[1]["rows"]
    assert [mistake["name"] for mistake in row["mistakes"]] == ["not-summed"]


def test_what_the_rooms_pages_name_is_there_without_a_site(server):
    for page in ("/", "/board", "/phone"):
        named = re.findall(r'(?:href|src)="(/room/[^"]+)"', ask(server, page)[1].decode())
        assert {name.rpartition(".")[2] for name in named} == {"css", "js", "svg"}
        assert {ask(server, name)[0] for name in named} == {200}


def test_a_site_is_served_and_nothing_beside_it(tmp_path):
    site = tmp_path / "site"
    (site / "try").mkdir(parents=True)
    (site / "index.html").write_text("<p>the site")
    (site / "try" / "index.html").write_text("<p>try")
    (tmp_path / "secret").write_text("secret")
    (site / "link").symlink_to(tmp_path / "secret")
    with opened(tmp_path / "room.sqlite", site) as server:
        assert ask(server, "/site/")[1] == b"<p>the site"
        assert ask(server, "/site/try/")[1] == b"<p>try"
        assert ask(server, "/site/try")[0] == ask(server, "/site")[0] == 301
        beside = ("/site/../secret", "/site/%2e%2e/secret", "/site/link", "/site//etc/passwd", "/etc/passwd")
        for path in beside:
            assert ask(server, path)[0] == 404, path


def test_sixty_learners_at_once(server):
    """How fast they are answered is in benchmarks/room.py."""
    answered, who = [], [new(server) for _ in range(60)]

    def learn(one):
        for number in range(5):
            answered.append(ask(server, "/line", {"who": one, "line": line(when=number)})[0])

    threads = [threading.Thread(target=learn, args=(one,)) for one in who]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answered == [204] * 300
    assert ask(server, "/board.json")[1]["rows"][0]["tried"] == 60
