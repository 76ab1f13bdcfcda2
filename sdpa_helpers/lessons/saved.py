"""What a learner has done, kept across sessions in the user's data folder, never in the repository.

The best points of each exercise, and the first answer to each prediction.
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs


def home() -> Path:
    """Where progress is kept: $SDPA_HOME, or the platform's folder for a user's data."""
    return Path(os.environ.get("SDPA_HOME") or platformdirs.user_data_dir("sdpa-helpers", appauthor=False))


class Predicted(NamedTuple):
    """The first answer to a prediction: who asks again has seen it."""

    option: int
    """From 0; −1: asked to be shown."""
    right: bool
    sure: bool | None = None
    """None where that was not asked."""


def load() -> dict[str, float]:
    """Best points by exercise; empty when nothing was kept yet or the file cannot be read."""
    return {name: float(p) for name, p in _read("progress.json").items() if isinstance(p, (int, float))}


def keep(exercise: str, points: float) -> None:
    """Keep the best result. A folder that cannot be written must not disturb the lesson: nothing is kept then."""
    best = load()
    if best.get(exercise, -1.0) < points:
        _write("progress.json", best | {exercise: points})


def load_predictions() -> dict[tuple[str, str], Predicted]:
    """First answers by lesson and name of the prediction, e.g. ("03_softmax", "one_score_rises")."""
    found = {}
    for name, kept in _read("predictions.json").items():
        lesson, slash, prediction = name.partition("/")
        if slash and isinstance(kept, list) and [type(part) for part in kept[:2]] == [int, bool]:
            sure = kept[2] if len(kept) > 2 and isinstance(kept[2], bool) else None
            found[lesson, prediction] = Predicted(kept[0], kept[1], sure)
    return found


def keep_prediction(lesson: str, prediction: str, answer: Predicted) -> None:
    """Keep the first answer; later ones change nothing."""
    name, kept = f"{lesson}/{prediction}", _read("predictions.json")
    if name not in kept:
        _write("predictions.json", kept | {name: list(answer)})


def _read(name: str) -> dict[str, Any]:
    try:
        data = json.loads((home() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _write(name: str, data: dict[str, Any]) -> None:
    path = home() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(data, indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(path)
    except OSError:
        return
