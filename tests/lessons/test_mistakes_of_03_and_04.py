"""Lessons 03 and 04: no mark depends on luck, and mistakes that come in parts are found out, alone and in pairs."""

import random

import pytest

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judge import judge, truths
from sdpa_helpers.checking.observe import observe
from sdpa_helpers.course.registry import exercises_of

EXERCISES = [e for lesson in ("03_softmax", "04_gradients") for e in exercises_of(lesson)]
EXERCISES = [e for e in EXERCISES if not (e.is_made or e.whole)]  # nothing new is drawn for these
EVERY_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
SEEDS = [f"luck {n}" for n in range(8)]


def passed(exercise, function, seed):
    """Whether an answer passes every case; it is tried until it fails."""
    return all(
        judge(exercise, t, observe(function, t.inputs, t.watch)).passed for t in truths(exercise, seed)
    )


@EVERY_EXERCISE
def test_right_answers_pass_and_wrong_ones_fail_with_every_seed(exercise):
    right = (exercise.reference, *exercise.also_right)
    assert not [(n, seed) for n, f in enumerate(right) for seed in SEEDS if not passed(exercise, f, seed)]
    wrong = [(w.name, seed) for w in exercise.wrong for seed in SEEDS if passed(exercise, w.function, seed)]
    assert not wrong


@EVERY_EXERCISE
def test_every_single_deviation_is_rejected_and_named(exercise):
    listed = {wrong.name for wrong in exercise.wrong}
    told = {}
    for number, deviant in enumerate(exercise.mistakes.deviants(1)):
        result = try_out(exercise, deviant.function)
        told[number, *deviant.names] = None if result.passed else tuple(m.name for m in result.mistakes)
    assert not [names for names in told.items() if names[1] is None]
    assert not [names for names in told.items() if names[0][1] not in listed and names[1] != names[0][1:]]


@EVERY_EXERCISE
def test_pairs_are_rejected_and_mostly_named(exercise):
    """Two deviations can come to one, or to another mistake; two that undo each other would be right."""
    pairs = list(exercise.mistakes.deviants(2))
    chosen = random.Random(1).sample(pairs, min(24, len(pairs)))
    results = [(pair.names, try_out(exercise, pair.function)) for pair in chosen]
    assert not [names for names, result in results if result.passed]
    unnamed = [names for names, result in results if not result.mistakes]
    assert len(unnamed) <= len(chosen) // 8, unnamed
