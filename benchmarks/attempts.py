"""What a line in the log of attempts adds to a check.

    python benchmarks/attempts.py

writes benchmarks/results/attempts.json: milliseconds of a line in a log that is full and of a check of `softmax`, taken
in turn, median of each, and their ratio.
"""

import datetime
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sdpa_helpers.course import attempts
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import check
from sdpa_helpers.course.shipped import processor

ROUNDS = 30
RESULT = Path(__file__).parent / "results" / "attempts.json"


def fill(home: Path) -> None:
    """A log in which there is room for no more than these rounds."""
    line = f"{attempts.Attempt(1.0, 'entropy', 1, 2, ('not-summed',), 1, 2.0).line()}\n"
    for name in (attempts.FILE, attempts.EARLIER):
        (home / name).write_text(line * (attempts.MOST_BYTES // len(line) - 2 * ROUNDS))


def milliseconds(work: Callable[[], object]) -> float:
    """Of one call."""
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    """Measure, print, write."""
    asked, lines, checks = find("softmax"), [], []
    with tempfile.TemporaryDirectory() as home:
        os.environ["SDPA_HOME"] = home
        fill(Path(home))
        for _ in range(ROUNDS):
            lines.append(milliseconds(lambda: attempts.log("softmax", 1, 2)))
            checks.append(milliseconds(lambda: check(asked.reference, exercise="softmax", keep=False)))
    line, whole = statistics.median(lines), statistics.median(checks)
    found = {
        "command": "python benchmarks/attempts.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "line_ms": round(line, 3),
        "check_ms": round(whole, 1),
        "share_of_a_check": round(line / whole, 4),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
