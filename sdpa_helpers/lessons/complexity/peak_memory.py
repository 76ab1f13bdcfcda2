"""Lesson 06: peak memory as the operating system counts it, each way in a small process of its own.

    python -m sdpa_helpers.lessons.complexity.peak_memory textbook 2048,4096 64

is that process: it prints MiB, one number for each length.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.attention import backends, scaled_dot_product_attention
from sdpa_helpers.course.needs import needs
from sdpa_helpers.lessons.complexity.attention_ways import textbook

# Large arrays straight from the system and back: memory that the allocator keeps would hide what is new.
_PLAIN = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@needs("processes")
def peaks(ways: Mapping[str, Sequence[int]], d: int = 64) -> Mapping[str, Array]:
    """Peak memory in MiB beyond the inputs, float32, each way in a fresh process; NaN where it cannot be read.

    ways: lengths for "textbook", the formula as one writes it down, or for a backend of the package. One that this
    machine lacks is left out.
    """
    known = {"textbook", *backends()}
    return {way: np.array(_measured_elsewhere(way, sizes, d)) for way, sizes in ways.items() if way in known}


def _measured_elsewhere(way: str, sizes: Sequence[int], d: int) -> list[float]:
    command = [sys.executable, "-m", __name__, way, ",".join(map(str, sizes)), str(d)]
    environment = {**os.environ, **_ONE_THREAD, **_PLAIN}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(text) for text in done.stdout.split()]


def _resident(name: str) -> float:
    """VmRSS (now) or VmHWM (the peak) in MiB from the kernel's own book-keeping."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


def _peak_of(function: Callable[[], Any]) -> float:
    """MiB that a call added to this process at its highest point.

    Linux: VmHWM. Not ru_maxrss, which a child process takes over from the parent that started it, so that below
    a large notebook every small process looks large. macOS has no VmHWM, and its ru_maxrss starts afresh.
    """
    if Path("/proc/self/status").exists():
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from now
        before = _resident("VmRSS")
        function()
        return _resident("VmHWM") - before
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    function()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / unit


def main(way: str, sizes: str, d: str) -> None:
    """Measure one way in this process and print MiB, one line for each length."""

    def backend(Q: Array, K: Array, V: Array) -> Array:
        return scaled_dot_product_attention(Q, K, V, backend=way)

    work = textbook if way == "textbook" else backend
    for n in map(int, sizes.split(",")):
        rng = np.random.default_rng(0)
        arrays = [rng.standard_normal((n, int(d)), dtype=np.float32) for _ in range(3)]
        work(
            *(array[:256] for array in arrays)
        )  # what a first call loads and compiles is not the algorithm's
        print(_peak_of(partial(work, *arrays)))


if __name__ == "__main__":
    main(*sys.argv[1:])
