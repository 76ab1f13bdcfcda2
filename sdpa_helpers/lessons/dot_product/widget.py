"""Lesson 01's widget: two keys, one query. Which key wins, and what decides it, the angle or the lengths?"""

from typing import NamedTuple

import numpy as np

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import BLACK, KEY, PURPLE, QUERY, Picture, write
from sdpa_helpers.show.panels import Drawing, Panel, State, slider
from sdpa_helpers.show.svg import Canvas, Scale

LONGEST_KEY, LONGEST_QUERY = 4.0, 2.0


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


def length_that_wins(angle: float) -> float:
    """From this length on key B beats key A, which has length 1 and points along the query. Infinite from 90° on."""
    along = np.cos(np.radians(angle))
    return float(1 / along) if along > 1e-12 else float("inf")


def draw_duel(state: State) -> Drawing:
    """The plane with query, keys and projection; the four numbers as bars."""
    angle, length_q, length_k = state["angle"], state["length_q"], state["length_k"]
    found = duel(angle, length_q, length_k)
    canvas = Canvas(780, 325)
    _plane(canvas, found, angle)
    top = 40.0
    for title, measure, values, limit in (
        ("dot product q·k", "dot", found.dots, LONGEST_KEY * LONGEST_QUERY),
        ("cosine of the angle", "cosine", found.cosines, 1.0),
    ):
        _bars(canvas, top, title, measure, values, limit, found.winner(values))
        top += 126
    return canvas.finish("Two keys and a query", sentence(found, angle, length_q, length_k))


def sentence(found: Duel, angle: float, length_q: float, length_k: float) -> str:
    """What the picture shows."""
    first, second = (
        {"neither": "neither key wins"}.get(name, f"key {name} wins")
        for name in (found.winner(found.dots), found.winner(found.cosines))
    )
    return (
        f"Query of length {write(length_q, 1)}. Key A, length 1, along the query: "
        f"dot product {write(found.dots[0], 2)}, cosine {write(found.cosines[0], 2)}. "
        f"Key B, length {write(length_k, 1)}, {angle:g}° off: "
        f"dot product {write(found.dots[1], 2)}, cosine {write(found.cosines[1], 2)}. "
        f"By dot product {first}, by cosine {second}."
    )


def _plane(canvas: Canvas, found: Duel, angle: float) -> None:
    x, y = Scale((-4.2, 4.2), (6, 462)), Scale((-0.75, 4.2), (279, 10))
    (a, b), q = found.keys, found.q
    canvas.box((x(-4.2), y(4.2)), x(0) - x(-4.2), y(-0.75) - y(4.2), PURPLE, outline=False, opacity=0.12)
    canvas.text((x(-4.1), y(3.85)), "score below 0", size=13)
    canvas.line((x(1), y(0)), (x(1), y(4.2)), dash="5 4")
    canvas.text((x(1) + 6, y(3.85)), "beyond this line B wins", size=13)
    canvas.line((x(-4.2), y(0)), (x(4.2), y(0)), opacity=0.6)
    for tick in range(-4, 5):
        canvas.line((x(tick), y(-0.75)), (x(tick), y(-0.75) + 4), opacity=0.6)
        canvas.text((x(tick), y(-0.75) + 18), write(tick, 0), anchor="middle", size=12)
    canvas.text((x(0), y(-0.75) + 38), "distance along the query", anchor="middle", size=13)
    if np.linalg.norm(b) > 0:
        turn = np.radians(np.linspace(0, angle, 31))
        canvas.curve([(x(0.6 * np.cos(t)), y(0.6 * np.sin(t))) for t in turn], "currentColor", 1.2)
        canvas.line((x(b[0]), y(b[1])), (x(b[0]), y(0) + 16), dash="2 3")
    canvas.box((x(0), y(0) + 10), x(b[0]) - x(0), 7, PURPLE)
    canvas.arrow((x(0), y(0)), (x(q[0]), y(0)), QUERY, 8)
    canvas.arrow((x(0), y(0)), (x(a[0]), y(0)), KEY, 3)
    canvas.arrow((x(0), y(0)), (x(b[0]), y(b[1])), PURPLE, 3)
    canvas.text((x(a[0]), y(0) + 33), "A", anchor="middle", bold=True)
    canvas.text((x(q[0]) + 5, y(0) - 8), "q", bold=True)
    away = 14 if b[0] >= 0 else -14
    canvas.text((x(b[0]) + away, max(y(b[1]), 22)), "B", anchor="middle", bold=True)


def _bars(
    canvas: Canvas, top: float, title: str, measure: str, values: np.ndarray, limit: float, winner: str
) -> None:
    scale = Scale((-limit, limit), (516, 672))
    canvas.text((496, top), title, bold=True)
    for row, (key, value, colour) in enumerate(zip("AB", values, (KEY, PURPLE), strict=True)):
        middle = top + 24 + 30 * row
        canvas.text((496, middle + 5), key, bold=True)
        canvas.line((scale(-limit), middle), (scale(limit), middle), opacity=0.3)
        canvas.box((scale(0), middle - 9), scale(value) - scale(0), 18, colour)
        canvas.text((724, middle + 5), write(value, 2), anchor="end", name=f"{measure}-{key}")
        if key == winner:
            canvas.text((732, middle + 5), "wins", bold=True)
    canvas.line((scale(0), top + 11), (scale(0), top + 68))
    for tick in (-limit, 0, limit):
        canvas.text((scale(tick), top + 84), write(tick, 0), anchor="middle", size=12)


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
        style.arrow(ax, tuple(found.keys[1]), "B", colour=PURPLE, shift=(-12, 6))
        ax.axvline(1.0, color=BLACK, linestyle="--", linewidth=1)
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


def explore_keys() -> Panel:
    """Turn and stretch key B, stretch the query: which key wins, by dot product and by cosine?"""
    tenth = "{:.1f}".format
    return Panel(
        "dot_product",
        "Which of two keys wins?",
        [
            slider("angle", "angle of key B", range(0, 181), 60, "{:g}°".format),
            slider("length_k", "length of key B", [i / 10 for i in range(41)], 1.5, tenth),
            slider("length_q", "length of the query", [i / 10 for i in range(21)], 1.0, tenth),
        ],
        draw_duel,
        still_duel,
    )
