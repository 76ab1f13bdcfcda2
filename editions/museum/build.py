"""Write the museum: a page for each exercise, an address for each of its mistakes, and the way in by topic."""

import html
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from docutils.nodes import make_id

from editions.look.pages import templates_in, write_look
from editions.museum.exhibits import NOT_HERE, Exhibit, MuseumRoom, room_of
from sdpa_helpers.course.registry import LESSONS, all_exercises, sheet_of

HERE = Path(__file__).parent
MOST_SHOWN = 5
"""Lines of an exhibit at the way in."""


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
    count = sum(len(room.exhibits) for _, _, those in rooms for room in those)
    lived = [one.worlds for _, _, those in rooms for room in those for one in room.exhibits if one.worlds]
    unseen = sum(all(world.survives for world in worlds) for worlds in lived)
    quiet = unnoticed([room for _, _, those in rooms for room in those])
    told = {"rooms": rooms, "count": count, "lived": len(lived), "unseen": unseen, "quiet": quiet}
    (into / "index.html").write_text(pages.get_template("index.html").render(told), encoding="utf-8")


def unnoticed(rooms: Sequence[MuseumRoom]) -> list[tuple[MuseumRoom, Exhibit]]:
    """Of each room the mistake of a few lines that people made most, and that no world shows.

    One that many exercises share, such as rounding, isn't shown: it says nothing of its own.
    """
    shared = Counter(one.name for room in rooms for one in room.exhibits)
    found = []
    for room in rooms:
        those = [one for one in room.exhibits if one.answers and shared[one.name] <= 2]
        those = [one for one in those if one.worlds and all(world.survives for world in one.worlds)]
        those = [one for one in those if 0 < len(one.lines) <= MOST_SHOWN]
        found += [(room, max(those, key=lambda one: one.answers))] if those else []
    return found


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
