"""What a room can be asked: the course's predictions, with what their stored notebooks measured."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.room.lines import Known
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.course.registry import FIRST, LESSONS, all_exercises
from sdpa_helpers.show.predict import Prediction, plain, rich


@dataclass(frozen=True)
class Question:
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


def questions() -> dict[str, Question]:
    """All of them by name, in the order of the course."""
    found = (one for lesson in (FIRST, *LESSONS) for one in _of_lesson(lesson))
    return {question.name: question for question in found}


def known(asked: dict[str, Question]) -> Known:
    """What lines may be about."""
    exercises = {name: exercise.max_points for name, exercise in all_exercises().items()}
    return Known(exercises, {name: len(question.options) for name, question in asked.items()})


def card_words(exercise: str, mistake: str) -> str:
    """What the card says of a mistake; its name where it isn't the exercise's own."""
    found = all_exercises().get(exercise)
    wrong = (w.says for w in found.wrong if w.name == mistake) if found else iter(())
    return next(wrong, mistake.replace("-", " "))


def _of_lesson(lesson: str) -> Iterator[Question]:
    try:
        pages = _outputs(course_root() / "notebooks" / f"{lesson}.ipynb")
    except (OSError, ValueError, KeyError):
        pages = ()
    for asked in predictions_of(lesson):
        measured, right = _measured(asked, pages)
        options = tuple(rich(option.text) for option in asked.options)
        because = tuple(rich(option.because) for option in asked.options)
        text = rich(asked.question), plain(asked.question)
        yield Question(f"{lesson}/{asked.name}", *text, options, because, right, measured)


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
