"""Claims that lesson 06 runs: what attention costs. Counted and stored quantities only; no timing happens here."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np

from sdpa_helpers.attention import scaled_dot_product_attention, softmax
from sdpa_helpers.course import counted
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.complexity import attention_ways, counting, experiments


def _normal(*shapes: tuple[int, ...], seed: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def _count(function: Callable, *arrays: np.ndarray) -> Counter:
    return counted.count_operations(function, *arrays)[1]


# What the computations share ------------------------------------------------------------------------------------


@cache
def _steps() -> dict[str, Counter]:
    """Operations of the three steps and of the whole, for sizes that all differ."""
    Q, K, V = _normal((4, 3), (5, 3), (5, 2))
    return {
        "scores": _count(lambda q, k: q @ k.T, Q, K),
        "softmax": _count(lambda s: attention_ways.textbook_weights(s, 3), Q @ K.T),
        "output": _count(lambda a, v: a @ v, softmax(Q @ K.T), V),
        "output, d_v = d_k": _count(lambda a, v: a @ v, softmax(Q @ K.T), K),
        "textbook": _count(attention_ways.textbook, Q, K, V),
        "in chunks": _count(lambda q, k, v: attention_ways.in_chunks(q, k, v, 3), Q, K, V),
    }


@cache
def _peaks() -> dict[str, float]:
    """Peak memory of the formula as written, in matrices, and how it grows with n."""
    sizes = (512, 1024)
    peaks = [counted.peak_bytes(attention_ways.textbook, *_normal(*[(n, 64)] * 3)) for n in sizes]
    return {
        "textbook_exponent": float(np.log2(peaks[1] / peaks[0])),
        "textbook_matrices": peaks[1] / (8 * sizes[1] ** 2),
    }


# One function per claim -----------------------------------------------------------------------------------------


def _doubling() -> Numbers:
    short, long = (_count(attention_ways.textbook, *_normal(*[(n, 3)] * 3))["multiply"] for n in (5, 10))
    return {"short": short, "long": long, "factor": long / short}


def _three_terms() -> Numbers:
    steps = _steps()
    return {
        "scores": steps["scores"]["multiply"] / (4 * 5 * 3),
        "softmax": steps["softmax"]["exp"] / (4 * 5),
        "output": steps["output"]["multiply"] / (4 * 5 * 2),
    }


def _sixteen_million() -> Numbers:
    return {"head": 4096**2, "layer": 4096**2 * 96, "flops": 4 * 128}


def _shares() -> Numbers:
    def share(n: int, d_model: int) -> float:
        return float(counting.layer_flops(n, d_model).share)

    return {
        "small": share(4096, 768),
        "large": share(4096, 12288),
        "very_long": share(131_072, 12288),
        "crossover": _first_length(lambda n: share(n, 12288) >= 0.5),
    }


def _first_length(holds: Callable[[int], bool]) -> int:
    """The shortest sequence for which something holds that holds for all longer ones too."""
    low, high = 0, 1 << 20
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _output_shape() -> Numbers:
    Q, K, V = _normal((2, 3, 4, 7), (2, 3, 4, 7), (2, 3, 4, 5))
    out, same = scaled_dot_product_attention(Q, K, V), scaled_dot_product_attention(Q, K, K)
    return {"d_k": 7, "d_v": 5, "same_width": same.shape[-1], "last_axis": out.shape[-1]}


def _growth() -> Numbers:
    def total(n: int) -> float:
        return float(sum(counting.layer_flops(n, 768)))

    return {"short": total(200) / total(100), "long": total(2_000_000) / total(1_000_000)}


def _batched_shapes() -> Numbers:
    Q, K, V = _normal((6, 4, 3), (6, 4, 3), (6, 4, 2))
    out, weights = scaled_dot_product_attention(Q, K, V, return_weights=True)
    scores = Q @ np.swapaxes(K, -1, -2)
    return {"fit": (scores.shape, weights.shape, out.shape) == ((6, 4, 4), (6, 4, 4), (6, 4, 2))}


def _projections() -> Numbers:
    def share(n: int) -> float:
        flops = counting.layer_flops(n, 768)
        return float(flops.projections / (flops.projections + flops.attention))

    return {"share": share(512), "crossover": _first_length(lambda n: share(n) <= 0.5)}


def _chunks() -> Numbers:
    Q, K, V = _normal((7, 3), (9, 3), (9, 2))
    truth = scaled_dot_product_attention(Q, K, V)

    def error(out: np.ndarray) -> float:
        return float(np.abs(out - truth).max().round(12))

    return {
        "queries": error(attention_ways.in_chunks(Q, K, V, 2)),
        "keys_rescaled": error(attention_ways.attend_key_blocks(Q, K, V, 2, rescaled=True)),
        "keys_averaged": error(attention_ways.attend_key_blocks(Q, K, V, 2, rescaled=False)),
    }


def _parallel() -> Numbers:
    (x,) = _normal((6, 3))
    at_once = scaled_dot_product_attention(x, x, x, is_causal=True)
    in_turn = [scaled_dot_product_attention(x[[i]], x[: i + 1], x[: i + 1])[0] for i in range(6)]
    return {"difference": float(np.abs(at_once - np.array(in_turn)).max().round(12)), "steps": len(in_turn)}


def _dispatcher() -> Numbers:
    def flash(**options: float) -> bool:
        return any("flash" in name for name in experiments.which_kernel(**options))

    import torch

    x = torch.ones(1, 1, 2, 3)
    out = torch.nn.functional.scaled_dot_product_attention(x, x, x)
    return {
        "flash_plain": flash(),
        "flash_with_dropout": flash(dropout_p=0.1),
        "returned": 1 if isinstance(out, torch.Tensor) else len(out),
    }


def _second_product() -> Numbers:
    steps = _steps()
    return {"ratio": steps["output, d_v = d_k"]["multiply"] / steps["scores"]["multiply"]}


def _matrix() -> Numbers:
    matrix = 4096**2 * 4
    return {"bytes": matrix, "mib": matrix / 2**20, "mb": matrix / 1e6}


def _all_layers() -> Numbers:
    total = 4096**2 * 4 * 96 * 96
    return {"gb": total / 1e9, "gib": total / 2**30, "mixed": 64e6 * 96 * 96 / 1e9, "half": total / 2e9}


def _one_layer() -> Numbers:
    held = counting.readings()
    kept, layer = held["n = 4096, all layers kept"], held["one layer at a time"]
    return {"kept": kept / 1e9, "layer": layer / 1e9, "ratio": kept / layer}


CLAIMS = claims_of(
    "06_complexity",
    {
        22: _doubling,
        95: _three_terms,
        96: _sixteen_million,
        97: _shares,
        108: _output_shape,
        110: _growth,
        123: _batched_shapes,
        125: lambda: dict(_projections()) | dict(_three_terms()),
        132: _chunks,
        134: _parallel,
        153: _dispatcher,
        154: _second_product,
        155: _peaks,
        156: lambda: {"stated": 4096, "first": 8192, "second": 32768},
        157: _matrix,
        158: _all_layers,
        159: lambda: {"context": 2048, "gb": counting.readings()["… with n = 2048"] / 1e9},
        160: _one_layer,
    },
)
