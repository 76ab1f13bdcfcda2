"""What answers earn that do nothing: constants, the input as it came, a table of what is public. Next to nothing."""

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import observe
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judging.by_luck import ALWAYS, BY_LUCK, without_luck
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.judge import judge, truths
from sdpa_helpers.classroom.try_exercise import MOST_OF_A_TABLE, in_a_table
from sdpa_helpers.course.registry import all_exercises, find

MOST = 0.2
"""Of an exercise's points. Most get nothing at all; a few inputs are their own answer."""

CONSTANTS = [0, 1, 0.0, 1.0, 2, np.inf, -np.inf, np.nan, True, False, None]


def argument(n, change=lambda x: x):
    return lambda *arguments: change(arguments[n])


def trivial() -> dict:
    """Answers that need no thought, by what they are called in a failing test."""
    found = {f"always {value}": lambda *_, value=value: value for value in CONSTANTS}
    for n in range(2):
        found[f"argument {n}"] = argument(n)
        found[f"minus argument {n}"] = argument(n, lambda x: -x)
        found[f"argument {n}, last axes swapped"] = argument(n, lambda x: x.swapaxes(-1, -2))
        found[f"argument {n}, flat"] = argument(n, lambda x: x.ravel())
        found |= {
            f"{value} in the shape of argument {n}": argument(n, lambda x, v=value: np.full(x.shape, v))
            for value in (0.0, 1.0, np.inf, np.nan, True, False)
        }
    return found


def shaped_like(expected, value):
    """The value, in the shape and dtype of the truth, wherever it can be."""
    if expected.kind == "tuple":
        return tuple(shaped_like(part, value) for part in expected.items)
    fits = expected.array.dtype if np.isfinite(value) else float
    return np.full(expected.array.shape, value, fits)[()]


def share(exercise, known, answers) -> float:
    tried = [Tried(t, judge(exercise, t, a), a) for t, a in zip(known, answers, strict=True)]
    return sum(t.verdict.points for t in without_luck(tried)) / exercise.max_points


OWN = [exercise for exercise in all_exercises().values() if not exercise.whole]  # that earns all or nothing


@pytest.mark.parametrize("exercise", OWN, ids=lambda e: e.name)
def test_an_answer_that_does_nothing_earns_next_to_nothing(exercise):
    known = truths(exercise, "secret")
    earned = {
        name: share(exercise, known, [observe(f, t.inputs) for t in known]) for name, f in trivial().items()
    }
    for value in (0.0, 1.0, -1.0, np.inf, np.nan):
        filled = [observe(lambda t=t, v=value: shaped_like(t.expected, v), ()) for t in known]
        earned[f"{value} in the shape of the truth"] = share(exercise, known, filled)
    assert not {name: part for name, part in earned.items() if part > MOST}


@pytest.mark.parametrize("exercise", [e for e in OWN if not e.is_made], ids=lambda e: e.name)
def test_a_table_of_the_public_cases_earns_next_to_nothing_under_another_seed(exercise):
    assert in_a_table(exercise)[0] <= MOST_OF_A_TABLE


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("relative_error", lambda a, b: np.inf),
        ("best_key", lambda q, K: 1),
        ("cosine_similarity", lambda q, k: 0.0),
        ("order_survives", lambda s: np.ones(s.shape[:-1], dtype=bool)),
    ],
)
def test_a_constant_earns_nothing_and_hears_why(name, answer):
    result = try_out(find(name), answer)
    assert result.points == 0
    lucky = [case for case in result.cases if case.verdict.fault == BY_LUCK]
    assert {case.verdict.status for case in lucky} == {"failed"}
    assert all("by luck" in case.message.lower() for case in lucky)
    assert result.mistakes or result.pattern == ALWAYS


def test_what_changes_keeps_what_it_gets_right():
    lucky = try_out(find("relative_error"), lambda a, b: np.inf if a.shape != b.shape else 2.0)
    assert [c.verdict.case for c in lucky.cases if c.verdict.passed][:2] == [
        "a row against a column",
        "a column against a row",
    ]
    assert try_out(find("best_key"), find("best_key").reference).passed


def test_an_error_elsewhere_does_not_make_a_right_answer_lucky():
    def one_key_only(q, K):
        if len(K) > 1:
            raise ValueError("more than one")
        return 0

    result = try_out(find("best_key"), one_key_only)
    assert [c.verdict.case for c in result.cases if c.verdict.passed] == ["one key"]


def but_once(first, rest):
    """An answer that is the same in every case but the first."""
    left = [first]
    return lambda *_: left.pop() if left else rest


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("relative_error", but_once(5.0, np.inf)),
        ("relative_error", lambda a, b: np.nan if np.ravel(a)[0] >= 0.5 else np.inf),
        ("best_key", but_once(0, 1)),
        ("best_key", but_once(1, 0)),
        ("cosine_similarity", but_once(0.5, 0.0)),
    ],
)
def test_a_constant_with_an_exception_earns_nothing_either(name, answer):
    exercise, known = find(name), truths(find(name), "secret")
    assert share(exercise, known, [observe(answer, t.inputs) for t in known]) == 0


def test_what_is_right_nearly_everywhere_keeps_its_points():
    exercise, known = find("best_key"), truths(find("best_key"), "secret")
    right = [observe(exercise.reference, t.inputs) for t in known]
    for wrong in range(len(known)):
        answers = [observe(lambda *_: 7, ()) if n == wrong else a for n, a in enumerate(right)]
        assert share(exercise, known, answers) >= 1 - 2 / len(known)


def causal_without_a_cache_only(n_new, n_cached):
    if n_cached == 0:
        return np.tri(n_new, dtype=bool)
    return np.ones((n_new, n_cached + n_new), dtype=bool)


def test_a_mask_that_is_true_throughout_on_purpose_is_no_luck():
    """One new token sees everything; with several the mistake has a name, which is not luck either."""
    result = try_out(find("causal_mask_with_cache"), causal_without_a_cache_only)
    assert [mistake.name for mistake in result.mistakes] == ["new-tokens-see-each-other"]
    failed = {case.verdict.case for case in result.cases if not case.verdict.passed}
    assert failed == set(result.mistakes[0].cases)
    assert not failed & {"one new token", "no cache yet"}
    assert all(case.verdict.fault != BY_LUCK for case in result.cases)


def test_a_number_that_is_right_in_other_ways_elsewhere_is_named_only_on_evidence():
    """True throughout where it fails, but in a place where no listed mistake says so: two entries prove nothing."""

    def only_the_example(n_new, n_cached):
        right = np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool)
        return right | ((n_new, n_cached) == (2, 3))

    result = try_out(find("causal_mask_with_cache"), only_the_example)
    assert result.mistakes == ()
    assert result.points > 0
