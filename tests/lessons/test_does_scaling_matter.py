"""Lesson 10: its verdicts and panel say what the shipped results say, and an interrupted run goes on where it was."""

import json

import numpy as np
import pytest

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.does_scaling_matter import arms, registered, results, tables, verdicts, widget
from sdpa_helpers.lessons.does_scaling_matter.exercises import what_you_measured

FORTY_YES = np.repeat([[1.0], [0.0]], 20, axis=0).ravel()


def test_the_file_holds_every_arm_with_every_seed_and_rate():
    about, found = results.results()["about"], results.results()["arms"]
    assert list(found) == [arms.key_of(arm) for arm in arms.ARMS]
    assert not set(about["seeds"]) & set(about["tuning_seeds"])
    for arm in arms.ARMS:
        of = results.of(arm)
        assert np.shape(of["accuracy"]) == (10, 21)
        assert np.shape(of["tuning"]["loss"]) == (11, 3)
        assert len(of["steps_to_90"]) == 10
        assert of["rate"] in results.rates(arm.optimizer)
    assert results.FILE.stat().st_size < 200_000


def test_no_best_rate_lies_at_an_end_of_its_grid():
    """Else the arm might do better with a rate that was not tried."""
    places = {results.rates(arm.optimizer).index(results.of(arm)["rate"]) for arm in arms.ARMS}
    assert {0, 10} & places == set()


def test_what_came_out_is_what_the_lesson_tells():
    came = {name: outcome.verdict for name, outcome in verdicts.outcomes().items()}
    assert list(came) == [prediction.name for prediction in registered.REGISTERED]
    told = {"as predicted": 3, "in part": 1, "otherwise": 8}
    assert {verdict: list(came.values()).count(verdict) for verdict in told} == told
    assert came["start_is_enough"] == came["adam_forgives"] == came["transfer"] == "otherwise"


def test_an_interval_holds_its_mean_and_shrinks_with_more_values():
    one, more = results.interval(FORTY_YES[15:25]), results.interval(FORTY_YES)
    assert one.low < one.value == 0.5 < one.high
    assert more.high - more.low < one.high - one.low
    assert results.clearly(Interval(1, 0.5, 2)) == "sooner"
    assert results.clearly(Interval(-1, -2, -0.5)) == "later"
    assert results.clearly(Interval(1, -0.5, 2)) == "not clear"


def test_students_t_counts_as_often_sooner_as_the_bootstrap():
    """Ten seeds are few for a bootstrap, whose intervals then come out too narrow."""
    t = 2.262  # 97.5% of Student's t with nine degrees of freedom
    for arm in arms.ARMS:
        usual = arm._replace(scale="1/√dₖ")
        gap = results.steps_to_90(usual) - results.steps_to_90(arm)
        margin = t * gap.std(ddof=1) / np.sqrt(len(gap))
        by_t = Interval(gap.mean(), gap.mean() - margin, gap.mean() + margin)
        sooner = [results.clearly(found) == "sooner" for found in (by_t, results.sooner(arm, usual))]
        assert sooner[0] == sooner[1], arm


def test_the_lesson_knows_what_needs_no_lookup():
    """Always naming the list's most frequent value is right 19% of the time; Adam without a scale no more often."""
    shown = np.random.default_rng(1).multinomial(16, [1 / 16] * 16, size=50_000)
    frequent = 100 * shown.max(axis=1).mean() / 16
    assert round(frequent) == 19
    adam, sgd = (results.interval(results.accuracies(arms.Arm(512, "1", name))) for name in ("Adam", "SGD"))
    assert adam.value < frequent < sgd.low


def test_tables_name_every_prediction_and_write_real_subscripts():
    for table in (tables.predictions_table(), tables.verdicts_table()):
        assert len(table.rows) == len(registered.REGISTERED)
        shown = table._repr_html_()
        assert "d_k" not in shown
        assert "W_q" not in shown
        assert "d<sub>k</sub>" in shown


def test_the_panel_hands_over_what_the_results_say():
    given = widget.explore_arms().given
    assert len(json.dumps(given)) < 60_000
    assert len(given["arms"]) == 72
    one = given["arms"]["512 1 Adam"]
    assert one["end"][0] == round(results.accuracies(arms.Arm(512, "1", "Adam")).mean())
    assert one["reached"] == 0
    assert np.shape(one["weights"]) == (4, 16)
    assert all(
        low <= mean <= high
        for arm in given["arms"].values()
        for low, mean, high in zip(arm["low"], arm["mean"], arm["high"], strict=True)
    )


def test_a_run_that_was_interrupted_goes_on_where_it_was(tmp_path, monkeypatch):
    run = pytest.importorskip("sdpa_helpers.lessons.does_scaling_matter.run")
    measured = []

    def measure(arm):
        measured.append(arm)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return {"rate": 1.0}

    monkeypatch.setattr(run, "measured", measure)
    file, some = tmp_path / "results.json", arms.ARMS[:3]
    with pytest.raises(KeyboardInterrupt):
        run.run(file, some)
    assert list(json.loads(file.read_text(encoding="utf-8"))["arms"]) == [arms.key_of(some[0])]
    run.run(file, some)
    assert measured == [some[0], some[1], some[1], some[2]]
    assert list(json.loads(file.read_text(encoding="utf-8"))["arms"]) == [arms.key_of(arm) for arm in some]


def test_a_rerun_agrees_with_itself_and_not_with_another_arm():
    again = pytest.importorskip("sdpa_helpers.lessons.does_scaling_matter.experiments")
    arm, other = arms.Arm(64, "1", "Adam"), arms.Arm(64, "1/√dₖ", "Adam")
    assert again.agrees(results.accuracies(arm), arm)
    assert not again.agrees(results.accuracies(other), arm)


def test_the_rule_of_tuning_rules_out_a_rate_that_diverged_once():
    run = pytest.importorskip("sdpa_helpers.lessons.does_scaling_matter.run")
    losses = np.array([[2.0, 2.0], [0.1, np.nan], [1.0, 2.0], [1.5, 1.5]])
    assert run.best_rate((0.1, 0.2, 0.4, 0.8), losses) == 0.4


SETTINGS = ("1", 0.01), ("1/√dₖ", 0.01), ("1/√dₖ", 0.05)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_one_is_asked_to_measure_is_what_any_processor_measures(place):
    """40 steps with the order of sums changed, which is what another processor does to them."""
    torch = pytest.importorskip("torch")
    from sdpa_helpers.lessons.does_scaling_matter.experiments import early_loss

    scale, rate = SETTINGS[place]
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        found = early_loss(arms.Arm(48, scale, "Adam"), rate, range(25, 30), 40)
    finally:
        torch.set_num_threads(threads)
    assert abs(found.mean() - what_you_measured.RIGHT[place]) < what_you_measured.NEAR / 4


def test_a_guess_of_it_earns_nothing_and_learns_nothing():
    exercise = what_you_measured.EXERCISE
    tenths = [round(0.1 * n, 1) for n in range(41)]
    guesses = [(60, 100, 7), (2.77, 2.77, 2.77), (3, 2.5, 2), *((one, one, one) for one in tenths)]
    tried = [try_out(exercise, lambda guess=guess: guess) for guess in guesses]
    assert {result.points for result in tried} == {0}
    said = [*(w.says for w in exercise.wrong), *exercise.hints, exercise.prompt]
    said += [c.message for result in tried for c in result.cases]
    digits = [f"{right:.{n}f}" for right in what_you_measured.RIGHT for n in (1, 2)]
    assert not [(one, text) for text in said for one in digits if one in text]
