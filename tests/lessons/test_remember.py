"""The deck: what its questions are made of, when they come again, in a notebook, a terminal and for Anki."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from sdpa_helpers.course import saved
from sdpa_helpers.course.registry import LESSONS, all_exercises
from sdpa_helpers.course.remember import asking, panel, remember, spacing
from sdpa_helpers.course.remember.anki import as_anki, write_anki
from sdpa_helpers.course.remember.items import Choice, Item, all_items
from sdpa_helpers.course.remember.panel import NothingDue, of_lesson
from tests.lessons.example import talk

LAST_OF_THE_ARTICLES = "06_complexity"
"""Later lessons have few of the articles' claims, or none."""
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))


def test_there_are_more_than_150_of_three_kinds_in_every_lesson():
    items = all_items()
    assert len(items) > 150
    assert len({item.key for item in items}) == len(items)
    for lesson in LESSONS:
        kinds = Counter(item.key.partition("-")[0] for item in items if item.lesson == lesson)
        assert kinds["claim"] >= (5 if lesson <= LAST_OF_THE_ARTICLES else 0), lesson
        assert kinds["mistake"] >= 5, lesson
    assert [item.lesson for item in items] == sorted(item.lesson for item in items)


def test_the_right_choice_is_the_ledgers_verdict():
    stored = json.loads((saved.Path(__file__).parents[2] / "docs" / "ledger.json").read_text())
    claims = [item for item in all_items() if item.key.startswith("claim-")]
    assert {item.key: item.choices[item.right].text for item in claims} == {
        item.key: stored[item.key.removeprefix("claim-")]["verdict"] for item in claims
    }


def test_the_right_choice_is_what_the_wrong_answer_says_of_itself():
    for item in all_items():
        if item.key.startswith("mistake-"):
            _, name, mistake = item.key.split("-", 2)
            says = {wrong.name: wrong.says for wrong in all_exercises()[name].wrong}
            assert _letters(item.choices[item.right].text) == _letters(says[mistake]), item.key
            values = [choice.because for choice in item.choices]
            assert len(set(values)) == len(values), item.key


def test_numbers_stand_as_a_learner_writes_them():
    asked = {item.key: item.question for item in all_items()}
    assert asked["mistake-dot_product-not-summed"].startswith(
        "`dot_product([1, 0, -1], [1, 0, -0.5])` is `1.5`. An answer returns `[1, 0, 0.5]`."
    )
    assert not [key for key, question in asked.items() if ". ," in question or "[ " in question]


def _letters(text):
    return [c for c in text if c.isalpha()]


def test_a_right_answer_comes_again_in_days_and_a_wrong_one_in_a_minute():
    item, other = all_items()[:2]
    assert spacing.next_items(all_items(), 3, NOW) == list(all_items()[:3])
    assert spacing.answered(item, right=True, now=NOW) > NOW + timedelta(days=1)
    assert spacing.answered(other, right=False, now=NOW) == NOW + timedelta(minutes=1)
    assert spacing.next_items((item, other), 3, NOW) == []
    assert spacing.next_items((item, other), 3, NOW + timedelta(minutes=2)) == [other]
    later = NOW + timedelta(days=30)
    assert spacing.next_items((item, other), 3, later) == [other, item]
    again = spacing.answered(item, right=True, now=later)
    assert again - later > timedelta(days=30)


def test_one_session_brings_at_most_ten_new_ones():
    assert len(spacing.next_items(all_items(), 50, NOW)) == 10


@pytest.mark.parametrize("broken", ["no dict", {}, {"state": 9}, [1], None, {"due": "soon"}])
def test_what_somebody_else_has_written_is_a_question_never_asked(broken):
    item = all_items()[0]
    spacing.answered(item, right=True, now=NOW)
    kept = saved.load_remembered()
    changed = kept[item.key] | broken if isinstance(broken, dict) and broken else broken
    saved.keep_remembered(item.key, changed)
    assert spacing.next_items((item,), 1, NOW) == [item]
    spacing.answered(item, right=True, now=NOW)


def test_a_notebook_asks_one_after_the_other_and_keeps_the_answers():
    series = remember(2, lesson="03")
    one, two = series.questions
    assert two.given()["waitsFor"] == one.given()["key"]
    assert (one.given()["title"], one.given()["found"]) == ("Remember · 1 of 2", "Right")
    one.widget().chosen = [one.given()["right"], None]
    assert [question.prediction.name for question in remember(1, lesson="03").questions] == [
        two.prediction.name
    ]


def test_when_nothing_is_due_it_says_when_to_come_back():
    assert of_lesson("5") == of_lesson("05")
    for item in of_lesson("05"):
        spacing.answered(item, right=True)
    told = remember(lesson="05")
    assert isinstance(told, NothingDue)
    assert str(told).startswith("Nothing is due. The next question comes on ")


def test_it_refuses_what_there_is_not():
    with pytest.raises(ValueError, match="there is no lesson 'x'; there are: 01, 02"):
        remember(lesson="x")
    with pytest.raises(ValueError, match="1 to 50"):
        remember(0)


ITEM = Item("k", "03_softmax", "`f(1)`: *which*, d_{k}?", (Choice("a\tb", "It is."), Choice("c", "No.")), 0)


def ask(say, read):
    asking.ask((ITEM,), 5, say, read)


def test_a_terminal_asks_until_it_gets_one_of_the_numbers():
    told = talk(ask, "9", " 2 ")
    assert "1 of 1 · lesson 03" in told
    assert "f(1): which, dₖ?" in told
    assert "Type one of 1, 2, or q to end." in told
    assert "✗ c: No.\n✓ a b: It is." in told.replace("a\tb", "a b")
    assert told.endswith("0 of 1 right.")


@pytest.mark.parametrize("lines", [("q",), ()])
def test_q_or_no_more_input_ends_and_keeps_nothing(lines):
    talk(ask, *lines)
    assert saved.load_remembered() == {}


def test_a_file_that_is_no_deck_of_ours_stays(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    for taken in (tmp_path / "thesis.txt", tmp_path):
        with pytest.raises(OSError, match=r"no deck of ours|directory"):
            write_anki((ITEM,), taken)
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    for items in ((ITEM,), (ITEM, ITEM)):
        write_anki(items, tmp_path / "deck.txt")
    assert (tmp_path / "deck.txt").read_text() == as_anki((ITEM, ITEM))


@pytest.mark.parametrize("wrong", [{"stability": -1}, {"stability": float("nan")}, {"step": "x"}, {"due": 3}])
def test_a_question_begins_again_where_what_was_kept_is_damaged(wrong):
    item = all_items()[0]
    spacing.answered(item, right=False, now=NOW)
    saved.keep_remembered(item.key, saved.load_remembered()[item.key] | wrong)
    assert spacing.answered(item, right=False, now=NOW) == NOW + timedelta(minutes=1)


def test_anki_gets_four_fields_a_line():
    head, *notes = as_anki((ITEM, *all_items())).split("\n#tags column:4\n")
    assert head.startswith("#separator:tab\n#html:true\n")
    lines = notes[0].rstrip("\n").split("\n")
    assert len(lines) == len(all_items()) + 1
    assert all(line.count("\t") == 3 for line in lines)
    front = "<p><code>f(1)</code>: <em>which</em>, d<sub>k</sub>?</p><ul><li>a b</li><li>c</li></ul>"
    assert lines[0] == f"sdpa-k\t{front}\t<p><b>a b</b></p><p>It is.</p>\tsdpa::03_softmax"


def test_an_item_has_to_have_one_right_choice():
    with pytest.raises(ValueError, match="two to four different choices"):
        Item("k", "03_softmax", "?", (Choice("a", "b"), Choice("a", "c")), 0)


def test_without_matplotlib_the_deck_says_what_it_needs(monkeypatch):
    def missing(lesson):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr(panel, "of_lesson", missing)
    assert "run `import matplotlib` in a cell first" in repr(panel.remember())
