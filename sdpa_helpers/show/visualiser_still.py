"""The still of the walk-through: the same flow, drawn once, for places where scripts do not run.

It has the places and colours of the living picture (`visualiser_flow.js`, `visualiser_values.js`) in a panel that is
1000 pixels wide, so that on Shift + Enter nothing jumps. Like the living picture it shows no number of a later step
than the one that is chosen.
"""

from collections.abc import Callable
from itertools import pairwise
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.sheet import Pen

WIDTH, LEFT, TOP = 1000, 17, 192  # of the panel; where the flow begins in it
HEAD, UNIT_ZONE, CELL = 26, 92, 46
MOST_WITH_MATRIX = 6  # keys; beside the matrix of more the flow has no room
STEPS = ("scores", "scale", "mask", "softmax", "weighted sum")


class Shown(NamedTuple):
    """What there is to draw: a `Walk` at its settings, and the numbers of all steps."""

    tokens: list[str]
    queries: list[str]
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    settings: dict[str, Any]
    seen: np.ndarray
    scores: np.ndarray
    scaled: np.ndarray
    masked: np.ndarray
    weights: np.ndarray
    divisor: str
    told: str
    about: str = ""
    """What a trained head was trained to do."""


def draw(walk: Shown) -> style.Picture:
    """The picture of the query and the step that the settings name."""
    n, step = len(walk.tokens), walk.settings["step"]
    flow = HEAD + max(n * (30 if n > 8 else 37), 185) + UNIT_ZONE
    about = wrap(walk.about, 132)
    pen = Pen(WIDTH, TOP + flow + 8 + (20 * len(about) + 20 if about else 0))
    matrix = CELL * n + 64 if n <= MOST_WITH_MATRIX else 0
    _above(pen, walk)
    place = _places(walk, WIDTH - 2 * LEFT - (matrix + 30 if matrix else 0), flow)
    if step == 5:
        _values(pen, walk, place)
    else:
        _keys(pen, walk, place)
    if step == 4:
        _unit_bar(pen, walk, place, TOP + flow - 38)
    if matrix:
        _matrix(pen, walk, (walk.scores, walk.scaled, walk.masked, *[walk.weights] * 2)[step - 1])
    for number, line in enumerate(about):
        pen.words(LEFT, TOP + flow + 30 + 20 * number, line, **SOFT)
    return style.show(pen.figure, f"{walk.told} {walk.about}".strip())


# Where the formula's symbols stand, how large, and the step and role of each; below the line stands the divisor.
FORMULA = (
    (22, 52, "output", 21, 5, style.OUTPUT), (104, 52, "=", 21, 0, ""), (133, 52, "softmax", 21, 4, style.WEIGHT),
    (227, 55, "(", 32, 0, ""), (246, 34, "Q", 19, 1, style.QUERY), (277, 34, "Kᵀ", 19, 1, style.KEY),
    (258, 68, "", 19, 2, style.SHADE), (316, 52, "+", 20, 0, ""), (340, 52, "M", 20, 3, style.SHADE),
    (370, 55, ")", 32, 0, ""), (391, 52, "V", 21, 5, style.VALUE),
)  # fmt: skip
SOFT: dict[str, Any] = {"color": style.FAINT, "size": 12}


class FlowLayout(NamedTuple):
    """Where the columns of the flow begin, and its rows."""

    width: float
    ask: float
    names: float
    name: float
    key: float
    spark: float
    product: float
    bar: float
    long: float
    top: float
    bottom: float
    high: float

    def row(self, j: int) -> float:
        """The middle of row j."""
        return self.top + (j + 0.5) * self.high


def _places(walk: Shown, width: float, flow: float) -> FlowLayout:
    n, step = len(walk.tokens), walk.settings["step"]
    letters = max(len(token) for token in walk.tokens)
    ask, name = min(112, 0.17 * width), min(max(letters * 7.4 + 6, 54), 92)
    names, spark = ask + 34, min(92, 0.135 * width)
    key = names + name + 4
    product = key + spark + 20
    bar = product + spark + 22
    top, bottom = TOP + HEAD, TOP + flow - (UNIT_ZONE if step == 4 else 0)
    high = (bottom - top) / (n + (step == 5))
    return FlowLayout(width, ask, names, name, key, spark, product, bar, width - bar - 106, top, bottom, high)


def _above(pen: Pen, walk: Shown) -> None:
    """The formula, what this step does, and the queries with the chosen one framed."""
    step, under = walk.settings["step"], {"none": "1", "1/√d": "√d_k", "1/d": "d_k"}[walk.settings["scale"]]
    for x, y, text, size, at, role in FORMULA:
        pen.words(x, y, text or under, size)
        if step == at:
            pen.box(x - 2, y + 8, 4 + 0.58 * size * len(text or "√d"), 3, role)
    pen.line(244, 45, 306, 45, style.INK)
    for number, line in enumerate(wrap(f"{step} of 5, {STEPS[step - 1]}. {walk.told}", 128)[:2]):
        pen.words(LEFT + 16, 109 + 20 * number, line)
    pen.box(LEFT, 88, 4, 54, style.QUERY)
    pen.words(LEFT, 173, "query", color=style.FAINT)
    x = LEFT + 52.0
    for i, name in enumerate(walk.queries):
        text, chosen = _short(name), i == walk.settings["query"]
        wide = 7.4 * len(text) + 22
        if x + wide > WIDTH - LEFT:
            break
        pen.frame(x, 155, wide, 27, style.QUERY if chosen else style.GRID)
        pen.words(x + wide / 2, 173, text, ha="center", fontweight="bold" if chosen else "normal")
        x += wide + 8


def _spark(
    pen: Pen, x: float, middle: float, size: tuple[float, float], values: np.ndarray, fill: str
) -> None:
    """A vector as small bars, upwards and downwards; the values are shares of the largest."""
    wide, slot = size[0], size[0] / len(values)
    gap = min(2.5, 0.22 * slot)
    pen.line(x, middle, x + wide, middle)
    boxes = []
    for c, value in enumerate(np.clip(np.nan_to_num(values), -1, 1)):
        boxes.append((x + c * slot + gap / 2, middle, slot - gap, -value * size[1] / 2))
    pen.boxes(boxes, fill)


def _keys(pen: Pen, walk: Shown, place: FlowLayout) -> None:
    """Steps 1 to 4: the query meets the keys, products, and what has become of their sum."""
    i, step, d = walk.settings["query"], walk.settings["step"], walk.settings["dk"]
    q, keys, tall = walk.Q[i, :d], walk.K[:, :d], min(place.high - 5, 46)
    with np.errstate(all="ignore"):
        products = q * keys
    limit, most = _largest(walk.Q[:, :d], walk.K[:, :d]), _largest(products)
    middle, x = (place.top + place.bottom) / 2, LEFT + place.ask
    score = ("Σ = score qᵢ·kⱼ", f"score ÷ {walk.divisor}", "score + mask", "eˢᶜᵒʳᵉ")[step - 1]
    for at, text in (
        (0, "query qᵢ"),
        (place.key - 14, "× keys kⱼ"),
        (place.product - 14, "= products"),
        (place.bar, score),
    ):
        pen.words(LEFT + at, TOP + 13, text, **SOFT)
    pen.frame(LEFT, middle - tall / 2 - 15, place.ask, tall + 30, style.QUERY)
    pen.words(
        LEFT + place.ask / 2, middle - tall / 2 + 2, _short(walk.queries[i]), ha="center", fontweight="bold"
    )
    _spark(pen, LEFT + 6, middle + 9, (place.ask - 12, tall), q / limit, style.QUERY)
    for j, token in enumerate(walk.tokens):
        y = place.row(j)
        pen.curve(x, middle, LEFT + place.names - 5, y, style.QUERY)
        pen.words(LEFT + place.names, y + 4.5, _short(token))
        _spark(pen, LEFT + place.key, y, (place.spark, tall), keys[j] / limit, style.KEY)
        _spark(pen, LEFT + place.product, y, (place.spark, tall), products[j] / most, style.SHADE)
        _score(pen, walk, place, j)


def _score(pen: Pen, walk: Shown, place: FlowLayout, j: int) -> None:
    """The bar of one row at the chosen step, and its number."""
    i, step = walk.settings["query"], walk.settings["step"]
    x, y, thick = LEFT + place.bar, place.row(j), min(0.42 * place.high, 20)
    value = (walk.scores, walk.scaled, walk.masked, walk.masked)[step - 1][i, j]
    zero, unit = x + place.long / 2, place.long / 2 / _largest(walk.scores[i], walk.scaled[i])
    said, at = two_digits(value), LEFT + place.width - 98
    if step == 4:
        powers, shift = exponentials(walk.masked[i])
        exponent = two_digits(value - shift)
        pen.words(at, y + 4.5, "e")
        pen.words(at + 8, y, exponent, 12)
        zero, unit, value, at = x, place.long / _largest(powers), powers[j], at + 12 + 7 * len(exponent)
        said = f"= {two_digits(value)}"
    elif step == 3 and np.isneginf(value):
        pen.hatch(x, y - thick / 2, place.long, thick)
    if step == 2:
        before = float(np.nan_to_num(walk.scores[i, j])) * unit
        pen.outline(zero, y - thick / 2, before, thick)
    long = value * unit if np.isfinite(value) else 0.0
    pen.box(zero, y - thick / 2, long, thick, style.SHADE)
    pen.line(zero, y - thick / 2 - 4, zero, y + thick / 2 + 4, style.FAINT)
    pen.words(at, y + 4.5, said)


def exponentials(row: np.ndarray) -> tuple[np.ndarray, float]:
    """eˣ of each score, and what was subtracted from all because one would be too large (as in the living picture)."""
    highest = float(row.max())
    shift = highest if 700 < highest < np.inf else 0.0
    with np.errstate(all="ignore"):
        return np.exp(row - shift), shift


def _unit_bar(pen: Pen, walk: Shown, place: FlowLayout, y: float) -> None:
    """The weights end to end: one bar of length 1."""
    weights = walk.weights[walk.settings["query"]]
    wide = place.width - 2
    pen.outline(LEFT + 1, y, wide, 22)
    ends = LEFT + 1 + wide * np.concatenate([[0.0], np.cumsum(np.nan_to_num(weights))])
    for token, weight, (start, end) in zip(walk.tokens, weights, pairwise(ends), strict=True):
        pen.box(start + 0.75, y, max(end - start - 1.5, 0), 22, style.WEIGHT)
        if end - start > 30:
            pen.words((start + end) / 2, y - 20, _short(token, int((end - start) / 7)), 12, ha="center")
            pen.words((start + end) / 2, y - 6, two_digits(weight), 12, ha="center", fontweight="bold")
    for x, text, align in (
        (0, "0", "left"),
        (wide / 2, "weights: one bar of length 1", "center"),
        (wide, "1", "right"),
    ):
        pen.words(LEFT + 1 + x, y + 36, text, **SOFT, ha=align)


def _values(pen: Pen, walk: Shown, place: FlowLayout) -> None:
    """Step 5: weight × value for every key, and tip to tip in the plane where that can be drawn."""
    i, shown = walk.settings["query"], min(walk.V.shape[1], 4 if walk.about else 3)
    weights, value, digits = walk.weights[i], place.name + 78, 45
    with np.errstate(all="ignore"):
        parts = weights[:, None] * walk.V
        output = parts.sum(0)
    part = value + shown * digits + 22
    end = part + shown * digits
    for x, text in ((place.name + 2, "weight"), (value + 6, "× value vⱼ"), (part + 6, "= part")):
        pen.words(LEFT + x, TOP + 13, text, **SOFT)
    for j, token in enumerate(walk.tokens):
        y = place.row(j) + 4.5
        pen.words(LEFT, y, _short(token))
        pen.words(LEFT + place.name + 2, y, two_digits(weights[j]), fontweight="bold")
        pen.box(LEFT + place.name + 2, y + 4, 64 * float(np.nan_to_num(weights[j])), 5, style.WEIGHT)
        for x, numbers in ((value, walk.V[j]), (part, parts[j])):
            _row(pen, LEFT + x, y, numbers[:shown])
    y = place.row(len(weights)) + 4.5
    pen.line(LEFT, y - place.high / 2 - 2, LEFT + end, y - place.high / 2 - 2, style.FAINT)
    pen.words(LEFT, y, "output", fontweight="bold")
    _row(pen, LEFT + part, y, output[:shown], fontweight="bold")
    pen.box(LEFT + part + 6, y + 5, shown * digits - 8, 3, style.OUTPUT)
    if walk.V.shape[1] in (2, 3) and np.isfinite(parts).all():
        _tip_to_tip(pen, walk, parts, (LEFT + end + 24, place.width - end - 24, place.bottom - TOP))


def _row(pen: Pen, x: float, y: float, numbers: np.ndarray, **look: Any) -> None:
    for c, value in enumerate(numbers):
        pen.words(x + 45 * (c + 1) - 2, y, two_digits(value), 12.5, ha="right", **look)


def _tip_to_tip(pen: Pen, walk: Shown, parts: np.ndarray, box: tuple[float, float, float]) -> None:
    """Above the values and their shares, below the shares tip to tip."""
    (left, wide, high), axes = box, plane_of(walk.V)
    values, flat = walk.V @ axes.T, parts @ axes.T
    chain = np.vstack([np.zeros(2), np.cumsum(flat, axis=0)])
    upper, lower = 0.42 * high, 0.58 * high
    pen.words(left, TOP + 13, "values vⱼ, shrunk by their weights", **SOFT)
    pen.words(left, TOP + upper + 13, "laid tip to tip: the output", **SOFT)
    fan = _fit(np.vstack([np.zeros(2), values]), (left, TOP, wide, upper))
    for value, share, token in zip(values, flat, walk.tokens, strict=True):
        pen.arrow(fan(np.zeros(2)), fan(value), style.VALUE, 1.6, 0.4)
        pen.arrow(fan(np.zeros(2)), fan(share), style.VALUE, 3)
        if np.hypot(*(fan(value) - fan(np.zeros(2)))) > 30:
            x, y = fan(1.12 * value)
            pen.words(x, y + 4, _short(token), 12, ha="center")
    page = _fit(chain, (left, TOP + upper, wide, lower))
    pen.arrow(page(chain[0]), page(chain[-1]), style.OUTPUT, 5)
    for start, tip in pairwise(chain):
        pen.arrow(page(start), page(tip), style.VALUE, 3.4)
    x, y = page(chain[-1] / 2)
    pen.words(x, y + 18, "output", 12, ha="center", fontweight="bold")


def plane_of(V: np.ndarray) -> np.ndarray:
    """The plane of the living picture (`planeOf`): two rows of length 1."""
    if V.shape[1] == 2:
        return np.eye(2)
    axes = np.linalg.svd(V, full_matrices=True)[2][:2]
    return axes * np.where(axes @ (1 + 0.37 * np.arange(V.shape[1])) < 0, -1, 1)[:, None]


def _fit(points: np.ndarray, box: tuple[float, float, float, float]) -> Callable[[np.ndarray], np.ndarray]:
    """From the plane to the page, as `fit` of the living picture."""
    x, y, w, h = box
    low, high = points.min(0), points.max(0)
    span = np.where(high - low > 0, high - low, 1)
    unit, middle = min((w - 70) / span[0], (h - 48) / span[1], 400), (low + high) / 2
    return lambda point: np.array([x + w / 2, y + 10 + h / 2]) + unit * (point - middle) * (1, -1)


def _matrix(pen: Pen, walk: Shown, values: np.ndarray) -> None:
    """All queries and keys after the chosen step."""
    n, step = len(walk.tokens), walk.settings["step"]
    x, high = WIDTH - LEFT - CELL * n, min(max(240 / len(walk.queries), 26), 44) + 2
    name = ("scores QKᵀ", f"scores ÷ {walk.divisor}", "scores + mask", "weights", "weights")[step - 1]
    pen.words(x - 60, 173, "all queries: ", color=style.FAINT)
    pen.words(x + 20, 173, name, fontweight="bold")
    most, top = _largest(walk.scores, walk.scaled), TOP + 24
    for j, token in enumerate(walk.tokens):
        for line, word in enumerate(reversed(token.split(" ", 1))):  # "Gus water" stands in two lines
            pen.words(x + (j + 0.5) * CELL, TOP + 14 - 15 * line, _short(word, 6), ha="center")
    for i, query in enumerate(walk.queries):
        y = top + i * high
        chosen = i == walk.settings["query"]
        pen.words(
            x - 8, y + high / 2 + 4, _short(query, 8), ha="right", fontweight="bold" if chosen else "normal"
        )
        for j in range(n):
            value, left = values[i, j], x + j * CELL
            share = float(np.nan_to_num(value, posinf=0, neginf=0))
            pen.box(left + 1, y + 1, CELL - 2, high - 2, style.GRID, 0.4)
            if step >= 4:
                pen.box(left + 1, y + 1, CELL - 2, high - 2, style.WEIGHT, 0.62 * share)
            elif walk.seen[i, j] or step < 3:
                pen.box(left + CELL / 2, y + high - 6, share / most * (CELL - 2) / 2, 5, style.SHADE)
            if step >= 3 and not walk.seen[i, j]:
                pen.hatch(left + 1, y + 1, CELL - 2, high - 2)
            pen.words(left + CELL / 2, y + high / 2 + 4, two_digits(value), 12.5, ha="center")
        if chosen:
            pen.frame(x - 62, y, CELL * n + 63, high, style.QUERY)


def _largest(*arrays: np.ndarray) -> float:
    """The largest finite size among them, or 1."""
    sizes = np.abs(np.concatenate([array.ravel() for array in arrays]))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0)) or 1.0


def two_digits(x: float) -> str:
    """A number as the living picture writes it."""
    return "NaN" if np.isnan(x) else style.write(x, 2)


def _short(name: str, room: int = 12) -> str:
    return name if len(name) <= room else name[: max(room - 1, 1)] + "…"
