"""Lesson 05, masking: experiments that return data. `figures` draws it.

torch is imported where an experiment needs it. Implementations of attention that are tried out here take
(Q, K, V) and give the output; they are written as people write them, mistakes included.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from sdpa_helpers.attention import causal_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.course.needs import needs

if TYPE_CHECKING:
    import torch

    Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]

# Masks and what is done with them -----------------------------------------------------------------------------


def sliding_window_mask(n: int, window: int) -> Bool[Array, "n n"]:
    """Query i sees itself and the window − 1 keys before it."""
    distance = np.arange(n)[:, None] - np.arange(n)
    return (distance >= 0) & (distance < window)


def row_by_misuse(
    scores: Float[Array, "n_q n_k"], mask: Bool[Array, "n_q n_k"]
) -> dict[str, Float[Array, "n_q n_k"]]:
    """Weights of every query when one mask is used rightly, and in six wrong ways that raise no error."""
    return {
        "right": softmax(np.where(mask, scores, -np.inf)),
        "inverted": softmax(np.where(mask, -np.inf, scores)),
        "0/1 added": softmax(scores + mask),
        "0/1 multiplied": softmax(scores * mask),
        "zeroed after": softmax(scores) * mask,
        "fill −1e-9": softmax(np.where(mask, scores, -1e-9)),
        "fill −10": softmax(np.where(mask, scores, -10.0)),
    }


class Padded(NamedTuple):
    alone: Float[Array, "length d_v"]
    unmasked: Float[Array, "length d_v"]
    masked: Float[Array, "length d_v"]
    weight_on_padding: float


def pad_and_compare(
    Q: Float[Array, "length d_k"], K: Float[Array, "length d_k"], V: Float[Array, "length d_v"], extra: int
) -> Padded:
    """A short sequence by itself, and padded with `extra` zero vectors, without a padding mask and with one."""
    length = len(K)
    pad = ((0, extra), (0, 0))
    long_Q, long_K, long_V = (np.pad(x, pad) for x in (Q, K, V))
    real = np.arange(length + extra) < length
    unmasked, weights = scaled_dot_product_attention(long_Q, long_K, long_V, return_weights=True)
    masked = scaled_dot_product_attention(long_Q, long_K, long_V, attn_mask=real[None, :])
    return Padded(
        scaled_dot_product_attention(Q, K, V),
        unmasked[:length],
        masked[:length],
        float(weights[:length, length:].sum(axis=-1).mean()),
    )


# torch's fused call and the dtype of a mask -----------------------------------------------------------------


def future_weight(weights: Any) -> float:
    """The weight that query 0 puts on keys after its own."""
    return float(weights[0, 1:].sum())


@needs("torch")
def what_the_fused_call_does(
    Q: Float[Array, "n d_k"], K: Float[Array, "n d_k"], mask: Bool[Array, "n n"]
) -> dict[str, float | str]:
    """Hand torch's fused call one causal mask in several dtypes: the weight on the future, or the error."""
    import torch
    import torch.nn.functional as F

    dtypes = ("bool", "int64", "int32", "uint8", "float64", "float32")
    q, k = (torch.from_numpy(x).float() for x in (Q, K))
    identity = torch.eye(len(K))  # values that are unit vectors: the output then shows the weights
    found: dict[str, float | str] = {}
    for name in dtypes:
        try:
            attn_mask = torch.from_numpy(mask).to(getattr(torch, name))
            found[name] = future_weight(F.scaled_dot_product_attention(q, k, identity, attn_mask=attn_mask))
        except RuntimeError as error:
            found[name] = type(error).__name__
    return found


class Same(NamedTuple):
    boolean: float
    float_mask: float
    future: float
    lowest: float
    highest: float


@needs("torch")
def fused_against_manual(n: int = 8, d: int = 16, draws: int = 200, seed: int = 5) -> Same:
    """The hand-written masked_fill(mask == 0, −inf) against the fused call with the same mask.

    Largest difference over all draws with a boolean mask, and with float 0/1; then what the float mask lets query 0
    put on the future: mean, 2.5% and 97.5% of the draws.
    """
    import torch
    import torch.nn.functional as F

    rng = np.random.default_rng(seed)
    # Four axes: then torch may take its fused kernel, not only the plain one.
    Q, K, V = (torch.from_numpy(rng.normal(size=(draws, 1, n, d))).float() for _ in range(3))
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    scores = Q @ K.mT / d**0.5
    manual = torch.softmax(scores.masked_fill(mask == 0, -torch.inf), dim=-1) @ V

    def difference(attn_mask: Any) -> float:
        return float((F.scaled_dot_product_attention(Q, K, V, attn_mask=attn_mask) - manual).abs().max())

    eye = torch.eye(n).expand(draws, 1, n, n)
    leaked = F.scaled_dot_product_attention(Q, K, eye, attn_mask=mask.float())[:, 0, 0, 1:].sum(-1).numpy()
    low, high = np.quantile(leaked, [0.025, 0.975])
    return Same(difference(mask), difference(mask.float()), float(leaked.mean()), float(low), float(high))


# Rows that see nothing --------------------------------------------------------------------------------------


def left_padding_mask(n: int, padding: int) -> Bool[Array, "n n"]:
    """Causal, and the first `padding` tokens are padding: their rows see nothing."""
    return causal_mask(n) & (np.arange(n) >= padding)


@needs("torch")
def ways_to_mask(mask: Any) -> "dict[str, Attend]":
    """Attention in torch, masked in seven ways. `mask` is a boolean tensor, True = may attend."""
    import torch
    import torch.nn.functional as F

    def scores(Q: Any, K: Any) -> Any:
        return Q @ K.mT / Q.shape[-1] ** 0.5

    def filled(Q: Any, K: Any, number: float) -> Any:
        return torch.softmax(scores(Q, K).masked_fill(~mask, number), dim=-1)

    def added(Q: Any, K: Any) -> Any:
        return torch.softmax(scores(Q, K) + torch.where(mask, 0.0, -torch.inf), dim=-1)

    return {
        "fill −inf": lambda Q, K, V: filled(Q, K, -torch.inf) @ V,
        "add −inf": lambda Q, K, V: added(Q, K) @ V,
        "fill −1e9": lambda Q, K, V: filled(Q, K, -1e9) @ V,
        "fill −inf, nan_to_num": lambda Q, K, V: torch.nan_to_num(filled(Q, K, -torch.inf)) @ V,
        "add −inf, nan_to_num": lambda Q, K, V: torch.nan_to_num(added(Q, K)) @ V,
        "F.sdpa": lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V, attn_mask=mask),
        "this package": lambda Q, K, V: scaled_dot_product_attention(Q, K, V, attn_mask=mask),
    }


class MultiHead(NamedTuple):
    nan_in_output: bool
    nan_elsewhere: bool
    parameters_finite: bool


@needs("torch")
def multihead_with_an_empty_sequence(need_weights: bool) -> MultiHead:
    """nn.MultiheadAttention, a batch of two, the second all padding; the loss uses the first sequence only."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = torch.nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 5, 4))).float()
    blocked = torch.tensor([[False] * 5, [True] * 5])
    output, _ = layer(x, x, x, key_padding_mask=blocked, need_weights=need_weights)
    output[0].sum().backward()
    finite = all(bool(p.grad.isfinite().all()) for p in layer.parameters() if p.grad is not None)
    return MultiHead(bool(output[1].isnan().any()), bool(output[0].isnan().any()), finite)


@needs("torch")
def gradient_of_a_hidden_query(fill: float, n: int = 64) -> dict[str, float]:
    """How long the gradient of a query is that gets `fill` added to each of its n scores.

    In torch's plain formula in float64, in torch's fused call in float32, and in this package.
    """
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    rng = np.random.default_rng(0)
    arrays = [torch.from_numpy(rng.normal(size=(1, 1, n, 8))).float() for _ in "qkv"]
    mask = torch.zeros(n, n)
    mask[2] = fill

    def size(attend: Callable[..., Any], dtype: torch.dtype) -> float:
        query, key, value = (x.to(dtype, copy=True) for x in arrays)
        query.requires_grad_()
        attend(query, key, value, mask.to(dtype)).sum().backward()
        assert query.grad is not None
        return query.grad[0, 0, 2].norm().item()

    with sdpa_kernel(SDPBackend.MATH):
        exact = size(F.scaled_dot_product_attention, torch.float64)
    return {
        "float64": exact,
        "F.sdpa": size(F.scaled_dot_product_attention, torch.float32),
        "this package": size(scaled_dot_product_attention, torch.float32),
    }


# NaN behind a mask ------------------------------------------------------------------------------------------


@needs("torch")
def nan_behind_a_mask(
    Q: Float[Array, "n d_k"], K: Float[Array, "n d_k"], V: Float[Array, "n d_v"]
) -> dict[str, dict[str, bool]]:
    """Put NaN in the last key, or the last value, which a padding mask hides from every query.

    Whether any output is NaN, for torch's fused call (two axes: its plain kernel) and every backend of the package.
    """
    import torch
    import torch.nn.functional as F

    mask = np.arange(len(K))[None, :] < len(K) - 1

    def fused(Q: Array, K: Array, V: Array) -> Array:
        tensors = (torch.from_numpy(x) for x in (Q, K, V))
        return F.scaled_dot_product_attention(*tensors, attn_mask=torch.from_numpy(mask)).numpy()

    def ours(backend: str) -> Callable[[Array, Array, Array], Array]:
        return lambda Q, K, V: scaled_dot_product_attention(Q, K, V, attn_mask=mask, backend=backend)

    spoiled_K, spoiled_V = K.copy(), V.copy()
    spoiled_K[-1], spoiled_V[-1] = np.nan, np.nan
    callers = {"F.sdpa": fused} | {f"backend {name!r}": ours(name) for name in ("numpy", "torch")}
    with np.errstate(invalid="ignore"):
        return {
            name: {
                "key": bool(np.isnan(call(Q, spoiled_K, V)).any()),
                "value": bool(np.isnan(call(Q, K, spoiled_V)).any()),
            }
            for name, call in callers.items()
        }


# Leaks ------------------------------------------------------------------------------------------------------


def planted(n: int, library: Any = np) -> dict[str, Callable[..., Any]]:
    """A right causal attention and seven with a bug, for arrays, or for tensors where `library` is torch."""

    def table(cells: Array) -> Any:
        return library.asarray(cells.astype(bool))

    past = table(np.tri(n))

    def weights(Q: Any, K: Any) -> Any:
        return softmax(Q @ K.mT / Q.shape[-1] ** 0.5)

    def fill(number: float, mask: Any = past) -> Callable[..., Any]:
        def attend(Q: Any, K: Any, V: Any) -> Any:
            return softmax(library.where(mask, Q @ K.mT / Q.shape[-1] ** 0.5, number)) @ V

        return attend

    def detached(weights: Any) -> Any:
        return weights if library is np else weights.detach()

    return {
        "right": fill(-np.inf),
        "one step too far": fill(-np.inf, table(np.tri(n, k=1))),
        "inverted": fill(-np.inf, table(1 - np.tri(n, k=-1))),
        "0/1 added": lambda Q, K, V: softmax(Q @ K.mT / Q.shape[-1] ** 0.5 + past) @ V,
        "fill −10": fill(-10.0),
        "fill −100": fill(-100.0),
        "zeroed after softmax": lambda Q, K, V: weights(Q, K) * past @ V,
        "zeroed, weights detached": lambda Q, K, V: detached(weights(Q, K)) * past @ V,
    }


def influence_by_moving(
    attend: Callable[..., Array],
    Q: Float[Array, "n d_k"],
    K: Float[Array, "n d_k"],
    V: Float[Array, "n d_v"],
    part: str,
) -> Float[Array, "n n"]:
    """How far output i moves when 1 is added to key j or to value j (`part`)."""
    before, columns = attend(Q, K, V), []
    for j in range(len(K)):
        K2, V2 = K.copy(), V.copy()
        (K2 if part == "key" else V2)[j] += 1.0
        columns.append(np.abs(attend(Q, K2, V2) - before).max(axis=-1))
    return np.stack(columns, axis=-1)


@needs("torch")
def influence_by_gradient(
    attend: "Attend", Q: Float[Array, "n d_k"], K: Float[Array, "n d_k"], V: Float[Array, "n d_v"], part: str
) -> Float[Array, "n n"]:
    """The largest derivative of output i by key j or value j (`part`); 0 where autograd sees no path."""
    import torch

    q = torch.from_numpy(Q)
    k, v = (torch.from_numpy(x).requires_grad_() for x in (K, V))
    output = attend(q, k, v)
    wanted = k if part == "key" else v
    rows = []
    for row in output:
        largest = torch.zeros(len(K), dtype=wanted.dtype)
        for number in row:
            (slope,) = torch.autograd.grad(number, wanted, retain_graph=True, allow_unused=True)
            largest = largest if slope is None else torch.maximum(largest, slope.abs().amax(dim=-1))
        rows.append(largest)
    return torch.stack(rows).numpy()


def has_leak(influence: Float[Array, "n n"]) -> bool:
    """Whether anything above the diagonal is not exactly zero."""
    return bool((np.triu(influence, k=1) != 0).any())


DETECTORS: Mapping[str, str] = {
    "move value": "value",
    "move key": "key",
    "gradient value": "value",
    "gradient key": "key",
}
"""What each one moves, or differentiates by."""


@needs("torch")
def detect(
    Q: Float[Array, "n d_k"], K: Float[Array, "n d_k"], V: Float[Array, "n d_v"]
) -> dict[str, dict[str, bool]]:
    """Every planted attention through every detector: whether a leak is found."""
    import torch

    in_numpy, in_torch = planted(len(Q)), planted(len(Q), torch)

    def influence(bug: str, detector: str) -> Float[Array, "n n"]:
        part = DETECTORS[detector]
        if detector.startswith("move"):
            return influence_by_moving(in_numpy[bug], Q, K, V, part)
        return influence_by_gradient(in_torch[bug], Q, K, V, part)

    return {bug: {name: has_leak(influence(bug, name)) for name in DETECTORS} for bug in in_numpy}
