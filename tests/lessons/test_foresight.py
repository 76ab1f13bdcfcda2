"""Predictions: counted by lesson, told in words, shown by progress()."""

import sdpa_helpers as sdpa
from sdpa_helpers.course import saved
from sdpa_helpers.course.foresight import Foresight, foresight_of, in_words
from sdpa_helpers.course.saved import Predicted

KEPT = {
    ("03_softmax", "a"): Predicted(0, True, True),
    ("03_softmax", "b"): Predicted(1, False, True),
    ("03_softmax", "c"): Predicted(-1, False),
    ("04_gradients", "d"): Predicted(2, False, False),
    ("04_gradients", "e"): Predicted(2, False),
}


def test_it_is_counted_by_lesson_and_who_is_shown_has_not_answered():
    assert foresight_of(KEPT) == {"03_softmax": Foresight(2, 1, 1), "04_gradients": Foresight(2, 0, 0)}


def test_in_words():
    assert in_words({}) == ""
    assert in_words(foresight_of(KEPT)) == (
        "Of 4 predictions 1 was right. You were sure and wrong most often in lesson 03: once."
    )
    assert in_words({"01": Foresight(1, 1, 0)}) == "Your one prediction was right."
    assert str(Foresight(1, 0, 0)) == "1 prediction, 0 right"


def test_progress_shows_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    assert "prediction" not in sdpa.progress().text()
    for (lesson, name), answer in KEPT.items():
        saved.keep_prediction(lesson, name, answer)
    table = sdpa.progress()
    assert " points, 2 predictions, 1 right" in table.text()
    assert "Of 4 predictions" in table.text()
    assert " points · 2 predictions, 1 right" in table.html()
    assert "You were sure and wrong most often in lesson 03: once." in table.html()
