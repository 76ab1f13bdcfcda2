"""Lesson 02's widget: draw scores, and compare their histogram with the bell N(0, d_k) that the proof promises.

A score of thousands of coordinates costs no more here than one of a single coordinate, and nothing is approximated:
for normal coordinates a score depends on a few normal numbers and one chi-square, for coordinates with few values on
how often each pair of values occurs.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.variance_proof.experiments import SCALES
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import INK, SHADE, Picture
from sdpa_helpers.show.panels import DRAWN_WIDTH, Drawing, Panel, State, button, choice, slider
from sdpa_helpers.show.svg import Canvas, Scale, plain, ticks

COUNT = 2000  # scores in a histogram
KINDS = ("normal", "coins", "dice")
AXES = ("follows the scores", "−4 to 4", "−100 to 100")
STOPS = [
    1,
    2,
    3,
    4,
    6,
    8,
    12,
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
    768,
    1024,
    1536,
    2048,
    3072,
    4096,
]
_FIXED = {"−4 to 4": 4.0, "−100 to 100": 100.0}
_UNITS = {"1": "score q·k", "1/√d": "score q·k ÷ √dₖ", "1/d": "score q·k ÷ dₖ"}
_LEVELS = {
    "coins": np.array([-1.0, 1.0]),
    "dice": np.array([-5.0, -3.0, -1.0, 1.0, 3.0, 5.0]) / np.sqrt(35 / 3),
}
"""What a coordinate can be, each value equally likely: mean 0, variance 1. A die is a small uniform distribution."""


def correlated_scores(
    d: int, kind: str = "normal", rho: float = 0.0, mean: float = 0.0, draw: int = 0, count: int = COUNT
) -> Float[Array, "count"]:
    """Independent scores of vectors whose coordinates have this mean and variance 1, qᵢ correlated with kᵢ by `rho`.

    Normal coordinates are jointly normal. Coins and dice: kᵢ is (with its sign turned, if rho < 0) the same as qᵢ
    with probability |rho|, otherwise it is cast anew. The same draw gives the same scores.
    """
    rng = np.random.default_rng([7, draw])
    if kind == "normal":
        # q = mean + a, k = mean + rho·a + s·e. Only a's and e's parts along (1, …, 1), u and w, and the rest of them
        # count: the rest of a has a chi-square length, on which the rest of e is normal.
        u, w, z = rng.standard_normal((3, count))
        rest = rng.chisquare(d - 1, count) if d > 1 else np.zeros(count)
        s = np.sqrt(1 - rho**2)
        along = mean * np.sqrt(d) * (u + rho * u + s * w)
        return d * mean**2 + along + rho * (u**2 + rest) + s * (u * w + np.sqrt(rest) * z)
    levels = _LEVELS[kind]
    copied = np.eye(len(levels)) if rho >= 0 else np.eye(len(levels))[::-1]
    chances = abs(rho) * copied / len(levels) + (1 - abs(rho)) / len(levels) ** 2
    pairs = rng.multinomial(d, chances.ravel() / chances.sum(), size=count)
    return pairs @ np.outer(mean + levels, mean + levels).ravel()


class Moments(NamedTuple):
    mean: float
    variance: float


def promised(
    d: int, kind: str = "normal", rho: float = 0.0, mean: float = 0.0, scale: float = 1.0
) -> Moments:
    """The exact mean and variance of `scale` times a score of `correlated_scores`.

    Per coordinate, with a and b of mean 0: (m + a)(m + b) = m² + m(a + b) + ab, whose terms are uncorrelated
    because the coordinates are symmetric. Var(a + b) = 2 + 2ρ, and Var(ab) depends on the fourth moment.
    """
    if kind == "normal":
        of_product = 1 + rho**2
    else:
        fourth = float(np.mean(_LEVELS[kind] ** 4))
        of_product = abs(rho) * fourth + (1 - abs(rho)) - rho**2
    return Moments(scale * d * (mean**2 + rho), scale**2 * d * (2 * mean**2 * (1 + rho) + of_product))


def measured(sample: Float[Array, "n"]) -> tuple[Interval, Interval]:
    """Mean and variance of a sample, with their 95% bootstrap intervals."""
    counts, n = _resamples(len(sample)), len(sample)
    centre = sample.mean()
    moved = sample - centre
    means = counts @ moved / n
    variances = counts @ moved**2 / n - means**2
    (low, high), (least, most) = (np.percentile(x, [2.5, 97.5]) for x in (means + centre, variances))
    return Interval(float(centre), float(low), float(high)), Interval(
        float(moved @ moved / n), float(least), float(most)
    )


@lru_cache(maxsize=2)
def _resamples(n: int, resamples: int = 300) -> Float[Array, "resamples n"]:
    """How often each of n numbers is drawn when n are drawn with replacement. One table serves every bootstrap."""
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)


def draw_histogram(state: State) -> Drawing:
    """Histogram and bell; measured and exact numbers; the spread on a ruler that does not move."""
    d, kind, rho, mean = state["d_k"], state["kind"], state["rho"], state["mean"]
    scale = SCALES[state["scale"]](d)
    sample = scale * correlated_scores(d, kind, rho, mean, state["again"])
    exact, (centre, variance) = promised(d, kind, rho, mean, scale), measured(sample)
    bell = np.sqrt(d) * scale
    canvas = Canvas(DRAWN_WIDTH, 470)
    outside = _histogram(canvas, sample, bell, exact, state)
    _numbers(canvas, centre, variance, exact, bell)
    _ruler(canvas, np.sqrt(max(variance.value, 0.0)), bell)
    return canvas.finish("Histogram of scores", sentence(state, centre, variance, exact, outside))


def sentence(state: State, centre: Interval, variance: Interval, exact: Moments, outside: float) -> str:
    """What the picture shows."""
    share = f"{100 * outside:.0f}%" if outside >= 0.01 else "Fewer than 1%"
    beyond = f" {share} of the scores lie beyond the axis." if outside else ""
    return (
        f"{COUNT:,} scores, coordinates: {state['kind']}, dₖ = {state['d_k']}, scale {state['scale']}. "
        f"Mean {plain(centre.value)}, exactly {plain(exact.mean)}; "
        f"variance {plain(variance.value)} ({plain(variance.low)} to {plain(variance.high)}), "
        f"exactly {plain(exact.variance)}.{beyond}"
    )


def axis_of(state: State, bell: float, exact: Moments) -> tuple[float, float]:
    """The ends of the axis: as chosen, or so wide that the bell and the scores fit."""
    if state["axis"] in _FIXED:
        return -_FIXED[state["axis"]], _FIXED[state["axis"]]
    spread = np.sqrt(exact.variance)
    return float(min(-4 * bell, exact.mean - 4 * spread)), float(max(4 * bell, exact.mean + 4 * spread))


def bins_of(low: float, high: float, state: State, scale: float) -> Float[Array, "edges"]:
    """About 50 equal bins. Scores of coins lie on a grid: there a bin holds a whole number of its points."""
    wide = (high - low) / 50
    grid = 2 * scale
    if state["kind"] == "coins" and state["mean"] == 0 and grid > wide / 4:
        wide = grid * np.ceil(wide / grid)
        point = (state["d_k"] % 2) * scale  # scores are even for even d_k
        low = point - grid / 2 - wide * np.ceil((point - grid / 2 - low) / wide)
    return low + wide * np.arange(int(np.ceil((high - low) / wide - 1e-9)) + 1)


def _histogram(canvas: Canvas, sample: Float[Array, "n"], bell: float, exact: Moments, state: State) -> float:
    """Draws, and gives the share of scores beyond the axis."""
    low, high = axis_of(state, bell, exact)
    edges = bins_of(low, high, state, SCALES[state["scale"]](state["d_k"]))
    heights = np.histogram(sample, edges)[0] / (len(sample) * np.diff(edges))
    peak = 1 / (bell * np.sqrt(2 * np.pi))
    x, y = Scale((low, high), (12, DRAWN_WIDTH - 12)), Scale((0, 1.06 * max(peak, heights.max())), (236, 30))
    for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
        if height:
            canvas.box((x(left), 236), x(right) - x(left), y(height) - 236, "currentColor", opacity=0.4)
    places = np.union1d(np.linspace(low, high, 101), bell * np.linspace(-4.5, 4.5, 91))
    places = places[(places >= low) & (places <= high)]
    curve = peak * np.exp(-0.5 * (places / bell) ** 2)
    canvas.curve([(x(p), y(c)) for p, c in zip(places, curve, strict=True)], "currentColor", 2.5)
    canvas.axis(x, 236, ticks(low, high), _UNITS[state["scale"]])
    canvas.box((12, 6), 14, 11, "currentColor", opacity=0.4)
    canvas.text((32, 16), f"{len(sample):,} scores", size=13)
    canvas.line((126, 12), (152, 12), width=2.5)
    name = {"1": "N(0, dₖ)", "1/√d": "N(0, dₖ) ÷ √dₖ = N(0, 1)", "1/d": "N(0, dₖ) ÷ dₖ"}[state["scale"]]
    canvas.text((158, 16), f"the bell {name}", size=13)
    return float(np.mean((sample < low) | (sample > high)))


def _numbers(canvas: Canvas, centre: Interval, variance: Interval, exact: Moments, bell: float) -> None:
    """A table: mean and variance, measured, by formula, and of the bell."""
    columns = (160, 326, 436, DRAWN_WIDTH)  # where they end
    for end, title in zip(
        columns, ("measured", "95% interval", "exact, formula", "of the bell"), strict=True
    ):
        canvas.text((end, 298), title, anchor="end", size=13)
    for row, (name, found, formula, of_bell) in enumerate(
        (("mean", centre, exact.mean, 0.0), ("variance", variance, exact.variance, bell**2))
    ):
        y = 322 + 24 * row
        canvas.line((0, y - 17), (DRAWN_WIDTH, y - 17), opacity=0.25)
        canvas.text((0, y), name, bold=True)
        canvas.text((columns[0], y), plain(found.value), anchor="end", bold=True, name=name)
        canvas.text((columns[1], y), f"{plain(found.low)} to {plain(found.high)}", anchor="end", size=13)
        canvas.text((columns[2], y), plain(formula), anchor="end", name=f"{name}-exact")
        canvas.text((columns[3], y), plain(of_bell), anchor="end", name=f"{name}-bell")


def _ruler(canvas: Canvas, spread: float, bell: float) -> None:
    """The standard deviation on a logarithmic axis from 1/64 to 512."""
    scale = Scale((1 / 64, 512), (92, DRAWN_WIDTH - 12), log=True)
    canvas.text((0, 398), "standard", bold=True)
    canvas.text((0, 415), "deviation", bold=True)
    marks = [2.0**i for i in range(-6, 10, 2)]
    shown = [f"1/{round(1 / m)}" if m < 1 else f"{m:.0f}" for m in marks]
    canvas.axis(scale, 416, marks, "logarithmic: from mark to mark four times as much", shown)
    canvas.line((scale(1), 378), (scale(1), 416), dash="5 4")
    canvas.line((scale(bell), 384), (scale(bell), 416), width=3)
    canvas.dot((scale(spread), 400), 8, SHADE)
    canvas.text((scale(spread), 378), plain(spread), anchor="middle", bold=True, name="spread")


def still_histograms() -> Picture:
    """Three sizes on one axis, not scaled."""
    sizes = (4, 64, 1024)
    fig, axes = style.panels(
        [f"dₖ = {d}" for d in sizes],
        x="score q·k",
        y="share of scores, % per bin",
        size=(9.6, 3.4),
        sharey=True,
    )
    facts = []
    for ax, d in zip(axes, sizes, strict=True):
        sample = correlated_scores(d)
        edges = np.linspace(-100, 100, 51)
        ax.bar(edges[:-1], 100 * np.histogram(sample, edges)[0] / len(sample), 4, align="edge", color=SHADE)
        places = np.linspace(-100, 100, 401)
        ax.plot(
            places,
            400 / np.sqrt(2 * np.pi * d) * np.exp(-0.5 * places**2 / d),
            color=INK,
            linewidth=2,
            label="N(0, dₖ)",
        )
        found = measured(sample)[1]
        ax.text(-98, 0.93 * ax.get_ylim()[1], f"variance {plain(found.value)}", color=style.INK)
        facts.append(f"dₖ = {d}: variance {plain(found.value)} ({plain(found.low)} to {plain(found.high)})")
    style.legend(axes[0], loc="center left")
    return style.show(
        fig,
        f"Histograms of {COUNT:,} scores of normal coordinates on one axis, wider and wider, "
        f"each under the bell N(0, dₖ). {'; '.join(facts)}.",
    )


def explore_scores() -> Panel:
    """Move d_k, the kind of coordinates, correlation, mean and scale: does the histogram stay under its bell?"""
    two = "{:.2f}".format
    return Panel(
        "variance_proof",
        "Does the bell N(0, dₖ) fit?",
        [
            slider("d_k", "dₖ", STOPS, 64, str),
            choice("kind", "coordinates", KINDS, "normal"),
            slider(
                "rho",
                "correlation ρ(qᵢ, kᵢ)",
                [i / 20 for i in range(-20, 21)],
                0.0,
                lambda x: two(x).replace("-", "−"),
            ),
            slider(
                "mean",
                "mean of all coordinates",
                [i / 10 for i in range(-20, 21)],
                0.0,
                lambda x: f"{x:.1f}".replace("-", "−"),
            ),
            choice("scale", "scale", tuple(SCALES), "1"),
            choice("axis", "axis", AXES, AXES[0]),
            button("again", "Sample again"),
        ],
        draw_histogram,
        still_histograms,
    )
