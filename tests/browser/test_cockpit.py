"""The cockpit of a class of 500 in a real browser: what it shows, keys, search, names hidden, a phone, both themes."""

import random

import pytest

from sdpa_helpers.classroom.pages import write_class_pages
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.grading.result import GradedExercise, NamedMistake
from tests.results import case, result

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=2<script>'
"""As a file system can hold it."""
MISTAKE = "</script><script>window.hacked=3</script><img src=x onerror=window.hacked=4>"
LEARNERS = 500
LONG = "def f(x):\n    total = 0\n" + "".join(
    f"    total = total + x[{n}] * {n} - len(x) / ({n} + 1)\n" for n in range(6)
)
"""Long enough to tell something; nobody handed it out."""


def graded(exercise, share, mistake=""):
    status = "not-attempted" if share is None else None
    cases = tuple(case((share or 0) * c.points, c.points, c.name, status) for c in exercise.cases)
    mistakes = (NamedMistake(mistake, "You …"),) if mistake else ()
    return GradedExercise(exercise.name, exercise.title, exercise.max_points, cases, mistakes)


def _mistake(name):
    return MISTAKE if name == HOSTILE else "no-scaling"


def learner(name, rng, answers):
    ability = rng.random()
    for lesson in LESSONS:
        given = exercises_of(lesson)
        shares = [rng.choice([None, 0, 0.3, 0.6, ability > 0.4 or 0.8, 1, 1]) for _ in given]
        made = [graded(e, s, _mistake(name) if s == 0.3 else "") for e, s in zip(given, shares, strict=True)]
        if made:
            yield result(name, made, lesson, answers=answers if lesson == "03_softmax" else {})


def write(out, names, shared=()):
    rng, folder = random.Random(7), ResultsFolder(out)
    for number, name in enumerate(names):
        own = {"softmax": LONG, "entropy": LONG.replace("total", "t") + "    return t, total\n"}
        for one in learner(name, rng, own if number in shared else {}):
            folder.write_result(one)
    return folder


@pytest.fixture(scope="module")
def class_of_500(tmp_path_factory):
    earlier = write(tmp_path_factory.mktemp("term") / "spring", ["zoe", "yan"], {0})
    names = [f"learner {n:03}, Ada Lovelace" for n in range(LEARNERS - 1)]
    folder = write(tmp_path_factory.mktemp("class") / "out", [HOSTILE, *names], {0, 5, 9})
    write_class_pages(folder, earlier=[earlier.path])
    return folder


@pytest.fixture
def cockpit(page, class_of_500):
    def opened(**context):
        shown = page(**context)
        shown.goto(class_of_500.cockpit_page.as_uri())
        return shown

    return opened


def test_a_file_that_cannot_be_read_is_not_called_missing(page, tmp_path):
    folder = ResultsFolder(tmp_path)
    first, second = LESSONS[:2]
    folder.write_result(result("ada", [graded(one, 0) for one in exercises_of(first)], first, "unreadable"))
    folder.write_result(result("ben", [graded(one, 1) for one in exercises_of(first)], first))
    folder.write_result(result("ben", [graded(one, 0.3) for one in exercises_of(second)], second))
    write_class_pages(folder)
    shown = page()
    shown.goto(folder.cockpit_page.as_uri())
    of_first, of_second = (len(exercises_of(lesson)) for lesson in (first, second))
    in_words = [one.get_attribute("aria-label") for one in shown.locator("tbody .strip").all()]
    assert in_words[0] == f"{of_first} can't be read, {of_second} not handed in"
    assert in_words[1] == f"{of_second} a quarter or more, {of_first} all points"
    shown.keyboard.press("j")
    assert "ada: can't be read. feedback" in shown.inner_text("#detail")
    assert "in the mean of 1 who tried" in shown.inner_text("#detail")


def test_all_are_shown_and_nothing_of_a_name_runs(cockpit):
    shown = cockpit()
    exercises = sum(len(exercises_of(lesson)) for lesson in LESSONS)
    assert f"{LEARNERS} learners × {exercises} exercises" in shown.text_content("header")
    assert shown.locator("tbody tr").count() == LEARNERS
    assert HOSTILE in shown.locator("tbody th").all_text_contents()
    shown.fill("#search", "window.hacked=3")
    assert shown.locator("tbody tr").count() == 1
    shown.keyboard.press("Escape")
    shown.click("tbody th button >> nth=0")
    while MISTAKE not in shown.text_content("#detail"):
        shown.keyboard.press("l")
    assert shown.evaluate("window.hacked") is None
    assert shown.locator("img, iframe").count() == 0
    shown.keyboard.press("g")
    text = shown.text_content("#groups ol")
    assert HOSTILE in text
    assert "zoe (spring) (2)" in text
    assert "yan" not in text
    assert shown.locator("#groups li").count() == 1
    assert "share: entropy (4), softmax (4)" in text


def test_keys_search_and_sort(cockpit):
    shown = cockpit()
    first = shown.locator("tbody tr").nth(1).locator("th").text_content()
    for key in ("j", "j", "l", "ArrowRight", "h"):
        shown.keyboard.press(key)
    told = shown.text_content("#detail")
    assert first in told
    second = shown.evaluate("columns[1].name")
    assert second in told
    assert shown.locator("tr.here").count() == 1
    shown.keyboard.press("/")
    shown.keyboard.type("LEARNER 42")
    assert shown.locator("tbody tr").count() == sum("42" in f"{n:03}" for n in range(LEARNERS - 1))
    shown.keyboard.press("Escape")
    assert shown.locator("tbody tr").count() == LEARNERS
    shown.fill("#search", "no-scaling")
    assert 0 < shown.locator("tbody tr").count() < LEARNERS
    shown.fill("#search", "nobody is called so")
    assert shown.is_visible("#none")
    shown.fill("#search", "")
    shown.select_option("#sort", "low")
    sums = [float(text) for text in shown.locator("tbody .sum").all_text_contents()]
    assert sums == sorted(sums)
    assert len(set(sums)) > 5


def test_a_click_on_a_cell_tells_of_it_and_leads_to_the_feedback(cockpit):
    shown = cockpit(width=1200)
    line = shown.locator("tbody tr").nth(3).locator(".strip")
    box = line.bounding_box()
    shown.mouse.click(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2)
    last = shown.evaluate("columns.at(-1).name")
    assert last in shown.text_content("#detail")
    href = shown.get_attribute("#detail a", "href")
    assert href.startswith("feedback/learner%20002%2C%20Ada%20Lovelace/")


def test_no_name_is_on_the_screen_where_names_are_hidden(cockpit):
    shown = cockpit()
    shown.keyboard.press("j")
    shown.keyboard.press("a")
    assert "Lovelace" not in shown.inner_text("body")
    assert "img" not in shown.inner_text("body")
    assert shown.locator("#detail a").count() == 0
    assert shown.locator("[title*=Lovelace]").count() == 0
    listed = shown.locator("tbody th").all_text_contents()
    assert listed == [f"learner {n}" for n in range(1, LEARNERS + 1)]
    shown.fill("#search", "Lovelace")
    assert shown.is_visible("#none")
    shown.click("#to-groups")
    text = shown.inner_text("#groups")
    assert "somebody earlier 1" in text
    assert "zoe" not in text
    assert "Lovelace" not in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_and_the_page_is_no_wider_than_the_screen(cockpit, axe, scheme, width):
    shown = cockpit(width=width, color_scheme=scheme)
    shown.keyboard.press("j")
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    # Five hundred rows are alike: of them a few are looked at.
    shown.fill("#search", "learner 42")
    assert axe(shown, "html", every=True) == []
    shown.click("#to-groups")
    assert axe(shown, "html", every=True) == []
    all_of_them = "[...document.querySelectorAll('button, input, select')]"
    assert shown.evaluate(f"{all_of_them}.filter(e => e.offsetHeight && e.offsetHeight < 24).length") == 0
