"""Panels that the page draws by itself, in a plain page without kernel and network: what is dragged is what is said."""

import math

import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.lessons.does_scaling_matter.arms import Arm
from sdpa_helpers.lessons.does_scaling_matter.results import accuracies, of
from sdpa_helpers.lessons.heads_and_variants.widget import score_at
from sdpa_helpers.lessons.softmax.widget import TEMPERATURES, unit_scores
from tests.lessons.pictures import PANELS

from .lesson_widgets import number, shown


@pytest.fixture
def opened(page, tmp_path):
    """A page with one of these panels."""

    def show(lesson: str, **context):
        file = tmp_path / f"{lesson}.html"
        file.write_text(f"<!doctype html><meta charset='utf-8'>{PANELS[lesson]().html()}", encoding="utf-8")
        made = page(width=900, **context)
        made.goto(file.as_uri())
        made.locator(".panel svg").first.wait_for()
        return made

    return show


def middle(element) -> tuple[float, float]:
    """Of an element, in the window."""
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, tip, right: float, down: float, beside: float = 0) -> None:
    """Take a tip with the pointer, so far beside its middle, and let it go elsewhere."""
    x, y = middle(tip.locator(".grip"))
    y += beside
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=5)
    page.mouse.up()


def test_two_arms_of_the_experiment_are_chosen_and_told(opened):
    page = opened("does_scaling_matter", reduced_motion="reduce")
    assert (shown(page, "right"), shown(page, "right2")) == ("18%", "98%")
    page.get_by_label("scale (solid)").select_option(label="QK-norm")
    page.get_by_label("optimizer").select_option(label="SGD")
    end = accuracies(Arm(512, "QK-norm", "SGD"))
    assert shown(page, "right") == f"{end.mean():.0f}%"
    ending = page.locator(".curve:not(.other)").get_attribute("d")
    assert ending.count("L") == 20  # twenty-one looks
    weights = of(Arm(512, "QK-norm", "SGD"))["example"]["weights"]
    drawn = [float(cell.get_attribute("fill-opacity")) for cell in page.locator(".weight").all()]
    assert drawn == pytest.approx([percent / 100 for row in weights for percent in row])
    page.get_by_role("button", name="Start again").click()
    assert shown(page, "right") == "18%"


def test_tips_are_dragged_and_the_shadow_is_the_score(opened):
    page = opened("dot_product", reduced_motion="reduce")
    query, a, b = (
        page.get_by_role("slider", name=f"tip of {name}") for name in ("the query", "key A", "key B")
    )
    assert (number(page, "dot-A"), number(page, "dot-B")) == (1, 0.75)
    # How long one is on the screen, from A's tip to B's, whose places are known.
    (ax, ay), (bx, by) = middle(a.locator(".grip")), middle(b.locator(".grip"))
    unit = (ay - by) / (1.5 * math.sin(math.radians(60)))
    zero = (ax - unit, ay)
    assert bx - zero[0] == pytest.approx(0.75 * unit, abs=1)
    drag(page, b, -1.2 * unit, 40)
    x, _ = middle(b.locator(".grip"))
    assert number(page, "shadow-B") == pytest.approx((x - zero[0]) / unit, abs=0.03)
    assert shown(page, "dot-B") == shown(page, "shadow-B") == shown(page, "score")
    assert shown(page, "score").startswith("−")
    long = page.locator("[data-name=bar-B]").evaluate("bar => bar.getBBox().width")
    assert long == pytest.approx(-number(page, "score") * unit, abs=3)
    drag(page, query, 0.5 * unit, 0, beside=16)  # its ring is around A's
    assert shown(page, "length") == "1.5"
    assert number(page, "dot-B") == pytest.approx(1.5 * number(page, "shadow-B"), abs=0.011)
    assert (number(page, "dot-A"), number(page, "cosine-A")) == (1.5, 1)
    box = page.locator("[data-name=bar-B]").evaluate("bar => [bar.getBBox().width, bar.getBBox().height]")
    one = (
        page.locator("[data-name=bar-A]").evaluate("bar => bar.getBBox().width * bar.getBBox().height") / 1.5
    )
    assert box[0] * box[1] == pytest.approx(-number(page, "dot-B") * one, rel=0.03)  # its area
    page.get_by_role("button", name="Start again").click()
    page.mouse.click(
        *(round(place) for place in (zero[0] + 2 * unit, zero[1] - 0.5 * unit))
    )  # beside all tips
    assert number(page, "shadow-B") == pytest.approx(2, abs=0.05)
    assert "By score key B wins, by cosine key A wins" in page.locator(".say").inner_text()
    assert page.log.thrown == page.log.console == page.log.refused == []


def test_tips_move_by_keyboard_and_speak_when_the_reader_pauses(opened):
    page = opened("dot_product", reduced_motion="reduce")
    b = page.get_by_role("slider", name="tip of key B")
    assert page.locator(".spoken").inner_text() == ""
    b.focus()
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("ArrowDown")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert b.get_attribute("aria-valuetext") == "length 2, 60° from the query, score 1.00"
    assert "By score neither key wins, by cosine key A wins." in page.locator(".say").inner_text()
    assert page.locator(".spoken").inner_text() == ""  # not yet
    page.locator(".spoken", has_text="By score neither key wins").wait_for(state="attached")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert b.get_attribute("aria-valuetext") == "length 2, 90° from the query, score 0.00"
    for _ in range(9):
        page.keyboard.press("Shift+ArrowUp")
    assert b.get_attribute("aria-valuenow") == b.get_attribute("aria-valuemax") == "4"
    box, plane = b.locator(".grip").bounding_box(), page.locator(".plane").bounding_box()
    assert box["y"] > plane["y"]  # the picture has made room
    query = page.get_by_role("slider", name="tip of the query")
    query.focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    assert shown(page, "length") == "0"
    assert "By score neither key wins, by cosine neither key wins." in page.locator(".say").inner_text()
    assert page.log.thrown == []


def test_the_temperature_cuts_the_bar(opened):
    page = opened("softmax", reduced_motion="reduce")
    widths = "all => all.map(piece => piece.getBoundingClientRect().width)"

    def pieces() -> list[float]:
        lengths = page.locator(".piece").evaluate_all(widths)
        return [length / sum(lengths) for length in lengths]

    temperature = page.get_by_label("temperature T")
    assert pieces() == pytest.approx(list(sdpa.softmax(unit_scores(16))), abs=2e-3)
    temperature.press("Home")
    assert pieces()[0] == pytest.approx(1, abs=1e-3)
    assert [shown(page, name) for name in ("largest", "entropy", "effective")] == ["1.000", "0.00", "1.0"]
    temperature.press("End")
    assert pieces() == pytest.approx([1 / 16] * 16, abs=1e-3)
    assert temperature.get_attribute("aria-valuetext") == "∞"
    temperature.press("ArrowLeft")
    page.get_by_label("divide by √dₖ").press("Space")
    assert shown(page, "scaled") == "not scaled"
    page.get_by_label("number of keys").press("End")
    page.get_by_label("dₖ", exact=True).press("End")
    weights = sdpa.softmax(unit_scores(64) * 64 / TEMPERATURES[-2])
    assert number(page, "largest") == pytest.approx(weights.max(), abs=6e-4)
    page.get_by_role("button", name="Other keys").click()
    assert number(page, "largest") == pytest.approx(sdpa.softmax(unit_scores(64, 1) * 0.64).max(), abs=6e-4)
    page.get_by_role("button", name="Start again").click()
    assert pieces() == pytest.approx(list(sdpa.softmax(unit_scores(16))), abs=2e-3)
    assert page.log.thrown == page.log.console == page.log.refused == []


def test_two_tokens_slide_and_their_score_knows_the_distance_alone(opened):
    page = opened("heads_and_variants", reduced_motion="reduce")
    query, key, both = (
        page.get_by_role("slider", name=name)
        for name in ("place of the query", "place of the key", "both tokens")
    )
    assert [number(page, name) for name in ("m", "n", "distance")] == [20, 13, -7]
    score, arrow = shown(page, "score"), page.locator(".arrow").first
    before = arrow.get_attribute("d")
    both.focus()
    for pressed in ("Shift+ArrowRight", "ArrowLeft"):
        page.keyboard.press(pressed)
    assert [number(page, name) for name in ("m", "n")] == [29, 22]
    assert shown(page, "score") == score
    assert arrow.get_attribute("d") != before
    assert "so did the score" in page.locator(".say").inner_text()
    drag(page, key, 60, 0)
    moved = int(number(page, "n")) - 22
    assert 3 <= moved <= 6
    assert number(page, "m") == 29
    assert number(page, "score") == pytest.approx(score_at(29, 22 + moved), abs=0.006)
    assert query.get_attribute("aria-valuetext").startswith("query at 29, score")
    key.focus()
    for _ in range(9):
        page.keyboard.press("Shift+ArrowRight")
    page.get_by_role("button", name="Both 10 later").click()
    assert [number(page, name) for name in ("m", "n")] == [29, 63]  # the text ends there
    page.get_by_role("button", name="Both to the beginning").click()
    assert [number(page, name) for name in ("m", "n")] == [0, 34]
    page.get_by_role("button", name="Start again").click()
    assert shown(page, "score") == score
    assert page.log.thrown == page.log.console == page.log.refused == []


def test_devices_and_rates_by_keyboard_and_by_choice(opened):
    page = opened("many_machines")
    assert (
        "on 32 devices: the ring takes 10.9 ms, of which it waits 6.4 ms" in page.locator(".say").inner_text()
    )
    page.get_by_label("devices P").press("ArrowRight")
    assert "Ulysses ends at 32 devices" in page.locator(".say").inner_text()
    assert page.locator(".chart").get_by_text("too few heads").is_visible()
    page.get_by_label("hardware").select_option("H100, NVLink")
    page.get_by_label("latency of a message").press("Home")
    page.get_by_label("tokens n").press("End")
    assert "and never waits" in page.locator(".say").inner_text()
    assert page.get_by_label("link, one direction").get_attribute("aria-valuetext") == "450 GB/s"
    page.get_by_label("computing").press("Home")
    assert page.get_by_label("hardware").input_value() == "-1"
    assert "your own" in page.locator(".quiet").inner_text()
    page.get_by_label("zigzag").press("Space")
    page.get_by_role("button", name="Start again").click()
    assert "the ring takes 10.9 ms" in page.locator(".say").inner_text()
    assert page.log.thrown == page.log.console == page.log.refused == []


def test_what_is_not_dragged_glides_for_a_moment(opened):
    page = opened("dot_product")
    page.evaluate(
        """() => { const tip = document.querySelector("div").shadowRoot.querySelector("[aria-label='tip of key B']");
            window.stops = new Set(); new MutationObserver(() => window.stops.add(tip.getAttribute("transform")))
                .observe(tip, {attributes: true}) }"""
    )
    page.get_by_role("button", name="120°, length 2").click()
    page.locator("[data-name=score]", has_text="−1.00").wait_for()
    assert page.evaluate("window.stops.size") > 2


def test_a_panel_is_light_or_dark_as_its_page_is_whatever_the_system_prefers(opened):
    page = opened("softmax", color_scheme="dark", reduced_motion="reduce")
    scheme = "e => [getComputedStyle(e).colorScheme, getComputedStyle(e).backgroundColor]"
    is_now = f"([e, expected]) => String(({scheme})(e)) === String(expected)"
    panel = page.locator(".panel")
    dark_paper, light_paper = "rgb(20, 24, 28)", "rgb(255, 255, 255)"
    assert panel.evaluate(scheme) == ["light", light_paper]  # a page without colours is light
    for system, theirs, expected in (
        ("light", "background: #111", ["dark", dark_paper]),
        ("dark", "background: #fff", ["light", light_paper]),
        ("light", "--jp-layout-color1: #111", ["dark", "rgb(17, 17, 17)"]),
        ("dark", "--jp-layout-color1: #fff", ["light", light_paper]),
    ):
        page.emulate_media(color_scheme=system)
        page.evaluate("style => { document.body.style = style }", theirs)
        page.wait_for_function(is_now, arg=[panel.element_handle(), expected])


def test_a_mask_is_painted_and_its_tiles_are_counted(opened):
    page = opened("flash_attention", reduced_motion="reduce")
    board, told = page.locator(".board"), page.locator(".say")
    kinds = {name: page.locator(f"b.{name}") for name in ("whole", "masked", "skipped")}

    def counted() -> list[int]:
        return [int(place.inner_text()) for place in kinds.values()]

    assert counted() == [6, 4, 6]
    start, end = (middle(page.get_by_label(f"query {q}, key {k}", exact=True)) for q, k in ((2, 14), (2, 16)))
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=6)
    page.mouse.up()
    painted = [page.get_by_label(f"query 2, key {k}", exact=True) for k in (14, 15, 16)]
    assert [cell.get_attribute("aria-pressed") for cell in painted] == ["true"] * 3
    assert counted() == [6, 5, 5]
    assert "176 of 256 pairs, 37 of them in vain" in told.inner_text()
    painted[2].focus()
    page.keyboard.press("t")  # the whole tile, as the cell is not: off
    assert counted() == [6, 4, 6]
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    assert page.get_by_label("query 6, key 15", exact=True).get_attribute("aria-pressed") == "true"
    assert counted() == [6, 5, 5]
    page.get_by_role("button", name="no mask").click()
    size = page.get_by_role("slider")
    size.focus()
    page.keyboard.press("End")
    assert counted() == [1, 0, 0]
    assert "moves 8,192 bytes" in told.inner_text()
    assert "0 of 1 tiles are skipped" in board.get_by_role("img").get_attribute("aria-label")
    assert page.log.thrown == page.log.console == page.log.refused == []
