"""For authors: the table of docs/README.md, what was counted and measured, from the exercises and benchmarks/results.

`make minutes` writes it.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from sdpa_helpers.classroom.course_map import put_rows
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import all_claims, all_exercises

PAGE = "docs/README.md"
_ROWS = re.compile(r"(?<=\| what \| how much \| where it comes from \|\n\|:--\|:--\|:--\|\n)(?:\|.*\n)+")


def with_numbers(page: str, root: Path) -> str:
    """The page, with the rows of its table as they are today."""
    return put_rows(_ROWS, _counted() + _grading(root) + _browser(root), page)


def _counted() -> list[str]:
    # An answer that is mended is taken whole; its mistakes are copies of those of the exercise that it mends.
    exercises = [one for one in all_exercises().values() if not one.whole]
    named = sum(len({wrong.name for wrong in one.wrong}) for one in exercises)
    return [
        f"| known mistakes, each with a name of its own | {named:,}, in {len(exercises)} exercises "
        "| [the exercises](../sdpa_helpers/lessons), each counted once |",
        f"| claims of five articles, computed | {len(all_claims())} | [the ledger](ledger.md), `make ledger` |",
    ]


def _grading(root: Path) -> list[str]:
    tables = _results(root, "grader")["tables"]
    large = _results(root, "grader_scale")["graded"]["1000 submissions, 2 jobs"]["seconds"]

    def costs(system: str) -> list[str]:
        """Of a submission without and with torch."""
        medians = [tables[f"{way} torch"]["medians"][system] for way in ("without", "with")]
        return [f"{median['cpu_per_submission']:.2f} s" for median in medians]

    ours, theirs = costs("sdpa grade"), costs("nbgrader autograde")
    return [
        f"| processor time to grade a submission | {ours[0]}; with torch {ours[1]} "
        f"(`nbgrader autograde`: {theirs[0]} and {theirs[1]}) | [20 submissions, 2 cores]"
        "(../benchmarks/results/grader.json), `python benchmarks/grader.py --rounds 1` |",
        f"| 1,000 submissions, two jobs | {large:.0f} s on 2 cores | [grader_scale.json]"
        "(../benchmarks/results/grader_scale.json), `python benchmarks/grader_scale.py` |",
    ]


def _browser(root: Path) -> list[str]:
    medians = _results(root, "browser_edition")["medians"]
    page, lite = medians["light page"], medians["JupyterLite"]
    return [
        "| from a link to the first named mistake, nothing installed "
        f"| {page['cold_s']:.1f} s the first time, {page['warm_s']:.1f} s after that, {page['bytes'] / 1e6:.1f} MB; "
        f"in JupyterLite {lite['cold_s']:.0f} s, then {lite['warm_s']:.0f} s "
        "| [Chromium, 2 cores, served from the same machine](../benchmarks/results/browser_edition.json), "
        "`python -m benchmarks.browser_edition build/site` |"
    ]


def _results(root: Path, name: str) -> Any:
    return json.loads((root / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def main() -> None:
    """Write the table."""
    root = course_root()
    keep(root, PAGE, with_numbers((root / PAGE).read_text(encoding="utf-8"), root))


if __name__ == "__main__":
    sys.exit(main())
