"""Studies that are planned: a test in two forms, and the gain that it shows; two wordings by lot."""

import csv

import numpy as np
import pytest

from sdpa_helpers.classroom.study.forms import FEWEST, QUESTIONS, on_paper, two_forms
from sdpa_helpers.classroom.study.gain import Sat, gain_of
from sdpa_helpers.classroom.study.sheets import learners_in, read_sat, write_test
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.refusal import Refusal
from tests.commands import sdpa

# ---- the forms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_forms_are_parallel_and_share_no_question(seed):
    pairs = two_forms(LESSONS, seed)
    assert len(pairs) == QUESTIONS
    assert all(pair.a.lesson == pair.b.lesson for pair in pairs)
    assert {pair.a.lesson for pair in pairs} == {*LESSONS}
    asked = [one.prediction.question for pair in pairs for one in pair]
    assert len(set(asked)) == 2 * QUESTIONS
    assert pairs == two_forms(LESSONS, seed)


def test_another_seed_asks_something_else():
    assert two_forms(LESSONS, "a") != two_forms(LESSONS, "b")


def test_a_half_day_has_enough_to_ask_and_one_lesson_has_not():
    assert FEWEST <= len(two_forms(LESSONS[:3], "a")) < QUESTIONS
    with pytest.raises(Refusal, match="enough for 2 questions"):
        two_forms(LESSONS[:1], "a")
    with pytest.raises(Refusal, match="no lesson 11_none"):
        two_forms(("11_none",), "a")


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_asks_for_one_pair_at_least_and_knows_what_is_right(lesson):
    asked = list(on_paper(lesson))
    assert len(asked) >= 4
    assert all(0 <= one.right < len(one.prediction.options) for one in asked)
    marked = {one.prediction.name for one in asked}
    assert len(marked) == len(asked)


# ---- the folder -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    write_test(tmp_path / "test", two_forms(LESSONS, "a"), [f"s{n}" for n in range(9)], "a")
    return tmp_path / "test"


def rows_of(folder, name="answers.csv"):
    with (folder / name).open(newline="") as file:
        return list(csv.reader(file))


def fill(folder, *cells):
    rows = rows_of(folder)
    for number, answers in cells:
        rows[number][3:] = answers
    with (folder / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def test_half_of_the_class_begins_with_either_form(folder):
    _, *rows = rows_of(folder)
    first = [row[2] for row in rows if row[1] == "before"]
    assert sorted(first) in (["A"] * 5 + ["B"] * 4, ["A"] * 4 + ["B"] * 5)
    assert first != sorted(first)  # drawn, and not the alphabet's first half
    after = {row[0]: row[2] for row in rows if row[1] == "after"}
    assert all(after[row[0]] != row[2] for row in rows if row[1] == "before")


def test_the_learners_sheet_does_not_tell_what_is_right(folder):
    for form in "AB":
        sheet, key = (folder / f"form-{form}.html").read_text(), (folder / "key.html").read_text()
        assert 'class="right"' not in sheet
        assert 'class="why"' not in sheet
        assert key.count('class="right"') == 2 * QUESTIONS
        assert f"Form {form}" in key


def test_answers_come_back_as_they_were_given(folder):
    key = [row[2] for row in rows_of(folder, "key.csv")[1:]]
    form = {row[2]: number for number, row in enumerate(rows_of(folder)) if number}
    a, b = key[:QUESTIONS], key[QUESTIONS:]
    fill(folder, (form["A"], [letter.upper() for letter in a]), (form["B"], ["", *b[1:]]))
    found = {one.form: one for one in read_sat(folder)}
    assert found["A"].right == (True,) * QUESTIONS
    assert found["B"].right == (False, *(True,) * (QUESTIONS - 1))
    assert len(found) == 2  # who left all open was not there


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_table_comes_back_as_a_spreadsheet_saves_it(tmp_path, between):
    write_test(tmp_path, two_forms(LESSONS, "a"), ["-ada", "zoë"], "a")
    assert (tmp_path / "answers.csv").read_bytes().startswith("\ufefflearner".encode())
    assert rows_of(tmp_path)[1][0] == "'-ada"  # no formula
    fill(tmp_path, (1, "a" * QUESTIONS), (3, "b" * QUESTIONS))
    for name in ("answers.csv", "key.csv"):
        text = (tmp_path / name).read_text(encoding="utf-8").replace(",", between)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [one.learner for one in read_sat(tmp_path)] == ["-ada", "zoë"]
    (tmp_path / "grades.csv").write_text(f"student{between}03_softmax\n'-ada{between}3\n")
    assert learners_in(tmp_path / "grades.csv") == ["-ada"]


@pytest.mark.parametrize("answers", [["e"] * QUESTIONS, ["a"] * (QUESTIONS - 1), ["=1+1", *"a" * 11]])
def test_what_is_no_answer_is_told_with_its_line(folder, answers):
    fill(folder, (3, answers))
    with pytest.raises(Refusal, match=r"answers\.csv, line 4: 12 cells are expected"):
        read_sat(folder)


def test_answers_are_not_written_over(folder):
    with pytest.raises(Refusal, match="is there already"):
        write_test(folder, two_forms(LESSONS, "b"), ["s"], "b")


def test_learners_come_from_a_list_or_from_grades(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("student,03_softmax\nada,3\nben,4\n")
    assert learners_in(path) == ["ada", "ben"]
    path.write_text("ada\nben\nada\n")
    with pytest.raises(Refusal, match="nobody twice"):
        learners_in(path)


# ---- the gain ---------------------------------------------------------------------------------------------


def a_class(seed, learners=40, gain=0.0, easier=0.0):
    """Both tests of a class by Rasch's model. gain: in logits; easier: how much form A is."""
    rng = np.random.default_rng(seed)
    ability, hardness = rng.normal(size=learners), rng.normal(0, 0.8, (2, QUESTIONS))
    hardness[0] -= easier
    sat = []
    for who in range(learners):
        for time, form in (("before", who % 2), ("after", 1 - who % 2)):
            more = gain if time == "after" else 0.0
            right = rng.random(QUESTIONS) < 1 / (1 + np.exp(hardness[form] - ability[who] - more))
            sat.append(Sat(f"s{who}", time, "AB"[form], tuple(map(bool, right))))
    return sat


def test_the_gain_by_hand():
    half, all_of = (True,) * 6 + (False,) * 6, (True,) * 9 + (False,) * 3
    sat = [
        Sat(f"s{who}", *times, right)
        for who in range(20)
        for times, right in zip(
            (("before", "AB"[who % 2]), ("after", "BA"[who % 2])), (half, all_of), strict=True
        )
    ]
    found = gain_of(sat)
    assert (found.before, found.after) == (0.5, 0.75)
    assert found.gain == pytest.approx((0.5, 0.5, 0.5))
    assert found.forms.value == pytest.approx(0)
    assert found.questions[0].before.value == 1.0
    assert found.questions[11].after.value == 0.0


def test_a_class_that_learned_shows_it_and_one_that_did_not_does_not():
    learned = [gain_of(a_class(seed, gain=1.0)).shown for seed in range(20)]
    assert sum(learned) >= 19
    nothing = [gain_of(a_class(seed)).shown for seed in range(100)]
    assert sum(nothing) <= 6


def test_an_easier_form_is_no_gain():
    """Also where three times as many began with the harder one."""
    found = []
    for seed in range(40):
        sat = a_class(seed, learners=60, easier=1.0)
        few = [one for one in sat if int(one.learner[1:]) % 2 or int(one.learner[1:]) % 6 == 0]
        found.append(gain_of(few))
    assert sum(one.shown for one in found) <= 4
    assert np.mean([one.forms.value for one in found]) > 0.15


def test_what_cannot_be_told_is_said():
    assert "Too small a class: 19 sat both" in gain_of(a_class(0, learners=19)).why_not
    one_order = [one for one in a_class(0, 60) if int(one.learner[1:]) % 2 == 0]
    assert "began with the same form" in gain_of(one_order).why_not
    assert gain_of([]).why_not
    lone = gain_of([*a_class(0), Sat("x", "before", "A", (True,) * 12)])
    assert (lone.both, lone.others) == (40, 1)
    known = [Sat(one.learner, one.time, one.form, (True,) * 12) for one in a_class(0)]
    assert "nothing to gain" in gain_of(known).why_not


def test_the_commands(tmp_path):
    (tmp_path / "list.csv").write_text("learner\n" + "".join(f"s{n}\n" for n in range(24)))
    made = sdpa("study", "test", tmp_path / "t", "--learners", tmp_path / "list.csv", "--seed", "a")
    assert made.returncode == 0, made.stderr
    assert "12 questions, form A and form B (seed a)" in made.stdout
    key = [row[2] for row in rows_of(tmp_path / "t", "key.csv")[1:]]
    of = {"A": key[:QUESTIONS], "B": key[QUESTIONS:]}
    rows = enumerate(rows_of(tmp_path / "t"))
    fill(
        tmp_path / "t",
        *((n, [*of[row[2]][: 6 if row[1] == "before" else 9], *[""] * 12][:12]) for n, row in rows if n),
    )
    said = sdpa("study", "gain", tmp_path / "t")
    assert said.returncode == 0, said.stderr
    assert "Right before: 50%, after: 75%." in said.stdout
    assert "Normalised gain 0.50 (0.50 to 0.50)" in said.stdout
    assert sdpa("study", "gain", tmp_path / "none").returncode == 2
