"""What `sdpa check` prints of a result."""

from types import SimpleNamespace

import pytest

from sdpa_helpers.grading import report as report_module
from sdpa_helpers.grading.report import report
from sdpa_helpers.grading.result import GradedCase, GradedExercise, GradedNotebook, NamedMistake


def printed(*messages: str, slug: str = "", **more) -> str:
    """The report on one exercise, a case with each of these messages; "" is right."""
    cases = tuple(
        GradedCase(f"case, called {n}", "failed" if text else "passed", 0.0 if text else 1.0, 1.0, slug, text)
        for n, text in enumerate(messages, 1)
    )
    exercise = GradedExercise("dot_product", "", float(len(cases)), cases, **more)
    return report(GradedNotebook("you", "01_dot_product", "graded", (exercise,)))


def test_cases_are_told_by_their_numbers_and_names_as_the_card_tells_them():
    said = printed("Wrong.", "", "Wrong.", "Of another shape.")
    assert "    cases 1, 3 (case, called 1; case, called 3): Wrong.\n" in said
    assert said.endswith("    case 4 (case, called 4): Of another shape.")
    assert printed("Wrong.", "Wrong.").endswith("    all 2 cases: Wrong.")


def test_what_is_wrong_is_said_once_and_before_what_was_seen():
    mistake = NamedMistake("halved", "You halve it.", ("case, called 1", "case, called 3"))
    said = printed("It is 1. You halve it.", "", "It is 2. You halve it.", slug="halved", mistakes=(mistake,))
    first, *cases = said.splitlines()[2:]
    assert first == "    Diagnosis (halved): You halve it."
    assert cases == ["    case 1 (case, called 1): It is 1.", "    case 3 (case, called 3): It is 2."]
    assert "\n    Pattern: Twice.\n" in printed("It is 1.", "", pattern="Twice.")


@pytest.mark.parametrize(
    ("sealed", "pattern", "ends"), [(True, "", True), (True, "Twice.", False), (False, "", False)]
)
def test_homework_says_that_it_is_not_diagnosed(monkeypatch, sealed, pattern, ends):
    monkeypatch.setattr(report_module, "find", lambda name: SimpleNamespace(is_made=False, sealed=sealed))
    told = "    Homework: right or wrong, case by case, without a diagnosis."
    assert printed("Wrong.", "", pattern=pattern).endswith(told) is ends
    assert told not in printed("", "")
