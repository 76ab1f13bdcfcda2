"""`sdpa gradescope`: an autograder for Gradescope."""

from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli import grade_options as given
from sdpa_helpers.cli.printing import say
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.grading.refusal import Refusal


@refuses
def gradescope(
    notebook: Annotated[list[str], typer.Argument(help="What learners hand in, e.g. 03_softmax.")],
    out: Annotated[Path, typer.Option("--out", help="The zip to write.")] = Path("autograder.zip"),
    seed_file: given.SeedFile = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one notebook.")] = 60.0,
    mistake_cap: given.MistakeCap = None,
    sandbox: given.Sandbox = "auto",
    torch: Annotated[bool, typer.Option("--torch", hidden=True, help="Without effect.")] = False,
) -> None:
    """Write an autograder for Gradescope. Its marks are those of `sdpa grade` with the same seed."""
    try:
        from sdpa_helpers.classroom.gradescope.packing_list import Assignment, write_autograder
    except ModuleNotFoundError:
        raise Refusal("this is the student edition; autograders are made with the instructor's") from None

    refuse_unknown("--sandbox", sandbox, given.SANDBOXES)
    try:
        seed = seed_file.read_text(encoding="utf-8").partition("\n")[0].strip() if seed_file else ""
    except OSError as error:
        raise Refusal(f"{seed_file}: {error.strerror or error}") from None
    assignment = Assignment(tuple(dict.fromkeys(notebook)), timeout, mistake_cap, sandbox)
    if torch:
        say("--torch has no effect any more: answers are written in NumPy, and nothing else is there")
    path = write_autograder(out, assignment, seed)
    say(
        f"{path}: {path.stat().st_size / 1e6:.1f} MB. Upload it as the autograder; choose Ubuntu 24.04 there."
    )
