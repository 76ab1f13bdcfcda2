"""Opening a notebook of the course in JupyterLab changes nothing: autosave has nothing to write."""

import json
import platform

import pytest

from .harness import open_page

KERNEL_IS_READY = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.sessionContext?.session?.kernel?.status === 'idle' && panel.content.model?.cells.length > 0;
}"""
STATE = """() => {
  const model = jupyterapp.shell.currentWidget.context.model;
  return [model.dirty, model.sharedModel.metadata];
}"""


@pytest.mark.parametrize("name", ["notebooks/01_dot_product.ipynb", "exercises/01_dot_product.ipynb"])
def test_opening_a_notebook_does_not_change_it(browser, lab_server, name):
    path = lab_server.root / name
    stored = json.loads(path.read_text())
    stored["metadata"]["language_info"]["version"] = platform.python_version()  # of the kernel that runs here
    path.write_text(json.dumps(stored))
    page = open_page(browser, lab_server.url)
    page.goto(f"{lab_server.url}/doc/tree/{name}?token={lab_server.token}")
    page.wait_for_function(KERNEL_IS_READY, timeout=60_000)
    page.wait_for_timeout(1000)  # what the kernel says of itself arrives after it is ready
    dirty, metadata = page.evaluate(STATE)
    page.context.close()
    assert metadata == stored["metadata"]
    assert not dirty
