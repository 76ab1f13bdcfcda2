"""Lessons 01 to 07: no mark depends on luck; mistakes in parts are found out and named, alone and in pairs."""

import random

import pytest

from sdpa_helpers.checking.code.edits import Pairs
from sdpa_helpers.checking.diagnose import passes, try_out
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
from sdpa_helpers.course.registry import all_exercises
from tests.nightly import BRIEFLY_AND_AT_NIGHT, at_night

LAST = "07"
# Nothing new is drawn for what is made, and code to mend has the cases of the exercise that it comes from.
EXERCISES = [e for e in all_exercises().values() if e.lesson[:2] <= LAST and not (e.is_made or e.whole)]
EVERY_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
SEEDS = [f"luck {n}" for n in range(6)]
"""Two more, and what is said of each wrong answer, are in test_every_exercise.py."""

AS_TRUE = {
    # An epsilon that is small beside 1e-9 does what a threshold does, and both sentences say so.
    "epsilon-in-denominator": {"small-is-not-zero"},
    "another-threshold": {"threshold-below-1e9"},
    "finite-fill-too-near": {f"fill-of-minus-{n}" for n in ("ten", "hundred", "thousand", "ten-thousand")},
    "tolerance-too-wide": {"mean-of-the-differences"},
    "list-of-chunks": {"list-not-array"},
    "equal-parts-only": {"too-much-memory"},
}
"""Names that are as true of a deviation as its own."""


@BRIEFLY_AND_AT_NIGHT
@EVERY_EXERCISE
def test_right_answers_pass_and_wrong_ones_fail_with_every_seed(exercise, at_night):
    mistakes = exercise.mistakes
    if isinstance(mistakes, Pairs):  # the answer itself is what is edited
        whole = mistakes.answer.edited(())
    else:
        whole = mistakes.build(**{factor.name: factor.right for factor in mistakes.factors})
    right = {"reference": exercise.reference, "parts": whole, **dict(enumerate(exercise.also_right))}
    assert not [(name, s) for name, f in right.items() for s in SEEDS if not passes(exercise, f, s)]
    if exercise.name == "chunked_attention":  # a failing run there measures memory
        return
    wrong = {w.name: w.function for w in exercise.wrong}
    if at_night or exercise.lesson < "03":
        wrong |= {
            str(d.names): d.function for d in mistakes.deviants(1) if at_night or d.names[0] not in wrong
        }
    seeds = SEEDS if at_night or exercise.lesson < "05" else SEEDS[::4] if exercise.lesson < "07" else []
    assert not [(name, s) for name, f in wrong.items() for s in seeds if passes(exercise, f, s)]


@EVERY_EXERCISE
def test_every_option_has_something_to_say(exercise):
    listed = {w.name for w in exercise.wrong} | {"extra-leading-axis"}  # the engine has the words for it
    options = exercise.mistakes.names
    assert options
    assert not [name for name in options if name not in listed and len(exercise.mistakes.says(name)) <= 20]


@EVERY_EXERCISE
def test_every_option_alone_is_rejected_and_named_as_itself_or_as_what_is_as_true(exercise):
    alone = list(exercise.mistakes.deviants(1))
    assert len(alone) > 5, f"{exercise.name}: a page lists six mistakes at least; this one has {len(alone)}"
    listed = {w.name for w in exercise.wrong}  # what is said of them is tested with the others of the list
    assert not [d.names for d in alone if d.names[0] in listed and passes(exercise, d.function, PUBLIC_SEED)]
    tried = [(d.names[0], try_out(exercise, d.function)) for d in alone if d.names[0] not in listed]
    named = [(name, result.passed, {m.name for m in result.mistakes}) for name, result in tried]
    assert not [
        one for one in named if one[1] or not one[2] or one[2] - {one[0]} - AS_TRUE.get(one[0], set())
    ]


SECOND = [e if n % 2 else at_night(e) for n, e in enumerate(EXERCISES)]


@BRIEFLY_AND_AT_NIGHT
@pytest.mark.parametrize("exercise", SECOND, ids=lambda e: e.name)
def test_a_sample_of_pairs_is_rejected_and_mostly_named_by_what_is_in_it(exercise, at_night):
    """Two deviations can come to one, or to another mistake; from lesson 05 on some undo each other."""
    pairs = exercise.mistakes.deviants(2)
    assert all(callable(d.function) for d in pairs)
    sample = random.Random(10).sample(pairs, min(60 if at_night else 12, len(pairs)))
    results = [({*d.names}, try_out(exercise, d.function)) for d in sample]
    named = [(two, {m.name for m in result.mistakes}) for two, result in results if not result.passed]
    assert len(named) >= (1.0 if exercise.lesson < "05" else 0.9) * len(sample)
    assert sum(bool(said) for _, said in named) >= 7 / 8 * len(named)
    assert sum(bool(said & two) for two, said in named) >= 0.6 * len(named)
    assert sum(not said <= two for two, said in named) <= 0.3 * len(named)


@pytest.mark.parametrize("number", [0, 1])
def test_a_number_that_never_changes_is_not_two_mistakes(number):
    """The distance of q from itself is 0, and its cosine with itself is 1."""
    assert try_out(all_exercises()["dot_product"], lambda q, k: number).mistakes == ()
    assert try_out(all_exercises()["best_key"], lambda q, K: number).mistakes == ()
