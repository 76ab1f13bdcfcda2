"""`sdpa bench`: how long each attention backend takes, and how much memory, against torch's own fused call.

Time: at one thread and at all threads, each in a process of its own, because libraries look at their environment once.
One thread is timed by the process's own clock, several by the clock on the wall. What counts is the ratio to
F.scaled_dot_product_attention in the same round (`rounds.py`). Memory: `peak_memory.py`. Who takes part:
`contestants.py`; in what: `settings.py`; the files: `report.py`; what it all depends on: `facts.py`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from sdpa_helpers.bench import facts
from sdpa_helpers.bench.busy import busy
from sdpa_helpers.bench.contestants import REFERENCE, call_of, names, slow_ones
from sdpa_helpers.bench.peak_memory import extra_memory
from sdpa_helpers.bench.rounds import Call, Pace, Ratio, cpu_clock, interleaved, ratio
from sdpa_helpers.bench.rows import HEADER, TimedRow, line
from sdpa_helpers.bench.settings import Plan, Setting

GEMM = "GEMM"
GEMM_SIDE = 768
GEMM_OPERATIONS = 2 * GEMM_SIDE**3
MEANING = (
    "ratio: time / F.scaled_dot_product_attention's in the same round, the median of the rounds, with quartiles; one "
    "thread: CPU time of the process, several: time on the clock; percent_of_gemm: speed as a share of a product of "
    "square matrices in the same round; extra_mib: peak memory beyond the inputs"
)


class How(NamedTuple):
    """How all is measured, whatever it is."""

    rounds: int = 9
    threads: tuple[int, ...] = (1, 0)  # 0: all
    backends: tuple[str, ...] = ()  # beside F.sdpa; empty: all
    memory: bool = True
    busy: int = 0  # processes beside the timing


def run(plan: Plan, how: How, out: Path | None) -> None:
    """Measure in fresh processes, print, and write the files if `out` is given."""
    rows, runs, started = [], [], time.monotonic()
    print(MEANING.replace("; ", "\n"))
    for threads in dict.fromkeys(min(n, facts.cores()) if n else facts.cores() for n in how.threads):
        print(f"\n{_circumstances(threads, how.busy)}\n{HEADER}", flush=True)
        found, about = _in_a_fresh_process(plan.timed, how, threads)
        rows += found
        runs.append(about)
    if how.memory and plan.weighed:
        print("\npeak memory", flush=True)
        weighed = extra_memory(plan.weighed, how.backends, facts.environment_for(1))
        _lay_in(rows, weighed)
        print(*(memory_line(call, mib) for call, mib in weighed.items()), sep="\n", flush=True)
    about = facts.of_this_machine() | {"command": " ".join(["sdpa", *sys.argv[1:]]), "runs": runs}
    about |= {"seconds": round(time.monotonic() - started), "meaning": MEANING}
    if out:
        from sdpa_helpers.bench import report

        print("written:", ", ".join(report.write(rows, about, out)), "in", out)


def _circumstances(threads: int, busy: int) -> str:
    """What a reader must know before the numbers."""
    told = [f"{threads} thread{'s' if threads > 1 else ''}"]
    if load := facts.load():
        told.append(f"load {load[0]} on {facts.cores()} cores before")
    if busy:
        told.append(f"{busy} busy process{'es' if busy > 1 else ''} beside")
    return ", ".join(told)


def _in_a_fresh_process(
    settings: list[Setting], how: How, threads: int
) -> tuple[list[TimedRow], dict[str, Any]]:
    asked = {"settings": settings, "rounds": how.rounds, "threads": threads, "backends": how.backends}
    # All threads: what each library takes by itself, which may be less than there are cores.
    environment = facts.environment_for(0 if threads == facts.cores() != 1 else threads)
    before = facts.load()
    with tempfile.TemporaryDirectory() as folder, busy(how.busy):
        target = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "sdpa_helpers.bench.attention_cpu", json.dumps(asked), str(target)]
        subprocess.run(command, env=environment, check=True)
        told = json.loads(target.read_text(encoding="utf-8"))
    about = {"threads": threads, "busy": how.busy, "load_before": before, "load_after": facts.load()}
    return [TimedRow(**row | {"busy": how.busy}) for row in told["rows"]], about | told["about"]


def _lay_in(rows: list[TimedRow], weighed: dict[tuple[Setting, str], float]) -> None:
    least = min((row.threads for row in rows), default=1)
    for row in rows:
        if row.threads == least:
            row.extra_mib = weighed.get((row.setting, row.backend))


# In the fresh process ------------------------------------------------------------------------------------------


def measure(
    settings: list[Setting], rounds: int, threads: int, backends: tuple[str, ...]
) -> tuple[list[TimedRow], dict[str, Any]]:
    """All rows, and what they depend on in this process."""
    pace = Pace(rounds, clock=cpu_clock() if threads == 1 else time.perf_counter)
    rows, speeds = [], {}
    for setting in settings:
        calls = {name: call_of(name, setting) for name in names(setting, backends)}
        times = interleaved(calls | {GEMM: gemm(setting.dtype)}, pace._replace(brief=slow_ones(setting)))
        product = times.pop(GEMM)
        speeds.setdefault(setting.dtype, []).append(GEMM_OPERATIONS / statistics.median(product) / 1e9)
        for name, found in times.items():
            share = setting.operations / GEMM_OPERATIONS / ratio(found, product).median
            rows.append(_row(setting, name, found, ratio(found, times[REFERENCE]), share))
            rows[-1].threads = threads
            print(line(rows[-1]), flush=True)
    gflops = {dtype: round(statistics.median(found), 1) for dtype, found in speeds.items()}
    return rows, {"threads_of": facts.of_this_process(), "gemm_gflops": gflops}


def gemm(dtype: str) -> Call:
    """torch's product of two square matrices: what attention could at best come near."""
    import torch

    matrix = torch.ones(GEMM_SIDE, GEMM_SIDE, dtype=getattr(torch, dtype))
    return lambda: matrix @ matrix


def _row(setting: Setting, name: str, times: list[float], compared: Ratio, share_of_gemm: float) -> TimedRow:
    return TimedRow(
        shape=",".join(map(str, setting.shape)),
        is_causal=setting.mask == "causal",
        direction=setting.direction,
        backend=name,
        milliseconds=round(statistics.median(times) * 1e3, 4),
        ratio=round(compared.median, 3),
        percent_of_gemm=round(100 * share_of_gemm, 1),
        mask=setting.mask,
        dtype=setting.dtype,
        ratio_low=round(compared.low, 3),
        ratio_high=round(compared.high, 3),
        rounds=len(times),
    )


def memory_line(call: tuple[Setting, str], mib: float) -> str:
    """A peak as it is printed."""
    (shape, mask, dtype, direction), name = call
    return f"{','.join(map(str, shape)):<13} {mask:<10} {dtype:<8} {direction:<9} {name:<12}{mib:10.1f} MiB"


def main(asked: dict[str, Any], target: Path) -> None:
    """In the fresh process."""
    settings = [Setting(tuple(shape), *others) for shape, *others in asked["settings"]]
    rows, about = measure(settings, asked["rounds"], asked["threads"], tuple(asked["backends"]))
    text = json.dumps({"rows": [asdict(row) for row in rows], "about": about})
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
