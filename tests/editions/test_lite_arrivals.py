"""A foreign notebook in JupyterLite, by each door that it has: nothing in it runs because it is opened."""

import json

import pytest

from sdpa_helpers.course.exercise_notebook import exercise_notebook
from tests.browser.harness import open_page

LESSON = "03_softmax"
OPEN_MS = 60_000
RUNS = "(localStorage.owned = (localStorage.owned || '') + ' {}', document.title = 'OWNED')"
LARGE = 2**20
"""Letters: JupyterLab sends a file of more than 1 MiB in pieces."""

UPLOADED = """async path => {
    const there = () => jupyterapp.serviceManager.contents.get(path, { content: true }).then(() => true, () => false);
    while (!await there()) await new Promise(resolve => setTimeout(resolve, 100)); }"""

OPENED = """path => {
    const shown = jupyterapp.shell.currentWidget;
    return shown?.context?.path === path && shown.content.widgets.length; }"""


def image(what):
    return f'<img src=x onerror="{RUNS.format(what)}">'


def hostile():
    """The lesson's notebook as a stranger could hand it on: it says that it is trusted, in each place that can."""
    notebook = json.loads(json.dumps(exercise_notebook(LESSON)))
    outputs = {
        "text/html": image("html") + f"<script>{RUNS.format('script')}</script>",
        "application/javascript": RUNS.format("javascript"),
        "image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUNS.format("svg")}"></svg>',
        "text/markdown": image("markdown-output"),
        "text/latex": image("latex"),
    }
    shown = [
        {"output_type": "display_data", "data": {kind: text}, "metadata": {}}
        for kind, text in outputs.items()
    ]
    for cell in notebook["cells"]:
        cell["metadata"]["trusted"] = True
        if cell["cell_type"] == "code":
            cell |= {"outputs": shown, "execution_count": 1}
        else:
            cell["source"] = "".join(cell["source"]) + "\n\n" + image(cell["cell_type"])
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    notebook["metadata"]["trusted"] = True
    return notebook


@pytest.fixture(scope="module")
def desk(browser, needs, built_site, site_address):
    """JupyterLite with an exercise open; Python does not come, and nothing here needs it."""
    needs("jupyterlite_core")
    built_site("pyodide", "lite")
    page = open_page(browser, site_address)
    page.context.route("**/pyodide/**", lambda route: route.abort())
    page.set_default_timeout(OPEN_MS)
    page.goto(f"{site_address}/lite/lab/index.html?path=exercises/{LESSON}.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.locator(".sdpa-course header").first.wait_for()
    yield page
    page.context.close()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / f"{tmp_path.name}.ipynb"  # another name each time: an upload asks before it replaces
    path.write_text(json.dumps(hostile()), encoding="utf-8")
    return path


def saved(page, path):
    """The notebook as it is stored."""
    return page.evaluate(
        "path => jupyterapp.serviceManager.contents.get(path, { content: true }).then(file => file.content)",
        path,
    )


def nothing_ran(page, path):
    page.wait_for_function(OPENED, arg=path)
    page.wait_for_timeout(1500)  # whatever runs on opening has run
    assert set(page.evaluate("localStorage.owned ?? ''").split()) == set()
    assert page.title() != "OWNED"
    notebook = saved(page, path)
    assert "widgets" not in notebook["metadata"]
    assert not any(cell["metadata"].get("trusted") or cell.get("outputs") for cell in notebook["cells"])


def test_open_mine_takes_what_was_written_and_nothing_that_runs(desk, file):
    with desk.expect_file_chooser() as asked:
        desk.locator(".sdpa-course").get_by_role("button", name="Open mine").click()
    asked.value.set_files(file)
    desk.wait_for_function(
        "() => jupyterapp.shell.currentWidget?.content.widgets[0]?.model.sharedModel.getSource().includes('onerror')"
    )
    nothing_ran(desk, f"exercises/{LESSON}.ipynb")


@pytest.mark.parametrize("pieces", [False, True])
def test_an_upload_takes_no_more(desk, file, pieces):
    if pieces:
        notebook = hostile()
        notebook["metadata"]["much"] = "é" * LARGE
        file.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
    desk.evaluate("() => jupyterapp.commands.execute('filebrowser:activate').then(() => null)")
    with desk.expect_file_chooser() as asked:
        desk.locator("#filebrowser [data-jp-item-name=uploader]").click()
    asked.value.set_files(file)
    path = f"exercises/{file.name}"  # where the file browser is
    desk.evaluate(UPLOADED, path)
    desk.evaluate("path => jupyterapp.commands.execute('docmanager:open', { path }).then(() => null)", path)
    nothing_ran(desk, path)
