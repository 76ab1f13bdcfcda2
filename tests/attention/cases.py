"""Random calls, a reference that shares no code with the package, and the way to a backend and back."""

from dataclasses import dataclass, replace
from math import exp, fsum, inf, sqrt

import numpy as np
from hypothesis import strategies as st

from sdpa_helpers.attention import scaled_dot_product_attention

KINDS_AND_DTYPES = [
    *(("numpy", dtype) for dtype in ("float16", "float32", "float64")),
    *(("torch", dtype) for dtype in ("float16", "bfloat16", "float32", "float64")),
]
ROUNDS_WEIGHTS = ("torch-fused", "triton")  # to half precision, where the arrays have it
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Case:
    """The arguments of one call, as float64 arrays."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    attn_mask: np.ndarray | None = None
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False

    @property
    def arrays(self) -> list[np.ndarray]:
        return [self.query, self.key, self.value]

    @property
    def options(self) -> dict:
        return {"is_causal": self.is_causal, "scale": self.scale, "enable_gqa": self.enable_gqa}


def make(*lead, n_q=5, n_k=6, d_k=3, d_v=2, seed=0, **options) -> Case:
    """A case whose arrays all have these leading dimensions."""
    rng = np.random.default_rng(seed)
    shapes = [(*lead, n_q, d_k), (*lead, n_k, d_k), (*lead, n_k, d_v)]
    return Case(*(rng.standard_normal(shape) for shape in shapes), **options)


def thinned(draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: some dimensions 1, some of the first ones absent."""
    shape = tuple(1 if draw(st.integers(0, 3)) == 0 else size for size in shape)
    return shape[draw(st.integers(0, len(shape))) :] if draw(st.booleans()) else shape


@st.composite
def cases(draw, max_lead=3, with_mask=True) -> Case:
    """2-D to 5-D calls with every option; lengths from 0; d_k, d_v, n_q and n_k independent."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lead = tuple(draw(st.lists(st.integers(1, 3), max_size=max_lead)))
    n_q, n_k = draw(st.integers(0, 5)), draw(st.integers(0, 6))
    d_k, d_v = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    spread = draw(st.sampled_from([0.1, 1.0, 5.0]))

    enable_gqa = bool(lead) and draw(st.booleans())
    if enable_gqa:
        batch, heads = lead[:-1], draw(st.sampled_from([2, 4, 6]))
        lead = (*batch, heads)
        divisors = st.sampled_from([n for n in range(1, heads + 1) if heads % n == 0])
        leads = [lead, *((*thinned(draw, batch), draw(divisors)) for _ in "kv")]
    else:
        leads = [thinned(draw, lead) for _ in "qkv"]
        lead = np.broadcast_shapes(*leads)

    mask = None
    which = draw(st.sampled_from([None, "bool", "float"])) if with_mask else None
    if which is not None:
        shape = thinned(draw, (*lead, n_q, n_k))
        allowed = rng.random(shape) < draw(st.sampled_from([0.2, 0.7, 1.0]))
        mask = np.asarray(allowed if which == "bool" else np.where(allowed, rng.standard_normal(shape), -inf))
    return Case(
        rng.standard_normal((*leads[0], n_q, d_k)) * spread,
        rng.standard_normal((*leads[1], n_k, d_k)),
        rng.standard_normal((*leads[2], n_k, d_v)) + 1,
        mask,
        is_causal=draw(st.booleans()),
        scale=draw(st.sampled_from([None, None, 0.0, 0.3, -1.5])),
        enable_gqa=enable_gqa,
    )


def reference(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Output and weights, one number at a time."""
    query, key, value = case.arrays
    if case.enable_gqa:
        heads = query.shape[-3]
        key, value = (
            np.stack([x[..., h * x.shape[-3] // heads, :, :] for h in range(heads)], axis=-3)
            for x in (key, value)
        )
    lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value))
    (n_q, d_k), (n_k, d_v) = query.shape[-2:], value.shape[-2:]
    mask = np.ones((n_q, n_k), dtype=bool) if case.attn_mask is None else case.attn_mask
    mask = np.broadcast_to(mask, (*lead, n_q, n_k))
    scale = 1 / sqrt(d_k) if case.scale is None else case.scale

    output, weights = np.zeros((*lead, n_q, d_v)), np.zeros((*lead, n_q, n_k))
    for at in np.ndindex(*lead, n_q):
        head, i = at[:-1], at[-1]
        scores = {}
        numbers, keys, values = query[at].tolist(), key[head].tolist(), value[head].tolist()
        for j in range(n_k):
            score = scale * fsum(a * b for a, b in zip(numbers, keys[j], strict=True))
            hidden = (case.is_causal and j > i) or (mask.dtype == bool and not mask[(*at, j)])
            score += 0.0 if mask.dtype == bool else float(mask[(*at, j)])
            if not hidden and score != -inf:
                scores[j] = score
        if scores:
            largest = max(scores.values())
            total = fsum(exp(score - largest) for score in scores.values())
            shares = {j: exp(score - largest) / total for j, score in scores.items()}
            for j, share in shares.items():
                weights[(*at, j)] = share
            for c in range(d_v):
                output[(*at, c)] = fsum(share * values[j][c] for j, share in shares.items())
    return output, weights


def to_kind(array: np.ndarray, kind: str, dtype: str):
    """An array of that kind and dtype; boolean masks stay boolean."""
    if kind == "numpy":
        return array.copy() if array.dtype == bool else array.astype(dtype)
    import torch

    tensor = torch.tensor(array)
    return tensor if array.dtype == bool else tensor.to(getattr(torch, dtype))


def to_float64(array) -> np.ndarray:
    return (
        array.astype(np.float64) if isinstance(array, np.ndarray) else array.detach().cpu().double().numpy()
    )


def rounded(case: Case, kind: str, dtype: str) -> Case:
    """The case that a backend gets to see once its arrays are of that dtype."""
    query, key, value = (to_float64(to_kind(x, kind, dtype)) for x in case.arrays)
    mask = case.attn_mask
    if mask is not None and mask.dtype != bool:
        mask = to_float64(to_kind(mask, kind, dtype))
    return replace(case, query=query, key=key, value=value, attn_mask=mask)


def call(case: Case, backend: str, kind: str, dtype: str = "float64", **options):
    """(output, weights) of the package as they come, in the kind and dtype asked for.

    From two calls: a backend that never has the weights leaves the second to the formula.
    """
    mask = None if case.attn_mask is None else to_kind(case.attn_mask, kind, dtype)

    def attend(**more):
        arrays = (to_kind(x, kind, dtype) for x in case.arrays)
        return scaled_dot_product_attention(
            *arrays, attn_mask=mask, backend=backend, **case.options, **options, **more
        )

    return attend(), attend(return_weights=True)[1]


def assert_matches(case: Case, backend: str, kind: str, dtype: str = "float64") -> None:
    """The backend's answer is the reference's, to what the dtype can hold."""
    case = rounded(case, kind, dtype)
    answers = call(case, backend, kind, dtype)
    half = EPS[dtype] > EPS["float32"]
    for name, answer, expected in zip(("output", "weights"), answers, reference(case), strict=True):
        assert str(answer.dtype).removeprefix("torch.") == dtype
        assert tuple(answer.shape) == expected.shape, name
        # Half precision is computed in float32, so that only the last rounding is its own.
        computing = max(EPS["float64"], min(EPS[dtype], EPS["float32"])) * 64
        if backend in ROUNDS_WEIGHTS and half:  # it rounds the weights to half precision on their way
            computing = EPS[dtype] * float(np.abs(case.value).max())
        np.testing.assert_allclose(
            to_float64(answer), expected, rtol=EPS[dtype] + computing, atol=computing, err_msg=name
        )
