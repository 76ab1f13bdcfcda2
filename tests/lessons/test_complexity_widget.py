"""Lesson 06's widget: the roofline's bounds."""

import itertools
import re

import pytest

from sdpa_helpers.lessons.complexity import widget
from sdpa_helpers.lessons.complexity.widget import LENGTHS, PUBLISHED, WIDTHS, bound
from tests.lessons.pictures import PANELS, shown


@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("way", widget.WAYS)
def test_bounds_are_the_slower_of_two_times(way, precision):
    element = {"float16": 2, "float32": 4}[precision]
    for hardware in PUBLISHED.values():
        for n, d in itertools.product(LENGTHS, WIDTHS):
            found = bound(hardware, n, d, way, precision)
            flops = 4 * n * n * d + 5 * n * n
            moved = element * (4 * n * d + (4 * n * n if way == "step by step" else 0))
            times = flops / hardware.peak_at(precision), moved / hardware.bandwidth
            assert found.seconds == pytest.approx(max(times))
            assert found.by_memory == (times[1] > times[0])
            assert found.intensity == pytest.approx(flops / moved)
            assert found.speed == pytest.approx(
                min(hardware.peak_at(precision), flops / moved * hardware.bandwidth)
            )


def test_the_picture_of_the_roofline_writes_these_numbers():
    texts = shown(
        PANELS["complexity"](), n=2**20, d=256, way="step by step", precision="float32", hardware="T4"
    )
    flops, moved = 4 * 2**40 * 256 + 5 * 2**40, 4 * (4 * 2**20 * 256 + 4 * 2**40)
    seconds = max(flops / 8.1e12, moved / 320e9)
    assert texts["flops"] == "1.13 PFLOP"
    assert texts["bytes"] == "17.6 TB"
    assert texts["intensity"] == f"{flops / moved:.1f} FLOP/B" == "64.3 FLOP/B"
    assert texts["ridge"] == "25.3 FLOP/B"
    assert texts["limit"] == "arithmetic"
    assert texts["time"] == f"{seconds:.0f} s"
    assert texts["matrix"] == "4.4 TB"
    assert texts["held"] == "larger than the 16 GB"


def test_what_the_lesson_says_about_the_roofline():
    def crosses(name, way, precision="float16", d=64):
        found = (n for n in LENGTHS if not bound(PUBLISHED[name], n, d, way, precision).by_memory)
        return next(found, None)

    for name in ("H100 SXM", "A100 80 GB", "T4"):
        assert all(crosses(name, "step by step", d=d) is None for d in WIDTHS)
    assert [crosses(name, "fused") for name in PUBLISHED] == [1024, 512, 512, 64]
    assert bound(PUBLISHED["H100 SXM"], 2**20, 64, "step by step", "float16").intensity == pytest.approx(
        64 / 2, rel=0.03
    )
    half, single = (
        bound(PUBLISHED["H100 SXM"], 4096, 64, "step by step", p).seconds for p in ("float16", "float32")
    )
    assert single / half == pytest.approx(2)
    half, single = (
        bound(PUBLISHED["H100 SXM"], 4096, 64, "fused", p).seconds for p in ("float16", "float32")
    )
    assert single / half == pytest.approx(15, rel=0.02)


def test_hardware_says_where_its_numbers_are_from():
    panel = PANELS["complexity"]()
    for name in panel.controls["hardware"].stops:
        svg = panel.draw(panel.start | {"hardware": name}).svg
        assert re.search("published by NVIDIA|from published clocks|measured in this notebook", svg)
    assert "this machine" not in widget.explore_roofline().controls["hardware"].stops
    text = panel.draw(panel.start | {"hardware": "this machine"}).text
    assert text.endswith("No float16 peak is known here, so float32's is used.")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 ns"),
        (3e-12, "0.003 ns"),
        (4e-8, "40 ns"),
        (9.996e-4, "1 ms"),
        (59, "59 s"),
        (5739.2, "5,739 s"),
    ],
)
def test_durations(number, text):
    assert widget.duration(number) == text
