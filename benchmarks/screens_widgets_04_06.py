"""How long after a key press the widgets of lessons 04 to 06 show their new picture, in JupyterLab with its kernel.

    OMP_NUM_THREADS=1 python -m benchmarks.screens_widgets_04_06

writes benchmarks/results/screens_widgets_04_06.json. What the numbers mean is told in `screens_widgets`. A painted
cell's picture comes from the kernel whenever that mask was not shown before; "painted_cell" presses the space bar on
one new cell after another, so that every press is such a case.
"""

import datetime
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.screens import WATCH
from benchmarks.screens_widgets import PRESSES, jumps, press, spread
from tests.browser.harness import Lab, LabServer, chromium

CELLS = (
    "from sdpa_helpers.lessons.gradients import explore_way_back\n"
    "explore_way_back(['the', 'cat', 'fears', 'big', 'dogs'], [0, 0.577, 0, 0, 1.155], [-0.5, -4, -3, -3, -6.5])",
    "from sdpa_helpers.lessons.masking import paint_mask\n"
    "paint_mask(['the', 'small', 'cat', 'fears', 'two', 'big', 'dogs'])",
    "from sdpa_helpers.lessons.complexity import explore_roofline\nexplore_roofline()",
)
SLIDERS = {
    "gradients": (0, ("all scores times", "add to “dogs”")),
    "masking": (1, ("layers",)),
    "complexity": (2, ("tokens n",)),
}


def painted_cells(lab: Lab, output: Any) -> dict[str, dict[str, float]]:
    """Space and an arrow, over the whole grid."""
    output.get_by_role("button", name="empty", exact=True).click()
    first = output.locator(".grid td button").first
    lab.page.evaluate(WATCH, [first.element_handle(), output.locator(".picture").element_handle()])
    lab.page.evaluate(
        """grid => { const first = grid.querySelector('button'); // every cell is watched like the first
            grid.addEventListener('keydown', event => { if (event.key === ' ' && event.target !== first)
                first.dispatchEvent(new KeyboardEvent('keydown', {key: 'Shift'})); }, true) }""",
        output.locator(".grid table").element_handle(),
    )
    first.focus()
    took = 0
    for row in range(7):
        for column in range(7):
            lab.page.keyboard.press("Space")
            took += 1
            lab.page.wait_for_function(f"window.took.length >= {took}")
            lab.page.wait_for_timeout(30)
            if column < 6:
                lab.page.keyboard.press("ArrowRight" if row % 2 == 0 else "ArrowLeft")
        lab.page.keyboard.press("ArrowDown")
    found = lab.page.evaluate("window.took")
    return {what: spread([one[what] for one in found]) for what in ("in_page", "next_frame", "painted")}


def measure(browser: Any, folder: Path) -> dict[str, Any]:
    """All widgets and controls."""
    server = LabServer(folder)
    try:
        server.write("screens.ipynb", *CELLS)
        lab = Lab(browser, server).open("screens.ipynb")
        lab.run_all()
        found: dict[str, Any] = {}
        for module, (number, labels) in SLIDERS.items():
            output = lab.output(number)
            output.locator(".picture svg").wait_for()
            again = output.get_by_role("button", name="Start again")
            found[module] = {}
            for label in labels:
                from_kernel = jumps(lab, output, label)
                again.click()
                lab.page.wait_for_timeout(500)  # far from the slider's ends every key moves it
                found[module][label] = {"from_kernel": from_kernel} | press(lab, output, label)
        found["masking"]["painted_cell"] = painted_cells(lab, lab.output(1))
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
        "command": "OMP_NUM_THREADS=1 python -m benchmarks.screens_widgets_04_06",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "load before": round(load, 1)},
        "chromium": version,
        "presses": PRESSES,
        "unit": "ms after the key press",
        "times": times,
    }
    target = Path(__file__).parent / "results" / "screens_widgets_04_06.json"
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for module, controls in times.items():
        for control, numbers in controls.items():
            told = ", ".join(f"{what} {n['median']} ({n['p90']})" for what, n in numbers.items())
            print(f"{module:12} {control:18} {told}")


if __name__ == "__main__":
    main()
