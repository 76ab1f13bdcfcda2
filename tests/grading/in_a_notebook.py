"""Run notebooks' cells in IPython, check every answer, and print what `check` said: `python -m … CELLS.json`.

The file holds a list of notebooks: {"cells": […], "exercises": […]}. An interpreter of its own, because IPython has
one shell in a process.
"""

import functools
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from sdpa_helpers.course import session

LIMIT = 0.5
"""Seconds for each case: an endless one is among them."""


def main(path: str) -> None:
    """Print one JSON object for each notebook: by exercise, what `check` said."""
    session.observe_all = functools.partial(session.observe_all, seconds=LIMIT)
    said = [checked(**notebook) for notebook in json.loads(Path(path).read_text())]
    print(json.dumps(said))


def checked(cells: list[str], exercises: list[str]) -> dict[str, dict]:
    """What `check` says of every exercise, after all cells have run in their order."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    with redirect_stdout(io.StringIO()):
        for cell in cells:
            shell.run_cell(cell, store_history=True)
        return {name: report_on(shell, name) for name in exercises}


def report_on(shell: InteractiveShell, name: str) -> dict:
    """One report as plain data; an answer that defined nothing has none, and earns nothing."""
    ran = shell.run_cell(f"REPORT = check({name!r}, keep=False)", store_history=True)
    if not ran.success:
        return {"points": 0.0, "cases": [], "forbidden": [], "text": str(ran.error_in_exec)}
    report = shell.user_ns["REPORT"]
    cases = [[c.case, c.passed, c.points, c.diagnosis, c.message] for c in report.cases]
    return {
        "points": report.points,
        "passed": report.passed,
        "forbidden": list(report.forbidden),
        "mistakes": list(report.mistakes),
        "cases": cases,
        "withheld": report.withheld,
        "text": str(report),
    }


if __name__ == "__main__":
    main(sys.argv[1])
