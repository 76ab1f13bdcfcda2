"""The interview deck: every reference exists, no number is typed; on a page, in a terminal, in a notebook."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from sdpa_helpers.course.interview import asking, interview
from sdpa_helpers.course.interview.deck import (
    PLACE,
    all_asked,
    answer_to,
    chosen,
    option_of,
    places_of,
    trap_in,
)
from sdpa_helpers.course.interview.page import as_page
from sdpa_helpers.course.interview.question import Claimed, Mistaken, Tempted
from sdpa_helpers.course.interview.route import BLANKS, BUGS, WHITEBOARDS, drawn
from sdpa_helpers.course.ledger_page import stored_entries
from sdpa_helpers.course.registry import all_claims, all_exercises, claim_numbered
from sdpa_helpers.show.predict import plain
from tests.lessons.example import talk
from tests.lessons.test_ledger import leads_to_a_heading

COURSE = Path(__file__).parents[2]


def test_they_go_from_easy_to_hard():
    deck = all_asked()
    assert len({asked.key for asked in deck}) == len(deck)
    assert all(before.level <= after.level for before, after in pairwise(deck))
    assert [sum(asked.level == level for asked in deck) >= 8 for level in range(3)] == [True] * 3


@pytest.mark.parametrize("asked", all_asked(), ids=lambda asked: asked.key)
def test_an_answer_is_short_and_its_references_exist(asked):
    sentences = re.split(r"(?<=[.!?])[”)*]* (?=[A-Z“√])", plain(answer_to(asked)))
    assert 2 <= len(sentences) <= 5, sentences
    assert trap_in(asked)
    for place in places_of(asked):
        assert (COURSE / place.file).is_file()
    for reference in asked.seen:
        if isinstance(reference, str) and ", " in reference:
            assert leads_to_a_heading(reference), reference


def test_a_trap_is_something_that_is_not_right():
    text = (COURSE / "docs" / "ledger.json").read_text(encoding="utf-8")
    verdicts = {entry.claim.number: entry.verdict for entry in stored_entries(all_claims(), text)}
    for asked in all_asked():
        match asked.trap:
            case Claimed(number):
                assert verdicts[number] != "right", asked.key
                assert _letters(claim_numbered(number).says) in _letters(trap_in(asked)), asked.key
            case Mistaken(exercise, wrong):
                assert wrong in {mistake.name for mistake in all_exercises()[exercise].wrong}, asked.key
            case Tempted() as tempted:
                assert option_of(tempted)[1].because in trap_in(asked)


def _letters(text):
    return "".join(c for c in text if c.isalpha())


MEASURED = re.compile(r"\d%|\d\.\d")


def test_no_measured_number_is_typed():
    """Settings such as d_k = 64 may be; a decimal or a percentage is a result, and comes from a computation."""
    allowed = {"0.99", "0.5", "0.0", "1.0"}  # thresholds, temperatures and masks that a question names
    for asked in all_asked():
        typed = PLACE.sub("", asked.answer)
        assert not MEASURED.search(re.sub("|".join(map(re.escape, allowed)), "", typed)), asked.key
        assert "<" not in answer_to(asked), asked.key


def test_the_stored_page_is_made_from_the_deck():
    assert as_page() == (COURSE / "docs" / "interview.md").read_text(encoding="utf-8"), "run `make interview`"


def test_a_choice_by_chance_keeps_the_order_and_a_seed_repeats_it():
    deck = all_asked()
    some = chosen(count=7, seed=1)
    assert len(some) == 7
    assert [asked for asked in deck if asked in some] == list(some)
    assert chosen(count=7, seed=1) == some
    assert {asked.lesson for asked in chosen("03", 100)} == {"03_softmax"}
    assert chosen("3", 100) == chosen("03", 100)
    with pytest.raises(ValueError, match="there is no lesson 'x'; there are: 01, 02"):
        chosen("x")
    with pytest.raises(ValueError, match="1 or more"):
        chosen(count=0)


def ask(say, read):
    asking.ask(chosen("03")[:2], say, read)


def test_a_terminal_waits_before_it_answers():
    told = talk(ask, "keys", "")
    asked, answered = told.split("Enter shows ours, q ends: ", 1)
    assert asked.startswith("1 of 2 · warm-up · 03 Softmax\n\nAlong which axis")
    assert "The trap." in answered
    assert "Measured in claim 21" in answered
    assert "2 of 2" in answered


@pytest.mark.parametrize("lines", [("q",), ()])
def test_q_or_no_more_input_ends(lines):
    assert "The trap" not in talk(ask, *lines)


def test_a_notebook_gets_all_of_it_without_a_kernel():
    shown = interview(3, "05", seed=2)
    page = shown._repr_mimebundle_()["text/html"]
    assert len(shown.given["questions"]) == 3
    assert page.count("<details>") == 3
    assert "bodies.interview" in page
    assert repr(shown).startswith("1. ")


ROUTES = [drawn(seed) for seed in range(60)]


def test_a_route_takes_ninety_minutes_and_nothing_comes_twice():
    for route in ROUTES:
        assert sum(part.minutes for part in route.parts) == 90
        lessons = [exercise.lesson for exercise in (*route.blanks, route.bug, route.whiteboard)]
        assert len(set(lessons)) == 4
        assert [asked.level for asked in route.asked] == [0, 0, 1, 1, 2, 2]
    assert {route.whiteboard.name for route in ROUTES} == set(WHITEBOARDS)
    assert {route.bug.name for route in ROUTES} == set(BUGS)
    assert {blank.name for route in ROUTES for blank in route.blanks} == set(BLANKS)


def test_a_seed_gives_the_same_route_and_one_without_names_its_own():
    assert repr(drawn(7)) == repr(drawn(7)) == repr(interview(minutes=90, seed=7))
    by_chance = drawn()
    assert repr(drawn(by_chance.seed)) == repr(by_chance)
    with pytest.raises(ValueError, match="takes 90 minutes"):
        interview(minutes=60)


def test_a_route_on_a_page_has_its_clocks_and_its_questions():
    route = drawn(7)
    page = route._repr_mimebundle_()["text/html"]
    assert "bodies.route" in page
    assert "bodies.interview" in page
    assert [part["code"].startswith("def ") for part in route.given["parts"]] == [
        False,
        False,
        False,
        False,
        True,
        False,
    ]
    for exercise in (*route.blanks, route.bug, route.whiteboard):
        assert (COURSE / "exercises" / f"{exercise.lesson}.ipynb").is_file()
        assert f"{exercise.name} in exercises/{exercise.lesson}.ipynb" in repr(route)
