"""term.toml and what is made of it: errors that say where, and the arithmetic of a term."""

from datetime import UTC, datetime, timedelta

import pytest

from sdpa_helpers.classroom.collect import find_submissions
from sdpa_helpers.classroom.exports.roster import totals_of
from sdpa_helpers.classroom.grade_folder import Batch, Unusable, by_policy
from sdpa_helpers.classroom.marks.giving import CannotGive, WantedMark, give
from sdpa_helpers.classroom.marks.merge import conflicts
from sdpa_helpers.classroom.marks.requests import BadRequests, sync_requests
from sdpa_helpers.classroom.marks.store import Mark
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.term.book import CannotSum, check_folders, term_rows
from sdpa_helpers.classroom.term.history import Standing, keep_history
from sdpa_helpers.classroom.term.policy import Homework, read_term, term_beside
from sdpa_helpers.classroom.term.reading import BadTerm
from sdpa_helpers.grading.grade_one import Settings
from sdpa_helpers.grading.result import GradedExercise
from tests.results import NAME, case, in_words, result

WHOLE = """
drop_lowest = 1
worth = 50
[late]
rule = "penalty"
at_most = 0.5
[homework.hw1]
weight = 2
deadline = 2026-05-01T22:00:00Z
cap = 8
[homework.hw2]
late = { rule = "ignore" }
[learner."Ada Lovelace_1"]
extension = { hw1 = "2026-05-03T22:00:00+00:00" }
excused = ["hw2"]
"""


def put(tmp_path, text):
    (tmp_path / "term.toml").write_text(text)
    return tmp_path / "term.toml"


def test_a_whole_policy(tmp_path):
    term = read_term(put(tmp_path, WHOLE))
    one, two = term.homework("hw1"), term.homework("hw2")
    assert (term.drop_lowest, term.worth, one.weight, two.weight, one.cap) == (1, 50, 2, 1, 8)
    assert one.deadline == datetime(2026, 5, 1, 22, tzinfo=UTC)
    assert one.extensions == (("Ada Lovelace_1", datetime(2026, 5, 3, 22, tzinfo=UTC)),)
    assert (one.late.rule, one.late.at_most, two.late.rule, two.late.at_most) == (
        "penalty",
        0.5,
        "ignore",
        0.5,
    )
    assert two.excused == {"Ada Lovelace_1"}
    assert not one.excused
    assert term.homework("hw9").late == one.late  # the general rules
    assert term_beside(tmp_path / "hw1") == term
    assert term_beside(tmp_path / "hw1" / "deeper").path is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("weight = 2", "wieght = 2", "line 8, homework.hw1.wieght: expected weight, got a key that is none"),
        ("weight = 2", "weight = '2'", "line 8, homework.hw1.weight: expected a number of 0 or more, got '2'"),
        ("weight = 2", "weight = -1", "line 8, homework.hw1.weight: expected a number of 0 or more, got -1"),
        ("weight = 2", "weight = nan", "line 8, homework.hw1.weight: expected a number of 0 or more, got nan"),
        ("= 1\n", "= 1.5\n", "line 2, drop_lowest: expected a whole number of 0 or more, got 1.5"),
        ("= 1\n", "= true\n", "line 2, drop_lowest: expected a whole number of 0 or more, got True"),
        ('"penalty"', '"harsh"', 'line 5, late.rule: expected "use" or "ignore" or "penalty", got \'harsh\''),
        ("= 0.5", "= 5", "line 6, late.at_most: expected a number from 0 to 1, got 5"),
        ('"ignore"', '"never"', "line 12, homework.hw2.late.rule: expected"),
        ("2026-05-01T22:00:00Z", "2026-05-01", "line 9, homework.hw1.deadline: expected a date with a time"),
        ('["hw2"]', '["hw3"]', "excused: expected homeworks among hw1, hw2, got 'hw3'"),
        ("{ hw1", "{ hw7", "line 14, learner.Ada Lovelace_1.extension: expected homeworks among hw1, hw2, got 'hw7'"),
        ("excused", "excuse", "line 15, learner.Ada Lovelace_1.excuse: expected excused, got a key that is none"),
        ("[late]\n", "[late\n", "is no TOML"),
        ("[late]\n", "[lat]\n", "line 4, lat: expected late, got a key that is none"),
    ],
)  # fmt: skip
def test_an_error_says_where_what_was_expected_and_what_came(tmp_path, old, new, says):
    assert WHOLE.count(old) == 1
    with pytest.raises(BadTerm) as error:
        read_term(put(tmp_path, WHOLE.replace(old, new)))
    assert says in str(error.value)
    assert str(tmp_path / "term.toml") in str(error.value)


def test_what_the_command_and_the_file_both_say_is_refused(tmp_path):
    rules = read_term(put(tmp_path, WHOLE)).homework("hw1")
    batch, settings = by_policy(Batch(tmp_path, tmp_path / "hw1"), Settings("s"), rules)
    assert (batch.deadline, batch.late.policy, settings.mistake_cap) == (rules.deadline, "penalty", None)
    with pytest.raises(Unusable, match=r"--deadline: term\.toml says it too"):
        by_policy(Batch(tmp_path, tmp_path, deadline=datetime.now(UTC)), Settings("s"), rules)


def test_grace_the_most_and_an_extension(tmp_path):
    import os

    due = datetime(2026, 5, 1, 22, tzinfo=UTC)
    came = {"ada": 10, "ben": 20, "cleo": 60 * 24 * 30, "dora": 60 * 24 * 30}
    for name, minutes in came.items():
        path = tmp_path / name / f"{NAME}.ipynb"
        path.parent.mkdir()
        path.write_text("{}")
        os.utime(path, ((due + timedelta(minutes=minutes)).timestamp(),) * 2)
    (tmp_path / "term.toml").write_text(
        "[late]\nrule='penalty'\nat_most=0.4\ngrace_minutes=15\n[homework.hw1]\n"
        "[learner.dora]\nextension={hw1=2026-07-01T00:00:00Z}"
    )
    late = read_term(tmp_path / "term.toml").homework("hw1").as_late()
    (tmp_path / "term.toml").unlink()
    submissions, _ = find_submissions(tmp_path, [NAME], due, None, late)
    assert {s.student: s.late_penalty for s in submissions} == {"ada": 0, "ben": 0.1, "cleo": 0.4, "dora": 0}
    assert "0.4 at most" in next(s for s in submissions if s.student == "cleo").flags[0].message


# ---- the arithmetic --------------------------------------------------------------------------------------


def scored(student, points, of=10.0, notebook=NAME):
    """A result with one exercise."""
    cases = (case(points, points), case(0.0, of - points, "b"))
    return result(student, [GradedExercise("dot_product", "A title", of, cases)], notebook)


@pytest.fixture
def term(tmp_path):
    """Three homeworks: points of three learners."""
    for name, points in (("hw1", (10, 5, 2)), ("hw2", (1, 8, None)), ("hw3", (6, 6, 6))):
        for student, mine in zip(("ada", "ben", "cleo"), points, strict=True):
            if mine is not None:
                ResultsFolder(tmp_path / name).write_result(scored(student, float(mine)))
    return [ResultsFolder(tmp_path / name) for name in ("hw1", "hw2", "hw3")]


def totals(folders, text):
    path = put(folders[0].path.parent, text)
    return {row.learner: row.total for row in term_rows(folders, read_term(path))}


HWS = "[homework.hw1]\n[homework.hw2]\n[homework.hw3]\n"


def test_weights_dropping_excuses_and_caps(term):
    assert totals(term, HWS) == pytest.approx({"ada": 170 / 3, "ben": 190 / 3, "cleo": 80 / 3})
    assert totals(term, HWS.replace("hw1]", "hw1]\nweight = 2")) == pytest.approx(
        {"ada": 67.5, "ben": 60, "cleo": 25}
    )
    assert totals(term, "drop_lowest = 1\n" + HWS) == pytest.approx({"ada": 80, "ben": 70, "cleo": 40})
    assert totals(term, "drop_lowest = 9\n" + HWS) == pytest.approx({"ada": 100, "ben": 80, "cleo": 60})
    assert totals(term, HWS + '[learner.cleo]\nexcused = ["hw2"]')["cleo"] == pytest.approx(40)
    assert totals(term, HWS + '[learner.ben]\nexcused = ["hw1", "hw2", "hw3"]')["ben"] == "excused"
    capped = totals(term, HWS.replace("hw3]", "hw3]\ncap = 6"))
    assert capped["ada"] == pytest.approx(100 * (1 + 0.1 + 1) / 3)


def test_where_the_grader_failed_there_is_no_total(term):
    broken = GradedExercise("dot_product", "T", 10.0, (case(0.0, 10.0, status="grader-failed"),))
    term[1].write_result(result("ada", [broken], status="grader-failed"))
    assert totals(term, HWS)["ada"] == "grader-failed"
    assert isinstance(totals(term, HWS)["ben"], float)


def test_folders_that_do_not_go_together_are_refused(term, tmp_path):
    with pytest.raises(CannotSum, match="hw1: given twice"):
        check_folders([term[0], term[0]], term_beside(term[0].path))
    elsewhere = ResultsFolder(tmp_path / "b" / "hw4")
    put(tmp_path, HWS)
    with pytest.raises(CannotSum, match=r"beside one term\.toml"):
        check_folders([*term, elsewhere], term_beside(term[0].path))
    policy = term_beside(term[0].path)
    assert check_folders(term[:2], policy) == ["not among the folders, so not counted yet: hw3"]


def test_a_cap_counts_in_exports_of_a_whole_homework(term):
    (ada, *_) = totals_of(term[0].read_results(), Homework("hw1", cap=4.0))
    assert ada.of("total") == ada.of(NAME) == (4.0, 4.0)


# ---- marks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (WantedMark("ad", "dot_product", 1.0, reason="r"), "no learner 'ad'; expected 'ada'"),
        (
            WantedMark("ada", "dot_produc", 1.0, reason="r"),
            "no exercise 'dot_produc'; expected 'dot_product'",
        ),
        (WantedMark("ada", "dot_product", 11.0, reason="r"), "expected points from 0 to 10, got 11"),
        (WantedMark("ada", "dot_product", float("nan"), reason="r"), "expected points from 0 to 10, got nan"),
        (
            WantedMark("ada", "dot_product", change=-11.0, reason="r"),
            "expected a change from -10 to 10, got -11",
        ),
        (WantedMark("ada", "dot_product", 1.0, 1.0, "r"), "expected points or a change, got both"),
        (WantedMark("ada", "dot_product", 1.0), "expected a reason"),
        (WantedMark("ada", "dot_product", 1.0, reason="r", take_back=True), "taken back gives no points"),
    ],
)
def test_a_mark_that_makes_no_sense_is_refused_and_nothing_is_kept(term, wanted, says):
    with pytest.raises(CannotGive, match=says.replace("(", r"\(")):
        give(term[0], [WantedMark("ada", "dot_product", 1.0, reason="r"), wanted])
    assert not term[0].marks_db.exists()


def test_no_mark_for_what_was_not_handed_in_and_no_change_for_words(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.write_result(result("ada", [], status="missing"))
    folder.write_result(in_words("ben", proof_in_words="Because."))
    folder.write_result(scored("ada", 1.0, notebook="03_softmax"))
    with pytest.raises(CannotGive, match="an answer in words gets points, not a change"):
        give(folder, [WantedMark("ben", "proof_in_words", change=1.0, reason="r")])
    with pytest.raises(CannotGive, match="nothing is written there"):
        give(folder, [WantedMark("ben", "not_the_limit_theorem", 1.0, reason="r")])


def test_a_table_of_requests_with_a_mistake_takes_in_nothing(term, tmp_path):
    table = tmp_path / "requests.csv"
    table.write_text(
        "learner,exercise,asks,answer,points\nada,dot_product,Why?,So.,many\nzoe,dot_product,Me,,\n"
    )
    with pytest.raises(BadRequests) as error:
        sync_requests(term[0], table)
    assert "line 2: expected a number in the column points, got 'many'" in str(error.value)
    assert "line 3: there is no learner 'zoe'" in str(error.value)
    assert not term[0].marks_db.exists()
    table.write_text("who,what\na,b\n")
    with pytest.raises(
        BadRequests, match="line 1: expected the columns learner, exercise and asks, got who, what"
    ):
        sync_requests(term[0], table)


def given(who, points, settles=False, change=0.0):
    return Mark("ada", NAME, "dot_product", "d", points, change, "r", who, "", settles=settles)


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        ([given("anna", 1.0), given("ben", 2.0)], 1),
        ([given("anna", 1.0), given("ben", 1.0)], 0),
        ([given("anna", 1.0), given("anna", 2.0)], 0),
        ([given("anna", 1.0), given("ben", 2.0, settles=True)], 0),
        ([given("anna", 1.0), given("ben", 2.0, settles=True), given("cleo", 3.0)], 1),
        ([given("anna", None, change=1.0), given("ben", None, change=2.0)], 1),
        ([given("anna", 1.0, change=1.0), given("ben", 1.0)], 0),
    ],
)
def test_who_contradicts_whom(marks, found):
    assert len(conflicts(marks)) == found


# ---- history -----------------------------------------------------------------------------------------------


def test_history_keeps_each_time_and_says_why(tmp_path):
    folder = ResultsFolder(tmp_path)

    def now(whole, counts, **more):
        return [Standing("=ada", NAME, "(all)", whole, late=more.pop("late", "")),
                Standing("=ada", NAME, "dot_product", counts, **more)]  # fmt: skip

    assert str(keep_history(folder, now("5", "5"))) == ""
    assert str(keep_history(folder, now("5", "5"))) == "0 of 1 marks changed"
    for whole, points, more, says in (
        ("7", "7", {}, "dot_product +2 (1 learner)"),
        ("6", "6", {"by_person": "-1"}, "dot_product -1, a person's mark (1 learner)"),
        ("9", "9", {"by_person": "-1", "text": "new"}, "dot_product +3, another answer (1 learner)"),
        ("8.1", "9", {"by_person": "-1", "text": "new", "late": "0.1"}, f"{NAME} -0.9, late (1 learner)"),
    ):
        assert str(keep_history(folder, now(whole, points, **more))) == f"1 of 1 marks changed: {says}"
    missing = [Standing("=ada", NAME, "(all)", "missing")]
    assert f"{NAME} 8.1 → missing, another status" in str(keep_history(folder, missing))
    assert [path.name for path in sorted(folder.history.glob("*.csv"))] == [f"00{n}.csv" for n in range(1, 7)]
    assert "'=ada" in folder.marks_changed_csv.read_text()  # a spreadsheet would run it
