"""What a clock or a long training run says: measured once, and shipped with the command that made it.

No two processors agree on such numbers, so no lesson computes them while it is read. Where it has them, its `run.py`
measures, `python -m sdpa_helpers.lessons.<lesson>.run` writes them into `results.json` beside it, and the lesson's
`measured()` reads that file; `measured(here=True)` asks the reader's own machine.
"""

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

PACKAGES = ("numpy", "torch", "numba")

Found = TypeVar("Found", bound=tuple[Any, ...])


class About(NamedTuple):
    """What made the numbers."""

    command: str
    date: str
    processor: str
    versions: Mapping[str, str]

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.processor}, {self.date}, {versions}\nmade by: {self.command}"


def about(lesson: str) -> About:
    """This machine, today; `lesson` is the package of the lesson that measures, by its dotted name."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return About(f"python -m {lesson}.run", today, processor(), versions)


def processor() -> str:
    """The processor's name and family, as far as the system tells: some names alone say nothing."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if "model name" not in told:
        return platform.processor() or platform.machine()
    numbers = [told.get(key, "?") for key in ("cpu family", "model", "stepping")]
    return f"{told['model name']} (family {numbers[0]}, model {numbers[1]}, stepping {numbers[2]})"


def write(file: Path, found: tuple[Any, ...]) -> None:
    """A named tuple as JSON, a field a line, numbers to four digits; an interrupted write leaves the old file."""
    fields: dict[str, Any] = _plain(found)
    lines = ",\n".join(f"{json.dumps(name)}: {_packed(value)}" for name, value in fields.items())
    beside = file.with_suffix(".part")
    beside.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    os.replace(beside, file)


def read(file: Path, kind: type[Found]) -> Found:
    """The named tuple of this kind that `write` put there."""
    return _made(kind, json.loads(file.read_text(encoding="utf-8")))


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Named tuples as their fields, arrays as lists."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else getattr(value, "item", lambda: value)()


def _made(kind: Any, data: Any) -> Any:
    """The inverse of `_plain`, for named tuples, mappings, tuples, arrays and plain values."""
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return kind(*(_made(hints[name], data[name]) for name in kind._fields))
    if get_origin(kind) is tuple:
        return tuple(_made(get_args(kind)[0], part) for part in data)
    if isinstance(data, dict):
        return {name: _made(get_args(kind)[1], part) for name, part in data.items()}
    return np.array(data) if isinstance(data, list) else data
