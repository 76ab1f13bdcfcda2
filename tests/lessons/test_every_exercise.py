"""The promise of the exercise engine, kept for every exercise of the course, for several seeds."""

import pytest

from sdpa_helpers.checking.answers.observe import observe
from sdpa_helpers.checking.diagnose import Result, try_out
from sdpa_helpers.checking.exercise import WrongAnswer
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, judge, truths, values_of
from sdpa_helpers.course.registry import HERE, LESSONS, all_exercises, folder_of, in_order, place_in, sheet_of
from tests.nightly import BRIEFLY_AND_AT_NIGHT

EXERCISES = list(all_exercises().values())
SEEDS = [PUBLIC_SEED, "another"]
"""Two are enough here: that no mark depends on luck is shown with twenty, in tests of their own."""

EVERY_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
"""One item an exercise: it tries all seeds and answers, and its message lists every one that fails."""
OWN = [e for e in EXERCISES if not e.whole]
EVERY_OWN = pytest.mark.parametrize("exercise", OWN, ids=lambda e: e.name)
"""Without code to mend, whose cases and wrong answers are those of the exercise that it comes from."""

NONSENSE = [None, "text", [1.0], 0, float("nan"), {"a": 1}, (1, 2, 3)]


def told(result: Result) -> list[tuple[str, str, str]]:
    """What a failing test shows of a result: each case with its fault and diagnosis."""
    return [(c.verdict.case, c.verdict.fault, c.diagnosis) for c in result.cases]


def rejected_and_named(result: Result, wrong: WrongAnswer) -> bool:
    """Whether a wrong answer is found out: named alone, in every failed case, and without a point for it.

    One that only raises errors is named where the source shows it, which these functions, made of pieces, do not:
    then no name may be said, or that it holds for two axes only.
    """
    failed = [c for c in result.cases if not c.verdict.passed]
    names = {m.name for m in result.mistakes}
    named = names == {wrong.name} == {c.diagnosis for c in failed}
    silent = bool(wrong.clue) and names <= {"two-axes-only"}
    return (
        bool(failed) and (named or silent) and all(c.verdict.seen and c.verdict.points == 0 for c in failed)
    )


@EVERY_EXERCISE
def test_the_reference_scores_full_marks(exercise):
    earned = {seed: try_out(exercise, exercise.reference, seed).points for seed in SEEDS}
    assert earned == dict.fromkeys(SEEDS, exercise.max_points)
    assert exercise.max_points > 0


@BRIEFLY_AND_AT_NIGHT
@EVERY_OWN
def test_every_wrong_answer_is_rejected_and_named(exercise, at_night):
    """Under another seed every fifth: that each fails under any seed is seen in test_mistakes.py."""
    asked = [(w, PUBLIC_SEED) for w in exercise.wrong]
    asked += [(w, "another") for w in exercise.wrong[:: 1 if at_night else 5]]
    tried = [(w, seed, try_out(exercise, w.function, seed)) for w, seed in asked]
    assert not [(w.name, seed, told(r)) for w, seed, r in tried if not rejected_and_named(r, w)]


@EVERY_OWN
def test_every_other_right_answer_passes(exercise):
    tried = {
        (number, seed): try_out(exercise, right, seed)
        for number, right in enumerate(exercise.also_right)
        for seed in SEEDS
    }
    assert not {at: told(result) for at, result in tried.items() if not result.passed}


@EVERY_EXERCISE
def test_the_untouched_stub_is_not_attempted(exercise):
    result = try_out(exercise, lambda *inputs: NotImplemented)
    assert result.points == 0
    assert not result.attempted
    assert {c.verdict.status for c in result.cases} == {"not-attempted"}


@BRIEFLY_AND_AT_NIGHT
def test_nonsense_earns_nothing_or_only_what_it_gets_right(at_night):
    """What is said of it comes from its kind: a few exercises for each, and at night all of both."""
    for number, exercise in enumerate(OWN if at_night else OWN[::3]):
        for nonsense in NONSENSE if at_night else [NONSENSE[number % len(NONSENSE)]]:
            result = try_out(exercise, lambda *inputs, n=nonsense: n)
            assert not result.passed, (exercise.name, nonsense)
            failed = [c for c in result.cases if not c.verdict.passed]
            assert all(c.message for c in failed), (exercise.name, nonsense, told(result))


@pytest.mark.parametrize("exercise", OWN[::4], ids=lambda e: e.name)
def test_an_error_in_the_answer_is_a_verdict(exercise):
    def broken(*inputs):
        raise RuntimeError("the learner's own words")

    result = try_out(exercise, broken)
    assert {c.verdict.status for c in result.cases} == {"error"}
    assert "the learner's own words" in result.cases[0].message


@EVERY_EXERCISE
def test_definitions_are_complete(exercise):
    assert len({w.name for w in exercise.wrong}) == len(exercise.wrong) >= 3
    assert len({c.name for c in exercise.cases}) == len(exercise.cases) >= 3
    assert len(exercise.hints) == 3
    assert all(exercise.hints)
    assert exercise.also_right
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes > 0
    assert all(len(w.says) > 20 for w in exercise.wrong)


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if not e.is_made], ids=lambda e: e.name)
def test_the_public_and_a_secret_seed_differ(exercise):
    public = [t.packed for t in truths(exercise, "public")]
    secret = [t.packed for t in truths(exercise, "secret")]
    assert public != secret


@EVERY_OWN
def test_invariants_hold_for_the_reference(exercise):
    for seed in SEEDS:
        for truth in truths(exercise, seed):
            assert all(i.holds(truth.inputs, values_of(truth.expected)) for i in exercise.invariants)


@EVERY_OWN
def test_judging_is_pure(exercise):
    truth = truths(exercise, "pure")[0]
    answer = observe(exercise.wrong[0].function, truth.inputs)
    assert judge(exercise, truth, answer) == judge(exercise, truth, answer)


def test_names_are_unique_and_places_too():
    listed = [e.name for lesson in LESSONS for e in sheet_of(lesson).exercises]
    assert len(set(listed)) == len(listed)
    for lesson in LESSONS:
        folder = HERE / folder_of(lesson) / "exercises"
        files = [
            path
            for name in in_order(folder)
            for path in folder.glob(f"{name}.*")
            if path.suffix in (".md", ".py")
        ]
        told = [place for path in files if (place := place_in(path.read_text(encoding="utf-8"))) < 1000]
        assert len(set(told)) == len(told), lesson
        assert {e.lesson for e in sheet_of(lesson).exercises} == {lesson}
