"""A second trained head: it says the next letter of a text, and looks at it where the mask lets it.

Its texts are people with their drinks, one behind the other: "Jon milk Lea tea". `next_letter.json` names the command
that makes its matrices again; it was trained on texts that it could see whole and on texts of which it saw the past.
"""

import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, framed, heading
from sdpa_helpers.head.consequences import SECONDS, percent
from sdpa_helpers.head.model import looks_up
from sdpa_helpers.head.run import tried, trouble_of
from sdpa_helpers.head.stages import Stages

NAME = "next letter"
"""In the walk-through."""
FILE = Path(__file__).with_name("next_letter.json")
LETTERS, TEXTS = 21, 50
"""Of a text; of the thousand questions, twenty a text."""
ALPHABET = " ABCDEFGHIJKLacdeijklmnorstuvwy"
SHOWN, ASKED = "Ben milk Lea tea", 12
"""The text that a card shows, and the place of the space behind "Lea": what comes next?"""
OTHERS = "KimwsodauAnocwat"
"""Letters to put in their places, each another one."""

CELL = "padding:2px 4px;text-align:center;min-width:1.4em"


@dataclass(frozen=True, repr=False)
class LetterRun(Shown):
    """What came of one text, and of a thousand letters."""

    rows: dict[str, tuple[float, ...]]
    """The weights of the letter that asks, by whose they are; none where a function gives none."""
    answer: str
    """The letter; "" where there is none."""
    there: float
    """The share of right letters where the whole text is there; NaN where there is none."""
    writing: float
    """And where the next letter isn't there yet."""
    honest: float
    """With the right mask."""
    trouble: str = ""
    """What came in the place of an answer."""
    peeks: bool = False
    """Whether a letter that comes later changes what the one that asks gets."""
    overlooks: str = ""
    """What it may see and doesn't."""
    as_ours: bool = True
    """Whether it gets the numbers that it gets with our mask and ours for the rest."""

    @property
    def passed(self) -> bool:
        """Whether it neither cheats nor overlooks what it may see, and computes what ours does."""
        seen = not self.peeks and not self.overlooks and self.as_ours
        return seen and self.there == self.writing == self.honest

    def text(self) -> str:
        """Three lines and the weights."""
        rows = {"": SHOWN} | {name: map(_percent, row) for name, row in self.rows.items()}
        table = [f"  {name:<8}" + "".join(f"{cell:>4}" for cell in row) for name, row in rows.items()]
        return "\n".join([self._says, *self._often, *table])

    def html(self) -> str:
        """The same as a card."""
        sign, state = ("✓", "passed") if self.passed else ("✗", "failed")
        if self.trouble:
            sign, state = "○", "not-attempted"
        letters = "".join(f"<th style='{CELL}'>{'␣' if letter == ' ' else letter}</th>" for letter in SHOWN)
        rows = f"<tr><th></th>{letters}</tr>{''.join(_row(*row) for row in self.rows.items())}"
        about = "".join(f"<p class='about'>{html.escape(line)}</p>" for line in self._often)
        table = f"<table>{rows}</table>"
        return styled(framed(heading(sign, self._says) + about + table, state))

    @property
    def _says(self) -> str:
        asks = f"{SHOWN[: ASKED + 1]}…"
        if self.trouble:
            return f"{asks} → no answer yet: {self.trouble}"
        right = SHOWN[ASKED + 1]
        if self.passed:
            return f"{asks} → {self.answer}: an honest guess; it was {right}"
        came = "right, it peeked" if self.peeks else "right"
        came = came if self.answer == right else f"wrong, it was {right}"
        return f"{asks} → {self.answer or 'no letter'}: {came}"

    @property
    def _often(self) -> tuple[str, ...]:
        if self.trouble:
            return ("The head runs as soon as your function returns what it needs.",)
        if np.isnan(self.there):
            return (f"With your function the head doesn't get through 1,000 letters in {SECONDS:g} s.",)
        counted = (
            f"In finished texts it gets {percent(self.there)} of 1,000 letters right. "
            f"When it writes, and the next letter isn't there yet: {percent(self.writing)}."
        )
        if self.peeks:
            return (
                counted,
                "It cheats: change a letter that comes later, and what the one that asks gets changes.",
            )
        if self.passed:
            return counted, "Honest: the same both ways. It can only guess, and that's what it will do."
        ours = f"with our mask it gets {percent(self.honest)}"
        if self.overlooks:
            return counted, f"It doesn't cheat, but {self.overlooks} is hidden: {ours}."
        return (
            counted,
            f"It sees what it may and nothing else, but its numbers aren't ours: {ours}. So it isn't the mask; "
            "look at the scores and at softmax.",
        )


def run_letters(stages: Stages) -> LetterRun:
    """One text shown, and a thousand letters counted; without a mask every letter sees the whole text."""
    q, k, v = project(_numbers(SHOWN))
    rows: dict[str, tuple[float, ...]] = {}
    if stages != Stages():
        rows["our mask"] = tuple(map(float, Stages(mask=causal_mask)(q, k, v, None)[1][ASKED]))
    answer, weights, place = tried(stages, q, k, v)
    trouble = trouble_of(answer, v.shape, place)
    if trouble or answer.array is None:
        return LetterRun(rows, "", float("nan"), float("nan"), _honest(), trouble)
    with kept(0):
        counted = observe_within(lambda: np.array([*shares(stages), *moved(stages)]), (), SECONDS).array
    may, ours = _may_see()
    there, writing = (float("nan"),) * 2 if counted is None else map(float, counted[:2])
    sees = may if counted is None else counted[2:].astype(bool)
    hidden = np.flatnonzero(may & ~sees)
    own = "its own letter" if list(hidden) == [ASKED] else "something of the past"
    same = np.allclose(answer.array[ASKED], ours, rtol=1e-3, atol=1e-6)
    letter = int(said(answer.array)[ASKED])
    if weights.shape == (len(SHOWN),) * 2:
        rows["yours" if rows else "weights"] = tuple(map(float, weights[ASKED]))
    says, peeks = ALPHABET[letter] if letter >= 0 else "", bool((sees & ~may).any())
    overlooks = own if hidden.size else ""
    return LetterRun(rows, says, there, writing, _honest(), "", peeks, overlooks, same)


def draw(rng: np.random.Generator, count: int) -> np.ndarray:
    """Texts as numbers of letters, (count, LETTERS)."""
    head, texts = looks_up(), []
    for _ in range(count):
        people, drinks = rng.permutation(len(head.people)), rng.integers(len(head.drinks), size=5)
        says = [f"{head.people[i]} {head.drinks[j]}" for i, j in zip(people[:5], drinks, strict=True)]
        begin = rng.integers(9)  # somewhere in the first
        texts.append(_numbers(" ".join(says)[begin : begin + LETTERS]))
    return np.array(texts)


def project(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, K (..., n, d_k) and V (..., n, letters of the alphabet) of texts."""
    of = _vectors()
    x = of["letter"][texts] + of["place"][: texts.shape[-1]]
    return x @ of["W_q"], x @ of["W_k"], x @ of["W_v"]


def shares(stages: Stages) -> tuple[float, float]:
    """The shares of right letters where the whole text is there, and where only its beginning is, as in writing."""
    texts = draw(np.random.default_rng(2), TEXTS)
    there = writing = 0
    with np.errstate(all="ignore"):
        for text, q, k, v in zip(texts, *project(texts), strict=True):
            there += sum(said(stages(q, k, v, None)[0])[:-1] == text[1:])
            for n in range(1, LETTERS):
                writing += said(stages(q[:n], k[:n], v[:n], None)[0])[-1] == text[n]
    asked = TEXTS * (LETTERS - 1)
    return float(there / asked), float(writing / asked)


def moved(stages: Stages) -> np.ndarray:
    """For each letter of the text that is shown: whether ASKED gets something else where that is what it looks for.

    Its key is so much like the query that whoever may see it sees nothing else, with any scale.
    """
    (q, k, v), (_, _, votes) = project(_numbers(SHOWN)), project(_numbers(OTHERS))
    found = []
    with np.errstate(all="ignore"):
        before = stages(q, k, v, None)[0][ASKED]
        for j in range(len(SHOWN)):
            keys, values = k.copy(), v.copy()
            keys[j], values[j] = q[ASKED] * 200 / (q[ASKED] @ q[ASKED]), votes[j]
            after = stages(q, keys, values, None)[0][ASKED]
            found.append(not np.allclose(before, after, rtol=1e-9, atol=1e-9, equal_nan=True))
    return np.array(found)


def said(out: np.ndarray) -> np.ndarray:
    """The letter with the most votes, in each row; −1 where there is none."""
    clear = np.isfinite(out).all(-1) & ((out == out.max(-1, keepdims=True)).sum(-1) == 1)
    return np.where(clear, out.argmax(-1), -1)


def _percent(weight: float) -> str:
    return f"{100 * weight:.0f}" if np.isfinite(weight) else "NaN"


def _row(name: str, weights: tuple[float, ...]) -> str:
    seen = [(w, min(max(w, 0), 1) if np.isfinite(w) else 0) for w in weights]
    shade = "background:rgb(204 121 167 / {:.2f})"
    cells = "".join(f"<td style='{CELL};{shade.format(part)}'>{_percent(w)}</td>" for w, part in seen)
    return f"<tr><th>{name}</th>{cells}</tr>"


def _numbers(text: str) -> np.ndarray:
    return np.array([ALPHABET.index(letter) for letter in text])


@cache
def _may_see() -> tuple[np.ndarray, np.ndarray]:
    """(letters that the one that asks may see, what it gets), with our mask."""
    honest = Stages(mask=causal_mask)
    return moved(honest), honest(*project(_numbers(SHOWN)), None)[0][ASKED]


@cache
def _honest() -> float:
    return shares(Stages(mask=causal_mask))[0]


@cache
def _vectors() -> dict[str, np.ndarray]:
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: np.array(rows, dtype=float) for name, rows in data["vectors"].items()}
