"""From verdicts to one sentence: which mistake is named when several fit, and what is said when none does."""

import numpy as np
import pytest

from sdpa_helpers.checking.diagnose import assess, explain, try_out
from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.judge import Verdict, truths
from sdpa_helpers.checking.observe import observe

CASES = ("one", "two", "three")


def exercise() -> Exercise:
    """An exercise with three cases, three wrong answers and two invariants; only their names are asked for."""
    return Exercise(
        name="doubled",
        lesson="01_dot_product",
        title="",
        prompt="",
        difficulty=1,
        minutes=1,
        reference=lambda x: 2 * x,
        cases=tuple(
            Case(name, lambda rng: (rng.uniform(1, 2, 3),), points, f"{name} is here for a reason")
            for points, name in enumerate(CASES, 1)
        ),
        wrong=tuple(
            WrongAnswer(f"{n}-times", lambda x, n=n: n * x, f"You take it {n} times.") for n in (3, 5, 4)
        ),
        also_right=(),
        hints=("", "", ""),
        invariants=tuple(
            Invariant(n, f"It is not {n}.", lambda inputs, values: True) for n in ("odd", "even")
        ),
    )


def failed(case: str, *explained: str, fault="wrong-values", broken="", seen="returned 7") -> Verdict:
    return Verdict(case, "failed", 0.0, 1.0, fault, seen, "expected 8", explained, broken)


def passed(case: str, *explained: str) -> Verdict:
    return Verdict(case, "passed", 1.0, 1.0, explained_by=explained)


def named(*verdicts: Verdict) -> tuple[str, list[str]]:
    """The mistake that is named for all, and the diagnosis of each case."""
    result = explain(exercise(), list(verdicts))
    return result.mistake, [case.diagnosis for case in result.cases]


def test_the_mistake_explains_every_failed_case():
    assert named(failed("one", "3-times", "4-times"), failed("two", "4-times")) == (
        "4-times",
        ["4-times"] * 2,
    )


def test_of_several_that_fit_the_first_of_the_exercise_is_taken():
    assert named(failed("one", "4-times", "5-times"))[0] == "5-times"


def test_one_that_agrees_with_the_passed_cases_too_is_preferred():
    assert named(failed("one", "3-times", "5-times"), passed("two", "5-times"))[0] == "5-times"
    assert named(failed("one", "3-times", "5-times"), passed("two"))[0] == "3-times"
    assert named(passed("two", "4-times"), failed("one", "3-times"))[0] == "3-times"


def test_a_passed_case_has_no_diagnosis():
    assert named(failed("one", "3-times"), passed("two", "3-times")) == ("3-times", ["3-times", ""])
    assert named(passed("one", "3-times"), passed("two", "3-times")) == ("", ["", ""])


def test_two_mistakes_are_named_each_in_its_case():
    assert named(failed("one", "5-times"), failed("two", "3-times", "4-times")) == (
        "",
        ["5-times", "3-times"],
    )


def test_an_error_counts_as_failed_and_what_was_not_run_does_not():
    error = Verdict("one", "error", 0.0, 1.0, "raised-error", "raised ValueError", explained_by=("4-times",))
    assert named(error, failed("two", "4-times"))[0] == "4-times"
    assert named(error, failed("two", "3-times"))[0] == ""
    stopped = Verdict("three", "timeout", 0.0, 1.0, "timeout", "no answer in time")
    assert named(failed("one", "4-times"), stopped) == ("4-times", ["4-times", "timeout"])


def test_what_is_said_goes_from_the_known_mistake_to_the_kind_of_fault():
    def means(verdict: Verdict) -> str:
        return explain(exercise(), [verdict]).cases[0].means

    assert means(failed("two", "4-times", broken="odd")) == "You take it 4 times."
    assert means(failed("two", broken="odd")) == "It is not odd."
    assert means(failed("two", broken="even")) == "It is not even."
    assert means(failed("two")) == "two is here for a reason"
    assert means(failed("three")) == "three is here for a reason"
    assert "dtype" in means(failed("two", fault="wrong-dtype"))
    assert means(failed("two", fault="a fault without a sentence")) == ""
    assert named(failed("two", broken="odd"))[1] == ["odd"]
    assert named(failed("two", fault="wrong-shape"))[1] == ["wrong-shape"]


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ("returned 7", "Returned 7. two is here"),
        ("returned None: is a `return` missing?", "Returned None: is a `return` missing? two"),
        ("raised E: stop!", "Raised E: stop! two"),
        ("it ended.", "It ended. two"),
        ("Σ is 7", "Σ is 7. two"),
    ],
)
def test_the_message_is_what_was_seen_and_then_what_it_means(seen, message):
    (case,) = explain(exercise(), [failed("two", seen=seen)]).cases
    assert case.message.startswith(message)
    assert "expected 8" not in case.message


def test_a_passed_case_has_no_message_and_an_unexplained_one_no_space_after_it():
    first, second = explain(exercise(), [passed("one"), failed("two", fault="strange")]).cases
    assert (first.message, second.message) == ("", "Returned 7.")


def test_points_and_whether_it_was_attempted():
    result = try_out(exercise(), lambda x: 2 * x)
    assert (result.points, result.passed, result.attempted, result.mistake) == (6.0, True, True, "")
    half = try_out(exercise(), lambda x: 3 * x)
    assert (half.points, half.passed, half.attempted, half.mistake) == (0.0, False, True, "3-times")
    nothing = [Verdict("one", "missing", 0.0, 1.0), Verdict("two", "not-attempted", 0.0, 1.0)]
    assert not explain(exercise(), nothing).attempted
    assert explain(exercise(), [*nothing, failed("three")]).attempted
    assert not explain(exercise(), [passed("one"), failed("two")]).passed
    assert explain(exercise(), [passed("one"), failed("two"), passed("three")]).points == 2.0


def test_every_case_has_one_answer():
    answers = [observe(lambda x: 2 * x, truth.inputs) for truth in truths(exercise(), "a seed")]
    with pytest.raises(ValueError, match="shorter"):
        assess(exercise(), answers[:2], "a seed")


def test_another_seed_is_another_draw():
    seen = {seed: try_out(exercise(), np.sin, seed).cases[0].verdict.seen for seed in ("a", "b")}
    assert seen["a"] != seen["b"]
