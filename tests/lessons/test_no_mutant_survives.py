"""The cases of every exercise find every small mistake that can be made in its reference.

Exercises in which one makes something have none: nothing is compared with their references. Code to mend is tried with
the cases of the exercise that it comes from. With the first of the eight seeds that `sdpa mutants` takes: those are an
author's, and cost a minute. Three quarters of the time went into mutants that pass and are the same function: on how
many inputs they are compared is a matter of the night, and so is which spared ones are no survivors any more.
"""

import pytest

from sdpa_helpers.checking.authors import survivors
from sdpa_helpers.course.registry import all_exercises

COMPARED = [exercise for exercise in all_exercises().values() if not (exercise.is_made or exercise.whole)]
BRIEFLY = 100
"""Inputs on which a mutant that passes is compared with the reference, of 600."""


@pytest.mark.parametrize("most", [BRIEFLY, pytest.param(survivors.MOST, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("exercise", COMPARED, ids=lambda e: e.name)
def test_every_mutant_is_killed_or_spared_with_a_reason(exercise, most, monkeypatch):
    monkeypatch.setattr(survivors, "MOST", most)
    found = survivors.hunt(exercise, survivors.SEEDS[:1])
    assert not [f"{s.mutant.line}: {s.mutant.name}; {s.example}" for s in found.survivors]
    assert most == BRIEFLY or not found.stale
    assert found.mutants > 30
    assert all(len(reason) > 20 for _, reason in exercise.spared)
