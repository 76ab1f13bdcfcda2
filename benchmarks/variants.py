"""What a variant of attention costs beside attention to all keys, on one thread: the tables of docs/variants.md.

    python benchmarks/variants.py            measures, writes results/variants.json and the tables of the page
    python benchmarks/variants.py --page     writes only the tables, of the stored result
    python benchmarks/variants.py --check    says whether the page has them

On each backend every variant takes its turn in every round, in float32; a ratio is the median of the rounds' own.
Of one thread, by its CPU time, so that other processes disturb little. The block mask is made once, before.
"""

from __future__ import annotations

import datetime
import functools
import json
import sys
from pathlib import Path

import numpy as np

from sdpa_helpers import attention, scaled_dot_product_attention
from sdpa_helpers.attention import known_backends
from sdpa_helpers.bench.rounds import Pace, cpu_clock, interleaved, ratio
from sdpa_helpers.course.generated import keep_page, with_tables
from sdpa_helpers.course.shipped import processor

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "variants.md"
RESULT = HERE / "results" / "variants.json"

N, D, HEADS, ROUNDS = 4096, 64, 2, 7
HOUR = 3600.0  # no setting is cut short
BACKENDS = ("numpy-tiled", "torch-tiled")
IDS = np.repeat(np.arange(8), N // 8)
ELSEWHERE = {
    "triton": ["yes, asked about all pairs once a call", "left to `torch`"],
    "ring": ["refused", "refused"],
}
VARIANTS = {
    "causal": {"mask_mod": attention.causal},
    "sliding_window(256)": {"mask_mod": attention.sliding_window(256)},
    "sliding_window(1024)": {"mask_mod": attention.sliding_window(1024)},
    "documents, 8 of 512": {"mask_mod": attention.documents(IDS)},
    "prefix_lm(1024)": {"mask_mod": attention.prefix_lm(1024)},
    "padding, 90 %": {"mask_mod": attention.padding(N // 10)},
    "softcap(30)": {"score_mod": attention.softcap(30.0)},
    "alibi(2)": {"score_mod": attention.alibi(HEADS)},
}


def calls() -> dict[str, dict]:
    """The options of every call that is timed, by its name: each variant, and those with a mask_mod with blocks too."""
    found = {"all keys": {}} | VARIANTS
    for name, options in VARIANTS.items():
        if "mask_mod" in options:
            blocks = attention.create_block_mask(options["mask_mod"], None, None, N, N)
            found[f"{name}, blocks"] = {"mask_mod": blocks}
    return found


def measure() -> dict:
    """All ratios, and what they depend on."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    options = calls()
    arrays = np.random.default_rng(0).standard_normal((3, 1, HEADS, N, D), dtype=np.float32)
    given = {"numpy": list(arrays), "torch": [torch.from_numpy(x) for x in arrays]}
    pace, ratios = Pace(ROUNDS, seconds=HOUR, clock=cpu_clock()), {}
    with threadpool_limits(1):
        for backend in BACKENDS:
            attend = functools.partial(
                scaled_dot_product_attention, *given[known_backends.BACKENDS[backend].kind], backend=backend
            )
            times = interleaved(
                {name: functools.partial(attend, **more) for name, more in options.items()}, pace
            )
            for name, found in times.items():
                ratios[f"{backend}: {name}"] = round(ratio(found, times["all keys"]).median, 3)
    needed = {
        name: round(1 - options[f"{name}, blocks"]["mask_mod"].sparsity() / 100, 3)
        for name in VARIANTS
        if f"{name}, blocks" in options
    }
    return {
        "command": "python benchmarks/variants.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "setting": {"n": N, "d": D, "heads": HEADS, "dtype": "float32", "threads": 1, "rounds": ROUNDS},
        "meaning": "time divided by that of attention to all keys on the same backend: median of the rounds' ratios",
        "needed": needed,
        "ratios": ratios,
    }


def measured_table(result: dict) -> str:
    """A line for each variant."""
    head = ["", "blocks that are not absent"]
    for backend in BACKENDS:
        head += [f"`{backend}`", "… with blocks"]
    rows = []
    for name in VARIANTS:
        share = result["needed"].get(name)
        row = [f"`{name}`", "all" if share is None else f"{100 * share:.0f} %"]
        for backend in BACKENDS:
            for call in (name, f"{name}, blocks"):
                ratio = result["ratios"].get(f"{backend}: {call}")
                row.append("" if ratio is None else f"{ratio:.2f}")
        rows.append(row)
    return table(head, rows)


def served_table() -> str:
    """What each backend does with a call that has a mod, as explain_backend says it, for ordinary arrays."""
    rows = []
    for name, backend in known_backends.BACKENDS.items():
        if backend.needs_gpu or backend.needs_group:  # not here: as their files say it in `cannot`
            rows.append([f"`{name}`", *ELSEWHERE[name]])
            continue
        arrays = np.zeros((3, 1, 1, 4, 4), np.float32)
        row = [f"`{name}`"]
        for options in ({"mask_mod": attention.causal}, {"score_mod": attention.softcap(30.0)}):
            chosen = attention.explain_backend(*arrays, backend=name, **options)
            row.append("yes" if chosen.backend == name else f"left to `{chosen.backend}`")
        rows.append(row)
    return table(["backend", "mask_mod", "score_mod"], rows)


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, [":--"] * len(head), *rows])


def facts(result: dict) -> str:
    """What the figures depend on, as a sentence of the page."""
    setting = result["setting"]
    return (
        f"{setting['n']} tokens, {setting['d']} features, {setting['heads']} heads, {setting['dtype']}, one thread, "
        f"{result['processor']}, NumPy {result['numpy']}, torch {result['torch']}, {result['date']}: medians of "
        f"{setting['rounds']} rounds."
    )


def filled(page: str) -> str:
    """The page with what was measured between its marks."""
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    parts = {"served": served_table(), "measured": measured_table(result), "facts": facts(result)}
    return with_tables(page, parts)


def main() -> int:
    """Measure and write, or only one of these."""
    if not {"--check", "--page"} & set(sys.argv):
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    return keep_page(PAGE, filled)


if __name__ == "__main__":
    sys.exit(main())
