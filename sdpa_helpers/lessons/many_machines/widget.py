"""Lesson 09's widget: length, devices and rates against the time of one attention layer, by three methods."""

from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.lessons.many_machines.experiments import METHODS, Layer, Rates, Spent, is_possible, spend
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import INK, LINES, Picture, name_lines
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")

LENGTHS = [2**power for power in range(10, 25)]
DEVICES = [2**power for power in range(3, 13)]
_DIGITS = (1, 1.5, 2, 3, 4, 5, 6, 8)
TFLOPS = sorted(
    {312, 989, 2250, *(round(digit * ten) for ten in (10, 100) for digit in _DIGITS), 1000, 1500, 3000}
)
LINKS = sorted(
    {25.0, 50.0, 450.0, 900.0, 1800.0, *(digit * ten for ten in (1, 10, 100) for digit in _DIGITS)}
)
LATENCIES = [1, 2, 5, 10, 20, 50, 100]


NAMES = {"ring": "the ring", "all-gather": "all-gather", "Ulysses": "Ulysses"}
"""In a sentence."""


class Model(NamedTuple):
    """The attention of one layer of a published model."""

    name: str
    heads: int
    kv_heads: int
    d: int


MODELS = (
    Model("Llama 2 7B", 32, 32, 128),
    Model("Llama 3.1 8B", 32, 8, 128),
    Model("Llama 3.1 405B", 128, 8, 128),
)
"""Llama 2: its released configuration. Llama 3.1: Grattafiori et al. 2024, table 3."""


class Hardware(NamedTuple):
    """Published rates of one device: dense bfloat16 at its peak, and one direction of its link."""

    name: str
    tflops: float
    link: float
    source: str


HARDWARE = (
    Hardware(
        "A100, NVLink", 312, 300, "NVIDIA, A100 data sheet: 312 TFLOP/s, NVLink 600 GB/s in both directions"
    ),
    Hardware(
        "A100, InfiniBand", 312, 25, "NVIDIA, data sheets of A100 and ConnectX-6: 312 TFLOP/s, 200 Gbit/s"
    ),
    Hardware(
        "H100, NVLink", 989, 450, "NVIDIA, H100 data sheet: 989 TFLOP/s, NVLink 900 GB/s in both directions"
    ),
    Hardware(
        "H100, InfiniBand", 989, 50, "NVIDIA, data sheets of H100 and ConnectX-7: 989 TFLOP/s, 400 Gbit/s"
    ),
    Hardware("B200, NVLink", 2250, 900, "NVIDIA, HGX B200: 2.25 PFLOP/s, NVLink 1.8 TB/s in both directions"),
)
"""Quoted, not measured. All devices on one NVLink is beyond what any of them can: it is a limit."""

START = {
    "model": 1,
    "length": LENGTHS.index(2**17),
    "devices": DEVICES.index(32),
    "tflops": TFLOPS.index(989),
    "link": LINKS.index(50),
    "latency": LATENCIES.index(10),
    "zigzag": 1,
}


class Chosen(NamedTuple):
    """What the settings stand for."""

    layer: Layer
    devices: int
    rates: Rates
    zigzag: bool

    def spent(self, method: str, devices: int | None = None) -> Spent | None:
        """The time of a method; None where there are too few rows or heads for so many devices."""
        ranks = devices or self.devices
        if ranks > 1 and not is_possible(self.layer, ranks, method):
            return None
        return spend(self.layer, ranks, method, self.rates, zigzag=self.zigzag)


def chosen(settings: dict[str, int]) -> Chosen:
    """From positions of the controls."""
    _, heads, kv_heads, d = MODELS[settings["model"]]
    rates = Rates(
        TFLOPS[settings["tflops"]] * 1e12,
        LINKS[settings["link"]] * 1e9,
        LATENCIES[settings["latency"]] * 1e-6,
    )
    layer = Layer(LENGTHS[settings["length"]], heads, kv_heads, d, d)
    return Chosen(layer, DEVICES[settings["devices"]], rates, bool(settings["zigzag"]))


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * size:
            return f"{float(f'{seconds / size:.3g}'):,g} {unit}"
    return f"{float(f'{seconds * 1e9:.3g}'):,g} ns"


def sentence(now: Chosen) -> str:
    """What the panel shows at the start."""
    found = {method: now.spent(method) for method in METHODS}
    times = {method: spent.total for method, spent in found.items() if spent}
    ring = found["ring"]
    if ring is None:
        return f"{now.layer.n:,} tokens are too few for {now.devices:,} devices."
    return (
        f"{now.layer.n:,} tokens on {now.devices:,} devices: the ring takes {duration(ring.total)}, of which it waits "
        f"{duration(ring.exposed)}. The fastest is {NAMES[min(times, key=times.__getitem__)]}."
    )


def still_devices() -> Picture:
    """The three methods from 8 to 4,096 devices, at the start's rates."""
    now = chosen(START)
    fig, ax = style.figure(
        f"One layer of Llama 3.1 8B, {now.layer.n:,} tokens, H100s over InfiniBand",
        x="devices",
        y="time for one layer (ms)",
        size=(8.4, 4.2),
    )
    facts = []
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    alone = 1e3 * spend(now.layer, 1, "ring", now.rates).total
    ideal = [alone / devices for devices in DEVICES]
    curves = {"no messages": (DEVICES, ideal)}
    for method in METHODS:
        found = [(devices, spent) for devices in DEVICES if (spent := now.spent(method, devices))]
        curves[method] = ([devices for devices, _ in found], [1e3 * spent.total for _, spent in found])
    for (name, (x, y)), (colour, dash) in zip(curves.items(), ((INK, ":"), *LINES), strict=False):
        ax.plot(x, y, dash, color=colour, linewidth=2, label=name)
        facts.append(f"{name}: {y[0]:.3g} ms with {x[0]} devices, {y[-1]:.3g} ms with {x[-1]:,}")
    ax.set_xticks(DEVICES, [f"{devices:,}" for devices in DEVICES])
    ax.minorticks_off()
    name_lines(ax)
    return style.show(fig, f"Falling curves with logarithmic axes, from a model. {'; '.join(facts)}.")


def explore_devices() -> PagePanel:
    """Move the length, the devices and the rates: how long does one layer take, and who waits?"""
    given = {
        "body": "devices",
        "title": "One layer on many devices",
        "models": [model._asdict() for model in MODELS],
        "hardware": [hardware._asdict() for hardware in HARDWARE],
        "lengths": LENGTHS,
        "counts": DEVICES,
        "allTflops": TFLOPS,
        "links": LINKS,
        "latencies": LATENCIES,
    }
    return PagePanel(given, START, sentence(chosen(START)), still_devices, TOUCH, SCRIPT)
