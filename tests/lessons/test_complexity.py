"""Lesson 06: counts against formulas and loops, and what stands on the page."""

import math

import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.lessons import complexity as lesson
from sdpa_helpers.lessons.complexity import attention_ways, counting, peak_memory
from tests.lessons import pages
from tests.lessons.example import normal

Q, K, V = normal((7, 3), (9, 3), (9, 2))


# Counting ---------------------------------------------------------------------------------------------------


def test_a_matrix_product_is_counted_entry_by_entry():
    product, tally = lesson.count_operations(lambda a, b: a @ b, np.ones((4, 3)), np.ones((3, 5)))
    assert product.tolist() == np.full((4, 5), 3.0).tolist()
    assert tally == {"multiply": 60, "add": 40}


def test_the_formula_is_counted_and_still_right():
    out, tally = lesson.count_operations(attention_ways.textbook, Q, K, V)
    np.testing.assert_allclose(out, scaled_dot_product_attention(Q, K, V), rtol=1e-12)
    pairs = 7 * 9
    assert tally["multiply"] == pairs * (3 + 2)
    assert tally["exp"] == pairs
    assert tally["divide"] == 2 * pairs  # the scale and the normalisation
    assert tally["compare"] == 7 * (9 - 1)


def test_every_operation_counts_once_from_either_side():
    (x,) = normal((1,))
    for function, name in [
        (lambda a: 2 * a, "multiply"),
        (lambda a: a * a, "multiply"),
        (lambda a: 1 + a, "add"),
        (lambda a: a - 1, "add"),
        (lambda a: a / 3, "divide"),
        (np.exp, "exp"),
        (np.tanh, "tanh"),
    ]:
        out, tally = lesson.count_operations(function, x)
        assert tally == {name: 1}
        assert out == pytest.approx(function(x))


# Ways of using memory -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 50])
def test_chunks_change_neither_result_nor_work(chunk):
    out, tally = lesson.count_operations(lambda q, k, v: lesson.in_chunks(q, k, v, chunk), Q, K, V)
    np.testing.assert_allclose(out, attention_ways.textbook(Q, K, V), rtol=1e-12)
    np.testing.assert_allclose(lesson.attention(Q, K, V), attention_ways.textbook(Q, K, V), rtol=1e-12)
    assert tally == lesson.count_operations(attention_ways.textbook, Q, K, V)[1]


@pytest.mark.parametrize("block", [2, 4, 9])
def test_blocks_of_keys_need_rescaling(block):
    truth = attention_ways.textbook(Q, K, V)
    np.testing.assert_allclose(
        lesson.attend_key_blocks(Q, K, V, block, rescaled=True), truth, rtol=1e-10, atol=1e-12
    )
    averaged = lesson.attend_key_blocks(Q, K, V, block, rescaled=False)
    assert (np.abs(averaged - truth).max() > 0.1) == (block < 9)


def test_inputs_are_left_alone():
    before = [x.copy() for x in (Q, K, V)]
    lesson.attention(Q, K, V)
    lesson.in_chunks(Q, K, V, 2)
    for old, new in zip(before, (Q, K, V), strict=True):
        np.testing.assert_array_equal(old, new)


def test_peaks_are_three_matrices_one_and_almost_none():
    n = 512
    big = normal(*[(n, 16)] * 3)
    peak = [
        lesson.peak_bytes(way, *big) / (8 * n * n)
        for way in (attention_ways.textbook, lesson.attention, lambda *a: lesson.in_chunks(*a, 16))
    ]
    assert peak == pytest.approx([3, 1, 1 / 32], abs=0.1)


def test_float32_stays_float32():
    assert {
        way(*(x.astype(np.float32) for x in (Q, K, V))).dtype.name
        for way in (attention_ways.textbook, lesson.attention)
    } == {"float32"}


def test_the_operating_system_sees_the_matrices_too():
    peaks = peak_memory.peaks({"textbook": [1024], "numpy-tiled": [1024], "not installed": [1024]})
    assert list(peaks) == ["textbook", "numpy-tiled"]
    if np.isnan(peaks["textbook"]).any():
        pytest.skip("this system does not tell the peak memory of a process")
    assert peaks["textbook"][0] > 2 * 4  # MiB: one matrix has four
    assert peaks["numpy-tiled"][0] < 4


# A layer, bytes, the roofline -----------------------------------------------------------------------------------


def test_layer_flops_are_those_of_its_products():
    n, d, heads = 5, 8, 2
    products = [(n, d, d)] * 4 + [(n, d, 4 * d), (n, 4 * d, d)]
    products += [(n, d // heads, n), (n, n, d // heads)] * heads
    flops = lesson.layer_flops(n, d)
    assert sum(flops) == sum(2 * a * b * c for a, b, c in products)
    assert lesson.layer_flops(6 * d, d).share == 0.5
    assert lesson.layer_flops(2 * d, d, mlp_ratio=0).share == 0.5
    assert lesson.layer_flops(12 * d - 1, d, is_causal=True).share == 0.5
    assert lesson.layer_flops(n, d, is_causal=True).attention == 4 * np.tri(n).sum() * d


def test_the_much_copied_figure():
    held = list(lesson.readings().values())
    assert held[0] == 618_475_290_624 == 576 * 2**30
    assert held[0] / held[1] == 2
    assert held[0] / held[2] == 4
    assert held[0] / held[3] == 96
    assert round(64 * 9216 / 1000, 1) == 589.8  # MiB taken for MB


def test_kv_cache_is_the_size_of_real_arrays():
    arrays = [
        np.zeros((2, 7, 3, 5), dtype=np.float16) for _ in range(4)
    ]  # keys and values, heads, width; layers
    size = sum(a.nbytes for a in arrays)
    assert counting.kv_cache(7, layers=4, kv_heads=3, head_dim=5) == size
    assert counting.kv_cache(7, layers=4, kv_heads=3, head_dim=5, batch=6) == 6 * size


def test_intensities_tend_to_a_quarter_of_the_width_and_of_the_length():
    long = counting.intensities(1_000_000, 64)
    assert long["step by step"].intensity == pytest.approx(64 / 4, rel=0.03)
    assert long["minimum"].intensity == pytest.approx(1_000_000 / 4, rel=0.03)
    assert counting.intensities(1_000_000, 64, n_q=1)["minimum"].intensity == pytest.approx(0.5, rel=0.03)
    assert long["QKᵀ"].intensity == pytest.approx(64 / 2, rel=0.03)


@pytest.mark.parametrize("rows", [64, 128, 256])
def test_tiles_level_off_at_their_rows_and_the_whole_is_the_minimum(rows):
    assert counting.tiled(1_000_000, 64, rows, element=2).intensity == pytest.approx(rows, rel=0.03)
    assert counting.tiled(1_000_000, 64, rows, element=4).intensity == pytest.approx(rows / 2, rel=0.03)
    assert counting.tiled(5000, 64, math.inf) == counting.intensities(5000, 64)["minimum"]


# What stands on the page ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    return pages.functions("06_complexity")


def test_the_page_counts_as_the_helpers_do(page):
    for is_causal in (False, True):
        there = page["layer_flops"](300, 64, is_causal)
        assert there == tuple(lesson.layer_flops(300, 64, is_causal=is_causal))
    assert page["intensities"](3, 900, 64, 2) == counting.intensities(900, 64, n_q=3, element=2)
    assert page["tiled_intensity"](1000, 64, 128) == pytest.approx(counting.tiled(1000, 64, 128, 2).intensity)
    assert page["kv_cache"](6, 7, 4, 3, 5) == counting.kv_cache(7, 4, 3, 5, batch=6)
    one_query = counting.intensities(4096, 128, n_q=1, element=2)["minimum"].intensity
    assert page["decoding_intensity"](4096, 128, 1) == pytest.approx(one_query)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("tile", [1, 3, 4, 7, 50])
def test_the_tiles_on_the_page_are_attention_and_move_what_the_formula_says(page, tile, is_causal):
    q, k, v = normal(*[(12, 3)] * 3)
    moved = []

    def move(part):
        moved.append(part.nbytes)
        return part

    out = page["tiled"](q, k, v, tile, is_causal, move)
    truth = scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    np.testing.assert_allclose(out, truth, rtol=1e-12)
    np.testing.assert_allclose(page["textbook"](q, k, v), scaled_dot_product_attention(q, k, v), rtol=1e-12)
    if not is_causal:
        assert sum(moved) == counting.tiled(12, 3, tile, element=8).bytes


# Remember ---------------------------------------------------------------------------------------------------------


def test_the_card_shows_the_traffic():
    assert "tiles of 128 131, minimum 67,072" in repr(lesson.cheat_card())
