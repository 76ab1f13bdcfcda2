"""The files of `sdpa bench`: attention.csv, attention.json and two figures, whose words stand in the JSON."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sdpa_helpers.bench import figures

if TYPE_CHECKING:
    from pathlib import Path

    from sdpa_helpers.bench.rows import TimedRow


def write(rows: list[TimedRow], about: dict[str, Any], folder: Path) -> list[str]:
    """All files; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    if any(figures.lengths_of(rows).values()):
        figures.draw_lengths(rows, about, folder / "attention.png")
        drawn["attention.png"] = figures.lengths_in_words(rows)
    if figures.ratios_of(rows):
        figures.draw_ratios(rows, about, folder / "attention-ratios.png")
        drawn["attention-ratios.png"] = figures.ratios_in_words(rows)
    records = [asdict(row) for row in rows]
    with (folder / "attention.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    text = json.dumps(about | {"figures": drawn, "results": records}, indent=1, ensure_ascii=False)
    (folder / "attention.json").write_text(text + "\n", encoding="utf-8")
    return ["attention.csv", "attention.json", *drawn]
