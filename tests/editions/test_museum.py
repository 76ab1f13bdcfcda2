"""The museum: every mistake of every page has an address, where it runs; and what is pasted gets a name."""

import re
from dataclasses import replace

import pytest

from editions.museum.build import build_museum, light
from editions.museum.exhibits import room_of
from sdpa_helpers.course.registry import LESSONS, find
from tests.browser.harness import open_page
from tests.editions.editor import paste
from tests.nightly import at_night


@pytest.fixture(scope="module")
def softmax():
    return room_of(find("softmax"))


def test_every_mistake_of_the_page_is_shown_once_with_the_line_that_differs(softmax):
    assert [one.name for one in softmax.exhibits] == list({w.name: 0 for w in find("softmax").wrong})
    [one] = [one for one in softmax.exhibits if one.name == "global-max-subtracted"]
    text = [(line.sign, re.sub(r"<[^>]+>", "", line.html).strip()) for line in one.lines]
    assert text == [
        ("−", "shifted = x - np.max(x, axis=axis, keepdims=True)"),
        ("+", "shifted = x - np.max(x)"),
    ]
    assert "nan" in one.example
    assert {world.world: world.survives for world in one.worlds} == {
        "find": True,
        "many": True,
        "loud": False,
        "estimate": True,
        "hidden": True,
    }
    assert 0 < one.answers <= softmax.collected


def test_a_line_that_only_has_other_brackets_does_not_differ():
    exercise = find("attention")
    [wrong] = [wrong for wrong in exercise.wrong if wrong.name == "no-scaling"]
    [one] = room_of(replace(exercise, wrong=(wrong,))).exhibits
    assert not [line for line in one.lines if "return" in line.html]
    assert sum(line.sign == "+" for line in one.lines) == 1


def test_styles_that_repeat_stand_once_in_the_head():
    page = light("<head></head><b style='color:red'>1</b><b style='color:red'>2</b><i style='top:0'>3</i>")
    assert page.count("color:red") == 1
    assert page.count("data-s=0") == 2


@pytest.mark.parametrize("lesson", [at_night(lesson) for lesson in LESSONS if lesson != "03_softmax"])
def test_a_lesson_has_a_room_for_each_exercise(lesson, tmp_path):
    build_museum(tmp_path / "mistakes", [lesson])
    index = (tmp_path / "mistakes" / "index.html").read_text(encoding="utf-8")
    for page, name in re.findall(r'<li title="[^"]*"><a href="(\w+\.html)#([^"]+)"', index):
        assert f'<section class="exhibit" id="{name}"' in (tmp_path / "mistakes" / page).read_text(
            encoding="utf-8"
        )


def test_words_find_mistakes_by_name_sentence_and_code(browser, built_site, site_address):
    built_site("mistakes")
    page = open_page(browser, site_address)
    page.goto(f"{site_address}/mistakes/softmax.html?find=np.min")
    page.locator("#found", has_text="1 of").wait_for()
    assert page.locator(".exhibit:visible h2").inner_text().startswith("minimum subtracted")
    page.locator("#words").fill("keepdims axis whole")
    assert page.locator(".exhibit:visible").count() > 1
    assert page.log.refused == page.log.thrown == []
    page.context.close()


def test_the_way_in_shows_what_is_met_most_and_one_field_finds_the_rest(
    browser, built_site, site_address, softmax
):
    built_site("mistakes", "search")
    page = open_page(browser, site_address)
    page.goto(f"{site_address}/mistakes/index.html")
    links = [link.get_attribute("href") for link in page.locator("#famous h3 a").all()]
    met = [one.answers for link in links for one in softmax.exhibits if link == f"softmax.html#{one.name}"]
    assert len(met) == len(links) == 8
    assert met[0] == max(one.answers for one in softmax.exhibits)
    assert met == sorted(met, reverse=True)
    assert page.locator("details[open]").count() == page.locator(".names li:visible").count() == 0
    page.locator("#words").fill("keepdims")
    assert page.locator(".names li:visible").count() > 1
    assert not page.locator("#famous").is_visible()
    page.get_by_role("button", name="Search the whole course").click()
    page.wait_for_url("**/search.html?q=keepdims")
    page.goto(f"{site_address}/mistakes/index.html#03_softmax")
    page.locator("details[open] .names").first.wait_for()
    assert page.log.refused == page.log.thrown == []
    page.context.close()


def test_what_is_pasted_in_the_page_gets_its_name_and_a_link(browser, built_site, site_address):
    built_site("pyodide", "try")
    page = open_page(browser, site_address)
    page.set_default_timeout(120_000)
    page.goto(f"{site_address}/try/yours.html")
    page.get_by_role("button", name="Which mistake is it?").click()
    page.locator("#verdict .sdpa-card", has_text="no-scaling").wait_for()
    link = page.locator("#where a")
    assert link.get_attribute("href") == "../mistakes/attention.html#no-scaling"
    paste(page, "while True:\n    pass\n")
    page.get_by_role("button", name="Which mistake is it?").click()
    page.get_by_role("button", name="Stop").click()
    page.locator("#status", has_text="Stopped").wait_for()
    assert page.log.refused == page.log.thrown == []
    page.context.close()
