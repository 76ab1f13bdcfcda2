"""How long after a key press a lesson widget's new picture is on screen, in JupyterLab with its kernel.

    OMP_NUM_THREADS=1 python -m benchmarks.screens_widgets

writes benchmarks/results/screens_widgets.json. Needs Chromium and Playwright. Times are milliseconds from the
browser's own time stamp of the key press: until the new picture is in the page ("in_page"), until the next frame
begins ("next_frame"; browsers make one every 16.7 ms), and until the frame after it, by which time the new one was
painted ("painted"). The control in use has its next pictures ready. "from_kernel" is the time until a picture is in
the page that nobody was ready for (a jump of a control that is not in use), and "draw" is Python's share of that.
Each with its median and 90th percentile. "held" counts the moves of a slider while a key is held down, and the
pictures that they made.
"""

import datetime
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.screens import WATCH
from tests.browser.harness import Lab, LabServer, chromium

PRESSES = 60
WIDGETS = {  # lesson module -> function, and the controls to measure by their names on screen
    "dot_product": ("explore_keys", {"angle": "angle of key B", "length_k": "length of key B"}),
    "variance_proof": ("explore_scores", {"d_k": "d_k", "rho": "correlation ρ of qᵢ with kᵢ"}),
    "softmax": ("explore_temperature", {"temperature": "temperature T", "d_k": "d_k"}),
}


JUMP = """([slider, picture, to]) => new Promise(done => {
    const pressed = performance.now();
    const watch = new MutationObserver(() => { watch.disconnect(); done(performance.now() - pressed); });
    watch.observe(picture, {subtree: true, childList: true});
    slider.value = to;
    slider.dispatchEvent(new Event('input', {bubbles: true})) })"""


COUNT = """([slider, picture]) => { const seen = {moves: 0, pictures: 0};
    const move = () => { seen.moves += 1; }, watch = new MutationObserver(() => { seen.pictures += 1; });
    slider.addEventListener('input', move); watch.observe(picture, {childList: true});
    window.count = () => { slider.removeEventListener('input', move); watch.disconnect(); return seen; } }"""


def spread(times: Sequence[float]) -> dict[str, float]:
    """Median and 90th percentile."""
    return {
        "median": round(statistics.median(times), 1),
        "p90": round(statistics.quantiles(times, n=10)[-1], 1),
    }


def press(lab: Lab, output: Any, label: str) -> dict[str, dict[str, float]]:
    """Arrow keys on one control, back and forth."""
    slider = output.get_by_label(label, exact=True)
    lab.page.evaluate(WATCH, [slider.element_handle(), output.locator(".picture").element_handle()])
    slider.focus()
    for number in range(PRESSES):
        lab.page.keyboard.press("ArrowRight" if number // 3 % 2 == 0 else "ArrowLeft")
        lab.page.wait_for_function(f"window.took.length > {number}")
        lab.page.wait_for_timeout(30)
    took = lab.page.evaluate("window.took")
    return {what: spread([one[what] for one in took]) for what in ("in_page", "next_frame", "painted")}


def jumps(lab: Lab, output: Any, label: str) -> dict[str, float]:
    """Every third position of a control that has no pictures ready, from the kernel."""
    slider, picture = output.get_by_label(label, exact=True), output.locator(".picture")
    output.get_by_role("button", name="Start again").focus()  # look ahead for no slider
    handles = [slider.element_handle(), picture.element_handle()]
    took = []
    for to in range(0, int(slider.get_attribute("max")), 3):
        took.append(lab.page.evaluate(JUMP, [*handles, to]))
        lab.page.wait_for_timeout(30)
    output.get_by_role("button", name="Start again").press("Enter")
    return spread(took)


def held(lab: Lab, output: Any, label: str) -> dict[str, int]:
    """A key that is held down, with 30 presses a second as keyboards repeat: moves of the slider, and pictures."""
    slider = output.get_by_label(label, exact=True)
    lab.page.evaluate(COUNT, [slider.element_handle(), output.locator(".picture").element_handle()])
    slider.focus()
    for number in range(40):
        lab.page.keyboard.press("ArrowRight" if number < 20 else "ArrowLeft")
        lab.page.wait_for_timeout(33)
    return lab.page.evaluate("window.count()")


def drawing(module: str, function: str, control: str) -> dict[str, float]:
    """Python's share: all positions of a control, one after the other."""
    panel = getattr(import_module(f"sdpa_helpers.lessons.{module}.widget"), function)()
    took = []
    for value in panel.controls[control].stops:
        started = time.perf_counter()
        panel.draw(panel.start | {control: value})
        took.append(1000 * (time.perf_counter() - started))
    return spread(took)


def measure(browser: Any, folder: Path) -> dict[str, Any]:
    """All widgets and controls."""
    server = LabServer(folder)
    try:
        cells = [f"from sdpa_helpers.lessons.{m}.widget import {f}\n{f}()" for m, (f, _) in WIDGETS.items()]
        server.write("screens.ipynb", *cells)
        lab = Lab(browser, server).open("screens.ipynb")
        lab.run_all()
        found: dict[str, Any] = {}
        for number, (module, (function, controls)) in enumerate(WIDGETS.items()):
            output = lab.output(number)
            output.locator(".picture svg").wait_for()
            found[module] = {
                control: {"from_kernel": jumps(lab, output, label), "held": held(lab, output, label)}
                | press(lab, output, label)
                | {"draw": drawing(module, function, control)}
                for control, label in controls.items()
            }
        lab.close()
        return found
    finally:
        server.stop()


def main() -> None:
    """Measure, print and store."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, chromium(path) as browser:
        version, times = browser.version, measure(browser, Path(folder))
    result = {
        "command": "OMP_NUM_THREADS=1 python -m benchmarks.screens_widgets",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "load before": round(load, 1)},
        "chromium": version,
        "presses": PRESSES,
        "unit": "ms after the key press",
        "times": times,
    }
    target = Path(__file__).parent / "results" / "screens_widgets.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for module, controls in times.items():
        for control, numbers in controls.items():
            told = ", ".join(f"{what} {tuple(n.values())}" for what, n in numbers.items())
            print(f"{module:16} {control:12} {told}")


if __name__ == "__main__":
    main()
