"""Answers in words: found in what was handed in, kept in the record, marked, and marked still after a regrade."""

import csv
import json
import signal
import subprocess
import sys

import nbformat
import pytest
from sqlalchemy import create_engine, text

from sdpa_helpers.checking.kinds.written_exercise import LINE, STUB
from sdpa_helpers.classroom.marks.store import AnswerKey, CannotKeep, last_marks
from sdpa_helpers.classroom.pages.class_report import summarise
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.pages.similar import find_similar
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import apply_marks, with_marks
from sdpa_helpers.classroom.review.decisions import Decision, save_decision
from sdpa_helpers.classroom.review.panel import beside_answer
from sdpa_helpers.classroom.rubrics import guides
from sdpa_helpers.classroom.tables import write_tables
from sdpa_helpers.course.registry import LESSONS, all_exercises, all_written, sheet_of, written_of
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.lift_words import MAX_CHARACTERS, digest, lift_words
from sdpa_helpers.grading.read import Submission, read_cells
from sdpa_helpers.grading.result import GradedWords
from sdpa_helpers.grading.result_json import as_json
from tests.commands import sdpa
from tests.results import in_words

NAME, PROOF, LIMIT = "02_variance_proof", "proof_in_words", "not_the_limit_theorem"
TOTAL = sum(exercise.max_points for exercise in sheet_of(NAME).exercises)
NASTY = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def pristine(course):
    return read_cells(course / "exercises" / f"{NAME}.ipynb")


def lifted(cells, pristine):
    return lift_words(cells, written_of(NAME), [c["source"] for c in pristine])


def cell(source, kind="markdown", **metadata):
    return {"cell_type": kind, "source": source, "metadata": metadata}


def filled(pristine, **answers):
    """The handed-out cells with these answers in their places."""
    cells = [dict(c) for c in pristine]
    for c in cells:
        for name, words in answers.items():
            if c["source"].startswith(LINE.format(name=name)):
                c["source"] = f"{LINE.format(name=name)}\n{words}"
    return cells


def key_of(graded, exercise=PROOF):
    return AnswerKey(graded.student, graded.notebook, exercise, graded.exercise(exercise).digest)


MET = Decision(("sum", "moments"), 0.5, 9.5, f"Why? {NASTY}")


# ---- definitions ------------------------------------------------------------------------------------------


def test_definitions_rubrics_and_notebooks_agree(course):
    assert not set(all_written()) & set(all_exercises())
    for lesson in filter(written_of, LESSONS):
        assert lesson in LESSONS
        cells = nbformat.read(course / "solutions" / f"{lesson}.ipynb", as_version=4).cells
        handed_out = nbformat.read(course / "exercises" / f"{lesson}.ipynb", as_version=4).cells
        assert set(guides(lesson)) == {e.name for e in written_of(lesson)}
        for e in written_of(lesson):
            assert list(guides(lesson)[e.name]) == [c.key for c in e.criteria]
            at = next(i for i, c in enumerate(cells) if c.source.startswith(LINE.format(name=e.name)))
            prompt = next(c.source for c in reversed(cells[:at]) if c.cell_type == "markdown")
            head = (
                f"Difficulty {e.difficulty} of 5 · {e.minutes} minutes · {e.max_points:g} points · in words"
            )
            assert prompt.startswith(f"## {e.name}\n\n{head}\n")
            for c in e.criteria:
                assert f"- {c.points:g} point{'s' * (c.points != 1)}: {c.asks}" in prompt
            assert cells[at].metadata.nbgrader == {
                "schema_version": 3, "solution": True, "grade": True, "locked": False, "task": False,
                "points": e.max_points, "grade_id": e.name, "cell_type": "markdown",
            }  # fmt: skip
            stub = next(c for c in handed_out if c.source.startswith(LINE.format(name=e.name)))
            assert stub.source == f"{LINE.format(name=e.name)}\n{STUB}"
            beside = beside_answer(e)
            assert len(beside["model"]) > 300
            assert beside["model"] in cells[at].source
            assert beside["prompt"]
            assert "person reads" not in beside["prompt"]


# ---- finding ----------------------------------------------------------------------------------------------


def test_the_handed_out_notebook_has_nothing_written_in_it(pristine):
    found = lifted(pristine, pristine)
    assert found.answers == {PROOF: "", LIMIT: ""}
    assert found.flags == ()


@pytest.mark.parametrize(
    "source",
    [
        "<!-- exercise: proof_in_words -->\nBecause.",
        "\n  <!--exercise: proof_in_words-->\r\nBecause.".replace("\r\n", "\n"),
        "&lt;!-- exercise: proof\\_in\\_words --&gt;\n\nBecause.",
        "# exercise: proof_in_words\nBecause.\n",
        f"exercise: proof_in_words\n{STUB}\nBecause.",
        "<!-- exercise: proof_in_words -->\nYOUR ANSWER HERE\n\nBecause.",
    ],
)
@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_an_answer_is_found_by_its_line_whatever_editor_it_went_through(pristine, source, kind):
    found = lifted([cell("x"), cell(source, kind)], pristine)
    assert found.answers == {PROOF: "Because."}
    assert found.flags == ()


def test_an_answer_without_its_line_or_beside_its_cell_is_found_too(pristine):
    by_id = lifted([cell("Because.", nbgrader={"grade_id": PROOF})], pristine)
    assert by_id.answers == {PROOF: "Because."}
    assert [f.kind for f in by_id.flags] == ["answer-line-missing"]
    below = lifted([cell(f"## {PROOF}\n\nProve it."), cell("Because.")], pristine)
    assert below.answers == {PROOF: "Because."}
    cells = filled(pristine)
    at = next(i for i, c in enumerate(cells) if c["source"].startswith(LINE.format(name=PROOF)))
    cells[at + 1 : at + 1] = [cell("Because."), cell("And so on.")]
    added = lifted(cells, pristine)
    assert added.answers == {PROOF: "Because.\n\nAnd so on.", LIMIT: ""}


def test_doubled_and_endless_answers_are_flagged(pristine):
    line = LINE.format(name=PROOF)
    found = lifted([cell(f"{line}\none"), cell(f"{line}\ntwo"), cell(f"{line}\n{STUB}")], pristine)
    assert found.answers == {PROOF: "two"}
    assert [f.kind for f in found.flags] == ["doubled-answer"]
    found = lifted([cell(f"{line}\n" + "x" * 20_000)], pristine)
    assert len(found.answers[PROOF]) == MAX_CHARACTERS
    assert [f.kind for f in found.flags] == ["answer-too-long"]
    assert lifted([cell("x")], pristine).answers == {}


def test_the_record_of_a_graded_notebook(course, tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    notebook = nbformat.read(course / "exercises" / f"{NAME}.ipynb", as_version=4)
    notebook.cells = [c for c in notebook.cells if c.cell_type != "code" and LIMIT not in c.source]
    words = f"{NASTY} half of a pair: \ud800"
    for c in notebook.cells:
        if PROOF in c.source and c.source.startswith("<!--"):
            c.source = f"{LINE.format(name=PROOF)}\n{words}"
    path.write_text(json.dumps(notebook))
    graded = grade(Submission("ada", NAME, path), Settings("s"))  # no code cell is left: no kernel is needed
    assert (graded.status, graded.points, graded.max_points) == ("graded", 0, TOTAL)
    proof, limit = graded.words
    assert proof.waits
    assert proof.case.status == proof.case.diagnosis == "to-review"
    assert limit.case.status == "missing"
    assert graded.answers == {PROOF: words.replace("\ud800", "\\ud800")}
    json.dumps(as_json(graded)).encode()
    missing = grade(Submission("bob", NAME, None), Settings("s"))
    assert (missing.max_points, missing.exercise(PROOF).cases[0].status) == (TOTAL, "missing")


# ---- marks ------------------------------------------------------------------------------------------------


def test_marks_are_merged_and_the_same_marks_give_the_same_record(tmp_path):
    plain = in_words("ada", proof_in_words="Because.")
    save_decision(tmp_path / "marks.db", key_of(plain), MET)
    marked = with_marks(plain, last_marks(tmp_path / "marks.db"))
    graded = marked.exercise(PROOF)
    assert isinstance(graded, GradedWords)
    assert (marked.points, graded.points, graded.case.status) == (9.5, 9.5, "marked")
    assert [c.given for c in graded.mark.criteria] == [False, True, True]
    assert with_marks(marked, last_marks(tmp_path / "marks.db")) == marked
    assert with_marks(marked, {}) == plain
    save_decision(tmp_path / "marks.db", key_of(plain), Decision())
    assert with_marks(marked, last_marks(tmp_path / "marks.db")) == plain


def test_a_mark_belongs_to_one_text(tmp_path):
    before, after = in_words("ada", proof_in_words="Because."), in_words("ada", proof_in_words="Why not.")
    save_decision(tmp_path / "marks.db", key_of(before), MET)
    assert with_marks(after, last_marks(tmp_path / "marks.db")) == after
    assert digest("Because. \r\nSo.\n") == digest("\nBecause.\nSo.")
    assert digest("Because.") != digest("because.")


def test_a_mark_is_never_worth_more_than_the_exercise(tmp_path):
    plain = in_words("ada", proof_in_words="Because.")
    for points, counts in ((99.0, 15.0), (-1.0, 0.0)):
        marked = with_marks(plain, {key_of(plain): Decision((), 0.0, points).as_mark(key_of(plain))})
        assert marked.points == counts


def test_a_comment_alone_is_no_mark(tmp_path):
    plain = in_words("ada", proof_in_words="Because.")
    assert with_marks(plain, {key_of(plain): Decision(comment="Hm.").as_mark(key_of(plain))}) == plain


KILLED = """
import sys
from pathlib import Path
from sdpa_helpers.classroom.marks.store import AnswerKey
from sdpa_helpers.classroom.review.decisions import Decision, save_decision
for i in range(10_000):
    save_decision(Path(sys.argv[1]), AnswerKey(f"s{i}", "n", "e", "d"), Decision((), 0.0, 1.0))
    print(i, flush=True)
"""


def test_what_was_told_as_saved_survives_a_kill(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "marks.db")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(20):
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    last = int((process.stdout.read().strip().split("\n")[-1]) or last)
    process.wait()
    assert len(last_marks(tmp_path / "marks.db")) >= last + 1 >= 20


def test_a_broken_marks_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "marks.db").write_bytes(b"this is no database, and longer than its header" * 50)
    with pytest.raises(CannotKeep, match=r"marks\.db"):
        last_marks(tmp_path / "marks.db")


# ---- everything made from records -------------------------------------------------------------------------


def test_applying_brings_marks_into_every_file(tmp_path):
    graded = [
        in_words("ada", proof_in_words="Because."),
        in_words("=ben", proof_in_words="So.", not_the_limit_theorem="No."),
    ]
    for one in graded:
        ResultsFolder(tmp_path).write_result(one)
    ResultsFolder(tmp_path).write_result(in_words("left-over", proof_in_words="Of an earlier run."))
    write_tables(ResultsFolder(tmp_path), graded, list(LESSONS))
    (tmp_path / "gradebook.db").touch()
    save_decision(tmp_path / "marks.db", key_of(graded[0]), MET)
    save_decision(
        tmp_path / "marks.db", key_of(graded[1]), Decision(("one-product", "sum", "moments"), 0.0, 15.0)
    )
    done = apply_marks(ResultsFolder(tmp_path))
    assert (done.changed, done.marked, done.waiting) == (2, 2, 1)
    rows = list(csv.DictReader((tmp_path / "grades.csv").open()))
    assert {r["student"]: (r["total"], r["max"]) for r in rows} == {
        "ada": ("9.5", "30"),
        "'=ben": ("15", "30"),
    }
    details = [r for r in csv.DictReader((tmp_path / "details.csv").open()) if r["exercise"] == PROOF]
    assert [(r["student"], r["points"], r["status"], r["diagnosis"]) for r in details] == [
        ("'=ben", "15", "marked", ""),
        ("ada", "9.5", "marked", "marked"),
    ]
    with create_engine(f"sqlite:///{tmp_path / 'gradebook.db'}").connect() as connection:
        assert dict(connection.execute(text("select student, points from results")).all()) == {
            "ada": 9.5,
            "=ben": 15.0,
        }
    page = (tmp_path / "feedback" / "ada" / f"{NAME}.html").read_text()
    assert "where mean 0 and variance 1 come in" in page
    assert "+0.5" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "2 answers in words" not in (tmp_path / "class.html").read_text()
    assert "1 answer in words not read yet" in (tmp_path / "class.html").read_text()
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.[jch]*") if p.is_file()}
    assert apply_marks(ResultsFolder(tmp_path)).changed == 0
    assert {p: p.read_bytes() for p in before} == before


def test_a_feedback_page_before_anybody_has_read_the_answer():
    page = feedback_page(in_words("ada", proof_in_words="Because."))
    assert "Up to 15 points are still open" in page
    assert "A person reads this answer" in page
    assert "Nothing is written here yet" in page


def test_the_class_report_counts_only_what_was_read():
    plain = [in_words(name, proof_in_words=name) for name in ("ada", "ben", "cleo")]
    marked = with_marks(plain[0], {key_of(plain[0]): MET.as_mark(key_of(plain[0]))})
    exercise = summarise([marked, *plain[1:]]).notebooks[NAME].exercises[PROOF]
    assert (exercise.points, exercise.waiting) == ([9.5], ["ben", "cleo"])
    assert [case for case, _ in exercise.hardest] == [written_of(NAME)[0].criteria[0].asks]


def test_prose_is_not_compared_as_code():
    same = "a sentence about means and variances " * 20
    assert (
        find_similar([in_words("ada", proof_in_words=same), in_words("ben", proof_in_words=same)]).compared
        == 0
    )


def test_marks_survive_grading_again_from_nothing(course, tmp_path):
    for student, words in (("ada", "Because."), ("ben", "So.")):
        notebook = nbformat.read(course / "exercises" / f"{NAME}.ipynb", as_version=4)
        notebook.cells = [c for c in notebook.cells if c.cell_type != "code"]  # no kernel is needed
        for c in notebook.cells:
            if c.source.startswith(LINE.format(name=PROOF)):
                c.source = f"{LINE.format(name=PROOF)}\n{words}"
        (tmp_path / "in" / student).mkdir(parents=True)
        nbformat.write(notebook, tmp_path / "in" / student / f"{NAME}.ipynb")

    def said(*arguments):
        ran = sdpa(*arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def files():
        names = ("grades.csv", "details.csv", "class.html", f"feedback/ada/{NAME}.html")
        return {name: (out / name).read_bytes() for name in names}

    out = tmp_path / "out"
    grading = ("grade", tmp_path / "in", "--out", out, "--sandbox", "off", "--seed", "s")
    assert "2 answers in words to be read" in said(*grading)
    for graded in ResultsFolder(out).read_results():
        if graded.student == "ada":
            save_decision(out / "marks.db", key_of(graded), MET)
    assert "Answers marked: 1, waiting: 1; submissions changed: 1." in said("review", out, "--apply")
    applied = files()
    assert b"ada,,9.5" in applied["grades.csv"]
    said(*grading)
    assert files() == applied
    said(*grading, "--fresh")
    assert files() == applied
