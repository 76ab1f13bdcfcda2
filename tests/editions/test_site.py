"""The site's pages: every link inside leads somewhere, nothing comes from elsewhere, the lessons are whole."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from editions.site.source import only_serves_the_page, with_asides
from editions.try_it.words import NO_CELLS
from sdpa_helpers.classroom.course_map import FIRST
from sdpa_helpers.course.in_page import IN_A_PAGE
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import DOORS, LESSONS

NOT_OURS = ("lite/lab/", "lite/doc/", "lite/build/", "lite/extensions/", "pyodide/", "_static/")
"""What JupyterLite and Sphinx bring along: applications without links, and parts."""


class Page(HTMLParser):
    """What a page refers to, the anchors it has, and its folded sections."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.twice: set[str] = set()
        self.folded = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("id") in self.anchors:
            self.twice.add(given["id"])
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.folded += tag == "details" and "folded" in given.get("class", "").split()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loads.append(given.get("href", ""))
        elif tag in ("img", "script", "iframe", "source", "video") and given.get("src"):
            self.loads.append(given["src"])


@pytest.fixture(scope="module")
def site(built_site):
    return built_site("pages", "pyodide", "try", "lite", "mistakes", "slides")


@pytest.fixture(scope="module")
def pages(site):
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    ours = {name: path for name, path in found.items() if not name.startswith(NOT_OURS)}
    return {name: Page(path) for name, path in ours.items()}


def test_every_lesson_and_every_exercise_notebook_has_a_page(pages):
    wanted = {f"lessons/{name}.html" for name in (FIRST, *DOORS, *LESSONS)} | {
        f"exercises/{name}.html" for name in LESSONS
    }
    assert wanted | {"index.html", "ledger.html", "search.html"} <= set(pages)


def test_every_link_inside_leads_to_a_page_and_an_anchor(pages, site):
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            goal = (
                ((site / name).parent / unquote(parts.path)).resolve()
                if parts.path
                else (site / name).resolve()
            )
            place = goal.relative_to(site.resolve()).as_posix()
            if asked := parse_qs(parts.query).get("path"):  # a notebook that the application opens
                broken += [] if (site / "lite" / "files" / asked[0]).is_file() else [f"{name} → {link}"]
            anchors = pages[place].anchors if parts.fragment and place in pages else {unquote(parts.fragment)}
            if not goal.is_file() or unquote(parts.fragment) not in anchors:
                broken.append(f"{name} → {link}")
    assert not broken, broken


def test_no_anchor_stands_twice_on_a_page(pages):
    assert {name: page.twice for name, page in pages.items() if page.twice} == {}


def test_nothing_is_loaded_from_elsewhere(pages, site):
    loads = [(name, load) for name, page in pages.items() for load in page.loads if load[:5] != "data:"]
    assert not [one for one in loads if urlsplit(one[1]).netloc]
    places = {one: (site / one[0]).parent / unquote(urlsplit(one[1]).path) for one in loads}
    assert not [one for one, place in places.items() if not place.is_file()]
    styles = list((site / "_static").rglob("*.css"))
    assert len(styles) > 3
    assert not [
        path.name
        for path in styles
        if re.search(r"url\([\"']?(https?:)?//", path.read_text(encoding="utf-8"))
    ]


def test_an_exercise_in_a_page_speaks_of_no_cell_that_is_not_there(pages, site):
    """Its notebook's cells are said to be the notebook's."""
    named = [name for name in pages if name.startswith(("try/", "exercises/"))]
    assert len(named) > 100
    for name in named:
        text = re.sub(
            r"<(script|textarea)\b.*?</\1>|<[^>]*>", "", (site / name).read_text("utf-8"), flags=re.DOTALL
        )
        said = re.findall(r"[^.]{0,40}\bcells?\b.{0,20}", text)
        assert not [words for words in said if "cell of the notebook" not in words], name


def test_the_short_of_a_lesson_speaks_of_no_cell_to_run(site):
    """Each wording of a notebook that a page replaces stands in some notebook still."""
    for lesson in (FIRST, *LESSONS):
        page = (site / "lessons" / f"{lesson}.html").read_text("utf-8")
        short = re.sub(
            r"<(script|style|pre)\b.*?</\1>|<[^>]*>", "", page.split('id="the-long-way"')[0], flags=re.DOTALL
        )
        assert not re.search(r"Shift \+|\b[Rr]un the cell|cell (above|below)|both cells", short), lesson
    told = "".join(path.read_text("utf-8") for path in course_root().glob("*/*.ipynb"))
    assert not [
        words
        for words in {*NO_CELLS} - {*IN_A_PAGE}
        if json.dumps(words, ensure_ascii=False)[1:-1] not in told
    ]


def test_what_goes_deeper_is_folded(pages):
    for lesson in LESSONS:
        assert pages[f"lessons/{lesson}.html"].folded >= 2, lesson


def test_what_only_serves_a_page_is_folded_and_no_mathematics():
    assert only_serves_the_page("import numpy as np\nfrom x import y\n\nsdpa.walk_through(step=4)")
    assert only_serves_the_page('changed = 1 + 1\nlesson.predict("one", changed)')
    assert not only_serves_the_page("import numpy as np\n\nx = np.ones(3)\nx.sum()")
    assert not only_serves_the_page("def softmax(x):\n    return np.exp(x)\n\ncheck(softmax)")
    assert not only_serves_the_page("%timeit f()")


def test_sources_and_sentences_in_brackets_are_asides_where_they_stand_in_a_paragraph():
    for text in ("RoPE{ (Su et al. 2021)} tells", "Wrong{ (article C, claim 74)}.", "So.{ (It is *one*.)}"):
        assert with_asides(re.sub("[{}]", "", text)) == text.replace("{", "[").replace("}", "]{.aside}")
    for text in ("## It (article C, claim 7)", "> x (Su 2021)", "| a (Su 2021) |", "\n(One. Two.)"):
        assert with_asides(text) == text


def test_a_formula_is_there_for_eyes_and_for_screen_readers_without_a_script(built_site):
    page = (built_site("pages") / "lessons" / "02_variance_proof.html").read_text(encoding="utf-8")
    formulas = re.findall(r'<(?:span|div) class="math".*?</math></(?:span|div)>', page, re.DOTALL)
    assert len(formulas) == page.count('class="math"') > 100
    assert all("<svg" in one and 'role="img"' not in one for one in formulas)


def test_the_side_bar_has_one_door_for_those_who_teach(built_site):
    page = (built_site("pages") / "lessons" / "03_softmax.html").read_text(encoding="utf-8")
    [bar] = re.findall(r'<nav class="bd-links".*?</nav>', page, re.DOTALL)
    assert "../teaching.html" in bar
    assert "instructors/" not in bar
