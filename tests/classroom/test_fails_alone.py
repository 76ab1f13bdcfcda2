"""An exercise that the grader itself fails on fails alone, and nothing that is no mark looks like one.

The whole command, in processes of its own, with an error put into the judging of one answer.
"""

import csv
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from markupsafe import escape

from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.classroom.gradescope import run_there
from sdpa_helpers.grading import fails_alone
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.report import report
from tests.commands import sdpa
from tests.handing_in import NAME, POINTS, RIGHT, TOTAL

FAILS = "best_key"
FAULTY = """
import sys
from sdpa_helpers.grading import fails_alone

judge = fails_alone.judge_exercise

def fails(exercise, evidence, marking):
    if "stumble" in evidence.lifted.answers.get(exercise.name, ""):
        raise IndexError("0.913 is hidden")
    return judge(exercise, evidence, marking)

fails_alone.judge_exercise = fails
from sdpa_helpers.cli.app import main
main()
"""
"""`sdpa`, with a judge that raises an error at one answer."""

STUMBLES = {**RIGHT, FAILS: f"{RIGHT[FAILS]}\n\nstumble = 1"}


def grade_into(out: Path) -> list[str]:
    return ["grade", str(out.parent / "in"), "--out", str(out), "--seed", "s", "--sandbox", "off"]


def table(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture
def graded(hand_in, tmp_path) -> tuple[Path, subprocess.CompletedProcess]:
    """A class in which the grader fails on one answer of ben's, and eve's file is none."""
    hand_in("ada", **RIGHT)
    hand_in("ben", **STUMBLES)
    hand_in("eve").write_text("{")
    command = [sys.executable, "-c", FAULTY, *grade_into(tmp_path / "out")]
    return tmp_path / "out", subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_others_keep_their_points_and_everything_says_it(graded):
    out, ran = graded
    assert ran.returncode == 3, ran.stderr
    assert "Traceback" not in ran.stderr
    said = " ".join(ran.stderr.split())
    assert f"no mark: ben, {NAME}: The grader itself failed on {FAILS}" in said
    assert "1 notebook of 1 learner without a mark" in said
    assert "The same command tries again" in said
    rows = table(out / "grades.csv")
    assert [(row[NAME], row["total"]) for row in rows.values()] == [
        (f"{TOTAL:g}", f"{TOTAL:g}"),
        ("grader-failed", "grader-failed"),
        ("unreadable", "0"),
    ]
    assert {row["max"] for row in rows.values()} == {f"{TOTAL:g}"}

    result = json.loads((out / "results" / "ben" / f"{NAME}.json").read_text())
    assert (result["status"], result["points"]) == ("grader-failed", TOTAL - POINTS[FAILS])
    assert {name: e["status"] for name, e in result["exercises"].items() if e["status"] != "graded"} == {
        FAILS: "grader-failed"
    }
    assert {case["status"] for case in result["exercises"][FAILS]["cases"]} == {"grader-failed"}
    with (out / "details.csv").open(newline="") as file:
        statuses = {row["exercise"]: row["status"] for row in csv.DictReader(file) if row["student"] == "ben"}
    assert statuses == {name: "grader-failed" if name == FAILS else "passed" for name in POINTS}
    with closing(sqlite3.connect(out / "gradebook.db")) as book:
        held = dict(book.execute("SELECT student, status FROM results"))
        cases = set(book.execute("SELECT status FROM cases WHERE exercise = ? AND points > 0", (FAILS,)))
    assert held == {"ada": "graded", "ben": "grader-failed", "eve": "unreadable"}
    assert cases == {("passed",)}

    page = (out / "feedback" / "ben" / f"{NAME}.html").read_text()
    assert f"the other {POINTS[FAILS]:g} are not marked yet" in " ".join(page.split())
    assert "It was not you who made the mistake" in page
    for name in (case["case"] for case in result["exercises"][FAILS]["cases"]):
        assert f'<span class="label">not marked</span>{escape(name)}' in page
    assert ">0 of" not in page
    assert "no mark: unreadable" in " ".join((out / "feedback" / "eve" / f"{NAME}.html").read_text().split())
    report_on_class = (out / "class.html").read_text()
    assert "3 learners handed it in, 2 without a mark; half of the others earned all" in report_on_class
    assert "The grader itself failed on 1 answer" in report_on_class
    written = [path for path in out.rglob("*") if path.is_file()]
    assert not [
        path for path in written if b"0.913" in path.read_bytes()
    ]  # the error's text could hold anything
    assert "0.913" not in ran.stdout + ran.stderr


def test_the_same_command_tries_again_and_ends_as_if_nothing_had_been(graded):
    out, _ = graded
    ran = sdpa(*grade_into(out))
    assert ran.returncode == 0, ran.stderr
    assert "2 from an earlier run, 1 graded again" in " ".join(ran.stdout.split())
    assert table(out / "grades.csv")["ben"]["total"] == f"{TOTAL:g}"


def test_no_export_writes_0_for_what_has_no_mark(graded, needs):
    out, _ = graded
    for to in ("canvas", "moodle", "gradescope", "nbgrader"):
        refused = sdpa("export", out, "--to", to)
        assert refused.returncode == 2, refused.stderr
        said = " ".join(refused.stderr.split())
        assert f"the grader itself failed on 1 of the notebooks (ben, {NAME})" in said
        assert "--allow-ungraded" in said
    assert not (out / "export").exists()

    def allowed(to: str) -> str:
        ran = sdpa("export", out, "--to", to, "--allow-ungraded")
        assert ran.returncode == 0, ran.stderr
        return " ".join(ran.stderr.split())

    said = allowed("canvas")
    assert f"left without a mark, grader-failed: ben, {NAME}" in said
    assert f"left without a mark, unreadable: eve, {NAME}" in said
    with (out / "export" / "canvas.csv").open(newline="") as file:
        assert [(row[0], row[-1]) for row in csv.reader(file)][2:] == [
            ("ada", f"{TOTAL:g}"),
            ("ben", ""),
            ("eve", ""),
        ]
    allowed("moodle")
    with (out / "export" / "moodle.csv").open(newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == ["ada"]
    allowed("gradescope")
    whole = json.loads((out / "export" / "gradescope" / "ben" / "results.json").read_text())
    assert "score" not in whole
    assert whole["output"].startswith(f"No mark yet: the grader itself failed ({FAILS})")
    scored = {test["tags"][1]: "score" in test and "status" in test for test in whole["tests"]}
    assert scored == {name: name != FAILS for name in POINTS}
    needs("nbgrader")
    from nbgrader.api import Gradebook

    allowed("nbgrader")
    with Gradebook(f"sqlite:///{out / 'export' / 'nbgrader.db'}") as book:
        assert {s.student.id: s.score for s in book.assignment_submissions(NAME)} == {"ada": TOTAL}


def test_several_notebooks_make_no_total_where_one_of_them_failed(tmp_path):
    from sdpa_helpers.classroom.exports.roster import TOTAL as ALL
    from sdpa_helpers.classroom.exports.roster import totals_of
    from sdpa_helpers.classroom.results_folder import ResultsFolder
    from sdpa_helpers.classroom.tables import write_tables
    from tests.results import like_all, result

    def class_of(**statuses: tuple[str, str]):
        for student, (first, second) in statuses.items():
            for notebook, status in ((NAME, first), ("03_softmax", second)):
                yield result(student, like_all(1.0), notebook, status)

    made = list(
        class_of(
            ada=("graded", "missing"),
            ben=("graded", "grader-failed"),
            eve=("missing", "unreadable"),
            kim=("timeout",) * 2,
        )
    )
    one = made[0].points
    rows = write_tables(ResultsFolder(tmp_path), made, [NAME, "03_softmax"])
    assert {row.student: row.total for row in rows} == {
        "ada": one, "ben": "grader-failed", "eve": 0.0, "kim": 2 * one
    }  # fmt: skip
    found = {learner.student: learner.of(ALL) for learner in totals_of(made)}
    assert {who: points and points[0] for who, points in found.items()} == {
        "ada": one, "ben": None, "eve": None, "kim": 2 * one
    }  # fmt: skip
    assert found["ada"] == (
        one,
        made[0].max_points + made[1].max_points,
    )  # missing is not taken off the maximum


def test_cases_that_cannot_be_drawn_cost_only_their_exercise_and_check_says_so(hand_in, monkeypatch):
    def spoiled(exercise, seed):
        if exercise.name == FAILS:
            raise ValueError("the reference of 'best_key' fails in case 'a': 0.913")
        return truths(exercise, seed)

    monkeypatch.setattr(fails_alone, "truths", spoiled)
    monkeypatch.setattr("sdpa_helpers.grading.judge.truths", spoiled)
    result = grade(Submission("you", NAME, hand_in("you", **RIGHT)), Settings("public"))
    assert (result.status, result.points, result.fingerprint) == ("grader-failed", TOTAL - POINTS[FAILS], "")
    lines = report(result).splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith(FAILS))
    assert lines[at] == f"  {FAILS}: no mark of {POINTS[FAILS]:g}"
    assert "The grader itself failed on this exercise (ValueError" in lines[at + 1]
    assert result.exercise(FAILS).cases[0].case in lines[at + 1]
    assert "0.913" not in report(result)


def test_on_gradescope_a_grader_that_fails_gives_no_score(tmp_path):
    run_there.main(tmp_path)  # there is nothing, not even settings
    assert "score" not in json.loads((tmp_path / "results" / "results.json").read_text())
