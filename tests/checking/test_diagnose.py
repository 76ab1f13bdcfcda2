"""From verdicts to what is said: the diagnosis of each case, the message, and what a result counts."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import observe
from sdpa_helpers.checking.diagnose import assess, explain, passes, try_out
from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.judge import Verdict, truths
from tests.checking.made_up import asking

CASES = ("one", "two", "three")


def exercise() -> Exercise:
    """An exercise with three cases, three wrong answers and two invariants."""
    return asking(
        lambda x: 2 * x,
        *(
            Case(name, lambda rng: (rng.uniform(1, 2, 3),), weight, f"{name} is here for a reason")
            for weight, name in enumerate(CASES, 1)
        ),
        wrong=tuple(
            WrongAnswer(f"{n}-times", lambda x, n=n: n * x, f"You take it {n} times.") for n in (3, 5, 4)
        ),
        invariants=(
            Invariant("odd", "It is not odd.", lambda inputs, values: not np.allclose(values, 7)),
            Invariant("even", "It is not even.", lambda inputs, values: not np.allclose(values, 8)),
        ),
    )


def verdict(case: str, fault="wrong-values", broken="", seen="returned 7") -> Verdict:
    return Verdict(case, "failed", 0.0, 1.0, fault, seen, "expected 8", broken)


def explained(*verdicts: Verdict):
    """What is said of verdicts of which no answer is known, so that no mistake can be named."""
    by_name = {t.case.name: t for t in truths(exercise(), "a seed")}
    return explain(exercise(), [Tried(by_name[v.case], v, None) for v in verdicts])


def test_what_is_said_without_a_name_is_the_invariant_or_the_kind_of_fault():
    (odd,) = explained(verdict("two", broken="odd")).cases
    assert (odd.diagnosis, odd.means) == ("odd", "It is not odd.")
    (shape,) = explained(verdict("two", fault="wrong-shape")).cases
    assert shape.diagnosis == "wrong-shape"
    assert "shape" in shape.means
    (unknown,) = explained(verdict("two", fault="a fault without a sentence")).cases
    assert (unknown.diagnosis, unknown.means, unknown.about) == ("a fault without a sentence", "", "")


def test_another_dtype_is_told_what_this_exercise_asks_for():
    (case,) = explained(verdict("two", fault="wrong-dtype")).cases
    assert case.means.startswith("Compute in float64 from the start")


def test_the_purpose_of_a_case_is_no_meaning_of_a_mistake():
    (case,) = explained(verdict("two")).cases
    assert (case.means, case.about) == ("", "two is here for a reason")
    assert case.message == "Returned 7. This is about: two is here for a reason"
    named = try_out(exercise(), lambda x: 3 * x)
    assert {c.about for c in named.cases} == {""}


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ("returned 7", "Returned 7. This"),
        ("returned None: is a `return` missing?", "Returned None: is a `return` missing? This"),
        ("raised E: stop!", "Raised E: stop! This"),
        ("it ended.", "It ended. This"),
        ("Σ is 7", "Σ is 7. This"),
    ],
)
def test_the_message_begins_with_what_was_seen(seen, message):
    (case,) = explained(verdict("two", seen=seen)).cases
    assert case.message.startswith(message)
    assert "expected 8" not in case.message


def test_a_passed_case_has_no_message():
    (case, other) = explained(Verdict("one", "passed", 1.0, 1.0), verdict("two", fault="strange")).cases
    assert (case.message, case.diagnosis, other.message) == ("", "", "Returned 7.")


def test_points_and_whether_it_was_attempted():
    result = try_out(exercise(), lambda x: 2 * x)
    assert (result.points, result.passed, result.attempted, result.mistake) == (5.0, True, True, "")
    half = try_out(exercise(), lambda x: 3 * x)
    assert (half.points, half.passed, half.attempted, half.mistake) == (0.0, False, True, "3-times")
    nothing = [Verdict("one", "missing", 0.0, 1.0), Verdict("two", "not-attempted", 0.0, 1.0)]
    assert not explained(*nothing).attempted
    assert explained(*nothing, verdict("three")).attempted
    assert explained(Verdict("one", "passed", 1.0, 1.0), verdict("two")).points == 1.0


def test_every_case_has_one_answer():
    answers = [observe(lambda x: 2 * x, truth.inputs) for truth in truths(exercise(), "a seed")]
    with pytest.raises(ValueError, match="shorter"):
        assess(exercise(), answers[:2], "a seed")


def test_another_seed_is_another_draw():
    seen = {seed: try_out(exercise(), np.sin, seed).cases[0].verdict.seen for seed in ("a", "b")}
    assert seen["a"] != seen["b"]


def test_what_has_no_name_has_a_pattern_where_the_numbers_have_one():
    assert (
        try_out(exercise(), lambda x: 4.5 * x).pattern
        == "In every case your result is 2.25 times the right one."
    )
    assert (
        try_out(exercise(), lambda x: 6 * x).pattern
        == "In every case your result is three times the right one."
    )
    assert try_out(exercise(), lambda x: x**2).pattern == ""
    assert try_out(exercise(), lambda x: 3 * x).pattern == ""


def test_a_factor_that_an_input_gives_is_found():
    def made(name: str, size: int) -> Case:
        return Case(name, lambda rng: (rng.uniform(1, 2, 3), size))

    sizes = (("a", 2), ("b", 3), ("c", 5))
    scaled = asking(lambda x, layers: layers * x, *(made(name, size) for name, size in sizes))
    assert try_out(scaled, lambda x, layers: x).pattern == (
        "In every case your result is the right one divided by `layers`."
    )
    assert "times `layers`" in try_out(scaled, lambda x, layers: layers**2 * x).pattern
    assert "square root of `layers`" in try_out(scaled, lambda x, layers: np.sqrt(layers) * x).pattern


def test_whether_all_passes_is_known_without_explaining_anything():
    doubled = exercise()
    answers = [doubled.reference, *(w.function for w in doubled.wrong), lambda x: NotImplemented]
    said = [passes(doubled, answer) for answer in answers]
    assert (
        said
        == [try_out(doubled, answer).passed for answer in answers]
        == [True, *[False] * (len(answers) - 1)]
    )


@pytest.mark.parametrize(
    "returns",
    [
        lambda x: np.log(x - 9),  # of a negative number
        lambda x: np.log(x * 0) - np.log(x * 0),  # infinity minus infinity
        lambda x: np.float64(np.inf) * (x * 0),
        lambda x: x / (x * 0),
        lambda x: np.exp(x * 0 + 999),
        lambda x: np.where(x > 99, x, np.nan),  # which is meant so
    ],
)
def test_of_a_number_that_is_not_finite_no_cause_is_told(returns):
    """None was seen: a logarithm, a difference or the answer itself can have made it."""
    asked = replace(exercise(), cases=(Case("drawn", lambda rng: (rng.uniform(1, 2, size=3),)),), wrong=())
    asked = replace(asked, reference=lambda x: x, invariants=())
    (case,) = try_out(asked, returns).cases
    assert case.verdict.fault == "not-finite"
    assert "3 of 3 numbers are" in case.message
    assert not re.search("overflow|divided|logarithm|minus", case.message)
