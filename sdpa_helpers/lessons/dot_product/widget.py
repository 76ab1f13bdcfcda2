"""Lesson 01's widget: two keys, one query. Which key wins, and what decides it, the angle or the lengths?"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import KEY, Picture, write
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")


class Duel(NamedTuple):
    """Query and keys in the plane; dot product and cosine of the keys A and B. A zero vector has the cosine 0."""

    q: np.ndarray
    keys: np.ndarray
    dots: np.ndarray
    cosines: np.ndarray

    def winner(self, measure: np.ndarray) -> str:
        """ "A", "B", or "neither" for a tie."""
        a, b = measure.round(9)
        return "A" if a > b else "B" if b > a else "neither"


def duel(angle: float, length_q: float, length_k: float) -> Duel:
    """Key A has length 1 and the query's direction. Key B has a length and an angle to the query, in degrees."""
    q = np.array([length_q, 0.0])
    theta = np.radians(angle)
    keys = np.array([[1.0, 0.0], [length_k * np.cos(theta), length_k * np.sin(theta)]])
    dots = keys @ q
    lengths = length_q * np.linalg.norm(keys, axis=-1)
    return Duel(q, keys, dots, np.divide(dots, lengths, out=np.zeros(2), where=lengths > 0))


def sentence(found: Duel) -> str:
    """Scores, cosines and who wins, as the panel tells it."""
    first, second = (
        {"neither": "neither key wins"}.get(name, f"key {name} wins")
        for name in (found.winner(found.dots), found.winner(found.cosines))
    )
    (dot_a, dot_b), (cosine_a, cosine_b) = found.dots, found.cosines
    return (
        f"Key A scores {write(dot_a, 2)}, its cosine is {write(cosine_a, 2)}; "
        f"key B scores {write(dot_b, 2)}, its cosine is {write(cosine_b, 2)}. "
        f"By dot product {first}, by cosine {second}."
    )


def still_duel() -> Picture:
    """Three moments of the widget side by side."""
    moments = [(30.0, 1.0), (60.0, 2.0), (70.0, 3.2)]
    titles = [f"B: {angle:g}° off, length {length:g}" for angle, length in moments]
    fig, axes = style.panels(
        titles, x="distance along the query", y="distance off it", size=(9.6, 4.6), sharey=True
    )
    facts = []
    for ax, (angle, length) in zip(axes, moments, strict=True):
        found = duel(angle, 1.0, length)
        style.arrow(ax, (1.0, 0.0), "A and q", colour=KEY, shift=(6, -13))
        style.arrow(ax, tuple(found.keys[1]), "B", colour=KEY, shift=(-12, 6))
        ax.axvline(1.0, color=style.INK, linestyle="--", linewidth=1)
        ax.set(xlim=(-0.4, 2.6), ylim=(-0.45, 4.1), aspect="equal")
        ax.plot([found.keys[1, 0]] * 2, [0, found.keys[1, 1]], ":", color=style.FAINT)
        name = found.winner(found.dots)
        verdict = "a tie" if name == "neither" else f"{name} wins"
        ax.text(
            1.1,
            4.0,
            f"A {write(found.dots[0], 2)}, B {write(found.dots[1], 2)}:\n{verdict}",
            color=style.INK,
            va="top",
        )
        facts.append(
            f"B {angle:g} degrees off with length {length:g} scores {write(found.dots[1], 2)}, {verdict}"
        )
    return style.show(
        fig,
        "A query and key A, both of length 1 in the same direction, score 1.00. Three keys B: "
        + "; ".join(facts)
        + ".",
    )


START = {"angle_q": 0.0, "length_q": 1.0, "angle_a": 0.0, "length_a": 1.0, "angle_b": 60.0, "length_b": 1.5}


def explore_keys() -> PagePanel:
    """Drag the tips of a query and two keys: which key wins, by dot product and by cosine?"""
    given = {"body": "keys", "title": "Which of two keys wins?"}
    found = duel(START["angle_b"], START["length_q"], START["length_b"])
    return PagePanel(given, START, sentence(found), still_duel, TOUCH, SCRIPT)
