"""One JupyterLab and one Chromium for all tests of this folder. Without Chromium or Playwright they are skipped."""

import pytest

from sdpa_helpers.lessons.variance_proof.widget import explore_scores

from .harness import Lab, LabServer, open_page
from .lesson_widgets import MORE, WidgetsNotebook


@pytest.fixture(scope="session")
def lab_server(browser, tmp_path_factory):
    """A running JupyterLab that serves copies of the course's notebooks."""
    server = LabServer(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def lab(browser, lab_server):
    """JupyterLab in a page: `lab.open("notebooks/00_start_here.ipynb")`, `lab.run_all()`, …"""
    opened = Lab(browser, lab_server)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def untouched(browser, lab_server):
    """The panels of all lessons in one notebook, the second with an output that somebody else stored; not yet run.

    One notebook and one kernel for two files: test_every_widget.py opens it and runs it, and the last test of
    test_lesson_widgets.py takes the kernel away.
    """
    opened = Lab(browser, lab_server)
    stored = {"text/plain": "still", "text/html": explore_scores().html()}
    yield WidgetsNotebook(opened, lab_server, *MORE, outputs={1: stored})
    opened.close()


@pytest.fixture(scope="session")
def widgets(untouched):
    """The same, run."""
    if not untouched.begins:
        untouched.run_panels()
    return untouched


@pytest.fixture
def page(browser):
    """`page(width=600, color_scheme="dark")` gives an empty page without network."""
    opened = []

    def make(**context):
        opened.append(open_page(browser, **context))
        return opened[-1]

    yield make
    for one in opened:
        one.context.close()


@pytest.fixture(scope="session")
def axe(needs):
    """`axe(page, ".selector")` lists the serious and critical findings of axe-core within that part of the page;
    `every=True` lists all of them, `contrast=True` looks at colours alone: all that a theme changes."""
    needs("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    def findings(page, part, *, every=False, contrast=False):
        options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if contrast else {})
        result = Axe().run(page, context={"include": [part]}, options=options)
        found = result.response["violations"]
        return [
            (v["id"], v["impact"], [n["html"][:120] for n in v["nodes"][:3]])
            for v in found
            if every or v["impact"] in ("serious", "critical")
        ]

    return findings
