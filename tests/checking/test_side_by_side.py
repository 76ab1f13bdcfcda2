"""What came back beside what was expected: numbers that differ visibly, as text and as heat maps."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import Answer, describe
from sdpa_helpers.checking.card.pairs import MAX_COLUMNS, MAX_ROWS, pairs_of
from sdpa_helpers.checking.card.side_by_side import as_html, as_text, call_of
from sdpa_helpers.checking.exercise import Case, Exercise
from sdpa_helpers.checking.helping.shrink import Small
from sdpa_helpers.checking.judging.part_names import by_name
from tests.checking.made_up import asking


def pair(yours, expected):
    (only,) = pairs_of(describe(yours), describe(expected))
    return only


def texts(side) -> list[list[str]]:
    return [[cell.text for cell in row] for grid in side.grids for row in grid.rows]


def exercise() -> Exercise:
    return asking(lambda Q, scale=1.0: Q * scale, Case("one", lambda rng: (rng.normal(size=3),)))


def small(inputs: tuple, yours, expected) -> Small:
    return Small(inputs, describe(expected), describe(yours))


# ---- what differs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yours", "expected", "shown"),
    [
        (2.0, 3.0, ("2", "3")),
        (2, 3.0, ("2", "3")),
        (0.5, 0.25, ("0.50", "0.25")),
        (1 / 3, 2 / 3, ("0.333", "0.667")),
        (2.7719, 2.7720, ("2.7719", "2.7720")),
        (1.0 + 3e-8, 1.0, ("1.00000003", "1.00000000")),
        (1.5e-9, 1e-9, ("1.50e-9", "1.00e-9")),
        (1e200, 2e200, ("1.00e200", "2.00e200")),
        (67108864.0, 33554432, ("67108864", "33554432")),
        (float("nan"), 0.5, ("nan", "0.5")),
        (float("-inf"), -2000.0, ("-inf", "-2000")),
        (True, False, ("True", "False")),
    ],
)
def test_two_numbers_have_as_many_digits_as_show_that_they_differ(yours, expected, shown):
    came, wanted = pair(yours, expected).yours.number, pair(yours, expected).expected.number
    assert came is not None
    assert wanted is not None
    assert (came.text, wanted.text) == shown
    assert (came.is_wrong, wanted.is_wrong) == (True, False)


def test_wrong_numbers_are_marked_and_counted():
    found = pair(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [0.0, 4.0]]))
    marked = [[cell.is_wrong for cell in row] for row in found.yours.grids[0].rows]
    assert marked == [[False, False], [True, False]]
    assert found.count == "1 of 4 numbers is wrong"
    assert texts(found.expected) == [["1", "2"], ["0", "4"]]
    assert pair(np.array([True, False]), np.array([False, True])).count == "2 of 2 entries are wrong"


def test_rounding_beside_large_numbers_is_0_and_minus_0_too():
    found = pair(np.array([-2e-17, -0.0, 5.0]), np.array([0.0, 0.0, 4.0]))
    assert texts(found.yours) == [["0.000", "0.000", "5.000"]]


def test_where_shapes_differ_nothing_is_marked_and_the_shapes_are_said():
    found = pair(np.ones((2, 3)), np.ones((3, 2)))
    assert (found.yours.title, found.expected.title) == ("yours, shape (2, 3)", "expected, shape (3, 2)")
    assert not any(cell.is_wrong for row in found.yours.grids[0].rows for cell in row)
    assert pair(np.ones(3), 1.0).expected.title == "expected, one number"


def test_of_a_tuple_the_parts_that_differ_are_shown():
    found = pairs_of(describe((1.0, np.zeros(2), 3.0)), describe((1.0, np.ones(2), 4.0)))
    assert [p.label for p in found] == ["part 1 of the tuple", "part 2 of the tuple"]
    shown = pair(1.5, (1.0, np.ones((2, 2)), np.ones(3))).expected
    assert [(grid.label, grid.is_vector) for grid in shown.grids] == [
        ("part 0", False),
        ("part 1", False),
        ("part 2", True),
    ]


def test_what_cannot_be_seen_is_not_shown():
    assert pairs_of(describe(np.ones(2, np.float32)), describe(np.ones(2))) == []
    assert pairs_of(describe([1.0, 2.0]), describe(np.array([1.0, 2.0]))) == []
    assert pairs_of(describe(np.ones(1)), describe(1.0)) == []
    assert pair([1.0, 3.0], np.array([1.0, 2.0])).yours.title == "yours, a list"
    parts = pairs_of(describe([np.ones(2), np.zeros(3)]), describe((np.ones(2), np.ones(3))))
    assert [(p.label, p.yours.title) for p in parts] == [("part 1 of the tuple", "yours, a list")]


def test_what_is_shown_is_what_came_back():
    """Row numbers 0 and 1 are no False and True, though they are compared as such."""
    numbers, wanted = np.array([0, 1]), np.array([True, True])
    assert texts(pair(numbers, wanted).yours) == [["0", "1"]]
    assert pairs_of(describe(np.array([1, 1])), describe(wanted)) == []


def test_an_error_says_the_shapes_rather_than_its_own_words():
    error = Answer("error", error="ValueError", message="x" * 10**6)
    (found,) = pairs_of(error, describe(1.0))
    assert found.yours.words.startswith("ValueError: xxx")
    assert len(found.yours.words) < 200
    (found,) = pairs_of(Answer("error", error="ValueError", message="x", where="`Q` is small"), describe(1.0))
    assert found.yours.words == "ValueError: `Q` is small"


def test_large_arrays_are_cut_and_say_so():
    found = pair(np.zeros((5, 20, 30)), np.ones((5, 20, 30)))
    assert [grid.label for grid in found.yours.grids] == ["[0]", "[1]", "[2]"]
    assert {len(row) for row in texts(found.yours)} == {MAX_COLUMNS}
    assert len(found.yours.grids[0].rows) == MAX_ROWS
    assert found.yours.left_out == "the first 3 of 5 matrices, the upper left part of 20 × 30"
    assert pair(np.zeros(9), np.ones(9)).yours.left_out == "the first 8 of 9 numbers"


# ---- as text and as HTML -----------------------------------------------------------------------------------


def test_the_text_has_the_call_and_two_aligned_columns():
    example = small((np.eye(2), 2.0), [[2.0, 0], [10.5, 2]], np.array([[2.0, 0], [0, 2]]))
    assert as_text(exercise(), example) == [
        "For example Q = [[1, 0], [0, 1]], scale = 2:",
        "  1 of 4 numbers is wrong, marked *",
        "    yours, a list    expected",
        "       2.0    0.0      2.0  0.0",
        "      10.5*   2.0      0.0  2.0",
    ]
    vector = small((np.ones(2),), np.array([1.0, 3.0]), np.ones(2))
    assert as_text(exercise(), vector)[-1] == "      [1, 3*]      [1, 1]"


def test_inputs_that_differ_are_written_so_that_they_do():
    before, after = np.array([1.28114, 2.0]), np.array([1.281140001, 2.0])
    asked = replace(exercise(), reference=lambda before, after: before)
    first, second = call_of(asked, small((before, after), 1.0, 2.0))
    assert (first, second) == ("before = [1.28114, 2.0]", "after = [1.281140001, 2.0]")
    assert call_of(asked, small((before, before.copy()), 1.0, 2.0))[0] == "before = [1.2811…, 2]"


def test_sides_that_are_too_wide_stand_below_each_other():
    wide = np.full((1, 8), 1 / 3)
    lines = as_text(exercise(), small((np.ones(1),), wide * 1.0000001, wide))
    assert [line.strip() for line in lines if line.strip() in ("yours", "expected")] == ["yours", "expected"]


def test_a_heat_map_is_a_table_with_its_numbers_a_name_and_wrong_ones_in_bold():
    shown = as_html(exercise(), small((np.eye(2),), np.array([[1.0, -2.0], [np.nan, 1]]), np.eye(2)))
    assert "aria-label='yours: 2 rows of 2, wrong at [0, 1], [1, 0]'" in shown
    assert re.findall(r"<strong>([^<]+)</strong></td>", shown) == ["-2", "nan"]
    assert re.search(r"rgba\(128,128,128,0.28\)'>1<", shown), "half of the largest size"
    assert re.search(r"rgba\(128,128,128,0.50\);outline:[^']+'><strong>-2<", shown)
    assert re.search(r"rgba\(128,128,128,0.25\);outline:[^']+'><strong>nan<", shown)


def test_the_parts_of_a_tuple_have_the_names_of_the_prompt():
    asked = replace(exercise(), prompt="Returns a tuple `(output, weights)` of shapes.")
    given = small((np.ones(2),), (np.ones((2, 2)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2)))
    assert as_text(asked, given)[1].strip().startswith("output: 4 of 4 numbers are wrong")
    assert ">output</code>" in as_html(asked, given)
    assert "<summary>" not in as_html(asked, given)
    tall = small((np.ones(2),), (np.ones((4, 2)), np.ones(2)), (np.zeros((4, 2)), np.zeros(2)))
    assert "<details><summary>weights</summary>" in as_html(asked, tall)
    assert by_name(asked, "part 1 of the tuple: 1 of 2 numbers differ") == "`weights`: 1 of 2 numbers differ"
    assert by_name(exercise(), "part 1 of the tuple: x") == "part 1 of the tuple: x"


def test_an_index_stays_one_beside_a_fraction():
    assert [side.number.text for side in (pair(1 / 3, 0).yours, pair(1 / 3, 0).expected) if side.number] == [
        "0.333",
        "0",
    ]


def test_vectors_and_numbers_are_text():
    shown = as_html(exercise(), small((np.ones(2),), np.array([1.0, 3.0]), np.ones(2)))
    assert "<table" not in shown
    assert re.sub("<[^>]+>", "", shown).endswith("yours [1, 3]expected [1, 1]")
    assert "<table" not in as_html(exercise(), small((np.ones(2),), 1.0, 2.0))


def test_what_a_learner_wrote_is_escaped():
    class Evil(Exception):
        pass

    Evil.__name__ = "<b>Evil</b>"
    hostile = Answer("error", error=Evil.__name__, message="<script>alert(1)</script>")
    shown = as_html(exercise(), Small((np.ones(2),), describe(1.0), hostile))
    assert "<script" not in shown
    assert "<b>" not in shown
    named = Answer("other", type_name="<img src=x>")
    assert "<img" not in as_html(exercise(), Small((np.ones(2),), describe(1.0), named))


def test_nothing_is_said_where_nothing_can_be_seen():
    alike = small((np.ones(2),), np.ones(2, np.float32), np.ones(2))
    assert as_text(exercise(), alike) == []
    assert as_html(exercise(), alike) == ""
