"""Lesson 10's second experiment: what was registered are the articles' words, and a scale is a start and a rate."""

import numpy as np
import pytest

from sdpa_helpers.lessons.does_scaling_matter import arms
from sdpa_helpers.lessons.does_scaling_matter.second import design, registered
from tests.lessons import article_words

torch = pytest.importorskip("torch")

from sdpa_helpers.lessons.does_scaling_matter import training as first  # noqa: E402
from sdpa_helpers.lessons.does_scaling_matter.second import run, training  # noqa: E402

KNOWN = {"1": "1", "1/√dₖ": "1/√dₖ", "1/dₖ": "1/dₖ", "smaller start": "smaller start"}
KNOWN |= {"learned": "learned", "QK-norm": "QK-norm"}
SEEDS = (300, 301)


@pytest.mark.parametrize("one", [one for one in registered.REGISTERED if one.claim], ids=lambda one: one.name)
def test_a_sentence_is_the_articles_own(one):
    assert article_words.stands(one.words, one.line, article_words.stored()[one.who])


def test_seeds_tune_or_count_and_are_the_first_experiments_in_neither():
    assert not set(design.TUNING) & set(design.EVALUATION)
    assert not {*design.TUNING, *design.EVALUATION} & {*range(10), 100, 101, 102, 900}


def test_no_seed_is_one_of_the_run_that_was_thrown_away_or_of_these_tests():
    own = {*design.TUNING, *design.EVALUATION, *design.MAP_TUNING, *design.MAP_EVALUATION}
    assert not own & {*range(200, 222), *SEEDS}
    assert not set(design.MAP_TUNING) & set(design.MAP_EVALUATION)


def test_the_grid_of_the_race_is_the_one_that_was_registered_first():
    assert design.RATES == {
        "SGD": (0.1, 0.22, 0.46, 1.0, 2.2, 4.6, 10.0, 22.0, 46.0),
        "Adam": (0.001, 0.0022, 0.0046, 0.01, 0.022, 0.046, 0.1, 0.22, 0.46),
    }


@pytest.mark.parametrize(
    ("best", "grid", "tried"),
    [
        (1.0, (0.46, 1.0, 2.2), (0.46, 1.0, 2.2)),
        (4.6, (0.46, 1.0, 2.2), (0.46, 1.0, 2.2, 4.6, 10.0)),
        (0.22, (0.46, 1.0, 2.2), (0.1, 0.22, 0.46, 1.0, 2.2)),
        (1e-5, (0.46, 1.0, 2.2), (0.046, 0.1, 0.22, 0.46, 1.0, 2.2)),
        (1e4, (0.46, 1.0, 2.2), (0.46, 1.0, 2.2, 4.6, 10.0, 22.0)),
    ],
)
def test_a_grid_grows_outward_until_the_best_rate_lies_within_or_three_times(best, grid, tried):
    def trained(rates):
        return -np.abs(np.log(np.array(rates)) - np.log(best))[:, None, None] * np.ones((1, 2, 3))

    rates, right = run.outward(grid, trained, lambda right: right[..., -1])
    assert tuple(rates) == tried
    np.testing.assert_array_equal(right, trained(tried))


def test_a_race_and_a_map_hold_every_rate_that_they_tried(monkeypatch):
    """On other seeds than the experiment's, and for a few steps."""
    for name in ("TUNING", "EVALUATION", "MAP_TUNING", "MAP_EVALUATION"):
        monkeypatch.setattr(design, name, SEEDS)
    monkeypatch.setattr(design, "MAP_STEPS", (2, 6))
    raced, mapped = (kind(model(design.USUAL)) for kind in (run.raced, run.mapped))
    assert np.shape(raced["steps"]) == np.shape(raced["right"]) == (len(raced["rates"]), 4)
    assert np.shape(mapped["right"]) == (len(mapped["rates"]), 4, 2)
    assert set(design.RATES["SGD"]) <= set(raced["rates"]) <= set(design.LADDER)


def model(way, d_k=9, optimizer="SGD", steps=6):
    task = design.RACE._replace(names=7, values=3, pairs=5, asked=2, d_model=6, steps=steps, every=2)
    return training.Model(task, way, d_k, optimizer)


@pytest.mark.parametrize("way", [way for way in design.WAYS if way.name in KNOWN], ids=lambda way: way.name)
def test_scores_are_those_of_the_first_experiment(way):
    """Through one small matrix a model, instead of projected queries and keys."""
    here, arm = model(way), arms.Arm(9, KNOWN[way.name], "SGD")
    lists = first.draw(here.task, [np.random.default_rng(seed) for seed in SEEDS], lists=3)
    theirs = first.scaled_scores(arm, first.start(here.task, arm, SEEDS), lists)
    ours = training.scores(here, training.first_weights(here, SEEDS), lists)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("optimizer", design.OPTIMIZERS)
@pytest.mark.parametrize("d_k", [4, 16, 64])
def test_a_smaller_start_with_its_own_rates_is_the_usual_scale(d_k, optimizer):
    """Step for step: the loss before each of twenty, in float64."""
    rate = 0.5 if optimizer == "SGD" else 0.01
    usual, other, still = (
        run.losses(model(way, d_k, optimizer), own, SEEDS, 20)
        for way, own in ((design.USUAL, rate), (design.SAME, rate), (design.USUAL, 0.0))
    )
    np.testing.assert_allclose(other, usual, rtol=1e-9 if optimizer == "SGD" else 1e-4)
    assert np.abs(usual - still)[-1].min() > 1e-3, "it moved"


@pytest.mark.parametrize("optimizer", design.OPTIMIZERS)
@pytest.mark.parametrize("rates", [0.0, -0.25, -1.0])
def test_with_other_rates_it_is_another_run(rates, optimizer):
    """One rate for all, the root taken once too often, or not at all: what the exercise's mistakes do."""
    other = design.SAME._replace(rates=rates)
    found = [
        run.losses(model(way, 64, optimizer), 0.5 if optimizer == "SGD" else 0.01, SEEDS, 20)
        for way in (design.USUAL, other)
    ]
    assert np.abs(found[0] - found[1]).max() > 1e-3


def test_adams_step_is_the_first_experiments():
    here = model(design.USUAL, optimizer="Adam")
    lists = training.lessons(here.task, SEEDS)
    weights = [training.first_weights(here, SEEDS) for _ in range(2)]
    rates, memory, theirs = torch.tensor([0.01, 0.02]), {}, first.stepper("Adam", torch.tensor([0.01, 0.02]))
    for number, drawn in enumerate(lists, 1):
        gradients = [training.slope(here, one, drawn)[1] for one in weights]
        training.step(weights[0], gradients[0], training.rates_of(here, rates, weights[0]), memory, number)
        theirs(weights[1], gradients[1], number)
    for key in weights[0]:
        np.testing.assert_allclose(weights[0][key], weights[1][key], atol=1e-6)


def test_a_run_that_has_learned_stops_and_one_that_diverged_counts_as_nothing():
    here = training.Model(design.RACE._replace(steps=90), design.WAYS[-1], 16, "SGD")
    right = training.train(here, (2.2, 1e30), SEEDS)
    assert right.shape == (2, 2, 18)
    assert (right[0, :, -1] == design.ENOUGH).all()
    assert (right[1, :, -1] == 0).all()
    steps = run._steps(right, here.task.every)
    assert all(40 <= one <= 90 for one in steps[0])
    assert steps[1] == [None, None]
    alone = training.train(here, (2.2,), SEEDS[:1])
    assert abs(run._steps(alone, 5)[0][0] - steps[0][0]) <= 10, (
        "who else is trained beside it changes rounding alone"
    )
