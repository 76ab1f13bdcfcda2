"""The class report: what it counts, what it links to, and that nothing of a submission becomes markup."""

import inspect
import json
import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from sdpa_helpers.checking.card.render import code_spans
from sdpa_helpers.classroom.collect import RENAMED
from sdpa_helpers.classroom.pages import write_class_pages
from sdpa_helpers.classroom.pages.class_report import ExerciseSummary, bars, class_page, histogram, summarise
from sdpa_helpers.classroom.pages.equal_to_solution import LONG_ENOUGH, handed_out
from sdpa_helpers.classroom.pages.flag_kinds import FLAG_KINDS
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.try_exercise import headings_of
from sdpa_helpers.course.registry import LESSONS, exercises_of, find
from sdpa_helpers.grading.read_file import UNREAD
from sdpa_helpers.grading.result import Flag, GradedCase, GradedExercise, GradedNotebook
from tests.commands import sdpa
from tests.results import MEANS, NAME, like_all, result

WORTH = find("dot_product").max_points
NASTY = '<img src=x onerror="alert(1)"> & `<b>`'


CLASS = (
    result("ada", like_all(1.0)),
    result("ben", like_all(diagnosis="not-summed", mistake="not-summed")),
    result("cleo", like_all(diagnosis="not-summed", mistake="not-summed")),
    result("fay", like_all(unknown="0123456789ab")),
    result("gus", like_all(unknown="0123456789ab")),
    result("hal", like_all(unknown="another")),
    result("dora", like_all(status="not-attempted", diagnosis="not-attempted")),
    result("emil", like_all(status="missing"), status="missing", reason="No notebook was handed in."),
    result(NASTY, like_all(status="missing"), status="unreadable", reason=NASTY, flags=[Flag("late", NASTY)]),
)


def test_counts():
    whole = summarise(CLASS)
    notebook = whole.notebooks[NAME]
    assert whole.learners == {"ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hal", NASTY}
    assert notebook.nothing == ["emil"]
    assert [t[0] for t in notebook.troubled] == [NASTY]
    exercise = notebook.exercises["dot_product"]
    assert exercise.points == [WORTH, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert exercise.not_attempted == ["dora"]
    assert exercise.hardest[0][1] == 5
    found = {(m.exercise, m.name): m.learners for m in whole.misconceptions}
    assert found == {(e.name, "not-summed"): ["ben", "cleo"] for e in exercises_of(NAME)}


def test_answers_that_nobody_has_named_are_counted_together():
    unknown = {(u.exercise, u.digest): u.learners for u in summarise(CLASS).unknown}
    assert unknown == {(e.name, "0123456789ab"): ["fay", "gus"] for e in exercises_of(NAME)}


def test_the_page(tmp_path, course):
    for r in CLASS:
        ResultsFolder(tmp_path).write_result(replace(r, student=r.student.replace("/", "_")))
    assert write_class_pages(ResultsFolder(tmp_path)) == len(CLASS)
    page = (tmp_path / "class.html").read_text()
    assert str(code_spans(MEANS)) in page
    assert "2 learners gave the same unknown answer to <code>dot_product</code>: name it" in page
    assert "<img" not in page
    assert "&lt;img src=x" in page
    for link in re.findall(r'href="([^"#]+)', page):
        if link.endswith(".ipynb"):
            assert (tmp_path / unquote(link)).resolve() == course / "notebooks" / f"{NAME}.ipynb"
    assert "1 learner has not attempted it" in page
    assert page.count("<svg") == len(exercises_of(NAME))
    assert page.count('role="img"') == len(exercises_of(NAME))
    assert f'aria-label="dot_product: 5 learners at 0, 1 learner at {WORTH:g}, of {WORTH:g} points"' in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="https?:', page)  # works offline, tells nobody
    before = page
    write_class_pages(ResultsFolder(tmp_path))
    assert (tmp_path / "class.html").read_text() == before


def test_what_is_left_of_a_crash_is_passed_over(tmp_path):
    ResultsFolder(tmp_path).write_result(CLASS[0])
    (tmp_path / "results" / "bob").mkdir()
    (tmp_path / "results" / "bob" / f"{NAME}.json").write_text('{"student": "b')
    (tmp_path / "results" / "ada" / "x.json").write_text(json.dumps([1]))
    assert write_class_pages(ResultsFolder(tmp_path)) == 1


@pytest.mark.parametrize(
    ("points", "of", "labels"),
    [
        ([0, 1, 4], 4.0, ["0", "1", "2", "3", "4"]),
        ([0.5, 1.0], 2.0, ["0–1", "1–2", "2"]),
        ([3, 16, 15], 16.0, ["0–1", "2–3", "4–5", "6–7", "8–9", "10–11", "12–13", "14–15", "16"]),
        ([], 3.0, ["0", "1", "2", "3"]),
    ],
)
def test_every_learner_is_in_one_bar_and_who_has_all_in_the_last(points, of, labels):
    exercise = ExerciseSummary("x", "X", of, [float(p) for p in points])
    drawn = bars(exercise)
    assert [label for label, _ in drawn] == labels
    assert sum(n for _, n in drawn) == len(points)
    assert drawn[-1][1] == points.count(of)
    assert "<svg" in histogram(exercise)


def test_who_wrote_nothing_has_given_no_unknown_answer():
    case = GradedCase("a case", "not-attempted", 0.0, 1.0)
    untouched = GradedExercise("softmax", "Softmax", 1.0, (case,), unknown="abc")
    tried = GradedExercise("softmax", "Softmax", 1.0, (replace(case, status="failed"),), unknown="def")
    made = [
        GradedNotebook(student=f"{name}{n}", notebook="03_softmax", status="graded", exercises=(exercise,))
        for name, exercise in (("ada", untouched), ("bob", tried))
        for n in range(2)
    ]
    assert [answer.digest for answer in summarise(made).unknown] == ["def"]


def test_the_sections_that_exercises_name_exist():
    for lesson in LESSONS:
        named = {e.section for e in exercises_of(lesson)} | {
            w.section for e in exercises_of(lesson) for w in e.wrong
        }
        assert named - {""} <= {*headings_of(lesson)}, lesson


def test_the_command(tmp_path):
    ResultsFolder(tmp_path).write_result(CLASS[0])
    ran = sdpa("report", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "class.html").is_file()
    ran = sdpa("report", tmp_path / "feedback")
    assert ran.returncode == 2
    assert "no results" in " ".join(ran.stderr.split())


# ---- equal to the handed-out solution -------------------------------------------------------------------------

LONG = [e for e in exercises_of("03_softmax") if handed_out(e)]


def pasted(exercise) -> str:
    """The handed-out answer with other names, a comment and an import above."""
    source = inspect.getsource(exercise.reference)
    return f"# exercise: {exercise.name}\nimport numpy as np\n\n{source}    # mine\n".replace(
        "largest", "biggest"
    )


def own(exercise) -> str:
    """An answer that nobody has handed out."""
    steps = "".join(f"    a{n} = np.exp(a{n - 1}) / {n}\n" for n in range(1, 12))
    return f"def {exercise.name}(a0):\n{steps}    return a11\n"


def handed_in(student, *, copied) -> GradedNotebook:
    answers = {e.name: (pasted if n < copied else own)(e) for n, e in enumerate(LONG)}
    return result(student, [], "03_softmax", answers=answers)


def test_who_hands_in_what_was_handed_out_is_counted(tmp_path):
    assert len(LONG) >= 5
    some = [
        handed_in("ada", copied=len(LONG)),
        handed_in(NASTY, copied=len(LONG) - 1),
        handed_in("cleo", copied=2),
    ]
    whole = summarise([*some, result("dora", [], "03_softmax")])
    found = [(a.student, len(a.equal), a.asked) for a in whole.equal]
    assert found == [("ada", len(LONG), len(LONG)), (NASTY, len(LONG) - 1, len(LONG))]
    page = class_page(whole, ResultsFolder(tmp_path))
    assert "Equal to the handed-out solution: 2 learners" in page
    assert page.count("answers that can tell</li>") == 2
    assert "<img" not in page
    assert "Equal to" not in class_page(summarise(some[2:]), ResultsFolder(tmp_path))


def test_answers_of_several_notebooks_are_counted_together():
    long = [(e, notebook) for notebook in LESSONS for e in exercises_of(notebook) if handed_out(e)]
    first = {notebook: e for e, notebook in reversed(long)}
    each = [result("ada", [], n, answers={e.name: pasted(e)}) for n, e in sorted(first.items())]
    assert [(a.student, len(a.equal), a.notebook) for a in summarise(each).equal] == [
        ("ada", len(first), min(first))
    ]
    assert not summarise(each[:2]).equal


def test_a_short_solution_tells_nothing():
    assert handed_out(find("dot_product")) == ()
    assert all(len(body.split()) >= LONG_ENOUGH for e in LONG for body in handed_out(e))


# ---- flags ----------------------------------------------------------------------------------------------------


def test_every_kind_of_flag_has_a_meaning_on_the_page_and_in_the_docs(course, tmp_path):
    package = course / "sdpa_helpers"
    text = "\n".join(path.read_text() for path in package.rglob("*.py"))
    written = set(re.findall(r'\bFlag\(\s*"([a-z-]+)"', text))
    assert len(written) >= 10
    assert written | {RENAMED, UNREAD} <= set(FLAG_KINDS)
    docs = (course / "docs" / "grading.md").read_text()
    assert [kind for kind, says in FLAG_KINDS.items() if f"| `{kind}` | {says} |" not in docs] == []
    flagged = result("ada", [], flags=[Flag("late", "late"), Flag("of-an-older-version", "?")])
    page = class_page(summarise([flagged]), ResultsFolder(tmp_path))
    assert page.count("The file came after the deadline") == 2
