"""Lesson 04: its experiments against autograd, closed forms and an independent simulation; its figures."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex, to_rgba

import sdpa_helpers as sdpa
from sdpa_helpers.lessons import gradients as lesson
from sdpa_helpers.lessons.gradients import experiments as experiments
from sdpa_helpers.lessons.gradients import run as training_runs
from sdpa_helpers.lessons.gradients.training import RULES
from sdpa_helpers.show.figures import INK, SKY, Picture, fullest
from tests.lessons import pages
from tests.lessons.example import QUESTIONS, WORDS, K, Q, V
from tests.lessons.pictures import unreadable

DO = np.array([[-1, -0.5], [0, 1], [0.5, -1], [1, 1]])
X = np.array([1, 2, 0.5, -1])


def small_grid():
    return lesson.measure_grid(dimensions=(4, 64, 1024), keys=(4, 16))


PAGE = pages.functions("04_gradients", sdpa=sdpa)

# Slopes -------------------------------------------------------------------------------------------------------


def test_complex_steps_agree_with_autograd():
    by_torch = torch.autograd.functional.jacobian(lambda t: torch.softmax(t, -1), torch.tensor(X))
    np.testing.assert_allclose(experiments.complex_step_jacobian(X), by_torch.numpy(), atol=1e-15)


def test_finite_differences_are_best_in_between_and_never_good_in_float32():
    errors = lesson.difference_error(X, np.array([1e-2, 1e-5, 1e-12]), np.float64)
    assert errors[1] < 1e-9 < errors[0]
    assert errors[1] < 1e-9 < errors[2]
    assert lesson.difference_error(X, np.logspace(-8, 0, 33), np.float32).min() > 1e-6


@pytest.mark.parametrize("n", [2, 3, 10])
def test_off_diagonal_share_of_equal_weights_is_one_over_n(n):
    J = np.eye(n) / n - np.ones((n, n)) / n**2
    assert experiments.off_diagonal_share(J) == PAGE["off_diagonal_share"](J) == pytest.approx(1 / n)


def by_autograd(q, k, v, dO, *mask, **options):
    """torch's output and the gradients of q, k and v."""
    tensors = [torch.tensor(a, requires_grad=True) for a in (q, k, v)]
    output = torch.nn.functional.scaled_dot_product_attention(*tensors, *mask, **options)
    return [x.detach().numpy() for x in (output, *torch.autograd.grad(output, tensors, torch.tensor(dO)))]


def test_attend_and_return_agrees_with_autograd_on_batches():
    rng = np.random.default_rng(0)
    shapes = [(2, 3, 4, 7), (2, 3, 5, 7), (2, 3, 5, 6), (2, 3, 4, 6)]
    q, k, v, dO = (rng.normal(size=shape) for shape in shapes)
    back = experiments.attend_and_return(q, k, v, dO, scale=0.3)
    found = (back.output, back.query_grad, back.key_grad, back.value_grad)
    for ours, right in zip(found, by_autograd(q, k, v, dO, scale=0.3), strict=True):
        np.testing.assert_allclose(ours, right, atol=1e-12)


def test_the_row_sums_are_two_ways_to_one_number():
    back = experiments.attend_and_return(Q, K, V, DO, scale=0.5)
    np.testing.assert_allclose(
        (back.weights * back.weights_grad).sum(-1), (back.output * DO).sum(-1), atol=1e-12
    )
    meant = back.weights * np.einsum("ic,ijc->ij", DO, V[None] - back.output[:, None])
    np.testing.assert_allclose(back.scores_grad, meant, atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_the_pages_blocks_add_up_to_the_gradients_of_autograd(size):
    rng = np.random.default_rng(3)
    q, k, v, dO = (rng.normal(size=shape) for shape in ((7, 4), (9, 4), (9, 5), (7, 5)))
    output, *gradients = by_autograd(q, k, v, dO, scale=0.3)
    lse = torch.logsumexp(torch.tensor(q @ k.T * 0.3), -1).numpy()
    found = PAGE["backward_in_blocks"](q, k, v, output, lse, dO, 0.3, size)
    for ours, right in zip(found, gradients, strict=True):
        np.testing.assert_allclose(ours, right, atol=1e-13)


def test_under_a_mask_the_pages_five_lines_give_hidden_places_exactly_nothing():
    rng = np.random.default_rng(4)
    q, k, v, dO = (rng.normal(size=shape) for shape in ((6, 3), (5, 3), (5, 2), (6, 2)))
    allowed = rng.random((6, 5)) < 0.6
    allowed[2], allowed[:, 1] = False, False  # an empty row, and a key that nobody sees
    O, A = sdpa.scaled_dot_product_attention(q, k, v, attn_mask=allowed, return_weights=True)
    dA, dS, dQ, dK, dV = PAGE["backward"](A, O, dO, q, k, v, 3**-0.5)
    for ours, right in zip((dQ, dK, dV), by_autograd(q, k, v, dO, torch.tensor(allowed))[1:], strict=True):
        np.testing.assert_allclose(ours, right, atol=1e-13)
    assert (dA[~allowed] != 0).all()
    assert (dS[~allowed] == 0).all()
    assert not any(gradient.any() for gradient in (dQ[2], dK[1], dV[1]))


def test_gradcheck_accepts_the_whole_step_and_rejects_its_halves():
    rng = np.random.default_rng(1)
    inputs = [torch.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((2, 3), (4, 3), (4, 2))]
    whole = lesson.as_torch_function(0.5)
    half = lesson.as_torch_function(0.5, step=lambda A, dA: A * dA)
    assert torch.autograd.gradcheck(whole, inputs)
    assert not torch.autograd.gradcheck(half, inputs, raise_exception=False)


def test_complex_step_gradient_knows_a_parabola():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(
        experiments.complex_step_gradient(lambda z: (z**2).sum(), x), 2 * x, atol=1e-14
    )


def test_slopes_die_in_float32_at_the_gaps_that_the_lesson_names():
    gaps = np.arange(0, 120)
    assert gaps[experiments.two_key_slope(gaps, np.float32) == 0][0] == 17
    assert gaps[experiments.losers_slope(gaps, np.float32) == 0][0] == 104
    assert (experiments.losers_slope(gaps) > 0).all()
    assert experiments.two_key_slope(np.array([0.0]))[0] == 0.25


def test_numbers_in_the_reasons_for_answers():
    """Those that the notebook does not measure itself."""
    s = np.exp(K @ Q[0] / 3**0.5)
    s /= s.sum()
    assert (7 * s * (1 - s)).max() == pytest.approx(1.7, abs=0.05)
    assert np.float32(1) + np.float32(math.exp(-17)) == 1 < np.float32(1) + np.float32(math.exp(-16))
    assert math.log(1e7) == pytest.approx(16, abs=0.2)
    p, g = np.exp(X) / np.exp(X).sum(), np.array([0.3, -1, 2, 0.7])
    right, diagonal = p * (g - p @ g), p * (1 - p) * g
    assert (np.sign(right) == np.sign(diagonal)).all()
    assert (np.argsort(right) == np.argsort(diagonal)).all()


def test_adams_first_step_hardly_depends_on_the_size_of_the_gradient():
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimiser = torch.optim.Adam([parameter], lr=0.01)
    parameter.grad = torch.full((1,), 1e-6, dtype=torch.float64)
    optimiser.step()
    assert experiments.first_adam_step(1e-6) == pytest.approx(-parameter.item(), rel=1e-9)
    assert experiments.first_adam_step(1e-8) == pytest.approx(0.005)


# The measurement ----------------------------------------------------------------------------------------------


def rows_drawn_one_by_one(d, n, scale, count, seed):
    """‖dS‖ and ‖dQ‖ of independent rows, drawn from their exact distribution without any Q, K or V.

    Given the query's length, scores are independent normals; given dO's, so are the entries of dA. What is left
    of the keys, across the query, is a normal vector in d − 1 dimensions.
    """
    rng = np.random.default_rng(seed)
    along = rng.standard_normal((count, n))  # the keys' components along the query
    length = np.sqrt(rng.chisquare(d, (count, 1)))
    dA = np.sqrt(rng.chisquare(64, (count, 1)) / 64) * rng.standard_normal((count, n))
    e = np.exp(scale * length * (along - along.max(axis=-1, keepdims=True)))
    A = e / e.sum(axis=-1, keepdims=True)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    across = (dS**2).sum(axis=-1) * rng.chisquare(d - 1, count)
    return np.linalg.norm(dS, axis=-1), scale * np.sqrt(((dS * along).sum(axis=-1)) ** 2 + across)


@pytest.mark.parametrize(("d", "n"), [(64, 16), (1024, 16), (64, 256)])
def test_measure_agrees_with_rows_drawn_from_their_exact_distribution(d, n):
    cell = experiments.measure(d, n)
    for norms, scale in ((cell.unscaled, 1.0), (cell.scaled, d**-0.5)):
        scores, queries = rows_drawn_one_by_one(d, n, scale, 6000, seed=d + n)
        for measured, drawn in ((norms.scores, scores), (norms.queries, queries)):
            mean, low, high = lesson.interval(measured)
            room = 3 * (high - low) / 4 + 3 * drawn.std() / math.sqrt(drawn.size)
            assert abs(drawn.mean() - mean) < room
            _, low, high = lesson.interval(measured, np.median)
            assert low / 2 < np.median(drawn) < 2 * high
        assert float(experiments.dead_share(norms.scores)) == pytest.approx(
            (scores < experiments.DEAD).mean(), abs=0.06
        )


def test_the_page_measures_what_the_claims_measure():
    for there, here in zip(PAGE["measure"](64, 16), experiments.measure(64, 16), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-12)


def test_the_values_gradient_is_larger_without_the_scale():
    unscaled, scaled = lesson.value_norms(1024, 16)
    assert 2 < unscaled / scaled < 3.5


def test_what_is_compared_is_called_larger_only_where_the_interval_says_so():
    norms = np.random.default_rng(3).exponential(size=(12, 30))
    found = [lesson.compared(factor * norms, norms[::-1]) for factor in (1.5, 1.0, 0.6)]
    assert found == ["larger", "about the same", "smaller"]


def test_what_the_lesson_says_about_the_grid():
    grid = lesson.measure_grid(keys=(4, 16))  # the notebook's own outputs hold all thirty cells
    at_queries = experiments.ratios(grid, "queries", np.mean)
    assert (at_queries.ratio > 1).all()
    assert at_queries.sure.all()
    median = experiments.ratios(grid, "scores", np.median).ratio
    assert median[0, -1] < 1e-12  # few keys, large d_k
    many = experiments.measure(64, 1024)
    assert np.median(many.unscaled.scores) > 2 * np.median(many.scaled.scores)
    mean = experiments.ratios(grid, "scores", np.mean).ratio
    assert 0.01 < mean.min() < 0.1
    assert all(experiments.dead_share(cell.scaled.scores) == 0 for cell in grid.values())


def test_the_mean_falls_with_the_root_at_the_scores_and_stays_at_the_queries():
    grid = lesson.measure_grid(keys=(16,))
    _, low, high = lesson.power_of_d(grid, 16, "scores")
    assert low < -0.5 < high
    _, low, high = lesson.power_of_d(grid, 16, "queries")
    assert low < 0 < high


def test_intervals_hold_the_estimate_and_shrink_with_more_trials():
    norms = np.random.default_rng(2).exponential(size=(40, 50))
    value, low, high = lesson.interval(norms)
    assert low < value < high
    assert value == pytest.approx(norms.mean())
    _, few_low, few_high = lesson.interval(norms[:5])
    assert high - low < few_high - few_low
    assert experiments.ratio_interval(3 * norms, norms) == pytest.approx((3, 3, 3))


# Training and distance ----------------------------------------------------------------------------------------


def test_both_scalings_start_as_the_same_function():
    divided, folded, raw = (lesson.train(rule, 0, steps=1).course for rule in ("1/√d", RULES[2], "no scale"))
    assert divided.right[0] == folded.right[0]
    assert folded.first_gradient == pytest.approx(8 * divided.first_gradient)
    assert raw.first_gradient > 2 * divided.first_gradient


@pytest.mark.parametrize("optimiser", training_runs.RATES)
def test_with_the_scale_or_a_smaller_start_it_learns_and_without_it_learns_worse(optimiser):
    """The order of the rules, by a margin that no processor's rounding comes near: in the file, and here and now."""
    (raw_rate, raw), *others = (lesson.at_best_rate(rule, optimiser, seeds=range(3)) for rule in RULES)
    assert min(raw) > 2 / 16
    assert max(raw) + 0.15 < min(min(found) for _, found in others)
    here = [
        lesson.final_accuracy(lesson.train(rule, 1, lr=rate, optimiser=optimiser).course)
        for rule, (rate, _) in zip(RULES, ((raw_rate, raw), *others), strict=True)
    ]
    assert 2 / 16 < here[0] < min(here[1:]) - 0.15


def test_every_run_that_is_spoken_of_is_shipped_and_one_of_them_is_what_its_command_makes():
    assert set(training_runs.shipped().runs) == {*map(training_runs.key_of, training_runs.settings())}
    stored, here = lesson.trained("1/√d", 1), lesson.train("1/√d", 1).course
    assert stored.first_gradient == pytest.approx(here.first_gradient, rel=1e-3)
    np.testing.assert_allclose(stored.accuracy, here.accuracy, atol=0.1)


def test_the_best_rate_is_the_one_with_the_best_mean():
    means = {
        rate: np.mean(
            [lesson.final_accuracy(lesson.trained("no scale", s, lr=rate, optimiser="SGD")) for s in (0, 1)]
        )
        for rate in training_runs.RATES["SGD"]
    }
    rate, found = lesson.at_best_rate("no scale", "SGD", seeds=(0, 1))
    assert means[rate] == max(means.values()) == np.mean(found)


def test_training_turns_queries_to_their_own_keys():
    run = lesson.train("1/√d", 0)
    before, after = (np.diag(queries @ keys.T).mean() for queries, keys in (run.at_start, run.at_end))
    assert abs(before) < 8
    assert after > 5 * 8
    longer = np.linalg.norm(run.at_end[0]) / np.linalg.norm(run.at_start[0])
    assert 1 < longer < 1.25


def test_distance_matters_to_a_recurrent_network_only():
    assert lesson.recurrent_gradient(1) == 1
    assert lesson.recurrent_gradient(50) < 0.9**49 * 1.01
    assert lesson.attention_gradient(50) == pytest.approx(lesson.attention_gradient(1), rel=1e-12)


# Figures ------------------------------------------------------------------------------------------------------


@cache
def pictures() -> dict[str, Picture]:
    x = K @ Q[0] / math.sqrt(3)
    s = np.exp(x) / np.exp(x).sum()
    J = np.diag(s) - np.outer(s, s)
    back = experiments.attend_and_return(Q, K, V, DO, scale=3**-0.5)
    h = np.logspace(-12, 0, 25)
    errors = {
        name: lesson.difference_error(x, h, kind)
        for name, kind in (("float64", np.float64), ("float32", np.float32))
    }
    grid = small_grid()
    return {
        "push": lesson.plot_push(s, s[::-1], WORDS, "dogs"),
        "jacobians": lesson.plot_jacobians(J, np.diag(np.diag(J)), WORDS),
        "differences": lesson.plot_difference_errors(h, errors),
        "pull": lesson.plot_pull(V, back.output[0], -DO[0], back.scores_grad[0], WORDS),
        "backward": lesson.plot_backward(
            {"dA": back.weights_grad, "A, the weights": back.weights, "dS": back.scores_grad},
            np.eye(4, 5, dtype=bool),
            QUESTIONS,
            WORDS,
        ),
        "slopes": lesson.plot_slopes(np.linspace(0, 120, 241)),
        "ratios": lesson.plot_ratios(grid, "scores"),
        "norms": lesson.plot_norms(grid[1024, 16], 1024, 16),
        "growth": lesson.plot_growth(grid, keys=[4, 16]),
        "dead": lesson.plot_dead(grid),
        "training": lesson.plot_training({rule: [lesson.trained(rule, 1)] for rule in RULES}),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures(), shared_y=True) == []


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "dogs from 0.399 to 0.126" in drawn["push"].alt
    assert "cat 0.17" in drawn["jacobians"].alt
    assert "dogs: rises, 0.88" in drawn["pull"].alt
    assert "float64 is best at h about 1e-5" in drawn["differences"].alt
    assert "loser, float32 from a gap of about 104" in drawn["slopes"].alt
    assert "the median is smaller without the scale in 5 of 6 cells" in drawn["ratios"].alt
    assert "no scale ends below 90%" in drawn["training"].alt


def test_ratio_maps_are_two_sided_around_one():
    """Ink above 1 and SKY below, equally strong in every panel: also where all ratios lie on one side."""
    for picture in (pictures()["ratios"], lesson.plot_ratios(small_grid(), "queries")):
        for ax in picture.figure.axes:
            fills = [to_rgba(patch.get_facecolor()) for patch in ax.patches if patch.get_fill()]
            assert {to_hex(fill).upper() for fill in fills} <= {INK.upper(), SKY.upper()}
            for fill in fills:
                assert fill[3] <= fullest(INK if to_hex(fill).upper() == INK.upper() else SKY)
