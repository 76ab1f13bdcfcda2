"""What the public call costs above its arithmetic: tiny calls, beside the plain formula written in place.

    python benchmarks/tiny_calls.py        writes benchmarks/results/tiny_calls.json

One thread, CPU time. In each round all take their turn, many calls each; what counts is the median of the rounds'
differences. tests/attention/test_small_calls.py counts what such a call asks of the system: nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.bench import facts
from sdpa_helpers.bench.rounds import Call, Pace, cpu_clock, interleaved

SHAPES = [(8, 16), (2, 4, 8, 16)]
ROUNDS = 101
FORMULA = "the formula"


def numpy_formula(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Vaswani et al. 2017, equation 1, with the largest score subtracted."""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def torch_formula(query: Any, key: Any, value: Any) -> Any:
    """The same, with torch's own softmax."""
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1) @ value


def calls_of(kind: str, shape: tuple[int, ...]) -> dict[str, Call]:
    """The formula, "auto" with and without more arguments, each backend, and torch's own call."""
    arrays: list[Any] = list(np.random.default_rng(0).standard_normal((3, *shape), dtype=np.float32))
    formula = numpy_formula
    if kind == "torch":
        import torch

        arrays, formula = [torch.from_numpy(x) for x in arrays], torch_formula
    calls: dict[str, Call] = {FORMULA: lambda: formula(*arrays)}
    if kind == "torch":
        calls["F.sdpa"] = lambda: torch.nn.functional.scaled_dot_product_attention(*arrays)
    calls["auto"] = lambda: scaled_dot_product_attention(*arrays)
    calls["auto, is_causal"] = lambda: scaled_dot_product_attention(*arrays, is_causal=True)
    calls["auto, return_lse"] = lambda: scaled_dot_product_attention(*arrays, return_lse=True)
    for name in {"numpy": ("numpy", "numpy-tiled"), "torch": ("torch", "torch-fused")}[kind]:
        assert BACKENDS[name].kind == kind
        calls[name] = lambda name=name: scaled_dot_product_attention(*arrays, backend=name)
    return calls


def measure() -> list[dict[str, Any]]:
    """Microseconds of each call, and above the formula."""
    lines = []
    for kind in ("numpy", "torch"):
        for shape in SHAPES:
            times = interleaved(calls_of(kind, shape), Pace(ROUNDS, seconds=10, clock=cpu_clock()))
            for name, found in times.items():
                above = [(x - y) * 1e6 for x, y in zip(found, times[FORMULA], strict=True)]
                low, median, high = statistics.quantiles(above, n=4)
                lines.append({"kind": kind, "shape": shape, "call": name})
                lines[-1]["microseconds"] = round(statistics.median(found) * 1e6, 1)
                lines[-1] |= {"above_formula": round(median, 1), "quartiles": [round(low, 1), round(high, 1)]}
                print(
                    f"{kind:<6} {shape!s:<13} {name:<17}{lines[-1]['microseconds']:8.1f} µs, "
                    f"{median:7.1f} above the formula ({low:.1f} … {high:.1f})",
                    flush=True,
                )
    return lines


def main() -> None:
    """In a process with one thread."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        subprocess.run([sys.executable, __file__], env=facts.environment_for(1), check=True)
        return
    before = facts.load()
    result = facts.of_this_machine() | {
        "command": "python benchmarks/tiny_calls.py",
        "meaning": "CPU time of a call in microseconds, median of the rounds; above_formula: of their differences",
        "rounds": ROUNDS,
        "results": measure(),
        "load_before": before,
        "load_after": facts.load(),
    }
    target = Path(__file__).parent / "results" / "tiny_calls.json"
    target.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
