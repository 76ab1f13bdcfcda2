"""The front page's moving part: one query asks five drinks, in five steps. Its first picture needs no script.

Drinks, wishes and vectors are lesson 01's. `front.js` moves it; the numbers of the still come from the package, and
a test compares them with what the script writes.
"""

import html
import json

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.show.figures import write

WORDS = ("water", "tea", "soda", "juice", "cocoa")
QUESTIONS = ("hot", "hot and bitter", "fizzy", "sweet")
K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]])
Q = np.array([[1, 0, 0], [1, 0, -1], [0, 1, 0], [0, 0, 1]], dtype=float)
V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)

FIRST = 1
"""The question of the still: its answer is tea, which is what you expect."""

_PARTS = {
    "out": (5, "output", "output"),
    "softmax": (4, "softmax", "softmax"),
    "QK": (1, '<i>Q</i><i class="key">K</i><sup>T</sup>', "Q K transposed, the scores"),
    "scale": (2, "√<span class='root'><i>d</i><sub>k</sub></span>", "divided by the root of d k"),
    "mask": (3, "mask", "plus the mask"),
    "V": (5, "<i>V</i>", "times V, the values"),
}


def as_html() -> str:
    """The whole of it: formula, question, words, output, a sentence, and the buttons that a script shows."""
    weights = softmax(K @ Q[FIRST] / np.sqrt(K.shape[1]))
    output = weights @ V
    data = {"words": WORDS, "questions": QUESTIONS, "Q": Q.tolist(), "K": K.tolist(), "V": V.tolist()}
    given = json.dumps(data | {"first": FIRST}, ensure_ascii=False).replace("<", "\\u003c")
    return _PAGE.format(
        formula=_formula(),
        questions=_questions(),
        fan_out=_fan("from", weights),
        keys="".join(_column(j, word, float(weights[j])) for j, word in enumerate(WORDS)),
        fan_in=_fan("to", weights),
        output=_vector(output, 2),
        sentence=_sentence(weights, output),
        given=given,
    )


_PAGE = """<section class="front-walk" data-step="5" aria-label="Attention in five steps">
{formula}
<div class="asks"><span class="caption">a query asks for something</span>{questions}</div>
{fan_out}<ol class="keys">{keys}</ol>{fan_in}
<div class="answers"><span class="caption">output: the values’ average</span>
<span class="vector out">{output}</span></div>
<p class="tells">{sentence}</p>
<div class="steers" hidden><button type="button" data-do="play"><span aria-hidden="true">❚❚</span> <b>Pause</b></button>
<button type="button" data-do="back" aria-label="One step back">‹</button>
<button type="button" data-do="forward" aria-label="One step on">›</button>
<span class="hint">Press a part of the formula, a question, or a word to hide it.</span></div>
<p class="visually-hidden" role="status"></p>
<script type="application/json">{given}</script></section>"""


def _term(part: str) -> str:
    step, shown, spoken = _PARTS[part]
    told = f'data-part="{part}" data-goes="{step}" aria-label="{spoken}: step {step}"'
    return f'<button type="button" {told}>{shown}</button>'


def _formula() -> str:
    over = f'<span class="over">{_term("QK")}</span><span class="under">{_term("scale")}</span>'
    return (
        '<div class="formula" role="group" aria-label="The formula, in parts that you can press">'
        f'{_term("out")}<span>=</span>{_term("softmax")}<span class="big">(</span><span class="frac">{over}</span>'
        f'<span>+</span>{_term("mask")}<span class="big">)</span>{_term("V")}</div>'
    )


def _questions() -> str:
    options = "".join(
        f'<button type="button" data-query="{i}" aria-pressed="{str(i == FIRST).lower()}">{html.escape(asked)}</button>'
        for i, asked in enumerate(QUESTIONS)
    )
    return f'<div class="queries" role="group" aria-label="The query">{options}</div>'


def _fan(which: str, weights: np.ndarray) -> str:
    """Curves between the middle and the words; a stroke is as wide as its weight."""
    ends = [
        (f"M50 0C50 55 {x} 45 {x} 100" if which == "from" else f"M{x} 0C{x} 55 50 45 50 100")
        for x in range(10, 100, 20)
    ]
    paths = "".join(
        f'<path d="{end}" style="--w:{stroke_width(w):.2f}px" vector-effect="non-scaling-stroke"/>'
        for end, w in zip(ends, weights.tolist(), strict=True)
    )
    return f'<svg class="fan {which}" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{paths}</svg>'


def stroke_width(weight: float) -> float:
    """Pixels for a weight."""
    return 1 + 22 * weight


def _column(j: int, word: str, weight: float) -> str:
    return (
        f'<li data-key="{j}"><button type="button" class="word" aria-pressed="false">{word}</button>'
        f'<span class="bar" aria-hidden="true"><i style="--size:{weight:.3f}"></i></span>'
        f'<output>{write(weight, 2)}</output><span class="vector value">{_vector(V[j], 0)}</span></li>'
    )


def _vector(numbers: np.ndarray, digits: int) -> str:
    return "".join(f"<span>{write(float(x), digits)}</span>" for x in numbers)


def _sentence(weights: np.ndarray, output: np.ndarray) -> str:
    best, mean = int(weights.argmax()), ", ".join(write(float(x), 2) for x in output)
    return (
        f"<b>5 of 5 · output.</b> The values’ average under the weights is ({mean}). “{WORDS[best]}” counts most, "
        f"{write(float(weights[best]), 2)}; every word counts a little."
    )
