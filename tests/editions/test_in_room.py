"""The browser editions in an instructor's room: each check is on the board, and what is told of it comes back."""

import threading
import time

import pytest

from sdpa_helpers.classroom.room.questions import known, questions
from sdpa_helpers.classroom.room.room import Room
from sdpa_helpers.classroom.room.server import RoomServer
from sdpa_helpers.classroom.room.store import Store
from tests.browser.harness import open_page

from .editor import NOT_OFFLINE, START_MS, check, write
from .test_lite import ANSWER, CHECK, SETUP, STUB, WRONG, Desk


@pytest.fixture
def room(needs, built_site, tmp_path):
    """The instructor's room with the site in it, as `sdpa room --site` opens it."""
    needs("jupyterlite_core")
    site, store, asked = built_site("pyodide", "lite", "try"), Store(tmp_path / "room.sqlite"), questions()
    opened = Room(store, known(asked), asked, True, tmp_path / "names.toml")
    server = RoomServer(("127.0.0.1", 0), opened, site)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
    store.close()


NAMELESS = f"{STUB}    return x * 1.37 + 0.21\n"


def test_who_opened_the_rooms_page_has_a_place_there_with_jupyterlite(browser, room):
    address = f"http://127.0.0.1:{room.server_port}"
    desk = Desk(browser, address)
    desk.page.goto(address)
    desk.page.wait_for_function("() => localStorage.getItem('sdpa-room')")
    (name,) = room.room.tally.names
    desk.address += "/site"
    desk.open("exercises/03_softmax.ipynb")
    desk.page.get_by_text(name).wait_for()  # in the side bar
    desk.run(SETUP)
    for answer in (WRONG, NAMELESS):
        desk.type(ANSWER, answer)
        desk.run(ANSWER)
        assert "From your instructor" not in desk.run(CHECK).inner_text()
    work = tried(room, name, 2)
    assert (work.mistakes, len(work.answer)) == ((), 12)
    (first, _) = [event.attempt for event in room.room.store.events()]
    assert first.mistakes == ("no-max-subtracted",)
    tell(room, work)
    end = time.monotonic() + 20
    while TOLD not in desk.run(CHECK).inner_text():  # it comes back with a line, some time after it
        assert time.monotonic() < end
        time.sleep(0.2)
    assert desk.page.log.refused == []
    desk.page.context.close()


def tried(room, name, times):
    """What the room knows of somebody's softmax, after so many tries."""
    end = time.monotonic() + 20
    while (work := room.room.tally.works["softmax"].get(name)) is None or work.tries < times:
        assert time.monotonic() < end
        time.sleep(0.05)
    return work


def test_a_light_page_says_which_answer_it_was_and_what_the_instructor_tells(browser, room):
    address = f"http://127.0.0.1:{room.server_port}"
    page = open_page(browser, address, **NOT_OFFLINE)
    page.set_default_timeout(START_MS)
    page.goto(address)
    page.wait_for_function("() => localStorage.getItem('sdpa-room')")
    (name,) = room.room.tally.names
    page.goto(f"{address}/site/try/softmax.html")
    write(page, WRONG)
    assert "instructor" not in check(page)
    assert (tried(room, name, 1).mistakes, tried(room, name, 1).answer) == (("no-max-subtracted",), "")
    write(page, NAMELESS)
    assert "instructor" not in check(page)
    tell(room, tried(room, name, 2))
    check(page)
    page.wait_for_function("() => localStorage.getItem('sdpa-told')")
    page.reload()
    assert TOLD in check(page)
    assert page.log.refused == page.log.thrown == []
    page.context.close()


TOLD = "From your instructor: You scaled <i>it</i>."


def tell(room, work):
    """What an instructor writes on the phone, of the answer that somebody has now."""
    assert len(work.answer) == 12
    asked = {"exercise": "softmax", "answer": work.answer, "says": "You `scaled` <i>it</i>.", "points": 0}
    room.room.ask(room.room.store.key, asked)
