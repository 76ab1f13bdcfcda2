"""Run cells in IPython and print what the last one came to: `python -m … SCENARIOS.json`, {name: [cell, …]}.

An interpreter of its own, because IPython has one shell in a process.
"""

import functools
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from sdpa_helpers.course import notebook_cells, saved, session


def main(path: str) -> None:
    """Print one JSON object: by scenario, the report of its last cell, or the error that was shown."""
    session.observe_all = functools.partial(session.observe_all, seconds=0.6)
    print(json.dumps({name: come_to(cells) for name, cells in json.loads(Path(path).read_text()).items()}))


def come_to(cells: list[str]) -> dict:
    """What the last cell of a new notebook comes to."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    notebook_cells._stood.clear()
    notebook_cells.watch()
    (saved.home() / "progress.json").unlink(missing_ok=True)
    screen = io.StringIO()
    with redirect_stdout(screen), redirect_stderr(screen):
        for cell in [notebook_cells.SETUP, *cells[:-1]]:
            shell.run_cell(cell, store_history=True)
        screen.truncate(0)
        ran = shell.run_cell(f"REPORT = {cells[-1]}", store_history=True)
    if not ran.success:
        return {"error": type(ran.error_in_exec).__name__, "text": screen.getvalue().strip("\0\n")}
    report = shell.user_ns["REPORT"]
    told = {"text": str(report), "html": report.html(), "kept": saved.load()}
    facts = ("passed", "points", "max_points", "exercise", "forbidden", "mistakes")
    return told | {name: getattr(report, name, None) for name in facts}


if __name__ == "__main__":
    main(sys.argv[1])
