"""A prediction in JupyterLab: keys and mouse, nothing given away, the answer kept, Shift+Enter goes on."""

import pytest

CELL = """
from sdpa_helpers.course.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction
from IPython.display import HTML
ask = asker("03_softmax", tuple(Prediction(name, "What is *q*?", (
    Option("1", "Tempting: the first."), Option("5", "Five it is."), Option("exactly 5.1", "Near is not right.")),
    after="So it goes.", how_sure=name == "b") for name in "abc"))
ask("{}", 5, HTML("<table class=shown-table><tr><td>after</td></tr></table>"), "a line")"""

SERIES = """
from sdpa_helpers.course.predicting import Recalled, recaller
recaller("03_softmax", tuple(Recalled(Prediction(name, f"What is {name}?", (
    Option("1", "The first."), Option("5", "Five it is."))), lambda: 5) for name in "xyz"))()"""

FOCUS = """() => { let at = document.activeElement;
    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement; return at.textContent }"""


@pytest.fixture(scope="module")
def asked(lab, lab_server):
    """Seven cells, open and not run: question a, question b, a sum, question c, two more sums, a series."""
    cells = CELL.format("a"), CELL.format("b"), "1 + 1", CELL.format("c"), "2 + 2", "3 + 3", SERIES
    lab.open(lab_server.write("predict.ipynb", *cells))
    lab.page.evaluate(
        "() => { const at = jupyterapp.shell.currentWidget.content; at.activeCellIndex = 0; at.activate() }"
    )
    lab.page.keyboard.press("Escape")
    return lab


def panel(lab, number):
    return lab.output(number).locator(".panel.predict")


def test_by_keys_alone_and_then_by_mouse(asked, axe):
    page = asked.page
    page.keyboard.press("Shift+Enter")
    first = panel(asked, 0)
    first.get_by_role("button", name="5", exact=True).wait_for()
    for given_away in ("Tempting", "Five it is", "So it goes", "after", "a line", "Measured"):
        assert given_away not in first.inner_text()
    page.wait_for_function(f"() => ({FOCUS})().includes('1')")
    assert not axe(page, ".jp-Cell-outputArea")
    page.keyboard.press("1")
    first.get_by_text("your answer").wait_for()
    said = " ".join(first.inner_text().split())
    assert "Measured: 5." in said
    assert "YOUR ANSWER 1: Tempting: the first. ✓ MEASURED 5: Five it is." in said.replace("✗ ", "")
    assert first.locator(".shown-table").is_visible()
    assert asked.page.locator(".jp-Cell").count() == 7
    assert not axe(page, ".jp-Cell-outputArea")

    page.keyboard.press("Shift+Enter")  # goes on to the second question, does not ask the first again
    second = panel(asked, 1)
    second.get_by_role("button", name="Show me").wait_for()
    assert asked.cell(0).locator(".jp-InputPrompt").inner_text() == "[1]:"
    second.get_by_role("button", name="exactly 5.1").click()
    assert "Measured" not in second.inner_text()
    second.get_by_role("button", name="I am sure").click()
    second.get_by_text("You were sure.").wait_for()
    page.keyboard.press("Shift+Enter")
    asked.output(2).locator(".jp-OutputArea-output", has_text="2").wait_for()


def test_what_was_chosen_is_there_again_and_can_be_asked_again(asked, lab_server):
    asked.run_cell(0)
    again = panel(asked, 0)
    again.get_by_text("your answer").wait_for()
    again.get_by_role("button", name="Ask me again").click()
    again.get_by_role("button", name="Show me").click()
    again.get_by_text("Measured").first.wait_for()
    assert "your answer" not in again.inner_text().lower()
    kept = (lab_server.folder / "progress" / "predictions.json").read_text()
    assert '"03_softmax/a": [\n  0,\n  false,\n  null\n ]' in kept
    assert '"03_softmax/b": [\n  2,\n  false,\n  true\n ]' in kept


def test_run_all_leaves_the_keyboard_to_the_notebook(asked):
    asked.command("notebook:run-all-cells")
    panel(asked, 3).get_by_role("button", name="Show me").wait_for()
    asked.output(5).locator(".jp-OutputArea-output", has_text="6").wait_for()
    asked.page.wait_for_timeout(300)  # a question that takes the focus does so after 120 ms
    assert not asked.page.evaluate("() => Boolean(document.activeElement.shadowRoot)")


def test_the_questions_of_a_series_come_one_after_the_other(asked, lab_server):
    one, two, three = (panel(asked, 6).nth(number) for number in range(3))
    one.get_by_role("button", name="5").wait_for()
    assert [part.is_visible() for part in (one, two, three)] == [True, False, False]
    one.get_by_role("button", name="5").click()
    two.get_by_role("button", name="Show me").click()
    asked.page.wait_for_function(f"() => ({FOCUS})().includes('Remember · 2 of 3')")
    three.get_by_role("button", name="1", exact=True).click()
    assert "your answer 1: The first." in " ".join(three.inner_text().split()).replace(
        "YOUR ANSWER", "your answer"
    )
    kept = (lab_server.folder / "progress" / "predictions.json").read_text()
    assert "03_softmax/x" not in kept


def test_it_fits_a_telephone(asked):
    asked.resize(390, 800)
    fits = "([panel, room]) => panel.getBoundingClientRect().right <= room.getBoundingClientRect().right + 1"
    for number in (0, 1):
        pair = [panel(asked, number).element_handle(), asked.output(number).element_handle()]
        asked.page.wait_for_function(fits, arg=pair)
    assert not asked.page.log.ours()
