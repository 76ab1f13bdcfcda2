"""Lesson 05: its experiments against independent computations, its figures for what a reader needs."""

import math
from functools import cache

import numpy as np
import pytest

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.lessons import masking as lesson
from sdpa_helpers.lessons.masking import experiments
from sdpa_helpers.show.figures import Picture
from tests.lessons import pages
from tests.lessons.example import WORDS, K, V
from tests.lessons.pictures import unreadable

LESSON = "05_masking"

Q = np.array([[1, 0, 1], [0, 1, 0], [2, 0, -1], [2, 0, 0], [0, 1, 1]], dtype=float)
S = Q @ K.T / math.sqrt(3)
CAUSAL = causal_mask(5)


def attend_by_loops(q, keys, values):
    """One query against the keys it may see, in the standard library."""
    scores = [math.fsum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in keys]
    e = [math.exp(s) for s in scores]
    return np.array(
        [math.fsum(w * v for w, v in zip(e, column, strict=True)) for column in values.T]
    ) / math.fsum(e)


def random_inputs(n=6, d=4, seed=5):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) for _ in range(3)]


def test_the_window_holds_the_query_and_those_just_before_it():
    mask = lesson.sliding_window_mask(6, window=3)
    assert [np.flatnonzero(row).tolist() for row in mask] == [
        [0],
        [0, 1],
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
    ]


# What the page says of conventions, against the libraries (JAX and Keras: tests/attention/jax_and_keras.py) ------

WRITTEN = {
    "True": True,
    "False": False,
    "0": 0.0,
    "1": 1.0,
    "−∞": -np.inf,
    "finfo.min": np.finfo(np.float32).min,
}


def test_the_page_writes_a_mask_as_its_table_says():
    table = pages.rows(LESSON, "conventions-all")
    page = pages.run(LESSON, "conventions-convert")
    assert len(table) == len(page["written"]) == 9
    for row, mask in zip(table, page["written"].values(), strict=True):
        flat = np.reshape(mask, page["may"].shape)
        expected = np.where(page["may"], WRITTEN[row["visible"]], WRITTEN[row["hidden"]])
        np.testing.assert_array_equal(flat, expected, err_msg=str(row))
        assert (flat.dtype == bool) == (row["visible"] in ("True", "False"))


def test_the_rows_that_the_long_way_shows_are_some_of_all_nine():
    every = [tuple(row.values())[:4] for row in pages.rows(LESSON, "conventions-all")]
    shown = [tuple(row.values()) for row in pages.rows(LESSON, "conventions")]
    assert len(shown) == 4
    assert set(shown) < set(every)


def test_torch_reads_masks_as_the_table_says(needs):
    needs("torch")
    import torch

    table = pages.rows(LESSON, "conventions-all")
    fused_bool, fused_float, multi_head = (row for row in table if row["checked with"].startswith("torch"))
    assert torch.__version__.startswith(multi_head["checked with"].removeprefix("torch "))
    may = CAUSAL[:3, :3]
    for row in (fused_bool, fused_float):
        mask = torch.from_numpy(np.where(may, WRITTEN[row["visible"]], WRITTEN[row["hidden"]]))
        unit = torch.eye(3, dtype=torch.float64)
        weights = torch.nn.functional.scaled_dot_product_attention(unit, unit, unit, attn_mask=mask)
        np.testing.assert_array_equal(weights != 0, may)
    layer = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    x = torch.ones(2, 3, 4)
    mask = torch.from_numpy(np.where(may, WRITTEN[multi_head["visible"]], WRITTEN[multi_head["hidden"]]))
    np.testing.assert_array_equal(layer(x, x, x, attn_mask=mask)[1][0].detach() != 0, may)
    # its padding mask: the same convention, of shape (B, S)
    padding = layer(x, x, x, key_padding_mask=mask[:2])[1].detach() != 0
    np.testing.assert_array_equal(padding, np.broadcast_to(may[:2, None], (2, 3, 3)))


def test_a_padding_mask_is_read_as_rows_when_the_batch_is_as_long_as_the_text(needs):
    needs("torch")
    page = pages.run(LESSON, "input-arrays", "trap-run")
    lengths, real = page["lengths"], page["real"]
    for b, length in enumerate(lengths):  # row i of the mask hides keys from query i, whatever the sentence
        keys = np.where(real[b][:, None], K, 0)
        for i in range(length):
            e = [math.exp(q @ k / math.sqrt(3)) for q, k in zip([Q[i]] * 5, keys, strict=True)]
            seen = sum(e[: lengths[i]])
            assert page["as_it_is"][b, i] == pytest.approx(sum(e[length : lengths[i]]) / seen)
    assert page["as_it_is"][1, 0] == pytest.approx(0.8)
    assert not page["with_axes"].any()
    with pytest.raises(RuntimeError, match="must match"):  # with another number of sentences it is an error
        page["F"].scaled_dot_product_attention(
            *[page["q"][:4]] * 3, attn_mask=page["torch"].from_numpy(real[:4])
        )


def test_the_bottom_right_triangle_is_torchs_and_has_empty_rows_when_there_are_more_queries(needs):
    needs("torch")
    import torch
    from torch.nn.attention.bias import causal_lower_right

    page = pages.run(LESSON, "input-arrays", "cache-figure", "cache-empty")
    assert (page["weights"].sum(axis=-1) == 0).tolist() == [True, True, True, False, False]
    arrays = [torch.from_numpy(x) for x in (Q[3:], K, V)]
    by_torch = torch.nn.functional.scaled_dot_product_attention(*arrays, attn_mask=causal_lower_right(2, 5))
    ours = page["sdpa"].scaled_dot_product_attention(Q[3:], K, V, is_causal="lower_right")
    by_mask = page["sdpa"].scaled_dot_product_attention(Q[3:], K, V, attn_mask=page["bottom_right"])
    np.testing.assert_allclose(by_torch, ours)
    np.testing.assert_allclose(by_mask, ours)


def test_misuse_leaks_what_the_lesson_says():
    used = lesson.row_by_misuse(S, CAUSAL)
    exp = [math.exp(s) for s in S[0]]
    added = 1 - math.e * exp[0] / (math.e * exp[0] + sum(exp[1:]))
    assert lesson.future_weight(used["0/1 added"]) == pytest.approx(added) == pytest.approx(0.8514, abs=1e-4)
    assert lesson.future_weight(used["0/1 multiplied"]) == pytest.approx(0.8)
    assert lesson.future_weight(used["fill −10"]) == pytest.approx(4 * math.exp(-10), rel=1e-3)
    assert lesson.future_weight(used["inverted"]) == pytest.approx(1)
    assert used["zeroed after"][0].sum() == pytest.approx(exp[0] / sum(exp)) == pytest.approx(0.06, abs=0.005)
    assert lesson.future_weight(used["right"]) == 0


def test_a_hidden_key_leaves_the_other_ratios_alone():
    used = lesson.row_by_misuse(S, CAUSAL)["right"]
    assert used[2, 1] / used[2, 0] == pytest.approx(math.exp(S[2, 1] - S[2, 0]))


def test_padding_without_a_mask_changes_the_answer_and_with_one_does_not():
    padded = experiments.pad_and_compare(Q[3:], K[3:], V[3:], extra=3)
    for q, alone in zip(Q[3:], padded.alone, strict=True):
        np.testing.assert_allclose(alone, attend_by_loops(q, K[3:], V[3:]))
    np.testing.assert_allclose(padded.masked, padded.alone)
    assert np.abs(padded.unmasked - padded.alone).max() > 1
    weights = [3 / (3 + sum(math.exp(s) for s in row)) for row in S[3:, 3:]]
    assert padded.weight_on_padding == pytest.approx(sum(weights) / 2)
    page = pages.run(LESSON, "input-arrays", "article-a-compare")
    assert page["on_padding"] == pytest.approx(padded.weight_on_padding)
    for name in ("unmasked", "masked"):
        np.testing.assert_array_equal(page[name][page["real"]], getattr(padded, name))


def test_the_fused_call_adds_floats_and_refuses_whole_numbers(needs):
    needs("torch")
    found = lesson.what_the_fused_call_does(Q, K, CAUSAL)
    assert found["bool"] == 0
    assert found["float32"] == pytest.approx(0.8514, abs=1e-4)
    assert [found[name] for name in ("int64", "int32", "uint8", "float64")] == ["RuntimeError"] * 4
    same = lesson.fused_against_manual(draws=50)
    assert same.boolean < 1e-5 < 1 < same.float_mask
    assert same.lowest < same.future < same.highest


def test_decoding_without_a_mask_is_the_causal_whole_and_is_causal_gives_the_first_value():
    free, flag = pages.run(LESSON, "input-arrays", "cache-decode")["by_step"].values()
    for t in range(5):
        np.testing.assert_allclose(free[t], attend_by_loops(Q[t], K[: t + 1], V[: t + 1]))
    np.testing.assert_array_equal(flag, np.tile(V[0], (5, 1)))


def test_left_padding_leaves_empty_rows():
    mask = experiments.left_padding_mask(5, padding=2)
    assert mask.any(axis=-1).tolist() == [False, False, True, True, True]


def test_empty_rows_forward_and_backward(needs):
    needs("torch")
    page = pages.run(LESSON, "input-arrays", "empty-mask", "empty-health", "empty-compare")
    np.testing.assert_array_equal(page["left"], experiments.left_padding_mask(5, 2))
    told = dict(line.split("  ", 1) for line in lesson.health_table(page["found"]).split("\n")[1:])
    assert {name: line.split() for name, line in told.items()} == {
        "fill −inf": ["NaN", "yes", "yes", "NO"],
        "add −inf": ["NaN", "NO", "NO", "NO"],
        "fill −1e9": ["an", "average", "yes", "yes", "yes"],
        "fill −inf, nan_to_num": ["zeros", "yes", "yes", "yes"],
        "add −inf, nan_to_num": ["zeros", "NO", "NO", "yes"],
        "F.sdpa": ["zeros", "yes", "yes", "yes"],
        "this package": ["zeros", "yes", "yes", "yes"],
    }
    assert lesson.which_are_nan(page["finite"]) == "those of V"


def test_a_finite_mask_over_a_whole_row_makes_gradients_too_large(needs):
    needs("torch")
    finite = lesson.gradient_of_a_hidden_query(float(np.finfo(np.float32).min))
    assert finite["F.sdpa"] / finite["float64"] == pytest.approx(64, rel=1e-3)
    assert finite["this package"] == pytest.approx(finite["float64"], rel=1e-3)
    assert set(lesson.gradient_of_a_hidden_query(-np.inf).values()) == {0.0}


def test_multihead_attention_depends_on_need_weights(needs):
    needs("torch")
    assert lesson.multihead_with_an_empty_sequence(True) == (True, False, False)
    assert lesson.multihead_with_an_empty_sequence(False) == (False, False, True)


def test_nan_behind_a_mask(needs):
    needs("torch")
    found = lesson.nan_behind_a_mask(Q, K, V)
    assert found["F.sdpa"] == {"key": True, "value": True}
    assert found["backend 'numpy'"] == found["backend 'torch'"] == {"key": False, "value": True}


def test_every_planted_bug_is_found_and_the_right_one_is_not(needs):
    needs("torch")
    found = lesson.detect(*random_inputs())
    told = lesson.detect_table(found).split("\n")
    assert [line.count("leak") for line in told[1:]] == [sum(hits.values()) for hits in found.values()]
    assert not any(found.pop("right").values())
    assert len(found) == 7
    assert all(any(hits.values()) for hits in found.values())
    assert not any(
        all(hits[d] for hits in found.values()) for d in experiments.DETECTORS
    )  # no detector finds all
    assert [d for d, hit in found["fill −100"].items() if hit] == ["gradient value"]
    assert [d for d, hit in found["zeroed, weights detached"].items() if hit] == ["move key"]


def test_the_planted_attentions_are_the_same_in_numpy_and_in_torch(needs):
    needs("torch")
    import torch

    inputs = random_inputs()
    tensors = [torch.from_numpy(x) for x in inputs]
    in_torch = experiments.planted(6, torch)
    for bug, attend in experiments.planted(6).items():
        np.testing.assert_allclose(attend(*inputs), in_torch[bug](*tensors), atol=1e-12, err_msg=bug)


def test_the_gradient_is_the_limit_of_moving(needs):
    """For the right attention: a move of value j by 1 is linear, so both must give the same numbers."""
    needs("torch")
    import torch

    inputs = random_inputs()
    moved = experiments.influence_by_moving(experiments.planted(6)["right"], *inputs, part="value")
    slope = experiments.influence_by_gradient(experiments.planted(6, torch)["right"], *inputs, part="value")
    np.testing.assert_allclose(moved, slope, atol=1e-12)
    np.testing.assert_allclose(slope.sum(axis=-1), 1)  # the weights
    page = pages.run(LESSON, "leak-detector", "leak-figure-value")
    for part in ("key", "value"):
        by_page = page["influence"](page["bugs"]["fill −10"], *inputs, part)
        by_helper = experiments.influence_by_moving(page["bugs"]["fill −10"], *inputs, part)
        np.testing.assert_array_equal(by_page, by_helper)


@cache
def pictures() -> dict[str, Picture]:
    weights = lesson.row_by_misuse(S, CAUSAL)
    influence = {name: np.triu(np.ones((6, 6)), k=k) for name, k in (("some thing", 1), ("no leak", 9))}
    whole = np.arange(10.0).reshape(5, 2)
    padding = np.arange(3) < [[3], [1]]
    return {
        "weights": lesson.plot_scores_and_weights(np.where(CAUSAL, S, -np.inf), weights["right"], WORDS),
        "masks": lesson.plot_masks({"causal": CAUSAL, "window": lesson.sliding_window_mask(5, 2)}),
        "alignment": lesson.plot_alignment(np.tri(2, 5, dtype=bool), np.tri(2, 5, k=3, dtype=bool)),
        "conventions": lesson.plot_conventions({"ours": padding, "added": np.where(padding, 0, -np.inf)}),
        "future": lesson.plot_future_weight(weights, "the"),
        "decoding": lesson.plot_decoding(whole, {"a": whole, "b": whole + 1}, WORDS),
        "influence": lesson.plot_influence(influence, moved="value"),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures()) == []


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "fears: 0.16, 0.68, 0.16, 0.00, 0.00" in drawn["weights"].alt
    assert "causal x----/xx---/xxx--/xxxx-/xxxxx" in drawn["masks"].alt
    assert "Bottom right: xxxx-/xxxxx" in drawn["alignment"].alt
    assert "a visible key is 0, a hidden one −∞" in drawn["conventions"].alt
    assert "0/1 added: 0.85 of 1.00" in drawn["future"].alt
    assert "b: 1.00, 1.00" in drawn["decoding"].alt
    assert "some thing: 15 of 15; no leak: 0 of 15" in drawn["influence"].alt


def test_which_value_an_output_is():
    V = np.array([[0.0, 1], [4, 0], [5, 3]])
    said = [lesson.which_value(output[None], V) for output in (V[0], V[2], V.mean(axis=0))]
    assert said == ["the first value", "the last value", "a mixture of all five"]
