"""How long after a key press the visualiser's new picture is on screen, in JupyterLab and in a page of nbconvert's.

    OMP_NUM_THREADS=1 python -m benchmarks.screens

writes benchmarks/results/screens.json. Needs Chromium and Playwright. What the times mean is in `time_presses`; each
with its median and 90th percentile of 60 presses.
"""

import datetime
import json
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.browser.harness import Lab, LabServer, chromium, open_page, time_presses

PRESSES = 60
SENTENCES = {"5 words": "the cat fears big dogs", "12 words": "a b c d e f g h i j k l"}
CONTROLS = ("step", "dₖ", "temperature")


def spread(times: Sequence[float]) -> dict[str, float]:
    """Median and 90th percentile."""
    return {
        "median": round(statistics.median(times), 1),
        "p90": round(statistics.quantiles(times, n=10)[-1], 1),
    }


def press(page: Any, control: Any, watched: Any) -> dict[str, dict[str, float]]:
    """Arrow keys on one control, two to the right and two to the left: so far every one moves it."""
    keys = ["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"] * (PRESSES // 4)
    return {moment: spread(took) for moment, took in time_presses(page, control, watched, keys).items()}


def press_all(page: Any, walk: Any) -> dict[str, dict[str, dict[str, float]]]:
    """The controls of one visualiser."""
    return {name: press(page, walk.get_by_label(name, exact=True), walk) for name in CONTROLS}


def measure(browser: Any, folder: Path) -> dict[str, Any]:
    """All front ends, sentences and controls."""
    from sdpa_helpers.show.visualiser import walk_through

    found: dict[str, Any] = {}
    server = LabServer(folder)
    try:
        for size, sentence in SENTENCES.items():
            server.write(
                "screens.ipynb",
                f"import sdpa_helpers as sdpa\nsdpa.walk_through({sentence!r}, step=3)",
                f"sdpa.walk_through({sentence!r}, step=3).widget()",
            )
            lab = Lab(browser, server).open("screens.ipynb")
            lab.run_all()
            for number, kind in enumerate(("JupyterLab, HTML", "JupyterLab, anywidget")):
                walk = lab.output(number).locator(".walk")
                walk.wait_for()
                found[f"{kind}, {size}"] = press_all(lab.page, walk)
            lab.close()
            (folder / "page.html").write_text(
                f"<!doctype html><meta charset=utf-8>{walk_through(sentence).html()}"
            )
            page = open_page(browser)
            page.goto((folder / "page.html").as_uri())
            walk = page.locator(".walk")
            found[f"page, {size}"] = press_all(page, walk)
            page.context.close()
    finally:
        server.stop()
    return found


def store(name: str, measure: Callable[[Any, Path], dict[str, Any]]) -> dict[str, Any]:
    """Measure with a browser and a folder, and write benchmarks/results/<name>.json; returns the times."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, chromium(path) as browser:
        version, times = browser.version, measure(browser, Path(folder))
    result = {
        "command": f"OMP_NUM_THREADS=1 python -m benchmarks.{name}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "load before": round(load, 1)},
        "chromium": version,
        "presses": PRESSES,
        "unit": "ms after the key press",
        "times": times,
    }
    target = Path(__file__).parent / "results" / f"{name}.json"
    target.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return times


def main() -> None:
    """Measure, print and store."""
    for kind, controls in store("screens", measure).items():
        for control, numbers in controls.items():
            told = ", ".join(f"{what} {n['median']} ({n['p90']})" for what, n in numbers.items())
            print(f"{kind:32} {control:12} {told}")


if __name__ == "__main__":
    main()
