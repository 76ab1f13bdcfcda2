"""Catch them all: sound cases only, what they catch, and who is left."""

import inspect
import re

import numpy as np
import pytest

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.observe import describe, describe_made
from sdpa_helpers.checking.card.render import squares_html
from sdpa_helpers.checking.code.edits import Edit, EditableAnswer, Pairs
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.exercise import Case, Misses, WrongAnswer
from sdpa_helpers.checking.judging.judge import judge, truths
from sdpa_helpers.checking.kinds.alike import same, where_apart
from sdpa_helpers.checking.kinds.catching import BlindSpot, Catch, hunt_of, usual_mistakes
from sdpa_helpers.checking.kinds.small_inputs import finite, floats, number, so_many, truth_values, whole
from sdpa_helpers.course.registry import all_exercises, find
from sdpa_helpers.course.session import check
from tests.checking.made_up import asking

HUNTS = [e for e in all_exercises().values() if e.name.startswith("test_cases_for_")]


def mean(x):
    """The mean of the last axis."""
    return x.mean(axis=-1)


def _changes(x):
    x -= 1
    return x.mean(axis=-1) + 1


MEAN = asking(
    mean,
    Case("a row", lambda rng: (rng.normal(size=5),)),
    Case("two rows", lambda rng: (rng.normal(size=(2, 3)),)),
    name="mean",
    wrong=(
        WrongAnswer("sum", lambda x: x.sum(axis=-1), "You stopped at the sum. Divide it."),
        WrongAnswer("median", lambda x: np.median(x, axis=-1), "It is the median."),
        WrongAnswer("of-all", lambda x: x.mean(), "It is the mean of everything."),
        WrongAnswer("first-axis", lambda x: x.mean(axis=0), "It is the mean over the first axis."),
        WrongAnswer("changes-its-input", _changes, "It changes its input."),
        WrongAnswer("raises", lambda x: x.mean(axis=1), "There is no second axis."),
    ),
    also_right=(lambda x: x.sum(axis=-1) / x.shape[-1] if x.min() > -50 else 0 * x,),
    mistakes=Pairs(
        EditableAnswer("mean", inspect.getsource(mean), {"np": np}),
        (("n-minus-one", (Edit("x.mean(axis=-1)", "x.sum(axis=-1) / (x.shape[-1] - 1)"),)),),
    ),
)
HUNT = Catch(
    of=MEAN,
    promised=lambda inputs: (so_many(inputs, 1), (finite(inputs[0], "x", (1, 2), 100.0),))[1],
    model=lambda: [(([0, 0, 3],), 1), (([[0, 0, 3], [1, 2, 9]],), [1, 4])],
    most=3,
    blind=(BlindSpot("one-row-only", lambda cases: all(x.ndim == 1 for (x,) in cases)),),
)
GOOD = [(([[0, 0, 3], [1, 2, 9]],), [1, 4])]


def missed(value, number=1):
    """What a criterion says of test cases."""
    with pytest.raises(Misses) as told:
        HUNT.criteria()[number].accepts(value)
    return told.value


def test_the_bank_holds_each_behaviour_once_and_nothing_that_no_test_can_tell():
    assert [known.name for known in HUNT.known] == [
        "sum",
        "median",
        "of-all",
        "first-axis",
        "raises",
        "n-minus-one",
    ]


def test_cases_catch_what_gives_something_else_or_an_error():
    caught = HUNT.caught(HUNT.cases([(([0, 0, 3],), 1), *GOOD]))
    names = [known.name for known in HUNT.known]
    assert {n for n, c in zip(names, caught[0], strict=True) if c} == {*names} - {"of-all", "first-axis"}
    assert {n for n, c in zip(names, caught[1], strict=True) if c} == {*names} - {"raises"}
    for one in HUNT.criteria():
        one.accepts([(([0, 0, 3],), 1), *GOOD])


def test_who_is_left_is_named_with_what_each_case_catches():
    told = missed([(([0, 0, 0],), 0)])
    assert (told.fault, told.seen) == ("one-row-only", "1 of 6 are caught; this point needs 3")
    assert told.notes[0] == "Alive, with the first thing that `check` tells their authors:"
    assert told.notes[1] == "`sum`: “You stopped at the sum.”"
    assert len(told.notes) == 4
    two = missed([(([1, 1, 1],), 1), (([2, 0, 2, 0],), 1)], 2)
    assert two.seen == "3 of 6 are caught; this point needs 5"
    assert two.notes[0] == "Test case 1 catches 3 (0 of them alone), test case 2 catches 3 (0 of them alone)."
    assert missed([(([0, 0, 0],), 0)], 2).notes == ()  # it is said once, at the first point that is missed


@pytest.mark.parametrize(
    ("value", "fault", "said"),
    [
        ([], "no-test-cases", "not a list of pairs"),
        ("text", "no-test-cases", "not a list of pairs"),
        ([1], "no-test-cases", "test case 1 is no pair"),
        ([*GOOD, ([0.0, 1.0, 2.0], [1], 3)], "no-test-cases", "test case 2 is no pair"),
        ([*GOOD, ([], 1)], "outside-the-promise", "your test case 2"),
        ([*GOOD, (([0.0, 1.0]), 0.5)], "no-test-cases", "one argument alone is written `(x,)`"),  # no comma
        ([*GOOD, (np.zeros(3), 1)], "no-test-cases", "one argument alone is written `(x,)`"),
        (GOOD * 4, "too-many-cases", "at most 3 test cases are allowed"),
        ([*GOOD, (([0, 1],), 0.4)], "expects-another-value", "your test case 2 expects something else"),
        ([(([-60, 0],), -30)], "either-is-right", "a right answer may do either"),
        (
            [(([np.nan],), 0)],
            "outside-the-promise",
            "`mean` is not asked about the inputs of your test case 1",
        ),
        ([(([200.0],), 200)], "outside-the-promise", "test case 1"),
        ([((["a"],), 0)], "outside-the-promise", "test case 1"),
        ([(([[1], [2, 3]],), 0)], "outside-the-promise", "test case 1"),
        ([((np.zeros(61),), 0)], "outside-the-promise", "test case 1"),
        ([((1, 2), 0)], "outside-the-promise", "test case 1"),
        ([(([0, 1],), "half")], "expects-another-value", "test case 1"),
        ([(([0, 1],), None)], "expects-another-value", "test case 1"),
    ],
)
def test_nothing_counts_before_every_right_answer_passes(value, fault, said):
    for n in range(5):
        told = missed(value, n)
        assert told.fault == fault
        assert said in told.seen


def test_the_two_numbers_are_told():
    assert missed([(([0, 1],), 0.4)]).compare == "you expect 0.4; a right mean gives 0.5"
    assert missed([(([[0, 1]],), [0.4])]).compare == "you expect 0.4 at [0]; a right mean gives 0.5"
    assert missed([(([[0, 1]],), 0.5)]).compare == "you expect the shape (); a right mean gives (1,)"
    assert "no number, array" in missed([(([0, 1],), "half")]).compare


def test_what_counts_as_the_same():
    assert same(describe(np.float32([1, 2])), describe([1, 2]))
    assert same(describe((1.0, np.nan)), describe((1, float("nan"))))
    assert not same(describe(np.array([True])), describe(np.array([1])))
    assert not same(describe(1.0), describe(1 + 1e-5))
    assert not same(describe(1.0), describe(None))
    assert where_apart("f", describe(True), describe(False)) == "you expect False; a right f gives True"


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda v: number(v, "n", 0, 1), True),
        (lambda v: number(v, "n", 0, 1), np.nan),
        (lambda v: whole(v, "n", 0, 3), 2.0),
        (lambda v: whole(v, "n", 0, 3), 10**18),
        (lambda v: truth_values(v, "m", (1, 2)), [0, 1]),
        (lambda v: floats(v, "x", (1, 2)), [[[1.0]]]),
        (lambda v: floats(v, "x", (1, 2)), []),
        (lambda v: floats(v, "x", (1, 2)), {}),
        (lambda v: finite(v, "x", (1, 2)), [np.inf]),
    ],
)
def test_arguments_that_are_none(read, value):
    with pytest.raises(ValueError, match=r"`.`"):
        read(value)


@pytest.mark.parametrize("exercise", HUNTS, ids=lambda e: e.name)
def test_the_model_answer_catches_all_and_needs_no_more_than_is_allowed(exercise):
    hunt = exercise.cases[0].accepts.__self__
    cases = hunt.cases(exercise.reference())
    missed = [k.name for k, c in zip(hunt.known, hunt.caught(cases).any(axis=0), strict=True) if not c]
    assert not missed  # a new wrong answer that nobody's six cases can catch may be left: then say so here
    assert hunt.reach == len(hunt.known) >= 15
    assert len(cases) <= hunt.most
    listed = {wrong.name for wrong in exercise.wrong}
    assert {spot.name for spot in hunt.blind} | {w.name for w in usual_mistakes(list, ())} <= listed


def as_lists(part):
    if isinstance(part, tuple):
        return tuple(map(as_lists, part))
    return part.tolist() if isinstance(part, (np.ndarray, np.generic)) else part


@pytest.mark.parametrize("exercise", HUNTS, ids=lambda e: e.name)
def test_every_array_that_a_prompt_allows_may_be_written_as_lists(exercise):
    """As many axes as an input may have, in both places: nothing is nested too deep for what carries it."""
    hunt = exercise.cases[0].accepts.__self__
    inputs = hunt.promised(exercise.reference()[0][0])
    while True:
        wider = tuple(x[None] if isinstance(x, np.ndarray) else x for x in inputs)
        try:
            inputs = hunt.promised(tuple(map(as_lists, wider)))
        except ValueError:
            break
        if not any(isinstance(x, np.ndarray) for x in inputs):
            break
    expected = as_lists(hunt.of.reference(*inputs))
    cases = [(list(map(as_lists, inputs)), expected)]
    came = describe_made(cases)
    assert came.kind == "made", came
    assert judge(exercise, truths(exercise, "public")[0], came).passed


def test_the_comma_that_is_missing_most_often_is_told():
    result = try_out(find("test_cases_for_softmax"), lambda: [([0, 0], [1 / 2, 1 / 2])])
    assert [mistake.name for mistake in result.mistakes] == ["no-test-cases"]
    assert "`(x,)`" in result.cases[0].verdict.seen


def test_there_is_one_in_every_lesson():
    assert [e.lesson[:2] for e in HUNTS] == ["01", "02", "03", "04", "05", "06", "07"]


def test_a_card_has_a_square_for_each_wrong_version_and_those_that_are_caught_fall():
    exercise = find("test_cases_for_softmax")
    hunt = hunt_of(exercise)
    assert hunt is not None
    squares = hunt.fallen(made_value.write(exercise.reference()[:2]))
    assert len(squares) == len(hunt.known)
    caught = sum(is_caught for _, is_caught in squares)
    assert 0 < caught < len(squares)
    shown = squares_html(squares)
    assert f"<summary>{caught} of {len(squares)} wrong versions are caught" in shown
    assert shown.count("<i ") == len(squares)
    assert shown.count("class='caught'") == caught
    alive = next(name for name, is_caught in squares if not is_caught)
    assert alive not in shown, "who lives is not told"
    assert hunt.fallen(made_value.write([([1.0], [0.5])])) == (), (
        "a test case that right answers fail catches nothing"
    )
    assert hunt_of(find("softmax")) is None
    report = check(_one_case, exercise=exercise.name, keep=False)
    assert re.search(rf"\d+ of {len(squares)} wrong versions are caught\.", report.text())


def _one_case():
    return [(([0, 0],), [0.5, 0.5])]
