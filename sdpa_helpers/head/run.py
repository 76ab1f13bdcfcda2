"""A learner's function at work in the trained head: what it answers, how often it is right, its weights beside ours."""

import html
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.answers.taken_away import innermost
from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.answers.where import place_of
from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, framed, heading
from sdpa_helpers.head.consequences import SECONDS, percent, seen_in
from sdpa_helpers.head.model import Lists, looks_up
from sdpa_helpers.head.stages import NotFitting, NotWritten, Stages, reference
from sdpa_helpers.head.worlds import LISTS, answered

RUNS = "looks up"
"""The head's name in the walk-through."""
SHOWN = Lists(np.array([[6, 3, 11, 5, 9]]), np.array([[3, 2, 0, 1, 1]]), np.array([2]))
"""The list of the walk-through: Gus water, Dee juice, Lea tea, Fay milk, Jon milk. Lea?"""


@dataclass(frozen=True, repr=False)
class HeadRun(Shown):
    """What came of one list, and of a thousand."""

    words: tuple[str, ...]
    ours: tuple[float, ...]
    """The weights of the word that asks."""
    yours: tuple[float, ...]
    """() where the function gives none that could be shown."""
    answer: str
    """The drink; "" where there is none."""
    right: str
    share: float
    """Of a thousand lists; NaN where the function did not get through them."""
    trouble: str = ""
    """What came in the place of an answer."""

    @property
    def passed(self) -> bool:
        """Whether every one of the thousand lists was answered rightly, and the weights are weights."""
        return self.share == 1 and self._adds_up

    @property
    def _adds_up(self) -> bool:
        return not self.yours or bool(np.isclose(sum(self.yours), 1, rtol=1e-2))

    def text(self) -> str:
        """Two lines and the weights."""
        rows = [
            f"  {word:<11} ours {ours:.2f}{f'   yours {self.yours[i]:.2f}' if self.yours else ''}"
            for i, (word, ours) in enumerate(zip(self.words, self.ours, strict=True))
        ]
        return "\n".join([self._says, self._often, *rows])

    def html(self) -> str:
        """The same as a card."""
        sign, state = ("✓", "passed") if self.passed and self.answer == self.right else ("✗", "failed")
        if self.trouble:
            sign, state = "○", "not-attempted"
        heads = f"<tr><th></th><th>our weights</th>{'<th>yours</th>' if self.yours else ''}</tr>"
        rows = "".join(
            f"<tr><td>{html.escape(word)}</td>{_bar(self.ours[i])}{_bar(self.yours[i]) if self.yours else ''}</tr>"
            for i, word in enumerate(self.words)
        )
        about = f"<p class='about'>{html.escape(self._often)}</p>"
        table = f"<table class='weights'>{heads}{rows}</table>"
        return styled(framed(heading(sign, self._says) + about + table, state))

    @property
    def _says(self) -> str:
        if self.trouble:
            return f"{self.words[-1]} → no answer yet: {self.trouble}"
        if self.answer != self.right:
            return f"{self.words[-1]} → {self.answer or 'no drink'}: wrong, it is {self.right}"
        how = " this time" if self.share != 1 else "" if self._adds_up else ", but these are no weights"
        return f"{self.words[-1]} → {self.answer}: right{how}"

    @property
    def _often(self) -> str:
        if self.trouble:
            return "The head runs as soon as your function returns numbers."
        if np.isnan(self.share):
            return f"With your function the head doesn't get through {LISTS:,} new lists in {SECONDS:g} s."
        if self.share == 1:
            everybody = f"With your function the head gets all of {LISTS:,} new lists right"
            total = f"{self.words[-1]}'s weights add up to {sum(self.yours):.2f}, and weights add up to 1"
            return f"{everybody}." if self._adds_up else f"{everybody} all the same. But {total}."
        return f"With your function the head gets {percent(self.share)} of {LISTS:,} new lists right."


def run(stages: Stages) -> HeadRun:
    """One list shown, and a thousand new ones counted."""
    head = looks_up()
    q, k, v = (part[0] for part in head.project(SHOWN))
    ours = tuple(reference(q, k, v, None)[1][-1])
    words, right = tuple(SHOWN.words(head, 0)), head.drinks[int(SHOWN.right[0])]
    answer, weights, place = tried(stages, q, k, v)
    trouble = trouble_of(answer, (len(words), v.shape[-1]), place)
    if trouble or answer.array is None:
        return HeadRun(words, ours, (), "", right, float("nan"), trouble)
    drink = int(answered(answer.array, q, v))
    (find,) = seen_in(stages, ("find",))
    row = tuple(weights[-1].astype(float)) if weights.shape == (len(words), len(words)) else ()
    return HeadRun(words, ours, row, head.drinks[drink] if drink >= 0 else "", right, find.share)


class Tried(NamedTuple):
    """What came of one run of the learner's function."""

    answer: Answer
    weights: np.ndarray
    """Those that it mixed with; of shape (0,) where there are none."""
    place: str
    """Where an error was raised, "" without one."""


def tried(stages: Stages, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> Tried:
    """The output for one list, within a time limit; what the function prints is not shown."""
    given, places = [np.empty(0)], [""]

    def once() -> np.ndarray:
        try:
            out, weights = stages(q, k, v, None)
        except Exception as error:
            if _met_a_stub(error):
                raise NotWritten from None
            places.extend(_places(error, stages))
            raise
        given.extend([] if weights is None else [weights])
        return out

    with kept(0):
        answer = observe_within(once, (), SECONDS)
    return Tried(answer, given[-1], places[-1])


def _met_a_stub(error: Exception) -> bool:
    """Whether a function on the way to the error held what an unwritten one returns."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(value is ... or value is NotImplemented for f in frames for value in f.f_locals.values())


def _places(error: Exception, stages: Stages) -> Iterator[str]:
    """The learner's line in which an error was raised, and on what: "line 3: `return q @ k.T`"."""
    for function in stages.own:
        place = place_of(error, innermost(function))
        if place.line:
            number, _, source = place.line.partition(": ")
            yield f"{number}: `{source}`{f'; {place.operands}' if place.operands else ''}"


def trouble_of(answer: Answer, shape: tuple[int, ...], place: str) -> str:
    """Why there is no answer, as part of a sentence; "" where there is one. place: where an error was raised."""
    if answer.kind == "error" and answer.error == NotFitting.__name__:
        return answer.message
    if answer.kind == "error" and answer.error != NotWritten.__name__:
        why = f": {answer.message}" if answer.message else ""
        return f"your function ended with {answer.error}{f' in {place}' if place else why}"
    if answer.kind == "stopped":
        return f"your function was stopped after {SECONDS:g} s"
    if answer.array is None:
        return "your function isn't written yet, or returns nothing"
    if answer.array.shape != shape:
        return f"an output of shape {shape} is needed, but your function returned shape {answer.array.shape}"
    return ""


def _bar(weight: float) -> str:
    shown = f"{weight:.2f}" if np.isfinite(weight) else "NaN" if np.isnan(weight) else "∞"
    width = 100 * min(max(weight, 0), 1) if np.isfinite(weight) else 0
    return f"<td class='bar'><span style='width:{width:.0f}px'></span>{shown}</td>"
