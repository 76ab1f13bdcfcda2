"""The command `sdpa grade` on tests/submissions: notebooks as they really come, with the marks they deserve."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

SUBMISSIONS = Path(__file__).parents[1] / "submissions"

MARKS = {
    "ada-jupyterlab": (22, "graded"),
    "ben-common-mistakes": (5, "graded"),
    "chen-colab": (15, "graded"),
    "dora-vscode": (22, "graded"),
    "emil-half-finished": (4, "graded"),
    "fay-syntax-error": (17, "graded"),
    "gus-endless-loop": (18, "timeout"),
    "hana-not-json": (0, "unreadable"),
    "ivo-nbformat3": (18, "graded"),
    "jo-deleted-and-doubled": (18, "graded"),
    "kim-helper-elsewhere": (17, "graded"),
    "lee-tries-tricks": (0, "kernel-died"),
    "max-renamed": (0, "graded"),
    "nel-prints-a-lot": (18, "kernel-died"),
    "ola-empty-file": (0, "unreadable"),
    "pat-wrong-file": (0, "missing"),
    "quin-memory": (17, "out-of-memory"),
}

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
    command = [sys.executable, "-m", "sdpa_helpers", "grade", str(SUBMISSIONS), "--out", str(out)]
    ran = subprocess.run(
        [*command, "--seed", "a test", "--jobs", "2", "--timeout", "20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return out, ran


def record(graded, student):
    return json.loads((graded[0] / "results" / student / "01_dot_product.json").read_text())


def test_every_submission_is_listed_here():
    assert {p.name for p in SUBMISSIONS.iterdir() if p.is_dir()} == set(MARKS)


@pytest.mark.parametrize("student", MARKS)
def test_marks_and_status(graded, student):
    found = record(graded, student)
    assert (found["points"], found["status"]) == MARKS[student]
    assert found["max_points"] == 22


@pytest.mark.parametrize(("student", "exercise"), NAMED)
def test_the_mistake_is_named(graded, student, exercise):
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
    assert case["message"].startswith("Returned an array of shape (3,); expected one number.")


def test_the_csv_files(graded):
    rows = list(csv.DictReader((graded[0] / "grades.csv").open()))
    assert list(rows[0])[:2] == ["student", "01_dot_product"]
    assert list(rows[0])[-2:] == ["total", "max"]
    assert {r["student"]: float(r["total"]) for r in rows} == {
        s: float(points) for s, (points, _) in MARKS.items()
    }
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
    assert len(details) == 22 * len(MARKS)
    by_student: dict[str, float] = {}
    for row in details:
        by_student[row["student"]] = by_student.get(row["student"], 0) + float(row["points"])
    assert by_student == {s: float(points) for s, (points, _) in MARKS.items()}


def test_the_gradebook_holds_the_same(graded):
    engine = create_engine(f"sqlite:///{graded[0] / 'gradebook.db'}")
    with engine.connect() as connection:
        marks = dict(connection.execute(text("select student, points from results")).all())
        cases = connection.execute(text("select count(*) from cases")).scalar()
    assert marks == {s: float(points) for s, (points, _) in MARKS.items()}
    assert cases == 22 * len(MARKS)


def test_every_submission_has_a_page_that_says_what_to_do(graded):
    for student, (_, status) in MARKS.items():
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


def test_a_helper_in_another_cell_is_explained(graded):
    message = record(graded, "kim-helper-elsewhere")["exercises"]["cosine_similarity"]["cases"][0]["message"]
    assert "NameError" in message
    assert "Only answer cells are graded" in message


def test_the_table_and_what_was_left_out_are_printed(graded):
    assert "ada-jupyterlab" in graded[1].stdout
    assert "notes.ipynb: not a notebook of this course" in " ".join(graded[1].stdout.split())
    assert "Traceback" not in graded[1].stderr + graded[1].stdout
