"""Who is graded once more, and who is given up: the rules, on an executor that does as it is told."""

from pathlib import Path

import pytest

from sdpa_helpers.classroom import executors
from sdpa_helpers.classroom.executors import CannotGrade, Ended, grade_all
from sdpa_helpers.grading.grade_one import Attempt, Settings
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.result import GradedNotebook
from tests.classroom.faults import NAME
from tests.results import result


class Scripted:
    """An executor where each submission meets what is written for it, one after the other; None is a dead worker."""

    def __init__(self, **script: list[Attempt | None]) -> None:
        self.script, self.log, self.open = script, [], []

    def room(self) -> int:
        """Two at a time."""
        return 2 - len(self.open)

    def submit(self, submission: Submission, settings: Settings) -> None:
        """Noted with how many were under way before."""
        self.log.append((submission.student, len(self.open)))
        self.open.append(submission)

    def ended(self) -> list[Ended]:
        """All that are under way, each with what the script says next."""
        found = [Ended(submission, self.script[submission.student].pop(0)) for submission in self.open]
        self.open = []
        return found

    def close(self, finished: bool) -> None:
        """Note how it ended."""
        self.log.append(("closed", finished))


def fine(student: str) -> Attempt:
    return Attempt(result(student, []))


def slow(student: str, which: str) -> Attempt:
    return Attempt(result(student, [], reason=which), slow=True)


def graded(executor: Scripted) -> list[GradedNotebook]:
    submissions = [Submission(student, NAME, Path(student)) for student in executor.script]
    return [done.result for done in grade_all(submissions, Settings("s"), executor)]


def test_who_only_ran_out_of_clock_is_graded_once_more_alone_at_the_end():
    executor = Scripted(
        ada=[slow("ada", "first"), slow("ada", "second")], bob=[fine("bob")], kim=[fine("kim")]
    )
    results = graded(executor)
    assert [r.student for r in results] == ["bob", "kim", "ada"]
    assert results[-1].reason == "second"
    assert executor.log[-2:] == [("ada", 0), ("closed", True)]


@pytest.mark.parametrize(("name", "most"), [("MAX_AGAIN", 2), ("MAX_SECONDS_AGAIN", -1.0)])
def test_few_are_graded_once_more_and_the_others_say_that_they_were_not(monkeypatch, name, most):
    monkeypatch.setattr(executors, name, most)
    students = ("ada", "bob", "kim", "zoe")
    executor = Scripted(**{student: [slow(student, "first"), fine(student)] for student in students})
    flagged = {r.student: [flag.kind for flag in r.flags] for r in graded(executor)}
    again = ("ada", "bob") if name == "MAX_AGAIN" else ()
    assert flagged == {student: [] if student in again else ["no-time"] for student in students}


def test_when_a_worker_dies_only_who_had_it_is_graded_alone_and_given_up_when_it_does_it_again():
    executor = Scripted(ada=[fine("ada")], bob=[None, None, None], kim=[fine("kim")])
    results = {r.student: r for r in graded(executor)}
    assert (results["bob"].status, results["bob"].fingerprint) == ("grader-failed", "")
    assert results["ada"].status == results["kim"].status == "graded"
    assert executor.log == [("ada", 0), ("bob", 1), ("bob", 0), ("bob", 0), ("kim", 0), ("closed", True)]


TROUBLE = Attempt(None, trouble="no room")


def test_trouble_that_goes_costs_nothing():
    executor = Scripted(ada=[TROUBLE, fine("ada")], bob=[fine("bob")])
    assert sorted((r.student, r.status) for r in graded(executor)) == [("ada", "graded"), ("bob", "graded")]


def test_trouble_that_others_do_not_meet_costs_only_who_has_it():
    executor = Scripted(ada=[TROUBLE] * 3, bob=[fine("bob"), fine("bob")], kim=[fine("kim")])
    results = {r.student: r for r in graded(executor)}
    assert (results["ada"].status, results["ada"].fingerprint) == ("grader-failed", "")
    assert results["ada"].reason == "The grader can work on other notebooks, and not on this one: no room"
    assert results["kim"].status == "graded"


def test_trouble_that_others_meet_too_ends_the_run():
    executor = Scripted(ada=[TROUBLE] * 3, bob=[fine("bob"), TROUBLE])
    with pytest.raises(CannotGrade, match=r"ada, 01_dot_product: no room\. What is graded is kept"):
        graded(executor)
    assert executor.log[-1] == ("closed", False)
