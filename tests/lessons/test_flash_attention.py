"""Lesson 07: its counts, its page's functions, the rungs' process, and the panel's numbers in the page as in Python."""

import numpy as np
import pytest

from sdpa_helpers.attention import numpy_flash, scaled_dot_product_attention
from sdpa_helpers.lessons.flash_attention import real_sources, rungs, tables, widget
from sdpa_helpers.lessons.flash_attention.figures import tile_kinds
from sdpa_helpers.lessons.flash_attention.run import measured
from sdpa_helpers.show.panels import SCAFFOLD, TOUCH

from . import pages
from .pages import run


@pytest.fixture(scope="module")
def page():
    """What the core's cells define."""
    return run(
        "07_flash_attention",
        "update",
        "invariant-compare",
        "merge-compare",
        "block-run",
        "flash",
        "skip-compare",
        "wrong-compare",
        "wrong-update",
    )


def test_the_pages_flash_is_that_of_the_package(page):
    rng = np.random.default_rng(0)
    for n_q, n_k, block_q, block_k, is_causal in (
        (7, 11, 3, 4, False),
        (11, 7, 4, 3, True),
        (1, 1, 5, 5, True),
    ):
        Q, K, V = (rng.normal(size=shape) for shape in ((n_q, 3), (n_k, 3), (n_k, 2)))
        output, lse = page["flash"](Q, K, V, block_q, block_k, is_causal)
        right = numpy_flash.attention(Q, K, V, 3**-0.5, is_causal, tile=4)
        np.testing.assert_allclose(output, right[0], atol=1e-12)
        np.testing.assert_allclose(lse, right[1], atol=1e-12)


def test_the_page_gives_one_query_its_output_in_blocks(page):
    q, (K, V) = np.ones(3), np.random.default_rng(5).normal(size=(2, 11, 3))
    for block in (1, 4, 20):
        right = scaled_dot_product_attention(q[None], K, V)[0]
        np.testing.assert_allclose(page["one_query"](q, K, V, block), right, atol=1e-12)


def test_the_bytes_of_the_page_are_those_it_counts():
    table = {row["way"]: row["moves"] for row in pages.rows("07_flash_attention", "ladder-text")}
    moved = run("07_flash_attention", "count-run")["moved"]
    assert list(table.values()) == [f"{4 * numbers / 2**20:.0f} MiB" for numbers in moved.values()]


def test_the_pages_merge_is_attention_to_both(page):
    rng = np.random.default_rng(1)
    Q, K, V = (rng.normal(size=shape) for shape in ((4, 3), (9, 3), (9, 2)))
    parts = [numpy_flash.attention(Q, K[rows], V[rows], 1.0) for rows in (slice(0, 2), slice(2, 9))]
    whole = numpy_flash.attention(Q, K, V, 1.0)
    for found, right in zip(page["merge"](*parts), whole, strict=True):
        np.testing.assert_allclose(found, right, atol=1e-12)


def test_the_pages_backward_pass_is_torchs(needs):
    needs("torch")
    import torch

    back = run("07_flash_attention", "flash", "backward")
    rng = np.random.default_rng(2)
    Q, K, V, dO = rng.normal(size=(4, 13, 5))
    for is_causal in (False, True):
        O, lse = back["flash"](Q, K, V, 4, 4, is_causal)
        found = back["flash_backward"](Q, K, V, O, lse, dO, 4, is_causal)
        leaves = [torch.tensor(x, requires_grad=True) for x in (Q, K, V)]
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=is_causal)
        right = torch.autograd.grad(out, leaves, torch.tensor(dO))
        for ours, theirs in zip(found, right, strict=True):
            np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-12)


def test_each_planted_bug_has_an_input_that_hides_it(page):
    scores, V = np.array([3.0, 1.0, 2.0], dtype=np.float32), np.array([1.0, 2.0, 4.0], dtype=np.float32)
    right = np.exp(scores - 3) @ V / np.exp(scores - 3).sum()
    online, not_rescaled = page["online"], page["not_rescaled"]
    assert online(scores, V) == pytest.approx(right, abs=1e-6)
    assert not_rescaled(scores, V) == pytest.approx(right, abs=1e-6)  # the largest comes first
    assert abs(not_rescaled(scores[::-1], V[::-1]) - right) > 0.05
    assert online(scores, V, start=0) == pytest.approx(right, abs=1e-6)
    with np.errstate(invalid="ignore"):
        assert np.isnan(online(scores - 200, V, start=0))


def test_kinds_on_the_page_are_those_of_the_figure(page):
    for mask in widget.presets().values():
        for tile in widget.SIZES:
            np.testing.assert_array_equal(page["kinds"](mask, tile, tile), tile_kinds(mask, tile))


def test_the_page_counts_as_python_does(in_node):
    given = widget.paint_tiles().given
    rng = np.random.default_rng(3)
    masks = [*widget.presets().values(), *(rng.random((9, 16, 16)) < 0.2)]
    cases = [(mask, size) for mask in masks for size in range(len(widget.SIZES))]
    found = in_node(
        (SCAFFOLD, TOUCH, widget.SCRIPT),
        "data.cases.map(([mask, size]) => workOf(mask, data.given, size))",
        {"given": given, "cases": [(widget.as_text(mask), size) for mask, size in cases]},
    )
    for (mask, size), page_says in zip(cases, found, strict=True):
        right = widget.work(mask, widget.SIZES[size])
        assert {name: page_says[name] for name in right._fields} == right._asdict()


def test_bytes_are_lesson_06s_where_nothing_is_skipped():
    for tile in widget.SIZES:
        n, d = widget.TOKENS, widget.WIDTH
        found = widget.work(np.ones((n, n), dtype=bool), tile)
        assert found.bytes == 2 * 2 * n * d * (1 + n // tile)
        assert found.flops == 4 * n * n * d


def test_a_climb_measures_what_it_says():
    found = rungs._climb((256, 512), rungs.measure((256, 512), 16))
    assert list(found.seconds)[:2] == [rungs.FORMULA, rungs.TILED]
    assert set(found.seconds) | set(found.missing) == {rungs.FORMULA, *rungs.BACKENDS, rungs.TRITON}
    for rung, seconds in found.seconds.items():
        assert seconds.shape == (2, rungs.REPEATS)
        assert (seconds > 0).all()
        assert found.mib[rung].shape == (2,)
    ratio, low, high = found.times_as_fast(rungs.TILED)
    assert low <= ratio <= high
    table = tables.climb_table(found)
    assert all(why in table for why in found.missing.values())


def test_the_rung_called_formula_is_the_formula():
    Q, K, V = np.random.default_rng(4).normal(size=(3, 9, 4))
    np.testing.assert_allclose(rungs.formula(Q, K, V), scaled_dot_product_attention(Q, K, V), atol=1e-12)


def test_the_sources_shown_are_whole():
    """The page cuts numpy_flash in three: no line between the pieces is lost, and Triton's lines are found."""
    lines = real_sources.flash_lines()
    assert lines[0].startswith("def attention")
    assert lines[8].strip().startswith("values = np.zeros")
    assert lines[-1].strip() == "return output, lse"
    update = real_sources.triton_lines("before = largest", "values = product").splitlines()
    assert [line.split(" = ")[0] for line in update] == [
        "before", "largest", "weights", "correction", "total", "v", "values",
    ]  # fmt: skip


def test_without_triton_it_says_by_name_what_is_missing(monkeypatch):
    monkeypatch.setattr(real_sources, "find_spec", lambda name: None if name == "triton" else object())
    assert real_sources.interpreted() == 'not run: triton missing here. Install: pip install -e ".[gpu]"'


def test_what_the_page_says_of_the_ladder_is_what_was_measured():
    climb = measured().climb
    middle = {rung: float(np.median(rows[-1])) for rung, rows in climb.seconds.items()}
    assert climb.times_as_fast(rungs.TILED)[0] > 1.25  # "the big step is the first one"
    assert middle[rungs.NUMBA] > 0.9 * middle[rungs.TILED]  # "Numba gains nothing over tiled NumPy"
    assert climb.mib[rungs.FORMULA][-1] > 20 * max(climb.mib[rung][-1] for rung in rungs.BACKENDS)
    for rows in climb.seconds.values():
        slope = np.polyfit(np.log(climb.sizes), np.log(np.median(rows, axis=-1)), 1)[0]
        assert 1.4 < slope < 2.6  # "about the same slope: nobody escapes n²"
