"""Each lesson's panel in JupyterLab, moved by mouse and keyboard: the numbers on screen are the right ones."""

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.lessons.complexity.widget import PUBLISHED, Work, bound
from sdpa_helpers.lessons.variance_proof.widget import correlated_scores
from tests.lessons.pictures import ARRIVED, SCORES

from .lesson_widgets import MASK_STATE, SET_LAYERS, number, shown, wait_for

FOCUSED = """() => { let element = document.activeElement;
    while (element.shadowRoot) element = element.shadowRoot.activeElement;
    return element.ariaLabel || element.textContent }"""


def click_on(page, slider, share: float) -> None:
    """A click of the mouse on a slider's track."""
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)


def cell(output, query: str, key: str):
    """A cell of the grid."""
    return output.get_by_role("button", name=f"{query} may attend to {key}", exact=True)


# variance_proof ------------------------------------------------------------------------------------------


def test_scores_by_keyboard_and_mouse(widgets):
    output, page = widgets.fresh("variance_proof"), widgets.page
    d_k = output.get_by_label("dₖ", exact=True)
    d_k.press("ArrowRight")
    d_k.press("ArrowRight")
    wait_for(output, "dₖ = 128, scale 1")
    assert number(output, "variance") == pytest.approx(correlated_scores(128).var(), rel=0.006)
    assert number(output, "variance-exact") == 128
    output.get_by_label("correlation").press("End")
    wait_for(output, "exactly 256")
    output.get_by_label("coordinates", exact=True).select_option("coins")
    wait_for(output, "variance 0 (0 to 0), exactly 0")
    click_on(widgets.page, output.get_by_label("correlation"), 0.5)
    click_on(widgets.page, output.get_by_label("mean of all"), 1.0)
    wait_for(output, "exactly 512; ")
    assert number(output, "variance-exact") == 128 * 9  # both means 2: 1 + 2·2²
    output.get_by_label("scale", exact=True).select_option("1/√d")
    wait_for(output, "scale 1/√d")
    right = correlated_scores(128, "coins", mean=2.0) / np.sqrt(128)
    assert number(output, "mean") == pytest.approx(right.mean(), rel=0.006)
    assert number(output, "spread") == pytest.approx(right.std(), rel=0.006)
    output.get_by_label("axis", exact=True).select_option("−4 to 4")
    wait_for(output, "100% of the scores lie beyond the axis")
    again = output.get_by_role("button", name="Sample again")
    for times in (1, 2):
        again.press("Enter")
        right = correlated_scores(128, "coins", mean=2.0, draw=times) / np.sqrt(128)
        output.locator("[data-name=mean]", has_text=f"{right.mean():.1f}").wait_for()
    assert page.log.thrown == []


# gradients ------------------------------------------------------------------------------------------


def test_gradients_by_keyboard_and_by_choice(widgets):
    output, page = widgets.fresh("gradients"), widgets.page
    output.get_by_label("add to “the”").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    output.locator("[data-name='score-0']", has_text="2.000").wait_for()
    output.get_by_label("all scores times").press("ArrowLeft")
    output.locator("[data-name='score-0']", has_text="1.000").wait_for()
    A, dA = sdpa.softmax(np.add(SCORES, [2, 0, 0, 0, 0]) / 2), np.array(ARRIVED)
    right, diagonal = A * (dA - A @ dA), A * (1 - A) * dA
    for i in range(5):
        assert number(output, f"dS-{i}") == pytest.approx(right[i], abs=5.1e-4)
        assert number(output, f"diagonal-{i}") == pytest.approx(diagonal[i], abs=5.1e-4)
        assert number(output, f"J-{i}-{i}") == pytest.approx(A[i] * (1 - A[i]), abs=5.1e-4)
    assert shown(output, "dS-sum") == "0"
    output.get_by_label("dA", exact=True).select_option("7 for all")
    wait_for(output, "The right answer is zero; the diagonal's is not.")
    assert {shown(output, f"dS-{i}") for i in range(5)} == {"0"}
    output.get_by_role("button", name="Start again").click()
    wait_for(output, "Largest slope 0.240")
    output.get_by_label("scores", exact=True).select_option("saturated")
    wait_for(output, "Largest slope 8e−9")
    output.get_by_label("all scores times").press("End")
    output.get_by_label("add to “dogs”").press("End")
    output.locator("[data-name='score-4']", has_text="3000").wait_for()
    assert shown(output, "J-0-0") == "0"
    output.get_by_label("all scores times").press("Home")
    wait_for(output, "Largest slope 0.160")
    assert page.log.thrown == []


# masking ------------------------------------------------------------------------------------------


def test_a_mask_painted_by_mouse(widgets):
    output, page = widgets.fresh("masking"), widgets.page
    wait_for(output, "No leak is marked")
    cell(output, "small", "big").click()
    wait_for(output, "1 leak into the future: in layer 1 small → big")
    layers = output.get_by_label("layers", exact=True)
    layers.press("ArrowRight")
    wait_for(output, "7 leaks")
    layers.press("ArrowRight")
    wait_for(output, "10 leaks")
    assert shown(output, "reach-1-5") == "1!"
    output.get_by_label("the future is a leak").click()
    wait_for(output, "No leak is marked")
    output.get_by_role("button", name="empty", exact=True).click()
    wait_for(output, "7 rows see nothing")
    start, end = (cell(output, "cat", key).bounding_box() for key in ("the", "two"))
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 8, end["y"] + 8, steps=12)
    page.mouse.up()
    wait_for(output, "The mask allows 5 of 49 pairs")
    assert cell(output, "cat", "fears").get_attribute("aria-pressed") == "true"
    assert cell(output, "cat", "big").get_attribute("aria-pressed") == "false"


def test_a_mask_painted_by_keyboard_and_read_by_python(widgets):
    output, page = widgets.fresh("masking"), widgets.page
    window = output.get_by_role("button", name="window", exact=True)
    window.press("Enter")
    wait_for(output, "The mask allows 13 of 49 pairs")
    for _ in range(3):  # padding and causal + padding lie between: tab goes on to "empty", then into the grid
        page.keyboard.press("Tab")
    for _ in range(6):  # the grid remembers its place
        page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    wait_for(output, "in layer 1 small → dogs")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_for(output, "2 leaks into the future")
    assert page.evaluate(FOCUSED) == "small may attend to big"
    page.keyboard.press("Tab")  # one step leaves the grid
    assert page.evaluate(FOCUSED) == "Start again"
    assert widgets.active_cell() == widgets.cell("masking")
    mask = (np.eye(7, dtype=int) + np.eye(7, k=-1, dtype=int)).tolist()
    mask[1][5] = mask[1][6] = 1
    assert widgets.run(MASK_STATE).inner_text().strip() == f"{mask} 1"
    widgets.run(SET_LAYERS)
    wait_for(output, "pairs are connected. ")
    output.locator("[data-name='reach-6-0']", has_text="6").wait_for()
    assert page.log.thrown == []


def test_fast_painting_leaves_no_gap_and_ends_where_it_should(widgets):
    output, page = widgets.fresh("masking"), widgets.page
    output.locator(".picture").evaluate(
        """picture => { window.blank = 0; new MutationObserver(() => {
            if (picture.querySelectorAll('svg').length !== 1) window.blank += 1;
        }).observe(picture, {childList: true}) }"""
    )
    output.get_by_role("button", name="empty", exact=True).click()
    cell(output, "the", "the").focus()
    for _ in range(7):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    wait_for(
        output, "The mask allows 7 of 49 pairs; over the layers 7 pairs are connected. No leak is marked."
    )
    assert page.evaluate("window.blank") == 0
    assert output.locator(".notice").is_hidden()


# complexity ------------------------------------------------------------------------------------------


def test_the_roofline_by_keyboard_and_by_choice(widgets):
    output = widgets.fresh("complexity")
    tokens, way = output.get_by_label("tokens n"), output.get_by_label("way")
    tokens.press("End")
    wait_for(output, "Step by step, 1,048,576 tokens")
    assert shown(output, "limit") == "memory"
    assert shown(output, "held") == "larger than the 80 GB"
    way.select_option("tiled")
    wait_for(output, "K and V are read 8,192 times")
    assert shown(output, "limit") == "memory"
    output.get_by_label("query rows of a tile").press("End")
    wait_for(output, "all queries in one tile, 1,048,576 tokens")
    assert shown(output, "limit") == "arithmetic"
    way.select_option("minimum")
    output.get_by_label("hardware").select_option("T4")
    output.get_by_label("numbers").select_option("float32")
    output.get_by_label("width of a head d").press("ArrowRight")
    wait_for(output, "d = 128, float32")
    right = bound(PUBLISHED["T4"], Work(2**20, 128, "minimum", "float32", 128))
    assert shown(output, "time") == f"{right.seconds:.1f} s"
    tokens.press("Home")
    wait_for(output, "32 tokens")
    assert shown(output, "limit") == "memory"
    output.get_by_label("hardware").select_option("our machine")
    output.get_by_label("numbers").select_option("float16")
    wait_for(output, "No float16 peak is known here")
    assert shown(output, "ridge") == "6.25 FLOP/B"
    assert widgets.page.log.thrown == []


# all of them ------------------------------------------------------------------------------------------


def test_when_the_kernel_is_gone_it_says_so(widgets):
    """The last test of the notebook: it takes the kernel away. No picture is known yet of where the panel is sent."""
    output = widgets.fresh("complexity")
    assert output.locator(".notice").is_hidden()
    widgets.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.shutdown().then(() => null)")
    output.get_by_label("width of a head d").press("End")
    output.locator(".notice", has_text="run the cell again").wait_for()
    assert output.locator(".picture svg").count() == 1
    assert widgets.page.log.thrown == []
