"""Write the museum: a page for each exercise, an address for each of its mistakes, and the way in by topic."""

import html
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from docutils.nodes import make_id

from editions.kit.wrong_answers import met_in
from editions.look.pages import templates_in, write_look
from editions.museum.exhibits import NOT_HERE, Exhibit, MuseumRoom, room_of
from sdpa_helpers.course.registry import LESSONS, all_exercises, sheet_of

HERE = Path(__file__).parent
MOST_SHOWN = 8
"""Exhibits at the way in."""


def build_museum(into: Path, lessons: Iterable[str] = LESSONS) -> None:
    """Write the pages into a folder beside those of the lessons and of the exercises. lessons: those to show."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(HERE / "static", into)
    write_look(into.parent)
    pages = templates_in(HERE / "templates")
    pages.filters["section_id"] = make_id
    pages.filters["plain"] = plain
    rooms = [(lesson, sheet_of(lesson), rooms_of(lesson)) for lesson in lessons]
    for _, _, those in rooms:
        for room in those:
            text = pages.get_template("room.html").render(room=room)
            (into / f"{room.name}.html").write_text(light(text), encoding="utf-8")
    shown = [room for _, _, those in rooms for room in those]
    lived = [one.worlds for room in shown for one in room.exhibits if one.worlds]
    told = {
        "rooms": rooms,
        "count": sum(len(room.exhibits) for room in shown),
        "lived": len(lived),
        "found": sum(worlds[0].survives for worlds in lived),
        "unseen": sum(all(world.survives for world in worlds) for worlds in lived),
        "famous": famous(shown),
    }
    (into / "index.html").write_text(pages.get_template("index.html").render(told), encoding="utf-8")


def famous(rooms: Sequence[MuseumRoom]) -> tuple[MuseumRoom, list[Exhibit]]:
    """The room with most collected answers, attention's in the whole museum, and what most of them do wrong."""
    room = max(rooms, key=lambda one: one.collected)
    by_name = {one.name: one for one in room.exhibits}
    return room, [by_name[one.name] for one in met_in(room.name)[:MOST_SHOWN]]


def rooms_of(lesson: str) -> list[MuseumRoom]:
    """A lesson's exercises with mistakes of their own."""
    those = [one for one in all_exercises().values() if one.lesson == lesson]
    return [room_of(one) for one in those if one.wrong and not one.name.startswith(NOT_HERE)]


def light(page: str) -> str:
    """A page whose styles stand once in its head: matrices repeat a few of them thousands of times."""
    numbers: dict[str, int] = {}

    def short(found: re.Match[str]) -> str:
        return f"data-s={numbers.setdefault(found[1], len(numbers))}"

    body = re.sub(r"style='([^']*)'", short, page)
    rules = "".join(f"[data-s='{number}']{{{style}}}" for style, number in numbers.items())
    return body.replace("</head>", f"<style>{rules}</style>\n</head>", 1)


def plain(text: str) -> str:
    """A sentence of HTML as text, for where there are no elements."""
    return html.unescape(re.sub(r"<[^>]+>", "", text))
