"""What a room can be asked: the course's predictions, with what their stored notebooks measured."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sdpa_helpers.checking.naming.another_order import IN_ANOTHER_ORDER
from sdpa_helpers.checking.naming.as_if import AS_IF
from sdpa_helpers.checking.naming.forms import FORMS
from sdpa_helpers.classroom.room.lines import LineSubjects
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.course.registry import FIRST, LESSONS, all_exercises
from sdpa_helpers.show.predict import Prediction, plain, rich


@dataclass(frozen=True)
class RoomQuestion:
    """A prediction as HTML of ours."""

    name: str
    """With its lesson, as "03_softmax/one_score_rises"."""
    text: str
    plain: str
    """The same without markup."""
    options: tuple[str, ...]
    because: tuple[str, ...]
    right: int | None
    """None where the measurement isn't known here."""
    measured: str


def questions() -> dict[str, RoomQuestion]:
    """All of them by name, in the order of the course."""
    found = (one for lesson in (FIRST, *LESSONS) for one in _of_lesson(lesson))
    return {question.name: question for question in found}


def known(asked: dict[str, RoomQuestion]) -> LineSubjects:
    """What lines may be about."""
    exercises = {name: exercise.max_points for name, exercise in all_exercises().items()}
    options = {name: len(question.options) for name, question in asked.items()}
    return LineSubjects(exercises, options, lambda exercise, name: bool(card_words(exercise, name)))


def card_words(exercise: str, mistake: str) -> str:
    """What the card says of a mistake; "" where no check names it so."""
    if exercise not in all_exercises():
        return ""
    own = (wrong.says for wrong in all_exercises()[exercise].wrong if wrong.name == mistake)
    return next(own, "") or _anywhere().get(mistake, "")


@cache
def _anywhere() -> dict[str, str]:
    """What may be said in any exercise. Of a change that would answer the same only its kind."""
    of_form = {form.name: form.says for form in FORMS if form.name}
    as_if = {name: f"{name.replace('-', ' ').capitalize()}." for name in AS_IF}
    return as_if | of_form | IN_ANOTHER_ORDER


def _of_lesson(lesson: str) -> Iterator[RoomQuestion]:
    try:
        pages = _outputs(course_root() / "notebooks" / f"{lesson}.ipynb")
    except (OSError, ValueError, KeyError):
        pages = ()
    for asked in predictions_of(lesson):
        measured, right = _measured(asked, pages)
        options = tuple(rich(option.text) for option in asked.options)
        because = tuple(rich(option.because) for option in asked.options)
        text = rich(asked.question), plain(asked.question)
        yield RoomQuestion(f"{lesson}/{asked.name}", *text, options, because, right, measured)


def _measured(asked: Prediction, pages: tuple[str, ...]) -> tuple[str, int | None]:
    for page in pages:
        if f'data-key="{asked.name}-' in page:
            after = page.split(f'data-key="{asked.name}-')[1]
            value = re.search(r"Measured: <strong>(.*?)</strong>", after)
            ticked = re.search(r"<li>✓ <strong>(.*?)</strong>:", after)
            texts = [rich(option.text) for option in asked.options]
            right = texts.index(ticked[1]) if ticked and ticked[1] in texts else None
            return html.unescape(re.sub(r"<[^>]*>", "", value[1])) if value else "", right
    return "", None


def _outputs(notebook: Path) -> tuple[str, ...]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    data = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return tuple("".join(one["text/html"]) for one in data if "text/html" in one)
