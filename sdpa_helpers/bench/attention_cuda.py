"""`sdpa bench --device cuda`: how long attention takes on an NVIDIA GPU, against torch's two fastest kernels by name.

Every contestant takes its turn in each of several rounds, and the medians count. A turn is as many calls as take
some milliseconds, timed by the GPU's own clock. Before that, its answer is compared with the one of torch's FLASH
kernel. Who cannot do a call, or raises, has a row without a time, and the reason.
"""

from __future__ import annotations

import csv
import datetime
import json
import math
import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[[], Any]

Shape = tuple[int, ...]  # batch, heads, length, features

SHAPES: list[Shape] = [(4, 32, 4096, 64), (4, 16, 4096, 128), (1, 32, 16384, 64), (1, 16, 16384, 128)]
FLASH, CUDNN = "F.sdpa FLASH", "F.sdpa cuDNN"
OURS = ("triton", "torch-fused")
TURN_MILLISECONDS = 20.0
PRODUCTS = {"forward": 2, "backward": 5}  # that the definition needs; each is 2 n² d operations


@dataclass
class CudaRow:
    """One line of the CSV; None where a thing was not measured."""

    shape: str
    is_causal: bool
    direction: str  # "forward" or "backward"
    dtype: str
    backend: str
    milliseconds: float | None = None
    ratio_to_flash: float | None = None  # of the times, in the same rounds
    ratio_to_cudnn: float | None = None
    teraflops: float | None = None  # of the operations that the definition needs, a second
    error: float | None = None  # ‖answer − FLASH's‖ / ‖FLASH's‖; of dQ, dK and dV the worst
    reason: str = ""  # why there is no time


def device_name() -> str:
    """Of the GPU that would be measured; "" when torch sees none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def run(
    out: Path | None, rounds: int, shapes: list[Shape] | None, dtypes: tuple[str, ...] = ("bfloat16",)
) -> None:
    """Measure, print, and write attention-cuda.csv and .json if `out` is given."""
    rows = []
    for shape in shapes or SHAPES:
        for dtype in dtypes:
            for is_causal in (False, True):
                for direction in PRODUCTS:
                    measured = measure(shape, dtype, is_causal, direction, rounds)
                    print(*map(line, measured), sep="\n", flush=True)
                    rows += measured
    if out:
        write(rows, facts(rounds), out)
        print(f"written: attention-cuda.csv, attention-cuda.json in {out}")


def measure(shape: Shape, dtype: str, is_causal: bool, direction: str, rounds: int) -> list[CudaRow]:
    """The rows of one setting."""
    found = contestants(shape, dtype, is_causal, direction)
    rows = {
        name: CudaRow(",".join(map(str, shape)), is_causal, direction, dtype, name, reason=reason)
        for name, (_, reason) in found.items()
    }
    calls: dict[str, Call] = {}
    for name, (call, reason) in found.items():
        if reason:
            continue
        try:
            rows[name].error = difference(call(), calls[FLASH]() if FLASH in calls else None)
            calls[name] = call
        except Exception as error:  # a kernel that this GPU or this torch does not have
            rows[name].reason = f"{type(error).__name__}: {error}".splitlines()[0]
    medians = interleaved(calls, rounds)
    operations = PRODUCTS[direction] * 2 * math.prod(shape) * shape[2] / (2 if is_causal else 1)
    for name, milliseconds in medians.items():
        rows[name].milliseconds = round(milliseconds, 4)
        rows[name].teraflops = round(operations / milliseconds / 1e9, 1)
        rows[name].ratio_to_flash = ratio(milliseconds, medians.get(FLASH))
        rows[name].ratio_to_cudnn = ratio(milliseconds, medians.get(CUDNN))
    return list(rows.values())


def contestants(shape: Shape, dtype: str, is_causal: bool, direction: str) -> dict[str, tuple[Call, str]]:
    """Each one's call, and the reason if it cannot do it; torch's FLASH kernel first."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from sdpa_helpers.attention import explain_backend, scaled_dot_product_attention
    from sdpa_helpers.attention.known_backends import backends

    torch.manual_seed(0)
    arrays = [torch.randn(shape, device="cuda", dtype=getattr(torch, dtype)) for _ in range(4)]
    query, key, value = leaves = [x.requires_grad_(direction == "backward") for x in arrays[:3]]

    def named(kernel: SDPBackend) -> Call:
        def attend() -> Any:
            with sdpa_kernel(kernel):
                return torch.nn.functional.scaled_dot_product_attention(
                    query, key, value, is_causal=is_causal
                )

        return attend

    def ours(name: str) -> Call:
        return lambda: scaled_dot_product_attention(query, key, value, is_causal=is_causal, backend=name)

    def of_direction(attend: Call) -> Call:
        """The call itself; or the backward pass alone, of one forward pass that is made at the first call."""
        if direction == "forward":
            return attend
        outputs: list[Any] = []

        def backward() -> Any:
            if not outputs:
                outputs.append(attend())
            return torch.autograd.grad(outputs[0], leaves, arrays[3], retain_graph=True)

        return backward

    found = {
        FLASH: (of_direction(named(SDPBackend.FLASH_ATTENTION)), ""),
        CUDNN: (of_direction(named(SDPBackend.CUDNN_ATTENTION)), ""),
    }
    for name in OURS:
        reason = "not usable here"
        if name in backends():
            chosen = explain_backend(query, key, value, is_causal=is_causal, backend=name)
            reason = "" if chosen.backend == name else str(chosen)
        found[name] = (of_direction(ours(name)), reason)
    return found


def difference(answer: Any, reference: Any) -> float | None:
    """‖answer − reference‖ / ‖reference‖, the worst of them if there are several; None without a reference."""
    if reference is None:
        return None
    pairs = zip(answer, reference, strict=True) if isinstance(answer, tuple) else [(answer, reference)]
    return max(float((a.float() - b.float()).norm() / b.float().norm()) for a, b in pairs)


def interleaved(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """The median time of each, in milliseconds a call."""
    repeats = {name: max(1, round(TURN_MILLISECONDS / turn(call, 3))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(turn(call, repeats[name]))
    return {name: statistics.median(found) for name, found in times.items()}


def turn(call: Call, repeats: int) -> float:
    """Milliseconds a call, by the GPU's clock."""
    import torch

    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(repeats):
        call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / repeats


def ratio(milliseconds: float, reference: float | None) -> float | None:
    """Of two times, rounded; None without a reference."""
    return None if reference is None else round(milliseconds / reference, 3)


def facts(rounds: int) -> dict[str, Any]:
    """What the figures depend on."""
    import importlib.metadata

    import torch

    return {
        "command": "sdpa bench --device cuda --out benchmarks/results",
        "date": datetime.date.today().isoformat(),
        "device": device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "triton": importlib.metadata.version("triton"),
        "rounds": rounds,
        "meaning": "ratio: time / that of torch's kernel of that name, medians of interleaved rounds",
    }


def line(row: CudaRow) -> str:
    """A row as it is printed."""
    causal = "causal" if row.is_causal else "full"
    start = f"{row.shape:<14} {causal:<7}{row.direction:<9} {row.dtype:<9} {row.backend:<13}"
    if row.milliseconds is None:
        return f"{start} not measured: {row.reason}"
    ratios = (f"{x:6.2f}" if x is not None else "      " for x in (row.ratio_to_flash, row.ratio_to_cudnn))
    error = "" if row.error is None else f"  differs from FLASH by {row.error:.1e}"
    return f"{start} {row.milliseconds:9.3f} ms {' '.join(ratios)} {row.teraflops:7.1f} TFLOP/s{error}"


def write(rows: list[CudaRow], about: dict[str, Any], folder: Path) -> None:
    """attention-cuda.csv and attention-cuda.json."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [asdict(row) for row in rows]
    with (folder / "attention-cuda.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    text = json.dumps(about | {"results": records}, indent=1, ensure_ascii=False)
    (folder / "attention-cuda.json").write_text(text + "\n", encoding="utf-8")
