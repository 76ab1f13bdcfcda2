"""A ladder in JupyterLab: lines put in order by mouse and by keys, a wrong one named, blanks, the way to the cell."""

import pytest

CELLS = (
    "from sdpa_helpers import ladder\nladder('softmax_backward')",
    "# exercise: softmax_backward\ndef softmax_backward(weights, grad_weights):\n    return NotImplemented",
)
RIGHT = ["products = weights * grad_weights", "average = products.sum(axis=-1, keepdims=True)",
         "above_average = grad_weights - average", "return weights * above_average"]  # fmt: skip


@pytest.fixture(scope="module")
def panel(lab, lab_server):
    """The ladder, shown."""
    lab.open(lab_server.write("ladder.ipynb", *CELLS))
    lab.run_cell(0)
    shown = lab.output(0).locator(".panel.ladder")
    shown.wait_for()
    return shown


def block(panel, text):
    return panel.locator(".block").filter(has=panel.page.get_by_text(text, exact=True))


def program(panel):
    return [text.strip() for text in panel.locator(".program .block .text").all_inner_texts()]


def settle(page):
    """Wait until nothing glides."""
    page.wait_for_timeout(350)


def test_mouse_keys_blanks_and_the_cell(panel, lab, axe):
    page = lab.page
    assert not axe(page, ".jp-Cell-outputArea")
    assert panel.locator(".tray .block").count() == 8

    for text in (RIGHT[0], RIGHT[2], "return above_average"):  # a click puts a line at the end
        block(panel, text).click()
    settle(page)
    target, source = block(panel, RIGHT[2]).bounding_box(), block(panel, RIGHT[1]).bounding_box()
    page.mouse.move(source["x"] + 60, source["y"] + 15)
    page.mouse.down()
    page.mouse.move(target["x"] + 80, target["y"] + 30, steps=6)
    page.mouse.move(target["x"] + 80, target["y"] + 4, steps=3)
    page.mouse.up()
    settle(page)
    assert program(panel) == [*RIGHT[:3], "return above_average"]

    panel.get_by_role("button", name="Check").click()
    panel.get_by_text("Diagnosis (weights-not-multiplied)").wait_for()
    assert panel.locator(".marked .text").all_inner_texts() == ["return above_average"]
    assert not axe(page, ".jp-Cell-outputArea")

    block(panel, "return above_average").focus()
    page.keyboard.press("Enter")  # out again
    block(panel, RIGHT[3]).focus()
    page.keyboard.press(" ")  # taken: it goes to the end, and arrows move it
    page.keyboard.press("ArrowUp")
    assert program(panel) == [*RIGHT[:2], RIGHT[3], RIGHT[2]]
    assert panel.get_by_role("status").inner_text() == f"Line 4: {RIGHT[3]}"
    assert panel.locator("[aria-selected=true].block .text").inner_text() == RIGHT[3]
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowUp")  # left: the arrow only goes to the line above
    assert program(panel) == RIGHT
    panel.get_by_role("button", name="Check").click()
    panel.get_by_role("button", name="Climb on: two blanks").click()

    for number, text in ((1, "weights * grad_weights"), (2, "grad_weights + average")):
        panel.get_by_label(f"Blank {number}").fill(text)
    page.keyboard.press("Enter")
    panel.get_by_text("Diagnosis (average-added)").wait_for()
    panel.get_by_label("Blank 2").fill("grad_weights - average")
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="Climb on: empty").click()
    panel.get_by_role("button", name="Go to the cell").click()
    page.wait_for_function(
        "() => document.activeElement.closest('.jp-Cell')?.innerText.includes('# exercise:')"
    )

    lab.run_cell(0)  # where the learner was is kept
    again = lab.output(0).locator(".panel.ladder")
    again.get_by_role("tab", name="Empty", selected=True).wait_for()
    assert again.get_by_role("tab", name="passed").count() == 2
    assert not page.log.ours()
