"""`sdpa bench`: how long each attention backend takes, and how much memory, against torch's own fused call.

Time: every backend takes its turn in each of several rounds, so that whatever else the machine does hits all of
them alike; the medians' ratio to F.scaled_dot_product_attention is the result. One thread, float32. Memory: the
peak of the process (VmHWM), each backend in a process of its own: tracemalloc would not see torch's or BLAS's.
Backward passes are timed alone, without the forward pass before them.
"""

from __future__ import annotations

import csv
import datetime
import gc
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS, backends
from sdpa_helpers.attention.layout import Head, Rule

if TYPE_CHECKING:
    from collections.abc import Callable

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")
"""Colours that stay apart for every common kind of colour blindness."""

Shape = tuple[int, ...]  # batch, heads, length, features

SHAPES: list[Shape] = [(1, 8, 1024, 64), (1, 8, 4096, 64), (1, 1, 4096, 128)]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")
REFERENCE = "F.sdpa"
JAX = "jax"
FORMULAS = {known.formula for known in BACKENDS.values()}  # all the scores at once: a few rounds are enough


@dataclass
class Row:
    """One line of the CSV; None where a thing was not measured."""

    shape: str
    is_causal: bool
    direction: str  # "forward" or "backward"
    backend: str
    milliseconds: float
    ratio: float  # to F.sdpa in the same rounds
    percent_of_gemm: float  # of the matrix products' speed, measured here
    extra_mib: float | None = None  # peak memory beyond the inputs, the output included


def run(out: Path | None, rounds: int, shapes: list[Shape] | None) -> None:
    """Measure in a fresh process with one thread, print, and write the three files if `out` is given."""
    settings = {"out": str(out) if out else None, "rounds": rounds, "shapes": shapes or SHAPES}
    subprocess.run(
        [sys.executable, "-m", "sdpa_helpers.bench.attention_cpu", json.dumps(settings)],
        env=os.environ | ONE_THREAD,
        check=True,
    )


def measure(rounds: int, shapes: list[Shape]) -> tuple[list[Row], dict[str, Any]]:
    """All rows, and the facts that they depend on."""
    import torch

    torch.set_num_threads(1)
    peak = gemm_gflops()
    rows = []
    for shape in shapes:
        for is_causal in (False, True):
            for direction, contestants in (
                ("forward", forward_calls(shape, is_causal)),
                ("backward", backward_calls(shape, is_causal)),
            ):
                medians = interleaved(contestants, rounds)
                flops = 4 * math.prod(shape) * shape[2] / (2 if is_causal else 1)
                flops *= 1 if direction == "forward" else 2.5
                for name, seconds in medians.items():
                    row = Row(
                        shape=",".join(map(str, shape)),
                        is_causal=is_causal,
                        direction=direction,
                        backend=name,
                        milliseconds=round(seconds * 1e3, 2),
                        ratio=round(seconds / medians[REFERENCE], 3),
                        percent_of_gemm=round(100 * flops / seconds / 1e9 / peak, 1),
                    )
                    if direction == "forward":
                        row.extra_mib = extra_memory(shape, is_causal, name)
                    rows.append(row)
                    print(line(row), flush=True)
    return rows, facts(rounds, peak)


def interleaved(contestants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median time of each."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for call in contestants.values():
        call()  # compiles, loads, takes its memory
    for number in range(rounds):
        for name, call in contestants.items():
            if name in FORMULAS and number >= 3:
                continue
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


# Who takes part -------------------------------------------------------------------------------------------


def inputs(shape: Shape) -> list[Any]:
    """Query, key, value and a gradient for the output, normally distributed."""
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, dtype=np.float32) for _ in range(4)]


def forward_calls(shape: Shape, is_causal: bool) -> dict[str, Callable[[], Any]]:
    """torch's own call, every backend that is installed, and JAX's where it is."""
    import torch

    arrays = inputs(shape)[:3]
    tensors = [torch.from_numpy(x) for x in arrays]
    calls: dict[str, Callable[[], Any]] = {
        REFERENCE: lambda: torch.nn.functional.scaled_dot_product_attention(
            tensors[0], tensors[1], tensors[2], is_causal=is_causal
        )
    }
    for name in backends():
        if BACKENDS[name].needs_gpu:  # attention_cuda.py times those
            continue
        given = arrays if BACKENDS[name].kind == "numpy" else tensors
        calls[name] = _our_call(given, name, is_causal)
    if importlib.util.find_spec("jax"):
        calls[JAX] = _jax_call(arrays, is_causal)
    return calls


def _our_call(given: list[Any], name: str, is_causal: bool) -> Callable[[], Any]:
    return lambda: scaled_dot_product_attention(*given, is_causal=is_causal, backend=name)


def _jax_call(arrays: list[Any], is_causal: bool) -> Callable[[], Any]:
    import jax  # pyright: ignore[reportMissingImports]

    given = [
        jax.numpy.asarray(x.swapaxes(1, 2)) for x in arrays
    ]  # JAX wants (batch, length, heads, features)
    attend = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=is_causal))
    return lambda: attend(*given).block_until_ready()


def backward_calls(shape: Shape, is_causal: bool) -> dict[str, Callable[[], Any]]:
    """The backward passes alone: of torch's call, of the torch backends, and those written in NumPy."""
    import torch

    *arrays, grad = inputs(shape)
    leaves = query, key, value = [torch.from_numpy(x).requires_grad_() for x in arrays]
    tensor_grad = torch.from_numpy(grad)

    def by_autograd(output: Any) -> Callable[[], Any]:
        return lambda: torch.autograd.grad(output, leaves, tensor_grad, retain_graph=True)

    fused = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    calls = {REFERENCE: by_autograd(fused)}
    for name in backends():
        if BACKENDS[name].kind == "torch" and not BACKENDS[name].needs_gpu:
            calls[name] = by_autograd(
                scaled_dot_product_attention(query, key, value, is_causal=is_causal, backend=name)
            )
    options = {"is_causal": is_causal, "scale": 1 / math.sqrt(shape[-1])}
    for name in backends():
        if BACKENDS[name].own_passes:
            module = importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")
            calls[name] = _our_backward(module, arrays, grad, options)
    return calls


def _our_backward(module: Any, arrays: list[Any], grad: Any, options: dict) -> Callable[[], Any]:
    head, rule = Head(*arrays), Rule(**options)
    whole = module.attention_forward(head, rule)
    return lambda: module.attention_backward(head, rule, False, whole, grad)


# What else is measured ------------------------------------------------------------------------------------


def gemm_gflops(n: int = 1024, rounds: int = 9) -> float:
    """The speed of torch's product of two n × n matrices: what attention could at best come near."""
    import torch

    matrix = torch.ones(n, n)
    median = interleaved({"gemm": lambda: matrix @ matrix}, rounds)["gemm"]
    return 2 * n**3 / median / 1e9


def extra_memory(shape: Shape, is_causal: bool, name: str) -> float | None:
    """Peak memory of one call in MiB beyond what there was before it, in a process of its own; Linux only."""
    settings = json.dumps({"shape": shape, "is_causal": is_causal, "name": name})
    command = [sys.executable, "-m", "sdpa_helpers.bench.attention_cpu", "--memory", settings]
    # Large arrays straight from the system and back: memory that the allocator keeps would hide what is new.
    plain = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        command, env=os.environ | ONE_THREAD | plain, capture_output=True, text=True, check=False, timeout=600
    )
    return float(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def _measure_memory(shape: list[int], is_causal: bool, name: str) -> float | None:
    if not Path("/proc/self/clear_refs").exists():
        return None
    import torch

    torch.set_num_threads(1)
    small = (*shape[:2], min(shape[2], 256), shape[3])
    forward_calls(small, is_causal)[name]()  # what is loaded and compiled once does not count
    call = forward_calls(tuple(shape), is_causal)[name]
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # VmHWM starts again from here
    before = _status("VmRSS")
    output = call()
    extra = _status("VmHWM") - before
    del output
    return round(extra, 1)


def _status(key: str) -> float:
    for status in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if status.startswith(key):
            return int(status.split()[1]) / 1024
    raise KeyError(key)


def facts(rounds: int, peak: float) -> dict[str, Any]:
    """What the figures depend on."""
    import platform

    import numpy as np
    import torch

    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        processor = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), processor)
    return {
        "command": "sdpa bench --out benchmarks/results",
        "date": datetime.date.today().isoformat(),
        "processor": processor,
        "numpy": np.__version__,
        "torch": torch.__version__,
        "threads": 1,
        "dtype": "float32",
        "rounds": rounds,
        "gemm_gflops": round(peak, 1),
        "meaning": "ratio: time / F.scaled_dot_product_attention's, medians of interleaved rounds",
    }


# Showing it -----------------------------------------------------------------------------------------------


def line(row: Row) -> str:
    """A row as it is printed."""
    memory = "" if row.extra_mib is None else f"{row.extra_mib:9.1f} MiB"
    causal = "causal" if row.is_causal else "full"
    return (
        f"{row.shape:<14} {causal:<7}{row.direction:<9} {row.backend:<12} {row.milliseconds:9.1f} ms "
        f"{row.ratio:7.2f} {row.percent_of_gemm:5.0f} % of GEMM {memory}"
    )


def write(rows: list[Row], about: dict[str, Any], folder: Path) -> None:
    """attention.csv, attention.json and attention.png."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [asdict(row) for row in rows]
    with (folder / "attention.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    text = json.dumps(about | {"results": records}, indent=1, ensure_ascii=False)
    (folder / "attention.json").write_text(text + "\n", encoding="utf-8")
    draw(rows, about, folder / "attention.png")


def draw(rows: list[Row], about: dict[str, Any], target: Path) -> None:
    """One panel a direction, one group of dots a setting; logarithmic, because the formulas are far off."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import ScalarFormatter

    figure = Figure(figsize=(12, 5.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    settings = list(dict.fromkeys((row.shape, row.is_causal) for row in rows))
    names = [name for name in dict.fromkeys(row.backend for row in rows) if name != REFERENCE]
    looks = {name: (OKABE_ITO[n % len(OKABE_ITO)], "osD^vP*X<>"[n % 10]) for n, name in enumerate(names)}
    for panel, direction in zip(axes, ("forward", "backward"), strict=True):
        for name in names:
            mine = {
                (r.shape, r.is_causal): r.ratio for r in rows if (r.backend, r.direction) == (name, direction)
            }
            places = [place for place, setting in enumerate(settings) if setting in mine]
            color, marker = looks[name]
            ratios = [mine[settings[p]] for p in places]
            panel.plot(ratios, places, marker, color=color, label=name, markersize=8, alpha=0.85)
        panel.axvline(1, color="black", linewidth=1)
        panel.set(xscale="log", title=direction, xlabel="time ÷ F.scaled_dot_product_attention")
        panel.set_xticks([1, 1.5, 2, 3, 5, 10, 20])
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.minorticks_off()
        panel.grid(axis="x", alpha=0.3)
    labels = [f"({shape}) {'causal' if causal else 'full'}" for shape, causal in settings]
    axes[0].set_yticks(range(len(settings)), labels)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    figure.suptitle(f"{about['processor']}, one thread, float32, {about['date']}", fontsize=10)
    figure.savefig(target, dpi=110)


def main() -> None:
    """In the fresh process."""
    if sys.argv[1] == "--memory":
        extra = _measure_memory(**json.loads(sys.argv[2]))
        print("" if extra is None else extra)
        return
    settings = json.loads(sys.argv[1])
    rows, about = measure(settings["rounds"], [tuple(shape) for shape in settings["shapes"]])
    if settings["out"]:
        write(rows, about, Path(settings["out"]))
        print(f"written: attention.csv, attention.json, attention.png in {settings['out']}")


if __name__ == "__main__":
    main()
