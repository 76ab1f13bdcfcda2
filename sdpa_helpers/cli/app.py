"""The command line `sdpa`: parse, call, print. What the commands do lives in the parts they call."""

import typer

from sdpa_helpers.cli import gradescope, learners, teachers
from sdpa_helpers.cli.bench import bench

HELP = "The course on scaled dot-product attention: check your notebooks; for those who teach: grade, report, export."

app = typer.Typer(no_args_is_help=True, add_completion=False, help=HELP, rich_markup_mode=None)

app.command(context_settings=learners.PASSES_FLAGS_ON)(learners.lab)
app.command()(learners.doctor)
app.command()(learners.check)
app.command()(learners.reset)
app.command()(learners.ledger)
app.command()(learners.remember)
app.command()(learners.interview)
app.command()(learners.cheat_sheet)
app.command()(teachers.grade)
app.command()(teachers.report)
app.command(context_settings=learners.PASSES_FLAGS_ON)(teachers.review)
app.command()(teachers.export)
app.command()(teachers.release)
app.command()(gradescope.gradescope)
app.command()(teachers.mutants)
app.command("try")(teachers.try_exercise)
app.command()(teachers.new)
app.command()(bench)


def main() -> None:
    """Run the command line."""
    app()
