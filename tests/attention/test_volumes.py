"""The formulas of long contexts, worked by hand, and the page that quotes them."""

import re
import subprocess
import sys

import pytest

from sdpa_helpers.attention.ring import volumes
from sdpa_helpers.attention.ring.volumes import Shape

# One sequence of 1000 rows, 6 heads that share 2, d = 8: keys and values have 1000 · 2 · 16 = 32,000 numbers.
SMALL = Shape(1, 1000, heads=6, kv_heads=2, d_k=8, d_v=8)


def test_bytes_by_hand():
    # Four ranks: a block has 8000 numbers and makes three hops.
    assert volumes.ring_bytes(SMALL, 4, 2) == 3 * 8000 * 2
    assert volumes.ring_bytes(SMALL, 4, 2, backward=True) == 3 * 8000 * (2 + 2)
    assert volumes.ring_bytes(SMALL, 4, 2, backward=True, grad_itemsize=4) == 3 * 8000 * (2 + 4)
    assert volumes.all_gather_bytes(SMALL, 4, 2) == 3 / 4 * 32_000 * 2
    # Two ranks: 500 rows of 6 + 2 + 2 + 6 heads of 8 numbers, of which half leave.
    assert volumes.ulysses_bytes(SMALL, 2, 2) == 500 * 16 * 8 / 2 * 2
    assert volumes.ring_bytes(SMALL, 1, 2) == volumes.ulysses_bytes(SMALL, 1, 2) == 0


def test_ulysses_needs_heads():
    with pytest.raises(ValueError, match="4 ranks must divide the 2 heads of the key"):
        volumes.ulysses_bytes(SMALL, 4, 2)


@pytest.mark.parametrize(("heads", "kv_heads"), [(64, 64), (64, 32), (128, 16)])
def test_where_the_ring_sends_less_than_ulysses(heads, kv_heads):
    shape = Shape(1, 4096, heads, kv_heads, 128, 128)
    for ranks in (2, 4, 8, 16):
        ratio = volumes.ring_bytes(shape, ranks, 2) / volumes.ulysses_bytes(shape, ranks, 2)
        assert ratio == pytest.approx(ranks * kv_heads / (heads + kv_heads))


def test_memory_by_hand():
    assert volumes.ring_memory(SMALL, 4, 2) == 2 * 8000 * 2
    assert volumes.all_gather_memory(SMALL, 2) == 64_000
    assert volumes.ulysses_memory(SMALL, 2, 2) == 500 * 16 * 8 * 2


def test_rows_that_hide_the_sending():
    # Liu et al. 2023, §3: rows ≥ FLOP/s ÷ bytes/s, without groups, two bytes a number.
    plain = Shape(1, 4096, heads=8, kv_heads=8, d_k=64, d_v=64)
    rows = volumes.hiding_rows(plain, 989e12, 450e9, 2, is_causal=False)
    assert rows == pytest.approx(989e12 / 450e9)
    # By the clock: with that many rows, computing and sending take equally long.
    computing = 4 * rows**2 * 8 * 64 / 989e12
    sending = rows * 8 * 128 * 2 / 450e9
    assert computing == pytest.approx(sending)
    assert volumes.hiding_rows(plain, 989e12, 450e9, 2, is_causal=True) == pytest.approx(2 * rows)
    grouped = plain._replace(kv_heads=2)
    assert volumes.hiding_rows(grouped, 989e12, 450e9, 2, is_causal=False) == pytest.approx(rows / 4)
    backward = volumes.hiding_rows(plain, 989e12, 450e9, 2, is_causal=False, backward=True, grad_itemsize=4)
    assert backward == pytest.approx(rows * 6 / 5)


def test_work_of_contiguous_pieces():
    assert volumes.contiguous_work(4, 2) == (3 + 4) / 5  # of 1 + 2 + 3 + 4 = 10 pairs the second has 7
    assert volumes.contiguous_work(4096, 1) == 1
    assert volumes.contiguous_work(4096, 4) == pytest.approx(1.75, abs=1e-3)


def test_the_page_has_the_tables_that_are_computed(course):
    program = course / "benchmarks" / "long_contexts.py"
    checked = subprocess.run(
        [sys.executable, program, "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, "run: python benchmarks/long_contexts.py\n" + checked.stderr[-2000:]


def test_the_figures_in_the_pages_sentences(course):
    page = (course / "docs" / "long-contexts.md").read_text(encoding="utf-8")
    llama = Shape(1, 131_072, heads=32, kv_heads=8, d_k=128, d_v=128)
    for sent in (450e9, 50e9):
        rows = volumes.hiding_rows(llama, 989e12, sent, 2, is_causal=True, backward=True, grad_itemsize=4)
        about = round(8 * rows, -2 if sent > 1e11 else -3)
        assert f"8 · {rows:,.0f} ≈ {about:,.0f}" in page
    assert re.search(r"four ranks 1\.75 times the mean", page)
