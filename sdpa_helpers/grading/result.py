"""The graded result of one submission: what passes from the grader to tables, pages, exports and back from the disk.

Nothing here needs a notebook or a kernel; `result_json` has its form on the disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

Status = Literal[
    "graded", "unreadable", "timeout", "out-of-memory", "kernel-died", "missing", "grader-failed"
]
"""What became of a submission as a whole. The last: of an exercise of it at least there is no mark, by our fault."""

GRADER_FAILED: Literal["grader-failed"] = "grader-failed"

NO_MARK: tuple[Status, ...] = (GRADER_FAILED, "unreadable", "missing")
"""Those that stand in the place of a mark: their 0 points are none."""

CaseStatus = Literal[
    "passed",
    "failed",
    "error",
    "not-attempted",
    "missing",
    "timeout",
    "out-of-memory",
    "not-run",
    "to-review",
    "marked",
    "grader-failed",
]
"""What became of one case. Two are for answers in words: waiting for a reader, and read. The last is no mark."""


RECORD_FORM = "7"
"""Changes when results get new fields: earlier ones are then graded again."""


class NotAResult(ValueError):
    """What stands in a file is not the result of a submission."""


class OlderForm(NotAResult):
    """A result that another version of the course wrote."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"this result has the form {found}; expected form {RECORD_FORM}, that of this version: run "
            "`sdpa grade` again, which grades it anew (--fresh does so for all)"
        )
        self.found = found


@dataclass(frozen=True)
class Flag:
    """Something that a human should look at."""

    kind: str
    message: str


@dataclass(frozen=True)
class FileHandedIn:
    """One of the files that a student handed in for a notebook."""

    file: str
    """Its path below the folder of submissions."""
    graded: bool
    """Whether it is the one that counts."""
    late: bool
    time: str = ""
    """When it was handed in, in ISO form; "" where nobody knows."""


@dataclass(frozen=True)
class LmsIdentity:
    """Who a student is in a learning system, as the name of the file says."""

    system: str
    """Its name here: canvas, moodle or blackboard."""
    id: str
    name: str


@dataclass(frozen=True)
class GradedCase:
    """One case of an exercise. An answer in words has one case, which a person decides."""

    case: str
    status: CaseStatus
    points: float
    max_points: float
    diagnosis: str = ""
    """A slug for tables: the known mistake, or the kind of difference."""
    message: str = ""
    """What the learner reads."""

    @property
    def passed(self) -> bool:
        """Whether it earned all its points."""
        return self.status == "passed" or (self.status == "marked" and self.points == self.max_points)


@dataclass(frozen=True)
class NamedMistake:
    """A mistake that was found in an answer."""

    name: str
    says: str
    cases: tuple[str, ...] = ()
    """The failed cases that it explains."""
    by: str = ""
    """Who named it: INSTRUCTOR; "" is the course."""


INSTRUCTOR = "instructor"


@dataclass(frozen=True)
class ShownCriterion:
    """One criterion of an answer in words, with what its reader decided."""

    asks: str
    points: float
    """What it is worth."""
    given: bool


@dataclass(frozen=True)
class ShownMark:
    """What a learner reads of a mark."""

    criteria: tuple[ShownCriterion, ...]
    """Of an answer in words; () for one in code."""
    adjusted: float
    """Points on top of those of the criteria, or of the cases."""
    comment: str
    asked: str = ""
    """What the learner had asked, or ""."""


BY_A_PERSON = "changed by a person"
"""In tables, the line of what a person put on top of an exercise's cases: so that they add up."""


@dataclass(frozen=True)
class GradedExercise:
    """One exercise that is answered in code."""

    name: str
    title: str
    max_points: float
    cases: tuple[GradedCase, ...]
    mistakes: tuple[NamedMistake, ...] = ()
    """At most two, which explain every failure together."""
    pattern: str = ""
    """What the numbers show where no mistake is named, or ""."""
    unknown: str = ""
    """The same for answers that failed with the same results for no known reason; "" where one is known."""
    before_cap: float | None = None
    """What its cases alone had earned, where a named mistake earns less; None where it costs nothing more."""
    mark: ShownMark | None = None
    """What a person decided, if anybody did."""

    @property
    def mistake(self) -> str:
        """The name of the first mistake, or ""."""
        return self.mistakes[0].name if self.mistakes else ""

    @property
    def by_program(self) -> float:
        """Points of its cases."""
        return sum((case.points for case in self.cases), 0.0)

    @property
    def points(self) -> float:
        """Points earned, with what a person put on top."""
        return self.by_program + (self.mark.adjusted if self.mark else 0.0)

    @property
    def counted(self) -> tuple[GradedCase, ...]:
        """All that its points are the sum of."""
        if self.mark is None or not self.mark.adjusted:
            return self.cases
        more = GradedCase(BY_A_PERSON, "marked", self.mark.adjusted, 0.0, "", self.mark.comment)
        return (*self.cases, more)

    @property
    def failed(self) -> bool:
        """Whether the grader itself failed on it: then it has no mark."""
        return any(case.status == "grader-failed" for case in self.cases)


@dataclass(frozen=True)
class GradedWords:
    """One exercise that is answered in words; its points are those that a reader gave."""

    name: str
    title: str
    max_points: float
    case: GradedCase
    digest: str = ""
    """Of the answer's text, "" where nothing is written: a mark belongs to one text."""
    mark: ShownMark | None = None

    @property
    def cases(self) -> tuple[GradedCase, ...]:
        """The one case."""
        return (self.case,)

    @property
    def counted(self) -> tuple[GradedCase, ...]:
        """All that its points are the sum of."""
        return self.cases

    @property
    def points(self) -> float:
        """Points earned."""
        return self.case.points

    @property
    def failed(self) -> bool:
        """Whether the grader itself failed on it: then nobody can read it yet."""
        return self.case.status == "grader-failed"

    @property
    def waits(self) -> bool:
        """Whether nobody has read it yet."""
        return self.case.status == "to-review"


Graded = GradedExercise | GradedWords


def is_untouched(graded: Graded) -> bool:
    """Whether nobody has tried an exercise."""
    return all(case.status in ("not-attempted", "missing") for case in graded.cases)


@dataclass(frozen=True)
class GradedNotebook:
    """The result of one submission: whatever was wrong with it stands here."""

    student: str
    notebook: str
    status: Status
    exercises: tuple[Graded, ...]
    reason: str = ""
    """What the learner reads when nothing could be run, else ""."""
    flags: tuple[Flag, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    """The answers' texts by exercise, cut where they are very long."""
    shapes: Mapping[str, str] = field(default_factory=dict)
    """By exercise that is answered in code: the answer's `grading.shape`, "" where it does not read as Python."""
    handed_in: tuple[FileHandedIn, ...] = ()
    lms: LmsIdentity | None = None
    fingerprint: str = ""
    """Of all that the result depends on; "" when the grader itself failed, so that the next run tries again."""
    late_penalty: float = 0.0
    """The share of the points that being late costs, from 0 to 1."""

    @property
    def points(self) -> float:
        """Points that count: those earned, less what being late costs."""
        return self.earned if not self.late_penalty else round(self.earned * (1 - self.late_penalty), 4)

    @property
    def earned(self) -> float:
        """Points of the answers, before anything is taken off."""
        return sum((exercise.points for exercise in self.exercises), 0.0)

    @property
    def max_points(self) -> float:
        """Points of all exercises together."""
        return sum((exercise.max_points for exercise in self.exercises), 0.0)

    @property
    def code(self) -> tuple[GradedExercise, ...]:
        """The exercises that are answered in code."""
        return tuple(e for e in self.exercises if isinstance(e, GradedExercise))

    @property
    def words(self) -> tuple[GradedWords, ...]:
        """The exercises that are answered in words."""
        return tuple(e for e in self.exercises if isinstance(e, GradedWords))

    @property
    def no_mark(self) -> str:
        """The word that stands in the place of its mark, one of NO_MARK, or ""."""
        return self.status if self.status in NO_MARK else ""

    @property
    def failed(self) -> tuple[str, ...]:
        """The exercises that the grader itself failed on."""
        return tuple(exercise.name for exercise in self.exercises if exercise.failed)

    @property
    def waiting(self) -> int:
        """How many of its answers wait for a reader."""
        return sum(answer.waits for answer in self.words)

    def exercise(self, name: str) -> Graded:
        """The exercise with this name; KeyError when there is none."""
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(name)


def storable(part: Any) -> Any:
    """The same with every text in characters that files and databases can hold: no NUL, no half of a pair."""
    if isinstance(part, str):
        return part.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    if isinstance(part, dict):
        return {storable(key): storable(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return tuple(map(storable, part))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{f.name: storable(getattr(part, f.name)) for f in fields(part)})
    return part
