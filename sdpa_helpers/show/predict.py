"""Predict, then see: a question with a few answers, and what was measured only after the reader has chosen.

    predict = Prediction(
        "two_times_three",
        "What is 2 · 3?",
        (Option("5", "That is the sum, 2 + 3."), Option("6", "Three times two.")),
    )
    PredictionShown("00_start_here", predict, 2 * 3, figure)

As the result of a cell, `PredictionShown` shows question and answers as buttons (`predict.js`). The choice is put
beside the measurement, and what belongs to it (`shown`: figures, tables) appears then, not before. A stored output,
and a page without a kernel, has the question, the answers, and the rest folded: nothing is lost, nothing given away.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpa_helpers.show.panels import module, place_for
from sdpa_helpers.show.symbols import raised, with_symbols

if TYPE_CHECKING:
    from sdpa_helpers.show.panels_model import QuestionModel

SCRIPT = Path(__file__).with_suffix(".js")

Range = tuple[float, float]


@dataclass(frozen=True)
class Option:
    """One of the answers to choose from."""

    text: str
    """What its button says."""
    because: str
    """One sentence: why this wrong answer is tempting, or why it is right."""
    right: str | float | Range | None = None
    """The measured value for which it is right, or the range (ends included); None: the value that `text` says."""

    def holds_for(self, measured: str | float) -> bool:
        """Whether this is what was measured. Exactly: nothing is called right because it is near."""
        right = self.text if self.right is None else self.right
        if isinstance(right, tuple):
            return not isinstance(measured, str) and right[0] <= measured <= right[1]
        if isinstance(right, str) and not isinstance(measured, str):
            try:
                return float(right.replace("−", "-")) == float(measured)
            except ValueError:
                return False
        return right == measured


@dataclass(frozen=True)
class Prediction:
    """A question, before anything is measured. Texts may have *emphasis*, `code`, d_{k} and x^{2}."""

    name: str
    """Its own in the lesson, e.g. "one_score_rises": choices are kept under it."""
    question: str
    """What is asked, in one or two sentences."""
    options: tuple[Option, ...]
    """Two to four; the keys 1 to 4 choose them."""
    after: str = ""
    """What there is to say once the reader has chosen: it stands between the answer and the figure."""
    measured: str = "{}"
    """How the measured value is written, e.g. "{:.1f} %"."""
    how_sure: bool = False
    """Ask also whether the reader is sure: where a wrong answer is held with confidence."""
    on_paper: bool = False
    """Whether it can be asked without the text around it."""

    def __post_init__(self) -> None:
        texts = [option.text for option in self.options]
        if not 2 <= len(texts) <= 4 or len(set(texts)) != len(texts):
            raise ValueError(f"{self.name} needs two to four answers that differ; it has {texts}")
        if silent := [option.text for option in self.options if not option.because.strip()]:
            raise ValueError(f"{self.name}: say of {silent} why it is tempting, or why it is right")

    def right_for(self, measured: str | float) -> int | None:
        """Which option says what was measured, from 0; None when none does.

        Raises:
            ValueError: two options say it.
        """
        holding = [n for n, option in enumerate(self.options) if option.holds_for(measured)]
        if len(holding) > 1:
            both = " and ".join(repr(self.options[n].text) for n in holding)
            raise ValueError(
                f"{self.name}: {both} are both right for {measured!r}; make their ranges disjoint"
            )
        return holding[0] if holding else None


@dataclass(frozen=True)
class Chosen:
    """What a reader has chosen."""

    option: int
    """From 0; −1: they asked to be shown."""
    sure: bool | None = None
    """Where that was asked."""


@dataclass
class PredictionShown:
    """A prediction with what was measured, as the result of a cell."""

    lesson: str
    prediction: Prediction
    measured: str | float
    shown: Sequence[Any] = ()
    """What appears after the choice: figures, anything with HTML, or text."""
    keep: Callable[[Chosen], None] = field(default=lambda _: None, repr=False)
    """Is told the reader's choice."""
    before: Chosen | None = None
    """What the reader chose some other day."""
    title: str = "Predict"
    """What stands above it."""
    waits_for: str = ""
    """The key of the question that has to be answered before this one is seen."""
    found: str = "Measured"
    """The word before what came out."""

    def given(self) -> dict[str, Any]:
        """What the module needs to begin. The key is the same for the same question: stored outputs stay the same."""
        return self._given

    @cached_property
    def _given(self) -> dict[str, Any]:
        # Once: figures take their time, and a picture drawn a second time may differ in a byte, and so in the key.
        asked = self.prediction
        data = {
            "body": "predict",
            "title": self.title,
            "question": rich(asked.question),
            "options": [{"text": rich(o.text), "because": rich(o.because)} for o in asked.options],
            "right": asked.right_for(self.measured),
            "measured": rich(self._written()),
            "after": rich(asked.after),
            "howSure": asked.how_sure,
            "shown": "".join(map(_html_of, self.shown)),
        }
        # Only what differs from a prediction: the keys of stored outputs stay as they are.
        if self.waits_for:
            data["waitsFor"] = self.waits_for
        if self.found != "Measured":
            data["found"] = self.found
        whole = json.dumps([self.lesson, asked.name, data])
        return data | {"key": f"{asked.name}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"}

    def widget(self) -> "QuestionModel":
        """The living panel as an anywidget: for JupyterLab it is made by itself when the question is shown."""
        # Imported when the first question is asked: anywidget takes its time.
        from sdpa_helpers.show.panels_model import QuestionModel

        before = [self.before.option, self.before.sure] if self.before else []
        return QuestionModel(module(SCRIPT), self.given(), before, lambda o, sure: self.keep(Chosen(o, sure)))

    def still(self) -> str:
        """The question and its answers; what was measured is folded."""
        given = self.given()
        answers = "".join(f"<li>{option['text']}</li>" for option in given["options"])
        return (
            f'<div style="max-width:46rem"><p><strong>{self.title}.</strong> {given["question"]}</p>'
            f"<ol>{answers}</ol></div>"
            f"<details><summary>Show the answer</summary>{self._answer(given)}{given['shown']}</details>"
        )

    def _answer(self, given: dict[str, Any]) -> str:
        said = [f"<p>{self.found}: <strong>{given['measured']}</strong>.</p><ul>"]
        for number, option in enumerate(given["options"]):
            sign = "✓" if number == given["right"] else "✗"
            said.append(f"<li>{sign} <strong>{option['text']}</strong>: {option['because']}</li>")
        return "".join([*said, "</ul>", f"<p>{given['after']}</p>" if given["after"] else ""])

    def _written(self) -> str:
        written = self.prediction.measured.format(self.measured)
        return written if isinstance(self.measured, str) else _in_powers(written).replace("-", "−")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        self.widget()
        return {"text/plain": repr(self), "text/html": place_for(self.given()["key"], self.still())}

    def __repr__(self) -> str:
        answers = ", ".join(option.text for option in self.prediction.options)
        return plain(f"{self.title}. {self.prediction.question} ({answers})")


@dataclass(frozen=True)
class Series:
    """Questions as the result of one cell: each is seen when the one before it is answered."""

    questions: tuple[PredictionShown, ...]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundles = [question._repr_mimebundle_() for question in self.questions]
        return {
            "text/plain": repr(self),
            "text/html": "\n".join(bundle["text/html"] for bundle in bundles),
        }

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.questions))


def _html_of(thing: Any) -> str:
    if isinstance(thing, str):
        return f"<pre>{html.escape(thing)}</pre>"
    if hasattr(thing, "_repr_html_"):
        return thing._repr_html_()
    return thing._repr_mimebundle_()["text/html"]


_MARKS = (
    (r"`([^`]+)`", r"<code>\1</code>"),
    (r"\*\*([^*]+)\*\*", r"<strong>\1</strong>"),
    (r"\*([^*]+)\*", r"<em>\1</em>"),
    (r"_\{([^}]+)\}", r"<sub>\1</sub>"),
    (r"\^\{([^}]+)\}", r"<sup>\1</sup>"),
)


def rich(text: str) -> str:
    """HTML of a text with *emphasis*, `code`, d_{k} and x^{2}; an empty line begins a new paragraph."""
    paragraphs = [html.escape(" ".join(part.split()), quote=False) for part in text.strip().split("\n\n")]
    text = "</p><p>".join(paragraphs)
    for mark, tag in _MARKS:
        text = re.sub(mark, tag, text)
    return text


def plain(text: str) -> str:
    """The same text without marks: 10^{9} is 10⁹, d_{model} is d_model."""
    text = re.sub(r"\^\{([^}]+)\}", lambda found: raised(found[1]), " ".join(text.split()))
    text = with_symbols(re.sub(r"_\{([^}]+)\}", r"_\1", text))
    for mark, _ in _MARKS:
        text = re.sub(mark, r"\1", text)
    return text


def _in_powers(written: str) -> str:
    """A number such as 3e-08 as the options write it: 3 · 10^{-8}, and 1e-05 as 10^{-5}."""
    powers = re.sub(r"(?<=\d)e([+-]\d+)", lambda found: f" · 10^{{{int(found[1])}}}", written)
    return re.sub(r"(?<![\d.])1 · 10\^", "10^", powers)
