"""The lessons' widgets without a browser: their numbers, their pictures as SVG, and how Python answers the page."""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.dot_product import widget as dot_product_widget
from sdpa_helpers.lessons.softmax import widget as softmax_widget
from sdpa_helpers.lessons.variance_proof import widget as variance_proof_widget
from sdpa_helpers.lessons.variance_proof.experiments import sample_scores
from sdpa_helpers.show.panels import Panel, button, choice, slider, switch
from sdpa_helpers.show.svg import Canvas, Scale, plain, ticks

PANELS = {
    "dot_product": dot_product_widget.explore_keys,
    "variance_proof": variance_proof_widget.explore_scores,
    "softmax": softmax_widget.explore_temperature,
}
EVERY_PANEL = pytest.mark.parametrize("make", PANELS.values(), ids=PANELS)
SVG = "{http://www.w3.org/2000/svg}"


def corners(panel: Panel):
    """Every combination of the ends of all controls, and each control's positions one by one from the start."""
    ends = {n: {0, 1} if c.kind == "button" else {0, len(c.stops) - 1} for n, c in panel.controls.items()}
    for at in itertools.product(*ends.values()):
        yield panel.values(dict(zip(ends, at, strict=True)))
    for name, control in panel.controls.items():
        for value in control.stops or range(3):
            yield panel.start | {name: value}


def numbers(panel: Panel, **state) -> dict[str, float]:
    """The numbers that a picture shows, by name."""
    picture = ElementTree.fromstring(panel.draw(panel.start | state).svg)
    shown = {t.get("data-name"): t.text or "" for t in picture.iter(f"{SVG}text") if t.get("data-name")}
    return {name: float(text.replace("−", "-").replace("∞", "inf")) for name, text in shown.items()}


# ---- what holds for each of them ---------------------------------------------------------------------------


@EVERY_PANEL
def test_every_picture_is_sound(make):
    panel, seen = make(), set()
    for state in corners(panel):
        drawing = panel.draw(state)
        picture = ElementTree.fromstring(drawing.svg)
        _, _, width, height = map(float, picture.get("viewBox").split())
        assert picture.get("role") == "img"
        described = [picture.find(f"{SVG}{tag}") for tag in ("title", "desc")]
        assert picture.get("aria-labelledby").split() == [part.get("id") for part in described]
        assert described[1].text == drawing.text
        assert not re.search(r"\b(nan|inf|None)\b", drawing.svg), state
        assert drawing.text.endswith(".")
        for stroke in picture.iter():
            for name, high in (("x", width), ("y", height), ("x1", width), ("x2", width), ("y1", height)):
                assert -1 <= float(stroke.get(name, 0)) <= high + 1, (state, stroke.attrib)
            for size in ("width", "height", "r"):
                assert float(stroke.get(size, 0)) >= 0
        assert len(drawing.svg) < 40_000
        seen.add(drawing.svg)
    assert len(seen) > 30


@EVERY_PANEL
def test_the_same_state_gives_the_same_picture(make):
    for state in itertools.islice(corners(make()), 0, None, 17):
        assert make().draw(state) == make().draw(state)


@EVERY_PANEL
def test_letters_have_the_colour_of_the_page(make):
    """So they can be read in light and in dark."""
    picture = ElementTree.fromstring(make().draw(make().start).svg)
    assert picture.get("fill") == "currentColor"
    assert all(text.get("fill") is None for text in picture.iter(f"{SVG}text"))


@EVERY_PANEL
def test_a_cell_stores_a_still_with_alt_text_and_no_widget(make):
    data, _ = DisplayFormatter().format(make())
    assert set(data) == {"text/plain", "text/html"}
    assert re.fullmatch(r"[^<>]{40,}", re.search(r'<img alt="([^"]+)"', data["text/html"])[1])
    assert data["text/plain"].startswith(make().title)
    assert make().html() == make().html() == data["text/html"]


@EVERY_PANEL
def test_every_control_has_a_name_and_starts_at_a_stop(make):
    panel = make()
    labels = [control.label for control in panel.controls.values()]
    assert len({*labels}) == len(labels)
    assert all(labels)
    assert panel.values(panel.indices(panel.start)) == panel.start
    json.dumps(panel.given(), allow_nan=False)


# ---- lesson 01 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0, 30, 60, 90, 135, 180])
@pytest.mark.parametrize("length_k", [0.0, 0.1, 2.0, 4.0])
@pytest.mark.parametrize("length_q", [0.0, 1.0, 2.0])
def test_dot_products_and_cosines(angle, length_q, length_k):
    panel = dot_product_widget.explore_keys()
    shown = numbers(panel, angle=angle, length_q=length_q, length_k=length_k)
    cosine = np.cos(np.radians(angle))
    right = {
        "dot-A": length_q,
        "dot-B": length_q * length_k * cosine,
        "cosine-A": float(length_q > 0),
        "cosine-B": cosine if length_q * length_k > 0 else 0.0,
    }
    assert shown == pytest.approx(right, abs=0.00501)


@pytest.mark.parametrize(
    ("angle", "length_k", "length_q", "by_dot", "by_cosine"),
    [
        (60, 2.0, 1.0, "neither key wins", "key A wins"),
        (60, 2.1, 1.0, "key B wins", "key A wins"),
        (60, 1.9, 2.0, "key A wins", "key A wins"),
        (0, 3.0, 0.1, "key B wins", "neither key wins"),
        (90, 4.0, 1.0, "key A wins", "key A wins"),
        (180, 4.0, 0.0, "neither key wins", "neither key wins"),
    ],
)
def test_who_wins(angle, length_k, length_q, by_dot, by_cosine):
    state = {"angle": angle, "length_k": length_k, "length_q": length_q}
    text = dot_product_widget.explore_keys().draw(state).text
    assert text.endswith(f"By dot product {by_dot}, by cosine {by_cosine}.")


def test_the_length_that_wins_is_where_the_winner_changes():
    for angle in range(0, 90, 5):
        length = dot_product_widget.length_that_wins(angle)
        shorter, longer = (
            dot_product_widget.duel(angle, 1.0, f * length).dots[1] for f in (1 - 1e-6, 1 + 1e-6)
        )
        assert shorter < 1 < longer
    assert dot_product_widget.length_that_wins(90) == dot_product_widget.length_that_wins(120) == np.inf


# ---- lesson 02 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", variance_proof_widget.KINDS)
@pytest.mark.parametrize("d", [1, 2, 64, 4096])
@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("mean", [-2.0, 0.0, 0.5])
def test_measured_moments_meet_the_formula(kind, d, rho, mean):
    n = 40_000
    sample = variance_proof_widget.correlated_scores(d, kind, rho, mean, draw=5, count=n)
    exact = variance_proof_widget.promised(d, kind, rho, mean)
    error = np.sqrt(exact.variance / n)
    error_of_variance = np.sqrt(max(np.mean((sample - sample.mean()) ** 4) - sample.var() ** 2, 0.0) / n)
    assert sample.mean() == pytest.approx(exact.mean, abs=4.5 * error + 1e-9 * d)
    assert sample.var() == pytest.approx(exact.variance, abs=4.5 * error_of_variance + 1e-6 * d)


@pytest.mark.parametrize(
    ("kind", "d"), [("normal", 1), ("normal", 3), ("normal", 64), ("coins", 3), ("coins", 64)]
)
def test_the_short_cut_has_the_distribution_of_real_vectors(kind, d):
    """Kolmogorov and Smirnov's distance to scores of vectors that were really drawn; 0.1 % of samples lie beyond."""
    n = 10_000
    short = np.sort(variance_proof_widget.correlated_scores(d, kind, draw=9, count=n))
    real = np.sort(sample_scores(d, n, seed=11, kind=kind))
    places = np.concatenate([short, real])
    both = [np.searchsorted(np.round(x, 9), np.round(places, 9), side="right") / n for x in (short, real)]
    assert np.abs(both[0] - both[1]).max() < 1.95 * np.sqrt(2 / n)


def test_correlated_normal_components_really_are():
    rng = np.random.default_rng(4)
    a, e = rng.standard_normal((2, 20_000, 5))
    q, k = 0.5 + a, 0.5 - 0.6 * a + 0.8 * e
    real = np.sort((q * k).sum(axis=-1))
    short = np.sort(variance_proof_widget.correlated_scores(5, "normal", -0.6, 0.5, count=20_000))
    assert np.abs(np.searchsorted(real, short) / 20_000 - np.arange(20_000) / 20_000).max() < 0.02


@pytest.mark.parametrize("scale", ["1", "1/√d", "1/d"])
def test_histogram_numbers(scale):
    panel = variance_proof_widget.explore_scores()
    state = {"d_k": 256, "kind": "dice", "rho": 0.5, "mean": -0.3, "scale": scale, "again": 3}
    factor = {"1": 1.0, "1/√d": 1 / 16, "1/d": 1 / 256}[scale]
    sample = factor * variance_proof_widget.correlated_scores(256, "dice", 0.5, -0.3, draw=3)
    shown = numbers(panel, **state)
    assert shown["mean"] == pytest.approx(sample.mean(), rel=0.006)
    assert shown["variance"] == pytest.approx(sample.var(), rel=0.006)
    assert shown["spread"] == pytest.approx(sample.std(), rel=0.006)
    assert shown["mean-exact"] == pytest.approx(factor * 256 * (0.09 + 0.5), rel=0.006)
    assert shown["variance-bell"] == pytest.approx(256 * factor**2, rel=0.006)
    text = panel.draw(panel.start | state).text
    low, high = (float(x) for x in re.search(r"variance [\d.]+ \(([\d.]+) to ([\d.]+)\)", text).groups())
    assert low < shown["variance"] < high


def test_the_interval_holds_the_exact_variance_about_19_times_of_20():
    found = [
        variance_proof_widget.measured(variance_proof_widget.correlated_scores(64, draw=draw))[1]
        for draw in range(300)
    ]
    assert 0.90 < np.mean([v.low <= 64 <= v.high for v in found]) < 0.99


@pytest.mark.parametrize("kind", variance_proof_widget.KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 64, 1024])
@pytest.mark.parametrize("axis", variance_proof_widget.AXES)
def test_bins_cover_the_axis_and_lose_nobody_inside(kind, d, axis):
    state = variance_proof_widget.explore_scores().start | {"d_k": d, "kind": kind, "axis": axis}
    exact = variance_proof_widget.promised(d, kind)
    low, high = variance_proof_widget.axis_of(state, np.sqrt(d), exact)
    edges = variance_proof_widget.bins_of(low, high, state, 1.0)
    assert edges[0] <= low + 1e-9
    assert edges[-1] >= high - 1e-9
    assert np.ptp(np.diff(edges)) < 1e-9 * high
    assert 5 <= len(edges) <= 60 or d < 4
    if kind == "coins":  # no score lies on an edge
        reachable = np.arange(-d, d + 1, 2)
        assert np.abs(edges[:, None] - reachable).min() > 0.2


def test_coins_that_are_all_alike_have_no_spread():
    panel = variance_proof_widget.explore_scores()
    assert numbers(panel, kind="coins", rho=1.0)["variance"] == 0
    assert numbers(panel, kind="coins", rho=1.0)["mean"] == 64
    assert (
        "100 % of the scores lie beyond"
        in panel.draw(panel.start | {"kind": "coins", "rho": 1.0, "axis": "−4 to 4"}).text
    )


# ---- lesson 03 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("n", [2, 16, 64])
def test_sharpness_numbers(temperature, scaled, n):
    panel = softmax_widget.explore_temperature()
    shown = numbers(panel, temperature=temperature, scaled=scaled, keys=n, d_k=256, again=1)
    z = softmax_widget.unit_scores(n, 1)
    weights = softmax(z * (1 if scaled else 16) / temperature)
    nats = -sum(w * np.log(w) for w in weights if w > 0)
    assert shown["largest"] == pytest.approx(weights.max(), abs=0.000501)
    assert shown["entropy"] == pytest.approx(nats, abs=0.00501)
    assert shown["effective"] == pytest.approx(np.exp(nats), abs=0.0501)


def test_the_limits_of_temperature():
    panel = softmax_widget.explore_temperature()
    assert numbers(panel, temperature=0.0) == {"largest": 1.0, "entropy": 0.0, "effective": 1.0}
    for d_k in (1, 4096):
        even = numbers(panel, temperature=np.inf, d_k=d_k, scaled=False, keys=20)
        assert even == {"largest": 0.05, "entropy": 3.0, "effective": 20.0}
    np.testing.assert_array_equal(softmax_widget.weights_at(np.array([2.0, 2.0, 0.0]), 0), [0.5, 0.5, 0])


def test_the_root_of_d_k_is_a_temperature_and_scaling_takes_d_k_out():
    panel = softmax_widget.explore_temperature()
    plain_row = numbers(panel, d_k=64, scaled=True, temperature=1.0)
    assert numbers(panel, d_k=64, scaled=False, temperature=8.0) == plain_row
    assert all(numbers(panel, d_k=2**i) == plain_row for i in range(13))
    assert numbers(panel, d_k=4096, scaled=False)["effective"] < 1.1 < plain_row["effective"]


def test_more_keys_keep_the_keys_that_were_there():
    few, many = softmax_widget.unit_scores(5), softmax_widget.unit_scores(6)
    assert set(few) < set(many)
    assert list(many) == sorted(many, reverse=True)
    assert not set(few) & set(softmax_widget.unit_scores(5, draw=1))


# ---- controls, and the part in the kernel ------------------------------------------------------------------


def small_panel() -> Panel:
    def draw(state):
        return Canvas(10, 10).finish("A <title>", f"n & T: {state['n']}, {state['T']}, {state['on']}.")

    controls = [
        slider("n", "keys", range(3), 1, str),
        slider("T", "T", [0.0, 1.0, np.inf], 1.0),
        switch("on", "on"),
        choice("way", "way", ["a", "b"], "b"),
        button("again", "again"),
    ]
    return Panel("small", "Small", controls, draw, dot_product_widget.still_duel)


def test_values_and_positions():
    panel = small_panel()
    assert panel.start == {"n": 1, "T": 1.0, "on": False, "way": "b", "again": 0}
    assert panel.values({"n": 99, "T": 2, "on": 1, "way": -1, "again": 7}) == {
        "n": 2, "T": np.inf, "on": True, "way": "a", "again": 7,
    }  # fmt: skip
    assert panel.given()["controls"][1]["shown"] == ["0", "1", "inf"]
    with pytest.raises(ValueError, match=re.escape("n has no stop at 9, the nearest is 2")):
        panel.indices({"n": 9})
    with pytest.raises(ValueError, match="way has no stop at 'c'"):
        panel.indices({"way": "c"})
    with pytest.raises(ValueError, match="no control is called m; there are n, T, on, way, again"):
        panel.set(m=1)


def test_the_kernel_answers_what_is_asked_and_not_what_the_page_has():
    panel = small_panel()
    model = panel.widget()
    assert (model.answer["number"], model.answer["text"]) == (0, "n & T: 1, 1.0, False.")
    model.asked = {"number": 4, "at": model.asked["at"] | {"T": 2}, "known": False}
    assert (model.answer["number"], model.answer["text"]) == (4, "n & T: 1, inf, False.")
    model.asked = {"number": 5, "at": model.asked["at"] | {"n": 0}, "known": True}
    assert model.answer["number"] == 4
    assert panel.state["n"] == 0
    panel.set(n=2, on=True)
    assert (model.answer["number"], model.answer["text"]) == (6, "n & T: 2, inf, True.")


def test_the_kernel_draws_ahead_for_a_slice_of_time_but_at_least_one(monkeypatch):
    from sdpa_helpers.show import panels_model as widgets_model

    model, sent = small_panel().widget(), []
    monkeypatch.setattr(model, "send", sent.append)
    wanted = [model.asked["at"] | {"n": n} for n in (0, 2)]
    model._draw_ahead(None, {"ahead": wanted}, [])
    assert [frame["text"] for frame in sent[0]["frames"]] == [
        "n & T: 0, 1.0, False.",
        "n & T: 2, 1.0, False.",
    ]
    monkeypatch.setattr(widgets_model, "SLICE", -1.0)
    model._draw_ahead(None, {"ahead": wanted}, [])
    assert [frame["at"] for frame in sent[1]["frames"]] == wanted[:1]


def test_the_key_tells_panels_apart():
    keys = [PANELS[name]().given()["key"] for name in PANELS] + [small_panel().given()["key"]]
    assert len({*keys}) == len(keys)
    assert keys == [PANELS[name]().given()["key"] for name in PANELS] + [small_panel().given()["key"]]


# ---- strokes -----------------------------------------------------------------------------------------------


def test_a_scale_ends_at_its_ends():
    linear, log = Scale((-2, 2), (100, 0)), Scale((1, 100), (0, 10), log=True)
    assert [linear(x) for x in (-2, 0, 2, 9, -np.inf)] == [100, 50, 0, 0, 100]
    assert [log(x) for x in (0.0, 1, 10, 100, np.inf)] == pytest.approx([0, 0, 5, 10, 10])


def test_ticks_are_round_and_inside():
    assert ticks(-4, 4) == [-4, -2, 0, 2, 4]
    assert ticks(-100, 100) == [-100, -50, 0, 50, 100]
    assert ticks(0, 0.03) == pytest.approx([0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03])
    for low, high in [(-32.1, 32.1), (-256, 2400), (-1e-3, 4e-3)]:
        found = ticks(low, high)
        assert 3 <= len(found) <= 9
        assert low - 1e-9 <= found[0] < found[-1] <= high + 1e-9


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (64, "64"),
        (0.0625, "0.0625"),
        (2048.4, "2048"),
        (-3.14159, "−3.14"),
        (np.inf, "∞"),
    ],
)
def test_numbers_are_short(number, text):
    assert plain(number) == text


def test_words_are_escaped():
    canvas = Canvas(10, 10)
    canvas.text((1, 2), "a < b & c")
    picture = ElementTree.fromstring(canvas.finish("<title>", 'say "&"').svg)
    assert [picture.find(f"{SVG}{tag}").text for tag in ("title", "desc", "text")] == [
        "<title>", 'say "&"', "a < b & c",
    ]  # fmt: skip
