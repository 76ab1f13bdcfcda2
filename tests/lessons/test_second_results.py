"""Lesson 10's second experiment: its file is whole, and the lesson says what it says."""

import numpy as np
import pytest

from sdpa_helpers.lessons import does_scaling_matter as lesson
from sdpa_helpers.lessons.does_scaling_matter.second import design, registered, results, statistics


def test_the_file_holds_every_part_with_every_rate_and_seed():
    found = results.results()["found"]
    seeds = len(design.TUNING + design.EVALUATION)
    for (d_k, optimizer), way in ((s, w) for s in results.SETTINGS for w in design.WAYS):
        ran = found[f"race {d_k} {way.name} {optimizer}"]
        assert np.shape(ran["steps"]) == np.shape(ran["right"]) == (len(ran["rates"]), seeds)
        assert are_a_grid_and_what_it_tried_outward(ran["rates"], design.RATES[optimizer])
    for place, way, optimizer in (
        (p, w, o) for p in design.MAP for w in design.MAP_WAYS for o in design.OPTIMIZERS
    ):
        ran = found[f"map {place.names} {way.name} {optimizer}"]
        shape = (len(ran["rates"]), len(design.MAP_TUNING + design.MAP_EVALUATION), len(design.MAP_STEPS))
        assert np.shape(ran["right"]) == shape
        assert are_a_grid_and_what_it_tried_outward(ran["rates"], design.MAP_RATES[optimizer])
    assert results.FILE.stat().st_size < 200_000
    assert results.results()["about"]["cpu_seconds"] < 25 * 60


def are_a_grid_and_what_it_tried_outward(rates, grid):
    """Neighbours on the ladder, the whole grid among them, and at most three more."""
    neighbours = tuple(rates) == design.ladder(rates[0], rates[-1])
    return neighbours and set(grid) <= set(rates) and len(rates) <= len(grid) + design.OUTWARD


def test_the_file_is_of_one_run_of_this_very_program():
    """Else it might have parts of two, or be of other arms than are registered."""
    run = pytest.importorskip("sdpa_helpers.lessons.does_scaling_matter.second.run")
    assert results.results()["about"]["program"] == run.program()
    assert list(results.results()["found"]) == list(run.parts())


def test_no_best_rate_is_the_lowest_or_the_highest_that_was_tried():
    """The lesson says so. There were 14 of 54 in the run that was thrown away."""
    arms = [(*setting, way.name) for setting in results.SETTINGS for way in design.WAYS]
    assert not [arm for arm in arms if statistics.edge(results.race(*arm).tuning)]
    assert not [test for test, found in results.tests().items() if found.edge]


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
    clear = {way: results.outcomes()[way].cases for way in ("start_matters", "rates_matter")}
    for cases in clear.values():
        assert [setting for setting, said in cases.items() if said is not True] == ["16 Adam"], (
            "not clear there"
        )
        assert cases["16 Adam"] is None


def test_what_the_lesson_tells_of_failing():
    """Without a scale: more steps, never less right in the figure, and after 2,000 more than half, anywhere."""
    for place in design.MAP:
        for optimizer in design.OPTIMIZERS:
            right = [lesson.map_right(place.names, optimizer, steps) for steps in design.MAP_STEPS]
            shown = [round(one) for one in right]
            assert shown == sorted(shown)
            assert right[-1] > 60
            assert results.answers()["stalls", f"{place.names} names, {optimizer}"] is True, (
                "more than ten points"
            )
    assert 10 <= lesson.map_right(64, "SGD", 200) <= 30, "about a fifth, as the question says"


def test_what_the_lesson_tells_of_no_scale():
    """Slower, clearly in five of six settings; a larger width is worse in every one."""
    assert lesson.settings_in_which("1", "later") == 5
    assert set(results.outcomes()["wider"].cases.values()) == {True}
