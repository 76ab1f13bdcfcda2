"""The two figures of `sdpa bench`, and what they show in words, for those who do not see them.

attention.png: time and memory of one call against the length n. Both axes are logarithmic, so that what grows with n
is a straight line of slope 1, and what grows with n² one of slope 2; two guides show these slopes.
Where no memory was measured, there is no panel for it. attention-ratios.png: time over that of F.sdpa, in all other
settings.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes

    from sdpa_helpers.bench.rows import TimedRow


class Look(NamedTuple):
    """How one backend is drawn everywhere: a colour of OKABE_ITO, and a marker of its own."""

    label: str
    color: str
    marker: str


# Okabe and Ito 2008: colours that stay apart for every common kind of colour blindness.
LINES = {
    "numpy": Look("the formula, in NumPy", "#D55E00", "^"),
    "numpy-tiled": Look("numpy-tiled", "#0072B2", "s"),
    "torch-tiled": Look("torch-tiled", "#CC79A7", "v"),
    "numba": Look("numba", "#009E73", "D"),
    "F.sdpa": Look("torch's F.sdpa", "#000000", "o"),
}
"""Those that the figure of lengths shows: more would lie on each other."""

DOTS = {name: LINES[name] for name in ("numpy-tiled", "numba", "torch-tiled")} | {
    "torch-fused": Look("torch-fused", "#E69F00", "P")
}


def lengths_of(rows: list[TimedRow]) -> dict[str, list[TimedRow]]:
    """By backend the rows of the plain forward call, by length: of the shape that has most lengths."""
    plain = [row for row in rows if (row.mask, row.direction) == ("full", "forward") and row.backend in LINES]
    families: dict[Any, list[TimedRow]] = {}
    for row in plain:
        batch, heads, _, features = row.setting.shape
        families.setdefault((batch, heads, features, row.dtype, row.threads), []).append(row)
    if not families:
        return {}
    most = max(families.values(), key=lambda found: (len({row.shape for row in found}), -found[0].threads))
    most.sort(key=_length)
    return {name: [row for row in most if row.backend == name] for name in LINES}


def _length(row: TimedRow) -> int:
    return row.setting.shape[2]


def draw_lengths(rows: list[TimedRow], about: dict[str, Any], target: Path) -> None:
    """Time and memory against the length, each on logarithmic axes."""
    lines = lengths_of(rows)
    first = next(row for found in lines.values() for row in found)
    panels = 2 if _are_weighed(lines) else 1
    figure = Figure(figsize=(11.5 if panels == 2 else 7, 5.2), layout="constrained")
    time, *memory = figure.subplots(1, panels, squeeze=False)[0]
    _panel(time, lines, lambda row: row.milliseconds, _time_text)
    time.set_title("time of one call")
    for panel in memory:
        _panel(panel, lines, lambda row: row.extra_mib, _memory_text)
        panel.set_title("memory of one call, beyond query, key and value")
    batch, heads, _, features = first.setting.shape
    threads = "one thread" if first.threads == 1 else f"{first.threads} threads"
    figure.suptitle(
        f"Attention of n queries and n keys: batch {batch}, {heads} heads, {features} features, {first.dtype}\n"
        f"{about['processor']}, {threads}, {about['date']}",
        fontsize=10,
    )
    figure.savefig(target, dpi=110)


def _are_weighed(lines: dict[str, list[TimedRow]]) -> bool:
    return any(row.extra_mib for found in lines.values() for row in found)


def _panel(
    axes: Axes,
    lines: dict[str, list[TimedRow]],
    of: Callable[[TimedRow], float | None],
    text: Callable[..., str],
) -> None:
    ends = {}
    for name, found in lines.items():
        points = [(_length(row), value) for row in found if (value := of(row))]
        if points:
            look = LINES[name]
            axes.plot(
                *zip(*points, strict=True), color=look.color, marker=look.marker, markersize=6, linewidth=1.6
            )
            ends[name] = points[-1]
    axes.set(xscale="log", yscale="log", xlabel="n, queries and keys")
    lengths = sorted({_length(row) for found in lines.values() for row in found if of(row)})
    axes.set_xticks(lengths, list(map(str, lengths)), fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(text))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(lengths[0] / 1.3, lengths[-1] * 1.25)
    _guides(axes, lengths[-1])
    _name_at_the_end(axes, ends)


def _guides(axes: Axes, right: int) -> None:
    """Two dashed lines from one point, below all others: what doubles when n does, and what becomes fourfold."""
    bottom, top = axes.get_ylim()
    left = right / 16
    axes.set_ylim(bottom, top * 1.5)
    for slope, words in ((1, "∝ n (slope 1)"), (2, "∝ n² (slope 2)")):
        end = bottom * (right / left) ** slope
        axes.plot([left, right], [bottom, end], color="0.6", linewidth=1, linestyle=(0, (5, 4)), zorder=0)
        axes.text(right * 1.12, end, words, color="0.45", fontsize=9, va="center")


def _name_at_the_end(axes: Axes, ends: dict[str, tuple[float, float]]) -> None:
    """Each line's name beside its last point. Those that end together stand apart, around the middle of their ends."""
    bottom, top = (math.log(y) for y in axes.get_ylim())
    gap = 0.05 * (top - bottom)
    right = max(x for x, _ in ends.values())
    together = sorted((y, name) for name, (x, y) in ends.items() if x == right)
    middle = sum(math.log(y) for y, _ in together) / len(together)
    for place, (_, name) in enumerate(together):
        height = math.exp(middle + gap * (place - (len(together) - 1) / 2))
        axes.text(right * 1.12, height, LINES[name].label, color=LINES[name].color, fontsize=9, va="center")
    for name, (x, y) in ends.items():
        if x < right:
            axes.text(
                x / 1.15, y, LINES[name].label, color=LINES[name].color, fontsize=9, va="center", ha="right"
            )


def _time_text(milliseconds: float, _: int = 0) -> str:
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:g} s"
    return f"{milliseconds:g} ms" if milliseconds >= 1 else f"{milliseconds * 1000:g} µs"


def _memory_text(mib: float, _: int = 0) -> str:
    return f"{mib / 1024:g} GiB" if mib >= 1024 else f"{mib:g} MiB"


# The ratios ----------------------------------------------------------------------------------------------------


def ratios_of(rows: list[TimedRow]) -> list[TimedRow]:
    """What the figure of ratios shows: all settings but those of the figure of lengths, and their causal ones."""
    lengths = {row.setting.shape for found in lengths_of(rows).values() for row in found}
    others = [
        row
        for row in rows
        if row.setting.shape not in lengths
        or row.mask not in ("full", "causal")
        or row.direction != "forward"
    ]
    return [row for row in others or rows if row.backend in DOTS]


def draw_ratios(rows: list[TimedRow], about: dict[str, Any], target: Path) -> None:
    """A panel for each number of threads, a line for each setting; the bars are the quartiles of the rounds."""
    shown = ratios_of(rows)
    settings = list(dict.fromkeys(row.setting for row in shown))
    threads = list(dict.fromkeys(row.threads for row in shown))
    figure = Figure(figsize=(11.5, 1.9 + 0.27 * len(settings)), layout="constrained")
    panels = figure.subplots(1, len(threads), sharex=True, sharey=True, squeeze=False)[0]
    for panel, number in zip(panels, threads, strict=True):
        for place, name in enumerate(DOTS):
            mine = [row for row in shown if (row.backend, row.threads) == (name, number)]
            low = [row.ratio - (row.ratio_low or row.ratio) for row in mine]
            high = [(row.ratio_high or row.ratio) - row.ratio for row in mine]
            panel.errorbar(
                [row.ratio for row in mine],
                [settings.index(row.setting) + 0.18 * (place - 1.5) for row in mine],
                xerr=[low, high],
                color=DOTS[name].color,
                marker=DOTS[name].marker,
                linestyle="",
                markersize=5,
                elinewidth=1,
            )
        panel.axvline(1, color="black", linewidth=1)
        panel.set(xscale="log", xlabel="time ÷ F.sdpa's in the same round (left of 1: faster)")
        panel.set_title("one thread" if number == 1 else f"{number} threads")
        panel.grid(axis="x", alpha=0.3)
        for border in range(1, len(settings)):
            panel.axhline(border - 0.5, color="0.9", linewidth=0.8, zorder=0)
    low, high = panels[0].get_xlim()
    ticks = [x for x in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100) if low <= x <= high]
    panels[0].set_xticks(ticks, [f"{x:g}" for x in ticks])
    panels[0].xaxis.set_minor_locator(NullLocator())
    panels[0].set_ylabel("(batch, heads, n, features)")
    panels[0].set_yticks(
        range(len(settings)), [_setting_text(row_setting) for row_setting in settings], fontsize=8
    )
    panels[0].set_ylim(len(settings) - 0.5, -0.5)
    marks = [
        Line2D([], [], color=look.color, marker=look.marker, linestyle="", label=look.label)
        for look in DOTS.values()
    ]
    title = f"{about['processor']}, {about['date']}"
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks), frameon=False, title=title)
    figure.savefig(target, dpi=110)


def _setting_text(setting: Any) -> str:
    shape, mask, dtype, direction = setting
    words = [f"({', '.join(map(str, shape))})", "" if dtype == "float32" else dtype, mask.replace("-", " ")]
    words[-1] += " %" if mask.startswith("padding") else " mask" if mask in ("bool", "float") else ""
    return " ".join(filter(None, [*words, "" if direction == "forward" else direction]))


# In words ------------------------------------------------------------------------------------------------------


def lengths_in_words(rows: list[TimedRow]) -> str:
    """What attention.png shows, with its last numbers."""
    lines = {name: found for name, found in lengths_of(rows).items() if found}
    first = next(iter(lines.values()))[0]
    batch, heads, _, features = first.setting.shape
    is_weighed = _are_weighed(lines)
    shown = (
        "Two plots with logarithmic axes: time and memory"
        if is_weighed
        else "A plot with logarithmic axes: time"
    )
    told = [
        f"{shown} of one attention call against the length n "
        f"(batch {batch}, {heads} heads, {features} features, {first.threads} thread"
        f"{'s' if first.threads > 1 else ''}), with dashed guides for what grows with n and with n²."
    ]
    for name, found in lines.items():
        last = found[-1]
        weighed = [row for row in found if row.extra_mib]
        memory = f"; {weighed[-1].extra_mib:.3g} MiB at n = {_length(weighed[-1])}" if weighed else ""
        told.append(
            f"{LINES[name].label}: {_time_text(float(f'{last.milliseconds:.2g}'))} at n = {_length(last)}{memory}."
        )
    # How something grows is seen only where there are several long calls of it.
    if all(len(_long(found)) > 1 for found in lines.values()):
        told.append("In time all grow with n² from some hundred on.")
    weighed = {name: [row for row in _long(found) if row.extra_mib] for name, found in lines.items()}
    if len(weighed) > 1 and "numpy" in weighed and all(len(found) > 1 for found in weighed.values()):
        told.append("In memory only the formula grows with n², the others with n.")
    return " ".join(told)


def _long(found: list[TimedRow]) -> list[TimedRow]:
    return [row for row in found if _length(row) >= 256]


def ratios_in_words(rows: list[TimedRow]) -> str:
    """What attention-ratios.png shows: the range of each backend."""
    shown = ratios_of(rows)
    told = ["Dots: the time of each backend over that of torch's F.sdpa, by setting."]
    for threads in dict.fromkeys(row.threads for row in shown):
        for name, look in DOTS.items():
            found = [row.ratio for row in shown if (row.backend, row.threads) == (name, threads)]
            if found:
                at = "one thread" if threads == 1 else f"{threads} threads"
                ends = dict.fromkeys(f"{ratio:.2f}" for ratio in (min(found), max(found)))
                told.append(f"{look.label}, {at}: {' to '.join(ends)}.")
    return " ".join(told)
