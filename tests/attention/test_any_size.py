"""Numbers of any size: random exponents of everything, on every backend, against longdouble within an honest bound.

Some calls each time, always the same. With SDPA_SEARCH=10 in the environment (`make search MINUTES=10`) it looks for
ten minutes, for each backend and dtype, at calls that nobody has tried; what it finds it names by its number, for
`call(number, dtype)`.
"""

import importlib
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from sdpa_helpers import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention import fitting
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.attention.layout import Head, Rule
from tests.nightly import BRIEFLY_AND_AT_NIGHT

from . import any_size
from .any_size import Call, Near
from .cases import ROUNDS_WEIGHTS, Case, make, reference, to_float64, to_kind

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, about what is left out: ∞ − ∞
    pytest.mark.skipif(not any_size.HAS_LONG, reason="longdouble is float64 on this processor"),
]

MINUTES = float(os.environ.get("SDPA_SEARCH", 0))  # for each backend and dtype
CALLS = {"float32": 24}  # of other dtypes fewer
IN_TRITONS_INTERPRETER = 12


def numbers(backend: str, dtype: str, times: int) -> Iterator[int]:
    """Of the calls to try: some fixed ones; with SDPA_SEARCH as many others as there is time for."""
    if not MINUTES:
        yield from range(
            times * IN_TRITONS_INTERPRETER if backend == "triton" else times * CALLS.get(dtype, 8)
        )
        return
    start, until = time.time_ns() // 1000, time.monotonic() + MINUTES * 60
    while time.monotonic() < until:
        yield start
        start += 1


def found(backend: str, dtype: str, times: int) -> list[str]:
    """What is wrong with the calls, a line for each. times: as many as else."""
    lines = []
    for number in numbers(backend, dtype, times):
        asked = any_size.call(number, dtype)
        right = any_size.expected(number, dtype, backend in ROUNDS_WEIGHTS and dtype.endswith("16"))
        came = answers(asked, backend)
        wanted = {"output": right.output, "hull": right.hull, "LSE": right.lse}
        wanted |= dict(zip(("dQ", "dK", "dV"), right.gradients, strict=True))
        for name, array in came.items():
            if wanted[name].misses(array).any():
                lines.append(f"{number} {name}: {in_words(wanted[name], array)}; {described(asked)}")
    return lines


def answers(asked: Call, backend: str) -> dict[str, np.ndarray]:
    """Output, LSE and gradients, as far as the backend has them."""
    known = BACKENDS[backend]
    arrays = [to_kind(x, known.kind, asked.dtype) for x in asked.arrays]
    mask = asked.mask
    if mask is not None and known.kind == "torch":
        mask = importlib.import_module("torch").tensor(mask)
    options = {"is_causal": asked.is_causal, "scale": asked.scale, "backend": backend}
    if known.kind == "torch":
        for x in arrays:
            x.requires_grad_()
    output = scaled_dot_product_attention(*arrays, mask, **options)
    lse = scaled_dot_product_attention(*arrays, mask, **options, return_lse=True)[1]
    came = {"output": to_float64(output), "hull": to_float64(output), "LSE": to_float64(lse)}
    if known.kind == "torch":
        output.backward(to_kind(asked.grad_output, "torch", asked.dtype))
        came |= named_gradients([x.grad for x in arrays])
    elif (
        known.own_passes and asked.dtype == asked.working
    ):  # in half precision they take the output as rounded
        passes = importlib.import_module(f"sdpa_helpers.attention.{known.module}")
        near, rule = fitting.fitted(Head(*arrays), Rule(mask, asked.is_causal, asked.factor))
        if near.query is arrays[0]:  # else the gradients are those of what it has become
            whole, grad = passes.attention_forward(near, rule), asked.grad_output.astype(asked.dtype)
            came |= named_gradients(passes.attention_backward(near, rule, False, whole, grad))
    return came


def named_gradients(gradients) -> dict[str, np.ndarray]:
    return {name: to_float64(x) for name, x in zip(("dQ", "dK", "dV"), gradients, strict=True)}


def in_words(near: Near, came: np.ndarray) -> str:
    at = tuple(int(i) for i in np.argwhere(near.misses(came))[0])
    return f"at {at} {came[at]:.9g}, right is {near.right[at]:.9g} ± {near.bound[at]:.2g}"


def described(asked: Call) -> str:
    sizes = {name: np.abs(getattr(asked, name)).max() for name in ("query", "key", "value", "grad_output")}
    shapes = "×".join(map(str, (*asked.query.shape, *asked.value.shape[-2:])))
    mask = "no mask" if asked.mask is None else f"mask {asked.mask.dtype} {asked.mask.shape}"
    largest = ", ".join(f"{name} {size:.2g}" for name, size in sizes.items())
    return f"{asked.dtype} {shapes} {mask} causal {asked.is_causal} scale {asked.scale} largest: {largest}"


# What it found first, one by one ------------------------------------------------------------------------------


def attend(arrays, kind: str, backend: str, mask=None, **options) -> np.ndarray:
    """In float32; a float mask keeps its dtype."""
    arrays = [to_kind(x, kind, "float32") for x in arrays]
    if mask is not None and kind == "torch":
        mask = importlib.import_module("torch").tensor(mask)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return to_float64(scaled_dot_product_attention(*arrays, mask, backend=backend, **options))


@pytest.mark.parametrize("size", [1e-24, 1e-28, 1e-32, 1e-36])
@pytest.mark.parametrize("score", [-29.0, 29.0])
def test_values_that_are_small_beside_the_weights(backend, kind, score, size):
    """exp(−29) · 10⁻³² is below float32's smallest number. All values are so small; some are 0; one column is not."""
    case = make(n_q=8, n_k=40, d_k=1, d_v=2)
    query, key = (1 + 0.01 * x for x in (case.query, case.key))
    for value in (
        case.value,
        np.where(case.value > 0, case.value, 0),
        case.value * np.array([1.0, 1 / size]),
    ):
        arrays = [to_float64(to_kind(x, "numpy", "float32")) for x in (query, key * score, value * size)]
        expected = reference(Case(*arrays, scale=1.0))[0]
        output = attend(arrays, kind, backend, scale=1.0)
        sizes = np.abs(arrays[2]).max(0)
        np.testing.assert_allclose(output / sizes, expected / sizes, rtol=1e-4, atol=1e-5)


def far_scale(exponent: int) -> Case:
    """A scale of that power of ten, with queries and keys that make up for it as far as float32 holds them."""
    case, part = make(2, n_q=5, n_k=6, seed=1), 10.0 ** np.clip(-exponent / 2, -25, 25)
    arrays = (case.query * part, -case.key * part, case.value)
    return Case(*(to_float64(to_kind(x, "numpy", "float32")) for x in arrays), scale=-0.7 * 10.0**exponent)


FAR = [50, -50, -300, 6, -9]  # the third is 0 even after what the arrays make up for: the mean of all values


@pytest.mark.parametrize("exponent", FAR)
def test_a_scale_that_float32_does_not_hold(backend, kind, exponent):
    case = far_scale(exponent)
    output = attend(case.arrays, kind, backend, scale=case.scale)
    np.testing.assert_allclose(output, reference(case)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("exponent", FAR)
def test_its_gradients(backend, exponent, torch):
    case = far_scale(exponent)
    name = backend if BACKENDS[backend].kind == "torch" else "torch"
    exact = [torch.tensor(x, requires_grad=True) for x in case.arrays]
    leaves = [torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in case.arrays]
    (torch.softmax(exact[0] @ exact[1].mT * case.scale, -1) @ exact[2]).square().sum().backward()
    scaled_dot_product_attention(*leaves, scale=case.scale, backend=name).square().sum().backward()
    for ours, right in zip(leaves, exact, strict=True):
        close = max(1e-5 * right.grad.abs().max().item(), 1e-44)
        np.testing.assert_allclose(ours.grad.double(), right.grad, rtol=1e-4, atol=close)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("how", ["a mask", "a score_mod"])
def test_a_finite_number_of_float64_hides_as_finite_numbers_do(backend, torch, dtype, how):
    """finfo.min for every key of a query: the mean of all values, as with float32's own. −∞ is −∞, and +∞ +∞."""
    case, lowest = make(2, n_q=4, n_k=6), np.finfo(np.float64).min
    numbers = np.zeros((4, 6))
    numbers[1], numbers[2], numbers[3, 1:] = lowest, -inf, 2 * (lowest / 2)
    arrays = [to_kind(x, "torch", dtype) for x in case.arrays]
    mask = torch.tensor(numbers)
    given = {"attn_mask": mask.expand(2, 4, 6)}
    if how == "a score_mod":
        given = {
            "score_mod": lambda score, b, h, i, j: torch.where(mask[i, j] == 0, score.double(), mask[i, j])
        }
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        output, lse = scaled_dot_product_attention(*arrays, backend=backend, return_lse=True, **given)
    value = arrays[2].double()
    close = {"rtol": 0.02, "atol": 0.02} if dtype != "float32" else {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(output[:, 1].double(), value.mean(1), **close)
    assert not output[:, 2].any()
    torch.testing.assert_close(output[:, 3].double(), value[:, 0], **close)
    assert (lse[:, 1] == torch.finfo(torch.float32).min).all()
    assert (lse[:, 2] == -inf).all()


def test_a_mask_that_is_made_narrower_takes_no_more_room(torch):
    """What is the same for all heads and rows is there once. A learned mask keeps its gradient."""
    row = torch.zeros(1, 1, 1, 500, dtype=torch.float64).fill_(-1e300)
    for mask in (row.expand(8, 16, 400, 500), np.broadcast_to(row.numpy(), (8, 16, 400, 500))):
        narrow = fitting.narrowed(mask, np.float32 if isinstance(mask, np.ndarray) else torch.float32)
        steps = narrow.strides if isinstance(mask, np.ndarray) else narrow.stride()
        assert narrow.shape == mask.shape
        assert not any(steps[:3])
    learned = torch.zeros(4, 6, dtype=torch.float64, requires_grad=True)
    output = scaled_dot_product_attention(*map(torch.tensor, _float32_arrays()), learned)
    output.square().sum().backward()
    assert learned.grad.dtype == torch.float64
    assert learned.grad.any()


def _float32_arrays() -> list[np.ndarray]:
    return [x.astype("float32") for x in make(n_q=4, n_k=6).arrays]


def test_a_row_that_a_mask_sinks_before_a_large_score_comes(backend, kind):
    """Its exponentials, e^−100, are lost unless its largest is subtracted from the first tile on."""
    case = make(n_q=6, n_k=9, d_k=2)
    mask = np.zeros((6, 9))
    mask[2] = [-100.0, -101.0, -99.5] * 3
    key = case.key.copy()
    key[7] *= 80  # in a later tile
    arrays = [to_float64(to_kind(x, "numpy", "float32")) for x in (case.query, key, case.value)]
    expected = reference(Case(*arrays, mask, scale=1.0))[0]
    output = attend(arrays, kind, backend, mask.astype("float32"), scale=1.0)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1e4, 1e5, 1e8, 1e15])
def test_scores_that_are_very_large(backend, kind, size):
    """Of equal keys the mean, at whatever score: it is rounded once, and then subtracted from itself."""
    case = make(n_q=7, n_k=8, d_k=2)
    key = np.where(np.arange(8)[:, None] < 4, size, size / 2) * np.ones((8, 2))
    for sign in (1, -1):
        output = attend([np.full((7, 2), 3.0), key * sign, case.value], kind, backend, scale=1.0)
        right = case.value[:4] if sign > 0 else case.value[4:]
        np.testing.assert_allclose(output, np.broadcast_to(right.mean(0), output.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["numpy-tiled", "numba", "torch-tiled", "torch-fused"])
def test_their_gradients_are_finite(name, needs, torch):
    """exp(score − LSE) of rounded numbers may be far above 1: weights that are made again are held to that."""
    for module in BACKENDS[name].needs:
        needs(module)
    for size in (1e5, 1e9, 1e13):
        case = make(n_q=20, n_k=30, d_k=4, d_v=4)
        asked = Call("float32", *case.arrays, np.ones((20, 4)), None, is_causal=False, scale=1.0)
        asked = replace(asked, query=asked.query * size**0.5, key=asked.key * size**0.5)
        assert all(np.isfinite(x).all() for x in answers(asked, name).values())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("size", [1e5, 3e7, 1e9])
@pytest.mark.parametrize("name", ["torch", "torch-tiled", "torch-fused"])
def test_no_weight_of_a_gradient_is_far_above_1(name, torch, size, dtype):
    """dV is the weights where the gradient of the output picks one query. torch's kernel made 7 and NaN of a 1 here."""
    query, key, value = (to_kind(x, "torch", dtype).requires_grad_() for x in _scores_of(size).arrays)
    output = scaled_dot_product_attention(query, key, value, scale=0.7, backend=name)
    one_query = [torch.eye(3)[[i]].T.expand_as(output).to(output.dtype) for i in range(3)]
    weights = [torch.autograd.grad(output, value, one, retain_graph=True)[0] for one in one_query]
    assert min(x.min() for x in weights) >= 0
    assert max(x.max() for x in weights) < 1.1


def _scores_of(size: float) -> Case:
    case = make(20, n_q=3, n_k=20, d_k=3, d_v=3)
    return replace(case, key=case.key * size)


def test_torchs_kernel_keeps_the_gradients_of_scores_that_are_not_so_large(torch):
    for size, backend in ((1e3, "torch-fused"), (1e7, "torch")):
        arrays = [torch.tensor(x, requires_grad=True) for x in _scores_of(size).arrays]
        assert explain_backend(*(x.float() for x in arrays)).backend == backend
        assert explain_backend(*(x.detach().float() for x in arrays)).backend == "torch-fused"
        assert explain_backend(*arrays).backend == "torch-fused"  # float64 holds their differences


# The search ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@BRIEFLY_AND_AT_NIGHT
def test_numbers_of_any_size(backend, dtype, needs, at_night):
    if dtype == "bfloat16" and BACKENDS[backend].kind != "torch":
        pytest.skip("NumPy has no bfloat16 of its own")
    if (dtype, backend) == ("bfloat16", "triton"):
        pytest.skip("Triton's interpreter makes 7e-39 of 4e-41 when it rounds to bfloat16")
    needs("torch")  # which rounds to bfloat16
    lines = found(backend, dtype, 5 if at_night else 1)
    assert not lines, f"{len(lines)} found:\n" + "\n".join(lines[:8])
