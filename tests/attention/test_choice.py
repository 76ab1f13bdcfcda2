"""Which backend a call gets, that the reason is told, and that torch's slow path is never taken by accident."""

import re
import sys
from types import ModuleType

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention import call_facts, choice, known_backends, machine, worth
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Wants
from sdpa_helpers.attention.variants.checked_mods import Mods

from .cases import make


def explained(case, kind="numpy", torch=None, **options):
    arrays = case.arrays if kind == "numpy" else [torch.tensor(x) for x in case.arrays]
    return sdpa.explain_backend(*arrays, **(case.options | options))


def test_small_arrays_go_to_the_formula():
    chosen = explained(make(2))
    assert chosen.backend == "numpy"
    assert re.search(
        r"not numpy-tiled: too small: pays off from about [\d,]+ scores in all heads; this call has 60\b",
        str(chosen),
    )


def test_tiles_are_worth_it_from_the_size_that_is_told():
    """All heads count."""
    least = known_backends.BACKENDS["numpy-tiled"].worth.ready
    row = np.broadcast_to(1.0, (least // (4 * 50), 4))
    heads = np.broadcast_to(1.0, (2, 2, 50, 4))
    assert sdpa.explain_backend(heads, row, row).backend == "numpy-tiled"
    smaller = sdpa.explain_backend(heads, row[1:], row[1:])
    assert smaller.backend == "numpy"
    assert (
        f"not numpy-tiled: too small: pays off from about {worth.rounded(least)} scores in all heads"
        in str(smaller)
    )


@pytest.mark.parametrize(
    ("n_q", "heads", "kv_heads", "backend"),
    [(1, 8, 8, "numpy"), (31, 8, 8, "numpy"), (32, 8, 8, "numpy-tiled"), (1, 32, 1, "numpy-tiled")],
)
def test_few_queries_to_many_keys_go_to_the_formula(monkeypatch, n_q, heads, kv_heads, backend):
    """As in decoding, unless many heads share the keys: there is no large matrix to avoid."""
    monkeypatch.setattr(worth, "COMPUTED", set())  # numba may be ready, of other tests
    query, key = np.broadcast_to(1.0, (heads, n_q, 4)), np.broadcast_to(1.0, (kv_heads, 2**14, 4))
    chosen = sdpa.explain_backend(query, key, key, enable_gqa=True)
    assert chosen.backend == backend
    few = "not numpy-tiled: its tiles save nothing with fewer than 32 queries to the same keys"
    assert (few in str(chosen)) == (backend == "numpy")


NUMBA = known_backends.BACKENDS["numba"].worth
NUMBA_SIZES = {
    "small": (
        NUMBA.ready - 40,
        "too small: pays off from about 100,000 scores in all heads; this call has 99,960",
    ),
    "for which it is worth to be loaded": (
        NUMBA.loading,
        "compiling it takes seconds: pays off from about 500 million",
    ),
    "for which it is worth to be used": (
        NUMBA.ready,
        "its first such call in a process pays off from about 50 million scores, later ones from 100,000; this call",
    ),
    "for which it is worth to be compiled": (NUMBA.compiling, ""),
}


@pytest.mark.parametrize("size", NUMBA_SIZES)
@pytest.mark.parametrize("state", ["ready", "on disk", "not compiled"])
def test_compiled_tiles_are_taken_from_the_size_where_their_first_call_is_worth_it(
    needs, monkeypatch, size, state
):
    needs("numba")
    scores, reason = NUMBA_SIZES[size]
    row = np.broadcast_to(np.float32(1), (scores // 40, 1))  # takes no memory; nothing is computed
    monkeypatch.setattr(worth, "COMPUTED", {("numba_tiled", "float32", "")} if state == "ready" else set())
    monkeypatch.setattr(machine, "is_compiled", lambda start: (start, state) == ("numba", "on disk"))
    least = {"ready": NUMBA.ready, "on disk": NUMBA.loading, "not compiled": NUMBA.compiling}[state]
    chosen = sdpa.explain_backend(row[:40], row, row)
    other = "numpy-tiled" if scores >= known_backends.BACKENDS["numpy-tiled"].worth.ready else "numpy"
    assert chosen.backend == ("numba" if scores >= least else other)
    if scores < least:
        assert f"not numba: {reason}" in str(chosen)


def test_float64_goes_to_numpys_own_tiles(needs, monkeypatch):
    needs("numba")
    monkeypatch.setattr(worth, "COMPUTED", {("numba_tiled", "float64", "")})
    chosen = explained(make(n_q=400, n_k=400))
    assert chosen.backend == "numpy-tiled"
    assert "not numba: in float64 it is slower" in str(chosen)


def test_what_numba_has_computed_it_is_ready_for(needs, monkeypatch):
    """Each dtype, and each mask's, is compiled by itself."""
    needs("numba")
    computed = set()
    monkeypatch.setattr(worth, "COMPUTED", computed)
    small = np.ones((3, 4, 2), np.float32)
    sdpa.scaled_dot_product_attention(*small, backend="numba")
    assert computed == {("numba_tiled", "float32", "")}
    sdpa.scaled_dot_product_attention(*small, np.ones((4, 4), bool), backend="numba")
    sdpa.scaled_dot_product_attention(*small, backend="numpy-tiled")
    assert computed == {("numba_tiled", "float32", ""), ("numba_tiled", "float32", "bool")}


def test_machine_code_on_disk_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    machine.look_again()
    assert not machine.is_compiled("abacus")
    folder = tmp_path / "attention_0a1b"
    folder.mkdir()
    (folder / "abacus.beads-12.py311.nbi").touch()
    assert not machine.is_compiled("abacus"), "it is looked for once"
    machine.look_again()
    assert machine.is_compiled("abacus")
    machine.look_again()


@pytest.mark.parametrize(
    ("device", "dtype", "backend", "reason"),
    [
        ("cuda", "float16", "triton", "not torch-fused: it has a mask"),
        ("cuda", "float64", "triton", "not torch-fused: it has a mask"),
        ("cuda", "float32", "torch", "not triton: its products of float32"),
        ("cpu", "float16", "torch", "not triton: it is for tensors on an NVIDIA GPU, not on 'cpu'"),
        ("mps", "float32", "torch", "not triton: it is for tensors on an NVIDIA GPU, not on 'mps'"),
    ],
)
def test_a_gpus_kernels_are_for_a_gpu_and_for_half_precision(monkeypatch, device, dtype, backend, reason):
    """On any machine: the call is described, not made."""
    monkeypatch.setattr(known_backends, "is_usable", lambda name: True)
    monkeypatch.setattr(
        known_backends, "cannot", lambda name, call: {"torch-fused": "it has a mask"}.get(name, "")
    )
    case = make(2)
    flags = ("is_causal", "return_weights", "return_lse")
    options = dict.fromkeys(flags, False) | {"scale": 1.0, "dropout_p": 0.0}
    call = call_facts.describe(Head(*case.arrays), None, Mods(None, None, False), lead=(2,), **options)
    chosen = choice.choose("auto", call._replace(kind="torch", device=device, dtype=dtype))
    assert chosen.backend == backend
    assert reason in str(chosen)


def test_a_backend_is_not_asked_what_it_cannot_do_where_it_is_not_usable(monkeypatch):
    monkeypatch.setattr(known_backends, "is_usable", lambda name: name == "numpy")
    monkeypatch.setattr(known_backends, "cannot", lambda name, call: {"numpy": ""}[name])
    chosen = explained(make(n_q=400, n_k=400))
    assert chosen.backend == "numpy"
    assert [name for name, _ in chosen.others] == ["numba", "numpy-tiled"]


def test_what_is_not_installed_is_named_with_its_command(monkeypatch):
    absent = known_backends.BACKENDS["numba"]._replace(needs=("no_such_module",))
    monkeypatch.setitem(known_backends.BACKENDS, "numba", absent)
    assert "not numba: not installed: pip install numba" in str(explained(make(n_q=400, n_k=400)))


def test_weights_come_from_the_formula_with_a_reason():
    chosen = explained(make(n_q=400, n_k=400), return_weights=True)
    assert chosen.backend == "numpy"
    assert "not numpy-tiled: it never holds all weights, so it cannot return them" in str(chosen)
    asked = explained(make(), backend="numpy-tiled", return_weights=True)
    assert asked.backend == "numpy"
    assert "in place of numpy-tiled" in asked.why


def test_what_was_asked_for():
    assert explained(make(), backend="numpy-tiled").backend == "numpy-tiled"
    with pytest.raises(ValueError, match="there is no backend 'abacus'"):
        explained(make(), backend="abacus")


REASONS = {
    "d_v ≠ d_k": ({"d_v": 2}, {}),
    "the fused kernel never has the weights": ({}, {"return_weights": True}),
    "with dropout": ({}, {"dropout_p": 0.5}),
    "with scale = -1 it gives NaN": ({}, {"scale": -1.0, "is_causal": True}),
    "refuses empty arrays": ({"n_k": 0}, {}),
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_fused_kernel_does_not_do_right(torch, reason):
    shape, options = REASONS[reason]
    case = make(2, **({"d_v": 3} | shape))
    chosen = explained(case, "torch", torch, **options)
    assert chosen.backend == "torch"
    assert reason in str(chosen)
    longer = make(2, **({"d_v": 3, "n_q": 500, "n_k": 500} | shape))
    usable = (
        "torch-tiled"
        if not {"return_weights", "dropout_p"} & set(options) and "n_k" not in shape
        else "torch"
    )
    assert explained(longer, "torch", torch, **options).backend == usable


def test_otherwise_tensors_go_to_the_fused_kernel(torch):
    chosen = explained(make(2, 3, d_k=4, d_v=4), "torch", torch)
    assert chosen.backend == "torch-fused"


def padding(torch, n, kept):
    return torch.arange(n) < kept


MASKS = {
    "that hides most keys": (lambda torch: padding(torch, 512, 100), (8,), "torch-tiled"),
    "that hides few keys": (lambda torch: padding(torch, 512, 400), (8,), "torch-fused"),
    "of few scores": (lambda torch: padding(torch, 512, 100), (1,), "torch-fused"),
    "of a window": (
        lambda torch: torch.ones(512, 512, dtype=torch.bool).tril().triu(-9),
        (16,),
        "torch-tiled",
    ),
    "that takes long to look at": (
        lambda torch: padding(torch, 512, 100).expand(8, 512, 512),
        (8,),
        "torch-fused",
    ),
    "that leaves holes": (
        lambda torch: torch.arange(512 * 512).reshape(512, 512) % 100 == 0,
        (16,),
        "torch-fused",
    ),
    "of numbers": (
        lambda torch: torch.zeros(512).masked_fill(~padding(torch, 512, 9), -9.0),
        (8,),
        "torch-fused",
    ),
}


@pytest.fixture
def one_thread(torch):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", MASKS)
def test_a_mask_that_hides_much_sends_tensors_to_tiles(torch, name):
    make_mask, lead, backend = MASKS[name]
    query = torch.ones(1, 4).expand(*lead, 512, 4)
    chosen = sdpa.explain_backend(query, query, query, make_mask(torch))
    assert chosen.backend == backend
    told = re.search(r"not torch-fused: it computes what a mask hides too, .* saves (\d+)% here", str(chosen))
    assert (told is not None and int(told[1]) >= 45) == (backend == "torch-tiled")


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("why", ["traced", "several threads"])
def test_a_mask_is_not_looked_at_where_it_is_traced_or_tiles_are_not_faster(torch, monkeypatch, why):
    from sdpa_helpers.attention import torch_fused

    if why == "traced":
        monkeypatch.setattr(torch_fused, "is_traced", lambda: True)
    else:
        torch.set_num_threads(2)
    query = torch.ones(8, 512, 4)
    assert sdpa.explain_backend(query, query, query, padding(torch, 512, 9)).backend == "torch-fused"


def test_a_learned_mask_keeps_its_gradient(torch):
    arrays = [torch.tensor(x) for x in make(d_v=3).arrays]
    mask = torch.zeros(5, 6, dtype=torch.float64, requires_grad=True)
    assert sdpa.explain_backend(*arrays, mask).backend == "torch"
    sdpa.scaled_dot_product_attention(*arrays, mask).sum().backward()
    assert mask.grad is not None


# What the profiler saw -------------------------------------------------------------------------------------

FUSED_KERNEL = "aten::_scaled_dot_product_flash_attention_for_cpu"
SLOW_KERNEL = "aten::_scaled_dot_product_attention_math"

CALLS = {
    "plain": ((2, 3), {}, {}),
    "causal": ((2, 3), {}, {"is_causal": True}),
    "one matrix": ((), {}, {}),
    "three dimensions": ((3,), {}, {}),
    "five dimensions": ((2, 1, 3), {}, {}),
    "a mask": ((2, 3), {"mask": True}, {}),
    "a mask and causal": ((2, 3), {"mask": True}, {"is_causal": True}),
    "grouped heads": ((2, 4), {"heads": (2, 2)}, {"enable_gqa": True}),
    "differently grouped heads": ((2, 4), {"heads": (1, 2)}, {"enable_gqa": True}),
    "transposed": ((2, 3), {"transposed": True}, {}),
    "with a gradient": ((2, 3), {"gradient": True}, {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_profiler_sees_the_fused_kernel(torch, name):
    lead, how, options = CALLS[name]
    case = make(*lead, d_k=4, d_v=4)
    query, key, value = (torch.tensor(x) for x in case.arrays)
    if "heads" in how:
        key, value = (x[:, :h] for x, h in zip((key, value), how["heads"], strict=True))
    if "transposed" in how:
        query = query.mT.contiguous().mT
    if "gradient" in how:
        query.requires_grad_()
    mask = torch.rand(5, 6) < 0.7 if "mask" in how else None
    assert sdpa.explain_backend(query, key, value, mask, **options).backend == "torch-fused"
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        sdpa.scaled_dot_product_attention(query, key, value, mask, **options)
    seen = {event.key for event in profile.key_averages()}
    assert FUSED_KERNEL in seen
    assert SLOW_KERNEL not in seen


@pytest.mark.parametrize("reason", REASONS)
def test_the_profiler_sees_no_slow_path_where_the_fused_kernel_was_asked_for(torch, reason):
    shape, options = REASONS[reason]
    query, key, value = (torch.tensor(x) for x in make(2, **({"d_v": 3} | shape)).arrays)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        sdpa.scaled_dot_product_attention(query, key, value, backend="torch-fused", **options)
    assert SLOW_KERNEL not in {event.key for event in profile.key_averages()}


def test_torch_raises_rather_than_take_the_slow_path(torch):
    """Should `cannot` ever be wrong about a new torch."""
    from sdpa_helpers.attention import torch_fused

    arrays = Head(*(torch.tensor(x) for x in make(2, d_v=2).arrays))
    refused = pytest.raises(RuntimeError, match="No available kernel")
    with refused, pytest.warns(UserWarning, match="Flash attention kernel not used"):
        torch_fused.attention(arrays, Rule(), Wants())


def test_every_automatic_name_is_a_backend():
    for kind, names in choice.AUTOMATIC.items():
        assert {known_backends.BACKENDS[name].kind for name in names} == {kind}
        assert not known_backends.BACKENDS[names[-1]].formula, "the last one is the formula itself"


def test_a_new_backend_is_one_file_and_one_line(monkeypatch):
    """It takes part without being one that "auto" considers."""
    abacus = ModuleType("sdpa_helpers.attention.abacus")
    abacus.attention = lambda arrays, rule, wants: BackendResult(np.full_like(arrays.query, 7.0))  # pyright: ignore
    monkeypatch.setitem(sys.modules, abacus.__name__, abacus)
    monkeypatch.setitem(known_backends.BACKENDS, "abacus", known_backends.Backend("abacus", "numpy"))
    assert "abacus" in sdpa.backends()
    output = sdpa.scaled_dot_product_attention(*np.ones((3, 2, 2)), backend="abacus")
    np.testing.assert_array_equal(output, np.full((2, 2), 7.0))
    assert explained(make()).backend == "numpy"
