"""Lesson 06: estimates of known answers, figures, and what was measured. No test depends on a time."""

import json
import math
import re
import warnings
from functools import cache

import numpy as np
import pytest

from sdpa_helpers.lessons import complexity as lesson
from sdpa_helpers.lessons.complexity import attention_ways, experiments, run
from sdpa_helpers.show.figures import Picture
from tests.lessons.example import normal
from tests.lessons.pictures import unreadable

Q, K, V = normal((7, 3), (9, 3), (9, 2))


# Estimates ------------------------------------------------------------------------------------------------------


def made_up(exponent, noise, repeats=9):
    sizes = np.array([100, 200, 400, 800])
    rng = np.random.default_rng(3)
    exact = 1e-6 * sizes[:, None] ** exponent
    return experiments.Timings(sizes, exact * np.exp(noise * rng.normal(size=(4, repeats))))


def test_the_fit_finds_a_known_exponent():
    exact = lesson.fit(made_up(1.7, 0.0))
    assert exact == pytest.approx((1.7, 1.7, 1.7))
    noisy = lesson.fit(made_up(1.7, 0.1))
    assert noisy.low < 1.7 < noisy.high
    assert 0.01 < noisy.high - noisy.low < 0.3
    assert str(experiments.Estimate(2, 1.5, 2.5)) == "2.00 (95%: 1.50 to 2.50)"


def test_local_slopes_show_a_bend():
    sizes = np.array([1, 2, 4, 8])
    bent = experiments.Timings(sizes, np.array([1.0, 2, 4, 16])[:, None])
    np.testing.assert_allclose(bent.local_slopes, [1, 1, 2])


def test_a_ratio_has_an_interval_around_it():
    rng = np.random.default_rng(4)
    fast = np.exp(0.05 * rng.normal(size=15))
    estimate = lesson.ratio(5 * np.exp(0.05 * rng.normal(size=15)), fast)
    assert estimate.low < 5 < estimate.high
    assert estimate.high - estimate.low < 1


def race_of(rest, step, fused):
    sizes = np.array([100, 200, 400])
    timings = [experiments.Timings(sizes, np.array(t, dtype=float)[:, None]) for t in (rest, step, fused)]
    return experiments.LayerRace(sizes, *timings)


def test_crossovers_are_found_between_the_sizes():
    race = race_of([2, 4, 8], [1, 4, 16], [0.5, 2, 7])
    assert race.crossover("step_by_step") == pytest.approx(200)
    assert math.isnan(race.crossover("fused"))
    later = race_of([2, 4, 8], [0.5, 2, 16], [3, 9, 27])
    assert later.crossover("step_by_step") == pytest.approx(200 * math.sqrt(2))
    assert math.isnan(later.crossover("fused"))  # ahead from the start: the crossover lies below the sizes


def test_timing_takes_turns_and_counts_calls():
    calls = []
    work = [lambda: calls.append("a"), lambda: calls.append("b")]
    seconds = experiments.interleaved(work, repeats=3, at_least=0.0)
    assert seconds.shape == (2, 3)
    assert (seconds > 0).all()
    assert "".join(calls[-6:]) == "ababab"


def test_torch_settings_come_back(needs):
    needs("torch")
    import torch

    before = torch.get_num_threads(), torch.is_grad_enabled()
    race = experiments.race(n=128, repeats=1)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == before
    assert race.largest_difference < 1e-6


def test_the_call_is_a_dispatcher(needs):
    needs("torch")
    assert any("flash" in name for name in lesson.which_kernel())
    assert "_softmax" in lesson.which_kernel(dropout_p=0.1)


def test_each_measurement_gives_what_its_figure_needs(needs):
    needs("torch")
    assert experiments.time_against_n([16, 32], repeats=2).seconds.shape == (2, 2)
    assert experiments.time_against_d([16, 32], n=32, repeats=2).seconds.shape == (2, 2)
    assert experiments.layer_race(64, [16, 32], repeats=1).rest.medians.shape == (2,)
    assert {len(t) for t in experiments.causal_race(n=32, repeats=2)} == {2}
    assert [p.name for p in experiments.roofline_points(n=32, heads=2, repeats=1)][-1] == "decoding"


def test_the_stored_benchmark_says_how_it_was_made(course):
    stored = json.loads((course / "benchmarks" / "results" / "additive.json").read_text())
    assert stored["command"].endswith("python benchmarks/additive.py")
    assert stored["processor"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", stored["date"])
    for row in stored["results"]:
        for value, low, high in (row["as_written"], row["reusing"]):
            assert 1 < low <= value <= high


# Figures --------------------------------------------------------------------------------------------------------


@cache
def pictures() -> dict[str, Picture]:
    timings = made_up(2.0, 0.1)
    slope = lesson.fit(timings)
    lengths = 2.0 ** np.arange(7, 18)
    machine = experiments.Machine(peak=1e11, bandwidth=1e10)
    placed = {
        "QKᵀ": (30.0, 8e10),
        "softmax": (0.6, 5e9),
        "A·V": (30.0, 9e10),
        "step by step": (16.0, 3e10),
        "fused": (500.0, 9e10),
        "decoding": (0.5, 5e9),
    }
    tally = lesson.count_operations(attention_ways.textbook, Q, K, V)[1]
    return {
        "operations": lesson.plot_operations({"all": tally, "twice": tally + tally}),
        "exponents": lesson.plot_exponents(
            {"step by step": (timings, slope), "fused": (timings, slope)}, (timings, slope)
        ),
        "layer": lesson.plot_layer(lengths, {d: lesson.layer_flops(lengths, d) for d in (768, 4096, 12288)}),
        "layer race": lesson.plot_layer_race(race_of([2, 4, 8], [1, 4, 16], [0.5, 2, 7]), 64),
        "readings": lesson.plot_readings(lesson.readings()),
        "peaks": lesson.plot_peaks(
            {"textbook": [1024, 2048], "numba": [1024, 2048, 4096]},
            {"textbook": np.array([12.0, 48]), "numba": np.array([1.0, 1.5, 2])},
        ),
        "traffic": lesson.plot_traffic(
            lengths, {"step by step": 0 * lengths + 32, "minimum": lengths / 2}, {"H100": 295.3}
        ),
        "roofline": lesson.plot_roofline(machine, placed),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures(), shared_y=True) == []


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "618.5 GB" in drawn["readings"].alt
    assert "768 half is reached at 4,608 tokens" in drawn["layer"].alt
    assert "step by step crosses it near 200 tokens, fused does not cross it" in drawn["layer race"].alt
    assert "textbook 48 MiB at 2,048; numba 2 MiB at 4,096" in drawn["peaks"].alt
    assert "one n by n matrix has 64 MiB and the output 1 MiB" in drawn["peaks"].alt
    assert "step by step 32, minimum 65,536" in drawn["traffic"].alt
    assert "The ridge of the H100 is at 295." in drawn["traffic"].alt


def test_noise_has_no_place_on_a_logarithmic_axis():
    measured = {
        "textbook": np.array([12.0, 48]),
        "numba": np.array([1.5, 0.0]),
        "torch-fused": np.array([0.0, 0.2]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = lesson.plot_peaks({way: [1024, 2048] for way in measured}, measured)
        picture.png()
    assert "numba 0 MiB" in picture.alt
    drawn = {line.get_label(): line.get_ydata() for line in picture.figure.axes[0].get_lines()}
    assert "torch-fused" not in drawn
    np.testing.assert_array_equal(drawn["numba"], [1.5, np.nan])


def test_tables_that_stand_below_an_answer():
    machine = experiments.Machine(peak=1e11, bandwidth=1e10)
    lines = lesson.roofline_table(machine, {"softmax": (0.5, 4e9), "fused": (500.0, 8e10)}).splitlines()
    assert lines[0] == "ridge of the measured machine: 10 FLOPs per byte"
    assert lines[1].split() == ["softmax", "4%", "of", "the", "peak,", "80%", "of", "its", "roof"]
    assert lines[2].split() == ["fused", "80%", "of", "the", "peak,", "80%", "of", "its", "roof"]
    counted = {"in chunks": {"multiply": 6, "add": 4}, "all": {"exp": 1}}
    assert lesson.operations_table(counted) == "in chunks  add 4, multiply 6\nall        exp 1"


# What was measured, and what the page says of it ------------------------------------------------------------------


def test_what_the_page_says_of_our_machine_is_what_was_measured():
    """The sentences of lesson 06 about the clock, one after the other, as the shipped numbers have them."""
    found = lesson.measured()
    assert lesson.fit(found.against_n).value == pytest.approx(2, abs=0.4)  # "close to 2", "a little more"
    assert lesson.fit(found.against_n_fused).value == pytest.approx(2, abs=0.1)
    assert lesson.fit(found.against_d).high < 0.85  # "clearly below 1"
    counted_crossing = 6 * 128
    assert found.layer.crossover("step_by_step") < found.layer.crossover("fused") < counted_crossing
    assert lesson.ratio(found.causal.full, found.causal.is_causal).value > 1.5  # "nearly twice as fast"
    assert lesson.ratio(found.causal.full, found.causal.as_mask).high < 1  # "makes it slower"
    assert found.race.flops / np.median(found.race.fused) / found.machine.peak > 0.6  # "two thirds … or more"
    assert 0 < found.race.largest_difference < 1e-6
    assert {p.name for p in found.points} > {"softmax", "fused", "decoding"}
    for way, mib in found.peaks.items():
        assert len(mib) == len(found.lengths[way])
        grown = float(mib[2] / mib[0])  # four times the length
        assert grown > 12 if way == "textbook" else grown < 6


def test_measured_numbers_go_through_their_file(tmp_path):
    from sdpa_helpers.course.shipped import read, write

    found = lesson.measured()
    write(tmp_path / "again.json", found)
    again = read(tmp_path / "again.json", type(found))
    assert (tmp_path / "again.json").read_text() == run.FILE.read_text()
    assert again.layer.crossover("fused") == found.layer.crossover("fused")
    assert str(again.about).endswith("made by: python -m sdpa_helpers.lessons.complexity.run")
