"""Lesson 04's widget: one row's gradient on its way back through softmax, and what the diagonal alone makes of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from numpy.typing import ArrayLike

from sdpa_helpers.attention import softmax
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import SHADE, SKY, Picture
from sdpa_helpers.show.figures import WEIGHT as WEIGHT_COLOUR
from sdpa_helpers.show.panels import DRAWN_WIDTH, Drawing, Panel, State, choice, slider
from sdpa_helpers.show.svg import Canvas

STEEPEST = 0.25  # no slope of softmax is larger: s(1 − s) at s = ½
FACTORS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MOST_KEYS = 5

TOP, ROW, CELL = 80, 34, 62
SCORE, WEIGHT, BAR, MATRIX = (
    108,
    166,
    172,
    226,
)  # where the parts of the upper half end or begin, from left to right
LOWER, COLUMN = 92, 152  # the lower half: from the sums above to its first row, and from column to column


class WayBack(NamedTuple):
    """Softmax of one row, and a gradient that comes back through it. `right` and `diagonal` are at the scores."""

    weights: Float[Array, "n"]
    jacobian: Float[Array, "n n"]
    upstream: Float[Array, "n"]
    right: Float[Array, "n"]
    diagonal: Float[Array, "n"]

    @property
    def off_by(self) -> float:
        """Length of the diagonal's mistake, in lengths of the right answer; infinite where that is zero."""
        length, mistake = (float(np.linalg.norm(x)) for x in (self.right, self.right - self.diagonal))
        return mistake / length if length > 1e-15 * np.abs(self.upstream).max(initial=1.0) else np.inf


def way_back(scores: ArrayLike, upstream: ArrayLike) -> WayBack:
    """dS = A ∘ (dA − rowsum(A ∘ dA)), and A(1 − A) ∘ dA, which is what remains if only the diagonal is kept.

    Both in a form that stays exact where a weight rounds to 1: 1 − Aᵢ is the sum of the others, and
    dAᵢ − Σ Aⱼ dAⱼ is Σ Aⱼ (dAᵢ − dAⱼ).
    """
    weights, arrived = softmax(np.asarray(scores, dtype=float)), np.asarray(upstream, dtype=float)
    pairs = np.outer(weights, weights)
    own = np.eye(len(weights), dtype=bool)
    slopes = np.where(own, 0.0, pairs).sum(axis=0)
    jacobian = np.where(own, slopes, -pairs)
    right = (pairs * (arrived[:, None] - arrived)).sum(axis=-1)
    return WayBack(weights, jacobian, arrived, right, slopes * arrived)


def starting_scores(own: Float[Array, "n"]) -> dict[str, Float[Array, "n"]]:
    """The rows to begin with, by name."""
    n = len(own)
    tied = np.where(np.arange(n) < n - 2, 0.0, 8.0)
    ahead = np.where(np.arange(n) < n - 1, 0.0, 20.0)
    return {
        "this query": own,
        "all equal": np.zeros(n),
        "two tied": tied,
        "saturated": ahead,
    }


def starting_gradients(own: Float[Array, "n"], words: Sequence[str]) -> dict[str, Float[Array, "n"]]:
    """What may arrive at the weights, by name."""
    n = len(own)
    return {
        "this query's": own,
        "7 for all": np.full(n, 7.0),
        f"1 for “{words[-1]}”": np.eye(n)[-1],
        "+1 and −1": np.where(np.arange(n) % 2, -1.0, 1.0),
    }


def short(number: float) -> str:
    """A number in at most six characters: 0.243, −12.5, 4e−7; "0" only for a true zero."""
    size = abs(number)
    if size == 0 or not np.isfinite(number):
        return style.write(float(number), 0)
    if size < 5e-4:
        return f"{number:.0e}".replace("e-0", "e-").replace("-", "−")
    return style.write(number, 3 if size < 9.9995 else 1 if size < 999 else 0)


def total(numbers: Float[Array, "n"]) -> str:
    """A sum, without its rounding error."""
    rounding = 1e-14 * float(np.abs(numbers).max(initial=0))
    added = float(numbers.sum())
    return short(added) if abs(added) > max(rounding, 1e-300) else "0"


def sentence(found: WayBack) -> str:
    """What the picture shows."""
    steepest, off = float(np.abs(found.jacobian).max()), found.off_by
    if np.isfinite(off):
        verdict = f"The diagonal alone is off by {100 * off:,.0f}% of the right answer's length."
    elif total(np.abs(found.diagonal)) == "0":
        verdict = "Both answers are zero."
    else:
        verdict = "The right answer is zero; the diagonal's is not."
    return (
        f"Largest slope {short(steepest)} of at most 0.25. dS adds up to {total(found.right)}, "
        f"the diagonal's answer to {total(found.diagonal)}. {verdict}"
    )


def _draw(
    words: Sequence[str], scores: Float[Array, "n"], factor: float, upstream: Float[Array, "n"]
) -> Drawing:
    scaled = scores * factor
    found = way_back(scaled, upstream)
    sums = TOP + ROW * len(words) + 25
    top = sums + LOWER
    bottom = top + ROW * len(words)
    canvas = Canvas(DRAWN_WIDTH, bottom + 60)
    _row(canvas, words, scaled, factor, found.weights)
    _heat_map(canvas, words, found.jacobian)
    canvas.text((0, sums), "sum")
    canvas.line((0, sums + 20), (DRAWN_WIDTH, sums + 20), opacity=0.35)
    reach = float(np.abs(upstream).max(initial=0)) or 1.0
    parts = (  # no entry of dS is larger than half of the largest dA
        ("dA", "arrives at A", "dA", found.upstream, reach),
        ("diagonal: wrong", "A(1 − A) ∘ dA", "diagonal", found.diagonal, reach / 2),
        ("dS", "A ∘ (dA − average)", "dS", found.right, reach / 2),
    )
    for i, (title, formula, name, numbers, limit) in enumerate(parts):
        left = 76 + COLUMN * i
        canvas.text((left, top - 28), title, bold=True)
        canvas.text((left, top - 10), formula, size=13)
        _bars(canvas, left, top, name, numbers, limit, wrong=name == "diagonal")
    for i, word in enumerate(words):
        canvas.text((0, top + ROW * i + 22), word, bold=True)
    canvas.line((0, bottom + 4), (DRAWN_WIDTH, bottom + 4), opacity=0.5)
    canvas.text((0, bottom + 25), "sum")
    ends = f"bars end at ±{short(reach)} for dA, at ±{short(reach / 2)} for the two others"
    canvas.text((DRAWN_WIDTH, bottom + 51), ends, anchor="end", size=12)
    return canvas.finish("A gradient on its way back through softmax", sentence(found))


def _row(
    canvas: Canvas, words: Sequence[str], scores: Float[Array, "n"], factor: float, weights: Float[Array, "n"]
) -> None:
    canvas.text((SCORE, TOP - 28), "score", anchor="end", bold=True)
    canvas.text((SCORE, TOP - 10), f"× {factor:g}", anchor="end", size=13)
    canvas.text((WEIGHT, TOP - 28), "A", anchor="end", bold=True)
    canvas.text((BAR + 44, TOP - 10), "weight", anchor="end", size=13)
    for i, (word, score, weight) in enumerate(zip(words, scores, weights, strict=True)):
        y = TOP + ROW * i
        canvas.text((0, y + 22), word, bold=True)
        canvas.text((SCORE, y + 22), short(float(score)), anchor="end", size=13, name=f"score-{i}")
        canvas.text((WEIGHT, y + 22), short(float(weight)), anchor="end", size=13, name=f"A-{i}")
        canvas.box((BAR, y + 8), 44 * float(weight), ROW - 16, WEIGHT_COLOUR, outline=weight > 0.02)
    canvas.text((WEIGHT, TOP + ROW * len(words) + 25), total(weights), anchor="end", size=13, name="A-sum")


def _heat_map(canvas: Canvas, words: Sequence[str], jacobian: Float[Array, "n n"]) -> None:
    n = len(words)
    canvas.text((MATRIX, 16), "J = diag(A) − AAᵀ", bold=True)
    canvas.text((MATRIX, 35), "row: the weight that answers", size=13)
    canvas.text((MATRIX, 52), "column: the score that moves", size=13)
    for j, word in enumerate(words):
        middle = MATRIX + CELL * (j + 0.5)
        canvas.text((middle, TOP - 8), word, anchor="middle", size=13)
        canvas.text((middle, TOP + ROW * n + 25), total(jacobian[:, j]), anchor="middle", size=13)
    for (i, j), slope in np.ndenumerate(jacobian):
        corner = (MATRIX + CELL * j, TOP + ROW * i)
        share = min(abs(float(slope)) / STEEPEST, 1.0)
        colour, cover = ("currentColor", style.fullest(style.INK)) if slope > 0 else (SKY, style.fullest(SKY))
        canvas.box(corner, CELL, ROW, colour, outline=False, opacity=cover * share)
        canvas.text(
            (corner[0] + CELL / 2, corner[1] + 22),
            short(float(slope)),
            anchor="middle",
            size=13,
            name=f"J-{i}-{j}",
        )
    for k in range(n + 1):
        canvas.line((MATRIX, TOP + ROW * k), (MATRIX + CELL * n, TOP + ROW * k), opacity=0.25)
        canvas.line((MATRIX + CELL * k, TOP), (MATRIX + CELL * k, TOP + ROW * n), opacity=0.25)


def _bars(
    canvas: Canvas,
    left: float,
    top: float,
    name: str,
    numbers: Float[Array, "n"],
    limit: float,
    *,
    wrong: bool,
) -> None:
    """Numbers, and bars to the right of them; those of the wrong answer are blue."""
    middle, bottom = left + 100, top + ROW * len(numbers)
    for i, number in enumerate(numbers):
        y = top + ROW * i
        canvas.text((left + 50, y + 22), short(float(number)), anchor="end", size=13, name=f"{name}-{i}")
        length = 42 * float(np.clip(number / limit, -1, 1))
        canvas.box(
            (middle, y + 8),
            length,
            ROW - 16,
            SKY if wrong else "currentColor",
            outline=abs(length) > 1,
            opacity=None if wrong else 0.45,
        )
    canvas.line((middle, top), (middle, bottom), opacity=0.6)
    canvas.text(
        (left + 50, bottom + 25), total(numbers), anchor="end", size=13, bold=True, name=f"{name}-sum"
    )
    if name == "dS":
        canvas.text((left + 58, bottom + 25), "always", size=13)


def still_way_back(words: Sequence[str], scores: Float[Array, "n"], upstream: Float[Array, "n"]) -> Picture:
    """The Jacobian, and both answers."""
    found = way_back(scores, upstream)
    fig, (grid, ax) = style.panels(
        ["J = diag(A) − AAᵀ", "At the scores"], size=(9.6, 3.7), width_ratios=[5, 5]
    )
    style.heat_map(grid, found.jacobian, words, words, digits=3)
    grid.set_xlabel("score that moves", color=style.INK)
    grid.set_ylabel("weight that answers", color=style.INK)
    answers = {"diagonal only, wrong": found.diagonal, "dS": found.right}
    style.bars(ax, words, answers, colours=[SKY, SHADE])
    ax.set_xlabel("key", color=style.INK)
    ax.set_ylabel("gradient of the score", color=style.INK)
    rows = "; ".join(
        f"{word}: dA {short(g)}, diagonal only {short(w)}, dS {short(r)}"
        for word, g, w, r in zip(
            words,
            *(x.tolist() for x in found[2:3]),
            found.diagonal.tolist(),
            found.right.tolist(),
            strict=True,
        )
    )
    return style.show(
        fig, f"A heat map of softmax's Jacobian, and bars of two gradients. {sentence(found)} {rows}."
    )


def explore_way_back(words: Sequence[str], scores: ArrayLike, upstream: ArrayLike) -> Panel:
    """Move the scores of a row and the gradient that arrives at its weights: what arrives at the scores?

    Args:
        words: names of the keys, up to 5.
        scores: (n,), scaled scores to begin with.
        upstream: (n,), dA to begin with.

    Raises:
        ValueError: sizes that do not fit, or more keys than the picture has room for.
    """
    own, arrived = np.asarray(scores, dtype=float), np.asarray(upstream, dtype=float)
    if not own.shape == arrived.shape == (len(words),) or not 2 <= len(words) <= MOST_KEYS:
        raise ValueError(
            f"{len(words)} words, scores {own.shape}, upstream {arrived.shape}: "
            f"give one number of each for 2 to {MOST_KEYS} words"
        )
    rows, gradients = starting_scores(own), starting_gradients(arrived, words)

    def draw(state: State) -> Drawing:
        added = np.array([state[f"add_{i}"] for i in range(len(words))])
        return _draw(words, rows[state["row"]] + added, state["factor"], gradients[state["arrives"]])

    half_steps = [i / 2 for i in range(-20, 21)]
    signed = "{:+g}".format
    return Panel(
        "gradients",
        "What arrives at the scores?",
        [
            choice("row", "scores", list(rows), "this query"),
            slider("factor", "all scores times", FACTORS, 1.0, "{:g}".format),
            choice("arrives", "dA", list(gradients), "this query's"),
            *(
                slider(f"add_{i}", f"add to “{word}”", half_steps, 0.0, signed)
                for i, word in enumerate(words)
            ),
        ],
        draw,
        lambda: still_way_back(words, own, arrived),
    )
