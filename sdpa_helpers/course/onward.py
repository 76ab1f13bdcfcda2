"""Where a card's links lead: to the next exercise, and from the last one of a lesson to the next lesson.

Working copies, exercises, lessons and solutions lie in folders beside each other, so one path fits all of them.
JupyterLab and Notebook 7 go to the heading that a link names; within a notebook the link is that name alone, because
with a path Notebook 7 opens the same notebook once more.
"""

import os
from pathlib import PurePath

from sdpa_helpers.checking.card.render import Onward
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.registry import LESSONS, sheet_of


def place_of(lesson: str, exercise: str = "") -> str:
    """The link to a lesson's exercises, or to one of them."""
    heading = exercise and f"#{exercise}"
    return heading if heading and _is_open(lesson) else f"../exercises/{lesson}.ipynb{heading}"


def _is_open(lesson: str) -> bool:
    """Whether this runs in the lesson's exercises, as Jupyter tells; elsewhere nobody knows."""
    path = _notebook()
    return path.name == f"{lesson}.ipynb" and path.parent.name != "notebooks"


def _notebook() -> PurePath:
    return PurePath(os.environ.get("JPY_SESSION_NAME", ""))


def lesson_at(lesson: str) -> str:
    """The link to a lesson."""
    return f"../notebooks/{lesson}.ipynb"


def onward_from(exercise: Exercise) -> Onward | None:
    """What comes after an exercise; None after the last one of the course, and in a lesson, whose text goes on."""
    if _notebook().parent.name == "notebooks":
        return None
    lesson = exercise.lesson
    names = [e.name for e in sheet_of(lesson).exercises]
    if following := names[names.index(exercise.name) + 1 :]:
        return Onward(f"next: {following[0]}", place_of(lesson, following[0]))
    later = LESSONS[LESSONS.index(lesson) + 1 :]
    if not later:
        return None
    return Onward(f"next: lesson {later[0][:2]}, {sheet_of(later[0]).title}", lesson_at(later[0]))
