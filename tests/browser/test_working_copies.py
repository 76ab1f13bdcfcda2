"""A learner's copies in a real JupyterLab and Notebook 7: opening one and giving it a kernel changes nothing."""

import pytest

from .harness import open_page

KERNEL_IS_READY = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.sessionContext?.session?.kernel?.status === 'idle' && panel.content.model?.cells.length > 0;
}"""


@pytest.mark.parametrize(
    ("host", "name"),
    [("lab/tree", "notebooks/04_gradients.ipynb"), ("notebooks", "exercises/04_gradients.ipynb")],
)
def test_opening_a_copy_does_not_change_it(browser, lab_server, host, name):
    copy = lab_server.root / "work" / name
    before, laid_at = copy.read_bytes(), copy.stat().st_mtime_ns
    page = open_page(browser, lab_server.url)
    page.goto(f"{lab_server.url}/{host}/work/{name}?token={lab_server.token}")
    page.wait_for_function(KERNEL_IS_READY, timeout=60_000)
    page.wait_for_timeout(700)  # what the kernel says of itself arrives after it is ready
    dirty = page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate("() => jupyterapp.shell.currentWidget.context.save()")
    page.context.close()
    assert not dirty
    assert copy.stat().st_mtime_ns > laid_at  # it was saved, and still
    assert copy.read_bytes() == before, "Jupyter would write something else"
