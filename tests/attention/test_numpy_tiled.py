"""What numpy-tiled does to be fast, and must not change a result: several heads at a time, several threads, runs."""

import numpy as np
import pytest

from sdpa_helpers.attention import (
    numpy_backward,
    numpy_plan,
    numpy_tiled,
    scaled_dot_product_attention,
    threads,
)
from sdpa_helpers.attention.layout import Head, Rule, Tiles, batches_of, heads_of, matrices_at, matrix_at

from .conftest import Blas

rng = np.random.default_rng(7)
LEADS = {
    "alike": ((2, 6), (2, 6), (2, 6)),
    "grouped heads": ((2, 12), (2, 4), (2, 6)),
    "one key for all heads": ((2, 6), (2, 1), (6,)),
    "queries that broadcast": ((2, 1), (6,), (2, 6)),
    "one dimension": ((6,), (3,), (6,)),
    "none": ((), (), ()),
}


def arrays_of(leads, n_q=5, n_k=4, d_k=3, d_v=2, dtype=np.float64) -> Head:
    shapes = ((*leads[0], n_q, d_k), (*leads[1], n_k, d_k), (*leads[2], n_k, d_v))
    return Head(*(rng.standard_normal(shape).astype(dtype) for shape in shapes))


def lead_of(leads) -> tuple[int, ...]:
    longest = max(map(len, leads))
    return tuple(map(max, zip(*((1,) * (longest - len(lead)) + lead for lead in leads), strict=True)))


@pytest.mark.parametrize("name", LEADS)
@pytest.mark.parametrize("most", [1, 4, 100])
def test_several_heads_at_a_time_are_all_heads_once(name, most):
    arrays, lead = arrays_of(LEADS[name]), lead_of(LEADS[name])
    indices = list(heads_of(lead))
    seen = []
    for some in batches_of(lead, arrays, most):
        assert 1 <= some.heads <= most
        start = indices.index(some.start)
        for number, index in enumerate(indices[start : start + some.heads]):
            seen.append(index)
            for array in arrays:
                matrices = matrices_at(some, lead, array)
                ours = matrices[number if len(matrices) > 1 else 0]
                np.testing.assert_array_equal(ours, matrix_at(index, lead, array))
    assert seen == indices


@pytest.mark.parametrize("name", LEADS)
def test_gradients_of_runs_add_up(monkeypatch, name):
    """Of heads and queries that share a gradient: many runs, each with its own sum, give what one gives."""
    arrays, lead = arrays_of(LEADS[name], n_q=26), lead_of(LEADS[name])
    grad_output = rng.standard_normal((*lead, 26, 2))
    rule = Rule(None, True, 0.5)
    whole = numpy_tiled.attention_forward(arrays, rule, True)
    monkeypatch.setattr(numpy_backward, "RUNS", 1)
    expected = numpy_backward.attention_backward(arrays, rule, True, whole, grad_output)
    monkeypatch.setattr(numpy_backward, "RUNS", 100)
    monkeypatch.setattr(numpy_backward, "TILES", Tiles(queries=3, keys=2, diagonal=2))
    plan = numpy_plan.plan_of(arrays, rule, True, numpy_backward.TILES)
    assert max(run.number for run in numpy_backward.runs_of(plan)) > 0 or name == "queries that broadcast"
    for ours, theirs in zip(
        numpy_backward.attention_backward(arrays, rule, True, whole, grad_output), expected, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["alike", "grouped heads", "none"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_same_bits_with_any_number_of_threads(monkeypatch, name, is_causal):
    arrays, lead = arrays_of(LEADS[name], 1300, 70, dtype=np.float32), lead_of(LEADS[name])
    grad_output = rng.standard_normal((*lead, 1300, 2)).astype(np.float32)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)

    def results(number: int) -> list[np.ndarray]:
        monkeypatch.setattr(threads, "cores", lambda: number)
        monkeypatch.setattr(threads, "_libraries", lambda _: [Blas(number)])
        rule = Rule(None, is_causal, 0.5)
        whole = numpy_tiled.attention_forward(arrays, rule, True)
        return [*whole, *numpy_tiled.attention_backward(arrays, rule, True, whole, grad_output)]

    alone = results(1)
    for number in (2, 5):
        for ours, theirs in zip(results(number), alone, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_short_heads_with_a_mask_for_all_or_for_each(kind):
    """One mask for all heads lets several be done at a time; masks of heads of their own do not."""
    arrays = arrays_of(LEADS["alike"])
    each = rng.random((2, 6, 5, 4)) < 0.6
    for allowed in (each, each[:, :1], each[:1, :1, :1], each[0, 0, 0]):
        mask = allowed if kind == "bool" else np.where(allowed, rng.standard_normal(allowed.shape), -np.inf)
        same = numpy_plan.same_for_all_heads(Rule(mask).in_full(5, 4))
        assert same == (allowed.shape != each.shape and allowed.shape != (2, 1, 5, 4))
        output = scaled_dot_product_attention(*arrays, mask, backend="numpy-tiled")
        np.testing.assert_allclose(output, scaled_dot_product_attention(*arrays, mask, backend="numpy"))


@pytest.mark.parametrize("late", [0, 60])
def test_scores_that_become_large_in_a_later_tile(monkeypatch, late):
    """The largest score is subtracted from the first tile on that needs it; rows before it keep their sums."""
    monkeypatch.setattr(numpy_tiled, "TILES", Tiles(queries=16, keys=8, diagonal=4))
    query, key, value = arrays_of(LEADS["none"], 40, 40, 4, 3)
    key[17] *= late
    allowed = rng.random((40, 40)) < 0.3  # some rows have seen nothing when it comes
    sunk = np.where(allowed, 0.0, -1e9)
    sunk[5] -= 200.0  # a row whose weights would all be 0 if nothing were subtracted
    for mask in (None, allowed, np.where(allowed, 0.0, -np.inf), sunk):
        for is_causal in (False, True):
            ours, lse = scaled_dot_product_attention(
                query, key, value, mask, is_causal=is_causal, backend="numpy-tiled", return_lse=True
            )
            expected, its_lse = scaled_dot_product_attention(
                query, key, value, mask, is_causal=is_causal, backend="numpy", return_lse=True
            )
            np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(lse, its_lse, rtol=1e-12)


@pytest.mark.parametrize(("n_k", "is_causal"), [(0, False), (0, True), (4, False), (4, True)])
def test_a_float_mask_that_hides_all(n_k, is_causal):
    """No tile, or none with a weight: not done again and again."""
    arrays, mask = arrays_of(LEADS["alike"], n_k=n_k), np.full((5, n_k), -np.inf)
    output, lse = scaled_dot_product_attention(
        *arrays, mask, is_causal=is_causal, backend="numpy-tiled", return_lse=True
    )
    assert (output == 0).all()
    assert (lse == -np.inf).all()
