"""What a page takes from behind the wall: within bounds, as text, and no element that no card has.

Nothing here runs behind the wall, so the page is one that starts no Python by itself.
"""

import json
import re

import pytest

from sdpa_helpers.course import in_page
from sdpa_helpers.course.registry import LESSONS, sheet_of
from tests.nightly import BRIEFLY_AND_AT_NIGHT

MILLIONS = "".join(f"<b a{number}>" for number in range(10_000)) + "<p>" * 30_000
"""HTML's rules make 300 million elements of it."""
NAMESPACES = (
    "<div " + " ".join(f"xmlns:a{n}='u{n}'" for n in range(8000)) + ">" + "<a0:p/>" * 10_000 + "</div>"
)
"""XML's rules look through all of them for each element."""


@pytest.fixture(scope="module")
def page(browser, built_site, site_address):
    built_site("pyodide", "try")
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.thrown = []
    opened.on("pageerror", lambda error: opened.thrown.append(str(error)))
    opened.goto(f"{site_address}/try/yours.html")
    yield opened
    assert opened.thrown == []
    opened.close()


GOOD = {"card": "", "text": "x", "mistake": "", "points": 13, "printed": "", "answer": "0123456789ab"}
BAD_FIELDS = [
    *({"points": one} for one in (-1, 14, 1e300, "13", None, True)),
    *({"card": one} for one in (None, 1, ["<b>"], {"toString": 1}, "x" * 300_001)),
    *({"printed": one} for one in (None, "x" * 30_001)),
    *({"mistake": one} for one in (0, "x" * 201)),
    {"text": {"length": 1}},
]


def test_what_comes_out_is_read_within_bounds_or_not_at_all(page):
    read = """async ([message, most]) => (await import("./said.js")).said(message, most)"""

    def said(verdict, **more):
        return page.evaluate(read, [json.dumps({"id": 1, "verdict": verdict, **more}), 13])

    assert said(json.dumps(GOOD | {"more": 1})) == {"id": 1, "verdict": GOOD}
    for one in BAD_FIELDS:
        assert said(json.dumps(GOOD | one)) is None, one
    for key in ("<b>", "0" * 13, "0123456789AB", ["0123456789ab"], 123456789012, None):
        assert said(json.dumps(GOOD | {"answer": key})) == {"id": 1, "verdict": GOOD | {"answer": ""}}, key
    assert said(json.dumps(GOOD), id="1") is None
    assert said(GOOD) is None
    for message in (
        None,
        3,
        {"id": 1},
        ["[]"],
        "",
        "[]",
        "null",
        "no json",
        '{"state": "failed"}',
        " " * 1_000_001,
    ):
        assert page.evaluate(read, [message, 13]) is None, message


SHAPE = """(html) => { const shape = (node) => node.nodeType === Node.TEXT_NODE ? node.data : [node.localName,
        [...node.classList].sort().join(" "), node.style.cssText, node.ariaHidden, node.ariaLabel,
        node.getAttribute("tabindex"), ...[...node.childNodes].map(shape)];
    const place = document.createElement("template");
    place.innerHTML = html;
    for (const style of place.content.querySelectorAll("style")) style.remove();
    const theirs = [...place.content.childNodes].map(shape);
    return import("./card.js").then(({drawn}) => [theirs, [...drawn(html, "x.html").childNodes].map(shape)]); }"""


@BRIEFLY_AND_AT_NIGHT
def test_a_card_is_drawn_as_the_engine_wrote_it(page, course, at_night):
    """Every element, class and style that cards have is one that a page draws."""
    fewer = 1 if at_night else 3
    drawn = set()
    for lesson in LESSONS:
        cells = json.loads((course / "solutions" / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        answers = {name: text for text in texts for name in in_page.answered_in(text)}
        for exercise in sheet_of(lesson).exercises[:: fewer * (4 if lesson != "03_softmax" else 2)]:
            if exercise.name not in answers:
                continue
            right = answers[exercise.name]
            wrong = re.sub(r"return (?!None)(.+)$", r"return 1.01 * (\1)", right, count=1, flags=re.MULTILINE)
            for ask, text in (
                ("check", right),
                ("check", wrong),
                ("check", ""),
                ("hint", ""),
                ("solution", ""),
            ):
                asked = {
                    "ask": ask,
                    "lesson": lesson,
                    "name": exercise.name,
                    "answers": {**answers, exercise.name: text},
                }
                if card := json.loads(in_page.reply(json.dumps(asked)))["card"]:
                    theirs, ours = page.evaluate(SHAPE, card)
                    assert ours == theirs, (exercise.name, ask)
                    drawn |= set(re.findall(r"<(\w+)", card))
    assert {"table", "details", "pre", "a", "summary"} <= drawn


def test_a_card_that_is_none_of_the_courses_is_refused_at_once(page):
    draw = """card => import("./card.js").then(({drawn}) => {
        const from = performance.now(), made = drawn(card, "x.html");
        return [made.textContent, made.querySelectorAll("*").length, performance.now() - from]; })"""
    entities = "<!DOCTYPE x [<!ENTITY a 'x'>]><p>&a;</p>"
    for card in (
        MILLIONS,
        "<p>left open",
        entities,
        f"</div>{entities}<div>",
        "<p>" * 300 + "</p>" * 300 + "<",
        NAMESPACES,
    ):
        text, elements, took = page.evaluate(draw, card)
        assert text.startswith("This card is not one of the course's"), card[:60]
        assert elements == 0
        assert took < 2000
    text, *_ = page.evaluate(draw, "<p>x" + "\u0301" * 290_000 + "</p>")  # drawn, they ended the page
    assert text == "x" + "\u0301" * 8
    text, elements, _ = page.evaluate(draw, "<p>x</p>" * 40_000)
    assert elements <= 20_000
    text, elements, _ = page.evaluate(
        draw, "<p>\x1b[31m\x00\x85\ufffe\tred&nbsp;</p>"
    )  # a learner's own print may hold it
    assert (text, elements) == ("\ufffd[31m\ufffd\ufffd\ufffd\tred\xa0", 1)


def test_a_page_makes_no_text_to_html(course):
    """By which a stranger's text would become elements; what a card needs is in card.js, and inert."""
    for path in (course / "editions" / "try_it" / "static").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|\beval\(|new Function", text
        ), path
        assert "DOMParser" not in text or path.name == "card.js"
