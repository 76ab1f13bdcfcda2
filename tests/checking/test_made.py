"""Exercises in which one makes something: what comes back is bounded, read without trust, and judged by criteria."""

import json
import re

import numpy as np
import pytest

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.carried import pack_answer, unpack_answer
from sdpa_helpers.checking.answers.observe import (
    Answer,
    Watch,
    describe_made,
    observe,
)
from sdpa_helpers.checking.card.render import card, report_text
from sdpa_helpers.checking.diagnose import assess, try_out
from sdpa_helpers.checking.exercise import Misses, WrongAnswer, criterion
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, judge, truths
from sdpa_helpers.course.registry import all_exercises, find
from tests.checking.made_up import asking

MADE = [exercise for exercise in all_exercises().values() if exercise.is_made]
EVERY_MADE = pytest.mark.parametrize("exercise", MADE, ids=lambda e: e.name)

FITS = [
    [([1, 2.5], "text"), (np.array([[True]]), None)],
    (np.float32([1, np.nan, -np.inf]), np.zeros((0, 3)), np.int64(3)),
    [[[[[[1.0]]]]]],
    10**18,
    "é" * made_value.MAX_LETTERS,
    [0] * (made_value.MAX_PARTS - 1),
]


def same(a, b):
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", FITS, ids=range(len(FITS)))
def test_a_value_comes_back_as_it_was_made(value):
    assert same(value, made_value.read(made_value.write(value)))
    answer = describe_made(value)
    assert unpack_answer(json.loads(json.dumps(pack_answer(answer)))) == answer


def endless():
    inside = []
    inside.append(inside)
    return inside


UNFIT = {
    "dict": ({"a": 1}, "kind"),
    "set": ({1}, "kind"),
    "function": (len, "kind"),
    "objects": (np.array([{}]), "texts"),
    "texts in an array": (np.array(["a"]), "texts"),
    "complex": (1j, "kind"),
    "bytes": (b"a", "kind"),
    "itself": (endless(), "deep"),
    "deep": ([[[[[[[[1]]]]]]]], "deep"),
    "long": ([None] * made_value.MAX_PARTS, "parts"),
    "large": (np.zeros(made_value.MAX_PARTS + 1), "parts"),
    "a giant that is none": (np.broadcast_to(1.0, (10**6, 10**6)), "parts"),
    "letters": ("a" * (made_value.MAX_LETTERS + 1), "letters"),
    "a long text among many": (
        ["a" * 45_000, *[""] * 100],
        "letters",
    ),  # NumPy would make all of them as long
    "huge": (-(10**18) - 1, "integer"),
    "wide and empty": (np.zeros((0, 10**9)), "kind"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_over_the_bounds_is_told_so(name):
    value, why = UNFIT[name]
    assert describe_made(value) == Answer("other", why)
    verdict = judge(PAIR, truths(PAIR, "public")[0], describe_made(value))
    assert (verdict.fault, verdict.points, verdict.seen) == ("unfit", 0, made_value.SAYS[why])


FORGED = [
    "",
    "[",
    "[1]",
    "[" * 100_000,
    '{"l":' * 9 + "1" + "}" * 9,
    '{"l":[' * 9 + "1" + "]}" * 9,
    '{"x":[]}',
    '{"l":[],"t":[]}',
    '{"l":{"l":[]}}',
    '{"a":1}',
    '{"a":{"dtype":"object","shape":[1],"data":""}}',
    '{"a":{"dtype":"float64","shape":[2],"data":"AAAA"}}',
    '{"a":{"dtype":"float64","shape":[0,1000000000],"data":""}}',
    '{"a":{"dtype":"float64","shape":[0,0,0,0,0,0,0,0,0],"data":""}}',
    '{"l":[' + ",".join(["0"] * 20_001) + "]}",
    "1" * 5000,
    "1" + "0" * 19,
    '"\\ud800"',
    '"' + "a" * 60_000 + '"',
    " " * (made_value.MAX_CHARACTERS + 1),
]


@pytest.mark.parametrize("text", FORGED, ids=range(len(FORGED)))
def test_what_no_check_writes_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r".*"):
        made_value.read(text)
    verdict = judge(PAIR, truths(PAIR, "public")[0], Answer("made", "tuple", made=text))
    assert (verdict.status, verdict.fault) == ("failed", "unfit")


@pytest.mark.parametrize(
    "change", [{"made": 1}, {"made": None}, {"kind": "number"}, {"kind": "other"}, {"kind": []}, {"more": 1}]
)
def test_a_forged_answer_is_none(change):
    with pytest.raises(ValueError, match=r".+"):
        unpack_answer(pack_answer(describe_made((3, 7))) | change)


def test_something_made_where_a_number_belongs_is_the_wrong_kind():
    exercise = find("dot_product")
    known = truths(exercise, PUBLIC_SEED)
    result = assess(exercise, [describe_made([1, 2])] * len(known), PUBLIC_SEED)
    assert {c.verdict.fault for c in result.cases} == {"wrong-kind"}
    assert result.points == 0


def _pair(value):
    if not isinstance(value, tuple) or len(value) != 2:
        raise Misses("no-pair", "two numbers are asked for, as a tuple")
    return value


def _sums_to_ten(value):
    a, b = _pair(value)
    if a + b != 10:
        raise Misses("another-sum", "the numbers do not sum to 10", f"{a} + {b} is {a + b}")


def _differ(value):
    a, b = _pair(value)
    if a == b:
        raise Misses("twice-the-same", "both numbers are the same")


def _small(value):
    if max(_pair(value)) > 100:
        raise Misses("large", "a number is over 100")


def pair_that_sums_to_ten():
    """Two numbers -> (a, b)."""
    return 3, 7


PAIR = asking(
    pair_that_sums_to_ten,
    criterion("they sum to 10", _sums_to_ten, 2),
    criterion("they differ", _differ),
    criterion("they are small", _small),
    name="pair_that_sums_to_ten",
    wrong=(
        WrongAnswer("twice-the-same", lambda: (5, 5), "It is one number twice."),
        WrongAnswer("another-sum", lambda: (5, 6), "The sum is another."),
    ),
)


def test_criteria_are_judged_one_by_one_and_name_what_they_miss():
    result = try_out(PAIR, lambda: (5, 5))
    assert [c.verdict.passed for c in result.cases] == [True, False, True]
    assert result.points == 3.75
    assert [m.name for m in result.mistakes] == ["twice-the-same"]
    assert "It is one number twice." in report_text(result)
    both = try_out(PAIR, lambda: (6, 6))
    assert [m.name for m in both.mistakes] == ["another-sum", "twice-the-same"]


def test_what_has_no_name_is_told_in_its_own_words():
    result = try_out(PAIR, lambda: (-990, 1000))
    text = report_text(result)
    assert not result.mistakes
    assert "a number is over 100" in text
    assert "What was seen" not in text
    assert "sdpa-failed" in card(result)


def test_an_array_in_place_of_a_tuple_is_told_so():
    result = try_out(PAIR, lambda: np.array([5, 5]))
    assert {c.verdict.fault for c in result.cases} == {"array-not-tuple"}
    assert "what came back is one array; return a tuple: `return a, b`" in report_text(result).lower()


def test_it_is_called_once_and_all_is_judged_of_that():
    calls = []

    def counting():
        calls.append(1)
        return (3, 7)

    assert try_out(PAIR, counting).passed
    assert len(calls) == 2  # and a second time, to see that it says the same


def test_what_changes_from_call_to_call_earns_nothing():
    calls = []

    def moody():
        calls.append(1)
        return (3, 7) if len(calls) % 2 else (4, 6)

    result = try_out(PAIR, moody)
    assert result.points == 0
    assert [m.name for m in result.mistakes] == ["differs-each-call"]


def test_an_error_of_a_judge_is_a_sentence():
    result = try_out(PAIR, lambda: ("a", 1))
    assert result.cases[0].verdict.fault == "another-form"
    assert "not of the form that the prompt asks for" in report_text(result)


ODD = [
    *("", "text", [], (), None, True, -1, np.nan, [None], [[]], ((), ()), [(), ()], [((), ())]),
    [1] * 4000,
    [[[]] * 50] * 50,
    (np.zeros(0), np.zeros(0)),
    (np.full((40, 40), np.nan),) * 3,
    (np.zeros((2, 3), dtype=bool), "x"),
    (10**18, -(10**18)),
    [10**18] * 20,
    [("a" * 1000, "b")] * 20,
    [((np.inf,), 1)],
    [((np.zeros((3, 3)), 10**18), np.zeros((3, 3)))] * 4,
]
"""What nobody asked for, in forms that look a little like what was."""


@EVERY_MADE
def test_nothing_odd_breaks_a_judge(exercise):
    for value in ODD:
        result = try_out(exercise, lambda value=value: value)
        assert not result.passed, value
        assert result.points <= 0.35 * exercise.max_points, value
        assert all(c.message for c in result.cases if not c.verdict.passed), value


@EVERY_MADE
def test_what_marked_feedback_shows_holds_nothing_of_the_value(exercise):
    """A learner's code can carry hidden inputs of other exercises: no number of a value may come back in a sentence."""
    for making in (*(w.function for w in exercise.wrong), *(lambda v=v: v for v in ODD)):
        answer = observe(making, (), Watch(made=True))
        for truth in truths(exercise, PUBLIC_SEED):
            seen = judge(exercise, truth, answer).seen
            assert not re.search(r"\d\.\d{2}|[1-9]\d{4}|e[-+]\d|nan|inf\b", seen), seen


@EVERY_MADE
def test_every_wrong_making_was_thought_of(exercise):
    """The judge has words for it: it is no accident of our own code."""
    faults = {c.verdict.fault for wrong in exercise.wrong for c in try_out(exercise, wrong.function).cases}
    assert not faults & {"another-form", "unfit", "raised-error"}
