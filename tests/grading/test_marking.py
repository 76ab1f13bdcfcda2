"""How answers are marked: what a named mistake may earn, and which hidden inputs a learner gets."""

from dataclasses import replace

import pytest

from sdpa_helpers.checking.answers.observe import observe
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, judge, truths
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.course.registry import all_exercises, find
from sdpa_helpers.grading.grade_one import Settings, fingerprint, marking_of
from sdpa_helpers.grading.judge import Evidence, Marking, judge_exercise
from sdpa_helpers.grading.read import Lifted, Submission
from sdpa_helpers.grading.result import GradedExercise, GradedNotebook
from sdpa_helpers.grading.result_json import as_json, from_json
from sdpa_helpers.grading.run import Outcome
from tests.corpus import entries, function_of
from tests.nightly import BRIEFLY_AND_AT_NIGHT

NAMES = [f"learner {n}" for n in range(60)]


def graded(exercise, function, marking) -> GradedExercise:
    """What the grader makes of a function, without a kernel."""
    known = truths(exercise, marking.seed)
    came = {(exercise.name, t.case.name): observe(function, t.inputs, t.watch) for t in known}
    return judge_exercise(
        exercise, Evidence(Lifted({exercise.name: ""}, (), {}), Outcome(answers=came), {}), marking
    )


def wrong(name, mistake):
    return next(w.function for w in find(name).wrong if w.name == mistake)


# ---- a named mistake --------------------------------------------------------------------------------------


def test_a_named_mistake_earns_at_most_its_share():
    exercise, function = find("best_key"), wrong("best_key", "last-of-a-tie")
    free, half, none = (graded(exercise, function, Marking("s", mistake_cap=cap)) for cap in (None, 0.5, 0.0))
    assert (free.points, free.before_cap) == (4.5, None)
    assert (half.points, half.before_cap, half.mistake) == (2.5, 4.5, "last-of-a-tie")
    assert (none.points, none.before_cap) == (0.0, 4.5)
    assert sum(case.points for case in half.cases) == half.points
    assert [case.status for case in half.cases] == [case.status for case in free.cases]


def test_a_share_that_is_no_whole_number_of_points():
    third = graded(find("best_key"), wrong("best_key", "last-of-a-tie"), Marking("s", mistake_cap=1 / 3))
    assert third.points == pytest.approx(1.67)
    assert [case.points for case in third.cases if case.points][-1] == pytest.approx(0.17)


def test_less_than_the_share_stays_as_it_is():
    free, half = (
        graded(find("best_key"), wrong("best_key", "counted-from-one"), Marking("s", mistake_cap=cap))
        for cap in (None, 0.5)
    )
    assert free.mistakes
    assert half == free


def test_an_answer_without_a_named_mistake_is_not_capped():
    exercise = find("best_key")
    right = graded(exercise, exercise.reference, Marking("s", mistake_cap=0.5))
    assert (right.points, right.before_cap) == (exercise.max_points, None)
    odd = graded(
        exercise, lambda q, K: 0 if len(K) == 30 else exercise.reference(q, K), Marking("s", mistake_cap=0.0)
    )
    assert (odd.points, odd.mistakes) == (4.5, ())


def test_the_page_and_the_record_say_what_was_earned_before():
    half = graded(find("best_key"), wrong("best_key", "last-of-a-tie"), Marking("s", mistake_cap=0.5))
    result = GradedNotebook("ada", "01_dot_product", "graded", (half,), fingerprint="f")
    assert "at most 2.5 of these 5 points. Its cases alone came to 4.5." in feedback_page(result)
    assert from_json(as_json(result)) == result
    free = replace(half, before_cap=None)
    assert "at most" not in feedback_page(replace(result, exercises=(free,)))


# ---- variants ---------------------------------------------------------------------------------------------


def test_learners_get_one_of_the_variants_and_always_the_same():
    settings = Settings("secret", variants=3)
    seeds = {name: marking_of(name, settings).seed for name in NAMES}
    assert len(set(seeds.values())) == 3
    assert seeds == {name: marking_of(name, settings).seed for name in reversed(NAMES)}
    other = {name: marking_of(name, replace(settings, seed="another")).seed for name in NAMES}
    assert [s[-1] for s in other.values()] != [s[-1] for s in seeds.values()]
    assert {marking_of(name, Settings("secret")).seed for name in NAMES} == {"secret"}


def test_inputs_are_hidden_but_for_the_public_seed():
    assert marking_of("ada", Settings("secret")).hidden
    assert marking_of("ada", Settings("secret", variants=2)).hidden
    assert not marking_of("ada", Settings(PUBLIC_SEED)).hidden


def test_what_marks_depend_on_is_in_the_fingerprint():
    one = Submission("ada", "01_dot_product", None)
    settings = Settings("s")
    changed = [settings, replace(settings, mistake_cap=0.5), replace(settings, variants=2)]
    assert len({fingerprint(one, each) for each in changed}) == 3


@BRIEFLY_AND_AT_NIGHT
def test_no_answer_of_the_corpus_is_right_in_one_variant_and_wrong_in_another(at_night):
    exercises = all_exercises()
    some = entries()[:: 1 if at_night else 20]
    seeds = [f"secret, variant {n}" for n in range(3)]
    unfair = [
        (entry.exercise, entry.title)
        for entry in some
        for function in [function_of(entry)]
        if {passes(exercises[entry.exercise], function, seed) for seed in seeds} != {entry.right}
    ]
    assert not unfair


def passes(exercise, function, seed) -> bool:
    return all(
        judge(exercise, t, observe(function, t.inputs, t.watch)).passed for t in truths(exercise, seed)
    )


# ---- what is known beforehand -----------------------------------------------------------------------------


def test_of_the_points_a_tenth_at_most_is_for_inputs_that_do_not_depend_on_the_seed():
    """So much a table of the public cases earns; of no exercise more than a third."""
    known, every = 0.0, sum(exercise.max_points for exercise in all_exercises().values())
    for exercise in (e for e in all_exercises().values() if not e.is_made):
        pairs = zip(truths(exercise, PUBLIC_SEED), truths(exercise, "another"), strict=True)
        fixed = sum(public.case.points for public, hidden in pairs if public.packed == hidden.packed)
        assert fixed <= exercise.max_points / 3, exercise.name
        known += fixed
    assert known <= every / 10
