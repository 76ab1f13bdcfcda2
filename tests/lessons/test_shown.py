"""What a learner sees of a check, a hint and the progress: as text, and as HTML that works without styles."""

import inspect
import re
from html import unescape

import pytest

from sdpa_helpers.checking.card.highlight import code_html
from sdpa_helpers.checking.card.render import Onward, bar
from sdpa_helpers.course import checkup, session
from sdpa_helpers.course.onward import onward_from
from sdpa_helpers.course.progress import ProgressTable
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of, sheet_of
from tests.handing_in import POINTS, TOTAL

WORTH = f"{POINTS['dot_product']:g}"
CASES = len(all_exercises()["dot_product"].cases)
"""What the exercise is worth: a point for each of its cases."""


@pytest.fixture(autouse=True)
def from_the_start(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "_mistakes", {})
    monkeypatch.setattr(session, "_hints_given", {})
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html).split())


def stub(q, k):
    return NotImplemented


def wrong(q, k):
    return q * k


def right(q, k):
    return (q * k).sum()


for function in (stub, wrong, right):
    function.__name__ = "dot_product"


def test_a_failed_check_names_the_mistake_the_cases_and_a_hint_behind_a_fold():
    card = session.check(wrong).html()
    told = words_of(card)
    assert f"✗ dot_product: 0 of {WORTH} points Diagnosis (not-summed)" in told
    assert "Diagnosis (not-summed) : You multiplied" in told
    assert (
        "For example q = [1, 0, -1] k = [1, 0, -0.5] yours, shape (3,) [1.0, 0.0, 0.5] expected, one number 1.5"
        in told
    )
    assert f"✗ all {CASES} cases : returned an array of shape (3,); expected one number" in told
    assert re.search(r"<details class='way'><summary>Hint 1 of 4</summary><div><p>How many numbers", card)
    assert "<details open" not in card


def test_the_buttons_go_on_where_hint_stopped_and_do_not_use_one_up():
    for _ in range(2):
        assert "Hint 1 of 4" in session.check(wrong).html()
    first = session.hint(wrong)
    assert first.text().startswith("dot_product: hint 1 of 4 (3 more: run this cell again)\n\n")
    assert words_of(first.html()).startswith("dot_product: hint 1 of 4 How many numbers")
    for shown in (first.html(), session.check(wrong).html()):
        assert re.findall(r"<summary>Hint (\d)", shown) == ["2", "3", "4"]
    for _ in range(5):
        last = session.hint(wrong)
    assert last.text().startswith("dot_product: hint 4 of 4 (the last one)")
    assert "<summary>" not in last.html()


def test_a_new_mistake_has_its_own_hints_and_those_that_were_told_are_not_told_again():
    session.check(stub)
    told = [session.hint(stub).text().split("\n\n")[1] for _ in range(3)]
    session.check(wrong)
    assert session.hint(wrong).text().startswith("dot_product: hint 1 of 4 (3 more")
    assert session.hint(wrong).text().split("\n\n")[1] == told[-1]


def test_what_is_marked_by_others_offers_no_hint_and_no_solution(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    shown = words_of(session.check(right).html())
    assert "all cases passed" in shown
    assert not re.search("next:|Compare|return", shown)


def test_the_way_on_leads_to_the_next_exercise_then_to_the_next_lesson():
    dot = session.check(right).html()
    assert "<a class='next' href='../exercises/01_dot_product.ipynb#attention_scores'>next: att" in dot
    last = onward_from(exercises_of("01_dot_product")[-1])
    assert last == Onward(
        "next: lesson 02, Why the scores are scaled", "../notebooks/02_variance_proof.ipynb"
    )
    assert onward_from(sheet_of(LESSONS[-1]).exercises[-1]) is None
    asked_in_words = onward_from(exercises_of("02_variance_proof")[-1])
    assert asked_in_words is not None
    assert asked_in_words.href.endswith("#proof_in_words")


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/work/exercises/01_dot_product.ipynb", "#attention_scores"),
        ("/work/notebooks/01_dot_product.ipynb", "../exercises/01_dot_product.ipynb#attention_scores"),
        ("/work/exercises/02_variance_proof.ipynb", "../exercises/01_dot_product.ipynb#attention_scores"),
    ],
)
def test_within_a_notebook_a_link_names_only_the_heading(monkeypatch, path, leads_to):
    monkeypatch.setenv("JPY_SESSION_NAME", path)
    in_a_lesson = "/notebooks/" in path  # there the text goes on
    assert (f"<a class='next' href='{leads_to}'>" in session.check(right).html()) is not in_a_lesson
    assert f"<a class='next' href='{leads_to}'>" in session.progress().html()


def test_a_solution_has_colours_and_all_its_text():
    source = 'def f(x):\n    """Says <b>."""\n    if x:  # or not\n\n        return sum(x) + 1.5\n'
    shown = code_html(source)
    assert unescape(re.sub(r"<[^>]+>", "", shown)) == source
    assert re.findall(r"<span class='(\w)'>([^<]+)</span>", shown) == [
        ("k", "def"),
        ("d", "f"),
        ("s", "&quot;&quot;&quot;Says &lt;b&gt;.&quot;&quot;&quot;"),
        ("k", "if"),
        ("c", "# or not"),
        ("k", "return"),
        ("b", "sum"),
        ("n", "1.5"),
    ]
    assert code_html("a = (<") == "<pre class='code' tabindex='0'><code>a = (&lt;</code></pre>"
    for name, exercise in all_exercises().items():
        written = inspect.getsource(exercise.reference)
        assert unescape(re.sub(r"<[^>]+>", "", code_html(written))) == written, name


def test_open_and_passed_cards():
    opened = words_of(session.check(stub).html())
    assert opened.startswith(f"○ dot_product: not attempted yet (worth {WORTH} points)")
    assert "Write your answer, run its cell, then check again." in opened
    passed = session.check(right).html()
    assert words_of(passed).startswith(f"✓ dot_product: all cases passed, {WORTH} of {WORTH} points")
    assert f"{CASES} of {CASES} cases passed 1 two short vectors 2 longer vectors" in words_of(passed)
    assert "Hint" not in passed


def test_what_a_learner_wrote_is_escaped():
    def broken(q, k):
        raise ValueError("<script>alert(1)</script>")

    broken.__name__ = "dot_product"
    assert "<script>" not in session.check(broken).html()


def test_progress_says_what_is_next_and_links_to_it():
    session.check(right)
    shown = session.progress()
    assert re.search(rf"^▰+▱+  01_dot_product +{WORTH} of {TOTAL:g} points$", shown.text(), re.MULTILINE)
    assert re.search(rf"✓ dot_product +{WORTH} of {WORTH}$", shown.text(), re.MULTILINE)
    assert "Next: attention_scores, about 10 minutes, in exercises/01_dot_product.ipynb" in shown.text()
    on = "<a class='next' href='../exercises/01_dot_product.ipynb#attention_scores'>next: attention_scores"
    assert on in shown.html()
    assert shown.html().count("<details open>") == 1
    assert "▰" not in shown.html()
    of = [len(exercises_of(lesson)) for lesson in LESSONS]
    first = rf"width:\d+%.*1 of {of[0]} solved, {WORTH} of {TOTAL:g} points"
    told = rf"{first}.*width:0%.*0 of {of[1]} solved"
    assert re.search(told, shown.html())
    all_of_it = f"✓ dot_product {WORTH} of {WORTH} ○ attention_scores not tried yet, about 10 minutes"
    assert all_of_it in words_of(shown.html())


def test_progress_when_all_is_solved():
    rows = [(lesson, exercise, exercise.max_points) for lesson, exercise, _ in session.progress().rows]
    done = ProgressTable(rows)
    assert done.text().endswith("Every exercise is solved.")
    assert "▱" not in done.text()
    assert "minutes of exercises are left" not in done.html()


def test_what_a_person_reads_is_listed_and_never_missing():
    shown = session.progress()
    assert re.search(r"✎ proof_in_words +read by a person$", shown.text(), re.MULTILINE)
    assert "✎ proof_in_words read by a person, about 10 minutes" in words_of(shown.html())
    rows = [(lesson, exercise, exercise.max_points) for lesson, exercise, _ in shown.rows]
    assert ProgressTable(rows, shown.written).text().endswith("Every exercise is solved.")
    with pytest.raises(LookupError, match="a person reads it"):
        session.hint("proof_in_words")


def test_bars():
    assert bar(0, 10) == "▱" * 10
    assert bar(0.01, 10) == "▰" + "▱" * 9
    assert bar(9.99, 10) == "▰" * 9 + "▱"
    assert bar(10, 10) == "▰" * 10
    assert bar(0, 0) == "▱" * 10


FACTS = [
    checkup.Fact("numpy", "2.4", True),
    checkup.Fact("nbval", "0.11", True),
    checkup.Fact("torch", "not installed", False, "run: pip install <it>"),
    checkup.Fact("GPU", "none"),
    checkup.Fact("backends", "numpy, torch-fused", True, "a note of words " * 9 + "torch-fused"),
    checkup.Fact("sandbox", "warm"),
    checkup.Fact("Python", "3.11", True),
]


def test_the_doctor_reports_what_does_not_load(monkeypatch):
    def broken():
        raise OSError("libtorch.so: cannot open\nmore")

    monkeypatch.setattr(checkup, "_gpu", broken)
    monkeypatch.setattr(checkup, "_sandbox", lambda: checkup.Fact("sandbox", "not asked"))
    report = checkup.doctor().text()
    assert "could not be looked at: OSError: libtorch.so: cannot open" in report


def test_in_a_browser_the_doctor_asks_for_nothing_that_cannot_be_there(monkeypatch):
    monkeypatch.setattr(checkup.sys, "platform", "emscripten")
    report = checkup.doctor()
    assert report.can_run
    assert [fact.name for fact in report.facts] == ["Python", "numpy", "torch", "processes", "backends"]
    assert "a browser has no PyTorch" in report.text()


def test_the_doctor_says_first_what_matters_to_a_learner(monkeypatch):
    monkeypatch.setattr(checkup, "facts", lambda: FACTS)
    report = checkup.doctor()
    lines = report.text().split("\n")
    assert lines[0] == "Something is missing: see the lines marked MISSING."
    assert lines[2:4] == ["MISSING  torch        not installed", f"{'':<22}run: pip install <it>"]
    named = [line.split()[1] for line in lines[1:] if line[:1] not in (" ", "") and line[-1] != ":"]
    assert named == ["torch", "Python", "numpy", "backends", "GPU", "nbval", "sandbox"]
    assert max(map(len, lines)) <= 100
    assert report.text().count("torch-fused") == 2, "no line breaks within a word"
    shown = report.html()
    assert "sdpa-failed" in shown
    assert "<strong>MISSING</strong> <strong>torch</strong>" in shown
    assert "&lt;it&gt;" in shown
    assert "<details><summary>for teachers and graders</summary><ul class='plain'><li>" in shown
    assert "<span class='word'>torch-fused</span>" in shown
