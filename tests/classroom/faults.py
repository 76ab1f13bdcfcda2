"""What the tests of faults share: a small class, everything a run has written, the processes of a run."""

import time
from collections.abc import Iterable
from pathlib import Path

import psutil
from sqlalchemy import create_engine, text

from tests.handing_in import RIGHT

NAME = "01_dot_product"

ANSWERS = {
    "ada": RIGHT,
    "bob": {},
    "eve": {**RIGHT, "dot_product": "import os\ndef dot_product(q, k):\n    os._exit(1)"},
    "kim": {**RIGHT, "cosine_similarity": "def cosine_similarity(q, k):\n    return q @ k"},
    "lee": {
        **RIGHT,
        "attention_scores": "def attention_scores(Q, K):\n    raise ValueError('\\udc80 \\0 \U0001f600')",
    },
    "zoe": {**RIGHT, "weighted_sum": "def weighted_sum(weights, V):\n    return weights"},
}
"""Right, untouched, deadly, wrong in several ways."""


def make_class(hand_in, folder: Path, students: Iterable[str] = ANSWERS) -> Path:
    """Submissions of all or some, and one, by max, that is no notebook; gives the folder."""
    for student in students:
        hand_in(student, **ANSWERS[student])
    broken = folder / "in" / "max" / f"{NAME}.ipynb"
    broken.parent.mkdir()
    broken.write_text('{"cells": [')
    return folder / "in"


def written(out: Path) -> dict[str, object]:
    """Everything that a run has written and that must be the same again: files as bytes, the gradebook as rows.

    Left out: the seed, the lock, what was measured on the clock.
    """
    found: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.is_dir() or name in ("run.json", ".lock", "gradebook.db", "timings.csv"):
            continue
        found[name] = path.read_bytes()
    return found | rows(f"sqlite:///{out / 'gradebook.db'}")


def rows(url: str) -> dict[str, object]:
    """The rows of a gradebook's tables, without the numbers that the database gave them."""
    joined = "select r.student, r.notebook, t.* from {} t join results r on r.id = t.result_id"
    queries = {"results": "select * from results", **{t: joined.format(t) for t in ("cases", "flags")}}
    engine = create_engine(url)
    with engine.connect() as connection:
        found = {
            table: [
                {key: value for key, value in row._mapping.items() if key not in ("id", "result_id")}
                for row in connection.execute(text(query))
            ]
            for table, query in queries.items()
        }
    engine.dispose()
    return {f"gradebook: {table}": sorted(map(repr, lines)) for table, lines in found.items()}


def alive(process: psutil.Process) -> bool:
    """Whether a process runs, dead ones that nobody has collected yet left out."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def gone(processes: Iterable[psutil.Process], within: float = 10.0) -> list[psutil.Process]:
    """Wait until processes have ended; gives those that have not."""
    deadline = time.monotonic() + within
    while (left := [p for p in processes if alive(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
