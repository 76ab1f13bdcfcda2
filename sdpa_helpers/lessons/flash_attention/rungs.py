"""Lesson 07: the rungs of the ladder, each timed and weighed in one small process that starts for it.

    python -m sdpa_helpers.lessons.flash_attention.rungs 256,512 64

is that process: it prints JSON. There torch has one thread, and large arrays come straight from the system, so that
the peak which the system reports is the rung's own.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import backends, scaled_dot_product_attention
from sdpa_helpers.course.needs import needs

FORMULA, TILED, NUMBA, FUSED, TRITON = "formula", "tiled NumPy", "Numba", "torch's fused call", "Triton"
BACKENDS = {TILED: "numpy-tiled", NUMBA: "numba", FUSED: "torch-fused"}
"""The rungs that run on a processor, beside the formula; Triton's needs a GPU."""

WHY_NOT = {
    NUMBA: 'Numba is not installed: pip install -e ".[fast]"',
    FUSED: "torch is not installed",
    TRITON: "no NVIDIA GPU with Triton here",
}

_ALONE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

REPEATS = 5
PIECE = 256  # rows and columns of scores whose exponentials are timed at once


class Climb(NamedTuple):
    """What was measured: one head, float32 (Triton: float16)."""

    sizes: Array
    seconds: Mapping[str, Float[Array, "sizes repeats"]]
    """By rung, from the formula up."""
    mib: Mapping[str, Float[Array, "sizes"]]
    """Peak memory beyond the inputs; NaN where it cannot be read."""
    exp_seconds: Float[Array, "repeats"]
    """NumPy's exp alone, of all scores of the longest sequence."""

    @property
    def missing(self) -> Mapping[str, str]:
        """The rungs that were not measured, and why."""
        return {rung: why for rung, why in WHY_NOT.items() if rung not in self.seconds}

    def times_as_fast(self, rung: str, than: str = FORMULA) -> tuple[float, float, float]:
        """At the longest sequence: the ratio of the medians, and its range over the repeats."""
        slow, fast = self.seconds[than][-1], self.seconds[rung][-1]
        return float(np.median(slow) / np.median(fast)), slow.min() / fast.max(), slow.max() / fast.min()


@needs("processes")
def climb(sizes: Sequence[int] = (512, 1024, 2048, 4096), d: int = 64) -> Climb:
    """Time and peak memory of every rung that this machine has, one head, no mask."""
    command = [sys.executable, "-m", __name__, ",".join(map(str, sizes)), str(d)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **_ALONE})
    return _climb(sizes, json.loads(done.stdout))


def _climb(sizes: Sequence[int], found: Mapping[str, Any]) -> Climb:
    seconds = {rung: np.array(rows) for rung, rows in found["seconds"].items()}
    mib = {rung: np.array(row, dtype=float) for rung, row in found["mib"].items()}
    return Climb(np.array(sizes), seconds, mib, np.array(found["exp_seconds"]))


# In the process of its own ----------------------------------------------------------------------------------


def formula(Q: Array, K: Array, V: Array) -> Array:
    """Attention as one writes it down: every score stored."""
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def _ways() -> dict[str, Callable[..., Any]]:
    def on(backend: str) -> Callable[..., Any]:
        return lambda *arrays: scaled_dot_product_attention(*arrays, backend=backend)

    here = backends()
    return {FORMULA: formula} | {rung: on(name) for rung, name in BACKENDS.items() if name in here}


def _inputs(n: int, d: int) -> list[Array]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal((n, d), dtype=np.float32) for _ in range(3)]


def _seconds(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    call()
    return max(clock() - start, 1e-9)


def _time(way: Callable[..., Any], arrays: Sequence[Array]) -> float:
    """Seconds a call; short calls are timed several at once."""
    several = max(1, (1024 // len(arrays[0])) ** 2)
    return _seconds(lambda: [way(*arrays) for _ in range(several)]) / several


def _resident(name: str) -> float:
    """VmRSS (now) or VmHWM (the peak) in MiB, from Linux; NaN elsewhere."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return float("nan")


def _peak(call: Callable[[], Any]) -> float:
    """MiB that a call added to this process at its highest point."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from now
    before = _resident("VmRSS")
    call()
    return _resident("VmHWM") - before


def _exp_alone(n: int) -> list[float]:
    """NumPy's exp of n² scores, a cached piece at a time."""
    piece = -np.abs(np.random.default_rng(0).standard_normal((PIECE, PIECE), dtype=np.float32))
    out, pieces = np.empty_like(piece), (n // PIECE) ** 2
    return [_seconds(lambda: [np.exp(piece, out=out) for _ in range(pieces)]) for _ in range(REPEATS)]


def _on_gpu(sizes: Sequence[int], d: int) -> tuple[list[list[float]], list[float]]:
    """Triton's kernel on an NVIDIA GPU, in float16: seconds, and MiB beyond the inputs."""
    import torch

    seconds, mib = [], []
    for n in sizes:
        arrays = [torch.from_numpy(x).to("cuda", torch.float16) for x in _inputs(n, d)]

        def call(arrays: Any = arrays) -> None:
            scaled_dot_product_attention(*arrays, backend="triton")
            torch.cuda.synchronize()

        call()  # compiles
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        seconds.append([_seconds(call, time.perf_counter) for _ in range(REPEATS)])
        mib.append((torch.cuda.max_memory_allocated() - before) / 2**20)
    return seconds, mib


def _to_torch(arrays: Sequence[Array]) -> list[Any]:
    import torch

    torch.set_num_threads(1)
    return [torch.from_numpy(x) for x in arrays]


def measure(lengths: Sequence[int], d: int) -> dict[str, Any]:
    """All rungs, in this process. They take turns, so that a slow moment of the machine hits all of them."""
    ways = _ways()
    mib: dict[str, list[float]] = {rung: [] for rung in ways}
    given: dict[tuple[str, int], Sequence[Any]] = {}
    for rung, way in ways.items():
        for n in lengths:
            arrays = given[rung, n] = _to_torch(_inputs(n, d)) if rung == FUSED else _inputs(n, d)
            way(*(x[:PIECE] for x in arrays))  # what a first call loads and compiles is not the algorithm's
            mib[rung].append(_peak(lambda way=way, arrays=arrays: way(*arrays)))
    rounds = [{(rung, n): _time(ways[rung], x) for (rung, n), x in given.items()} for _ in range(REPEATS)]
    seconds = {rung: [[one[rung, n] for one in rounds] for n in lengths] for rung in ways}
    if "triton" in backends() and "TRITON_INTERPRET" not in os.environ:
        seconds[TRITON], mib[TRITON] = _on_gpu(lengths, d)
    return {"seconds": seconds, "mib": mib, "exp_seconds": _exp_alone(lengths[-1])}


if __name__ == "__main__":
    print(json.dumps(measure([int(n) for n in sys.argv[1].split(",")], int(sys.argv[2]))))
