"""A learner's copies in a real JupyterLab and Notebook 7: opening one and giving it a kernel changes nothing."""

import pytest

from .harness import Lab


@pytest.mark.parametrize(
    ("host", "name"),
    [("document", "notebooks/04_gradients.ipynb"), ("notebook7", "exercises/04_gradients.ipynb")],
)
def test_opening_a_copy_does_not_change_it(browser, lab_server, host, name):
    copy = lab_server.root / "work" / name
    before, laid_at = copy.read_bytes(), copy.stat().st_mtime_ns
    lab = Lab(browser, lab_server, host).open(f"work/{name}")
    lab.page.wait_for_timeout(700)  # what the kernel says of itself arrives after it is ready
    dirty = lab.page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.context.save()")
    lab.close()
    assert not dirty
    assert copy.stat().st_mtime_ns > laid_at  # it was saved, and still
    assert copy.read_bytes() == before, "Jupyter would write something else"
