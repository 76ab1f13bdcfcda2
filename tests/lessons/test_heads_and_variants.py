"""Lesson 08: what its cells define against loops and the package, its experiment, its panel, what it draws and asks."""

import math

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention import KVCache
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons import heads_and_variants as lesson
from sdpa_helpers.lessons.heads_and_variants import additive, experiments, widget
from sdpa_helpers.show.panels import SCAFFOLD, TOUCH
from tests.lessons import pages
from tests.lessons.example import normal

Q, K, V = normal((7, 3), (9, 3), (9, 2))


# What stands on the page ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    return pages.functions("08_heads_and_variants", sdpa=sdpa, attend=sdpa.scaled_dot_product_attention)


def test_multi_head_on_the_page_is_a_sum_over_heads(page):
    X, W_q, W_k, W_v, W_o = normal((5, 12), *[(12, 12)] * 4)
    expected = np.zeros((5, 12))
    for head in range(3):
        own = [4 * head + column for column in range(4)]
        scores = (X @ W_q[:, own]) @ (X @ W_k[:, own]).T / 2
        expected += sdpa.softmax(scores) @ (X @ W_v[:, own]) @ W_o[own]
    np.testing.assert_allclose(page["multi_head"](X, W_q, W_k, W_v, W_o, 3), expected, rtol=1e-10)


def test_two_heads_answer_with_the_right_cut_alone():
    def right(x, heads):
        return x.reshape(len(x), heads, -1).swapaxes(-2, -3)

    def reshaped(x, heads):
        return x.reshape(heads, len(x), -1)

    def answered_with(cut):
        return sdpa.walk_through(head="looks up", attention=lesson.two_heads(cut))

    assert answered_with(right).share == 1
    assert answered_with(reshaped).share < 0.5
    assert "isn't written yet" in answered_with(lambda x, heads: NotImplemented).text()


def test_the_cache_on_the_page_holds_what_kv_cache_holds(page):
    X, W_q, W_k, W_v = normal((6, 12), *[(12, 12)] * 3)
    outputs, held = zip(*page["write"](X, W_q, W_k, W_v), strict=True)
    cache = KVCache(capacity=6)
    keys, values = cache.append(X @ W_k, X @ W_v)
    assert held[-1] == cache.nbytes
    expected = sdpa.scaled_dot_product_attention(X @ W_q, keys, values, is_causal="lower_right")
    np.testing.assert_allclose(np.vstack(outputs), expected, rtol=1e-10)


def test_rope_on_the_page_turns_each_pair_by_its_own_angle(page):
    (x,) = normal((3, 8))
    positions, base = np.array([0, 5, 1000]), 10_000
    turned = page["rope"](x, positions, base)
    np.testing.assert_allclose(experiments.rotated(x, positions, base), turned, rtol=1e-9)
    for token, place in enumerate(positions):
        for pair in range(4):
            angle = place * base ** (-2 * pair / 8)
            a, b = x[token, 2 * pair : 2 * pair + 2]
            expected = [a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)]
            np.testing.assert_allclose(turned[token, 2 * pair : 2 * pair + 2], expected, atol=1e-9)


def test_a_sink_as_the_page_writes_it_is_one_more_key_of_value_0():
    weights, lse = (
        sdpa.scaled_dot_product_attention(Q, K, K, return_weights=True)[1],
        sdpa.scaled_dot_product_attention(Q, K, K, return_lse=True)[1],
    )
    page = weights / (1 + np.exp(1.0 - lse))[:, None] @ V
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    scores = np.column_stack([scores, np.ones(len(Q))])
    expected = sdpa.softmax(scores)[:, :-1] @ V
    np.testing.assert_allclose(page, expected, rtol=1e-12)


def test_memories_of_the_page_answer_as_loops_do(page):
    keys, values = normal((6, 4), (6, 3))
    for name, similar in (
        ("sum_memory", lambda q, k: q @ k),
        ("softmax_memory", lambda q, k: math.exp(q @ k / 2)),
        ("phi_memory", lambda q, k: page["phi"](q) @ page["phi"](k)),
    ):
        for query, answer in zip(keys, page[name](keys, values), strict=True):
            shares = np.array([similar(query, key) for key in keys])
            shares = shares if name == "sum_memory" else shares / shares.sum()
            np.testing.assert_allclose(answer, shares @ values, rtol=1e-10)
    state = np.zeros((4, 3))
    for key, value in zip(keys, values, strict=True):
        unit = key / math.sqrt(key @ key)
        state = state - np.outer(unit, unit @ state) + np.outer(unit, value)
    units = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    np.testing.assert_allclose(page["delta_memory"](keys, values), units @ state, rtol=1e-10)


# The experiment -------------------------------------------------------------------------------------------------


def test_a_memory_that_keeps_everything_reads_everything_back_and_one_that_answers_the_same_guesses():
    def perfect(keys, values):
        return values

    def last(keys, values):
        return np.repeat(values[-1:], len(keys), axis=0)

    found = lesson.measure_recall({"perfect": perfect, "last": last}, widths=(16,), pairs=(4, 128))
    assert [point.value for point in found.by_width[16]["perfect"]] == [1, 1]
    assert found.at(16, "last", 128).value < 0.1
    assert found == lesson.measure_recall({"perfect": perfect, "last": last}, widths=(16,), pairs=(4, 128))


def test_a_key_that_is_written_again_is_asked_for_its_new_value():
    seen = {}

    def spy(keys, values):
        seen["keys"], seen["values"] = keys, values
        return values

    assert experiments.share_read_back(spy, 5, 16, 0, rewritten=True) == 1
    np.testing.assert_array_equal(seen["keys"][:5], seen["keys"][5:])
    assert len(seen["values"]) == 10


def test_what_the_lesson_says_of_its_memories(page, monkeypatch):
    monkeypatch.setattr(experiments, "SEEDS", 8)
    memories = {name: page[f"{name}_memory"] for name in ("softmax", "sum", "phi", "delta")}
    once = lesson.measure_recall(memories, widths=(16, 64), pairs=(16, 128))
    again = lesson.measure_recall(memories, widths=(64,), pairs=(16,), rewritten=True)
    assert once.at(64, "softmax", 128).low > 0.99
    assert once.at(16, "softmax", 128).value > 2 * once.at(16, "sum", 128).value
    assert once.at(64, "delta", 128).high < once.at(64, "sum", 128).low
    assert once.at(64, "phi", 16).high < once.at(64, "sum", 16).low
    assert again.at(64, "delta", 16).low > 0.9
    assert max(again.at(64, name, 16).high for name in ("softmax", "sum", "phi")) < 0.7


def test_the_interval_of_a_mean_holds_it():
    found = experiments.interval([0.0, 0.5, 1.0])
    assert found.low <= found.value == 0.5 <= found.high
    assert str(experiments.interval([1.0, 1.0])) == "1.00 (1.00 to 1.00)"


# Additive attention -----------------------------------------------------------------------------------------------


def test_additive_attention_by_loops():
    W, U, v = normal((3, 4), (3, 4), (4,))
    truth = []
    for q in Q:
        scores = [sum(v[m] * math.tanh(q @ W[:, m] + k @ U[:, m]) for m in range(4)) for k in K]
        weights = [math.exp(s) for s in scores]
        truth.append(sum(w * row for w, row in zip(weights, V, strict=True)) / math.fsum(weights))
    np.testing.assert_allclose(additive.additive_at_once(Q, K, V, W, U, v), truth, rtol=1e-12)
    np.testing.assert_allclose(additive.additive_in_chunks(Q, K, V, W, U, v, 3), truth, rtol=1e-12)
    expected = sdpa.scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(additive.dot_product(Q, K, V), expected, rtol=1e-12)


def test_the_page_scores_as_the_helper_does(page):
    W, U, v = normal((3, 4), (3, 4), (4,))
    weights = sdpa.softmax(page["additive_scores"](Q, K, W, U, v))
    np.testing.assert_allclose(weights @ V, additive.additive_at_once(Q, K, V, W, U, v), rtol=1e-12)


def test_parameters_differ_by_one_vector():
    count = additive.parameters(d_model=512, width=64)
    assert count["additive, W, U and v"] - count["dot product, W_q and W_k"] == 64
    assert count["additive, W, U and v"] == 65_600


# The panel ------------------------------------------------------------------------------------------------------


def test_the_score_of_the_panel_is_that_of_rotated_vectors():
    """Width 8 and base 100; the key is the query turned four places back."""
    q = np.tile([1.0, 0.0], 4)[None]
    k = experiments.rotated(q, np.array([widget.BACK]), 100.0)
    for m, n in ((20, 13), (0, 0), (63, 1)):
        turned = (experiments.rotated(x, np.array([place]), 100.0) for x, place in ((q, m), (k, n)))
        expected = float(np.vdot(*turned))
        assert widget.score_at(m, n) == pytest.approx(expected, abs=1e-2)
    best = max(range(-63, 64), key=lambda far: widget.score_at(64, 64 + far))
    assert best == -widget.BACK


def test_the_page_scores_as_python_does_and_moves_both_together(in_node):
    places = [(20, 13), (0, 0), (63, 1), (5, 63)]
    asked = {"planes": widget.PLANES, "places": places}
    moved = "together({ m, n }, 10, 63), together({ m, n }, -99, 63)"
    code = f"data.places.map(([m, n]) => [scoreAt(data.planes, n - m), {moved}])"
    found = in_node((SCAFFOLD, TOUCH, widget.SCRIPT), code, asked)
    for (m, n), (score, later, first) in zip(places, found, strict=True):
        assert score == pytest.approx(widget.score_at(m, n))
        assert later["n"] - later["m"] == first["n"] - first["m"] == n - m
        assert 0 <= min(later.values()) <= max(later.values()) <= 63
        assert min(first.values()) == 0


# Figures, questions, card -----------------------------------------------------------------------------------------


def test_the_picture_of_heads_tells_which_tokens_are_mixed():
    x = np.arange(36).reshape(6, 6)
    picture = lesson.plot_heads(x, x.reshape(6, 2, 3).transpose(1, 0, 2)[0], x.reshape(2, 6, 3)[0])
    assert picture.alt.endswith("the tokens 1, 1, 2, 2, 3, 3.")
    texts = [text.get_text() for text in picture.figure.axes[2].texts]
    assert texts[:6] == ["1a", "1b", "1c", "1d", "1e", "1f"]


def test_weights_are_drawn_by_their_size_and_a_row_below_one_is_told():
    causal = np.tril(np.ones((4, 4)))
    causal /= causal.sum(axis=-1, keepdims=True)
    picture = lesson.plot_weights(
        {"causal": causal, "sink": 0.5 * causal}, {"causal": "j ≤ i", "sink": "one more key"}
    )
    assert "causal, j ≤ i: 10 of 16 weights above 0; sink" in picture.alt
    assert "above 0, rows sum to 0.50" in picture.alt
    full, pale = (max(patch.get_facecolor()[3] for patch in ax.patches) for ax in picture.figure.axes)
    assert full > pale


def test_the_picture_of_memories_says_what_is_left_at_the_end():
    curve = tuple(Interval(x, x - 0.1, x) for x in (1.0, 0.25))
    found = experiments.Recall((4, 128), {64: {"sum": curve}})
    picture = lesson.plot_recall(found, found)
    assert "each key once, width 64: with 128 pairs sum 0.25" in picture.alt
    assert [ax.get_title(loc="left") for ax in picture.figure.axes] == [
        "each key once, width 64",
        "each key rewritten, width 64",
    ]


def test_the_card_shows_one_curve_for_every_place():
    assert "they differ by 0.00" in repr(lesson.cheat_card())


def test_the_race_tells_its_ratio():
    race = experiments.Race(np.array([1.0, 1.0]), np.array([40.0, 40.0]))
    assert str(race) == "additive / dot product, time: 40 (95%: 40 to 40)"
    assert len(experiments.additive_race(n=8, width=4, repeats=2).additive) == 2


def test_additive_attention_took_far_longer_than_the_dot_product():
    """ "The time differs by much more" than the count of operations does."""
    race = lesson.measured().additive
    assert race.additive.min() > 4 * race.dot.max()
