"""What a learner sees of a check, a hint and the progress: as text, and as HTML that works without styles."""

import re

import pytest

from sdpa_helpers.checking.render import bar
from sdpa_helpers.lessons import session
from sdpa_helpers.lessons.progress import ProgressTable
from tests.handing_in import POINTS, TOTAL

WORTH = f"{POINTS['dot_product']:g}"
"""What the exercise is worth: a point for each of its cases."""


@pytest.fixture(autouse=True)
def from_the_start(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "_mistakes", {})
    monkeypatch.setattr(session, "_hints_shown", {})
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


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
    assert f"✗ dot_product: 0 of {WORTH} points · difficulty 1 of 5, about 5 minutes" in told
    assert "Diagnosis (not-summed) : You multiplied" in told
    assert (
        "For example q = [1, 0, -1] k = [1, 0, -0.5] yours, shape (3,) [1.0, 0.0, 0.5] expected, one number 1.5"
        in told
    )
    assert f"✗ all {WORTH} cases : returned an array of shape (3,); expected one number" in told
    assert re.search(
        r"<details[^>]*><summary>Stuck\? Open hint 1 of 4</summary><p[^>]*>How many numbers", card
    )
    assert "<details open" not in card


def test_the_fold_goes_on_where_hint_stopped_and_does_not_use_one_up():
    for _ in range(2):
        assert "Open hint 1 of 4" in session.check(wrong).html()
    first = session.hint(wrong)
    assert first.text().startswith("dot_product: hint 1 of 4 (3 more: run this cell again)\n\n")
    assert first.html().startswith("<details open><summary>")
    assert "Open hint 2 of 4" in session.check(wrong).html()
    for _ in range(5):
        last = session.hint(wrong)
    assert last.text().startswith("dot_product: hint 4 of 4 (the last one)")


def test_open_and_passed_cards():
    opened = words_of(session.check(stub).html())
    assert opened.startswith(f"○ dot_product: not attempted yet (worth {WORTH} points)")
    assert "Write your answer in the cell above, run it, then check again." in opened
    passed = session.check(right).html()
    assert words_of(passed).startswith(f"✓ dot_product: all cases passed, {WORTH} of {WORTH} points")
    assert f"{WORTH} of {WORTH} cases passed 1 two short vectors 2 longer vectors" in words_of(passed)
    assert "Stuck" not in passed


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
    assert "<a href='../exercises/01_dot_product.ipynb'>exercises/01_dot_product.ipynb</a>" in shown.html()
    assert shown.html().count("<details open>") == 1


def test_progress_when_all_is_solved():
    rows = [(lesson, exercise, exercise.max_points) for lesson, exercise, _ in session.progress().rows]
    done = ProgressTable(rows)
    assert done.text().endswith("Every exercise is solved.")
    assert "▱" not in done.text()
    assert "minutes of exercises are left" not in done.html()


def test_what_a_person_reads_is_listed_and_never_missing():
    shown = session.progress()
    assert re.search(r"✎ proof_in_words +read by a person$", shown.text(), re.MULTILINE)
    assert "✎ <code>proof_in_words</code>: read by a person, about 10 minutes" in shown.html()
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
