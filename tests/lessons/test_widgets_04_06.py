"""The widgets of lessons 04 to 06 without a browser: their numbers, their pictures as SVG, the grid's positions."""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_rgb

from sdpa_helpers.lessons.complexity import widget as complexity_widget
from sdpa_helpers.lessons.complexity.experiments import Machine
from sdpa_helpers.lessons.complexity.widget import LENGTHS, PUBLISHED, WIDTHS, bound
from sdpa_helpers.lessons.gradients import widget as gradients_widget
from sdpa_helpers.lessons.gradients.widget import short, way_back
from sdpa_helpers.lessons.masking import widget as masking_widget
from sdpa_helpers.lessons.masking.widget import NEVER, layers_needed, leaks, presets, shortest_way
from sdpa_helpers.show.figures import BLUE, VERMILION

KEYS = ["the", "cat", "fears", "big", "dogs"]
TOKENS = ["the", "small", "cat", "fears", "two", "big", "dogs"]
SCORES, ARRIVED = [0, 0.577, 0, 0, 1.155], [-0.5, -4, -3, -3, -6.5]
SVG = "{http://www.w3.org/2000/svg}"

PANELS = {
    "gradients": lambda: gradients_widget.explore_way_back(KEYS, SCORES, ARRIVED),
    "masking": lambda: masking_widget.paint_mask(TOKENS),
    "complexity": lambda: complexity_widget.explore_roofline(Machine(5e10, 8e9)),
}
EVERY_PANEL = pytest.mark.parametrize("make", PANELS.values(), ids=PANELS)


def positions(panel):
    """Every stop of every control from the start, the corners of all, and some masks."""
    masks = [*presets(len(TOKENS)).values(), np.eye(7, dtype=bool)[::-1], np.ones((7, 7), dtype=bool)]
    stops = {name: list(c.stops) or masks for name, c in panel.controls.items()}
    for name, values in stops.items():
        for value in values:
            yield panel.start | {name: value}
    for corner in itertools.product(*((values[0], values[-1]) for values in stops.values())):
        yield panel.start | dict(zip(stops, corner, strict=True))


def shown(panel, **state) -> dict[str, str]:
    """What the picture writes, by name."""
    picture = ElementTree.fromstring(panel.draw(panel.start | state).svg)
    return {t.get("data-name"): t.text or "" for t in picture.iter(f"{SVG}text") if t.get("data-name")}


def read(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


# ---- what holds for each of them ---------------------------------------------------------------------------


@EVERY_PANEL
def test_every_picture_is_sound(make):
    panel, seen = make(), set()
    for state in positions(panel):
        drawing = panel.draw(state)
        picture = ElementTree.fromstring(drawing.svg)
        _, _, width, height = map(float, picture.get("viewBox").split())
        assert picture.get("role") == "img"
        assert picture.find(f"{SVG}title").text
        assert picture.find(f"{SVG}desc").text == drawing.text
        assert drawing.text.endswith(".")
        assert not re.search(r"\b(nan|inf|None)\b", drawing.svg), state
        for stroke in picture.iter():
            for name, limit in (("x", width), ("y", height), ("x2", width), ("y2", height), ("cx", width)):
                assert -1 <= float(stroke.get(name, 0)) <= limit + 1, (state, stroke.attrib)
            assert all(float(stroke.get(size, 0)) >= 0 for size in ("width", "height", "r"))
        seen.add(drawing.svg)
    assert len(seen) > 15


@EVERY_PANEL
def test_a_cell_stores_a_still_with_alt_text_and_no_widget(make):
    panel = make()
    data, _ = DisplayFormatter().format(panel)
    assert set(data) == {"text/plain", "text/html"}
    assert re.fullmatch(r"[^<>]{100,}", re.search(r'<img alt="([^"]+)"', data["text/html"])[1])
    assert data["text/html"] == make().html() == panel.html()
    json.dumps(panel.given(), allow_nan=False)
    np.testing.assert_equal(panel.values(panel.indices(panel.start)), panel.start)


def test_numbers_on_colour_keep_their_contrast_in_light_and_dark():
    """The strongest colours behind numbers, over JupyterLab's papers, with its inks: WCAG wants 4.5."""

    def luminance(colour):
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    light, dark = (np.array(to_rgb(paper)) for paper in ("#ffffff", "#212121"))
    for colour in (BLUE, VERMILION):
        for paper, ink in ((light, np.full(3, 0.13)), (dark, np.ones(3))):
            ground = 0.72 * np.array(to_rgb(colour)) + 0.28 * paper
            bright, dim = sorted((luminance(ground) + 0.05, luminance(ink) + 0.05), reverse=True)
            assert bright / dim > 4.5, (colour, paper)
    assert gradients_widget.COVER == masking_widget.COVER == 0.72


# ---- lesson 04 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", gradients_widget.FACTORS)
@pytest.mark.parametrize("row", ["this query", "all equal", "two tied", "saturated"])
def test_the_way_back_is_the_lessons_formula(row, factor):
    scores = gradients_widget.starting_scores(np.array(SCORES))[row] * factor
    e = np.exp(scores - scores.max())
    A, dA = e / e.sum(), np.array(ARRIVED)
    found = way_back(scores, dA)
    np.testing.assert_allclose(found.jacobian, np.diag(A) - np.outer(A, A), atol=1e-16)
    np.testing.assert_allclose(found.right, A * (dA - A @ dA), atol=2e-15)
    np.testing.assert_allclose(found.diagonal, A * (1 - A) * dA, atol=2e-15)
    assert gradients_widget.total(found.right) == "0"


def test_way_back_agrees_with_complex_steps():
    rng = np.random.default_rng(4)
    for _ in range(5):
        scores, dA = rng.normal(size=5), rng.normal(size=5)
        stepped = np.exp(scores + 1e-30j * np.eye(5))
        slopes = (stepped / stepped.sum(axis=-1, keepdims=True)).imag / 1e-30
        found = way_back(scores, dA)
        np.testing.assert_allclose(found.jacobian, slopes.T, atol=1e-15)
        np.testing.assert_allclose(found.right, slopes @ dA, atol=1e-15)


def test_the_picture_of_the_way_back_writes_these_numbers():
    panel = PANELS["gradients"]()
    state = {"row": "two tied", "factor": 0.1, "arrives": "this query's", "add_0": 3.0, "add_4": -10.0}
    texts = shown(panel, **state)
    scores = np.array([3.0, 0, 0, 8, -2]) * 0.1
    A = np.exp(scores) / np.exp(scores).sum()
    dA = np.array(ARRIVED)
    for i in range(5):
        assert read(texts[f"score-{i}"]) == pytest.approx(scores[i], abs=1e-9)
        assert read(texts[f"A-{i}"]) == pytest.approx(A[i], abs=5.1e-4)
        assert read(texts[f"dA-{i}"]) == dA[i]
        assert read(texts[f"dS-{i}"]) == pytest.approx(A[i] * (dA[i] - A @ dA), abs=5.1e-4)
        assert read(texts[f"diagonal-{i}"]) == pytest.approx(A[i] * (1 - A[i]) * dA[i], abs=5.1e-4)
        for j in range(5):
            assert read(texts[f"J-{i}-{j}"]) == pytest.approx(A[i] * ((i == j) - A[j]), abs=5.1e-4)
    assert texts["dS-sum"] == "0"
    assert read(texts["diagonal-sum"]) == pytest.approx((A * (1 - A) * dA).sum(), abs=5.1e-4)


def test_a_wish_that_is_the_same_for_all_is_no_wish():
    panel = PANELS["gradients"]()
    for row in panel.controls["row"].stops:
        for factor in gradients_widget.FACTORS:
            texts = shown(panel, row=row, factor=factor, arrives="7 for all")
            assert {texts[f"dS-{i}"] for i in range(5)} == {"0"}
    assert (
        "The right answer is zero; the diagonal's is not."
        in panel.draw(panel.start | {"arrives": "7 for all"}).text
    )


def test_what_the_lesson_says_about_its_widget():
    found = way_back(SCORES, ARRIVED)
    assert (np.sign(found.right) != np.sign(found.diagonal)).tolist() == [True] * 4 + [False]
    assert found.weights @ ARRIVED == pytest.approx(-4.31, abs=0.01)
    panel = PANELS["gradients"]()
    assert "Largest slope 8e−9 " in panel.draw(panel.start | {"row": "saturated"}).text
    assert "Largest slope 0.250 " in panel.draw(panel.start | {"row": "two tied", "factor": 5.0}).text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.24, "0.240"),
        (-2.0, "−2.000"),
        (9.9996, "10.0"),
        (-57.75, "−57.8"),
        (1234.5, "1234"),
        (4.2e-7, "4e−7"),
        (-4e-18, "−4e−18"),
        (float("inf"), "∞"),
    ],
)
def test_short_numbers(number, text):
    assert short(number) == text


@pytest.mark.parametrize(
    ("words", "scores"), [(["a"], [1]), (["a", "b"], [1, 2, 3]), (list("abcdef"), [0] * 6)]
)
def test_way_back_refuses_what_does_not_fit(words, scores):
    with pytest.raises(ValueError, match="one number of each for 2 to 5 words"):
        gradients_widget.explore_way_back(words, scores, scores)


# ---- lesson 05 ---------------------------------------------------------------------------------------------


def test_layers_needed_is_the_boolean_power():
    rng = np.random.default_rng(5)
    for share in (0.05, 0.2, 0.5):
        mask = rng.random((7, 7)) < share
        step = (mask | np.eye(7, dtype=bool)).astype(int)
        for layers in range(1, 9):
            needed = layers_needed(mask, layers)
            for i, j in np.ndindex(7, 7):
                powers = [p for p in range(layers + 1) if np.linalg.matrix_power(step, p)[i, j]]
                assert needed[i, j] == (min(powers) if powers else NEVER)
                way = shortest_way(mask, i, j)
                if i != j and layers == 8:
                    assert len(way) == (needed[i, j] + 1 if needed[i, j] != NEVER else 0)
                    assert all(mask[a, b] for a, b in itertools.pairwise(way))


def test_what_the_lesson_says_about_masks():
    masks = presets(7)
    assert layers_needed(masks["window"], 8)[6, 0] == 6
    wrong = masks["causal"].copy()
    wrong[1, 5] = True
    assert [int(leaks(layers_needed(wrong, layers)).sum()) for layers in (1, 2, 3, 4)] == [1, 7, 10, 10]
    for name in ("causal", "window", "causal + padding", "empty"):
        assert not leaks(layers_needed(masks[name], 8)).any()
    assert masks["padding"].all(axis=0).tolist() == [True] * 5 + [False] * 2
    assert (layers_needed(masks["empty"], 8) == np.where(np.eye(7, dtype=bool), 0, NEVER)).all()


def test_the_picture_marks_leaks_and_empty_rows():
    panel = PANELS["masking"]()
    mask = presets(7)["causal"].copy()
    mask[1, 5], mask[0] = True, False
    texts = shown(panel, mask=mask, layers=3)
    assert texts["reach-1-5"] == "1!"
    assert texts["reach-2-3"] == "3!"
    assert texts["reach-0-0"] == "0"
    assert texts["reach-0-1"] == "·"
    assert "empty-0" in texts
    assert "empty-1" not in texts
    text = panel.draw(panel.start | {"mask": mask, "layers": 3}).text
    assert "10 leaks into the future: in layer 1 small → big; in layer 3 cat → small → big → fears." in text
    assert text.endswith("1 row sees nothing: the.")
    encoder = shown(panel, mask=mask, layers=3, decoder=False)
    assert encoder["reach-1-5"] == "1"


def test_a_mask_and_its_position_belong_together():
    panel = PANELS["masking"]()
    grid = panel.controls["mask"]
    rng = np.random.default_rng(5)
    for mask in [*presets(7).values(), np.ones((7, 7), dtype=bool), *(rng.random((9, 7, 7)) < 0.5)]:
        assert grid.index(mask) < 2**53  # exact as a number of JavaScript
        np.testing.assert_array_equal(grid.value(grid.index(mask)), mask)
    with pytest.raises(ValueError, match=r"must be \(7, 7\)"):
        panel.set(mask=np.ones((2, 2)))


def test_the_kernel_answers_a_painted_cell():
    panel = PANELS["masking"]()
    model = panel.widget()
    wrong = presets(7)["causal"].copy()
    wrong[1, 5] = True
    panel.set(mask=wrong, layers=2)
    assert "7 leaks" in model.answer["text"]
    np.testing.assert_array_equal(panel.state["mask"], wrong)


def test_the_grids_module_is_the_scaffold_with_one_more_control():
    from sdpa_helpers.lessons.masking.widget_model import PaintModel, module

    text = module()
    assert (
        text.count("function plainControl(")
        == text.count("function control(")
        == text.count("function grid(")
        == 1
    )
    assert text.count("export default") == 1
    assert "sdpaPanels" not in text + PANELS["masking"]().html()
    assert "sdpaPaintPanels" in text
    assert "function grid(" in PaintModel._esm


@pytest.mark.parametrize("count", [2, 8])
def test_paint_mask_refuses_what_does_not_fit(count):
    with pytest.raises(ValueError, match="3 to 7 fit"):
        masking_widget.paint_mask(["word"] * count)


# ---- lesson 06 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("way", complexity_widget.WAYS)
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
    assert texts["held"] == "more than its 16 GB"


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
    assert "this machine" not in complexity_widget.explore_roofline().controls["hardware"].stops
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
    assert complexity_widget.duration(number) == text
