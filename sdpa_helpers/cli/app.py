"""The command line `sdpa`: parse, call, print. What the commands do lives in the parts they call."""

import typer
from typer.core import TyperGroup

from sdpa_helpers.cli import (
    gradescope,
    grading,
    learners,
    marks,
    naming,
    study,
    teachers,
    teaching,
    term,
    viva,
)
from sdpa_helpers.cli.bench import bench

HELP = "A course on scaled dot-product attention. Begin with `sdpa lab`."

LEARN, TEACH, GRADE, WRITE = "To learn", "To teach", "To grade", "To write exercises and backends"


class ByNeed(TyperGroup):
    """Help that lists the commands by who needs them, in the order in which they were added."""

    def format_commands(self, ctx, formatter) -> None:
        """A list for each group: names in one column, and the first sentence of each command."""
        width = max(map(len, self.commands))
        rows: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            group = rows.setdefault(getattr(command, "rich_help_panel", ""), [])
            group.append((name.ljust(width), command.get_short_help_str(limit=200)))
        for panel, listed in rows.items():
            with formatter.section(panel):
                formatter.write_dl(listed)


app = typer.Typer(cls=ByNeed, no_args_is_help=True, add_completion=False, help=HELP, rich_markup_mode=None)

app.command(rich_help_panel=LEARN, context_settings=learners.PASSES_FLAGS_ON)(learners.lab)
app.command(rich_help_panel=LEARN)(learners.check)
app.command(rich_help_panel=LEARN)(learners.reset)
app.command(rich_help_panel=LEARN)(learners.remember)
app.command(rich_help_panel=LEARN)(learners.interview)
app.command(rich_help_panel=LEARN)(learners.cheat_sheet)
app.command(rich_help_panel=LEARN)(learners.attempts)
app.command(rich_help_panel=LEARN)(learners.doctor)
app.command(rich_help_panel=TEACH)(teachers.release)
app.command(rich_help_panel=TEACH)(teachers.room)
app.command(rich_help_panel=TEACH)(learners.ledger)
app.command(rich_help_panel=GRADE)(grading.grade)
app.command(rich_help_panel=GRADE)(grading.regrade)
app.command(rich_help_panel=GRADE, context_settings=learners.PASSES_FLAGS_ON)(teachers.review)
app.add_typer(marks.mark, name="mark", rich_help_panel=GRADE)
app.command(rich_help_panel=GRADE)(term.term)
app.command(rich_help_panel=GRADE)(teachers.report)
app.command(rich_help_panel=GRADE)(teaching.teaching)
app.command(rich_help_panel=GRADE)(viva.viva)
app.add_typer(study.study, name="study", rich_help_panel=GRADE)
app.command(rich_help_panel=GRADE)(naming.name)
app.command(rich_help_panel=GRADE)(naming.names)
app.command(rich_help_panel=GRADE)(teachers.export)
app.command(rich_help_panel=GRADE)(gradescope.gradescope)
app.command(rich_help_panel=WRITE)(teachers.new)
app.command("try", rich_help_panel=WRITE)(teachers.try_exercise)
app.command(rich_help_panel=WRITE)(teachers.mutants)
app.command(rich_help_panel=WRITE)(bench)


def main() -> None:
    """Run the command line."""
    app()
