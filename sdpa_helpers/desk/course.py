"""The course as one learner sees it: lessons, points, what comes next. What passes to the front end."""

from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.course import saved
from sdpa_helpers.course.joined import joined
from sdpa_helpers.course.registry import DOORS, LESSONS, exercises_of
from sdpa_helpers.desk.deciding import beside
from sdpa_helpers.desk.outline import Outline, end_reached, outline_of, short_done
from sdpa_helpers.desk.where import notebooks_in, work_of


@dataclass(frozen=True)
class ExerciseState:
    """One exercise that a program checks."""

    name: str
    points: float
    """The best so far; 0 when it was not tried."""
    max_points: float
    done: bool


@dataclass(frozen=True)
class LessonState:
    """One lesson with its exercises."""

    name: str
    title: str
    minutes: int
    lesson: str
    """The learner's copy, from the course's root."""
    exercise: str | None
    """The learner's copy of its exercises; None where a lesson has none."""
    points: float
    max_points: float
    answered: int
    """How many of its predictions were answered."""
    exercises: tuple[ExerciseState, ...]
    changed_beside: bool
    """Whether a new version lies beside the learner's own lesson or exercises."""


@dataclass(frozen=True)
class NextStep:
    """Where to go on."""

    lesson: str
    exercise: str | None
    """None: the lesson itself, until its end was reached or an exercise of it has points."""


@dataclass(frozen=True)
class RoomMember:
    """Who the learner is in a room."""

    name: str
    """E.g. "blue heron"."""
    color: str
    page: str
    """The address of their own page there."""


@dataclass(frozen=True)
class CourseState:
    """All of it, in the order of the course."""

    lessons: tuple[LessonState, ...]
    next: NextStep | None
    """None when every exercise is solved."""
    room: RoomMember | None = None
    """In the instructor's room."""


def course_state(root: Path) -> CourseState:
    """How far the learner is, in the course that lies in `root`."""
    points, predicted = saved.load(), _predictions_by_lesson()
    lessons = tuple(
        _lesson(root, outline_of(path), points, predicted.get(path.stem, set()))
        for path in notebooks_in(root, "notebooks")
    )
    return CourseState(lessons, _next(root, lessons), _place())


def _place() -> RoomMember | None:
    there = joined()
    return RoomMember(there.name, there.color, there.page) if there else None


def _lesson(root: Path, outline: Outline, points: dict[str, float], predicted: set[str]) -> LessonState:
    exercises = tuple(
        ExerciseState(
            e.name,
            best := saved.best_of(points, e.name, e.max_points) or 0.0,
            e.max_points,
            best >= e.max_points,
        )
        for e in (exercises_of(outline.name) if outline.name in LESSONS else ())
    )
    has_exercises = (root / "exercises" / f"{outline.name}.ipynb").is_file()
    copies = [f"{folder}/{outline.name}.ipynb" for folder in ("notebooks", "exercises")]
    work = work_of(root)
    return LessonState(
        name=outline.name,
        title=outline.title,
        minutes=outline.minutes,
        lesson=f"{work.name}/{copies[0]}",
        exercise=f"{work.name}/{copies[1]}" if has_exercises else None,
        points=sum(e.points for e in exercises),
        max_points=sum(e.max_points for e in exercises),
        answered=len(outline.predictions & predicted),
        exercises=exercises,
        changed_beside=any((work / beside(copy)).is_file() for copy in copies),
    )


def _next(root: Path, lessons: tuple[LessonState, ...]) -> NextStep | None:
    """From short to short; then to the first exercise that is left. Who has begun a later lesson has left the earlier.

    A lesson without a short is left when its end was reached, not before: nothing moves while one is in it. Or when one
    works elsewhere: at its exercises or, where it has none, in a later lesson.
    """
    left = [(lesson, next((e.name for e in lesson.exercises if not e.done), None)) for lesson in lessons]
    for at, (lesson, exercise) in enumerate(left):
        done, later = short_done(root / lesson.lesson), any(map(_begun, lessons[at + 1 :]))
        if (
            lesson.name in DOORS
            or done
            or (done is False and later)
            or (lesson.exercises and exercise is None)
        ):
            continue
        if done is False:
            return NextStep(lesson.name, None)
        elsewhere = lesson.points or (not lesson.exercises and later)
        if not (elsewhere or end_reached(root / lesson.lesson)):
            return NextStep(lesson.name, None)
        if exercise:
            return NextStep(lesson.name, exercise)
    return next((NextStep(lesson.name, exercise) for lesson, exercise in left if exercise), None)


def _begun(lesson: LessonState) -> bool:
    return bool(lesson.points or lesson.answered)


def _predictions_by_lesson() -> dict[str, set[str]]:
    """Lesson → its predictions that were answered. Who only asked to be shown has not answered."""
    found: dict[str, set[str]] = {}
    for (lesson, name), first in saved.load_predictions().items():
        if first.option >= 0:
            found.setdefault(lesson, set()).add(name)
    return found
