"""Files, tables and pages from records: escaped, whole, and the same again."""

import contextlib
import csv
import json
import sqlite3
import tracemalloc

import pytest
from sqlalchemy import create_engine, text

from sdpa_helpers.classroom.files import no_formula, write_text
from sdpa_helpers.classroom.gradebook import write_gradebook
from sdpa_helpers.classroom.pages import write_feedback
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.tables import graded_last, write_tables
from sdpa_helpers.classroom.timings import add_timing, read_timings, tidy_timings
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.result import Flag, GradedExercise
from tests.results import NAME, case, result

NASTY = '<script>alert("x")</script>'


def made_up(student, points=1.0, message="Off.", status="graded", reason=""):
    """Two exercises with two cases each: 4 of 8 points at most."""
    exercises = [
        GradedExercise(
            e.name,
            e.title,
            4.0,
            tuple(
                case(points / 2, 2.0, name, "failed", diagnosis="wrong-values", message=message)
                for name in ("a case", "b")
            ),
        )
        for e in exercises_of(NAME)[:2]
    ]
    return result(student, exercises, status=status, reason=reason, flags=[Flag("x", NASTY)])


def test_nothing_of_a_submission_becomes_markup():
    for record in (
        made_up(NASTY, message=f"raised ValueError: {NASTY} and `{NASTY}`"),
        made_up("a", status="unreadable", reason=NASTY),
    ):
        page = feedback_page(record)
        assert "<script" not in page
        assert "&lt;script&gt;" in page


def test_code_between_backticks_is_set_as_code():
    assert "<code>a &lt; b</code>" in feedback_page(made_up("ada", message="Write `a < b` here."))


def test_a_spreadsheet_does_not_run_a_students_name(tmp_path):
    write_tables(ResultsFolder(tmp_path), [made_up("=HYPERLINK(1)")], [NAME])
    with (tmp_path / "grades.csv").open() as file:
        assert next(csv.DictReader(file))["student"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("first", list("=+-@\t\r"))
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(tmp_path, first):
    name = f"{first}1+1"
    assert no_formula(name) == f"'{name}"
    write_tables(ResultsFolder(tmp_path), [made_up(name)], [NAME])
    for table in ("grades.csv", "details.csv"):
        with (tmp_path / table).open(newline="") as file:
            assert next(csv.DictReader(file))["student"] == f"'{name}"


def test_a_formula_behind_a_semicolon_is_none_in_a_cell_of_its_own(tmp_path):
    folder, name = ResultsFolder(tmp_path), "ada; =1+1;＝2"
    folder.write_result(made_up(name))
    write_tables(folder, [made_up(name)], [NAME])
    with folder.grades_csv.open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["student"] == "ada;' =1+1;'＝2"
    assert graded_last(folder) == [(name, NAME)]


@pytest.mark.parametrize("cell", ["", "ada", "a=1", "1-1", "'", "a; b", 3, None])
def test_other_cells_stay_as_they_are(cell):
    assert no_formula(cell) == cell


def test_numbers_are_short_also_negative_ones():
    assert [no_formula(n) for n in (2.0, 0.5, -1.5)] == ["2", "0.5", "-1.5"]


def test_a_fresh_start_removes_what_a_run_wrote_and_no_mark(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.write_result(made_up("ada"))
    kept = (
        folder.marks_db,
        folder.names_toml,
        folder.marks_changed_csv,
        folder.lock,
        folder.review_notebook,
        folder.exports / "canvas.csv",
    )
    gone = [p for p in vars(folder).values() if p not in (*kept, folder.path, folder.exports) and p.suffix]
    folder.exports.mkdir()
    for path in (*kept, *gone):
        path.touch()
    folder.clear()
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)


def test_a_result_is_kept_only_with_its_page_its_fingerprint_and_its_form(tmp_path):
    folder = ResultsFolder(tmp_path)
    ada = made_up("ada")
    folder.write_result(ada)
    assert folder.kept_result("ada", NAME, "f") is None
    write_feedback(folder, ada)
    assert folder.kept_result("ada", NAME, "f") == ada
    assert folder.kept_result("ada", NAME, "another") is None
    path = folder.result_path("ada", NAME)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"form": "1"}))
    assert folder.kept_result("ada", NAME, "f") is None
    assert list(folder.read_results()) == []
    assert [older.found for older in folder.passed_over().older] == ["1"]


def test_a_notebook_nobody_handed_in_is_blank_and_does_not_count(tmp_path):
    write_tables(ResultsFolder(tmp_path), [made_up("ada")], [NAME, "02_later"])
    with (tmp_path / "grades.csv").open() as file:
        assert next(csv.DictReader(file)) == {
            "student": "ada",
            NAME: "2",
            "02_later": "",
            "total": "2",
            "max": "8",
        }


@pytest.fixture(params=["file", "URL"])
def book(request, tmp_path):
    """Where a gradebook can be: the file, which we write ourselves, or a URL for SQLAlchemy."""
    path = tmp_path / "book.db"
    return path if request.param == "file" else f"sqlite:///{path}"


def test_the_file_has_the_tables_that_other_databases_get(tmp_path):
    schemas = []
    for place in (tmp_path / "one.db", f"sqlite:///{tmp_path / 'other.db'}"):
        write_gradebook(place, [made_up("ada")])
    for name in ("one.db", "other.db"):
        with contextlib.closing(sqlite3.connect(tmp_path / name)) as connection:
            found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        schemas.append(
            [(name, "".join((sql or "").split()).replace("DOUBLE", "FLOAT")) for name, sql in found]
        )
    assert schemas[0] == schemas[1]


def test_grading_again_replaces_and_keeps_the_others(tmp_path, book):
    url = f"sqlite:///{tmp_path / 'book.db'}"
    write_gradebook(book, [made_up("ada"), made_up("bob")])
    write_gradebook(book, [made_up("ada", points=4.0)])
    with create_engine(url).connect() as connection:
        rows = connection.execute(text("select student, points from results order by student")).all()
        cases = connection.execute(text("select count(*) from cases")).scalar()
        flags = connection.execute(text("select count(*) from flags")).scalar()
    assert rows == [("ada", 8.0), ("bob", 2.0)]
    assert (cases, flags) == (8, 2)


def test_the_same_results_leave_the_same_bytes_and_a_changed_one_keeps_its_number(tmp_path):
    book = tmp_path / "book.db"
    write_gradebook(book, [made_up("ada"), made_up("bob")])
    before = book.read_bytes()
    write_gradebook(book, [made_up("bob"), made_up("ada")])
    assert book.read_bytes() == before
    write_gradebook(book, [made_up("ada", points=4.0)])
    with contextlib.closing(sqlite3.connect(book)) as connection:
        rows = connection.execute("SELECT id, student, points FROM results ORDER BY id").fetchall()
    assert rows == [(1, "ada", 8.0), (2, "bob", 2.0)]


def test_a_large_class_is_written_a_few_at_a_time_and_all_or_nothing(tmp_path, book):
    """The memory that it takes does not grow with the class: 40 MB of messages pass through a tenth of that."""
    url = f"sqlite:///{tmp_path / 'book.db'}"

    def records(number):
        for n in range(number):
            yield made_up(f"s{n:04}", message="x" * 10_000)

    write_gradebook(book, records(100))  # what is imported and compiled counts for nothing
    tracemalloc.start()
    try:
        write_gradebook(book, records(1000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10e6

    def cut_off():
        yield from (made_up(f"s{n:04}", message="changed") for n in range(300))
        raise KeyboardInterrupt

    before = (tmp_path / "book.db").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        write_gradebook(book, cut_off())
    with create_engine(url).connect() as connection:
        assert connection.execute(text("select count(*) from results")).scalar() == 1000
        assert connection.execute(text("select count(*) from cases")).scalar() == 4000
    assert (tmp_path / "book.db").read_bytes() == before


def test_no_text_of_a_submission_is_one_that_cannot_be_written(hand_in, tmp_path):
    """Half of a surrogate pair, NUL, characters beyond the first 65536: in the message, the answer, the pages."""
    strange = "raise ValueError('\\ud800 \\0 \U0001f600')"
    path = hand_in("ada", dot_product=f"def dot_product(q, k):\n    {strange}")
    record = grade(Submission("ada", NAME, path), Settings("s"))
    message = record.exercise("dot_product").cases[0].message
    assert "\0" not in message
    assert "\U0001f600" in message
    ResultsFolder(tmp_path).write_result(record)
    write_tables(ResultsFolder(tmp_path), [record], [NAME])
    write_gradebook(f"sqlite:///{tmp_path / 'book.db'}", [record])
    assert "\U0001f600" in feedback_page(record)
    assert list(ResultsFolder(tmp_path).read_results()) == [record]


@pytest.mark.parametrize(
    "name",
    [
        "＝1+1",
        "＋1",
        "－1",
        "＠SUM(1)",
        "﹦1",
        "⁼1",
        "₊1",
        " =1+1",
        "\u00a0=1",
        "\u200b=1",
        "\ufeff=1",
        "\n=1",
        "⩵1",
    ],
)
def test_what_becomes_a_formula_is_escaped_and_found_again(tmp_path, name):
    folder = ResultsFolder(tmp_path)
    folder.write_result(made_up(name))
    add_timing(folder.timings_csv, name, NAME, 1.5)
    write_tables(folder, [made_up(name)], [NAME])
    assert graded_last(folder) == [(name, NAME)]
    tidy_timings(folder.timings_csv, [(name, NAME)])
    assert read_timings(folder.timings_csv) == {(f"'{name}", NAME): "1.50"}
    with folder.grades_csv.open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["student"] == f"'{name}"


def test_the_seed_is_for_its_owner_alone_whatever_was_there_before(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("old")
    path.chmod(0o644)
    write_text(path, "new", private=True)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
