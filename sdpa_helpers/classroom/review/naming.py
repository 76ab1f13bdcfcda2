"""In the notebook of `sdpa review`: answers in code without a name, and one sentence for all who gave one of them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.sentences.command import Given, Givers, givers
from sdpa_helpers.classroom.sentences.store import Sentence, Sentences, read_sentences, tell
from sdpa_helpers.grading.refusal import Refusal

MOST, LONGEST_ANSWER = 60, 4_000
"""Of answers, those of most learners; of an answer, characters."""


@dataclass(frozen=True)
class Nameless:
    """An answer that the course has no name for, and what the instructor tells of it."""

    exercise: str
    key: str
    learners: int
    answer: str
    """The shortest of theirs."""
    says: str = ""
    points: float = 0.0


def nameless_in(found: dict[Given, Givers], told: Sentences) -> list[Nameless]:
    """Those of most learners first; the same for each reader."""
    rows = [_row(given, who, told) for given, who in found.items()]
    return sorted(rows, key=lambda row: (-row.learners, row.exercise, row.key))[:MOST]


def _row(given: Given, who: Givers, told: Sentences) -> Nameless:
    sentence = told.get(given)
    says = (sentence.says, sentence.points) if sentence else ("", 0.0)
    return Nameless(*given, len(who.learners), who.answer[:LONGEST_ANSWER], *says)


class NamingPanel(anywidget.AnyWidget):
    """A box for each answer; what is written there stands in names.toml when the panel says so."""

    _esm = Path(__file__).with_name("naming.js").read_text("utf-8")
    rows = traitlets.List().tag(sync=True)
    said = traitlets.Dict().tag(sync=True)  # what became of the last sentence: exercise, key, text, number

    def __init__(self, folder: ResultsFolder) -> None:
        self.folder, self.found = folder, givers(folder.read_results())
        super().__init__(rows=self._rows())
        self.on_msg(self._tell)

    def __repr__(self) -> str:
        return f"{len(self.found)} answers in code without a name of the course"

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(row) for row in nameless_in(self.found, read_sentences(self.folder.names_toml))]

    def _tell(self, _: Any, asked: dict[str, Any], buffers: Any) -> None:
        given = str(asked.get("exercise")), str(asked.get("key"))
        try:
            tell(self.folder.names_toml, Sentence(*given, str(asked["says"]), float(asked["points"])))
            self.rows = self._rows()
            text = "Kept in names.toml." if asked["says"].strip() else "Nothing is told of it."
        except (Refusal, ValueError, TypeError, KeyError, OSError) as problem:
            text = f"Not kept: {problem.args[0] if isinstance(problem, ValueError) else problem}"
        self.said = {"exercise": given[0], "key": given[1], "text": text, "number": asked.get("number", 0)}


def naming(folder: str | Path = ".") -> NamingPanel:
    """The panel for an --out folder of `sdpa grade`, as the result of a cell."""
    return NamingPanel(ResultsFolder(Path(folder).resolve()))
