"""A real JupyterLab and a headless Chromium, driven by Playwright. The fixtures are in `conftest.py`.

Nothing is downloaded: the browser is the system's Chromium. It finds no host but this machine; requests to any that
is not a page's home are listed in `page.log.refused`. Only processes started here are ended.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from sdpa_helpers.desk.launch import settings
from sdpa_helpers.desk.laying import lay
from tests.environments import path_with
from tests.ports import free_port
from tests.warm_kernels import jupyter_path

COURSE = Path(__file__).parents[2]
PYTHONPATH = path_with(COURSE)

NOT_WANTED = [
    *(
        "WebUIOmniboxPopup",
        "WebUIOmniboxAimPopup",
    ),  # two pages of the browser's own for each of ours: half the cost
    # What Playwright leaves out: of two such lists Chromium reads the last.
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    "ThirdPartyStoragePartitioning",
    "SpareRendererForSitePerProcess",  # a process that waits for a page that never comes, for each of ours
]
"""Features of Chromium."""

FLAGS = [
    f"--disable-features={','.join(NOT_WANTED)}",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # there is no other host
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--font-render-hinting=none",  # letters look the same in a Chromium with and without windows
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-opt --no-maglev",  # pages here live for seconds: making their code quick costs more than it saves
]

SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # every cell is in the page
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
        "doNotDisturbMode": True,
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


@contextlib.contextmanager
def chromium(path: str) -> Iterator[Any]:
    """A browser; give it the path of the program."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


GIVEN_UP = re.compile(
    r"(Error: )?Canceled future for (create|delete)_subshell_request message before replies were done"
)
"""JupyterLab asks the kernel for a subshell for each widget's channel, and nothing of it catches the cancellation when
the notebook is closed before the reply. No code of ours sends these requests."""


@dataclass
class PageLog:
    """What went wrong in a page: errors thrown, errors on the console, requests to others than its home."""

    thrown: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left: bool = False
    """Whether a notebook was closed, or its page left."""

    def throw(self, error: str) -> None:
        """Note an error that nobody caught; not that JupyterLab gave up what it had asked for a notebook we left."""
        if not (self.left and GIVEN_UP.fullmatch(error)):
            self.thrown.append(error)

    def ours(self) -> list[str]:
        """Every error that the visualiser could have caused; JupyterLab itself logs a few of its own."""
        return self.thrown + [text for text in self.console if "sdpa" in text.lower() or "walk" in text]


def open_page(browser: Any, home: str = "", *, width: int = 1280, height: int = 1000, **context: Any) -> Any:
    """A page in a fresh context, without network apart from `home`. `page.log` is its PageLog."""
    fresh = browser.new_context(viewport={"width": width, "height": height}, **context)
    log = PageLog()

    def listen(request: Any) -> None:
        if not request.url.startswith(("data:", "blob:", "file:", home or "data:")):
            log.refused.append(request.url)

    fresh.on("request", listen)  # `route` would stop them too, and do without the browser's cache
    page = fresh.new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: log.throw(str(error)))
    page.on("console", lambda message: log.console.append(message.text) if message.type == "error" else None)
    page.log = log
    return page


class LabServer:
    """What `sdpa lab` starts, with a configuration of its own over the course's, serving copies of the course."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "course"
        port = free_port()
        self.token, self.url = secrets.token_hex(8), f"http://127.0.0.1:{port}"
        for name in ("notebooks", "exercises", "solutions"):
            shutil.copytree(
                COURSE / name, self.root / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
            )
        lay(self.root)
        (folder / "config" / "labconfig").mkdir(parents=True)
        (folder / "config" / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
        bin_ = Path(sys.executable).parent
        own = {
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "IPYTHONDIR": str(folder / "ipython"),
            "SDPA_HOME": str(folder / "progress"),
            "PYTHONPATH": PYTHONPATH,
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "OMP_NUM_THREADS": "1",
            "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
        }
        command = [
            sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
            f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}", "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True", "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
        ]  # fmt: skip
        self.log = (folder / "server.log").open("w")
        self.process = subprocess.Popen(
            command,
            cwd=self.root,
            env=os.environ | settings(COURSE, {"JUPYTER_PATH": jupyter_path(folder)}) | own,
            stdout=self.log,
            stderr=self.log,
        )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/status?token={self.token}", timeout=5)
                return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError("JupyterLab did not start:\n" + (self.folder / "server.log").read_text()[-3000:])

    def stop(self) -> None:
        """End the server; it ends its kernels."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()

    def write(self, name: str, *cells: str, outputs: dict[int, dict[str, str]] | None = None) -> str:
        """A notebook with these code cells, and stored outputs for some of them: MIME bundles by cell number."""
        notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
        for number, bundle in (outputs or {}).items():
            notebook.cells[number].execution_count = 1
            notebook.cells[number].outputs = [new_output("execute_result", bundle, execution_count=1)]
        nbformat.write(notebook, self.root / name)
        return name


HOSTS = {
    "document": "doc/tree/{}?reset&",  # JupyterLab's single-document mode
    "desk": "lab/tree/{}?reset&",  # JupyterLab with side bars and tabs
    "notebook7": "notebooks/{}?",
}


class Lab:
    """One notebook, open in one of the hosts."""

    def __init__(self, browser: Any, server: LabServer, host: str = "document", **context: Any) -> None:
        self.server, self.address = server, HOSTS[host]
        self.page = open_page(browser, server.url, **context)

    def open(self, path: str, *, kernel: bool = True) -> "Lab":
        """Open a notebook and wait for it, and for its kernel."""
        self.page.log.left = self.page.url != "about:blank"
        self.page.goto(f"{self.server.url}/{self.address.format(path)}token={self.server.token}")
        self.page.wait_for_function("window.jupyterapp && window.jupyterapp.shell.currentWidget")
        self.page.evaluate("() => window.jupyterapp.restored.then(() => null)")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        if kernel:
            self.page.wait_for_function(
                "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
                timeout=60_000,
            )
        return self

    def close_tabs(self) -> None:
        """Close all notebooks but the first."""
        self.page.log.left = True
        self.page.evaluate("[...jupyterapp.shell.widgets('main')].slice(1).forEach(w => w.close())")
        self.page.wait_for_function("[...jupyterapp.shell.widgets('main')].length === 1")

    def resize(self, width: int, height: int = 1000) -> None:
        """Give the window another size, and wait: JupyterLab lays itself out some time afterwards."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(
            """([width, height]) => {
                const shown = [...jupyterapp.shell.widgets('main')].filter(one => one.isVisible);
                const edges = shown.map(one => one.node.getBoundingClientRect());
                return Math.abs(Math.max(...edges.map(one => one.right)) - width) < 10
                    && Math.abs(Math.max(...edges.map(one => one.bottom)) - height) < 10 }""",
            arg=[width, height],
        )

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of JupyterLab's commands."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
            [name, arguments],
        )

    def wait_idle(self, seconds: float = 60) -> None:
        """Wait until the kernel is idle and no cell is waiting."""
        self.page.wait_for_function(
            """() => { const panel = window.jupyterapp.shell.currentWidget;
                const waits = cell => cell.node.querySelector('.jp-InputPrompt')?.textContent.includes('*');
                return panel.sessionContext.session.kernel.status === 'idle' && !panel.content.widgets.some(waits) }""",
            timeout=1000 * seconds,
        )

    def run_all(self, seconds: float = 120) -> None:
        """Run every cell and wait."""
        self.command("notebook:run-all-cells")
        self.wait_idle(seconds)

    def run_cell(self, number: int, seconds: float = 60) -> None:
        """Run one cell and wait."""
        self.page.evaluate("n => { jupyterapp.shell.currentWidget.content.activeCellIndex = n }", number)
        self.command("notebook:run-cell")
        self.wait_idle(seconds)

    def cell(self, number: int) -> Any:
        """A cell, counted from 0, markdown included."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number: int) -> Any:
        """A cell's output area."""
        return self.cell(number).locator(".jp-Cell-outputArea")

    def theme(self, dark: bool) -> None:
        """Switch to JupyterLab's dark or light theme, and wait until it shows."""
        name = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function(
            """([name, dark]) => {
                const paper = getComputedStyle(document.querySelector('.jp-NotebookPanel')).backgroundColor;
                const isDark = Math.max(...paper.match(/\\d+/g).slice(0, 3)) < 100;
                return document.body.dataset.jpThemeName === name && isDark === dark }""",
            arg=[name, dark],
        )

    def close(self) -> None:
        """Close the page with its context."""
        self.page.context.close()


# ---- how long after a key press the new picture is on screen -------------------------------------------------

WATCH = """([control, watched, keys]) => { window.took = [];
    control.addEventListener('keydown', event => {
        if (!keys.includes(event.key)) return;
        const since = () => performance.now() - event.timeStamp, one = {};
        const watch = new MutationObserver(() => { one.in_page ??= since(); });
        watch.observe(watched, {subtree: true, childList: true, characterData: true, attributes: true});
        const frame = () => { if (one.in_page === undefined) return requestAnimationFrame(frame);
            one.next_frame = since();
            requestAnimationFrame(() => { one.painted = since(); watch.disconnect(); window.took.push(one); }); };
        requestAnimationFrame(frame); }, true) }"""

MOMENTS = ("in_page", "next_frame", "painted")


def time_presses(page: Any, control: Any, watched: Any, keys: Sequence[str]) -> dict[str, list[float]]:
    """Press keys on a control, one after another: how long until the picture in `watched` is the new one?

    Milliseconds from the browser's own time stamp of the key press: until the new picture is in the page ("in_page"),
    until the next frame begins ("next_frame"; browsers make one every 16.7 ms), and until the frame after it, by which
    time the new one was painted ("painted"). Each press has to change the picture.
    """
    page.evaluate(WATCH, [control.element_handle(), watched.element_handle(), sorted({*keys})])
    control.focus()
    for number, key in enumerate(keys):
        page.keyboard.press(key)
        page.wait_for_function(f"window.took.length > {number}")
        page.wait_for_timeout(30)
    took = page.evaluate("window.took")
    return {moment: [one[moment] for one in took] for moment in MOMENTS}
