"""Lesson 06's widget: the roofline's bounds."""

import itertools
import math
import re

import pytest

from sdpa_helpers.lessons.complexity import widget
from sdpa_helpers.lessons.complexity.widget import LENGTHS, PUBLISHED, TILES, WIDTHS, Work, bound
from tests.lessons.pictures import PANELS, shown


@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("way", widget.WAYS)
def test_bounds_are_the_slower_of_two_times(way, precision):
    element = {"float16": 2, "float32": 4}[precision]
    for hardware in PUBLISHED.values():
        for n, d, tile in itertools.product(LENGTHS, WIDTHS, TILES):
            found = bound(hardware, Work(n, d, way, precision, tile))
            flops = 4 * n * n * d + 6 * n * n
            reads = max(1, math.ceil(n / tile)) if way == "tiled" else 1
            moved = element * (2 * n * d * (1 + reads) + (4 * n * n if way == "step by step" else 0))
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
    flops, moved = 4 * 2**40 * 256 + 6 * 2**40, 4 * (4 * 2**20 * 256 + 4 * 2**40)
    seconds = max(flops / 8.1e12, moved / 320e9)
    assert texts["flops"] == "1.13 PFLOP"
    assert texts["bytes"] == "17.6 TB"
    assert texts["intensity"] == f"{flops / moved:.1f} FLOP/B" == "64.4 FLOP/B"
    assert texts["ridge"] == "25.3 FLOP/B"
    assert texts["limit"] == "arithmetic"
    assert texts["time"] == f"{seconds:.0f} s"
    assert texts["matrix"] == "4.4 TB"
    assert texts["held"] == "larger than the 16 GB"


def test_the_picture_of_tiles_writes_how_often_keys_and_values_are_read():
    panel = PANELS["complexity"]()
    texts = shown(panel, way="tiled")
    assert (texts["reads"], texts["excess"]) == ("32 times", "16.5 × the minimum")
    assert texts["held"] == "never in memory"
    whole = shown(panel, way="tiled", tile=math.inf)
    assert (whole["reads"], whole["excess"]) == ("once", "1 × the minimum")
    assert shown(panel, way="minimum") == whole
    assert "all queries in one tile" in panel.draw(panel.start | {"way": "tiled", "tile": math.inf}).text


def test_what_the_lesson_says_about_the_roofline():
    def crosses(name, way, tile=math.inf, precision="float16", d=64):
        found = (n for n in LENGTHS if not bound(PUBLISHED[name], Work(n, d, way, precision, tile)).by_memory)
        return next(found, None)

    gpus = ("H100 SXM", "A100 80 GB", "T4")
    assert all(crosses(name, "step by step", d=d) is None for d in WIDTHS for name in gpus)
    assert [crosses("H100 SXM", "tiled", tile) for tile in TILES] == [None, None, None, 1024]
    assert [crosses(name, "tiled", 128) for name in gpus] == [None, None, None]
    assert [crosses(name, "tiled", 256) is None for name in gpus] == [True, False, False]
    assert crosses("H100 SXM", "tiled", 64, "float32") is not None
    ridges = [round(bound(PUBLISHED[name], Work(64, 64, "tiled", "float16", 64)).ridge) for name in gpus]
    assert ridges == [295, 153, 203]


def test_hardware_says_where_its_numbers_are_from():
    panel = PANELS["complexity"]()
    for name in panel.controls["hardware"].stops:
        svg = panel.draw(panel.start | {"hardware": name}).svg
        assert re.search("published by NVIDIA|from published clocks|measured for lesson 06", svg)
    assert "our machine" not in widget.explore_roofline().controls["hardware"].stops
    text = panel.draw(panel.start | {"hardware": "our machine"}).text
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
