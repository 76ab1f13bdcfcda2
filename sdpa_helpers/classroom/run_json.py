"""run.json of an --out folder: what was drawn or decided for a run, the options that marks depend on, what is new."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sdpa_helpers.classroom.collect import Late
from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.grading.grade_one import Settings

Command = tuple[tuple[str, str | int | float | bool | None], ...]
"""(option, value) of a call of `sdpa grade`."""


@dataclass(frozen=True)
class Run:
    """What a run was started with."""

    seed: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """(option, its value in words), those of the command line that marks depend on."""
    idle: float = 0.0
    """Seconds that each submission may wait without computing; 0 where nobody has decided yet."""
    command: Command = ()
    """What was typed, for `sdpa regrade`; () where an earlier version of the course was called."""


def options_of(
    settings: Settings, late: Late, deadline: datetime | None, roster: Path | None
) -> tuple[tuple[str, str], ...]:
    """The options that marks depend on, in words. How a run is done (jobs, sandbox) is none of them."""
    off, bounds = "off", settings.limits
    most = f", {late.at_most:g} at most" if late.at_most < 1 else ""
    policy = f"penalty of {late.share:g} a day{most}" if late.policy == "penalty" else late.policy
    grace = f" after {late.grace.total_seconds() / 60:g} minutes" if late.grace else ""
    return (
        ("mistake-cap", off if settings.mistake_cap is None else f"{settings.mistake_cap:g}"),
        ("variants", f"{settings.variants}"),
        ("forbidden", settings.forbidden),
        ("deadline", deadline.isoformat() if deadline else off),
        ("late", f"{policy}{grace}"),
        ("extensions", f"{len(late.until)}" if late.until else off),
        ("roster", roster.name if roster else off),
        ("timeout", f"{bounds.seconds:g}"),
        ("memory", f"{bounds.memory_mb}"),
        ("subprocesses", "on" if bounds.subprocesses else off),
    )


def read_run(path: Path) -> Run:
    """What stands there; an empty one where nothing does that can be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        seed, options, idle = kept["seed"], kept.get("options"), kept.get("idle")
        command = tuple(dict(kept.get("command", {})).items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Run()
    pairs = options.items() if isinstance(options, dict) else ()
    words = tuple((str(k), str(v)) for k, v in pairs)
    return Run(
        seed if isinstance(seed, str) else "", words, idle if isinstance(idle, float) else 0.0, command
    )


def write_run(path: Path, run: Run) -> None:
    """Keep it, for nobody else to read."""
    kept = {"seed": run.seed, "options": dict(run.options), "idle": run.idle, "command": dict(run.command)}
    write_text(path, json.dumps(kept) + "\n", private=True)


def what_changed(before: Run, now: Run) -> tuple[str, ...]:
    """What is another than in the earlier run, e.g. "mistake-cap was 0.5 and is off now"."""
    was = dict(before.options)
    seed = ("the seed is another one",) if before.seed and before.seed != now.seed else ()
    changed = (
        f"{name} was {was[name]} and is {value} now"
        for name, value in now.options
        if was.get(name, value) != value
    )
    return (*seed, *changed)
