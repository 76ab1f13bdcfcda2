"""An edit of an answer: in several places, with numbers, two at once; what two have in common is done once."""

import textwrap

import pytest

from sdpa_helpers.checking.code.edits import Edit, EditableAnswer, NoEdit, Pairs, edits_in


def test_edits_on_one_line_go_together_and_numbers_make_several():
    assert edits_in("`a` → `b` and start: `x = 1`") == [(Edit("a", "b"), Edit("start", "x = 1"))]
    assert edits_in("result: `N + SIN`, N = 1, -2.5") == [
        (Edit("result", "1 + SIN"),),
        (Edit("result", "-2.5 + SIN"),),
    ]


SOURCE = textwrap.dedent("""
    def f(x):
        y = x + 1
        return y * 2
""")


def test_an_answer_is_edited_in_several_places():
    answer = EditableAnswer("f", SOURCE, {})
    assert answer.edited(())(1) == 4
    assert answer.edited((Edit("x + 1", "x"), Edit("y * 2", "y * 3")))(1) == 3
    assert answer.edited((Edit("start", "x = x + 5; x = 2 * x"),))(1) == 26
    assert answer.edited((Edit("result", "result + y"),))(1) == 6
    calls = EditableAnswer("f", SOURCE, {"f": lambda x: 10 * x})
    assert calls.edited((Edit("result", "f(x) + 1"),))(1) == 11, "the answer itself, not the edited one"
    assert answer.text((Edit("y = x + 1", ""), Edit("y * 2", "x"))) == "\ndef f(x):\n    return x\n", (
        "no line left over"
    )


def test_edits_of_one_place_do_not_go_together():
    answer = EditableAnswer("f", SOURCE, {})
    with pytest.raises(NoEdit, match="change the same place"):
        answer.edited((Edit("x + 1", "x"), Edit("+ 1", "")))
    with pytest.raises(NoEdit, match="last line returns something"):
        EditableAnswer("f", "def f(x):\n    x += 1\n", {}).edited((Edit("result", "1"),))
    assert Edit("x + 1", "").meets(Edit("+ 1", ""), SOURCE)
    assert not Edit("x + 1", "").meets(Edit("y * 2", ""), SOURCE)
    assert Edit("start", "x = 1").meets(Edit("start", "x = 2"), SOURCE)


def test_what_two_mistakes_have_in_common_is_done_once():
    common, one, other = Edit("start", "x *= 3"), Edit("x + 1", "x"), Edit("y * 2", "y")
    (both,) = Pairs(
        EditableAnswer("f", SOURCE, {}), (("one", (common, one)), ("other", (common, other)))
    ).deviants(2)
    assert [f(1) for f in (both.function, *both.alone)] == [3, 6, 4]
    assert not Edit("start", "x = 1").meets(Edit("start", "y = 2"), SOURCE)
