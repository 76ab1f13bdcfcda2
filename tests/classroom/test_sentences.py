"""One sentence for all who gave the same answer: names.toml, what is told, points, and the way back to the page."""

import errno
import os
import re
import shutil
from dataclasses import replace

import pytest

import sdpa_helpers.lessons.softmax.exercises as there
from sdpa_helpers.checking.pages.page import read
from sdpa_helpers.classroom.marks.store import Mark, append, last_marks
from sdpa_helpers.classroom.marks.store import read as rows_in
from sdpa_helpers.classroom.pages.class_report import summarise
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review import naming as review_naming
from sdpa_helpers.classroom.review.naming import naming
from sdpa_helpers.classroom.sentences.as_mistakes import as_mistake
from sdpa_helpers.classroom.sentences.bring_in import WHO, new_rows, with_sentences
from sdpa_helpers.classroom.sentences.store import (
    LONGEST,
    BadNames,
    Sentence,
    by_answer,
    checked,
    read_sentences,
    write_sentences,
)
from sdpa_helpers.classroom.tables import write_tables
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.lift_words import digest
from sdpa_helpers.grading.result import INSTRUCTOR, GradedExercise
from sdpa_helpers.grading.result_json import as_json, from_json
from tests.commands import sdpa
from tests.results import case, result

KEY, OTHER = "0123456789ab", "fedcba987654"
ODD = "def softmax(x, axis=-1):\n    return x * 1.37"
SAYS = "You scaled the scores; `exp` is <missing>."
LESSON = "03_softmax"


def gave(student, key=KEY, answer=ODD):
    cases = (case(1.0, 1.0, "one"), case(0.0, 14.0, "two", diagnosis="wrong-values", message="Off."))
    graded = GradedExercise("softmax", "Softmax", 15.0, cases, unknown=key)
    return result(student, [graded], LESSON, answers={"softmax": answer})


@pytest.fixture
def run(tmp_path):
    folder = ResultsFolder(tmp_path / "out")
    made = [gave("ada"), gave("ben", answer=ODD.replace("x * 1.37", "1.37 * x")), gave("cleo", OTHER)]
    for one in made:
        folder.write_result(one)
    write_tables(folder, made, [LESSON])
    return folder


def results(folder):
    return {one.student: one for one in folder.read_results()}


def page_of(folder, student):
    return folder.feedback_path(student, LESSON).read_text()


# ---- the file ---------------------------------------------------------------------------------------------


def test_the_file_is_sorted_and_comes_back_as_it_was(tmp_path):
    path = tmp_path / "names.toml"
    told = by_answer(
        [
            Sentence("softmax", OTHER, 'A "quoted" \\ sentence: 1 ≠ 2.', -1.5, "its-name"),
            Sentence("dot_product", KEY, "First."),
            Sentence("softmax", KEY, "Earlier."),
            Sentence("softmax", KEY, "Later."),
        ]
    )
    write_sentences(path, told)
    assert list(read_sentences(path)) == sorted(told)
    assert read_sentences(path) == told
    assert read_sentences(path)["softmax", KEY].says == "Later."
    before = path.read_bytes()
    write_sentences(path, dict(reversed(told.items())))
    assert path.read_bytes() == before
    assert read_sentences(tmp_path / "none.toml") == {}


HEAD = f"version = 1\n\n[softmax.{KEY}]\nsays = 'Fine.'\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: `version = 1` is expected"),
        ("\nversion = 2", "line 2: `version = 1` is expected"),
        (f"{HEAD}says = 'Twice.'", "line 5"),
        (f"{HEAD}\n[softmax.{KEY}]", "line 6"),
        (f"{HEAD}point = 3", "line 5: point is unknown"),
        (f"{HEAD}points = '3'", "line 5: points is a number"),
        (f"{HEAD}points = true", "line 5: points is a number"),
        (f"{HEAD}points = -16", "line 5: points from −15 to 15"),
        (f"{HEAD}points = nan", "line 5: points from −15 to 15"),
        (f"{HEAD}name = 'Not so'", "line 5: a name is made of small letters"),
        (f"{HEAD}\n[softmx.{KEY}]\nsays = 'a'", "line 6: the course has no exercise 'softmx'"),
        (f"{HEAD}\n[softmax.short]\nsays = 'a'", "line 6: an answer's key is twelve letters"),
        (f"{HEAD}\n[softmax.{OTHER}]\nsays = '  '", "line 7: a sentence is expected"),
        (f"{HEAD}\n[softmax.{OTHER}]\nsays = '{'x' * (LONGEST + 1)}'", "line 7: a sentence is expected"),
        (f"{HEAD}\n[softmax.{OTHER}]\npoints = 1", "line 6: `says = "),
        ("version = 1\nsoftmax = 3", "line 2: a table [exercise.key]"),
        (f"{HEAD}\n[softmax.'{OTHER}\u202e']\nsays = 'a'", "line 6: an answer's key"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, text, told):
    path = tmp_path / "names.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadNames) as raised:
        read_sentences(path)
    assert told in str(raised.value)
    assert "names.toml" in str(raised.value)


def test_a_sentence_may_not_turn_the_page_around():
    with pytest.raises(ValueError, match="a sentence is expected"):
        checked(Sentence("softmax", KEY, "You \u202eeno."))
    assert checked(Sentence("softmax", KEY, " Two\n lines. ")).says == "Two lines."
    assert Sentence("softmax", KEY, "…").name == f"answer-{KEY}"


# ---- what is told -----------------------------------------------------------------------------------------


def test_a_sentence_reaches_all_who_gave_the_answer_and_nobody_else(run):
    ran = sdpa("name", run.path, "softmax", KEY[:4], SAYS)
    assert ran.returncode == 0, ran.stderr
    assert "2 learners told: you-scaled-the-scores-exp" in ran.stdout
    for student in ("ada", "ben"):
        (mistake,) = results(run)[student].exercise("softmax").mistakes
        assert (mistake.says, mistake.by, mistake.cases) == (SAYS, INSTRUCTOR, ("two",))
        page = page_of(run, student)
        told = "<strong>From your instructor</strong>: You scaled the scores; <code>exp</code> is &lt;missing&gt;."
        assert told in page
    assert results(run)["cleo"].exercise("softmax").mistakes == ()
    report = run.class_page.read_text()
    assert "your sentence" in report
    assert 'id="unknown"' not in report  # that of cleo alone is no news
    again = {p: p.read_bytes() for p in run.path.rglob("*.[jchd]*") if p.is_file()}
    assert sdpa("names", run.path).returncode == 0
    assert {p: p.read_bytes() for p in again} == again


def test_a_sentence_can_be_changed_by_hand_and_taken_back(run):
    before = as_json(results(run)["ada"])
    sdpa("name", run.path, "softmax", KEY, SAYS)
    run.names_toml.write_text(run.names_toml.read_text().replace("You scaled", "You bent"))
    listed = sdpa("names", run.path).stdout
    assert "No two learners" not in listed
    assert f"softmax {KEY}, 2 learners: You bent the scores" in listed
    assert "You bent the scores" in page_of(run, "ben")
    assert sdpa("name", run.path, "softmax", KEY, "").returncode == 0
    assert "From your instructor" not in page_of(run, "ben")
    assert as_json(results(run)["ada"]) == before
    assert sdpa("name", run.path, "softmax", KEY, "").returncode == 2
    sdpa("name", run.path, "softmax", KEY, SAYS)
    run.names_toml.unlink()
    assert f"softmax {KEY}, 2 learners: no name yet" in sdpa("names", run.path).stdout
    assert as_json(results(run)["ada"]) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("softmx", KEY, SAYS), "the course has no exercise 'softmx'"),
        (("softmax", "0", "x" * (LONGEST + 1)), "a sentence is expected"),
        (("softmax", "77", SAYS), "an answer's key is twelve letters from 0–9 and a–f, or the first of one"),
        (("softmax", KEY, SAYS, "--points", "99"), "points from −15 to 15"),
        (("softmax", KEY, SAYS, "--as", "My Name"), "a name is made of small letters"),
    ],
)
def test_what_cannot_be_told_is_refused_and_changes_nothing(run, arguments, told):
    ran = sdpa("name", run.path, *arguments)
    assert ran.returncode == 2
    assert told in " ".join(ran.stderr.split())
    assert not run.names_toml.exists()


def test_a_run_in_which_nothing_waits_for_a_name_says_so(run):
    run.write_result(gave("ben", "a" * 12))
    assert "No two learners gave the same answer without a name." in sdpa("names", run.path).stdout


def test_the_panel_says_why_a_sentence_is_not_kept(run, monkeypatch):
    panel = naming(run.path)

    def said(points):
        panel._tell(None, {"exercise": "softmax", "key": KEY, "says": SAYS, "points": points}, [])
        return panel.said["text"]

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert "points from −15" in said(99)
    assert "could not convert" in said("much")
    monkeypatch.setattr(review_naming, "tell", full)
    assert "No space left on device" in said(0)


def test_letters_that_begin_two_answers_are_not_enough(run):
    run.write_result(gave("dora", f"{KEY[:5]}{OTHER[5:]}"))
    ran = sdpa("name", run.path, "softmax", KEY[:5], SAYS)
    assert ran.returncode == 2
    assert "begins several answers to softmax" in ran.stderr


def test_a_name_of_the_course_is_no_instructors(run):
    told = with_sentences(gave("ada"), by_answer([Sentence("softmax", KEY, SAYS)]))
    assert from_json(as_json(told) | {"fingerprint": "f"}) == told
    assert summarise([told]).misconceptions[0].by_instructor
    assert summarise([told, told]).unknown == []
    known = replace(told.exercises[0], unknown="")
    assert with_sentences(replace(told, exercises=(known,)), {}).exercises == (known,)
    assert "From your instructor" not in feedback_page(gave("ada"))


# ---- points -----------------------------------------------------------------------------------------------


def test_points_are_rows_once_each_and_are_taken_back_by_rows(run):
    sdpa("name", run.path, "softmax", KEY, SAYS, "--points", "-2")
    marks = last_marks(run.marks_db)
    assert {(key.student, mark.change, mark.who) for key, mark in marks.items()} == {
        ("ada", -2.0, WHO),
        ("ben", -2.0, WHO),
    }
    assert {mark.reason.partition(":")[0] for mark in marks.values()} == {"you-scaled-the-scores-exp"}
    assert all(key.digest == digest(results(run)[key.student].answers["softmax"]) for key in marks)
    assert results(run)["ada"].exercise("softmax").points == 0.0  # of 1, and never less than none
    assert "A person has looked at this: -1 points" in page_of(run, "ada")
    sdpa("names", run.path)
    assert len(rows_in(run.marks_db)) == 2
    append(
        run.marks_db,
        [replace(marks[min(marks)], change=1.0, who="grace", reason="Explained it to me.", when="")],
    )
    sdpa("name", run.path, "softmax", KEY, SAYS)
    last = {key.student: (mark.change, mark.who) for key, mark in last_marks(run.marks_db).items()}
    assert last == {"ada": (1.0, "grace"), "ben": (0.0, WHO)}


def test_no_row_is_made_where_no_points_change(run):
    sdpa("name", run.path, "softmax", KEY, SAYS)
    assert not run.marks_db.exists()
    theirs = Mark("ada", LESSON, "softmax", digest(ODD), points=3.0, who="grace")
    told = by_answer([Sentence("softmax", KEY, SAYS, 1.0)])
    assert new_rows([gave("ada")], told, {theirs.key: theirs}) == []
    of_any_text = replace(theirs, digest="")
    assert new_rows([gave("ada")], told, {of_any_text.key: of_any_text}) == []
    assert new_rows([replace(gave("ada"), answers={})], told, {}) == []
    assert [row.change for row in new_rows([gave("ada")], told, {})] == [1.0]


# ---- the next term ----------------------------------------------------------------------------------------


def test_the_next_term_takes_over_what_it_has_no_sentence_for(run, tmp_path):
    sdpa("name", run.path, "softmax", KEY, SAYS)
    sdpa("name", run.path, "softmax", OTHER, "Old.")
    later = ResultsFolder(tmp_path / "later")
    for one in (gave("gil"), gave("hal", OTHER)):
        later.write_result(one)
    write_tables(later, later.read_results(), [LESSON])
    sdpa("name", later.path, "softmax", OTHER, "New.")
    ran = sdpa("names", later.path, "--from", run.path)
    assert "1 sentence taken over" in ran.stdout, ran.stderr
    says = {name: one.exercise("softmax").mistakes[0].says for name, one in results(later).items()}
    assert says == {"gil": SAYS, "hal": "New."}
    assert sdpa("names", later.path, "--from", tmp_path / "nowhere").returncode == 2


# ---- back to the page -------------------------------------------------------------------------------------

BENT = """def softmax(scores, axis=-1):
    '''Mine.'''
    s = scores - np.max(scores, axis=axis, keepdims=True)  # ```
    e = np.exp(s)
    return e / (np.sum(e, axis=axis, keepdims=True) + 0.25)"""


def entry_of(answer):
    return as_mistake(find("softmax"), Sentence("softmax", KEY, SAYS), answer)


def test_one_line_that_differs_is_an_edit_of_the_answer():
    entry = entry_of(BENT)
    before, after = re.findall(r"`([^`]+)` → `([^`]+)`", entry)[0]
    assert before == "np.sum(exponentials, axis=axis, keepdims=True)"
    assert after == "(np.sum(exponentials, axis=axis, keepdims=True) + 0.25)"
    assert entry.endswith(f"\n  {SAYS}")


def test_the_entry_is_one_that_a_page_reads(tmp_path):
    folder = tmp_path / "softmax" / "exercises"
    shutil.copytree(next(iter(there.__path__)), folder)
    text = (folder / "softmax.md").read_text(encoding="utf-8")
    whole = entry_of("import math\ndef softmax(a, axis=-1):\n    out = a * 0\n    return out + math.e")
    listed, below = whole.split("\n\nand below `## Helpers`:\n\n")
    assert "· alone" in listed
    code = below.removeprefix("```python\n").removesuffix("\n```").replace("math.e", "np.e")
    text = text.replace(
        "## Mistakes\n\n", f"## Mistakes\n\n{listed}\n{entry_of(BENT).replace('you-', 'an-edit-')}\n"
    )
    text = text.replace("## Helpers\n\n```python\n", f"## Helpers\n\n```python\n{code}\n\n\n")
    (folder / "softmax.md").write_text(text, encoding="utf-8")
    names = [wrong.name for wrong in read(folder / "softmax.md").wrong]
    assert names[:2] == ["you-scaled-the-scores-exp", "an-edit-scaled-the-scores-exp"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "def softmax(x",
        "def softmax(x):\n    return " + "1+" * 1_500 + "1",
        "def softmax(x):\n    return " + "(" * 90 + "x" + ")" * 90,
        "softmax = print",
        "def softmax(x):\n    return '" + "x" * 5_000 + "'",
        "def softmax(x):\n    return '```\\n# Injected'",
        "def softmax(x, axis=-1): return x\0",
    ],
)
def test_whatever_learners_wrote_is_an_entry_or_only_the_sentence(answer):
    entry = entry_of(answer)
    assert "you-scaled-the-scores-exp" in entry
    fences = re.findall(r"(?m)^`{3,}", entry)
    assert len(fences) in (0, 2)
    assert not re.search("(?m)^# Injected", entry)


def test_the_command_prints_them_all(run):
    sdpa("name", run.path, "softmax", KEY, SAYS)
    printed = sdpa("names", run.path, "--as-mistakes").stdout
    assert "<!-- 03_softmax, softmax, below ## Mistakes -->" in printed
    assert "result: `you_scaled_the_scores_exp(x, axis)` · alone" in printed
    assert sdpa("names", run.path, "--as-mistakes", "--from", run.path).returncode == 2
