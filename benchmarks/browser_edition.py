"""From a link to the first named mistake, in Chromium: a light page, and an exercise notebook in JupyterLite.

    python -m benchmarks.browser_edition build/site    writes benchmarks/results/browser_edition.json

The site has to be built (`make site`). Cold: a new profile, nothing kept. Warm: the same, the page opened once more.
The wrong answer is ready at once; what is timed is opening the page, Python's start, and the check. It is served from
this machine, so the network costs nothing; the bytes say what it would have to carry. Beside them, in turn, a bare
page: the same Pyodide and NumPy as their makers load them, and one sum. What a page takes is told in seconds, in
seconds of all the browser's processors, and as a ratio to the bare page of the same round: that says the same on
another machine, or on a busy one.
"""

import argparse
import contextlib
import functools
import http.server
import json
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from sdpa_helpers.bench import facts

RESULTS = Path(__file__).parent / "results" / "browser_edition.json"
ROUNDS = 5
WRONG = (
    "def softmax(x, axis=-1):\n    e = np.exp(x - x.max())\n    return e / e.sum(axis=axis, keepdims=True)\n"
)
MISTAKE = "global-max-subtracted"
MINUTES = 3 * 60_000
IDLE = """() => { const panel = window.jupyterapp?.shell.currentWidget, kernel = panel?.sessionContext?.session?.kernel;
    return kernel?.status === 'idle' }"""


BARE = """<!doctype html><title>starts</title><script type="module">
import { loadPyodide } from "./pyodide/pyodide.mjs";
const python = await loadPyodide();
await python.loadPackage("numpy");
document.title = python.runPython("import numpy as np; str(np.arange(4).sum())");
</script>"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def bare(page: Page, address: str) -> None:
    """Python and NumPy, and nothing of ours."""
    page.route(f"{address}/bare.html", lambda route: route.fulfill(body=BARE, content_type="text/html"))
    page.goto(f"{address}/bare.html")
    page.wait_for_function("() => document.title === '6'")


def light(page: Page, address: str) -> None:
    """Open the light page of `softmax`, hand in the wrong answer, wait for its name."""
    page.goto(f"{address}/try/softmax.html")
    page.click(".editor .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(WRONG)
    page.click("#check")
    page.locator("#verdict", has_text=MISTAKE).wait_for()


def lite(page: Page, address: str) -> None:
    """The same in JupyterLite: open the notebook, run the setup, the answer and the check."""
    page.goto(f"{address}/lite/lab/index.html?path=exercises/03_softmax.ipynb")
    page.wait_for_function(IDLE)
    page.evaluate(
        "text => jupyterapp.shell.currentWidget.content.widgets[3].model.sharedModel.setSource(text)",
        f"# exercise: softmax\n{WRONG}",
    )
    for number in (1, 3, 4):
        page.evaluate("n => { jupyterapp.shell.currentWidget.content.activeCellIndex = n }", number)
        page.evaluate("() => jupyterapp.commands.execute('notebook:run-cell').then(() => null)")
    page.locator(".jp-Notebook", has_text=MISTAKE).first.wait_for()


WAYS: dict[str, Callable[[Page, str], None]] = {"light page": light, "JupyterLite": lite}


def processor_seconds() -> dict[int, float]:
    """What each process of the browser has taken so far."""
    taken = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "chrom" in process.name():
                taken[process.pid] = sum(process.cpu_times()[:2])
    return taken


def measure(browser: Any, address: str, way: Callable[[Page, str], None]) -> dict[str, Any]:
    """Seconds, cold and warm, and the bytes of the cold visit, for one profile."""
    context = browser.new_context()
    loaded: dict[str, int] = {}
    outside: list[str] = []
    context.on(
        "response",
        lambda r: (
            None  # what it keeps for later, and what it has made of what it loaded
            if r.request.service_worker or r.url.startswith("blob:")
            else loaded.update({r.url: int(r.headers.get("content-length", 0))})
        ),
    )
    context.on(
        "request",
        lambda r: (
            outside.append(r.url) if r.url.startswith("http") and not r.url.startswith(address) else None
        ),
    )
    page = context.new_page()
    page.set_default_timeout(MINUTES)
    found: dict[str, Any] = {}
    for visit in ("cold", "warm"):
        before, begun = processor_seconds(), time.perf_counter()
        way(page, address)
        found[f"{visit}_s"] = round(time.perf_counter() - begun, 2)
        taken = processor_seconds()  # a page that is left takes its process with it
        found[f"{visit}_cpu_s"] = round(sum(those - before.get(one, 0) for one, those in taken.items()), 2)
        found.setdefault("bytes", sum(loaded.values()))
    context.close()
    return found | {"requests_elsewhere": len(outside)}


def against_bare(rounds: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """For each page the median, over the rounds, of its figure over that of the bare page in the same round."""
    kinds = [f"{visit}_{unit}" for visit in ("cold", "warm") for unit in ("s", "cpu_s")]
    return {
        name: {
            kind: round(
                statistics.median(
                    one[kind] / plain[kind] for one, plain in zip(found, rounds["bare page"], strict=True)
                ),
                2,
            )
            for kind in kinds
        }
        for name, found in rounds.items()
        if name != "bare page"
    }


def main() -> None:
    """Measure all ways in turn, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS, help="fewer of them")
    parser.add_argument("--into", type=Path, default=RESULTS)
    asked = parser.parse_args()
    program = (
        shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("Chromium is not installed")
    )
    ways = {"bare page": bare} | {name: WAYS[name] for name in asked.ways}
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    with served(asked.site) as address, sync_playwright() as playwright:
        for _ in range(asked.rounds):
            for name, way in ways.items():
                browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
                rounds[name].append(measure(browser, address, way))
                browser.close()
                print(name, rounds[name][-1])
    medians = {
        name: {key: statistics.median(one[key] for one in found) for key in found[0]}
        for name, found in rounds.items()
    }
    result = {
        "command": "python -m benchmarks.browser_edition build/site",
        "machine": facts.of_this_machine() | facts.of_this_process(),
        "medians": medians,
        "against_a_bare_page": against_bare(rounds),
        "rounds": rounds,
    }
    asked.into.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps([result["against_a_bare_page"], medians], indent=1))


if __name__ == "__main__":
    main()
