"""What a learner has done, kept across sessions in the user's data folder, never in the repository.

The best points of each exercise, the first answer to each prediction, what the deck knows, how far up a ladder.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

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


MOST_POINTS = 1e6
"""More than any exercise gives: a number beyond that, or none, was not written by us."""
MOST_OPTIONS = 4
PATIENCE = 2.0
"""Seconds to wait for another kernel that is writing; then we write all the same."""


def load() -> dict[str, float]:
    """Best points by exercise; empty when nothing was kept yet or the file cannot be read."""
    return _points(_read("progress.json"))


def best_of(points: dict[str, float], exercise: str, worth: float) -> float | None:
    """Best points of one exercise, at most its worth: it may have been worth more then. None before the first check."""
    return min(points[exercise], worth) if exercise in points else None


def keep(exercise: str, points: float) -> None:
    """Keep the best result. A folder that cannot be written must not disturb the lesson: nothing is kept then."""
    _change("progress.json", lambda kept: {exercise: max(points, _points(kept).get(exercise, points))})


def load_predictions() -> dict[tuple[str, str], Predicted]:
    """First answers by lesson and name of the prediction, e.g. ("03_softmax", "one_score_rises")."""
    found = {}
    for name, kept in _read("predictions.json").items():
        lesson, slash, prediction = name.partition("/")
        if slash and (answer := _predicted(kept)):
            found[lesson, prediction] = answer
    return found


def keep_prediction(lesson: str, prediction: str, answer: Predicted) -> None:
    """Keep the first answer; later ones change nothing, nor does what is no answer."""
    name = f"{lesson}/{prediction}"
    if _predicted(list(answer)):
        _change("predictions.json", lambda kept: {} if _predicted(kept.get(name)) else {name: list(answer)})


def load_remembered() -> dict[str, Any]:
    """What the deck keeps of each of its questions; whoever reads it has to look whether it is what was kept."""
    return _read("remember.json")


def keep_remembered(key: str, card: dict[str, Any]) -> None:
    """Keep what the deck knows of one question."""
    _change("remember.json", lambda kept: {key: card})


def load_ladder(name: str) -> dict[str, Any]:
    """Where the learner is on a ladder, as `keep_ladder` was told; whoever uses it looks at it first."""
    kept = _read("ladders.json").get(name)
    return kept if isinstance(kept, dict) else {}


def keep_ladder(name: str, place: dict[str, Any]) -> None:
    """Keep where the learner is on a ladder."""
    _change("ladders.json", lambda kept: {name: place})


def _points(kept: dict[str, Any]) -> dict[str, float]:
    numbers = {name: p for name, p in kept.items() if isinstance(p, (int, float))}
    return {name: float(p) for name, p in numbers.items() if 0 <= p <= MOST_POINTS}


def _predicted(kept: Any) -> Predicted | None:
    if not isinstance(kept, list) or [type(part) for part in kept[:2]] != [int, bool]:
        return None
    if not -1 <= kept[0] < MOST_OPTIONS:
        return None
    return Predicted(kept[0], kept[1], kept[2] if len(kept) > 2 and isinstance(kept[2], bool) else None)


def _read(name: str) -> dict[str, Any]:
    try:
        return _stored(home() / name) or {}
    except OSError:
        return {}


def _stored(path: Path) -> dict[str, Any] | None:
    """What a file holds; None when it is damaged. OSError when it cannot be read."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _change(name: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Add to a file what `changed` says of what it holds. A damaged one is put aside, as it may be mended by hand."""
    path = home() / name
    with contextlib.suppress(OSError), alone(path.parent):
        before = _stored(path)
        after = (before or {}) | changed(before or {})
        if after == before:
            return
        if before is None:
            path.replace(path.with_suffix(".damaged.json"))
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(after, indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(path)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One kernel at a time in a folder, where the system has locks: none writes over what another one keeps."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:
        end = time.monotonic() + PATIENCE
        while not _locked(file) and time.monotonic() < end:
            time.sleep(0.005)
        yield


def _locked(file: IO[str]) -> bool:
    """Try to; where there are no locks that is as good as one."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, AttributeError, OSError):  # Windows; JupyterLite; a network folder without locks
        return True
    return True
