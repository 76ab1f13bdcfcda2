"""The tables of docs/long-contexts.md, computed: by the formulas of attention/ring/volumes.py and results/ring.json.

python benchmarks/long_contexts.py            writes them into the page
python benchmarks/long_contexts.py --check    only says whether the page has them
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sdpa_helpers.attention.ring import volumes
from sdpa_helpers.attention.ring.volumes import Shape
from sdpa_helpers.course.generated import keep_page, with_tables

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "long-contexts.md"
RESULT = HERE / "results" / "ring.json"

N = 131_072
BF16, FP32 = 2, 4
MODELS = {  # one sequence; layers, heads of query and key, features: the models' config.json
    "Llama 2 7B (32 heads, no groups)": (32, Shape(1, N, heads=32, kv_heads=32, d_k=128, d_v=128)),
    "Llama 3.1 8B (32 heads share 8)": (32, Shape(1, N, heads=32, kv_heads=8, d_k=128, d_v=128)),
    "Llama 3.1 405B (128 heads share 8)": (126, Shape(1, N, heads=128, kv_heads=8, d_k=128, d_v=128)),
}
HARDWARE = {  # peak FLOP/s in bf16 without sparsity; bytes/s that one GPU sends, one direction
    "A100, NVLink 3": (312e12, 300e9),
    "A100, InfiniBand HDR": (312e12, 25e9),
    "H100 SXM, NVLink 4": (989e12, 450e9),
    "H100 SXM, InfiniBand NDR": (989e12, 50e9),
    "B200, NVLink 5": (2250e12, 900e9),
}


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.0f}"


def volume_table() -> str:
    """What each rank sends and holds, for some models."""
    rows = []
    for name, (layers, shape) in MODELS.items():
        for ranks in (8, 16):
            for way in ("ring", "all-gather", "Ulysses"):
                rows.append([name, str(ranks), way, *volume_cells(way, shape, ranks, layers)])
    head = [
        "model",
        "ranks",
        "way",
        "forward, MB",
        "backward, MB",
        "all layers, both, GB",
        "held beside its own, MB",
    ]
    return table(head, rows)


def volume_cells(way: str, shape: Shape, ranks: int, layers: int) -> list[str]:
    """One row's numbers; "too few heads" where that way does not work."""
    try:
        if way == "ring":
            forward = volumes.ring_bytes(shape, ranks, BF16)
            backward = volumes.ring_bytes(shape, ranks, BF16, backward=True, grad_itemsize=FP32)
            held = volumes.ring_memory(shape, ranks, BF16)
        elif way == "all-gather":
            forward = volumes.all_gather_bytes(shape, ranks, BF16)
            backward = volumes.all_gather_bytes(shape, ranks, BF16, backward=True, grad_itemsize=FP32)
            held = volumes.all_gather_memory(shape, BF16)
        else:
            forward = backward = volumes.ulysses_bytes(shape, ranks, BF16)
            held = volumes.ulysses_memory(shape, ranks, BF16)
    except ValueError:
        return ["too few heads", "", "", ""]
    total = f"{layers * (forward + backward) / 1e9:,.1f}"
    return [megabytes(forward), megabytes(backward), total, megabytes(held)]


def hiding_table(result: dict) -> str:
    """From how many rows a rank's sending hides behind its computing, by hardware."""
    rows = []
    shapes = [shape for _, shape in MODELS.values()]
    for name, (flops, sent) in HARDWARE.items():
        rows.append(
            [name, f"{flops / 1e12:,.0f}", f"{sent / 1e9:,.0f}", *hiding_cells(shapes, flops, sent, BF16)]
        )
    flops, sent = this_machine(result)
    cells = hiding_cells(shapes, flops, sent, FP32)
    rows.append(
        [
            "this machine, one core, gloo, float32 (measured)",
            f"{flops / 1e12:.2f}",
            f"{sent / 1e9:.2f}",
            *cells,
        ]
    )
    names = [name.split(" (")[0] for name in MODELS]
    head = ["rank", "TFLOP/s", "GB/s", *(f"{name}: forward / backward" for name in names)]
    return table(head, rows)


def hiding_cells(shapes: list[Shape], flops: float, sent: float, itemsize: int) -> list[str]:
    """One row's numbers: forward / backward for each model."""
    cells = []
    for shape in shapes:
        forward = volumes.hiding_rows(shape, flops, sent, itemsize, is_causal=True)
        backward = volumes.hiding_rows(
            shape, flops, sent, itemsize, is_causal=True, backward=True, grad_itemsize=FP32
        )
        cells.append(f"{forward:,.0f} / {backward:,.0f}")
    return cells


def this_machine(result: dict) -> tuple[float, float]:
    """FLOP/s of one process alone, from the longest sequence without a mask; bytes/s over loopback."""
    full = [line for line in result["results"] if not line["is_causal"]]
    longest = max(full, key=lambda line: Shape(**line["shape"]).flops(False))
    flops = Shape(**longest["shape"]).flops(False) / (longest["forward"]["cpu_ms_alone"] / 1e3)
    return flops, longest["gloo_gigabytes_per_second"] * 1e9


def measured_table(result: dict) -> str:
    """What benchmarks/ring.py measured."""
    rows = []
    for line in result["results"]:
        shape, ways = Shape(**line["shape"]), [line["forward"], line["backward"]]
        heads = str(shape.heads) if shape.heads == shape.kv_heads else f"{shape.heads} share {shape.kv_heads}"
        as_formula = all(set(way["bytes_sent_per_rank"]) == {way["bytes_by_formula"]} for way in ways)
        wire = line["bytes_on_the_loopback_device"]
        row = [
            f"{line['processes']}: {shape.n}, {heads}, {shape.d_k}, {'causal' if line['is_causal'] else 'full'}",
            " / ".join(f"{max(way['bytes_sent_per_rank']):,}" for way in ways),
            "equal" if as_formula else "NOT EQUAL",
            "" if wire is None else f"+{100 * (wire / line['bytes_of_all_ranks'] - 1):.1f} %",
            " / ".join(f"{way['cpu_ratio']:.2f}" for way in ways),
            f"{line['work_max_by_mean']:.2f}",
            " / ".join(way["error"] for way in ways),
            " / ".join(way["error_alone"] for way in ways),
        ]
        rows.append(row)
    head = ["ranks: n, heads, d, mask", "bytes sent by each rank", "formula", "on the wire"]
    head += ["CPU ÷ one process", "work, max ÷ mean", "error", "error of one process"]
    return table(head, rows)


def facts(result: dict) -> str:
    """What the measurement depends on."""
    loads = [line["load"] for line in result["results"]]
    return (
        f"{result['processor']}, {result['cores']} cores, torch {result['torch']}, {result['date']}, medians of "
        f"{result['rounds']} rounds, load average {min(loads):.1f} to {max(loads):.1f} while it ran."
    )


def tables() -> dict[str, str]:
    """All parts of the page that are computed, by the name of their place."""
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    return {
        "volumes": volume_table(),
        "hiding": hiding_table(result),
        "measured": measured_table(result),
        "facts": facts(result),
    }


def filled(page: str) -> str:
    """The page with what was measured between its marks."""
    return with_tables(page, tables())


def main() -> int:
    """Write the page, or with --check only compare."""
    return keep_page(PAGE, filled)


if __name__ == "__main__":
    sys.exit(main())
