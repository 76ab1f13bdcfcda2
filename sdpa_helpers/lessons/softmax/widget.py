"""Lesson 03's widget: temperature and d_k against the weights of a row, and how sharp they are."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.softmax.experiments import entropy
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import WEIGHT, Picture, write
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")

MOST_KEYS, DRAWS = 64, 8
WIDTHS = [2**i for i in range(13)]
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
    return np.sort(normal_numbers(draw)[:n])[::-1]


def normal_numbers(draw: int) -> Float[Array, "n"]:
    """What the scores of a draw are made of: more keys keep the keys that were there."""
    return np.random.default_rng([8, draw]).standard_normal(MOST_KEYS)


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


def sentence(found: Sharp, n: int) -> str:
    """What the panel shows at the start."""
    return (
        f"{n} keys, scaled, temperature 1: the largest weight is {write(found.largest, 3)}, the entropy "
        f"{write(found.entropy, 2)} of at most {write(np.log(n), 2)} nats, "
        f"as if {write(found.effective, 1)} of the {n} keys shared everything."
    )


def _degrees(temperature: float) -> str:
    return "∞" if np.isinf(temperature) else f"{temperature:g}"


def still_row() -> Picture:
    """The bar at three temperatures, for the same scaled row."""
    temperatures = (0.25, 1.0, 4.0)
    fig, ax = style.figure(
        "The weights of 16 keys: a bar of length 1, cut", x="weights, end to end", size=(9.6, 3)
    )
    facts, names = [], []
    for row, T in enumerate(temperatures):
        found = sharp(weights_at(unit_scores(16), T))
        begins = np.cumsum(found.weights) - found.weights
        look = {"facecolor": (WEIGHT, style.fullest(WEIGHT)), "edgecolor": style.INK, "linewidth": 0.7}
        ax.barh(np.full(16, row), found.weights, 0.62, left=begins, **look)
        for begin, weight in zip(begins, found.weights, strict=True):
            if weight > 0.045:
                middle = begin + weight / 2
                ax.text(middle, row, write(weight, 2), ha="center", va="center", color=style.INK)
        names.append(f"T = {T:g}, like {write(found.effective, 1)} keys")
        facts.append(f"T = {T:g}: largest {write(found.largest, 2)}, entropy {write(found.entropy, 2)} nats")
    ax.set_yticks(range(3), names)
    ax.set(xlim=(0, 1), ylim=(2.6, -0.6))
    ax.grid(visible=False, axis="y")
    return style.show(
        fig,
        f"Weights of one row of 16 keys at three temperatures, each row a bar of length 1 that is cut into 16 pieces. "
        f"{'; '.join(facts)} of at most {write(np.log(16), 2)}.",
    )


def explore_temperature() -> PagePanel:
    """Move temperature, d_k, the scale and the number of keys: how sharp is the row?"""
    given = {
        "body": "temperature",
        "title": "How sharp is a row?",
        "temperatures": [_degrees(T) for T in TEMPERATURES],
        "widths": WIDTHS,
        "rows": [normal_numbers(draw).round(7).tolist() for draw in range(DRAWS)],
    }
    start = {"stop": TEMPERATURES.index(1), "width": WIDTHS.index(64), "scaled": 1, "n": 16, "again": 0}
    found = sharp(weights_at(unit_scores(start["n"]), 1.0))
    return PagePanel(given, start, sentence(found, start["n"]), still_row, TOUCH, SCRIPT)
