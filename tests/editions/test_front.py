"""The first page: what it shows without Python is what the engine says now, and a line of one's own gets its name."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from editions.front import known, page
from sdpa_helpers.classroom.course_map import hours_in_words, with_table
from sdpa_helpers.course import in_page
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import all_exercises, find
from sdpa_helpers.head.consequences import PLACES, consequence
from sdpa_helpers.head.run import run
from tests.browser.front_picture import SIZE, STORED
from tests.browser.harness import open_page

SCREENS = {"laptop": (1280, 800), "phone": (390, 844)}
IN_SIGHT = """() => Object.fromEntries("h1,.what,.go,#line,#run,.asks,.count,.card .head".split(",").map(what => {
    const seen = [...document.querySelectorAll(what)].filter(e => e.checkVisibility());
    return [what, seen.length === 1 ? seen[0].getBoundingClientRect().bottom : Infinity]; }))"""
IS_IN_SIGHT = (
    "e => { const { top, bottom } = e.getBoundingClientRect(); return top >= 46 && bottom <= innerHeight; }"
)
WATCH = """() => { window.silent = 0; window.widths = new Set(); (function look() {
    const shown = [...document.querySelectorAll("#line, #form button")].filter(e => e.checkVisibility());
    window.widths.add(shown.map(e => e.offsetWidth).join());
    window.silent += document.querySelector("#run").disabled && !document.querySelector("#status").textContent;
    requestAnimationFrame(look); })(); }"""
"""Each frame: how wide the field and its button are, and whether nothing is said while something runs."""
LONGEST = 2_229
"""Pixels of the page on a phone 390 wide: it explains more than it did, and got no longer."""
LAST_RADIO = "() => [...document.querySelectorAll('[name=known]')].at(-1).getBoundingClientRect().bottom"


@pytest.fixture(scope="module")
def html(built_site):
    return (built_site("pages") / "index.html").read_text(encoding="utf-8")


def shown(html):
    """Each known line of the page: (line, its part of the page)."""
    lines = re.findall(r'data-line="([^"]+)"', html)
    parts = re.split(r'<div class="known"', html)[1:-1]
    return list(zip(lines, parts, strict=True))


def function_of(line):
    space = {"np": np}
    exec(known.DEFINED + line, space)
    return space[known.EXERCISE]


def test_the_five_cards_are_what_the_engine_says_now(html):
    assert [line for line, _ in shown(html)] == list(known.LINES)
    named = []
    for line, part in shown(html):
        answers = {known.EXERCISE: f"def dot_product(q, k):\n    {line}"}
        verdict = in_page.checked(find(known.EXERCISE), answers)
        _, _, card = verdict.card.partition("</style>")
        assert card.replace("href='attention_scores", "href='try/attention_scores") in part
        assert verdict.passed == (line == known.LINES[0])
        named.append(verdict.mistake)
    assert named[0] == ""
    assert len({*named} & {one.name for one in find(known.EXERCISE).wrong}) == 4


def test_the_heads_answers_and_weights_are_those_of_the_trained_head(html):
    answers = []
    for line, part in shown(html):
        ran = run(PLACES[known.EXERCISE].stages(function_of(line)))
        (says,) = re.findall(r'class="says (yes|no)">([^<]*)<', part)
        assert says == ("yes" if ran.answer == ran.right else "no", ran.answer or "no answer")
        weights = re.findall(r'class="weight">([^<]*)<', part)
        assert weights == [f"{w:.2f}" for w in ran.yours] if ran.yours else ["–"] * 6
        assert re.findall(r"<li><b>(\S+)</b> <span>(\w*)</span>", part) == [
            (*word.split(), "")[:2] for word in ran.words
        ]
        answers.append(ran.answer)
    assert answers[0] == answers[1] == "tea"  # a wrong line that nobody would notice
    assert {*answers} - {"tea"}  # and some that one would


def test_how_many_wrong_attentions_go_unnoticed_is_counted_by_the_course(html):
    wrong = all_exercises()["attention"].wrong
    finds = [consequence("attention", one.function, False).seen for one in wrong]
    unnoticed = sum(bool(seen) and seen[0].survives for seen in finds)
    assert (
        f"Of <b>{len(wrong)}</b> wrong attentions <b>{unnoticed}</b> answer as if nothing were wrong" in html
    )


def test_numbers_stand_where_the_readme_has_them(html):
    (hours,) = re.findall(r"about ([\d½]+ hours?) for the short way", html)
    assert f"About {hours} for the shorts" in hours_in_words(course_root())
    readme = with_table((course_root() / "README.md").read_text(encoding="utf-8"), course_root())
    rows = re.findall(
        r"^\| \[([^]]+)\]\(notebooks/\w+\.ipynb\) \| (.+?) \| (.*?) \| (.*?) \|$", readme, re.MULTILINE
    )
    assert [(one.title, one.question, *one.minutes) for one in page.lessons(course_root())] == rows
    assert f"{len(rows)} lessons" in html


def test_it_may_do_what_a_light_page_may(html):
    policy = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
    light = page.TRY.parent / "templates" / "yours.html"
    (ours,), (theirs,) = policy.findall(html), policy.findall(light.read_text(encoding="utf-8"))
    assert ours == theirs.replace("{{ frame }}", page.sum_of((page.TRY / "frame.js").read_bytes()))


def test_a_shared_link_shows_a_title_a_sentence_and_a_picture(html, built_site):
    assert Image.open(STORED).size == SIZE
    site = built_site("pages")
    for name in ("index.html", "lessons/03_softmax.html"):
        text = (site / name).read_text(encoding="utf-8")
        tags = dict(re.findall(r'<meta (?:property|name)="(og:\w+|description)" content="([^"]*)"', text))
        assert {"og:title", "og:description", "og:image", "description"} <= {*tags}
        assert all(tags.values())
        assert tags["og:image"].startswith("https://") or ((site / name).parent / tags["og:image"]).is_file()


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_has_a_line_a_button_and_an_answer(screen, browser, built_site, site_address):
    built_site("pages")
    width, height = SCREENS[screen]
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        opened = context.new_page()
        asked = []
        opened.on("request", lambda one: asked.append(one.url))
        opened.goto(f"{site_address}/index.html")
        opened.locator("#run").wait_for()
        bottoms = opened.evaluate(IN_SIGHT) | {"radios": opened.evaluate(LAST_RADIO)}
        assert {what for what, bottom in bottoms.items() if bottom > height} == set(), bottoms
        for number, line in enumerate(known.LINES, 1):
            opened.locator(f"[name=known][value='{number}']").check()
            assert opened.locator("#line").input_value() == line
            assert opened.locator(".known:visible").get_attribute("data-known") == str(number)
            if screen == "laptop":
                card = opened.locator(".known:visible .sdpa-card").bounding_box()
                assert card["y"] + card["height"] <= height
        assert not [url for url in asked if "/try/" in url or "/pyodide/" in url]  # no Python for these


def test_without_scripts_the_stored_answers_are_there_and_nothing_promises_to_run(
    browser, built_site, site_address
):
    built_site("pages")
    with browser.new_context(java_script_enabled=False) as context:
        opened = context.new_page()
        opened.goto(f"{site_address}/index.html")
        assert not opened.locator("#run").is_visible()
        assert "last-component-forgotten" in opened.locator(".known:visible").inner_text()
        opened.locator("[name=known][value='4']").check()
        assert opened.locator(".known:visible .says").inner_text() == "milk"


def test_a_line_of_ones_own_gets_its_name_and_the_heads_answer(browser, built_site, site_address):
    built_site("pages", "pyodide", "try")
    opened = open_page(browser, site_address)
    opened.set_default_timeout(120_000)
    opened.goto(f"{site_address}/index.html")
    opened.locator("#line").fill("return (q + k).sum()")
    opened.get_by_role("button", name="Run").click()
    opened.locator("#status", has_text="MB").wait_for()
    opened.locator("#own .sdpa-card").wait_for()
    line = {known.EXERCISE: f"{known.DEFINED}return (q + k).sum()"}
    there = in_page.checked(find(known.EXERCISE), line)
    assert opened.evaluate("() => document.documentElement.dataset.mistake") == there.mistake == "sum-of-sums"
    assert opened.locator("#own .says").inner_text() == "milk"
    opened.locator("#line").fill("return 2 * (q * k).sum()")
    opened.get_by_role("button", name="Run").click()
    opened.locator("#own .sdpa-card", has_text="twice").wait_for()
    assert opened.locator("#own .says").inner_text() == "tea"
    assert opened.locator(".known:visible").count() == 1
    opened.locator("[name=known][value='1']").check()
    assert opened.locator(".known:visible").get_attribute("data-known") == "1"
    assert opened.log.refused == opened.log.thrown == []
    opened.context.close()


def test_on_a_phone_stop_stands_where_run_stood_a_status_stays_and_the_answer_comes_into_sight(
    browser, built_site, site_address
):
    built_site("pages", "pyodide", "try")
    opened = open_page(browser, site_address, width=390, height=664, reduced_motion="reduce")
    opened.set_default_timeout(120_000)
    opened.goto(f"{site_address}/index.html")
    assert opened.evaluate("() => document.documentElement.scrollHeight") <= LONGEST
    opened.evaluate(WATCH)
    for line, said in (("return q @ k / 2", "Look at"), ("return (q @ k", "The bracket ( is never closed.")):
        opened.evaluate("() => scrollTo(0, 0)")
        opened.locator("#line").fill(line)
        opened.locator("#run").click()
        opened.locator("#verdict .sdpa-card", has_text=said).wait_for()
        opened.locator("#run").wait_for()
        assert opened.locator("#own .says").evaluate(IS_IN_SIGHT)
        assert opened.locator("#verdict .head").evaluate(IS_IN_SIGHT)
        assert not re.search(r"line \d|<your", opened.locator("#verdict").inner_text())
    assert opened.evaluate("() => [window.widths.size, window.silent]") == [1, 0]
    assert opened.log.refused == opened.log.thrown == []
    opened.context.close()


def test_what_the_head_says_in_a_page_is_what_it_says_in_a_notebook():
    def asked(line):
        request = {
            "ask": "head",
            "lesson": known.LESSON,
            "name": known.EXERCISE,
            "answers": {known.EXERCISE: line},
        }
        return json.loads(json.loads(in_page.reply(json.dumps(request)))["text"])

    ran = run(PLACES[known.EXERCISE].stages(function_of("return q @ k")))
    told = asked(f"{known.DEFINED}return q @ k")
    assert (told["answer"], told["weights"], told["trouble"]) == (ran.answer, [*map(float, ran.yours)], "")
    assert asked(f"{known.DEFINED}return q * np.nan @ k")["weights"] == [None] * 6
    assert "SyntaxError" in asked("def dot_product(q, k:")["trouble"]


def test_who_has_earned_points_goes_on_where_they_stopped(browser, built_site, site_address):
    built_site("pages", "pyodide", "try")
    page = open_page(browser, site_address)
    for points, wanted in (
        ({}, ("Start the short course", "lessons/00_start_here.html")),
        ({"softmax": 15}, ("Go on with 04 Gradients", "lessons/04_gradients.html")),
        ({"dot_product": 100, "softmax": 3}, ("Go on with 03 Softmax", "lessons/03_softmax.html")),
        ({"entropy": 5}, ("Go on with the exercises", "try/index.html")),
        ({"fair_comparison": 1000}, ("Go on with the exercises", "try/index.html")),
    ):
        page.goto(f"{site_address}/index.html")
        kept = {"version": 1, "answers": {}, "points": points, "attempts": []}
        page.evaluate("kept => localStorage.setItem('sdpa-try', kept)", json.dumps(kept))
        page.reload()
        link = page.locator(".go .main")
        assert (link.inner_text(), link.evaluate("one => one.href")) == (
            wanted[0],
            f"{site_address}/{wanted[1]}",
        )
    assert page.log.thrown == []
    page.context.close()
