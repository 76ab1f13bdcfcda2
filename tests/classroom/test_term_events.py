"""What happens in a term, on a class of 40: each event takes at most one file to edit and one command."""

import csv
import json
import shutil
import zipfile
from datetime import UTC, datetime, timedelta

import pytest

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import apply_marks
from sdpa_helpers.course.registry import exercises_of
from tests.classroom.simulated_class import DOTS, LEARNERS, SOFTMAX, TWINS, hand_in, pretend, sdpa
from tests.results import in_words

DUE = datetime(2026, 5, 1, 22, tzinfo=UTC)
IN_TIME, TWO_DAYS_LATE = (DUE - timedelta(hours=2)).timestamp(), (DUE + timedelta(hours=30)).timestamp()
LATE = ("s001", "s002")
MOST = {name: sum(e.max_points for e in exercises_of(name)) for name in (SOFTMAX, DOTS)}

TERM = """
[late]
rule = "penalty"

[homework.hw1]
weight = 2
deadline = 2026-05-01T22:00:00Z

[homework.hw2]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a term: what was handed in, two homeworks as they were graded, the policy."""
    root = tmp_path_factory.mktemp("term")
    hand_in(root / "in1", SOFTMAX, at=IN_TIME)
    hand_in(root / "in1", SOFTMAX, LATE, at=TWO_DAYS_LATE)
    hand_in(root / "in1", DOTS, ["s005"], at=IN_TIME)
    hand_in(root / "in2", DOTS, LEARNERS[:-1])
    (root / "term.toml").write_text(TERM)
    with pytest.MonkeyPatch.context() as patch:
        executor = pretend(patch)
        for number in (1, 2):
            sdpa("grade", root / f"in{number}", "--out", root / f"hw{number}")
        assert len(executor.graded) == 2 * 40 + 39
    return root


@pytest.fixture
def executor(monkeypatch):
    return pretend(monkeypatch)


@pytest.fixture
def term(whole, tmp_path, executor):
    """A copy; what was handed in stays where it lies."""
    for name in ("hw1", "hw2"):
        shutil.copytree(whole / name, tmp_path / name)
    shutil.copy(whole / "term.toml", tmp_path)
    return tmp_path


def rows(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def points(out):
    return {row["student"]: row["total"] for row in rows(out / "grades.csv")}


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def others(before, after, *but):
    return all(before[learner] == after[learner] for learner in LEARNERS if learner not in but)


def test_requests_are_answered_in_the_table_that_they_came_in_by_one_command(term):
    before, asked = points(term / "hw1"), term / "requests.csv"
    asked.write_text(
        "Timestamp,learner,exercise,asks,answer,points\n"
        "09:00,s007,entropy,Mine is right?,It is.,10\n09:05,s008,softmax,Look again,I did; it stays.,\n"
        "09:10,s009,softmax,And mine?,,\n"
    )
    said = sdpa("mark", "requests", term / "hw1", "--csv", asked)
    assert "3 new requests, 2 answered now, 1 open" in said
    states = {row["learner"]: row["state"] for row in rows(asked)}
    assert states == {"s009": "open", "s007": "answered by anna", "s008": "answered by anna"}
    for learner, answer in (("s007", "It is."), ("s008", "I did; it stays.")):
        page = (term / "hw1" / "feedback" / learner / f"{SOFTMAX}.html").read_text()
        assert "You asked</strong>" in page
        assert answer in page
    after = points(term / "hw1")
    assert dict(read(term / "hw1", "s007"))["entropy"].points == 10.0
    assert others(before, after, "s007")


def test_a_request_comes_in_is_answered_later_and_the_answer_stands_in_the_feedback(term):
    before, asked = points(term / "hw1"), term / "requests.csv"
    asked.write_text("learner,exercise,asks\ns007,entropy,=Mine is right?\ns008,softmax,Look again\n")
    assert "2 new requests, 0 answered now, 2 open" in sdpa("mark", "requests", term / "hw1", "--csv", asked)
    (first, _) = listed = rows(asked)
    assert [row["state"] for row in listed] == ["open", "open"]
    first |= {"answer": "It is: the sign was ours.", "points": "10"}
    with asked.open("w", newline="") as file:
        writer = csv.DictWriter(file, first)
        writer.writeheader()
        writer.writerows([first, listed[1]])
    said = sdpa("mark", "requests", term / "hw1", "--csv", asked)
    assert "0 new requests, 1 answered now, 1 open" in said
    assert [row["state"] for row in rows(asked)] == ["open", "answered by anna"]
    page = (term / "hw1" / "feedback" / "s007" / f"{SOFTMAX}.html").read_text()
    assert "You asked</strong>: =Mine is right?" in page
    assert "It is: the sign was ours." in page
    assert others(before, points(term / "hw1"), "s007")
    graded = dict(read(term / "hw1", "s007"))["entropy"]
    assert (graded.points, graded.max_points) == (10.0, 10.0)
    assert "0 new requests, 0 answered now, 1 open" in sdpa("mark", "requests", term / "hw1", "--csv", asked)


def read(out, learner, notebook=SOFTMAX):
    (result,) = ResultsFolder(out).read_results([(learner, notebook)])
    return [(graded.name, graded) for graded in result.exercises]


def test_a_learner_gets_an_extension(term, executor):
    before = points(term / "hw1")
    with (term / "term.toml").open("a") as file:
        file.write('[learner.s001]\nextension = { hw1 = "2026-05-04T00:00:00Z" }\n')
    said = sdpa("regrade", term / "hw1")
    assert executor.graded == [("s001", SOFTMAX)]
    assert f"1 of 80 marks changed: {SOFTMAX}" in said
    assert ", late (1 learner)" in said
    after = points(term / "hw1")
    assert float(before["s001"]) == pytest.approx(0.8 * float(after["s001"]))
    assert others(before, after, "s001")
    flags = {row["student"]: row["late"] for row in rows(term / "hw1" / "handed_in.csv")}
    assert (flags["s001"], flags["s002"]) == ("no", "yes")


def test_a_mark_of_a_person_for_code_with_a_comment(term):
    before, entropy = points(term / "hw1"), dict(read(term / "hw1", "s004"))["entropy"]
    give = ("mark", "add", term / "hw1", "s004", "entropy", "--points", "1.5", "--reason", "By <hand>.")
    assert "s004, entropy: 1.5 points, by anna. It counts 1.5 of 10" in sdpa(*give)
    after = points(term / "hw1")
    assert others(before, after, "s004")
    assert float(after["s004"]) - float(before["s004"]) == 1.5 - entropy.points
    page = (term / "hw1" / "feedback" / "s004" / f"{SOFTMAX}.html").read_text()
    assert "By &lt;hand&gt;." in page
    details = [
        r for r in rows(term / "hw1" / "details.csv") if (r["student"], r["exercise"]) == ("s004", "entropy")
    ]
    assert sum(float(row["points"]) for row in details) == 1.5
    sdpa("regrade", term / "hw1", "--only", "s004")
    assert points(term / "hw1") == after
    assert "anna s004, entropy 1.5 points: By <hand>. 1 mark" in sdpa("mark", "list", term / "hw1")
    sdpa("mark", "add", term / "hw1", "s004", "entropy", "--take-back")
    assert points(term / "hw1") == before
    assert "2 marks" in sdpa("mark", "list", term / "hw1", "--history")


def test_a_result_that_was_edited_by_hand_is_named_and_not_believed(term, executor):
    before, path = points(term / "hw1"), ResultsFolder(term / "hw1").result_path("s009", SOFTMAX)
    path.write_text(path.read_text().replace('"status": "failed"', '"status": "passed"', 1))
    for command in (("report",), ("export", "--to", "canvas"), ("mark", "list"), ("review", "--apply")):
        name, folder = (command[:2], command[2:]) if command[0] == "mark" else (command[:1], command[1:])
        said = sdpa(*name, term / "hw1", *folder, status=2)
        assert f"edited by hand, and believed no more: results/s009/{SOFTMAX}.json" in said
    assert f"results/s009/{SOFTMAX}.json" in sdpa("regrade", term / "hw1")
    assert executor.graded == [("s009", SOFTMAX)]
    assert points(term / "hw1") == before
    path.write_text(path.read_text()[:-20])
    assert "believed no more" in sdpa("export", term / "hw1", "--to", "moodle", status=2)


def test_a_case_is_mended_and_all_are_graded_again(term, executor):
    before, results = points(term / "hw1"), dict(read(term / "hw1", "s006"))
    case = results["entropy"].cases[0].case
    sdpa("mark", "add", term / "hw1", "s000", "entropy", "--points", "0", "--reason", "No.")
    failed = [
        result.student
        for result in ResultsFolder(term / "hw1").read_results()
        for graded in result.exercises
        if graded.name == "entropy" and graded.cases[0].status == "failed" and result.student != "s000"
    ]
    executor.mend("entropy", case)
    said = sdpa("regrade", term / "hw1")
    assert {notebook for _, notebook in executor.graded} == {SOFTMAX}  # 01 is as it was
    assert len(executor.graded) == 40
    step = results["entropy"].cases[0].max_points
    assert f"{len(failed)} of 80 marks changed: entropy +{step:g} ({len(failed)} learners)" in said
    changed = rows(term / "hw1" / "marks-changed.csv")
    assert {row["learner"] for row in changed} == {*failed}
    assert {(row["exercise"], row["why"]) for row in changed} == {("(all)", ""), ("entropy", "graded anew")}
    last = sorted((term / "hw1" / "history").glob("*.csv"))[-1]
    assert last.read_bytes() == (term / "hw1" / "marks-changed.csv").read_bytes()
    assert others(before, points(term / "hw1"), "s000", *failed)
    assert dict(read(term / "hw1", "s000"))["entropy"].points == 0.0  # what a person gave stays
    assert "0 of 80 marks changed" in sdpa("regrade", term / "hw1")


def test_a_run_that_was_killed_hides_no_change(term, executor):
    folder, case = ResultsFolder(term / "hw1"), dict(read(term / "hw1", "s006"))["entropy"].cases[0].case
    executor.mend("entropy", case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sdpa_helpers.classroom.grade_folder.write_tables", lambda *_: 1 / 0)
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            sdpa("regrade", folder)
    assert len(executor.graded) == 40
    said = sdpa("regrade", folder)
    assert len(executor.graded) == 40
    assert " of 80 marks changed: entropy +" in said


def test_weights_and_the_lowest_that_is_dropped(term):
    def totals():
        sdpa("term", term / "hw1", term / "hw2")
        return {row["student"]: row for row in rows(term / "term.csv")}

    row = totals()["s003"]
    one, two = (float(row[name]) / float(row[f"{name} of"]) for name in ("hw1", "hw2"))
    assert float(row["total"]) == pytest.approx(100 * (2 * one + two) / 3, abs=1e-3)
    edit(term / "term.toml", "[late]", "drop_lowest = 1\nworth = 40\n[late]")
    found = totals()
    assert float(found["s003"]["total"]) == pytest.approx(40 * max(one, two), abs=1e-3)
    assert found["s003"]["dropped"] == ("hw1" if one < two else "hw2")
    assert found["s039"]["dropped"] == "hw2"  # nothing handed in
    assert found["s039"]["hw2"] == "missing"


def test_two_homeworks_in_one_table_the_same_bytes_each_time(term):
    (term / "term.toml").unlink()
    said = sdpa("term", term / "hw1", term / "hw2")
    assert "no term.toml beside them: all weigh the same" in said
    assert "40 learners; written" in said
    before = (term / "term.csv").read_bytes()
    sdpa("term", term / "hw1", term / "hw2")
    assert (term / "term.csv").read_bytes() == before
    table = rows(term / "term.csv")
    assert [row["student"] for row in table] == LEARNERS
    assert [row["hw1"] for row in table] == [*points(term / "hw1").values()]
    assert float(table[0]["hw1 of"]) == sum(MOST.values())
    assert float(table[0]["hw2 of"]) == MOST[DOTS]


def test_two_people_mark_and_what_they_disagree_on_is_listed(term):
    mine, theirs = term / "hw1", term / "copy"
    shutil.copytree(mine, theirs)
    for folder, who, exercise, given in (
        (mine, "anna", "entropy", "4"), (theirs, "ben", "entropy", "6"), (theirs, "ben", "softmax", "2"),
    ):  # fmt: skip
        sdpa("mark", "add", folder, "s011", exercise, "--points", given, "--reason", "So.", "--who", who)
    said = sdpa("mark", "merge", mine, theirs / "marks.db")
    assert "2 marks brought in, by ben" in said
    assert "two opinions: s011, entropy: anna 4 points; ben 6 points. What ben gave counts" in said
    assert "softmax: " not in said
    graded = dict(read(mine, "s011"))
    assert (graded["entropy"].points, graded["softmax"].points) == (6.0, 2.0)
    assert "0 marks brought in" in sdpa("mark", "merge", mine, theirs / "marks.db")
    assert "two opinions" in sdpa("mark", "list", mine)
    sdpa("mark", "add", mine, "s011", "entropy", "--points", "5", "--reason", "We agreed.", "--who", "anna")
    assert "two opinions" not in sdpa("mark", "list", mine)
    assert "1 mark brought in, by anna" not in sdpa("mark", "merge", theirs, mine / "marks.db")
    assert dict(read(theirs, "s011"))["entropy"].points == 5.0
    assert "two opinions" not in sdpa("mark", "list", theirs)


def test_answers_in_words_are_read_without_names(tmp_path, executor):
    folder = ResultsFolder(tmp_path / "hw3")
    for learner in LEARNERS:
        folder.write_result(in_words(learner, proof_in_words=f"Because of {sum(learner.encode()) % 7}."))
    apply_marks(folder)
    sdpa("review", folder, "--csv", tmp_path / "words.csv")
    text = (tmp_path / "words.csv").read_text()
    assert len(rows(tmp_path / "words.csv")) == 40
    assert not any(learner in text for learner in LEARNERS)


def test_who_wrote_several_answers_alike_stands_first(term):
    sdpa("report", term / "hw1")
    page = (term / "hw1" / "similar.html").read_text()
    others = {learner: page.find(learner) for learner in LEARNERS if learner in page}
    pairs = sorted((others.pop(one), others.pop(other)) for one, other in TWINS)
    assert all(0 < one < other < one + 400 for one, other in pairs)  # in one row
    assert all(pairs[-1][1] < place for place in others.values())


def test_marks_go_into_canvas_with_its_ids_and_what_is_missing_is_empty(term):
    canvas = term / "canvas.csv"
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Homework 2 (77)\n    Points Possible,,,,,\n"
    canvas.write_text(head + "".join(f"Name {n},{n},,{learner},A,\n" for n, learner in enumerate(LEARNERS)))
    edit(term / "term.toml", "[homework.hw2]", "[homework.hw2]\n[learner.s012]\nexcused = ['hw2']")
    columns = ("--roster", canvas, "--column", f"{DOTS}=Homework 2")
    said = sdpa("export", term / "hw2", "--to", "canvas", *columns)
    assert "left out, excused: s012" in said
    found = {row["SIS Login ID"]: row for row in rows(term / "hw2" / "export" / "canvas.csv")}
    mine = points(term / "hw2")
    assert mine["s012"] == "excused"
    assert "s012" not in found
    assert "s039" not in found  # handed in nothing at all
    for learner in LEARNERS[:12]:
        assert float(found[learner]["Homework 2 (77)"]) == float(mine[learner])
        assert found[learner]["ID"] == str(int(learner[1:]))


def test_the_term_goes_into_canvas_and_moodle_as_one_column(term):
    canvas = term / "canvas.csv"
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Midterm (5),Course total (77)\n"
    possible = "    Points Possible,,,,,30,50\n"
    canvas.write_text(
        head + possible + "".join(f"Name {n},{n},,{who},A,,\n" for n, who in enumerate(LEARNERS))
    )
    with (term / "term.toml").open("a") as file:
        file.write("[learner.s012]\nexcused = ['hw1', 'hw2']\n")
    given = ("term", term / "hw1", term / "hw2", "--roster", canvas)
    said = sdpa(*given, "--to", "canvas", "--column", "Course total")
    assert "term total: 100 points were scaled to the 50 that its column is worth" in said
    assert "left out, excused: s012" in said
    total = {row["student"]: row["total"] for row in rows(term / "term.csv")}
    found = {row["SIS Login ID"]: row for row in rows(term / "term-canvas.csv")}
    assert set(found) == {"", *LEARNERS} - {"s012"}
    assert "Midterm (5)" not in found["s000"]
    for learner in LEARNERS[:12]:
        assert float(found[learner]["Course total (77)"]) == pytest.approx(
            float(total[learner]) / 2, abs=0.006
        )
    assert "has no column called 'term total'" in sdpa(*given, "--to", "canvas")
    sdpa("term", term / "hw1", term / "hw2", "--to", "moodle")
    moodle = {row["Identifier"]: row for row in rows(term / "term-moodle.csv")}
    assert float(moodle["s003"]["Grade"]) == pytest.approx(float(total["s003"]), abs=0.006)
    assert moodle["s003"]["Maximum grade"] == "100"
    assert moodle["s039"]["Feedback comments"].endswith("; hw2: missing")
    for to in ("gradescope", "jupyterhub"):
        assert "export each homework" in sdpa("term", term / "hw1", "--to", to, status=2)
    assert "expected" in sdpa("term", term / "hw1", "--to", "blackboard", status=2)
    assert "--to" in sdpa("term", term / "hw1", "--roster", canvas, status=2)


def test_lost_files_late_words_twin_names_and_tricks_in_a_zip(tmp_path, executor):
    with zipfile.ZipFile(tmp_path / "canvas.zip", "w") as packed:
        for number, learner in enumerate(LEARNERS):
            packed.writestr(f"{learner}_{number + 1}_{number + 9}_{SOFTMAX}.ipynb", "first")
        for name in ("LATE_5001_1", "5002_2"):  # two people of one name
            packed.writestr(f"doeada_{name}_{SOFTMAX}.ipynb", "first")
        packed.writestr("../../evil.ipynb", "x")
        packed.writestr("notes.pdf", "x")
    sdpa("grade", tmp_path / "canvas.zip", "--out", tmp_path / "hw4", "--late", "penalty")
    found = points(tmp_path / "hw4")
    assert len(found) == 42
    assert {"doeada_5001", "doeada_5002"} <= {*found}
    late = {row["student"] for row in rows(tmp_path / "hw4" / "handed_in.csv") if row["late"] == "yes"}
    assert late == {"doeada_5001"}
    assert {row["file"] for row in rows(tmp_path / "hw4" / "left_out.csv")} == {
        "../../evil.ipynb",
        "notes.pdf",
    }
    assert not (tmp_path.parent / "evil.ipynb").exists()


def test_one_learner_is_graded_again(term, executor, whole):
    (whole / "in1" / "s007" / f"{SOFTMAX}.ipynb").write_text("second")
    (whole / "in1" / "s008" / f"{SOFTMAX}.ipynb").write_text("second")
    try:
        said = sdpa("regrade", term / "hw1", "--only", "s007")
    finally:
        for learner in ("s007", "s008"):
            hand_in(whole / "in1", SOFTMAX, [learner], at=IN_TIME)
    assert {*executor.graded} == {("s007", SOFTMAX), ("s007", DOTS)}
    assert "another answer (1 learner)" in said
    assert {row["learner"] for row in rows(term / "hw1" / "marks-changed.csv")} == {"s007"}
    assert "nobody here is called so" in sdpa("regrade", term / "hw1", "--only", "s7", status=2)


def test_a_seed_and_a_password_stay_out_of_every_table(term):
    seed = json.loads((term / "hw1" / "run.json").read_text())["seed"]
    assert len(seed) == 32
    for path in (term / "hw1").rglob("*.csv"):
        assert seed not in path.read_text()
