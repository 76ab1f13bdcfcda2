"""Marks on their way back: files that Canvas, Moodle, Gradescope and nbgrader take, read as they read them."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from sqlalchemy import create_engine, text

from sdpa_helpers.classroom.exports.export import export_folder
from sdpa_helpers.classroom.exports.order import CannotExport, Order
from sdpa_helpers.classroom.marks.store import AnswerKey
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import with_marks
from sdpa_helpers.classroom.review.decisions import Decision
from sdpa_helpers.course.registry import written_of
from sdpa_helpers.grading.assemble import exercise_of
from sdpa_helpers.grading.lift_words import digest, lift_words, unread
from sdpa_helpers.grading.result import GradedExercise, LmsIdentity
from tests.commands import sdpa
from tests.handing_in import RIGHT, TOTAL
from tests.results import case, result

NAME, OTHER = "01_dot_product", "03_softmax"


def put(out, student, notebook, points, of, lms=None, message="Off.", late_penalty=0.0):
    """Write the result of one exercise with one case."""
    name = "best_key" if notebook == NAME else "softmax"
    graded = GradedExercise(name, "T", of, (case(points, of, message=message),))
    made = replace(result(student, [graded], notebook, lms=lms), late_penalty=late_penalty)
    ResultsFolder(out).write_result(made)


def export(folder, to, **options):
    return export_folder(to, Order(ResultsFolder(folder), **options))


def rows_of(path, delimiter=","):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


def canvas(number, name):
    return LmsIdentity("canvas", number, name)


def moodle(number, name):
    return LmsIdentity("moodle", number, name)


# ---- Canvas -----------------------------------------------------------------------------------------------


def as_canvas_reads(rows):
    """What Canvas's importer takes from a file: it finds the identity columns by position, see its source."""
    header = rows[0]
    assert "Student" in header[0]
    assert "ID" in header[1]
    columns = 3
    if re.search(r"SIS\s+User\s+ID", header[2]):
        assert re.search(r"SIS\s+Login\s+ID", header[3])
        columns += 2 + ("Integration ID" in header)
    elif re.search(r"SIS\s+Login\s+ID", header[2]):
        columns += 1
    assert "Section" in header[columns - 1]
    possible = next(r for r in rows[1:] if "Points Possible" in r[0])
    students = {r[1] or r[3]: r[columns:] for r in rows[1:] if r is not possible}
    return header[columns:], possible[columns:], students


def test_canvas_without_a_roster(tmp_path):
    put(tmp_path, "lovelaceada_12", NAME, 17.0, 22.0, canvas("12", "lovelaceada"))
    put(tmp_path, "lovelaceada_12", OTHER, 4.5, 9.0, canvas("12", "lovelaceada"))
    put(tmp_path, "=cmd()", NAME, 0.0, 22.0)
    done = export(tmp_path, "canvas")
    header, possible, students = as_canvas_reads(rows_of(done.paths[0]))
    assert (header, possible) == ([NAME, OTHER], ["22", "9"])
    assert students == {"12": ["17", "4.5"], "'=cmd()": ["0", ""]}
    assert "1 of 2 learners have no Canvas id" in done.notes[0]


ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section,Other (1),Homework: 01 Dot product (4321),Final Score
"    Points Possible",,,,,5,100,(read only)
"Lovelace, Ada",12,S12,ada,A,3,,50
"Noether, Emmy",13,S13,emmy,A,2,,40
"Turing, Alan",14,S14,alan,B,1,,30
"Smith, John",15,S15,john1,B,1,,30
"Smith, John",16,S16,john2,B,1,,30
"""


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_canvas_with_the_gradebook_it_exported(tmp_path, delimiter):
    roster = tmp_path / "roster.csv"
    with roster.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=delimiter).writerows(csv.reader(ROSTER.splitlines()))
    put(tmp_path, "lovelaceada_12", NAME, 11.0, 22.0, canvas("12", "lovelaceada"))  # by Canvas's id
    put(tmp_path, "emmy", NAME, 22.0, 22.0)  # by login
    put(tmp_path, "Alan Turing", NAME, 0.0, 22.0)  # by name
    put(tmp_path, "John Smith", NAME, 5.0, 22.0)  # two of that name: nobody
    done = export(tmp_path, "canvas", roster=roster)
    header, possible, students = as_canvas_reads(rows_of(done.paths[0], delimiter))
    assert (header, possible) == (["Homework: 01 Dot product (4321)"], ["100"])
    assert students == {"12": ["50"], "13": ["100"], "14": ["0"]}
    assert done.learners == 3
    assert "not in the roster: John Smith" in done.notes
    assert any("scaled to the 100" in note for note in done.notes)


def test_canvas_columns_can_be_named(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER)
    put(tmp_path, "ada", NAME, 22.0, 22.0)
    done = export(tmp_path, "canvas", roster=roster, columns=(f"{NAME}=Other",))
    assert rows_of(done.paths[0])[0][5:] == ["Other (1)"]
    assert rows_of(done.paths[0])[2][5:] == ["5"]
    with pytest.raises(CannotExport, match="expected NOTEBOOK=TITLE"):
        export(tmp_path, "canvas", roster=roster, columns=("Other",))


# ---- Moodle -----------------------------------------------------------------------------------------------

WORKSHEET = [
    ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum grade",
     "Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"],
    ["Participant 11", "Ada Lovelace", "77", "ada@x.org", "Submitted", "", "22.00", "Yes",
     "Friday, 1 May 2026, 2:14 PM", "-", ""],
    ["Participant 12", "Emmy Noether", "78", "emmy@x.org", "Submitted", "", "22.00", "Yes", "-", "-", "see me"],
    ["Participant 13", "Alan Turing", "79", "alan@x.org", "Submitted", "", "22.00", "No", "-", "-", ""],
    ["Participant 14", "Nobody", "80", "no@x.org", "No submission", "", "22.00", "Yes", "-", "-", ""],
]  # fmt: skip


def test_moodle_takes_its_own_worksheet_back(tmp_path):
    roster = tmp_path / "Grades.csv"
    with roster.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(WORKSHEET)
    put(tmp_path, "Ada Lovelace_11", NAME, 17.0, 22.0, moodle("11", "Ada Lovelace"))
    put(tmp_path, "emmy@x.org", NAME, 22.0, 22.0)
    put(tmp_path, "Alan Turing", NAME, 1.0, 22.0)
    done = export(tmp_path, "moodle", roster=roster)
    rows = rows_of(done.paths[0])
    assert rows[0] == WORKSHEET[0]
    ada, emmy = rows[1:]
    assert ada == [*WORKSHEET[1][:5], "17", *WORKSHEET[1][6:10], "best_key: 17 of 22"]
    assert emmy == [*WORKSHEET[2][:5], "22", *WORKSHEET[2][6:]]  # a comment that a human wrote stays
    assert any("Alan Turing" in note and "cannot be changed" in note for note in done.notes)


def test_moodle_without_a_roster_and_the_total_of_several_notebooks(tmp_path):
    put(tmp_path, "Ada Lovelace_11", NAME, 17.0, 22.0, moodle("11", "Ada Lovelace"))
    put(tmp_path, "Ada Lovelace_11", OTHER, 5.0, 10.0, moodle("11", "Ada Lovelace"))
    total = rows_of(export(tmp_path, "moodle").paths[0])
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(
        total[0]
    )  # without these Moodle refuses the file
    row = dict(zip(total[0], total[1], strict=True))
    assert (row["Identifier"], row["Full name"], row["Grade"], row["Maximum grade"]) == (
        "Participant 11", "Ada Lovelace", "22", "32")  # fmt: skip
    one = rows_of(export(tmp_path, "moodle", notebooks=(OTHER,)).paths[0])
    assert dict(zip(one[0], one[1], strict=True))["Grade"] == "5"


@pytest.mark.parametrize(
    ("to", "content", "says"),
    [
        ("canvas", "a,b\n1,2\n", "no Canvas gradebook"),
        ("moodle", "a,b\n1,2\n", "no grading worksheet"),
        ("moodle", "", "is empty"),
        ("moodle", None, "cannot be read"),
    ],
)
def test_a_wrong_roster_is_refused_with_a_sentence(tmp_path, to, content, says):
    put(tmp_path, "ada", NAME, 1.0, 22.0)
    roster = tmp_path / "roster.csv"
    if content is not None:
        roster.write_text(content)
    with pytest.raises(CannotExport, match=says):
        export(tmp_path, to, roster=roster)


@pytest.mark.parametrize(
    ("to", "option", "given"),
    [
        *((to, "--out", "a folder") for to in ("canvas", "canvas-feedback", "moodle-feedback", "nbgrader")),
        *((to, "--out", "a file") for to in ("jupyterhub", "gradescope")),
        ("nbgrader", "--gradebook", "nonsense"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_with_a_sentence(tmp_path, needs, to, option, given):
    needs("nbgrader")
    put(tmp_path, "ada", NAME, 1.0, 22.0)
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").touch()
    done = sdpa("export", tmp_path, "--to", to, option, given, cwd=tmp_path)
    assert (done.returncode, given in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_notebooks_that_were_not_graded_are_refused(tmp_path):
    put(tmp_path, "ada", NAME, 1.0, 22.0)
    with pytest.raises(CannotExport, match="not among the graded"):
        export(tmp_path, "canvas", notebooks=(OTHER,))


@pytest.mark.parametrize(
    ("to", "content"), [("canvas", ROSTER), ("moodle", "Identifier,Full name,Grade\nParticipant 9,Bo,\n")]
)
def test_the_roster_of_another_course_is_refused(tmp_path, to, content):
    put(tmp_path, "zoe", NAME, 1.0, 22.0)
    roster = tmp_path / "roster.csv"
    roster.write_text(content)
    with pytest.raises(CannotExport, match="none of the 1 learners was found in it"):
        export(tmp_path, to, roster=roster)


# ---- Gradescope -------------------------------------------------------------------------------------------


def test_gradescopes_results(tmp_path):
    put(tmp_path, "ada", NAME, 3.0, 4.0, message="")
    put(tmp_path, "ada", OTHER, 0.0, 5.0, message="Raised ValueError: <b>no</b>")
    done = export(tmp_path, "gradescope")
    assert [p.relative_to(tmp_path) for p in done.paths] == [Path("export/gradescope/ada/results.json")]
    whole = json.loads(done.paths[0].read_text())
    assert whole["score"] == 3.0
    assert [t["max_score"] for t in whole["tests"]] == [4.0, 5.0]
    assert [t["status"] for t in whole["tests"]] == ["passed", "failed"]
    assert {t["output_format"] for t in whole["tests"]} == {"text"}  # never read as HTML
    assert all(t["visibility"] == "visible" and isinstance(t["number"], str) for t in whole["tests"])


def test_answers_that_nobody_has_read_are_named_and_neither_passed_nor_failed(tmp_path):
    words = written_of("02_variance_proof")[0]
    ResultsFolder(tmp_path).write_result(result("ada", [unread(words, "Because.")], "02_variance_proof"))
    done = export(tmp_path, "gradescope")
    assert "status" not in json.loads(done.paths[0].read_text())["tests"][0]
    assert any("nobody has read them" in note for note in done.notes)
    rows = rows_of(export(tmp_path, "moodle").paths[0])
    assert rows[1][-1] == f"{words.name}: not read yet"


def test_what_being_late_costs_is_taken_off_everywhere(tmp_path):
    put(tmp_path, "ada", NAME, 20.0, 22.0, late_penalty=0.25)
    put(tmp_path, "ada", OTHER, 5.0, 9.0)
    assert [r.points for r in ResultsFolder(tmp_path).read_results()] == [15.0, 5.0]
    assert [r.earned for r in ResultsFolder(tmp_path).read_results()] == [20.0, 5.0]
    assert rows_of(export(tmp_path, "canvas").paths[0])[2][5:] == ["15", "5"]
    moodle_row = rows_of(export(tmp_path, "moodle").paths[0])[1]
    assert "20" in moodle_row
    assert moodle_row[-1].startswith("late: 25 % of 20 points taken off; best_key: 20 of 22")
    assert json.loads(export(tmp_path, "gradescope").paths[0].read_text())["score"] == 20.0


def test_a_name_in_a_roster_that_is_a_formula_is_escaped_and_a_dash_stays(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER.replace('"Noether, Emmy",13,S13', "＝cmd(),13,-").replace(",A,2", ",-1.5,2"))
    put(tmp_path, "emmy", NAME, 22.0, 22.0)
    rows = rows_of(export(tmp_path, "canvas", roster=roster).paths[0])
    assert rows[2][:5] == ["'＝cmd()", "13", "-", "emmy", "-1.5"]


# ---- nbgrader ---------------------------------------------------------------------------------------------


def test_nbgraders_gradebook_and_a_humans_score_stays(tmp_path, needs):
    needs("nbgrader")
    from nbgrader.api import Gradebook

    put(tmp_path, "ada", NAME, 17.0, 22.0)
    put(tmp_path, "bob", NAME, 0.0, 22.0)
    put(tmp_path, "eve", NAME, 10.0, 22.0, late_penalty=0.1)
    url = f"sqlite:///{tmp_path / 'book.db'}"
    export(tmp_path, "nbgrader", gradebook=url)
    with Gradebook(url) as book:
        scores = {
            s.student.id: (s.score, s.late_submission_penalty) for s in book.assignment_submissions(NAME)
        }
        assert scores == {"ada": (17.0, 0.0), "bob": (0.0, 0.0), "eve": (10.0, 1.0)}
        grade = book.find_grade("best_key-check", NAME, NAME, "bob")
        assert (grade.max_score, grade.needs_manual_grade) == (22.0, False)
        grade.manual_score = 9.0
        book.db.commit()
    put(tmp_path, "ada", NAME, 22.0, 22.0)
    export(tmp_path, "nbgrader", gradebook=url)
    with Gradebook(url) as book:
        scores = {s.student.id: s.score for s in book.assignment_submissions(NAME)}
        assert scores == {"ada": 22.0, "bob": 9.0, "eve": 10.0}


def test_a_notebook_graded_later_joins_the_same_nbgrader_assignment(tmp_path, needs):
    needs("nbgrader")
    from nbgrader.api import Gradebook

    url = f"sqlite:///{tmp_path / 'book.db'}"
    put(tmp_path, "ada", NAME, 17.0, 22.0)
    export(tmp_path, "nbgrader", gradebook=url, assignment="ps1")
    put(tmp_path, "ada", OTHER, 5.0, 9.0)
    export(tmp_path, "nbgrader", gradebook=url, assignment="ps1")
    with Gradebook(url) as book:
        assert [(s.score, s.max_score) for s in book.assignment_submissions("ps1")] == [(22.0, 31.0)]


def test_answers_in_words_need_a_grade_in_nbgrader_until_they_are_read(tmp_path, needs):
    needs("nbgrader")
    from nbgrader.api import Gradebook

    words, lesson = written_of("02_variance_proof")[0], "02_variance_proof"
    waiting = result("ada", [unread(words, "Because.")], "02_variance_proof")
    url = f"sqlite:///{tmp_path / 'book.db'}"
    for points in (None, 3.5):
        key = AnswerKey("ada", lesson, words.name, digest("Because."))
        ResultsFolder(tmp_path).write_result(
            with_marks(waiting, {} if points is None else {key: Decision((), 3.5, points).as_mark(key)})
        )
        export(tmp_path, "nbgrader", gradebook=url)
        with Gradebook(url) as book:
            grade = book.find_grade(words.name, lesson, lesson, "ada")
            assert (grade.score, grade.max_score, grade.needs_manual_grade) == (
                points or 0.0,
                words.max_points,
                points is None,
            )


def test_nbgraders_preprocessors_hand_out_a_cell_to_write_in(course, needs):
    needs("nbgrader")
    from nbconvert.exporters.exporter import ResourcesDict
    from nbgrader.preprocessors import CheckCellMetadata, ClearSolutions, ComputeChecksums, LockCells

    notebook = nbformat.read(course / "solutions" / "02_variance_proof.ipynb", as_version=4)
    for step in (CheckCellMetadata(), LockCells(), ClearSolutions(), ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, ResourcesDict())
    assert not any("SOLUTION" in cell.source for cell in notebook.cells)
    handed_out = [
        {"cell_type": c.cell_type, "source": c.source, "metadata": c.metadata} for c in notebook.cells
    ]
    found = lift_words(handed_out, written_of("02_variance_proof"), [c["source"] for c in handed_out])
    assert set(found.answers.values()) == {""}  # nbgrader's own stub is nobody's answer
    assert len(found.answers) == 2


def nbgrader(course_folder, *arguments):
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([bin_folder, os.environ.get("PATH", "")]),
        "HOME": str(course_folder),
    }
    ran = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=course_folder, env=environment,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]


def test_solutions_are_nbgraders_source_folder(tmp_path, course, needs):
    """The real nbgrader: a student assignment from solutions/, then a right and an untouched submission graded."""
    needs("nbgrader")
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "sdpa"\n')
    source = tmp_path / "source" / "ps1" / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(course / "solutions" / f"{NAME}.ipynb", source)
    nbgrader(tmp_path, "generate_assignment", "ps1", "--create")
    released = nbformat.read(tmp_path / "release" / "ps1" / f"{NAME}.ipynb", as_version=4)
    assert not any("SOLUTION" in cell.source for cell in released.cells)
    for student, answers in (("right", RIGHT), ("stub", {})):
        notebook = nbformat.from_dict(released)
        for cell in notebook.cells:
            if exercise_of(cell) in answers:
                cell.source = f"# exercise: {exercise_of(cell)}\n{answers[exercise_of(cell)]}"
        path = tmp_path / "submitted" / student / "ps1" / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    nbgrader(tmp_path, "autograde", "ps1", "--create")
    query = (
        "select student_id, sum(auto_score), sum(max_score) from grade "
        "join submitted_notebook n on n.id = grade.notebook_id join submitted_assignment s on s.id = n.assignment_id "
        "join grade_cells c on c.id = grade.cell_id group by student_id"
    )
    with create_engine(f"sqlite:///{tmp_path / 'gradebook.db'}").connect() as connection:
        marks = {row[0]: (row[1], row[2]) for row in connection.execute(text(query))}
    assert marks == {"right": (TOTAL, TOTAL), "stub": (0.0, TOTAL)}
