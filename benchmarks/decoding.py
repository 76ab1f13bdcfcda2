"""One token with a cache of keys: what it costs beside the attention of all tokens.

    python benchmarks/decoding.py            measures, a minute; writes benchmarks/results/decoding.json and the
                                             table in docs/decoding.md
    python benchmarks/decoding.py --check    only says whether the page has the table of that file

One thread, CPU time, float32, backend="auto". In each round both take their turn; the median of the rounds' ratios.
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

from sdpa_helpers.attention import KVCache, scaled_dot_product_attention
from sdpa_helpers.bench import facts
from sdpa_helpers.bench.rounds import Call, Pace, cpu_clock, interleaved, ratio
from sdpa_helpers.course.generated import with_tables

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "decoding.md"
RESULT = HERE / "results" / "decoding.json"

LENGTHS = (1024, 8192)
HEADS, FEATURES = 8, 64
KINDS = {"numpy": "NumPy", "torch": "torch"}


def arrays(kind: str, *shapes: tuple[int, ...]) -> list[Any]:
    """Standard normal numbers."""
    rng = np.random.default_rng(0)
    made: list[Any] = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
    if kind == "torch":
        import torch

        made = [torch.from_numpy(array) for array in made]
    return made


def one_token(kind: str, n: int, kv_heads: int) -> tuple[str, Call, Call]:
    """A new token's attention with a cache, and that of all n tokens, which a model without one computes anew."""
    tokens = [(1, heads, n, FEATURES) for heads in (HEADS, kv_heads, kv_heads)]
    query, key, value = arrays(kind, *tokens)
    cache = KVCache(n)
    cache.append(key, value)
    grouped = {"enable_gqa": kv_heads != HEADS}
    last = query[:, :, -1:]
    heads = f"{HEADS} heads" if kv_heads == HEADS else f"{HEADS} heads share {kv_heads}"
    return (
        f"one token with a cache of {n:,}, {heads} ÷ all anew",
        lambda: scaled_dot_product_attention(last, cache.key, cache.value, **grouped),
        lambda: scaled_dot_product_attention(query, key, value, is_causal=True, **grouped),
    )


def measure() -> list[dict[str, Any]]:
    """A line for each pair and kind."""
    lines = []
    for kind in KINDS:
        pairs = [one_token(kind, n, HEADS) for n in LENGTHS]
        pairs += [one_token(kind, LENGTHS[-1], HEADS // 4)]
        for what, ours, other in pairs:
            times = interleaved({"ours": ours, "other": other}, Pace(9, seconds=20, clock=cpu_clock()))
            found = ratio(times["ours"], times["other"])
            line = {"kind": kind, "what": what} | {
                name: float(f"{x:.3g}") for name, x in found._asdict().items()
            }
            for name, seconds in times.items():
                line[f"milliseconds_{name}"] = float(f"{statistics.median(seconds) * 1e3:.3g}")
            lines.append(line | {"rounds": len(times["ours"])})
            print(*lines[-1].values(), sep="  ", flush=True)
    return lines


def table(result: dict[str, Any]) -> str:
    """As it stands in the page."""
    names = list(dict.fromkeys(line["what"] for line in result["results"]))
    rows = [["", *KINDS.values()], [":--", *["--:"] * len(KINDS)]]
    for name in names:
        lines = [line for line in result["results"] if line["what"] == name]
        rows.append(
            [name, *(_cell(line) for line in sorted(lines, key=lambda line: list(KINDS).index(line["kind"])))]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(line: dict[str, Any]) -> str:
    ours, other = line["milliseconds_ours"], line["milliseconds_other"]
    times = f"{ours:g} ms ÷ {other:g} ms"
    return (
        f"1/{1 / line['median']:,.0f} ({times})"
        if line["median"] < 0.1
        else f"{line['median']:.2f} ({times})"
    )


def about(result: dict[str, Any]) -> str:
    """The machine, as it stands in the page."""
    loads = [result["load_before"][0], result["load_after"][0]] if result["load_before"] else []
    busy = f", load average {loads[0]} before and {loads[1]} after" if loads else ""
    return (
        f"{result['processor']}, {result['cores']} cores of which one is used, NumPy {result['numpy']}, torch "
        f"{result['torch']}, {result['date']}{busy}."
    )


def filled(page: str) -> str:
    """The page with what was measured between its marks."""
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    return with_tables(page, {"measured": table(result), "machine": about(result)})


def main() -> int:
    """Measure in a process with one thread, and write; or with --check only compare."""
    if "--check" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        return int(page != filled(page))
    if os.environ.get("OMP_NUM_THREADS") != "1":
        return subprocess.run(
            [sys.executable, __file__], env=facts.environment_for(1), check=False
        ).returncode
    before = facts.load()
    result = facts.of_this_machine() | {
        "command": "python benchmarks/decoding.py",
        "meaning": "median and quartiles of the rounds' ratios, ours ÷ other; CPU milliseconds, medians",
        "results": measure(),
        "load_before": before,
        "load_after": facts.load(),
    }
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
