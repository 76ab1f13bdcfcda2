"""Lesson 09: what the page does, what its processes do and leave, the model, and the panel that draws it."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.lessons import many_machines as lesson
from sdpa_helpers.lessons.many_machines import experiments, tables, widget
from sdpa_helpers.lessons.many_machines.experiments import METHODS, Layer, Rates
from sdpa_helpers.show.panels import SCAFFOLD, TOUCH
from tests.lessons.pages import functions, run


@pytest.fixture(scope="module")
def page():
    """What the core's cells define, up to the programs of the processes."""
    return run(
        "09_many_machines",
        "parts",
        "ring-run",
        "ring-check",
        "causal-compare",
        "zigzag-run",
        "processes-program",
    )


# The page ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "ranks"), [(16, 2), (48, 4), (60, 5), (12, 1)])
def test_the_ring_of_the_page_is_attention_whoever_holds_what(page, n, ranks):
    rng = np.random.default_rng(n)
    Q, K, V = rng.normal(size=(2, n, 3)) * 30, rng.normal(size=(2, n, 3)), rng.normal(size=(2, n, 5))
    dealt = np.array_split(rng.permutation(n), ranks)
    for holds, is_causal in ((page["zigzag"](n, ranks), True), (dealt, False)):
        output, work = page["ring_attention"](Q, K, V, holds, is_causal)
        np.testing.assert_allclose(
            output, scaled_dot_product_attention(Q, K, V, is_causal=is_causal), atol=1e-11
        )
        assert work.sum() == (n * (n + 1) // 2 if is_causal else n * n)


@pytest.mark.parametrize(("n", "ranks"), [(16, 2), (48, 4), (48, 6), (64, 8)])
@pytest.mark.parametrize("zigzag", [False, True])
def test_the_model_counts_the_work_of_the_page(page, n, ranks, zigzag):
    holds = page["zigzag"](n, ranks) if zigzag else np.split(np.arange(n), ranks)
    rows = np.zeros((1, n, 1))
    _, work = page["ring_attention"](rows, rows, rows, holds, is_causal=True)
    layer = Layer(n, 1, 1, 1, 1)
    steps = experiments.work_of_steps(n, ranks, zigzag=zigzag)
    assert steps.tolist() == work.max(axis=0).tolist()
    assert experiments.busiest(layer, ranks, "ring", zigzag=zigzag) == page["time_of"](work)
    assert experiments.busiest(layer, ranks, "all-gather", zigzag=zigzag) == work.sum(axis=1).max()


def test_what_the_text_says_of_contiguous_pieces(page):
    for ranks in (2, 4, 8):
        rows, holds = np.zeros((1, 128, 1)), np.split(np.arange(128), ranks)
        _, full = page["ring_attention"](rows, rows, rows, holds)
        _, causal = page["ring_attention"](rows, rows, rows, holds, is_causal=True)
        share = page["time_of"](causal) / page["time_of"](full)
        assert share == pytest.approx(1 - 1 / (2 * ranks), abs=0.02)


def test_the_page_s_formula_for_bytes_is_the_package_s():
    found = functions("09_many_machines")
    layer = Layer(2**17, 128, 8, 128, 96)
    for ranks in (2, 4, 8):
        there = found["bytes_sent"](layer.n, ranks, *layer[1:], size=2)
        assert there == {method: experiments.bytes_sent(layer, ranks, method) for method in METHODS}


def test_two_machines_find_lea_s_tea_by_their_sums():
    found = run("09_many_machines", "short-merge-run")
    assert found["drinks"][found["a"].argmax()] == found["drinks"][found["both"].argmax()] == "tea"
    assert found["sum_a"] > 1000 > 10 > found["sum_b"]
    assert found["same"]


def test_a_partition_that_loses_rows_is_not_drawn(page):
    lost = lesson.who_waits(lambda n, ranks: [np.zeros(n // ranks, int)] * ranks)
    none = lesson.who_waits(lambda n, ranks: NotImplemented)
    assert str(lost) == str(none)
    assert "yours: the busiest rank has 0.54, 0.50, 0.50, 0.50" in str(lesson.who_waits(page["zigzag"]))


def test_tables_show_what_was_counted():
    text = tables.work_table(np.array([[3, 0], [3, 4]]), np.full((2, 2), 4))
    assert [line.split() for line in text.split("\n")][3:] == [
        ["busiest", "3", "4", "7"],
        ["no", "mask", "4", "4", "8"],
    ]
    assert tables.bytes_table({"a": 1000.0, "b": 2500.0}).split("\n")[1].split()[:4] == [
        "b",
        "2,500",
        "bytes",
        "2.50",
    ]


# The processes ----------------------------------------------------------------------------------------------

PROGRAM = """
import os, signal, sys, time
from sdpa_helpers.lessons.many_machines import Ranks

def pid(rank):
    import os
    return os.getpid()

def hang(rank):
    import time
    time.sleep(600 if rank else 0)

def fail(rank):
    import sys
    sys.stdout = None
    raise ValueError(f"rank {rank} has had enough")

def alive(pids):
    return sum(os.path.exists(f"/proc/{one}") for one in pids)

if __name__ == "__main__":
    arguments = [(0,), (1,)]
    with Ranks(2) as ranks:
        pids = [reply.value for reply in ranks.run(pid, arguments)]
    print("left", alive(pids))
    try:
        with Ranks(2) as ranks:
            pids = [reply.value for reply in ranks.run(pid, arguments)]
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            ranks.run(hang, arguments)
    except KeyboardInterrupt:
        print("interrupted", alive(pids))
    with Ranks(2) as ranks:
        pids = [reply.value for reply in ranks.run(pid, arguments)]
        try:
            ranks.run(fail, arguments)
        except RuntimeError as error:
            print("failed", "has had enough" in str(error), alive(pids), ranks.alive())
    with Ranks(2) as ranks:
        pids = [reply.value for reply in ranks.run(pid, arguments)]
        print("pids", *pids, flush=True)
        ranks.run(hang, arguments)
"""


def test_no_process_is_left_whatever_ends_their_cell(needs, tmp_path):
    """The block's end, an interrupt, an error in a rank; at last the kernel is killed while one of them computes."""
    needs("torch")
    if sys.platform != "linux":
        pytest.skip("it looks into /proc")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    kernel = subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert kernel.stdout
    lines = [kernel.stdout.readline().split() for _ in range(4)]
    assert lines[:3] == [["left", "0"], ["interrupted", "0"], ["failed", "True", "0", "0"]]
    pids = [int(pid) for pid in lines[3][1:]]
    assert len(pids) == 2
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    os.kill(kernel.pid, signal.SIGKILL)
    kernel.wait()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    kernel.stdout.close()


# The model --------------------------------------------------------------------------------------------------

FAST = Rates(1e15, 1e30, 0.0)
LLAMA = Layer(2**17, 32, 8, 128, 128)


def test_without_messages_devices_share_the_work_and_nothing_else():
    alone = experiments.spend(LLAMA, 1, "ring", FAST).total
    assert alone == pytest.approx(4 * 128 * 32 * (2**17 * (2**17 + 1) / 2) / 1e15)
    for method in METHODS:
        assert experiments.spend(LLAMA, 8, method, FAST).total == pytest.approx(alone / 8)


def test_the_ring_waits_for_what_a_step_does_not_hide():
    """By hand: two ranks, one hop, which runs while the own block is computed."""
    layer, rates = Layer(8, 1, 1, 1, 1), Rates(flops=4.0, link=2.0, latency=0.5)
    spent = experiments.spend(layer, 2, "ring", rates)  # a block: 4 rows of 2 numbers of 2 bytes
    assert spent.communication == 0.5 + 16 / 2
    assert spent.compute == 10 + 8  # 4 · 5 / 2 pairs and 4 · 4 / 2, four operations each, four in a second
    assert spent.exposed == 0
    slow = experiments.spend(layer, 2, "ring", rates._replace(link=1.0))
    assert slow.exposed == 16.5 - 10
    assert experiments.spend(layer, 2, "all-gather", rates).exposed == 8.5


def test_ulysses_ends_at_the_heads_and_repeats_keys_before():
    assert [experiments.is_possible(LLAMA, ranks, "Ulysses") for ranks in (8, 32, 64)] == [True, True, False]
    assert experiments.bytes_sent(LLAMA, 16, "Ulysses") == 15 / 256 * 2**17 * (32 + 16) * 256 * 2
    assert not experiments.is_possible(LLAMA._replace(n=1024), 1024, "ring")


def test_it_pays_later_over_a_slower_link():
    rates = Rates(0.6 * 989e12, 50e9, 10e-6)
    slow, fast = (
        experiments.pays_from(LLAMA, 8, "ring", rates._replace(link=link)) for link in (50e9, 450e9)
    )
    assert (slow, fast) == (8192, 4096)
    assert experiments.pays_from(LLAMA, 8, "ring", rates._replace(latency=1e6)) == 0


# The panel --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pictures(in_node):
    """What the page works out for some settings."""
    given = widget.explore_devices().given

    def ask(states):
        code = (
            "data.states.map(s => { const p = pictureOf(data.given, s); return { ...p, words: wordsOf(p) } })"
        )
        return in_node((SCAFFOLD, TOUCH, widget.SCRIPT), code, {"given": given, "states": states})

    return ask


def test_the_page_models_as_python_does(pictures):
    stops = {
        "model": (0, 2),
        "length": (0, 5, 14),
        "devices": (0, 3, 9),
        "tflops": (2,),
        "link": (0, 20),
        "latency": (6,),
    }
    states = [
        {**dict(zip(stops, at, strict=True)), "zigzag": zigzag}
        for at in itertools.product(*stops.values())
        for zigzag in (0, 1)
    ]
    for state, picture in zip(states, pictures(states), strict=True):
        now = widget.chosen(state)
        for method, spent in zip(METHODS, picture["now"], strict=True):
            right = now.spent(method)
            if right is None:
                assert spent is None
                continue
            got = [spent[name] for name in ("compute", "communication", "exposed", "total")]
            assert got == pytest.approx([*right, right.total], rel=1e-9, abs=1e-18), (method, state)
        assert picture["alone"] == pytest.approx(experiments.spend(now.layer, 1, "ring", now.rates).total)


def test_the_panel_says_at_its_start_what_python_says(pictures):
    (start,) = pictures([widget.START])
    said = widget.explore_devices().text
    assert said.startswith(f"{start['words']['first']} The fastest is Ulysses")
    assert start["words"]["second"].startswith("The fastest is Ulysses")
    few = {**widget.START, "length": 0, "devices": 9}
    assert pictures([few])[0]["words"]["first"].startswith("1,024 tokens are too few for 4,096 devices")


def test_presets_are_stops_of_the_sliders():
    for hardware in widget.HARDWARE:
        assert hardware.tflops in widget.TFLOPS
        assert hardware.link in widget.LINKS


def test_the_figure_tells_who_is_busiest(page):
    picture = lesson.plot_work({"contiguous": page["contiguous"], "zigzag": page["zigzag"](48, 4)})
    assert "contiguous: the busiest rank has 0.54, 1.00, 1.00, 1.00" in picture.alt
    assert "zigzag: the busiest rank has 0.54, 0.50, 0.50, 0.50" in picture.alt
