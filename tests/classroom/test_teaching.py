"""What a class says of the course: faults that were planted are found, and where none was nothing is claimed."""

import sqlite3
from math import comb

import numpy as np
import pytest
from typer.testing import CliRunner

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.classroom.room.store import Store
from sdpa_helpers.classroom.teaching.exercises import elsewhere, items, spreads
from sdpa_helpers.classroom.teaching.findings import Heard, Told, evidence
from sdpa_helpers.classroom.teaching.material import Made, Marks, marks_of
from sdpa_helpers.classroom.teaching.numbers import (
    at_least,
    coin,
    correlations,
    draws_of,
    median_of,
    more_often,
    share,
)
from sdpa_helpers.classroom.teaching.page import teaching_page
from sdpa_helpers.classroom.teaching.reading import heard, of_room, of_table
from sdpa_helpers.classroom.teaching.tries import minutes, survivals, votes
from sdpa_helpers.cli.app import app
from sdpa_helpers.course.attempts import Attempt, as_csv
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedExercise, NamedMistake
from tests.classroom.planted_class import Planted, planted_class
from tests.results import NAME, case, result


def claimed(seed, planted, learners=120, exercises=12):
    """What is said of the class, and about what."""
    return {
        (f.about, f.says.split()[0])
        for f in evidence(*planted_class(seed, learners, exercises, planted)).findings
    }


def tried(exercise, *mistakes, minutes=2.0, begun=0.0):
    """A log of one exercise: the mistake at each try, None where it's green."""
    return tuple(
        Attempt(begun + 60.0 * n, exercise, 0.0 if name else 4.0, 4.0, (name,) if name else (), n, minutes)
        for n, name in enumerate(mistakes, 1)
    )


# ---- simulated classes ------------------------------------------------------------------------------------


def test_where_nothing_is_planted_nothing_is_claimed():
    wrong = [seed for seed in range(100) if claimed(seed, Planted(), learners=60)]
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize(
    ("planted", "says"),
    [
        (Planted(useless_exercise=True), ("exercise_03", "Points")),
        (Planted(useless_sentence=True), ("exercise_03", "After")),
        (Planted(trap=True), ("exercise_03", "`trap`")),
        (Planted(slow=True), ("exercise_03", "`exercise_03`")),
        (Planted(bad_talk=True), ("question 3", "Talking")),
    ],
)
def test_a_planted_fault_is_found(planted, says):
    """In a class of 300; how often smaller ones find it stands in docs/instructors/does-it-teach.md."""
    found = [claimed(seed, planted, learners=300, exercises=30) for seed in range(6)]
    assert sum(says in one for one in found) >= 5, found
    assert sum(len(one - {says}) for one in found) <= 1


def test_a_small_class_is_told_that_it_is_small():
    found = evidence(*planted_class(0, learners=12, planted=Planted(useless_exercise=True)))
    assert all(item.rest is None and item.p is None for item in found.items)
    assert not found.spreads
    page = teaching_page(found, lambda exercise, name: name, {})
    assert "Too small a class: 12 learners with grades." in page
    assert "nothing stands out" in page.lower()


def test_the_same_class_says_the_same_again():
    assert evidence(*planted_class(1, planted=Planted(slow=True))) == evidence(
        *planted_class(1, planted=Planted(slow=True))
    )


# ---- numbers by hand --------------------------------------------------------------------------------------


def test_exact_tests_by_hand():
    assert coin(9, 1) == pytest.approx(2 * (10 + 1) / 2**10)
    assert coin(0, 0) == 1
    assert coin(1, 9) == coin(9, 1)
    assert more_often(3, 4, 1, 4) == pytest.approx((comb(4, 3) * comb(4, 1) + 1) / comb(8, 4))
    assert more_often(0, 5, 3, 5) == pytest.approx(1)
    assert at_least(2, 3, 0.5) == pytest.approx(0.5)
    assert at_least(0, 3, 0.1) == pytest.approx(1)
    assert more_often(300, 1000, 100, 1000) < 1e-20


def test_intervals_by_hand():
    assert share(8, 10) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert share(0, 10).low == 0
    assert median_of([float(n) for n in range(1, 11)]) == (5.5, 2.0, 9.0)
    assert median_of([3.0, 1.0]) == (2.0, 1.0, 3.0)


def test_a_correlation_is_numpys_and_leaves_out_who_did_not_try():
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(2, 30, 2))
    left[:5, 1] = np.nan
    found = correlations(left, right, draws_of(30, 10))
    assert found.shape == (11, 2)
    assert found[0, 0] == pytest.approx(np.corrcoef(left[:, 0], right[:, 0])[0, 1])
    assert found[0, 1] == pytest.approx(np.corrcoef(left[5:, 1], right[5:, 1])[0, 1])


def test_the_rest_is_all_but_this_exercise_against_what_is_usual_there():
    shares = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, np.nan]])
    assert elsewhere(shares) == pytest.approx(
        np.array([[-0.25, 0.25, 0.0], [0.5, -0.5, np.nan]]), nan_ok=True
    )


def test_an_exercise_that_all_get_right_tells_nobody_apart():
    shares = np.random.default_rng(0).random((40, 8))
    shares[:, 2] = 1.0
    found = items(Marks(tuple(map(str, range(40))), tuple("abcdefgh"), shares))
    assert found[2].rest is None
    assert found[2].share == (1.0, 1.0, 1.0)
    assert found[1].rest.low <= found[1].rest.value <= found[1].rest.high


def test_quarters_are_by_the_points_elsewhere():
    shares = np.tile(np.linspace(0, 1, 24)[:, None], (1, 3))
    shares[:, 0] = 0.0  # its own points don't count
    weakest = Made("a", "slip", "You slipped.", frozenset(range(6)))
    (found,) = spreads(Marks(tuple(map(str, range(24))), tuple("abc"), shares, (weakest,)))
    assert found.made == (6, 0, 0, 0)
    assert found.of == (6, 6, 6, 6)


# ---- logs -------------------------------------------------------------------------------------------------


def test_a_mistake_survives_once_for_each_learner():
    logs = [tried("softmax", "m", "m", "m", None)] * 6 + [tried("softmax", "m", "other", None)] * 4
    found = {one.name: one for one in survivals([*logs, tried("softmax", "m")])}
    assert (found["m"].told, found["m"].left, found["m"].again) == (11, 1, 6)
    assert found["m"].share.value == 0.6
    assert (found["other"].told, found["other"].again, found["other"].share) == (4, 0, None)


def test_minutes_are_those_until_green_and_only_where_the_log_knows_them():
    twelve = tried("softmax", "m", None, "m", minutes=6.0)  # what follows green is play
    away = tried("softmax", "m", None, minutes=40.0)
    never = tried("softmax", "m", "m")
    (found,) = minutes([twelve] * 10 + [away, never], {"softmax": 4.0})
    assert (found.learners, found.logged) == (10, (12.0, 12.0, 12.0))
    assert found.p == coin(10, 0)


def test_votes_count_who_voted_twice_and_which_way_they_went():
    first = {"a": 0, "b": 1, "c": 1, "d": 0}
    second = {"a": 1, "b": 0, "c": 0, "e": 0}
    (found,) = votes({"q": (first, second), "unknown": (first, second)}, {"q": 0})
    assert (found.learners, found.right, found.won, found.lost, found.p) == (3, (1, 2), 2, 1, None)


# ---- files ------------------------------------------------------------------------------------------------


def test_a_table_is_read_as_it_was_written(tmp_path):
    log = (*tried("softmax", "m", None), Attempt(200.0, "03_softmax/one", 1.0, 1.0, (), 1, None, 2))
    path = tmp_path / "ada.csv"
    path.write_text(as_csv(log))
    assert of_table(path) == log
    nonsense = "x,softmax,1,2,,1,,\n2026-01-01T00:00:00Z,<b>,1,2,,1,,\n2026-01-01T00:00:00Z,softmax,nan,2,,1,,\nshort\n"
    path.write_text(as_csv(log) + nonsense)
    assert of_table(path) == log


@pytest.mark.parametrize("data", [b"", b"name,points\nada,3\n", b"\xff\xfe\x00", b"x" * 3_000_000])
def test_what_is_no_log_is_refused(tmp_path, data):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(Refusal, match=r"a\.csv"):
        of_table(tmp_path / "a.csv")


def test_a_log_that_is_there_twice_counts_once(tmp_path):
    for name in ("a.csv", "copy.csv"):
        (tmp_path / name).write_text(as_csv(tried("softmax", "m", None)))
    (tmp_path / "other.csv").write_text(
        as_csv(tried("softmax", None, minutes=1.0) + tried("entropy", "m", None))
    )
    assert len(heard(sorted(tmp_path.glob("*.csv")), []).logs) == 2


def test_a_room_brings_its_logs_and_both_rounds(tmp_path):
    store = Store(tmp_path / "room.sqlite")
    first, second = tried("softmax", "m", None)
    for event in (
        Event(1, "blue heron", "check", "softmax", attempt=first),
        Event(2, "blue heron", "check", "softmax", attempt=second),
        Event(3, "", "ask", "q", stage="first"),
        Event(4, "blue heron", "vote", "q", 1),
        Event(5, "", "ask", "q", stage="second"),
        Event(6, "blue heron", "vote", "q", 0),
    ):
        store.keep(event)
    store.close()
    found = of_room(tmp_path / "room.sqlite")
    assert found.logs == ((first, second),)
    assert found.rounds == {"q": ({"blue heron": 1}, {"blue heron": 0})}


def test_another_database_is_refused_and_stays_as_it_is(tmp_path):
    path = tmp_path / "gradebook.db"
    with sqlite3.connect(path) as base:
        base.execute("create table grades (student text)")
    base.close()
    before = path.read_bytes()
    with pytest.raises(Refusal, match="not the file of a room"):
        of_room(path)
    assert path.read_bytes() == before
    with pytest.raises(Refusal, match="there is no file"):
        of_room(tmp_path / "none.sqlite")


# ---- the command ------------------------------------------------------------------------------------------

EVIL = '<script>alert("x")</script>'


def a_class(path, learners):
    """Results of a lesson's exercises: the better half has all right, the others make a mistake with an evil name."""
    folder = ResultsFolder(path)
    for number in range(learners):
        good = number % 2
        exercises = [
            GradedExercise(
                e.name,
                e.title,
                4.0,
                (case(4.0 * good, 4.0),),
                () if good else (NamedMistake(EVIL, EVIL, ("a",)),),
            )
            for e in exercises_of(NAME)
        ]
        folder.write_result(result(f"s{number}", exercises))
    return folder


def run(*arguments):
    done = CliRunner().invoke(app, ["teaching", *map(str, arguments)], env={"COLUMNS": "300"})
    return done.exit_code, " ".join(done.output.split())


def test_the_command_writes_the_page_and_prints_what_to_act_on(tmp_path):
    folder = a_class(tmp_path / "run", 24)
    for number in range(24):
        again = ["scaled-by-its-length"] * 2 if number < 20 else ["scaled-by-its-length"]
        log = tried(exercises_of(NAME)[0].name, *again, None, minutes=25.0, begun=1e6 * number)
        (tmp_path / f"{number}.csv").write_text(as_csv(log))
    status, said = run(folder.path, "--attempts", tmp_path)
    assert status == 0, said
    name = exercises_of(NAME)[0].name
    assert f"`{name}` takes" in said
    assert "24 learners, 24 logs; written:" in said
    page = folder.teaching_page.read_text()
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert "Mistakes by quarters" in page


def test_the_command_says_what_it_cannot_say(tmp_path):
    folder = a_class(tmp_path / "run", 4)
    status, said = run(folder.path)
    assert status == 0
    assert "Too small a class: 4 learners" in said
    assert "Nothing stands out from chance, of 0 things" in said
    assert run(tmp_path / "none")[0] == 2
    assert run(folder.path, "--attempts", tmp_path / "none.csv")[0] == 2


def test_marks_leave_out_who_has_none():
    of = exercises_of(NAME)[0]
    untouched = GradedExercise(of.name, of.title, 4.0, (case(0, 4.0, status="not-attempted"),))
    broken = GradedExercise(of.name, of.title, 4.0, (case(0, 4.0, status="grader-failed"),))
    half = GradedExercise(of.name, of.title, 4.0, (case(2.0, 4.0),))
    marks = marks_of([result("a", [untouched]), result("b", [broken]), result("c", [half])])
    assert marks.learners == ("a", "b", "c")
    assert marks.shares == pytest.approx(np.array([[np.nan], [np.nan], [0.5]]), nan_ok=True)


def test_no_class_at_all_says_nothing():
    found = evidence(marks_of([]), Heard(), Told({}, {}))
    assert (found.learners, found.findings, found.looked) == (0, (), 0)
