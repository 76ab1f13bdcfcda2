"""The instructor's kit: up to date, true to the lessons, and its minutes add up."""

import re
from datetime import datetime

import pytest

from editions.kit import plans as plans_module
from editions.kit.pages import pages
from editions.kit.plans import MOST_HOMEWORK, DoesNotFit, minutes_in_class, plans, short_minutes
from editions.kit.questions import asked
from editions.kit.words import ToAsk, has_board, words_of
from editions.kit.wrong_answers import collection_size, likely_mistakes
from sdpa_helpers.checking.pages.page_text import PageError
from sdpa_helpers.classroom.course_map import FIRST
from sdpa_helpers.classroom.room.questions import questions
from sdpa_helpers.course.registry import LESSONS, all_exercises, find
from tests.corpus import entries

BY_HAND = ("day-before.md", "does-it-teach.md", "mail.md", "one-sentence.md", "room.md", "term.md")


@pytest.fixture(scope="module")
def written():
    return pages()


@pytest.fixture(scope="module")
def planned():
    return plans()


@pytest.fixture(scope="module")
def folder(course):
    return course / "docs" / "instructors"


def test_the_stored_pages_are_those_of_today(written, folder):
    for name, text in written.items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"{name}: run `make kit`"
    assert {p.name for p in folder.glob("*.md")} == {*written, *BY_HAND}


@pytest.mark.parametrize("lesson", [FIRST, *LESSONS])
def test_a_lesson_has_a_page_where_it_has_words_and_a_drawing_where_it_has_a_board(written, course, lesson):
    words, board = words_of(lesson), course / "sdpa_helpers" / "lessons" / lesson[3:] / "board.svg"
    assert (f"{lesson}.md" in written) == bool(words)
    if words:
        assert written[f"{lesson}.md"].count("- Tempting: ") == len(words.questions)
        assert written[f"{lesson}.md"].count("/board.svg)") == has_board(lesson) == board.is_file()
    if has_board(lesson):
        drawing = board.read_text(encoding="utf-8")
        assert re.search(r'aria-label="[^"]{30,}"', drawing)
        assert min(map(float, re.findall(r'font-size="([\d.]+)"', drawing))) >= 12


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ("## Skip", "## Leave out", 19, "`Leave out` is none of Goal, Begin, On the board"),
        ("## Skip\n", "", 3, "the heading `## Skip` is missing"),
        ("· tempting 1", "· tempts", 29, "`- name_of_a_prediction · tempting 1` is expected"),
    ],
)
def test_what_cannot_be_read_names_its_line(course, tmp_path, monkeypatch, before, after, line, says):
    text = (course / "sdpa_helpers/lessons/softmax/kit.md").read_text(encoding="utf-8")
    (tmp_path / "kit.md").write_text(text.replace(before, after, 1), encoding="utf-8")
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    words_of.cache_clear()
    with pytest.raises(PageError, match=f"/kit.md, line {line}: {says}"):
        words_of("90_scratch")
    words_of.cache_clear()


def test_links_lead_to_something(folder):
    for page in folder.glob("*.md"):
        for link, anchor in re.findall(r"\]\(([^)#\s]+)(#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not link.startswith(("https://doi.org/", "https://arxiv.org/")):
                assert (folder / link).exists(), f"{page.name}: {link}"
            if anchor:
                assert f"\n## {anchor[1:].replace('-', ' ').capitalize()}\n" in (folder / link).read_text()


def test_plans_add_up(planned):
    for day in (day for plan in planned for day in plan.days):
        moment = datetime.strptime(day.starts, "%H:%M")
        for before, row in zip((None, *day.rows), day.rows, strict=False):
            starts = datetime.strptime(row.starts, "%H:%M")
            assert (starts - moment).seconds == 60 * (before.minutes if before else 0)
            moment = starts
        length = datetime.strptime(day.ends, "%H:%M") - datetime.strptime(day.starts, "%H:%M")
        assert sum(row.minutes for row in day.rows) + day.reserve == length.seconds // 60
        assert day.reserve >= 10
        assert all(work.minutes <= MOST_HOMEWORK for work in day.homework)
        assert all(
            work.minutes == sum(find(name).minutes for name in work.exercises) for work in day.homework
        )
        for row in day.rows:
            names = re.findall(r"`(\w+)`", row.what) if row.kind == "do" else []
            assert set(names) <= set(all_exercises())
            assert 0 <= row.minutes - sum(find(name).minutes for name in names) < 5 or row.kind != "do"


def test_five_weeks_teach_every_lesson_and_never_ask_twice_for_an_exercise(planned):
    (weeks,) = [plan for plan in planned if plan.name == "five-weeks"]
    taught = [
        re.search(r"\((\w+)\.md\)", r.what)[1] for d in weeks.days for r in d.rows if r.kind == "lesson"
    ]
    assert taught == [FIRST, *LESSONS]
    in_class = [
        n for d in weeks.days for r in d.rows if r.kind == "do" for n in re.findall(r"`(\w+)`", r.what)
    ]
    at_home = [name for day in weeks.days for work in day.homework for name in work.exercises]
    assert len({*in_class, *at_home}) == len([*in_class, *at_home])
    assert {"attention", "attention_backward", "tiled_attention", "multi_head_attention"} <= {*at_home}


def test_a_day_that_is_too_short_is_refused(monkeypatch, tmp_path):
    (tmp_path / "plans.toml").write_text(
        '[short]\ntitle = "t"\nfor_whom = "w"\ndays = [{ name = "Monday", starts = "09:00", ends = "09:20", '
        'rows = [{ do = ["softmax"] }, { pause = 10 }] }]\n'
    )
    monkeypatch.setattr(plans_module, "HERE", tmp_path)
    with pytest.raises(DoesNotFit, match="Monday: its rows need 5 minutes more"):
        plans()


def test_a_lesson_in_class_takes_its_short_its_long_way_and_two_minutes_a_question(course):
    head = (course / "notebooks" / "03_softmax.ipynb").read_text(encoding="utf-8")
    (short,) = re.findall(r"\*\*(\d+) minutes\*\*", head)
    (long_way,) = re.findall(r"About (\d+) minutes, an estimate", head)
    asked = len(words_of("03_softmax").questions)
    assert minutes_in_class("03_softmax") == int(short) + int(long_way) + 2 * asked
    assert short_minutes("03_softmax") == int(short)


def test_the_right_answer_is_the_one_that_the_notebook_found():
    question = asked("03_softmax", ToAsk("global_maximum", 1, ""))
    assert question.right.text == "`[nan nan]`"
    assert "0.269" in question.tempting.text
    with pytest.raises(ValueError, match="answer 4 is right"):
        asked("03_softmax", ToAsk("global_maximum", 4, ""))
    with pytest.raises(LookupError, match="no prediction 'nothing'"):
        asked("03_softmax", ToAsk("nothing", 1, ""))


def test_counts_are_those_of_the_collection(written):
    size, wrong = collection_size()
    assert f"{size:,} written answers, {wrong} of them" in written["README.md"]
    found = likely_mistakes("05_masking", 4)
    assert len({mistake.exercise for mistake in found}) == 4
    for mistake in found:
        here = [e for e in entries() if e.exercise == mistake.exercise and not e.right]
        assert (mistake.answers, mistake.of) == (sum(mistake.name in e.names for e in here), len(here))
        assert mistake.says == next(w.says for w in find(mistake.exercise).wrong if w.name == mistake.name)


def test_every_page_admits_that_no_class_was_watched(written):
    assert "We have watched no class" in written["README.md"]
    tables = [name for name, text in written.items() if "| how often |" in text]
    assert len(tables) == len(LESSONS)
    assert all("not in a class" in written[name] for name in tables)


def test_on_paper_each_lesson_is_one_sheet(needs, needs_program, in_a_thread, tmp_path):
    needs("playwright")
    needs_program("chromium", "chromium-browser", "google-chrome")
    from editions.kit.paper import print_kit  # without Playwright it cannot be imported

    printed = in_a_thread(print_kit, tmp_path).read_bytes()
    plans_on = 4
    assert pages_in(printed) == 2 + plans_on + len((FIRST, *LESSONS))
    assert pages_in((tmp_path / "voting-cards.pdf").read_bytes()) == 1


def pages_in(printed):
    return len(re.findall(rb"/Type /Page\b", printed))


def test_the_cards_to_vote_with_are_one_sheet_here_and_over_there(browser, folder):
    page = browser.new_page()
    page.goto((folder / "voting-cards.html").as_uri())
    most = max(len(question.options) for question in questions().values())
    assert page.locator(".letter").all_inner_texts() == [*"ABCD"[:most]]
    cut = page.evaluate(
        "() => [...document.querySelectorAll('section, .how')].filter(c => c.scrollHeight > c.clientHeight || "
        "c.scrollWidth > c.clientWidth).map(c => c.innerText)"
    )
    assert cut == []
    assert [pages_in(page.pdf(format=size)) for size in ("A4", "Letter")] == [1, 1]
    page.close()
