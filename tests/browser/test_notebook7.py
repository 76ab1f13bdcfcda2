"""Notebook 7, one click away from JupyterLab: the same look, the same list, and panels that keep their keys."""

import pytest

from .harness import Lab
from .test_desk import ARTICLE, READY

FOCUSED = "jupyterapp.shell.currentWidget.content.node.contains(document.activeElement)"
CELLS = "jupyterapp.shell.currentWidget.content.widgets.length"

# Notebook 7 throws these by itself, also without the course's settings and extension.
ITS_OWN = ("reading 'schema'", "filebrowser:open-path")


@pytest.fixture(scope="module")
def notebook(browser, lab_server):
    """A lesson of the course in Notebook 7, its first code cell run."""
    opened = Lab(browser, lab_server, "notebook7").open("work/notebooks/00_start_here.ipynb")
    opened.page.wait_for_selector(READY)
    yield opened
    opened.close()


def test_a_lesson_opens_unchanged_with_the_course_beside_it(notebook):
    page = notebook.page
    assert not page.evaluate("jupyterapp.shell.currentWidget.context.model.dirty")
    page.locator(".sdpa-course .lesson").first.wait_for()
    page.wait_for_function(FOCUSED)
    assert page.title() == page.locator("#jp-title h1").inner_text() == "00 Start here"
    page.get_by_role("button", name="Course").click()
    assert not page.locator(".sdpa-course").is_visible()
    seen = page.evaluate(ARTICLE)
    lefts = [left for all_of_kind in seen["lefts"].values() for left in all_of_kind]
    assert seen["text"] <= 48 * 16
    assert max(lefts) - min(lefts) <= 2
    assert [text for text in page.log.ours() if not any(known in text for known in ITS_OWN)] == []


def test_a_notebook_that_is_seen_late_gets_the_keys(browser, lab_server):
    opened = Lab(browser, lab_server, "notebook7")
    hide = "document.addEventListener('DOMContentLoaded', () => { document.body.style.display = 'none' })"
    opened.page.add_init_script(hide)
    page = opened.page
    page.goto(f"{lab_server.url}/notebooks/work/notebooks/00_start_here.ipynb?token={lab_server.token}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(state="attached")
    page.locator(".sdpa-course .lesson").first.wait_for(state="attached")
    page.evaluate("async () => { for (let n = 0; n < 150; n += 1) await new Promise(requestAnimationFrame) }")
    page.evaluate("document.body.style.display = ''")
    page.wait_for_function(FOCUSED)
    assert page.evaluate(FOCUSED)
    opened.close()


def test_keys_reach_the_visualiser_and_not_the_notebook(notebook):
    page = notebook.page
    notebook.command("notebook:run-cell")
    slider = page.locator(".jp-OutputArea-output input[type=range]").first
    slider.wait_for()
    before, cells = slider.input_value(), page.evaluate(CELLS)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    page.evaluate("""() => { for (const host of document.querySelectorAll('.jp-OutputArea-output *'))
        for (const fold of host.shadowRoot?.querySelectorAll('details') ?? []) fold.open = true }""")
    fields = page.locator(".jp-OutputArea-output :is(input[type=text], input:not([type]), textarea)")
    assert fields.count() > 0
    for field in fields.all():
        field.focus()
        page.keyboard.type(" xdd abyzm1")
    assert page.evaluate(CELLS) == cells
