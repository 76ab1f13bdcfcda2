"""What the options of `sdpa grade` are, and what is read from them."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.printing import complain_of, warn
from sdpa_helpers.grading.refusal import Refusal

if TYPE_CHECKING:
    from sdpa_helpers.classroom.collect import LatePolicy
    from sdpa_helpers.classroom.executors import Executor

Submissions = Annotated[
    Path,
    typer.Argument(
        help="A folder or a zip: <student>/<notebook>.ipynb, files with students' names, or what Canvas or Moodle "
        "exports.",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Where the gradebook and the feedback go.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Submissions graded at the same time.")]
Seed = Annotated[
    str | None,
    typer.Option(
        help="For tests: hidden inputs are drawn from it. Others on the machine can read a command line: "
        "--seed-file, or SDPA_SEED in the environment, keep it to you. Default: a fresh secret."
    ),
]
SeedFile = Annotated[
    Path | None,
    typer.Option("--seed-file", help="A file whose first line is the seed. Default: a fresh secret."),
]
Gradebook = Annotated[str | None, typer.Option(help="SQLAlchemy URL; default: SQLite in the --out folder.")]
Where = Annotated[
    str,
    typer.Option(
        help='"local": --jobs processes of this machine; "dask=ADDRESS": the workers of a Dask scheduler.'
    ),
]
SANDBOXES = ("auto", "require", "off")
Sandbox = Annotated[
    str, typer.Option(help='"auto": the best that holds here; "require": refuse to run without; "off".')
]
Forbidden = Annotated[
    str, typer.Option(help='Answers that use what is not there: "zero" points, or only a "flag".')
]
MistakeCap = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="At most this share of an exercise for an answer with a named mistake, e.g. 0.5."
    ),
]
Variants = Annotated[
    int, typer.Option(min=1, max=10, help="Sets of hidden inputs; each learner gets one of them.")
]
Deadline = Annotated[
    str | None,
    typer.Option(help="ISO time, e.g. 2026-05-01T23:59 or …+02:00: the newest file before it counts."),
]
LateFiles = Annotated[
    str,
    typer.Option(
        help='Late files: "use": graded where there is no other with an answer, and flagged; "ignore"; "penalty".'
    ),
]
LatePenalty = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="With --late penalty: the share of the points that each started day costs. Default: 0.1.",
    ),
]
Roster = Annotated[
    Path | None,
    typer.Option(help="Moodle's grading worksheet: says when each submission came, which its zip does not."),
]
Fresh = Annotated[bool, typer.Option("--fresh/--resume", help="Start over, or go on where a run stopped.")]
AllRows = Annotated[
    bool, typer.Option("--all-rows", help="Print a row for each learner too, not the summary alone.")
]


def read_seed(given: str | None, file: Path | None) -> str:
    """The seed that was named, on the command line, in a file or in the environment; "" when none was.

    It is taken out of the environment: no process that is started later inherits it.
    """
    from_environment = os.environ.pop("SDPA_SEED", "").strip()
    if file is None:
        return given or from_environment
    if given:
        raise Refusal("--seed and --seed-file: name one of them")
    try:
        with file.open(encoding="utf-8") as lines:
            seed = lines.readline(1000).strip()
    except (OSError, ValueError) as error:
        raise Refusal(f"--seed-file {file} cannot be read: {error}") from None
    if not seed:
        raise Refusal(f"--seed-file {file}: its first line is empty; expected the seed")
    return seed


def read_late(policy: str, penalty: float | None) -> LatePolicy:
    """What becomes of late files."""
    if penalty is not None and policy != "penalty":
        raise Refusal("--late-penalty says what --late penalty costs: give both")
    if policy == "use" or policy == "ignore" or policy == "penalty":
        return policy
    raise Refusal(f"--late {policy} is unknown: --late takes use, ignore or penalty")


def read_time(text: str | None) -> datetime | None:
    """An ISO time; without a zone it is this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise Refusal(f"--deadline {text} is no ISO time; expected e.g. 2026-05-01T23:59") from None


def find_executor(name: str, jobs: int) -> Executor:
    """Where to grade."""
    from sdpa_helpers.classroom.executors import Processes

    if name == "local":
        return Processes(jobs)
    from sdpa_helpers.classroom.cluster import Cluster

    return Cluster(name.removeprefix("dask="), lambda note: complain_of(note, "yellow"))


def sandbox_level(wanted: str) -> str:
    """The level of confinement to use; says loudly what is missing, and refuses when "require" cannot be met."""
    from sdpa_helpers.grading.kernel_package import kernel_package
    from sdpa_helpers.sandbox.choose_level import CannotTry, NoSandbox, choose, explain

    try:
        choice = choose(wanted, kernel_package())
    except NoSandbox as error:
        raise Refusal(f"--sandbox require: no sandbox holds on this machine.\n{error}") from None
    except CannotTry as error:
        raise Refusal(f"{error}. Nothing was graded") from None
    if choice.level == "off":
        warn(
            "No sandbox: submissions run as ordinary processes of your account, with limits on time and memory only. "
            "Grade only notebooks that you would run yourself."
        )
    elif choice.missing:
        warn(f"Sandbox: {choice.level}, which is not the best there is.")
    if choice.missing:
        complain_of(explain(choice.missing) + "\nSee docs/sandbox.md.")
    return choice.level
