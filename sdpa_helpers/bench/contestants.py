"""Who takes part in `sdpa bench`: torch's own call, each backend that serves the setting, and JAX where it is.

Each is made into a function without arguments. Backward passes are made alone, without the forward pass before them.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS, backends
from sdpa_helpers.attention.layout import Head, Rule
from sdpa_helpers.bench.settings import FORMULA_MIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdpa_helpers.bench.rounds import Call
    from sdpa_helpers.bench.settings import Setting

REFERENCE = "F.sdpa"
JAX = "jax"
LARGE_MIB = 8.0  # all scores: more than that leaves a core's cache again and again
ALL_SCORES = {known.formula for known in BACKENDS.values()} - {""} | {JAX}
"""Those that hold all the scores at once: far slower than the others where that is much."""


def slow_ones(setting: Setting) -> set[str]:
    """Those that are far slower than others in that setting, so that few rounds must do."""
    return ALL_SCORES if setting.scores_mib > LARGE_MIB else set()


def on_a_cpu() -> list[str]:
    """All that could take part on some machine: attention_cuda.py, and benchmarks/ring.py, time the others."""
    ours = [name for name, known in BACKENDS.items() if not known.needs_gpu and not known.needs_group]
    return [*ours, JAX]


def names(setting: Setting, chosen: tuple[str, ...] = ()) -> list[str]:
    """Who takes part: F.sdpa always, and of those that are installed the chosen ones, or all."""
    here = {*backends(), JAX}
    found = [name for name in on_a_cpu() if name in here and (not chosen or name in chosen)]
    return [REFERENCE, *(name for name in found if _takes_part(name, setting))]


def _takes_part(name: str, setting: Setting) -> bool:
    if name in ALL_SCORES and setting.scores_mib > FORMULA_MIB:
        return False
    if name == JAX:
        installed = importlib.util.find_spec("jax") is not None
        return installed and setting.dtype != "float64" and setting.direction == "forward"
    backend = BACKENDS[name]
    if backend.kind == "torch":
        return _serves(name, setting)
    able = setting.dtype != "bfloat16" and (setting.direction == "forward" or backend.own_passes)
    return able and _serves(name, setting)


def _serves(name: str, setting: Setting) -> bool:
    """Itself, without another in its place."""
    (query, key, value), mask = given(setting, BACKENDS[name].kind)
    causal = setting.mask == "causal"
    return explain_backend(query, key, value, mask, is_causal=causal, backend=name).backend == name


def call_of(name: str, setting: Setting) -> Call:
    """The call of one that takes part in that setting."""
    if setting.direction == "backward":
        is_ours = name != REFERENCE and BACKENDS[name].kind == "numpy"
        return _own_backward(name, setting) if is_ours else _by_autograd(name, setting)
    if name == JAX:
        return _jax_call(setting)
    arrays, mask = given(setting, "torch" if name == REFERENCE else BACKENDS[name].kind)
    return functools.partial(_function(name), *arrays, mask, is_causal=setting.mask == "causal")


def _function(name: str) -> Callable[..., Any]:
    if name == REFERENCE:
        import torch

        return torch.nn.functional.scaled_dot_product_attention
    return functools.partial(scaled_dot_product_attention, backend=name)


# Inputs ------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def inputs(setting: Setting) -> list[np.ndarray]:
    """Query, key, value and a gradient for the output, normally distributed."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(setting.shape, dtype=np.float32) for _ in range(4)]
    return [x.astype(np.float64) for x in arrays] if setting.dtype == "float64" else arrays


@functools.lru_cache(maxsize=1)
def mask_of(setting: Setting) -> np.ndarray | None:
    """What hides scores or is added to them; "full" and "causal" need none."""
    batch, _, n, _ = setting.shape
    rng = np.random.default_rng(1)
    if setting.mask == "bool":
        return rng.random((n, n), dtype=np.float32) < 0.7
    if setting.mask == "float":
        return rng.standard_normal((n, n), dtype=np.float32)
    if setting.mask.startswith("padding-"):
        kept = round(n * (1 - int(setting.mask.removeprefix("padding-")) / 100))
        return np.broadcast_to(np.arange(n) < kept, (batch, 1, 1, n)).copy()
    return None


def given(setting: Setting, kind: str) -> tuple[list[Any], Any]:
    """Query, key and value as arrays or tensors, and the mask."""
    arrays, mask = inputs(setting)[:3], mask_of(setting)
    if kind == "numpy":
        return arrays, mask
    return [_tensor(x, setting.dtype) for x in arrays], None if mask is None else _tensor(mask, setting.dtype)


def _tensor(array: np.ndarray, dtype: str) -> Any:
    import torch

    tensor = torch.from_numpy(array)
    return tensor if tensor.dtype == torch.bool else tensor.to(getattr(torch, dtype))


# Calls that take more -------------------------------------------------------------------------------------------


def _jax_call(setting: Setting) -> Call:
    import jax  # pyright: ignore[reportMissingImports]

    # JAX wants (batch, length, heads, features).
    arrays = [
        jax.numpy.asarray(x.swapaxes(1, 2), dtype=getattr(jax.numpy, setting.dtype))
        for x in inputs(setting)[:3]
    ]
    given = mask_of(setting)
    options: dict[str, Any] = {"is_causal": setting.mask == "causal"}
    if given is not None:
        given = given.reshape((1,) * (4 - given.ndim) + given.shape)
        options["mask" if given.dtype == bool else "bias"] = jax.numpy.asarray(given)
    attend = jax.jit(lambda *qkv: jax.nn.dot_product_attention(*qkv, **options))
    return lambda: attend(*arrays).block_until_ready()


def _by_autograd(name: str, setting: Setting) -> Call:
    import torch

    arrays, mask = given(setting, "torch")
    leaves = [x.requires_grad_() for x in arrays]
    grad = _tensor(inputs(setting)[3], setting.dtype)
    output = _function(name)(*leaves, mask, is_causal=setting.mask == "causal")
    return lambda: torch.autograd.grad(output, leaves, grad, retain_graph=True)


def _own_backward(name: str, setting: Setting) -> Call:
    """Of a backend in NumPy, which has no autograd."""
    module = importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")
    *arrays, grad = inputs(setting)
    rule = Rule(mask_of(setting), setting.mask == "causal", 1 / math.sqrt(setting.shape[-1]))
    head = Head(*arrays)
    whole = module.attention_forward(head, rule)
    return lambda: module.attention_backward(head, rule, False, whole, grad)
