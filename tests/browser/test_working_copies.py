"""A learner's copies in a real JupyterLab and Notebook 7: opening one and giving it a kernel changes nothing."""

import pytest

from sdpa_helpers.desk.laying import lay

from .harness import open_page

KERNEL_IS_READY = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.sessionContext?.session?.kernel?.status === 'idle' && panel.content.model?.cells.length > 0;
}"""
IS_DIRTY = "() => jupyterapp.shell.currentWidget.context.model.dirty"


@pytest.fixture(scope="module")
def copies(lab_server):
    """The server's folder, with copies in it."""
    lay(lab_server.root)
    return lab_server.root / "work"


@pytest.mark.parametrize(
    ("host", "name"),
    [("lab/tree", "notebooks/01_dot_product.ipynb"), ("notebooks", "exercises/01_dot_product.ipynb")],
)
def test_opening_a_copy_does_not_change_it(browser, lab_server, copies, host, name):
    before = (copies / name).read_bytes()
    page = open_page(browser, lab_server.url)
    page.goto(f"{lab_server.url}/{host}/work/{name}?token={lab_server.token}")
    page.wait_for_function(KERNEL_IS_READY, timeout=60_000)
    page.wait_for_timeout(700)  # what the kernel says of itself arrives after it is ready
    dirty = page.evaluate(IS_DIRTY)
    page.evaluate("() => jupyterapp.commands.execute('docmanager:save').then(() => null)")
    page.context.close()
    assert not dirty
    assert (
        copies / name
    ).read_bytes() == before  # also when it is saved: there is nothing that Jupyter would add
