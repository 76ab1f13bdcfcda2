"""Lessons 01 and 02: no mark depends on luck. For every seed the right answers pass and the wrong ones fail."""

import random

import pytest

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judge import judge, truths
from sdpa_helpers.checking.observe import observe
from sdpa_helpers.course.registry import exercises_of

EXERCISES = [e for lesson in ("01_dot_product", "02_variance_proof") for e in exercises_of(lesson)]
EXERCISES = [e for e in EXERCISES if not (e.is_made or e.whole)]  # nothing new is drawn for these
SEEDS = [f"seed {n}" for n in range(8)]

EVERY_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)

SAME_NUMBERS = {
    # An epsilon that is small beside 1e-9 does what a threshold does, and both sentences say so.
    "epsilon-in-denominator": {"small-is-not-zero"},
    # Roles and axes can be swapped together, or the result.
    "queries-and-keys-swapped": {"swapped-last-axes"},
}
"""Names that are as true of some products of mistakes."""


def passes(exercise, function, seed):
    return all(judge(exercise, t, observe(function, t.inputs)).passed for t in truths(exercise, seed))


@EVERY_EXERCISE
def test_right_answers_pass_and_wrong_ones_fail_for_eight_seeds(exercise):
    right = {"reference": exercise.reference, **dict(enumerate(exercise.also_right))}
    wrong = {w.name: w.function for w in exercise.wrong}
    assert not [(name, s) for name, f in right.items() for s in SEEDS if not passes(exercise, f, s)]
    # A passing run calls every case; a failing one stops at the first that fails.
    assert not [(name, s) for name, f in wrong.items() for s in SEEDS if passes(exercise, f, s)]


@EVERY_EXERCISE
def test_every_option_is_found_out_alone_for_eight_seeds(exercise):
    deviants = list(exercise.mistakes.deviants(1))
    assert not [(d.names, s) for d in deviants for s in SEEDS if passes(exercise, d.function, s)]


@EVERY_EXERCISE
def test_every_option_is_named_as_itself_or_as_what_is_as_true(exercise):
    listed = {w.name for w in exercise.wrong}
    untold = [d.names for d in exercise.mistakes.deviants(1) if d.names[0] not in listed]
    named = {
        d.names[0]: {m.name for m in try_out(exercise, d.function).mistakes}
        for d in exercise.mistakes.deviants(1)
        if d.names[0] not in listed
    }
    assert not untold
    assert not {
        name: got for name, got in named.items() if not got or got - {name} - SAME_NUMBERS.get(name, set())
    }


@EVERY_EXERCISE
def test_a_sample_of_pairs_is_rejected_and_mostly_named(exercise):
    pairs = random.Random(5).sample(list(exercise.mistakes.deviants(2)), 24)
    results = {d: try_out(exercise, d.function) for d in pairs}
    assert not [d.names for d, result in results.items() if result.passed]
    strangers = [
        d.names for d, result in results.items() if not {m.name for m in result.mistakes} <= set(d.names)
    ]
    assert len(strangers) <= 0.3 * len(pairs)
