"""Lesson 10's second experiment: its file is whole, and the lesson says what it says."""

import numpy as np
import pytest

from sdpa_helpers.lessons import does_scaling_matter as lesson
from sdpa_helpers.lessons.does_scaling_matter.second import design, registered, results


def test_the_file_holds_every_part_with_every_rate_and_seed():
    found = results.results()["found"]
    seeds = len(design.TUNING + design.EVALUATION)
    for (d_k, optimizer), way in ((s, w) for s in results.SETTINGS for w in design.WAYS):
        ran = found[f"race {d_k} {way.name} {optimizer}"]
        assert np.shape(ran["steps"]) == np.shape(ran["right"]) == (len(design.RATES[optimizer]), seeds)
    for place, way, optimizer in (
        (p, w, o) for p in design.MAP for w in design.MAP_WAYS for o in design.OPTIMIZERS
    ):
        shape = (len(design.MAP_RATES[optimizer]), len(design.MAP_TUNING + design.MAP_EVALUATION))
        assert np.shape(found[f"map {place.names} {way.name} {optimizer}"]["right"]) == (
            *shape,
            len(design.MAP_STEPS),
        )
    assert results.FILE.stat().st_size < 200_000
    assert results.results()["about"]["cpu_seconds"] < 25 * 60


@pytest.mark.parametrize("setting", results.SETTINGS, ids=str)
def test_a_run_that_has_steps_ended_at_90_percent_and_one_below_has_none(setting):
    """230 of 256 are rounded to 90%, and are less."""
    for way in design.WAYS:
        ran = results.results()["found"][f"race {setting[0]} {way.name} {setting[1]}"]
        there = np.array([[one is not None for one in row] for row in ran["steps"]])
        right = np.array(ran["right"])
        assert (right[there] == 90).all()
        assert not there[right < 90].any()


def test_every_registered_sentence_has_its_outcome():
    found = results.outcomes()
    assert list(found) == [one.name for one in registered.REGISTERED]
    assert all(outcome.cases for outcome in found.values())
    rows = lesson.sentences_table().rows
    assert [row[3] for row in rows] == [outcome.verdict for outcome in found.values()]
    assert [row[1].strip("“”") for row in rows] == [one.words for one in registered.REGISTERED]


def test_what_the_lesson_tells_of_starts_and_rates():
    """At d_k = 512, with both optimizers: orders, with a margin."""
    for optimizer in design.OPTIMIZERS:
        steps = {way.name: results.race_steps(512, optimizer, way.name) for way in design.WAYS}
        assert steps["1, own rates"] > 1.5 * steps["1/√dₖ"], "slower rates don't mend the start"
        assert steps["smaller start"] > 1.1 * steps["1/√dₖ"], "too fast rates cost steps"


def test_what_the_lesson_tells_of_failing():
    """Without a scale: more steps, more right, and after 2,000 of them more than half, on each task."""
    for place in design.MAP:
        for optimizer in design.OPTIMIZERS:
            right = [lesson.map_right(place.names, optimizer, steps) for steps in design.MAP_STEPS]
            assert right == sorted(right)
            assert right[-1] > 60
