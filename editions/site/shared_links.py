"""A Sphinx extension: what a link to a page shows of it where it is shared, and the lessons in the course's order."""

import html
import re
from typing import Any

from sphinx.application import Sphinx

from editions.address import served_at
from editions.front.page import ABOUT
from sdpa_helpers.classroom.course_map import FIRST, title_of
from sdpa_helpers.course.registry import DOORS, LESSONS, sheet_of


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", add_tags)
    app.connect("html-page-context", add_course)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_tags(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The page's tags, for those who show links and for those who search."""
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title", "")))
    lesson = pagename.rpartition("/")[2]
    about = sheet_of(lesson).question if lesson in LESSONS else ABOUT
    tags = {"og:type": "article", "og:title": title, "og:description": about}
    tags["og:image"] = f"{served_at() or '../' * pagename.count('/')}front/share.png"
    shown = [f'<meta property="{name}" content="{html.escape(text)}">' for name, text in tags.items()]
    shown += [f'<meta name="description" content="{html.escape(about)}">']
    context["metatags"] = "\n".join([context.get("metatags", ""), *shown])


def add_course(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The lessons, and of one its neighbors; an aside lies between the first two."""
    course = {lesson: title_of(lesson) for lesson in (FIRST, *LESSONS)}
    context["lessons"] = course
    lesson = pagename.removeprefix("lessons/")
    if lesson in (*course, *DOORS):
        before = [one for one in course if one < lesson][-1:]
        after = [one for one in course if one > lesson][:1]
        for name, found in (("prev", before), ("next", after)):
            context[name] = {"link": f"{found[0]}.html", "title": course[found[0]]} if found else None
