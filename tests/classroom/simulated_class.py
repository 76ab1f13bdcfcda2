"""A class of 40 whose submissions are graded without kernels: what a learner gets is drawn by name and exercise.

A submission is a file with a line of text, another text is another answer. `mend` changes a case of an exercise as an
edit of its page would, so that what was graded before holds no more.
"""

import os
import random
from pathlib import Path

from typer.testing import CliRunner

from sdpa_helpers.classroom.executors import Ended
from sdpa_helpers.cli import grade_options, grading
from sdpa_helpers.cli.app import app
from sdpa_helpers.course.registry import exercises_of, folder_of
from sdpa_helpers.grading import grade_one
from sdpa_helpers.grading.grade_one import Attempt, fingerprint
from sdpa_helpers.grading.result import GradedCase, GradedExercise, GradedNotebook
from sdpa_helpers.grading.shape import shape_of

LEARNERS = [f"s{number:03}" for number in range(40)]
SOFTMAX, DOTS = "03_softmax", "01_dot_product"
TWINS = {("s010", "s030"), ("s020", "s031")}
"""Who wrote several answers together."""


class Pretended:
    """Grades in no time; tells what it graded."""

    def __init__(self):
        self.graded, self.mended, self._waiting = [], {}, []

    def mend(self, exercise, case):
        """The case is passed by everybody from now on."""
        self.mended[exercise] = case

    def room(self):
        return 1 - len(self._waiting)

    def submit(self, submission, settings):
        self._waiting.append((submission, settings))

    def ended(self):
        done, self._waiting = self._waiting, []
        return [
            Ended(submission, Attempt(self._result(submission, settings))) for submission, settings in done
        ]

    def close(self, finished):
        pass

    def _result(self, submission, settings):
        self.graded.append((submission.student, submission.notebook))
        if submission.path is None:
            return grade_one.without_run(
                submission, settings, "missing", submission.why_missing or "Not there."
            )
        text = submission.path.read_text()
        exercises = exercises_of(submission.notebook)
        answers = {e.name: answer(submission.student, e.name, text) for e in exercises}
        return GradedNotebook(
            submission.student,
            submission.notebook,
            "graded",
            tuple(self._exercise(e, submission.student, text) for e in exercises),
            flags=submission.flags,
            answers=answers,
            shapes={name: shape_of(source) for name, source in answers.items()},
            handed_in=submission.handed_in,
            lms=submission.lms,
            fingerprint=fingerprint(submission, settings),
            late_penalty=submission.late_penalty,
        )

    def _exercise(self, exercise, student, text):
        draw = random.Random(f"{student} {exercise.name} {text}")
        easy = random.Random(student).uniform(0.4, 1.0)
        cases = []
        for case in exercise.cases:
            passes = draw.random() < easy or self.mended.get(exercise.name) == case.name
            points = case.points if passes else 0.0
            cases.append(GradedCase(case.name, "passed" if passes else "failed", points, case.points))
        return GradedExercise(exercise.name, exercise.title, exercise.max_points, tuple(cases))

    def version(self, lesson):
        """What stands for the digest of a lesson's pages."""
        mended = {name for name in self.mended if name in {e.name for e in exercises_of(lesson)}}
        return f"{lesson} {sorted(mended)}"


def answer(student, exercise, text):
    """An answer of forty tokens and more; twins wrote the same, all others something of their own."""
    author = next((one for one, other in TWINS if student in (one, other)), student)
    draw = random.Random(f"{author} {exercise}")
    operators = ["+", "-", "*", "/", "@", "//", "%", "**"]
    lines = [f"    a{n} = {draw.randint(1, 9)} {draw.choice(operators)} a{n - 1}" for n in range(1, 16)]
    return "\n".join([f"def {exercise}(a0):", *lines, f"    return a15  # {text}"])


def pretend(patch):
    """Let every `sdpa grade` of this process grade so; returns what does."""
    executor = Pretended()
    lessons = {folder_of(lesson): lesson for lesson in (SOFTMAX, DOTS)}
    patch.setattr(grade_options, "find_executor", lambda name, jobs: executor)
    patch.setattr(grade_options, "sandbox_level", lambda wanted: "off")
    patch.setattr(grading, "begin_to_warm_up", lambda wanted: None)
    patch.setattr(grade_one, "code_for", lambda folder: executor.version(lessons[folder]))
    patch.setattr(os, "fsync", lambda file: None)
    return executor


def hand_in(root: Path, notebook, learners=LEARNERS, text="first", at=None):
    """A file of each learner."""
    for learner in learners:
        path = root / learner / f"{notebook}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if at is not None:
            os.utime(path, (at, at))


def sdpa(*arguments, status=0):
    """What a command prints."""
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200", "SDPA_GRADER": "anna"})
    assert done.exit_code == status, (done.output, done.exception)
    return " ".join(done.output.split())
