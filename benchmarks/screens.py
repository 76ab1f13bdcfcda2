"""How long after a key press the visualiser's new picture is on screen, in JupyterLab and in a page of nbconvert's.

    python -m benchmarks.screens

writes benchmarks/results/screens.json. Needs Chromium and Playwright. Times are milliseconds from the browser's
own time stamp of the key press: until the new picture is in the page ("in_page"), until the next frame
begins ("next_frame"; browsers make one every 16.7 ms), and until the frame after it, by which time the new one was
painted ("painted"). Each with its median and 90th percentile of 60 presses.
"""

import datetime
import json
import os
import platform
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.harness import Lab, LabServer, chromium, open_page

PRESSES = 60
SENTENCES = {"5 words": "the cat fears big dogs", "12 words": "a b c d e f g h i j k l"}
WATCH = """([slider, walk]) => { window.took = [];
    slider.addEventListener('keydown', event => {
        const since = () => performance.now() - event.timeStamp, one = {};
        const watch = new MutationObserver(() => { one.in_page ??= since(); });
        watch.observe(walk, {subtree: true, childList: true, characterData: true, attributes: true});
        const frame = () => { if (one.in_page === undefined) return requestAnimationFrame(frame);
            one.next_frame = since();
            requestAnimationFrame(() => { one.painted = since(); watch.disconnect(); window.took.push(one); }); };
        requestAnimationFrame(frame); }, true) }"""


def press(page: Any, walk: Any, control: str) -> dict[str, dict[str, float]]:
    """Arrow keys on one control of one visualiser, back and forth."""
    slider = walk.get_by_label(control, exact=True)
    page.evaluate(WATCH, [slider.element_handle(), walk.element_handle()])
    slider.focus()
    for number in range(PRESSES):
        page.keyboard.press("ArrowRight" if number // 3 % 2 == 0 else "ArrowLeft")
        page.wait_for_timeout(45)
    page.wait_for_function(f"window.took.length >= {PRESSES}")
    took = page.evaluate("window.took")
    return {
        what: {
            "median": round(statistics.median(one[what] for one in took), 1),
            "p90": round(statistics.quantiles([one[what] for one in took], n=10)[-1], 1),
        }
        for what in ("in_page", "next_frame", "painted")
    }


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
                found[f"{kind}, {size}"] = {
                    c: press(lab.page, walk, c) for c in ("step", "d_k", "temperature")
                }
            lab.close()
            (folder / "page.html").write_text(
                f"<!doctype html><meta charset=utf-8>{walk_through(sentence).html()}"
            )
            page = open_page(browser)
            page.goto((folder / "page.html").as_uri())
            walk = page.locator(".walk")
            found[f"page, {size}"] = {c: press(page, walk, c) for c in ("step", "d_k", "temperature")}
            page.context.close()
    finally:
        server.stop()
    return found


def main() -> None:
    """Measure, print and store."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, chromium(path) as browser:
        version = browser.version
        times = measure(browser, Path(folder))
    result = {
        "command": "python -m benchmarks.screens",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "load before": round(load, 1)},
        "chromium": version,
        "presses": PRESSES,
        "unit": "ms after the key press",
        "times": times,
    }
    target = Path(__file__).parent / "results" / "screens.json"
    target.write_text(json.dumps(result, indent=1) + "\n")
    for kind, controls in times.items():
        for control, numbers in controls.items():
            told = ", ".join(f"{what} {n['median']} ({n['p90']})" for what, n in numbers.items())
            print(f"{kind:32} {control:12} {told}")


if __name__ == "__main__":
    main()
