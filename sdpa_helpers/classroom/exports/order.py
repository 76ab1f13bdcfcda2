"""What an export is asked for, and what it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.term.policy import ANY, Homework
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook


class CannotExport(Refusal):
    """The export cannot be made as asked; its text says what to change."""


@dataclass(frozen=True)
class Order:
    """What to export. Each system takes from it what it knows."""

    folder: ResultsFolder
    notebooks: tuple[str, ...] = ()
    """Only these; none: all that were graded."""
    out: Path | None = None
    """The file or folder to write; None: one in `folder`."""
    roster: Path | None = None
    """The file that the learning system itself exports."""
    columns: tuple[str, ...] = ()
    """NOTEBOOK=TITLE, where the system's column has another name."""
    gradebook: str | None = None
    """SQLAlchemy URL of the system's own gradebook."""
    assignment: str = ""
    """The system's name for all the notebooks together."""
    allow_ungraded: bool = False
    """Whether to go on where the grader itself failed on some, which then get no mark."""
    rules: Homework = ANY
    """What counts of it, and who is excused, by term.toml."""

    def target(self, name: str) -> Path:
        """Where to write: as asked, else under this name in the folder's place for exports."""
        return self.out or self.folder.exports / name

    def results(self) -> Iterator[GradedNotebook]:
        """The results to export, one at a time."""
        mine = (r for r in self.folder.read_results() if r.notebook in self.notebooks)
        return (r for r in mine if r.student not in self.rules.excused)


@dataclass(frozen=True)
class Exported:
    """What was written."""

    paths: tuple[Path, ...]
    learners: int
    notes: tuple[str, ...] = ()
    """What a human should know, e.g. who is not in the roster."""
