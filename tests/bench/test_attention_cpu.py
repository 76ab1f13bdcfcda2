"""`sdpa bench` on a CPU: what it would measure, and what it does with the times. Nothing here is timed."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from sdpa_helpers.bench import rounds, settings
from sdpa_helpers.bench.busy import busy
from sdpa_helpers.bench.rows import TimedRow
from sdpa_helpers.bench.settings import BenchOptions, Setting

# What is measured --------------------------------------------------------------------------------------------


def test_the_default_has_every_mask_dtype_and_direction_and_lengths_from_16_to_8192():
    timed = settings.plan(BenchOptions()).timed
    for field, all_of_them in (
        ("mask", settings.MASKS),
        ("dtype", settings.DTYPES),
        ("direction", settings.DIRECTIONS),
    ):
        assert {getattr(setting, field) for setting in timed} == set(all_of_them)
    assert {16, 8192} <= {setting.shape[2] for setting in timed}
    assert len(set(timed)) == len(timed)


def test_what_is_named_is_measured_in_all_combinations():
    asked = BenchOptions(masks=("bool", "padding-90"), directions=("backward",))
    timed, weighed = settings.plan(asked)
    assert [(x.mask, x.direction, x.dtype) for x in timed] == [
        ("bool", "backward", "float32"),
        ("padding-90", "backward", "float32"),
    ]
    assert weighed == []


def test_the_quick_run_is_a_small_part():
    quick, default = settings.plan(BenchOptions(quick=True)), settings.plan(BenchOptions())
    assert sum(x.operations for x in quick.timed) < sum(x.operations for x in default.timed) / 50


def test_the_formulas_stop_where_the_scores_do_not_fit(needs):
    needs("torch")
    from sdpa_helpers.bench import contestants

    shape = next(settings.of_length(n) for n in settings.LENGTHS if 16 * n * n > settings.FORMULA_MIB * 2**20)
    here = set(contestants.names(Setting(shape)))
    assert not here & contestants.ALL_SCORES
    assert {contestants.REFERENCE, "numpy-tiled", "torch-fused"} <= here
    assert {"numpy", "torch"} <= set(contestants.names(Setting((1, 2, 16, 4))))


@pytest.mark.parametrize(
    ("mask", "visible"), [("bool", 0.7), ("padding-50", 0.5), ("padding-90", 0.1), ("full", None)]
)
def test_masks_show_the_share_that_they_say(mask, visible):
    from sdpa_helpers.bench.contestants import mask_of

    made = mask_of(Setting((2, 3, 200, 4), mask))
    if visible is None:
        assert made is None
    else:
        assert made.dtype == bool
        assert np.broadcast_to(made, (2, 3, 200, 200)).mean() == pytest.approx(visible, abs=0.01)


@pytest.mark.parametrize("direction", settings.DIRECTIONS)
def test_everybody_computes_the_same_thing(needs, direction):
    needs("torch")
    from sdpa_helpers.bench import contestants

    for mask in settings.MASKS:
        setting = Setting((1, 2, 20, 4), mask, direction=direction)
        answers = {}
        for name in contestants.names(
            setting, ("numpy", "numpy-tiled", "torch", "torch-tiled", "torch-fused")
        ):
            answer = contestants.call_of(name, setting)()
            answers[name] = [np.asarray(x) for x in (answer if direction == "backward" else [answer])]
        assert len(answers) == (6 if direction == "forward" else 5)
        for answer in answers.values():
            for found, expected in zip(answer, answers[contestants.REFERENCE], strict=True):
                np.testing.assert_allclose(found, expected, atol=2e-6)


# Times and ratios --------------------------------------------------------------------------------------------


class Clock:
    """One that goes on by what is done, so that every time is known beforehand."""

    def __init__(self):
        self.now = 0.0

    def call(self, *seconds):
        """A call that takes these times in turn, the last one for ever after."""
        left = list(seconds)

        def work():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return work

    def pace(self, **options):
        return rounds.Pace(clock=lambda: self.now, **options)


def test_ratios_are_taken_within_a_round():
    """The machine is ten times as slow in some rounds: medians of the times would not agree with any round."""
    clock = Clock()
    slow = (1, 10, 1, 10, 1)
    calls = {
        "reference": clock.call(1, 1, *(2 * x for x in slow)),
        "other": clock.call(1, 1, *(3 * x for x in slow)),
    }
    times = rounds.interleaved(calls, clock.pace(rounds=5, seconds=100))
    assert times == {"reference": [2, 20, 2, 20, 2], "other": [3, 30, 3, 30, 3]}
    assert rounds.ratio(times["other"], times["reference"]) == (1.5, 1.5, 1.5)


def test_the_quartiles_say_how_far_rounds_agree():
    assert rounds.ratio([1, 2, 3, 4, 5], [1] * 5) == (3, 2, 4)
    assert rounds.ratio([6.0, 9.0], [3.0]) == (2, 2, 2)


def test_a_setting_is_bounded_in_time():
    clock = Clock()
    calls = {"reference": clock.call(1.0), "ours": clock.call(1.0), "formula": clock.call(20.0)}
    times = rounds.interleaved(calls, clock.pace(rounds=9, seconds=8.0, brief={"formula"}))
    assert {name: len(found) for name, found in times.items()} == {"reference": 4, "ours": 4, "formula": 1}


def test_a_short_call_is_repeated_in_its_turn():
    clock, made = Clock(), []
    short = clock.call(0.0001)
    times = rounds.interleaved({"short": lambda: (made.append(1), short())}, clock.pace(rounds=4))
    assert len(made) == 2 + 4 * math.ceil(rounds.TURN_SECONDS / 0.0001)
    assert times["short"] == pytest.approx([0.0001] * 4)


# Busy processes ----------------------------------------------------------------------------------------------


def test_busy_processes_end_with_the_block_whatever_happens():
    started = []

    def fails():
        with busy(2) as workers:
            started.extend(workers)
            assert [worker.poll() for worker in workers] == [None, None]
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert len(started) == 2
    assert all(worker.poll() is not None for worker in started)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_busy_processes_end_when_their_parent_is_killed():
    program = (
        "from sdpa_helpers.bench.busy import busy\nwith busy(1) as w: print(w[0].pid, flush=True); input()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True) as parent:
        worker = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(worker)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(
        f"/proc/{pid}/stat", encoding="ascii"
    ) as file:  # one that has ended, and that nobody waited for
        return file.read().rpartition(")")[2].split()[0] != "Z"


# What is written ---------------------------------------------------------------------------------------------


def made_up(threads, n, backend, milliseconds, extra_mib):
    return TimedRow(
        f"1,4,{n},64", False, "forward", backend, milliseconds, milliseconds / n, 50.0, extra_mib,
        threads=threads, ratio_low=milliseconds / n * 0.9, ratio_high=milliseconds / n * 1.2, rounds=9,
    )  # fmt: skip


ROWS = [
    made_up(threads, n, backend, factor * n / threads, None if threads > 1 else n / 100)
    for threads in (1, 2)
    for n in (16, 64, 256)
    for backend, factor in (("F.sdpa", 1), ("numba", 1.1), ("numpy", 5))
]
ABOUT = {"processor": "an abacus", "date": "2026-11-22"}


def test_the_files(needs, tmp_path):
    needs("matplotlib")
    from sdpa_helpers.bench import report

    written = report.write(ROWS, ABOUT, tmp_path)
    assert sorted(written) == sorted(path.name for path in tmp_path.iterdir())
    with (tmp_path / "attention.csv").open(newline="", encoding="utf-8") as file:
        header, first, *others = csv.reader(file)
    assert header[:8] == [
        "shape", "is_causal", "direction", "backend", "milliseconds", "ratio", "percent_of_gemm", "extra_mib",
    ]  # fmt: skip
    assert first[:4] == ["1,4,16,64", "False", "forward", "F.sdpa"]
    assert len(others) == len(ROWS) - 1
    kept = json.loads((tmp_path / "attention.json").read_text(encoding="utf-8"))
    assert kept["processor"] == "an abacus"
    assert kept["results"][1]["ratio_high"] == pytest.approx(1.1 * 1.2)
    assert "the formula, in NumPy: 1.3 s at n = 256; 2.56 MiB at n = 256" in kept["figures"]["attention.png"]
    assert "numba, 2 threads: 0.55." in kept["figures"]["attention-ratios.png"]


def test_what_was_not_measured_is_neither_drawn_nor_told(needs, tmp_path, monkeypatch):
    needs("matplotlib")
    from sdpa_helpers.bench import figures

    drawn = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *_, **__: drawn.append(len(figure.axes)))
    for rows in (ROWS, [replace(row, extra_mib=None) for row in ROWS]):
        figures.draw_lengths(rows, ABOUT, tmp_path / "attention.png")
        drawn.append("memory" in figures.lengths_in_words(rows))
    assert drawn == [2, True, 1, False]


def test_how_it_grows_is_told_of_several_long_calls_only(needs):
    needs("matplotlib")
    from sdpa_helpers.bench import figures

    assert "grow" not in figures.lengths_in_words(ROWS).partition("1.3 s")[2]
    longer = [replace(row, shape=row.shape.replace(",64,64", ",1024,64")) for row in ROWS]
    assert figures.lengths_in_words(longer).endswith(
        "In memory only the formula grows with n², the others with n."
    )
    unweighed = figures.lengths_in_words([replace(row, extra_mib=None) for row in longer])
    assert unweighed.endswith("In time all grow with n² from some hundred on.")


def test_the_ratios_hold_every_backward_row(needs):
    needs("matplotlib")
    from sdpa_helpers.bench import figures

    backward = replace(ROWS[1], direction="backward")
    assert figures.ratios_of([*ROWS, backward]) == [backward]


def test_the_figure_of_lengths_is_of_one_shape_at_fewest_threads(needs):
    needs("matplotlib")
    from sdpa_helpers.bench import figures

    other = TimedRow("1,1,4096,128", False, "forward", "numba", 1.0, 1.0, 50.0)
    lines = figures.lengths_of([other, *ROWS])
    assert [row.shape for row in lines["numba"]] == ["1,4,16,64", "1,4,64,64", "1,4,256,64"]
    assert {row.threads for found in lines.values() for row in found} == {1}


# The command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shape", "1,2,3"], "--shape 1,2,3: expected e.g. 1,8,1024,64"),
        (["--threads", "none"], '--threads none: expected a number from 1, or "all"'),
        (["--mask", "lower"], "--mask lower is unknown; expected one of: full, causal"),
        (["--backend", "abacus"], "--backend abacus is unknown; expected one of: numpy"),
        (["--quick", "--dtype", "float64"], "--quick measures settings of its own. With --shape,"),
        (["--device", "abacus"], "--device abacus is unknown; expected one of: cpu, cuda"),
    ],
)
def test_what_the_command_refuses(options, message):
    from sdpa_helpers.cli.app import app

    result = CliRunner().invoke(app, ["bench", *options])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_the_help_names_every_backend(needs):
    needs("torch")
    from sdpa_helpers.bench import contestants
    from sdpa_helpers.cli.bench import BACKENDS

    assert BACKENDS.split(", ") == contestants.on_a_cpu()


def test_one_setting_from_the_command_to_the_files(needs, tmp_path, capfd):
    needs("torch")
    from sdpa_helpers.cli.app import app

    small = ["--shape", "1,2,16,4", "--mask", "full", "--direction", "forward", "--no-memory"]
    command = [
        "bench",
        *small,
        "--threads",
        "1",
        "--backend",
        "numpy",
        "--rounds",
        "3",
        "--out",
        str(tmp_path),
    ]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "1,2,16,4" in capfd.readouterr().out  # the process that measures prints its lines
    assert result.output.count("percent_of_gemm: ") == result.output.count("(quartiles)") == 1
    assert "busy process" not in result.output
    kept = json.loads((tmp_path / "attention.json").read_text(encoding="utf-8"))
    assert [(row["backend"], row["threads"], row["rounds"]) for row in kept["results"]] == [
        ("F.sdpa", 1, 3),
        ("numpy", 1, 3),
    ]
    assert kept["runs"][0]["threads_of"]["torch"] == 1
    assert kept["cores"] >= 1
