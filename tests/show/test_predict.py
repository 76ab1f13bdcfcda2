"""A question and its answers: which is right, what a stored output shows, and what is kept."""

import contextlib
import html
import re

import numpy as np
import pytest
import traitlets

from sdpa_helpers.course import saved
from sdpa_helpers.course.predicting import asker
from sdpa_helpers.show.predict import Chosen, Option, Prediction, PredictionShown, plain, rich


def asked(*rights, **more):
    options = tuple(Option(str(n), f"because {n}", right) for n, right in enumerate(rights))
    return Prediction("name", "How many?", options, **more)


@pytest.mark.parametrize(
    ("text", "right", "measured", "holds"),
    [
        ("0.9999", (0.99985, 0.99995), 0.9999092, True),
        ("1", None, 0.9999092, False),  # near is not right
        ("1", None, 1.0, True),
        ("−0.17", (-0.175, -0.165), -0.1736, True),
        ("−1", None, -1, True),
        ("the same", None, "the same", True),
        ("larger", None, "the same", False),
        ("five", "5", 5, True),
        ("(4, 5)", None, 5, False),
        ("(4, 5)", None, "(4, 5)", True),
        ("1", None, float("nan"), False),
        ("a few", (1, 3), "2", False),
    ],
)
def test_which_answer_is_right(text, right, measured, holds):
    assert Option(text, "because", right).holds_for(measured) is holds


def test_none_may_be_right_and_never_two():
    assert asked((0, 1), (2, 3)).right_for(1.5) is None
    assert asked((0, 1), (2, 3)).right_for(2.5) == 1
    with pytest.raises(ValueError, match="'0' and '1' are both right for 1; make their ranges disjoint"):
        asked((0, 1), (1, 3)).right_for(1)


def test_what_an_author_may_not_forget():
    with pytest.raises(ValueError, match="two to four answers that differ"):
        asked(1)
    with pytest.raises(ValueError, match="two to four answers that differ"):
        Prediction("n", "?", (Option("a", "x"), Option("a", "y")))
    with pytest.raises(ValueError, match=re.escape("say of ['b'] why it is tempting, or why it is right")):
        Prediction("n", "?", (Option("a", "x"), Option("b", " ")))


def test_a_measured_number_has_a_minus_and_a_measured_word_its_hyphen():
    assert (
        PredictionShown("03", asked((0, 1), (2, 3), measured="{:.1f}"), -2.345).given()["measured"] == "−2.3"
    )
    assert (
        PredictionShown("04", asked((0, 1), (2, 3), measured="{:.0e}"), 1e-5).given()["measured"]
        == "10<sup>−5</sup>"
    )
    assert (
        PredictionShown("04", asked((0, 1), (2, 3), measured="off by {:.1e}"), 1.1e-8)
        .given()["measured"]
        .startswith("off by 1.1 · 10<sup>−8")
    )
    assert PredictionShown("03", asked("a-b", "c"), "a-b").given()["measured"] == "a-b"


def test_marks():
    assert rich("*q* · `k<2>` is d_{k}, **not** x^{2}\n\nnew") == (
        "<em>q</em> · <code>k&lt;2&gt;</code> is d<sub>k</sub>, <strong>not</strong> x<sup>2</sup></p><p>new"
    )
    assert plain("*q* · `k` is d_{k}, 10^{9}, e^{−3}, d_{model}") == "q · k is dₖ, 10⁹, e⁻³, d_model"


class Shown:
    def _repr_html_(self):
        return "<svg></svg>"


def test_what_belongs_to_the_answer_is_drawn_once():
    """A picture drawn again may differ in a byte: its place in the page and its living panel would never meet."""

    class Counted:
        drawn = 0

        def _repr_html_(self):
            self.drawn += 1
            return f"<b>{self.drawn}</b>"

    figure = Counted()
    question = PredictionShown("03", asked((0, 1), (2, 3)), 2.5, [figure])
    assert question.widget().given["key"] in question._repr_mimebundle_()["text/html"]
    assert figure.drawn == 1


def test_a_stored_output_folds_the_answer_and_what_belongs_to_it():
    question = PredictionShown(
        "03", asked((0, 1), (2, 3), after="So it is.", measured="{:.1f} %"), 2.345, [Shown(), "1 < 2"]
    )
    bundle = question._repr_mimebundle_()
    assert bundle["text/plain"] == "Predict. How many? (0, 1)"
    before, _, folded = bundle["text/html"].partition("<details>")
    assert "How many?" in before
    assert "<li>0</li><li>1</li>" in before
    for given_away in ("2.3 %", "because", "So it is", "<svg>", "1 &lt; 2"):
        assert given_away not in before
        assert given_away in folded
    assert "✗ <strong>0</strong>: because 0" in folded
    assert "✓ <strong>1</strong>: because 1" in folded
    assert html.unescape(folded).count("</details>") == 1


def test_the_first_answer_is_kept_and_comes_back(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    predict = asker("03_softmax", (asked((0, 1), (2, 3), how_sure=True),))
    assert predict("name", np.float64(2.5)).before is None
    model = predict("name", np.float64(2.5)).widget()
    model.chosen = [0, True]
    model.chosen = [1, False]
    assert saved.load_predictions() == {("03_softmax", "name"): saved.Predicted(0, False, True)}
    again = predict("name", 2.5)
    assert again.before == Chosen(0, True)
    assert again.widget().chosen == [0, True]
    assert again.still() == predict("name", 2.5).still()
    with pytest.raises(LookupError, match="lesson 03_softmax has no prediction 'nam'; it has name"):
        predict("nam", 2)


@pytest.mark.parametrize(
    "sent", ["x", [None, None], [0], [0, True, 1], [True, None], ["0", None], [[0], None], [0, "sure"]]
)
def test_what_is_no_choice_is_not_kept(sent):
    kept = []
    question = PredictionShown("03", asked((0, 1), (2, 3)), 0, keep=kept.append)
    model = question.widget()
    with contextlib.suppress(traitlets.TraitError):
        model.chosen = sent
    assert kept == []
    model.chosen = [0, False]
    assert kept == [Chosen(0, False)]


@pytest.mark.parametrize("broken", ["{", "[]", '{"a/b": 3, "c": [1, true], "d/e": ["1", true], "f/g": [1]}'])
def test_broken_files_are_empty(broken, tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    (tmp_path / "predictions.json").write_text(broken)
    (tmp_path / "progress.json").write_text(broken)
    assert saved.load_predictions() == {}
    saved.keep_prediction("a", "z", saved.Predicted(-1, False))
    assert saved.load_predictions() == {("a", "z"): saved.Predicted(-1, False, None)}
