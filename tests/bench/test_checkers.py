"""docs/checkers.md has what is stored, and that is what the checks say: a part of the answers is asked again."""

import json
import math

import numpy as np
import pytest

from benchmarks import checkers, common_checks
from sdpa_helpers.course.registry import find

DECIDED = 1.0005
"""How far from its border every verdict is, as a factor. Two processors differ by 1e-10 of it."""


@pytest.fixture(scope="module")
def stored():
    return json.loads(checkers.RESULT.read_text(encoding="utf-8"))


def test_the_page_has_what_is_stored():
    page = checkers.PAGE.read_text(encoding="utf-8")
    assert page == checkers.filled(page), "run: python -m benchmarks.checkers --page"


def test_no_verdict_hangs_on_the_last_digits(stored):
    assert stored["nearest"][0] >= DECIDED


def test_all_answers_to_an_exercise_are_judged_as_it_is_stored(stored, needs):
    needs("torch")
    asked = find("sliding_window_mask")
    again = {kind: {} for kind in checkers.KINDS}
    for subject in checkers.subjects(asked):
        again[subject.kind][subject.title], near = checkers.verdicts(asked, subject)
        assert near >= DECIDED, subject.title
    assert again == stored["verdicts"][asked.name], "run: python -m benchmarks.checkers"


def test_all_mistakes_of_public_code_are_judged_as_it_is_stored(stored, needs):
    needs("torch")
    files = {path.name.removesuffix(checkers.ENDING) for path in checkers.PUBLIC.iterdir()}
    assert files <= set(common_checks.INPUTS)
    for name in files:
        asked = find(name)
        public = [subject for subject in checkers.subjects(asked) if subject.kind == "public"]
        again = {subject.title: checkers.verdicts(asked, subject)[0] for subject in public}
        assert again == stored["verdicts"][name]["public"], "run: python -m benchmarks.checkers"
        assert not [title for title, letters in again.items() if checkers.LET in letters[:2]]


def test_the_first_paragraph_counts_what_is_let_through():
    letters = {"listed": "NRRR", "collected": "LLLL", "public": "RRL-", "right": "LLLR"}
    made = {"verdicts": {"a": {kind: {"one": row} for kind, row in letters.items()}}}
    assert checkers.says(made).startswith(
        "Of 3 wrong answers to 1 exercises our check lets 1 through, and our grade, on other inputs, 1. Of the 2 that "
        "stand in no list of ours it names the mistake in 0, says another in 0, and refuses 1 without a name. "
        "Eight checks as public courses write them let between 50% and 67% through; "
        "2 answers pass all that there are for their exercise. "
        "The 1 right answers are refused 1 times."
    )


def test_beyond_is_one_where_allclose_ends():
    want = np.array([1.0, 2.0])
    assert (
        common_checks.beyond(want + 0.99e-5 * want, want)
        < 1
        < common_checks.beyond(want + 1.1e-5 * want, want)
    )
    assert common_checks.beyond([1.0, np.nan], want) == math.inf
    assert common_checks.beyond([want, want], want) == 0
    assert common_checks.beyond([want, want], want, shapes=True) == math.inf


@pytest.mark.parametrize("style", common_checks.STYLES, ids=lambda style: style.__name__)
def test_every_style_refuses_zeros(style, needs):
    needs("torch")
    asked = find("softmax")
    assert common_checks.asked_by(style, asked, np.zeros_like) > 1
    assert common_checks.asked_by(style, asked, asked.reference) < 1
