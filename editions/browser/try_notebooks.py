"""Run notebooks in the browser's Python, under Node, and say what came of them.

    python -m editions.browser.try_notebooks [--runtime build/site/pyodide] [NOTEBOOK…]

Without names: all solutions and all lessons, which takes three minutes. A solution should earn all its points. A
lesson should raise nothing, and leave out exactly the cells that are tagged with what they need.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editions.browser.runtime import LOCK, ROOT, build_runtime
from sdpa_helpers.course.registry import LESSONS, exercises_of

RUNNER = Path(__file__).with_name("run_notebook.mjs")


@dataclass(frozen=True)
class Outcome:
    """What came of one notebook."""

    notebook: Path
    seconds: float
    cells: int
    errors: dict[str, str]  # by the cell's id
    not_run: tuple[str, ...]
    points: dict[str, float]

    @property
    def possible(self) -> dict[str, float]:
        """What its exercises give, where it is a notebook of solutions."""
        if self.notebook.parent.name != "solutions":
            return {}
        return {exercise.name: exercise.max_points for exercise in exercises_of(self.notebook.stem)}

    @property
    def tagged(self) -> tuple[str, ...]:
        """The cells that say themselves that they need what a browser lacks."""
        cells = json.loads(self.notebook.read_text(encoding="utf-8"))["cells"]
        tags = {cell["id"]: cell["metadata"].get("tags", []) for cell in cells}
        return tuple(name for name, those in tags.items() if any(tag.startswith("needs-") for tag in those))

    @property
    def as_it_should_be(self) -> bool:
        """No error, all points, nothing left out but what says so."""
        all_points = self.points == self.possible or self.notebook.parent.name != "solutions"
        return not self.errors and all_points and self.not_run == self.tagged

    def __str__(self) -> str:
        told = [
            f"{self.notebook.parent.name}/{self.notebook.name}: {self.cells} cells in {self.seconds:.1f} s"
        ]
        if self.possible:
            told.append(f"{sum(self.points.values()):g} of {sum(self.possible.values()):g} points")
        told += [f"{len(self.not_run)} cells not run"] if self.not_run else []
        told += [f"{cell}: {error}" for cell, error in self.errors.items()]
        return ("" if self.as_it_should_be else "WRONG ") + "; ".join(told)


def run_in_node(runtime: Path, notebooks: Sequence[Path], lock: str = LOCK) -> list[Outcome]:
    """Run notebooks in one Python, one after the other; RuntimeError where Node itself fails."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is missing: install Node.js 20 or newer")
    command = [node, str(RUNNER), str(runtime), "--lock", lock, *map(str, notebooks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    return [_outcome(path, told) for path, told in zip(notebooks, json.loads(done.stdout), strict=True)]


def _outcome(path: Path, told: dict[str, Any]) -> Outcome:
    errors = {error["id"]: error["error"] for error in told["errors"]}
    not_run = tuple(one["id"] for one in told["not_run"])
    return Outcome(path, told["seconds"], told["cells"], errors, not_run, told["points"])


def all_notebooks() -> list[Path]:
    """Every solution, then every lesson."""
    solutions = [ROOT / "solutions" / f"{lesson}.ipynb" for lesson in LESSONS]
    return [*solutions, *sorted((ROOT / "notebooks").glob("*.ipynb"))]


def main() -> None:
    """Run what is named, print a line for each, and exit with 1 where one is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m editions.browser.try_notebooks")
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--runtime", type=Path, default=ROOT / "build" / "site" / "pyodide")
    asked = parser.parse_args()
    outcomes = run_in_node(build_runtime(asked.runtime), asked.notebooks or all_notebooks())
    print(*outcomes, sep="\n")
    earned = sum(sum(outcome.points.values()) for outcome in outcomes)
    right = sum(outcome.as_it_should_be for outcome in outcomes)
    print(f"{right} of {len(outcomes)} notebooks as they should be; {earned:g} points")
    sys.exit(right < len(outcomes))


if __name__ == "__main__":
    main()
