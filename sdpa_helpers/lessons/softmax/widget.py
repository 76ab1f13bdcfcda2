"""Lesson 03's widget: temperature and d_k against the weights of a row, and how sharp they are."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.softmax.experiments import entropy
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import BLUE, GREEN, ORANGE, Picture, write
from sdpa_helpers.show.panels import Drawing, Panel, State, button, slider, switch
from sdpa_helpers.show.svg import Canvas, Scale, plain

MOST_KEYS = 64
_DIGITS = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
TEMPERATURES = [0.0, *(d * p / 100 for p in (1, 10, 100, 1000) for d in _DIGITS), 100.0, np.inf]


class Sharp(NamedTuple):
    """A row of weights, the largest first, and how sharp it is."""

    weights: Float[Array, "n"]
    entropy: float
    effective: float  # e to the entropy
    largest: float


def unit_scores(n: int, draw: int = 0) -> Float[Array, "n"]:
    """Scores of spread 1: standard normal numbers, the same ones for the same draw, the largest first."""
    return np.sort(np.random.default_rng([8, draw]).standard_normal(MOST_KEYS)[:n])[::-1]


def row_scores(n: int, d_k: int, scaled: bool, draw: int = 0) -> Float[Array, "n"]:
    """What a query of length √d_k scores with n random keys: √d_k times as much spread, unless it is divided out."""
    return unit_scores(n, draw) * (1.0 if scaled else np.sqrt(d_k))


def weights_at(scores: Float[Array, "n"], temperature: float) -> Float[Array, "n"]:
    """softmax(scores / T), with its limits: at 0 the largest scores share everything, at ∞ all share alike."""
    if temperature == 0:
        best = scores == scores.max()
        return best / best.sum()
    return softmax((scores - scores.max()) / temperature)


def sharp(weights: Float[Array, "n"]) -> Sharp:
    """Measure a row."""
    nats = float(entropy(weights))
    return Sharp(weights, nats, float(np.exp(nats)), float(weights.max()))


def draw_row(state: State) -> Drawing:
    """The weights as bars, over the outlines of the scaled row at T = 1; largest weight and entropy beside them."""
    n, T, d_k = state["keys"], state["temperature"], state["d_k"]
    scores = row_scores(n, d_k, state["scaled"], state["again"])
    found = sharp(weights_at(scores, T))
    reference = weights_at(unit_scores(n, state["again"]), 1.0)
    canvas = Canvas(780, 350)
    _weights(canvas, found.weights, reference)
    _gauges(canvas, found, n)
    over = f"{_degrees(T)} × √{d_k}" if state["scaled"] else _degrees(T)
    divisor = T * np.sqrt(d_k) if state["scaled"] else T
    canvas.text((520, 44), "softmax(q·k ÷ divisor)", bold=True)
    canvas.text(
        (520, 66), f"divisor = {over} = {plain(divisor)}" if state["scaled"] else f"divisor = T = {plain(T)}"
    )
    return canvas.finish("Weights of one row", sentence(state, found))


def sentence(state: State, found: Sharp) -> str:
    """What the picture shows."""
    n, scaled = state["keys"], "scaled" if state["scaled"] else "not scaled"
    return (
        f"{n} keys, d_k = {state['d_k']}, {scaled}, temperature {_degrees(state['temperature'])}: "
        f"the largest weight is {write(found.largest, 3)}, the entropy {write(found.entropy, 2)} "
        f"of at most {write(np.log(n), 2)} nats, as if {write(found.effective, 1)} of the {n} keys shared everything."
    )


def _degrees(temperature: float) -> str:
    return "∞" if np.isinf(temperature) else f"{temperature:g}"


def _weights(canvas: Canvas, weights: Float[Array, "n"], reference: Float[Array, "n"]) -> None:
    x, y = Scale((0, len(weights)), (48, 488)), Scale((0, 1), (294, 24))
    for tick in (0, 0.25, 0.5, 0.75, 1):
        canvas.line((48, y(tick)), (488, y(tick)), opacity=0.22)
        canvas.text((42, y(tick) + 4), f"{tick:g}", anchor="end", size=12)
    wide = x(1) - x(0)
    for i, (weight, other) in enumerate(zip(weights, reference, strict=True)):
        canvas.box((x(i) + 0.1 * wide, y(0)), 0.8 * wide, y(weight) - y(0), BLUE, outline=len(weights) < 33)
        canvas.line((x(i) + 0.02 * wide, y(other)), (x(i) + 0.98 * wide, y(other)), ORANGE, 3)
    even = y(1 / len(weights))
    canvas.line((48, even), (488, even), dash="5 4")
    canvas.text((488, even - 5), f"1/n = {plain(1 / len(weights))}", anchor="end", size=12)
    canvas.line((48, y(0)), (488, y(0)))
    canvas.text((268, 316), "keys, the best score first", anchor="middle", size=13)
    canvas.text((48, 14), "weight", size=13)
    canvas.line((296, 38), (322, 38), ORANGE, 3)
    canvas.text((328, 42), "the same, scaled, T = 1", size=12)


def _gauges(canvas: Canvas, found: Sharp, n: int) -> None:
    gauges = (
        ("largest weight", "largest", found.largest, 1.0, 3, BLUE, "of 1"),
        (
            "entropy",
            "entropy",
            found.entropy,
            float(np.log(n)),
            2,
            GREEN,
            f"of ln {n} = {write(np.log(n), 2)} nats",
        ),
        ("keys that count, e^entropy", "effective", found.effective, float(n), 1, GREEN, f"of {n}"),
    )
    for row, (label, name, value, most, digits, colour, of) in enumerate(gauges):
        top = 112.0 + 76 * row
        scale = Scale((0, most), (520, 764))
        canvas.text((520, top), label, bold=True)
        canvas.box((520, top + 9), 244, 18, "none")
        canvas.box((520, top + 9), scale(value) - 520, 18, colour)
        canvas.text((520, top + 46), write(value, digits), name=name)
        canvas.text((764, top + 46), of, anchor="end", size=12)


def still_row() -> Picture:
    """Three temperatures of the same scaled row."""
    temperatures = (0.25, 1.0, 4.0)
    fig, axes = style.panels(
        [f"temperature {T:g}" for T in temperatures],
        x="keys, the best score first",
        y="weight",
        size=(9.6, 3.4),
        sharey=True,
    )
    facts = []
    for ax, T in zip(axes, temperatures, strict=True):
        found = sharp(weights_at(unit_scores(16), T))
        ax.bar(range(16), found.weights, color=BLUE)
        ax.axhline(1 / 16, color=style.FAINT, linestyle="--", linewidth=1)
        ax.set(ylim=(0, 1), xticks=[])
        measures = f"largest {write(found.largest, 2)}\nentropy {write(found.entropy, 2)} nats"
        lines = f"{measures}\nlike {write(found.effective, 1)} keys"
        ax.text(15.4, 0.95, lines, ha="right", va="top", color=style.INK)
        facts.append(f"T = {T:g}: largest {write(found.largest, 2)}, entropy {write(found.entropy, 2)} nats")
    return style.show(
        fig,
        f"Weights of one row of 16 keys at three temperatures. {'; '.join(facts)} of at most {write(np.log(16), 2)}.",
    )


def explore_temperature() -> Panel:
    """Move temperature, d_k, the scale and the number of keys: how sharp is the row?"""
    return Panel(
        "softmax",
        "How sharp is a row?",
        [
            slider("temperature", "temperature T", TEMPERATURES, 1.0, _degrees),
            slider("d_k", "d_k", [2**i for i in range(13)], 64, str),
            switch("scaled", "divide by √d_k", start=True),
            slider("keys", "number of keys n", range(2, MOST_KEYS + 1), 16, str),
            button("again", "Other keys"),
        ],
        draw_row,
        still_row,
    )
