"""Is backend="auto" as fast as the fastest backend? Forty settings, and what the first call of numba costs.

    python benchmarks/auto_choice.py                one thread, then all; writes benchmarks/results/auto_choice.json
    python benchmarks/auto_choice.py --threads 1    only print

Every backend takes its turn in every round, "auto" among them. Which is the fastest is decided in every other round,
and "auto" is compared with it in the rounds between: the luck of a minimum does not count against "auto". Numba is
warm here: it has computed such a call before. What it costs while cold is measured in fresh processes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sdpa_helpers.attention import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.bench import contestants, facts
from sdpa_helpers.bench.rounds import Pace, cpu_clock, interleaved, ratio
from sdpa_helpers.bench.settings import Setting

ROUNDS = 16
SECONDS = 2.5  # a setting
SHAPES = [
    (1, 8, 64, 64),
    (1, 8, 128, 64),
    (1, 32, 128, 128),
    (1, 8, 256, 64),
    (4, 8, 512, 64),
    (1, 8, 1024, 64),
    (1, 4, 2048, 64),
    (2, 4, 2048, 80),
    (1, 1, 4096, 128),
]
MEDIUM, MANY = SHAPES[5], SHAPES[4]
MASKS = ("bool", "float", "padding-50", "padding-90")
SETTINGS: list[tuple[str, Setting]] = [
    *(("numpy", Setting(shape, mask)) for shape in SHAPES for mask in ("full", "causal")),
    *(("numpy", Setting(MEDIUM, mask)) for mask in MASKS),
    *(("numpy", Setting(MANY, mask)) for mask in ("bool", "padding-50")),
    *(("numpy", Setting(shape, dtype="float64")) for shape in (SHAPES[3], MANY, MEDIUM)),
    ("numpy", Setting(MEDIUM, "causal", "float64")),
    *(("torch", Setting(shape)) for shape in (SHAPES[0], SHAPES[2], MANY, MEDIUM, SHAPES[8])),
    *(("torch", Setting(MEDIUM, mask)) for mask in ("causal", *MASKS)),
    *(("torch", Setting(MEDIUM, dtype=dtype)) for dtype in ("float64", "bfloat16")),
]
FIRST_CALLS = (1024, 2048, 4096, 8192)  # lengths of 4 heads


def measure(threads: int) -> list[dict[str, Any]]:
    """A line for each setting."""
    clock = cpu_clock() if threads == 1 else time.perf_counter
    lines = []
    for kind, setting in SETTINGS:
        lines.append(of_one(kind, setting, Pace(ROUNDS, SECONDS, clock, contestants.slow_ones(setting))))
        print(as_text(lines[-1]), flush=True)
    return lines


def of_one(kind: str, setting: Setting, pace: Pace) -> dict[str, Any]:
    """Times of "auto" over those of the fastest backend, the medians and quartiles of the rounds."""
    (query, key, value), mask = contestants.given(setting, kind)
    options: dict[str, Any] = {"attn_mask": mask, "is_causal": setting.mask == "causal"}
    names = [name for name in contestants.names(setting) if name in BACKENDS and BACKENDS[name].kind == kind]
    calls = {
        name: lambda name=name: scaled_dot_product_attention(query, key, value, backend=name, **options)
        for name in [*names, "auto"]
    }
    times = interleaved(calls, pace)
    chosen = explain_backend(query, key, value, **options).backend
    fastest = min(names, key=lambda name: statistics.median(times[name][::2]))
    regret = ratio(between(times["auto"]), between(times[fastest]))
    return {
        "kind": kind,
        "setting": setting._asdict(),
        "chosen": chosen,
        "fastest": fastest,
        "milliseconds": {name: round(statistics.median(found) * 1e3, 3) for name, found in times.items()},
        "auto_by_fastest": round(regret.median, 3),
        "quartiles": [round(regret.low, 3), round(regret.high, 3)],
        "chosen_by_fastest": round(ratio(between(times[chosen]), between(times[fastest])).median, 3),
    }


def between(times: list[float]) -> list[float]:
    """The rounds that did not decide which is the fastest; all there are of one that makes few."""
    return times[1::2] or times


def as_text(line: dict[str, Any]) -> str:
    """A line of the table."""
    shape, mask, dtype, _ = line["setting"].values()
    low, high = line["quartiles"]
    times = "  ".join(f"{name} {milliseconds:g}" for name, milliseconds in line["milliseconds"].items())
    return (
        f"{line['kind']:<6}{','.join(map(str, shape)):<13} {mask:<10} {dtype:<8} {line['chosen']:<12}"
        f"{line['auto_by_fastest']:5.2f} ({low:.2f} … {high:.2f})  fastest {line['fastest']:<12} ms: {times}"
    )


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """How far "auto" is from the fastest, over all settings."""
    ratios = sorted(line["auto_by_fastest"] for line in lines)
    return {
        "settings": len(lines),
        "median": round(statistics.median(ratios), 3),
        "at_most_1.05": sum(x <= 1.05 for x in ratios),
        "at_most_1.20": sum(x <= 1.20 for x in ratios),
        "largest": ratios[-1],
    }


# The first call ------------------------------------------------------------------------------------------------

FIRST = """
import sys, time
import numpy as np
from sdpa_helpers.attention import scaled_dot_product_attention as attend
arrays = np.random.default_rng(0).standard_normal((3, 1, 4, int(sys.argv[2]), 64), dtype=np.float32)
attend(*arrays[:, :, :, :8])  # what every call needs is loaded
for _ in range(2):
    start = time.process_time(), time.perf_counter()
    attend(*arrays, backend=sys.argv[1])
    print(time.process_time() - start[0], time.perf_counter() - start[1])
"""


def first_calls() -> list[dict[str, Any]]:
    """Seconds of the first and the second call of a process: CPU time, one thread."""
    lines = []
    with tempfile.TemporaryDirectory() as empty:
        fresh = {"NUMBA_CACHE_DIR": empty}
        for name, which, extra in (
            ("numpy-tiled", "", {}),
            ("numba", "compiles", fresh),  # the first of these; from then on it is on disk
            ("numba", "compiled on disk", fresh),
        ):
            for n in FIRST_CALLS[:1] if which == "compiles" else FIRST_CALLS:
                found = subprocess.run(
                    [sys.executable, "-c", FIRST, name, str(n)],
                    env=facts.environment_for(1) | extra,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
                first, _, second, _ = map(float, found)
                lines.append({"backend": name, "how": which, "scores": 4 * n * n})
                lines[-1] |= {"first": round(first, 3), "second": round(second, 3)}
                print(f"{name:<12} {which:<17} {4 * n * n:>12,} scores: {first:.2f} s, then {second:.2f} s")
    return lines


def main() -> None:
    """Measure each number of threads in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, help="measure here, in this process, and only print")
    parser.add_argument("--out", type=Path, help="where a process of its own writes")
    asked = parser.parse_args()
    if asked.out:
        asked.out.write_text(json.dumps(measure(asked.threads)), encoding="utf-8")
        return
    print("the first calls of a process")
    result: dict[str, Any] = facts.of_this_machine() | {
        "command": "python benchmarks/auto_choice.py",
        "load_before": facts.load(),
        "meaning": "auto_by_fastest: time of auto / of the fastest backend in that round, median of the rounds; "
        "one thread: CPU time, several: time on the clock; seconds of the first calls: CPU time at one thread",
        "first_calls": first_calls(),
    }
    for threads in [asked.threads] if asked.threads else dict.fromkeys((1, facts.cores())):
        print(f"\n{threads} thread{'s' if threads > 1 else ''}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "lines.json"
            command = [sys.executable, __file__, "--threads", str(threads), "--out", str(out)]
            environment = facts.environment_for(1 if threads == 1 else 0)
            subprocess.run(command, env=environment, check=True)
            lines = json.loads(out.read_text(encoding="utf-8"))
        print(summary(lines))
        result[f"threads_{threads}"] = {"summary": summary(lines), "settings": lines}
    result["load_after"] = facts.load()
    if not asked.threads:
        target = Path(__file__).parent / "results" / "auto_choice.json"
        target.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
