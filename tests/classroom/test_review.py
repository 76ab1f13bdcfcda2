"""Reading answers in words: the order, what a reader's acts do and keep, and the table without a notebook."""

import csv
import json

import nbformat
import pytest
from typer.testing import CliRunner

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.command import NothingToReview, write_notebook
from sdpa_helpers.classroom.review.decisions import Decision, load_decisions, save_decision
from sdpa_helpers.classroom.review.panel import review
from sdpa_helpers.classroom.review.session import ReviewSession, answers_of, points_for
from sdpa_helpers.classroom.review.table import BadTable, sync_table
from sdpa_helpers.cli.app import app
from sdpa_helpers.course.registry import written_of
from tests.grading.test_lift_words import LIMIT, NAME, NASTY, PROOF
from tests.results import in_words

LONG = "the variance of a sum of independent products is the sum of their variances and so on to the end "


@pytest.fixture
def out(tmp_path):
    """Six learners; the answers of two resemble each other, one has not written anything."""
    for student, words in (
        ("ada", LONG * 3),
        ("ben", "Something else entirely, in rather few words."),
        ("cleo", LONG * 3 + "indeed"),
        ("dora", NASTY),
        ("emil", "Variances add up."),
        ("fay", ""),
    ):
        answers = {PROOF: words, LIMIT: f"{student} writes this"} if words else {}
        ResultsFolder(tmp_path).write_result(in_words(student, **answers))
    return tmp_path


def start(out):
    return ReviewSession(ResultsFolder(out))


def do(session, act, **more):
    session.act({"do": act, "at": session.at, **more})
    return session.view()


# ---- the order --------------------------------------------------------------------------------------------


def test_one_question_after_the_other_in_an_order_that_is_always_the_same(out):
    session = start(out)
    names = [a.key.exercise for a in session.answers]
    assert names == [PROOF] * 5 + [LIMIT] * 5
    order = [a.key.student for a in session.answers]
    assert order == [a.key.student for a in start(out).answers]
    assert order[:5] != sorted(order[:5])
    assert order[:5] != order[5:]  # one's place in one question says nothing about the next


def test_what_resembles_each_other_stands_together(out):
    session = start(out)
    order = [a.key.student for a in session.answers[:5]]
    assert abs(order.index("ada") - order.index("cleo")) == 1
    alike = {a.key.student: a.alike for a in session.answers[:5]}
    assert alike == {"ada": 1, "cleo": 1, "ben": 0, "dora": 0, "emil": 0}


def test_a_big_class_is_sorted_in_time_that_grows_with_it():
    words = [f"word{i * 7919 % 997} stands before word{i * 31 % 991} and" for i in range(40)]
    records = [in_words(f"s{i}", proof_in_words=" ".join(words[i % 40 :]) + f" {i}") for i in range(2000)]
    answers = answers_of(records)
    assert len(answers) == 2000
    assert {a.key.student for a in answers} == {f"s{i}" for i in range(2000)}


def test_nobody_is_named_unless_the_reader_asks(out):
    session = start(out)
    students = {a.key.student for a in session.answers}
    seen = json.dumps(do(session, "go", to=0))
    assert session.view()["student"] is None
    assert not any(f'"{student}"' in seen for student in students)
    assert do(session, "names")["student"] == session.answers[0].key.student


# ---- marking ----------------------------------------------------------------------------------------------


def test_every_act_is_on_the_disk_when_the_view_tells_of_it(out):
    session = start(out)
    key = session.answers[0].key
    for act, more, mark in (
        ("toggle", {"key": "sum"}, Decision(("sum",), 0.0, 6.0)),
        ("toggle", {"key": "one-product"}, Decision(("one-product", "sum"), 0.0, 12.0)),
        ("adjust", {"by": -0.5}, Decision(("one-product", "sum"), -0.5, 11.5)),
        ("toggle", {"key": "sum"}, Decision(("one-product",), -0.5, 5.5)),
        ("comment", {"text": " Why? \0"}, Decision(("one-product",), -0.5, 5.5, "Why?")),
        ("set", {"all": True}, Decision(("one-product", "sum", "moments"), 0.0, 15.0, "Why?")),
        ("adjust", {"by": 0.5}, Decision(("one-product", "sum", "moments"), 0.5, 15.0, "Why?")),
        ("set", {"all": False}, Decision((), 0.0, 0.0, "Why?")),
    ):
        view = do(session, act, **more)
        assert load_decisions(out / "marks.db")[key] == mark
        assert (view["mark"]["given"], view["mark"]["points"]) == (list(mark.given), mark.points)
        assert view["marked"] == 1
    assert start(out).view()["marked"] == 1
    assert do(session, "unmark")["marked"] == 0
    assert key not in load_decisions(out / "marks.db")


def test_undo_goes_back_act_by_act_and_is_kept_too(out):
    session = start(out)
    do(session, "toggle", key="sum")
    for text in ("W", "Wh", "Why?"):
        do(session, "comment", text=text)  # saved while it is typed
    do(session, "unmarked")
    do(session, "toggle", key="moments")
    assert session.marked == 2
    assert do(session, "undo")["mark"]["points"] is None
    assert session.at == 1
    view = do(session, "undo")
    assert (view["at"], view["mark"]["comment"], view["mark"]["given"]) == (0, "", ["sum"])
    do(session, "undo")
    assert session.marked == 0 == len(load_decisions(out / "marks.db"))
    assert do(session, "undo")["says"] == "There is nothing to undo."


def test_the_next_that_is_not_marked_comes_round_again(out):
    session = start(out)
    assert session.at == 0
    for _ in range(9):
        do(session, "set", all=False)
        do(session, "unmarked")
    assert session.at == 9
    do(session, "go", to=4)
    assert do(session, "unmarked")["at"] == 9
    do(session, "set", all=True)
    assert do(session, "unmarked")["says"] == "Every answer is marked."
    assert start(out).view()["at"] == 0


def test_an_answer_that_changed_shows_its_old_mark_and_has_none(out):
    session = start(out)
    at = next(i for i, a in enumerate(session.answers) if a.key.student == "ben")
    do(session, "go", to=at)
    do(session, "toggle", key="sum")
    do(session, "comment", text="Say why.")
    changed = in_words("ben", proof_in_words="Now it says why.", not_the_limit_theorem="ben writes this")
    ResultsFolder(out).write_result(changed)
    view = do(start(out), "go", to=at)  # it stands where it stood
    assert view["text"] == "Now it says why."
    assert view["mark"]["points"] is None
    assert view["before"] == {"given": ["sum"], "adjusted": 0.0, "points": 6.0, "comment": "Say why."}
    ResultsFolder(out).write_result(
        in_words("ben", proof_in_words=session.answers[at].text, not_the_limit_theorem="x")
    )
    assert do(start(out), "go", to=at)["mark"]["points"] == 6.0


def test_two_readers_at_once_see_each_others_marks(out):
    one, other = start(out), start(out)
    do(one, "set", all=True)
    assert do(other, "unmarked")["at"] == 1
    assert other.view()["marked"] == 1


@pytest.mark.parametrize(
    "said",
    [
        {"do": "fly"},
        {"do": "go", "to": 99},
        {"do": "go", "to": "0"},
        {"do": "toggle", "at": 0, "key": "no such"},
        {"do": "adjust", "at": 0, "by": float("nan")},
        {"do": "adjust", "at": -1, "by": 1},
    ],
)
def test_acts_that_make_no_sense_change_nothing(out, said):
    session = start(out)
    with pytest.raises(ValueError, match=r"there|nothing|criterion|number"):
        session.act(said)
    assert load_decisions(out / "marks.db") == {}


def test_points_stay_between_nothing_and_all():
    exercise = written_of(NAME)[0]
    assert points_for(exercise, ("sum",), -9.0) == 0.0
    assert points_for(exercise, ("sum", "moments"), 9.0) == exercise.max_points


def test_the_panel_reports_what_could_not_be_saved(out):
    panel = review(out)
    panel._act(None, {"do": "toggle", "at": 0, "key": "sum", "number": 1}, [])
    assert panel.view["error"] == ""
    (out / "marks.db").write_bytes(b"no database any more" * 100)
    panel._act(None, {"do": "toggle", "at": 0, "key": "moments", "number": 2}, [])
    assert "marks.db" in panel.view["error"]
    assert panel.view["mark"]["given"] == ["sum"]
    assert panel.view["number"] == 2


# ---- the command ------------------------------------------------------------------------------------------


def test_the_notebook_runs_anywhere_and_names_nobody(out):
    notebook = nbformat.read(write_notebook(ResultsFolder(out)), as_version=4)
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)
    assert str(out) not in text
    assert "cleo" not in text
    assert notebook.cells[0].cell_type == "code"


def sdpa(*arguments):
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return ran.exit_code, " ".join(ran.output.split())


def test_folders_without_answers_are_refused_with_a_sentence(tmp_path):
    ResultsFolder(tmp_path).write_result(in_words("ada"))
    with pytest.raises(NothingToReview, match="no written answers"):
        write_notebook(ResultsFolder(tmp_path))
    status, says = sdpa("review", tmp_path, "--no-browser")
    assert (status, "no written answers" in says) == (2, True)
    assert sdpa("review", tmp_path / "nowhere")[0] == 2


def rows_of(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def write_rows(path, rows, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_goes_out_and_comes_back_with_marks(out, tmp_path, delimiter):
    ResultsFolder(out).write_result(in_words("gus", proof_in_words="=HYPERLINK(1)"))
    path = tmp_path / "marks.csv"
    assert sync_table(ResultsFolder(out), path) == (0, 11)
    rows = rows_of(path)
    assert "gus" not in path.read_text()
    assert any("sum (" in row["criteria"] for row in rows)
    assert "'=HYPERLINK(1)" in [row["answer"] for row in rows]
    rows[0] |= {"points": "2,5", "comment": "'=1+1", "mine": "a note"}
    rows[1] |= {"met": "sum moments"}
    for row in rows:
        row.setdefault("mine", "")
    write_rows(path, rows, delimiter)
    assert sync_table(ResultsFolder(out), path) == (2, 11)
    keys = [a.key for a in start(out).answers]
    assert load_decisions(out / "marks.db") == {
        keys[0]: Decision((), 2.5, 2.5, "=1+1"),
        keys[1]: Decision(("sum", "moments"), 0.0, 9.0),
    }
    assert "a note" in path.read_text()
    save_decision(out / "marks.db", keys[0], Decision((), 0.0, 4.0))  # somebody else goes on in the panel
    assert sync_table(ResultsFolder(out), path) == (0, 11)  # the row was not touched: the newer mark stays
    assert load_decisions(out / "marks.db")[keys[0]].points == 4.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"points": "16"}, "expected a number from 0 to 15"),
        ({"points": "nan"}, "expected a number from 0 to 15"),
        ({"points": "two"}, "expected a number from 0 to 15"),
        ({"met": "sum everything"}, "everything: expected criteria of proof_in_words"),
    ],
)
def test_a_table_with_a_mistake_changes_nothing(out, tmp_path, changes, says):
    path = tmp_path / "marks.csv"
    sync_table(ResultsFolder(out), path)
    rows = rows_of(path)
    rows[0] |= {"points": "1"}
    rows[1] |= changes
    write_rows(path, rows)
    with pytest.raises(BadTable, match=says):
        sync_table(ResultsFolder(out), path)
    assert load_decisions(out / "marks.db") == {}


def test_every_row_with_a_mistake_is_named(out, tmp_path):
    path = tmp_path / "marks.csv"
    sync_table(ResultsFolder(out), path)
    rows = rows_of(path)
    for row in rows[:2]:
        row["points"] = "many"
    write_rows(path, rows)
    with pytest.raises(BadTable, match=f"(?s){rows[0]['id']}.*{rows[1]['id']}"):
        sync_table(ResultsFolder(out), path)


def test_a_file_that_is_no_such_table_is_refused(out, tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadTable, match="lacks id, exercise, points"):
        sync_table(ResultsFolder(out), path)
    assert sdpa("review", out, "--csv", path)[0] == 2
    assert path.read_text() == "a,b\n1,2\n"


def test_the_table_command_brings_the_marks_into_the_grades(out, tmp_path):
    path = tmp_path / "marks.csv"
    assert sdpa("review", out, "--csv", path)[0] == 0
    rows = rows_of(path)
    rows[0]["points"] = "5"
    write_rows(path, rows)
    assert "1 mark read" in sdpa("review", out, "--csv", path)[1]
    student = start(out).answers[0].key.student
    totals = {r["student"]: r["total"] for r in csv.DictReader((out / "grades.csv").open())}
    assert totals == {s: "5" if s == student else "0" for s in ("ada", "ben", "cleo", "dora", "emil", "fay")}
