"""Lesson 06's widget: length, width, tile, precision and hardware on the roofline."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sdpa_helpers.lessons.complexity import counting
from sdpa_helpers.lessons.complexity.experiments import Machine
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import FAINT, INK, SHADE, SKY, Picture
from sdpa_helpers.show.panels import DRAWN_WIDTH, Drawing, Panel, State, choice, slider
from sdpa_helpers.show.svg import Canvas, Scale, plain

LENGTHS = [2**i for i in range(5, 21)]
WIDTHS = [16, 32, 64, 128, 256]
BYTES = {"float16": 2, "float32": 4}
TILES = [64, 128, 256, math.inf]
WAYS = ("step by step", "tiled", "minimum")
COLOURS = {"step by step": SKY, "tiled": INK, "minimum": SHADE}  # as in the lesson's other figures


class Hardware(NamedTuple):
    """FLOP/s by precision, bytes/s, bytes, and where the numbers are from: two lines."""

    name: str
    peak: Mapping[str, float]
    bandwidth: float
    memory: float | None
    source: tuple[str, str]

    def peak_at(self, precision: str) -> float:
        """float32's where the precision has none of its own."""
        return self.peak.get(precision, self.peak["float32"])


_TENSOR = ("published by NVIDIA;", "float16 on dense tensor cores")
PUBLISHED = {
    "H100 SXM": Hardware(
        "NVIDIA H100 SXM", {"float16": 989.4e12, "float32": 66.9e12}, 3.35e12, 80e9, _TENSOR
    ),
    "A100 80 GB": Hardware(
        "NVIDIA A100 SXM 80 GB", {"float16": 312e12, "float32": 19.5e12}, 2.039e12, 80e9, _TENSOR
    ),
    "T4": Hardware("NVIDIA T4", {"float16": 65e12, "float32": 8.1e12}, 320e9, 16e9, _TENSOR),
    "EPYC 7763": Hardware(
        "AMD EPYC 7763, one socket",
        {"float32": 64 * 2.45e9 * 32},
        8 * 25.6e9,
        None,
        ("from published clocks: 64 cores", "× 2.45 GHz × 32; 8 × DDR4-3200"),
    ),
}
"""Peaks and bandwidths as their makers publish them; nothing here was measured by the course."""


def measured(machine: Machine) -> Hardware:
    """The machine that `lesson.measured()` speaks of."""
    return Hardware(
        "the measured machine, one core",
        {"float32": machine.peak},
        machine.bandwidth,
        None,
        ("measured for lesson 06:", "a large product, a large copy"),
    )


class Work(NamedTuple):
    """One attention head with n queries and n keys, and a way to do it."""

    n: int
    d: int
    way: str
    precision: str
    tile: float
    """The query rows of a tile; all of them: infinite."""

    def traffic(self) -> counting.Traffic:
        """Its FLOPs, and the bytes that go to and from memory."""
        element = BYTES[self.precision]
        if self.way == "tiled":
            return counting.tiled(self.n, self.d, self.tile, element)
        return counting.intensities(self.n, self.d, element=element)[self.way]

    def reads(self) -> int:
        """How often K and V are read."""
        return max(1, math.ceil(self.n / self.tile)) if self.way == "tiled" else 1


class Bound(NamedTuple):
    """What the roofline says about it."""

    flops: float
    bytes: float
    intensity: float
    ridge: float
    seconds: float
    speed: float

    @property
    def by_memory(self) -> bool:
        """Whether moving the bytes takes longer than the arithmetic."""
        return self.intensity < self.ridge


def bound(hardware: Hardware, work: Work) -> Bound:
    """The least time: the slower of arithmetic and memory."""
    flops, moved = traffic = work.traffic()
    peak = hardware.peak_at(work.precision)
    seconds = max(flops / peak, moved / hardware.bandwidth)
    return Bound(flops, moved, traffic.intensity, peak / hardware.bandwidth, seconds, flops / seconds)


def with_unit(number: float, unit: str) -> str:
    """1.5 TFLOP, 2.1 GB, 35 µs: three digits and a prefix."""
    for size, prefix in (
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
    ):
        if number >= 0.9995 * size:
            return f"{plain(number / size)} {prefix}{unit}"
    return f"{plain(number * 1e9)} n{unit}"


def count(number: float) -> str:
    """Three digits, or a whole number with commas."""
    return f"{number:,.0f}" if number >= 1000 else plain(number)


def duration(seconds: float) -> str:
    """A time; nobody says kiloseconds."""
    return with_unit(seconds, "s") if seconds < 999.5 else f"{seconds:,.0f} s"


def rows_of(tile: float) -> str:
    """The rows of a tile in words."""
    return "whole" if math.isinf(tile) else f"{tile:.0f}"


def sentence(hardware: Hardware, work: Work) -> str:
    """What the picture shows."""
    n, d, way, precision, tile = work
    here, least = bound(hardware, work), bound(hardware, work._replace(way="minimum"))
    tiles = "all queries in one tile" if math.isinf(tile) else f"{tile:.0f} query rows at a time"
    how = {"tiled": f"Tiled, {tiles}", "minimum": "The minimum"}.get(way, way.capitalize())
    ratio = here.seconds / least.seconds
    compared = (
        "" if way == "minimum"
        else "; with the least traffic it could not be faster" if ratio < 1.005
        else f"; with the least traffic it could be {plain(ratio)} times as fast"
    )  # fmt: skip
    read = f"K and V are read {work.reads():,} times; " if work.reads() > 1 else ""
    matrix = n * n * BYTES[precision]
    held = "is written to memory" if way == "step by step" else "is never written to memory"
    full = " and does not fit" if _is_too_large(hardware, work) else ""
    doubt = "" if precision in hardware.peak else " No float16 peak is known here, so float32's is used."
    return (
        f"{how}, {n:,} tokens, d = {d}, {precision}: {read}{count(here.intensity)} FLOPs per byte, "
        f"ridge {plain(here.ridge)}. {'Memory' if here.by_memory else 'Arithmetic'} is the limit; at least "
        f"{duration(here.seconds)}{compared}. The score matrix, {with_unit(matrix, 'B')}, {held}{full}.{doubt}"
    )


def _is_too_large(hardware: Hardware, work: Work) -> bool:
    matrix = work.n**2 * BYTES[work.precision]
    return work.way == "step by step" and hardware.memory is not None and matrix > hardware.memory


# The picture ------------------------------------------------------------------------------------------------

X, Y = Scale((0.3, 2e6), (54, DRAWN_WIDTH - 12), log=True), Scale((1e9, 3e15), (300, 28), log=True)


LABELS = {"step by step": (9, 24, "start"), "tiled": (-8, -13, "end"), "minimum": (2, 27, "start")}
"""Where a way's name stands beside its dot."""


def draw_roofline(hardware: Hardware, work: Work) -> Drawing:
    """The roof, the three ways on it, and the numbers of the chosen one."""
    canvas = Canvas(DRAWN_WIDTH, 564)
    _axes(canvas)
    here, peak = bound(hardware, work), hardware.peak_at(work.precision)
    roof = [(x, min(peak, x * hardware.bandwidth)) for x in (0.3, here.ridge, 2e6)]
    canvas.line((X(here.ridge), Y(1e9)), (X(here.ridge), Y(peak)), dash="2 4", opacity=0.7)
    canvas.curve([(X(x), Y(y)) for x, y in roof], "currentColor", 2.2)
    canvas.text((X(2e6), Y(peak) - 9), f"peak {with_unit(peak, 'FLOP/s')}", anchor="end", size=12)
    canvas.text((X(here.ridge) - 7, Y(1e9) - 24), "← memory", anchor="end", size=12)
    canvas.text((X(here.ridge) + 7, Y(1e9) - 24), "arithmetic →", size=12)
    for length in LENGTHS:  # the path of the chosen way as n grows
        step = bound(hardware, work._replace(n=length))
        canvas.dot((X(step.intensity), Y(step.speed)), 2.2, COLOURS[work.way])
    for way in sorted(WAYS, key=lambda way: way == work.way):  # the chosen one on top
        place = bound(hardware, work._replace(way=way))
        x, y = X(place.intensity), Y(place.speed)
        canvas.dot((x, y), 8 if way == work.way else 5, COLOURS[way])
        right, down, anchor = LABELS[way]
        canvas.text((x + right, y + down), way, anchor=anchor, size=13, bold=way == work.way)
    _numbers(canvas, hardware, work)
    return canvas.finish("Attention on the roofline", sentence(hardware, work))


def _axes(canvas: Canvas) -> None:
    for power in range(0, 7):
        x = X(10.0**power)
        canvas.line((x, Y(1e9)), (x, Y(3e15)), opacity=0.13)
        canvas.text(
            (x, Y(1e9) + 18),
            f"{10**power:,}",
            anchor="middle",
            size=12,
        )
    for power in range(9, 16):
        y = Y(10.0**power)
        canvas.line((X(0.3), y), (X(2e6), y), opacity=0.13)
        canvas.text((X(0.3) - 6, y + 4), with_unit(10.0**power, ""), anchor="end", size=12)
    canvas.line((X(0.3), Y(1e9)), (X(2e6), Y(1e9)))
    canvas.line((X(0.3), Y(1e9)), (X(0.3), Y(3e15)))
    canvas.text(
        ((X(0.3) + X(2e6)) / 2, Y(1e9) + 40),
        "arithmetic intensity (FLOPs per byte)",
        anchor="middle",
        size=13,
    )
    canvas.text((0, 14), "speed at most (FLOP/s)", size=13)


def _numbers(canvas: Canvas, hardware: Hardware, work: Work) -> None:
    here, least = bound(hardware, work), work._replace(way="minimum").traffic()
    rows = (
        ("FLOPs", "flops", with_unit(here.flops, "FLOP")),
        ("bytes moved", "bytes", with_unit(here.bytes, "B")),
        ("K and V are read", "reads", "once" if work.reads() == 1 else f"{work.reads():,} times"),
        ("that is", "excess", f"{plain(here.bytes / least.bytes)} × the minimum"),
        ("intensity", "intensity", f"{count(here.intensity)} FLOP/B"),
        ("ridge", "ridge", f"{plain(here.ridge)} FLOP/B"),
        ("the limit is", "limit", "memory" if here.by_memory else "arithmetic"),
        ("time, at least", "time", duration(here.seconds)),
        ("score matrix n²", "matrix", with_unit(work.n**2 * BYTES[work.precision], "B")),
        ("the matrix is", "held", _where_held(hardware, work)),
    )
    top = Y(1e9) + 74
    canvas.text((0, top), hardware.name, bold=True)
    speeds = (
        f"{with_unit(hardware.peak_at(work.precision), 'FLOP/s')}, {with_unit(hardware.bandwidth, 'B/s')}"
    )
    canvas.text((DRAWN_WIDTH, top), speeds, anchor="end")
    canvas.text((0, top + 20), " ".join(hardware.source), size=12)
    for k, (label, key, value) in enumerate(rows):
        left, y = (DRAWN_WIDTH + 28) / 2 * (k % 2), top + 52 + 28 * (k // 2)
        right = left + (DRAWN_WIDTH - 28) / 2
        canvas.text((left, y), label, size=13)
        canvas.text((right, y), value, anchor="end", bold=key in ("limit", "time"), name=key)
        canvas.line((left, y + 9), (right, y + 9), opacity=0.2)


def _where_held(hardware: Hardware, work: Work) -> str:
    if work.way != "step by step":
        return "never in memory"
    if hardware.memory and _is_too_large(hardware, work):
        return f"larger than the {with_unit(hardware.memory, 'B')}"
    return "in memory"


def still_roofline(hardware: Hardware) -> Picture:
    """The three ways for growing length."""
    fig, ax = style.figure(
        f"{hardware.name}, float16, d = 64, tiles of 64 rows",
        x="arithmetic intensity (FLOPs per byte)",
        y="speed at most (FLOP/s)",
        size=(8.4, 4.2),
    )
    reach, peak = np.geomspace(0.3, 1e6, 200), hardware.peak_at("float16")
    ax.loglog(reach, np.minimum(peak, reach * hardware.bandwidth), color=INK, linewidth=2)
    facts = []
    for way, marker in zip(WAYS, "sod", strict=True):
        path = [bound(hardware, Work(n, 64, way, "float16", 64)) for n in LENGTHS[2:16:2]]
        look = {"color": COLOURS[way], "markersize": 8, "markeredgecolor": INK}
        ax.plot([b.intensity for b in path], [b.speed for b in path], marker, label=way, **look)
        facts.append(f"{way} comes to {count(path[-1].intensity)} FLOPs per byte")
    ridge = peak / hardware.bandwidth
    ax.axvline(ridge, color=FAINT, linewidth=1.2, linestyle=":")
    ax.annotate(
        f"ridge {ridge:.0f}",
        (ridge, 0.04),
        (5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color=INK,
    )
    style.legend(ax)
    return style.show(
        fig,
        f"Roofline of an {hardware.name} from published figures, with attention's place for 128 to "
        f"{LENGTHS[14]:,} tokens: {', '.join(facts)}; the ridge is at {ridge:.0f}.",
    )


def explore_roofline(machine: Machine | None = None) -> Panel:
    """Move length, width, way, tile, precision and hardware: what limits attention, and how long must it take?

    Args:
        machine: what was measured of one, to have it in the list as well.
    """
    offered = dict(PUBLISHED)
    if machine is not None:
        offered["our machine"] = measured(machine)
    names = list(offered)

    def draw(state: State) -> Drawing:
        return draw_roofline(offered[state["hardware"]], Work(*(state[name] for name in Work._fields)))

    return Panel(
        "complexity",
        "What is the limit, and how long must it take?",
        [
            slider("n", "tokens n", LENGTHS, 4096, "{:,}".format),
            slider("d", "width of a head d", WIDTHS, 64, str),
            choice("way", "way", WAYS, "step by step"),
            slider("tile", "query rows of a tile", TILES, 128, rows_of),
            choice("precision", "numbers", list(BYTES), "float16"),
            choice("hardware", "hardware", names, names[0]),
        ],
        draw,
        lambda: still_roofline(PUBLISHED["H100 SXM"]),
    )
