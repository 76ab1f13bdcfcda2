"""The panel that `sdpa review` shows in a notebook: an anywidget around a `ReviewSession`."""

import os
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.classroom.gradebook_rows import CannotWrite
from sdpa_helpers.classroom.lock import Taken
from sdpa_helpers.classroom.marks.store import CannotKeep
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import GRADEBOOK, apply_marks
from sdpa_helpers.classroom.review.session import ReviewSession
from sdpa_helpers.classroom.rubrics import guides, model_answers
from sdpa_helpers.course.registry import all_written


class ReviewPanel(anywidget.AnyWidget):
    """Shows one answer at a time beside its rubric. Keys and buttons become acts of the session."""

    _esm = Path(__file__).with_name("review.js").read_text("utf-8")
    given = traitlets.Dict().tag(sync=True)  # exercise → prompt, model answer, rubric; never changes
    view = traitlets.Dict().tag(sync=True)  # what `ReviewSession.view` says

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        names = dict.fromkeys(answer.key.exercise for answer in session.answers)
        first = {name: self._first(name) for name in names}
        given = {name: beside_answer(all_written()[name]) | {"first": first[name]} for name in names}
        super().__init__(given=given, view=session.view())
        self.on_msg(self._act)

    def __repr__(self) -> str:
        return f"{len(self.session.answers)} answers to read, {self.session.marked} of them marked"

    def _first(self, name: str) -> int:
        return next(i for i, answer in enumerate(self.session.answers) if answer.key.exercise == name)

    def _act(self, _: Any, said: dict[str, Any], buffers: Any) -> None:
        error = ""
        try:
            if said.get("do") == "write":
                self.session.number, self.session.says = int(said.get("number", 0)), self._write()
            else:
                self.session.act(said)
        except (ValueError, KeyError, TypeError, CannotKeep, CannotWrite, Taken, OSError) as problem:
            error = f"{type(problem).__name__}: {problem}"
            self.session.number = int(said.get("number", 0))
        self.view = self.session.view() | {"error": error}

    def _write(self) -> str:
        done = apply_marks(self.session.folder, os.environ.get(GRADEBOOK))
        return f"Written. {done}"


def beside_answer(exercise: WrittenExercise) -> dict[str, Any]:
    """What a reader has beside an answer: the question, the model answer, the criteria."""
    guide = guides(exercise.lesson).get(exercise.name, {})
    criteria = [
        {
            "key": c.key,
            "points": c.points,
            "asks": c.asks,
            "says": guide[c.key].says if c.key in guide else "",
            "beware": guide[c.key].beware if c.key in guide else "",
        }
        for c in exercise.criteria
    ]
    return {
        "title": exercise.title,
        "lesson": exercise.lesson,
        "max_points": exercise.max_points,
        "criteria": criteria,
        "prompt": exercise.prompt.strip(),
        "model": model_answers(exercise.lesson).get(exercise.name, ""),
    }


def review(folder: str | Path = ".") -> ReviewPanel:
    """The panel for an --out folder of `sdpa grade`, as the result of a cell."""
    return ReviewPanel(ReviewSession(ResultsFolder(Path(folder).resolve())))
