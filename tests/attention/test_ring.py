"""Ring attention by real processes over gloo, against one process in float64.

Four processes do everything in one start (ring_ranks.py), since starting them costs more than what they compute;
the tests then look at what each of them saved.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")
import torch

import sdpa_helpers as sdpa
from sdpa_helpers.attention import torch_formula
from sdpa_helpers.attention.layout import Head, Rule, Wants
from sdpa_helpers.attention.ring import blocks as ring_blocks
from sdpa_helpers.attention.ring import volumes
from sdpa_helpers.attention.ring.partition import (
    join_sequence,
    split_sequence,
    what_is_seen,
    zigzag_lengths,
    zigzag_partition,
)
from sdpa_helpers.attention.ring.ring import ring_attention

from .ring_ranks import CASES, RingCase

PROGRAM = Path(__file__).with_name("ring_ranks.py")
SIZES = (1, 2, 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    """What four processes that met through a file have saved."""
    folder = tmp_path_factory.mktemp("ring")
    with (folder / "errors.txt").open("w") as errors:
        first = subprocess.Popen(
            [sys.executable, str(PROGRAM), "groups", str(folder)],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stderr=errors,
            start_new_session=True,
        )
    try:
        assert first.wait(timeout=300) == 0, (folder / "errors.txt").read_text()[-3000:]
        yield folder
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGKILL)  # one of them would sleep for a minute
        first.wait()


@pytest.fixture(scope="module")
def four(folder) -> list[dict]:
    return saved(folder, range(4))


def saved(folder: Path, names) -> list[dict]:
    return [torch.load(folder / f"{name}.pt", weights_only=False) for name in names]


@pytest.fixture(scope="module")
def torchrun(tmp_path_factory) -> list[dict]:
    """Two processes, started by torchrun itself."""
    folder = tmp_path_factory.mktemp("torchrun")
    command = [
        Path(sys.executable).with_name("torchrun"),
        "--standalone",
        "--nproc-per-node=2",
        PROGRAM,
        "world",
    ]
    if not command[0].exists():
        command[:1] = [sys.executable, "-m", "torch.distributed.run"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [*command, folder], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return saved(folder, range(2))


def alone(case: RingCase) -> list[torch.Tensor]:
    """Output and gradients of the plain formula in float64."""
    *arrays, grad = case.whole()
    leaves = [x.requires_grad_() for x in arrays]
    rule = Rule(None, case.is_causal, case.d_k**-0.5 if case.scale is None else case.scale)
    output = torch_formula.attention(Head(*leaves), rule, Wants(case.enable_gqa)).output
    grad = grad.expand(output.shape)
    return [output.detach(), *torch.autograd.grad(output, leaves, grad)]


def assert_equals_one_process(case: RingCase, found: list[dict]) -> None:
    """`found`: of the ranks, in order."""
    assert all(one["unchanged"] for one in found)
    for place, (name, expected) in enumerate(zip(("output", "dq", "dk", "dv"), alone(case), strict=True)):
        parts = [one["results"][place] for one in found]
        assert {part.dtype for part in parts} == {case.dtype}
        joined = join_sequence(parts).double()
        assert joined.shape == expected.shape, name
        if not expected.numel():
            continue
        error, largest = float((joined - expected).abs().max()), max(1.0, float(expected.abs().max()))
        if case.dtype == torch.float64:
            assert error <= 1e-12 * case.spread * largest, name
        elif case.dtype == torch.float32:
            assert error <= 2e-6 * largest, name
        else:  # computed in float32, rounded once at the end
            torch.testing.assert_close(joined, expected, rtol=torch.finfo(case.dtype).eps, atol=1e-5)


# By several processes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_equals_one_process(four, name, size):
    """The ranks 0 … size − 1: for size 2 the group of the ranks 2 and 3 must have found the same."""
    found = [rank["cases"][size, name] for rank in four]
    assert_equals_one_process(CASES[name], found[:size])
    for mine, theirs in zip(found, found[size:], strict=False):
        assert all(torch.equal(x, y) for x, y in zip(mine["results"], theirs["results"], strict=True))


@pytest.mark.nightly  # what torchrun adds is how they meet
@pytest.mark.parametrize("name", CASES)
def test_equals_one_process_under_torchrun(torchrun, name):
    assert_equals_one_process(CASES[name], [rank["cases"][2, name] for rank in torchrun])


@pytest.mark.parametrize("size", SIZES)
def test_all_ranks_have_the_same_work(four, size):
    case = CASES["causal"]
    pairs = [rank["cases"][size, "causal"]["forward"]["pairs"] for rank in four[:size]]
    assert sum(pairs) == 2 * 4 * case.n * (case.n + 1) // 2  # every pair that is seen, once
    assert max(pairs) == min(pairs)
    uneven = [rank["cases"][size, "uneven"]["forward"]["pairs"] for rank in four[:size]]
    assert sum(uneven) == 2 * 4 * 37 * 38 // 2
    full = [rank["cases"][size, "full"]["forward"]["pairs"] for rank in four[:size]]
    assert sum(full) == 2 * 4 * 64 * 64


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["causal", "full", "grouped heads", "float32", "bfloat16"])
def test_bytes_sent_are_those_of_the_formula(four, name, size):
    case = CASES[name]
    (batch, heads), kv_heads = case.lead, (case.lead_key or case.lead)[1]
    shape = volumes.Shape(batch, case.n, heads, kv_heads, case.d_k, case.d_v)
    itemsize = case.dtype.itemsize
    forward = volumes.ring_bytes(shape, size, itemsize)
    backward = volumes.ring_bytes(shape, size, itemsize, backward=True, grad_itemsize=max(4, itemsize))
    for rank in four[:size]:
        found = rank["cases"][size, name]
        assert found["forward"]["bytes_sent"] == forward
        assert found["both"]["bytes_sent"] == forward + backward
        assert found["both"]["messages"] == 3 * (size - 1)


def test_bytes_sent_of_uneven_blocks(four):
    """A rank sends every block but the one that it sees last: that of the rank after it."""
    case = CASES["uneven"]
    row = 2 * 4 * (case.d_k + case.d_v) * 8
    rows = [early + late for early, late in zigzag_lengths(case.n, 4)]
    for rank, found in enumerate(four):
        passed_on = sum(rows) - rows[(rank + 1) % 4]
        assert found["cases"][4, "uneven"]["forward"]["bytes_sent"] == passed_on * row


# As a backend of the public call ---------------------------------------------------------------------------


def test_the_public_call_is_the_ring(four):
    expected = alone(CASES["uneven"])[0]
    for kind in ("torch", "numpy"):
        joined = join_sequence([rank["public"][kind] for rank in four])
        torch.testing.assert_close(joined, expected, rtol=1e-11, atol=1e-12)
    for rank in four:
        assert "ring" in rank["public"]["backends"]
        assert rank["public"]["explained"].startswith("ring: it was asked for")
        assert rank["public"]["automatic"] != "ring"


REFUSED = {
    "mask": (
        "ValueError: backend 'ring' cannot serve this call, and no other backend can stand in: it takes no attn_mask"
    ),
    "dropout": "it has no dropout",
    "weights": "no rank ever has a whole row of weights",
    "arrays": "TypeError: query is a NumPy array, but ring_attention takes tensors: torch.from_numpy(query)",
    "disagree": "ValueError: the ranks of the ring disagree about is_causal: [False, True, False, False] on ranks",
    "dtype": "disagree about dtype: [torch.float64, torch.float32, torch.float64, torch.float64]",
    "scale": "disagree about scale: [0.5, 1.5, 2.5, 3.5] on ranks 0 … 3. Only their rows may differ",
    "gradient": "disagree about whether a gradient is wanted: [False, True, False, False]",
    "rows": "ValueError: is_causal=True needs the rows that zigzag_partition(n, 4) gives each rank",
    "cross": "but there are [8, 8, 8, 9] queries",
    "twice": "ring attention has no second derivative",
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_rank_refuses_what_does_not_fit(four, name):
    for rank in four:
        assert REFUSED[name] in rank["public"][name]


def test_a_process_outside_the_group_is_told_so(four):
    assert ["not in the group" in rank["outside"] for rank in four] == [False, False, True, True]


def test_without_a_group_the_error_says_how_to_get_one():
    arrays = [torch.zeros(2, 3)] * 3
    assert "ring" not in sdpa.backends()
    message = "needs a process group: start the program with torchrun"
    with pytest.raises(ValueError, match=message):
        sdpa.scaled_dot_product_attention(*arrays, backend="ring")
    with pytest.raises(ValueError, match=message):
        ring_attention(*arrays)


# When a rank is lost ---------------------------------------------------------------------------------------


def test_a_lost_rank_is_an_error_and_not_a_hang(folder):
    (seen,) = saved(folder, ["lost"])
    for what in ("ended", "absent"):
        assert seen[what].startswith("RuntimeError: ring attention on rank 0 failed"), seen[what]
        assert "Every rank must call ring_attention" in seen[what]
    assert max(seen["seconds"]) < 30  # not the minutes that gloo waits by itself


# The pieces ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("n", [0, 1, 5, 16, 37])
def test_zigzag_gives_every_position_to_one_rank(n, size):
    parts = zigzag_partition(n, size)
    assert sorted(torch.cat(parts).tolist()) == list(range(n))
    assert all(first < second for part in parts for first, second in pairwise(part.tolist()))
    lengths = [len(part) for part in parts]
    assert lengths == [sum(both) for both in zigzag_lengths(n, size)]
    assert max(lengths) - min(lengths) <= 2
    whole = torch.arange(2.0 * n * 3).view(2, n, 3)
    assert torch.equal(join_sequence(split_sequence(whole, size)), whole)


def test_zigzag_of_four_ranks():
    assert [part.tolist() for part in zigzag_partition(8, 4)] == [[0, 7], [1, 6], [2, 5], [3, 4]]
    with pytest.raises(ValueError, match="n = 8 and world_size = 0"):
        zigzag_partition(8, 0)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [5, 16, 23])
def test_what_is_seen_is_exactly_what_may_be_seen(n, size, is_causal):
    parts, lengths = zigzag_partition(n, size), zigzag_lengths(n, size)
    computed = torch.zeros(n, n, dtype=torch.int64)
    for rank in range(size):
        for source in range(size):
            rows, columns, diagonal = what_is_seen(
                rank, source, lengths[rank][0], lengths[source][0], is_causal
            )
            queries, keys = parts[rank][rows], parts[source][columns]
            block = torch.ones(len(queries), len(keys), dtype=torch.int64)
            computed[queries[:, None], keys] += block.tril() if diagonal else block
    allowed = torch.ones_like(computed)
    assert torch.equal(computed, allowed.tril() if is_causal else allowed)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_tiles_give_what_the_kernel_gives(is_causal, dtype):
    """What a device without a kernel of its own is served by, here on the CPU."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(2, 4, 7, 3), (2, 2, 7, 3), (2, 2, 7, 5), (2, 4, 7, 5)]
    query, key, value, grad = (torch.randn(x, generator=generator).to(dtype) for x in shapes)
    kernel = ring_blocks.attend(query, key, value, is_causal, 0.5)
    tiles = ring_blocks._tiled_forward(query, key, value, is_causal, 0.5)
    options = {"rtol": 1e-5, "atol": 1e-5}
    for ours, theirs in zip(tiles, kernel, strict=True):
        torch.testing.assert_close(ours, theirs, **options)
    arguments = (grad, query, key, value, kernel, is_causal, 0.5)
    for ours, theirs in zip(
        ring_blocks._tiled_backward(*arguments), ring_blocks.gradients(*arguments), strict=True
    ):
        torch.testing.assert_close(ours, theirs, **options)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_blocks_on_a_gpu(is_causal, dtype):
    """The kernel that CUDA gets, against float64: one block alone and its gradients."""
    shapes = [(2, 4, 200, 64), (2, 2, 200, 64), (2, 2, 200, 64), (2, 4, 200, 64)]
    arrays = [torch.randn(x, device="cuda").to(dtype) for x in shapes]
    query, key, value, grad = arrays
    found = ring_blocks.attend(query, key, value, is_causal, 0.125)
    exact = ring_blocks.attend(*(x.double().cpu() for x in arrays[:3]), is_causal, 0.125)
    tolerance = 2e-2 if dtype != torch.float32 else 1e-3
    torch.testing.assert_close(found.output.double().cpu(), exact.output, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(found.lse.double().cpu(), exact.lse, rtol=tolerance, atol=tolerance)
    ours = ring_blocks.gradients(grad, query, key, value, found, is_causal, 0.125)
    theirs = ring_blocks.gradients(*(x.double().cpu() for x in (grad, *arrays[:3])), exact, is_causal, 0.125)
    for mine, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.double().cpu(), right, rtol=5 * tolerance, atol=5 * tolerance)
