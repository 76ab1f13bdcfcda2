"""The command `sdpa grade` on tests/submissions: notebooks as they really come, with the marks they deserve."""

import csv
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.judge import Truth, truths
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.read import read_cells
from tests.commands import sdpa
from tests.handing_in import CASES, NAME, POINTS, TOTAL

SUBMISSIONS = Path(__file__).parents[1] / "submissions"

SEED = "a test"

ANSWERED = ("dot_product", "attention_scores", "cosine_similarity", "best_key", "weighted_sum")
"""The exercises that lesson 01 had when these notebooks were made; they answer no other."""

LETTERS = {
    "P": "passed",
    "F": "failed",
    "E": "error",
    "-": "not-attempted",
    "M": "missing",
    "N": "not-run",
    "T": "timeout",
    "O": "out-of-memory",
}

WRONG = "W"
"""For an answer that is a plain function, wrong in some cases: what it returns is compared here, case by case."""

OUTCOMES = {
    "ada-jupyterlab": ("graded", "PPPPP"),
    "ben-common-mistakes": ("graded", "WWWWW"),
    "chen-colab": ("graded", "PPPWW"),
    "dora-vscode": ("graded", "PPPPP"),
    "emil-half-finished": ("graded", "PF---"),
    "fay-syntax-error": ("graded", "PPEPP"),
    "gus-endless-loop": ("timeout", "PPPTP"),
    "hana-not-json": ("unreadable", "MMMMM"),
    "ivo-nbformat3": ("graded", "PPPPW"),
    "jo-deleted-and-doubled": ("graded", "PPPMP"),
    "kim-helper-elsewhere": ("graded", "PPPPP"),
    "lee-tries-tricks": ("kernel-died", "FFFNF"),
    "max-renamed": ("graded", "E--W-"),
    "nel-prints-a-lot": ("kernel-died", "PPPPN"),
    "ola-empty-file": ("unreadable", "MMMMM"),
    "pat-wrong-file": ("missing", "MMMMM"),
    "quin-memory": ("out-of-memory", "POPPP"),
}
"""The status of each submission, and of all cases of each exercise that it answers, a letter each."""


def answer_of(student: str, exercise: str) -> Callable:
    """The function that a submission answers with, run here: for those whose answers are harmless."""
    (path,) = (SUBMISSIONS / student).glob("*.ipynb")
    (source,) = (c["source"] for c in read_cells(path) if c["source"].startswith(f"# exercise: {exercise}\n"))
    names = {"np": np}
    exec(source, names)
    return names[exercise]


def status_of(answer: Callable, truth: Truth) -> str:
    """What an answer deserves in one case, by NumPy's comparison instead of the judge's."""
    try:
        returned = np.asarray(answer(*truth.inputs))
    except Exception:
        return "error"
    right = truth.expected.array
    same = returned.shape == right.shape and np.allclose(returned, right, rtol=1e-6, atol=1e-9)
    return "passed" if same else "failed"


@cache
def statuses(student: str) -> dict[str, list[str]]:
    """The status of every case of the lesson, by exercise: "missing" in those that came later."""
    letters = dict(zip(ANSWERED, OUTCOMES[student][1], strict=True))
    return {e.name: _statuses(student, e, letters.get(e.name, "M")) for e in exercises_of(NAME)}


def _statuses(student: str, exercise: Exercise, letter: str) -> list[str]:
    if letter == WRONG:
        answer = answer_of(student, exercise.name)
        return [status_of(answer, truth) for truth in truths(exercise, SEED)]
    return [LETTERS[letter]] * len(exercise.cases)


def marks(student: str) -> float:
    """The points that a submission deserves: those of the cases that pass."""
    found = statuses(student)
    cases = [pair for e in exercises_of(NAME) for pair in zip(e.cases, found[e.name], strict=True)]
    return sum(case.points for case, status in cases if status == "passed")


NAMED = {
    ("ben-common-mistakes", "dot_product"): "not-summed",
    ("ben-common-mistakes", "attention_scores"): "reshaped-not-transposed",
    ("ben-common-mistakes", "cosine_similarity"): "epsilon-in-denominator",
    ("ben-common-mistakes", "best_key"): "largest-cosine",
    ("ben-common-mistakes", "weighted_sum"): "elementwise",
    ("chen-colab", "best_key"): "largest-size-sign-dropped",
    ("ivo-nbformat3", "weighted_sum"): "averaged-over-keys",
    ("max-renamed", "best_key"): "smallest-score",
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    out = tmp_path_factory.mktemp("grades")
    ran = sdpa("grade", SUBMISSIONS, "--out", out, "--seed", SEED, "--jobs", 2, "--timeout", 20)
    assert ran.returncode == 0, ran.stderr
    return out, ran


def record(graded, student):
    return json.loads((graded[0] / "results" / student / "01_dot_product.json").read_text())


def test_every_submission_is_listed_here():
    assert {p.name for p in SUBMISSIONS.iterdir() if p.is_dir()} == set(OUTCOMES)


@pytest.mark.parametrize("student", OUTCOMES)
def test_marks_and_status(graded, student):
    found = record(graded, student)
    assert {
        name: [case["status"] for case in exercise["cases"]] for name, exercise in found["exercises"].items()
    } == statuses(student)
    assert (found["status"], found["points"]) == (OUTCOMES[student][0], marks(student))
    assert found["max_points"] == TOTAL


@pytest.mark.parametrize(
    ("student", "exercise"),
    [(s, e) for s in OUTCOMES for e, x in zip(ANSWERED, OUTCOMES[s][1], strict=True) if x == WRONG],
)
def test_a_wrong_answer_loses_points(graded, student, exercise):
    """Also where it is right in some cases, as most mistakes are with one key."""
    found = record(graded, student)["exercises"][exercise]
    assert found["points"] < found["max_points"] == POINTS[exercise]
    assert found["points"] == sum(case["points"] for case in found["cases"] if case["passed"])
    assert all(case["diagnosis"] and case["message"] for case in found["cases"] if not case["passed"])


@pytest.mark.parametrize(("student", "exercise"), NAMED)
def test_the_mistake_is_named(graded, student, exercise):
    """The same name in every case that fails, however many there are."""
    cases = record(graded, student)["exercises"][exercise]["cases"]
    diagnoses = {case["diagnosis"] for case in cases if not case["passed"]}
    assert diagnoses == {NAMED[student, exercise]}


def test_the_record_has_the_form_of_the_contract(graded):
    found = record(graded, "ben-common-mistakes")
    assert {"student", "notebook", "status", "points", "max_points", "exercises", "flags"} <= set(found)
    exercise = found["exercises"]["dot_product"]
    assert {"points", "max_points", "cases"} <= set(exercise)
    case = exercise["cases"][0]
    assert {"case", "passed", "points", "max_points", "diagnosis", "message"} <= set(case)
    assert case["message"].startswith("Returned an array of another shape than is asked for: an array came")


def test_the_csv_files(graded):
    rows = list(csv.DictReader((graded[0] / "grades.csv").open()))
    assert list(rows[0])[:2] == ["student", "01_dot_product"]
    assert list(rows[0])[-2:] == ["total", "max"]
    assert {r["student"]: float(r["total"]) for r in rows} == {s: marks(s) for s in OUTCOMES}
    words = {s: status for s, (status, _) in OUTCOMES.items() if status in ("unreadable", "missing")}
    cells = {r["student"]: r["01_dot_product"] for r in rows}
    assert cells == {
        s: words.get(s, f"{marks(s):g}") for s in OUTCOMES
    }  # what has no mark is a word, never 0
    details = list(csv.DictReader((graded[0] / "details.csv").open()))
    assert list(details[0]) == [
        "student",
        "notebook",
        "exercise",
        "case",
        "points",
        "max_points",
        "status",
        "diagnosis",
    ]
    assert len(details) == CASES * len(OUTCOMES)
    by_student: dict[str, float] = {}
    for row in details:
        by_student[row["student"]] = by_student.get(row["student"], 0) + float(row["points"])
    assert by_student == {s: marks(s) for s in OUTCOMES}


def test_the_gradebook_holds_the_same(graded):
    engine = create_engine(f"sqlite:///{graded[0] / 'gradebook.db'}")
    with engine.connect() as connection:
        stored = dict(connection.execute(text("select student, points from results")).all())
        cases = connection.execute(text("select count(*) from cases")).scalar()
    assert stored == {s: marks(s) for s in OUTCOMES}
    assert cases == CASES * len(OUTCOMES)


def test_every_submission_has_a_page_that_says_what_to_do(graded):
    for student, (status, _) in OUTCOMES.items():
        page = (graded[0] / "feedback" / student / "01_dot_product.html").read_text()
        assert student in page
        assert "<script" not in page
        if status in ("unreadable", "missing"):
            assert record(graded, student)["reason"] in page.replace("&#39;", "'").replace("&#34;", '"')


def test_tricks_are_flagged(graded):
    kinds = {flag["kind"] for flag in record(graded, "lee-tries-tricks")["flags"]}
    assert kinds == {"edited-check", "forbidden-call", "forged-output", "test-marker"}


def test_doubled_and_renamed_cells_are_graded_and_flagged(graded):
    jo = record(graded, "jo-deleted-and-doubled")
    assert {f["kind"] for f in jo["flags"]} == {"doubled-answer"}
    assert {c["status"] for c in jo["exercises"]["best_key"]["cases"]} == {"missing"}
    assert {f["kind"] for f in record(graded, "kim-helper-elsewhere")["flags"]} == {"answer-line-missing"}


def test_the_table_and_what_was_left_out_are_printed(graded):
    assert "16 notebooks of 17 learners; 1 not handed in" in graded[1].stdout
    assert "notes.ipynb: not a notebook of this course" in " ".join(graded[1].stdout.split())
    assert "Traceback" not in graded[1].stderr + graded[1].stdout
