"""`ladder("attention_backward")`: the way up to a long exercise, from lines in a wrong order to an empty cell."""

import functools

from sdpa_helpers.checking.card.render import Shown
from sdpa_helpers.course import saved
from sdpa_helpers.course.notes import Note, Told
from sdpa_helpers.course.page_ladder import all_ladders
from sdpa_helpers.course.registry import all_exercises, all_written, exercises_of
from sdpa_helpers.show.ladder import LadderPanel, LadderPlace, place_in


def ladder(name: str) -> LadderPanel | Shown:
    """Three rungs up to an exercise: its lines to be put in order, then two blanks to be filled, then the empty cell.

    Optional: no points, and nothing of it is counted. name: the exercise, or the function itself. Errors: LookupError
    when there is no ladder to it.
    """
    name = getattr(name, "__name__", name)
    known = all_ladders()
    if name not in known:
        if lesson := _kept_back(name):
            return Note(
                f"{name}: no ladder in this edition",
                f"Its lines would show answers to homework of lesson {lesson[:2]}: your instructor has kept them.",
            )
        raise Told(f"there is no ladder to {name!r}; there are: {', '.join(known)}")
    rungs = known[name].rungs()
    key = LadderPanel(rungs).given()["key"]
    return LadderPanel(rungs, _place(name, key, rungs), functools.partial(_keep, name, key))


def _kept_back(name: str) -> str:
    """The lesson of an exercise, where this edition lacks some of its answers, and with them the ladders; else ""."""
    exercise = all_exercises().get(name) or all_written().get(name)
    if exercise is None or not any(other.sealed for other in exercises_of(exercise.lesson)):
        return ""
    return exercise.lesson


def _place(name: str, key: str, rungs) -> LadderPlace:
    """Where the learner was. In another edition the lines may be others: then only the rung counts."""
    told = saved.load_ladder(name)
    if told.get("key") != key:
        told = {part: told[part] for part in ("rung", "passed") if part in told}
    return place_in(rungs, told)


def _keep(name: str, key: str, place: LadderPlace) -> None:
    saved.keep_ladder(name, {"key": key, **place._asdict()})
