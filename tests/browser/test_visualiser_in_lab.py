"""The visualiser in JupyterLab: before and after its cell is run, with and without its kernel."""

import re

import numpy as np
import pytest

from sdpa_helpers.show.visualiser import SENTENCE, walk_through

from .harness import time_presses


@pytest.fixture(scope="module")
def notebook(lab, lab_server):
    """A notebook as somebody else stored it, open in JupyterLab and not yet run."""
    walk = walk_through(SENTENCE)
    lab_server.write(
        "walk.ipynb",
        f"import sdpa_helpers as sdpa\nsdpa.walk_through({SENTENCE!r})",
        f"live = sdpa.walk_through({SENTENCE!r}, query=2, step=4, mask='causal').widget()\nlive",
        "print(live.query, live.step, live.mask)",
        "live.query, live.mask = 0, 'none'",
        outputs={0: walk._repr_mimebundle_()},
    )
    return lab.open("walk.ipynb")


def test_in_lab_untrusted_output_shows_the_still_and_running_it_makes_it_alive(notebook):
    output = notebook.output(0)
    assert output.locator("img").is_visible()
    assert output.locator(".walk").count() == 0
    assert "Run this cell, and the picture moves" in output.inner_text()
    notebook.run_all()
    output.locator(".walk").wait_for()
    assert output.locator(".jp-OutputArea-output").count() == 1
    assert output.locator("img").count() == 0
    assert notebook.page.locator(".walk").count() == 2  # this, and the widget below it
    assert notebook.page.log.ours() == notebook.page.log.refused == []


def test_in_lab_keys_move_sliders_and_stay_away_from_the_notebook(notebook):
    page, output = notebook.page, notebook.output(0)
    say, step = output.locator(".say"), output.get_by_label("step", exact=True)
    notebook.run_cell(0)
    step.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert say.inner_text().startswith("3 of 5")
    output.get_by_label("does", exact=True).focus()
    page.keyboard.press("ArrowDown")
    assert "“Lea”" in say.inner_text()
    output.get_by_label("temperature").focus()
    page.keyboard.press("ArrowLeft")
    assert output.get_by_label("temperature").input_value() == "0.9"
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    output.get_by_text("Your own sentence or vectors").click()
    for field in ("Q: one", "K: one", "V: one", "A sentence"):
        output.get_by_label(field).fill("")
        output.get_by_label(field).press_sequentially("a b dd x")  # a, b, dd, x are commands of JupyterLab
    assert output.locator(".matrix tbody th").all_inner_texts() == ["a", "b", "dd", "x"]
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 0


def test_in_lab_the_widget_and_python_follow_each_other(notebook):
    page, output = notebook.page, notebook.output(1)
    notebook.run_cell(1)
    output.get_by_label("drink", exact=True).focus()
    page.keyboard.press("ArrowDown")
    notebook.run_cell(2)
    assert notebook.output(2).inner_text().strip() == "3 4 causal"
    notebook.run_cell(3)
    output.get_by_label("does", exact=True).and_(page.locator(":checked")).wait_for()
    assert output.get_by_label("mask", exact=True).input_value() == "none"
    assert page.log.ours() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_in_lab_axe_finds_nothing_serious(notebook, axe, dark):
    notebook.run_cell(0)
    notebook.theme(dark)
    notebook.output(0).get_by_label("step", exact=True).press("End")
    paper = notebook.output(0).locator(".walk").evaluate("e => getComputedStyle(e).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", paper)[:3])) < 60) == dark
    assert axe(notebook.page, ".jp-Cell:first-child .jp-Cell-outputArea", contrast=dark) == []


def test_in_lab_a_key_press_is_soon_on_screen(notebook):
    """Only a generous bound: the machine is busy with other tests."""
    notebook.run_cell(0)
    step = notebook.output(0).get_by_label("step", exact=True)
    keys = ["ArrowRight", "ArrowLeft"] * 5
    took = np.median(time_presses(notebook.page, step, notebook.output(0).locator(".walk"), keys)["painted"])
    print(f"key press to the frame that shows it: median {took:.1f} ms")
    assert took < 500


def test_in_lab_what_was_run_and_saved_is_alive_when_opened_again(notebook):
    notebook.run_cell(0)
    notebook.command("docmanager:save")
    notebook.open("walk.ipynb", kernel=False)
    notebook.output(0).locator(".walk").wait_for()
    assert notebook.output(0).locator("img").count() == 0
    notebook.output(0).get_by_label("green", exact=True).check()
    assert "The query “green”" in notebook.output(0).locator(".say").inner_text()
