"""From a link to the first named mistake, in Chromium: a light page, and an exercise notebook in JupyterLite.

    python -m benchmarks.browser_edition build/site    writes benchmarks/results/browser_edition.json

The site has to be built (`make site`). Cold: a new profile, nothing kept. Warm: the same, the page opened once more.
The wrong answer is ready at once; what is timed is opening the page, Python's start, and the check. It is served from
this machine, so the network costs nothing; the bytes say what it would have to carry.
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


def measure(browser: Any, address: str, way: Callable[[Page, str], None]) -> dict[str, Any]:
    """Seconds, cold and warm, and the bytes of the cold visit, for one profile."""
    context = browser.new_context()
    loaded: dict[str, int] = {}
    outside: list[str] = []
    context.on("response", lambda r: loaded.update({r.url: int(r.headers.get("content-length", 0))}))
    context.on(
        "request",
        lambda r: (
            outside.append(r.url) if r.url.startswith("http") and not r.url.startswith(address) else None
        ),
    )
    page = context.new_page()
    page.set_default_timeout(MINUTES)
    seconds = []
    for _ in ("cold", "warm"):
        begun = time.perf_counter()
        way(page, address)
        seconds.append(round(time.perf_counter() - begun, 2))
        if len(seconds) == 1:
            size = sum(loaded.values())
    context.close()
    return {"cold_s": seconds[0], "warm_s": seconds[1], "bytes": size, "requests_elsewhere": len(outside)}


def main() -> None:
    """Measure both ways in turn, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    program = (
        shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("Chromium is not installed")
    )
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    with served(asked.site) as address, sync_playwright() as playwright:
        for _ in range(asked.rounds):
            for name, way in WAYS.items():
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
        "rounds": rounds,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main()
