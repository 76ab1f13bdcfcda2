"""What the commands print: plain lines, and the bar while grading. Nothing from outside is printed past it."""

from __future__ import annotations

from os.path import relpath
from typing import TYPE_CHECKING

from rich.console import Console

from sdpa_helpers.grading.plain_text import plain

if TYPE_CHECKING:
    from rich.progress import Progress

    from sdpa_helpers.checking.authors.survivors import MutantHunt

console = Console(markup=False, emoji=False)
complain = Console(stderr=True, markup=False, emoji=False)


def say(text: str) -> None:
    """Print a line; like all that is printed it may hold names from outside."""
    console.print(plain(text))


def complain_of(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    complain.print(plain(text), style=style)


def warn(text: str) -> None:
    """Print a line that must not be overlooked, to standard error."""
    complain_of(text, "bold yellow")


def count(number: int, what: str, several: str = "") -> str:
    """A number with its noun, e.g. "1 learner", "2 learners"."""
    return f"{number} {what}" if number == 1 else f"{number} {several or what + 's'}"


def say_uncut(text: str) -> None:
    """Print lines that somebody may copy: however wide the terminal is, none is broken."""
    console.print(plain(text), highlight=False, soft_wrap=True)


def progress_bar() -> Progress:
    """A bar on standard error that goes away when all is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # It refreshes when something has happened: a thread of its own would keep the grader from forking workers.
    return Progress(*columns, console=complain, transient=True, auto_refresh=False)


def show_hunt(hunt: MutantHunt, seeds: int) -> None:
    """What became of the mutants of an exercise for some seeds: a line, and a paragraph for each that survives."""
    count = f"{hunt.mutants} mutants, {hunt.equivalent} of them the same function"
    say_uncut(f"{hunt.exercise.name}: {count}, {len(hunt.survivors)} pass every case and are wrong")
    for survivor in hunt.survivors:
        mutant = survivor.mutant
        luck = "" if len(survivor.seeds) == seeds else f", for {len(survivor.seeds)} of {seeds} seeds"
        say_uncut(f"  {relpath(mutant.file)}:{mutant.line}, {mutant.kind}{luck}")
        say_uncut(f"    {mutant.name}")
        say_uncut(f"    {survivor.example}")
    for name in hunt.stale:
        say_uncut(f"  spared, and no survivor: {name}")
