"""How long after a key press the panel of a lesson shows its new picture, in JupyterLab with its kernel.

    OMP_NUM_THREADS=1 python -m benchmarks.screens_widgets

writes benchmarks/results/screens_widgets.json. Needs Chromium and Playwright. What "in_page", "next_frame" and
"painted" mean is in `time_presses`; the control in use has its next pictures ready. "from_kernel" is the time until a
picture is in the page that nobody was ready for (a jump of a control that is not in use), and "draw" is Python's share
of that. Each with its median and 90th percentile. "held" counts the moves of a slider while a key is held down, and
the pictures that they made. "painted_cell" presses the space bar on one new cell of lesson 05's grid after another:
that mask was never shown before, so its picture comes from the kernel every time. The pictures of lessons 01 and 03
are drawn by the page: of those only key presses are measured.
"""

import time
from pathlib import Path
from typing import Any

from benchmarks.screens import press, spread, store
from tests.browser.harness import MOMENTS, WATCH, Lab, LabServer
from tests.browser.lesson_widgets import WidgetsNotebook
from tests.lessons.pictures import PANELS

SLIDERS = {  # lesson -> the sliders to measure, and their names on screen
    "dot_product": {"b": "tip of key B", "q": "tip of the query"},
    "variance_proof": {"d_k": "dₖ", "rho": "correlation ρ(qᵢ, kᵢ)"},
    "softmax": {"temperature": "temperature T", "n": "number of keys n"},
    "gradients": {"factor": "all scores times", "add_4": "add to “dogs”"},
    "masking": {"layers": "layers"},
    "complexity": {"n": "tokens n"},
}

PICTURES = {"dot_product": ".plane", "softmax": ".bars"}  # what the page draws by itself

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


def jumps(widgets: WidgetsNotebook, output: Any, label: str) -> dict[str, float]:
    """Every third position of a control that has no pictures ready, from the kernel."""
    slider, picture = output.get_by_label(label, exact=True), output.locator(".picture")
    output.get_by_role("button", name="Start again").focus()  # look ahead for no slider
    handles = [slider.element_handle(), picture.element_handle()]
    took = []
    for to in range(0, int(slider.get_attribute("max")), 3):
        took.append(widgets.page.evaluate(JUMP, [*handles, to]))
        widgets.page.wait_for_timeout(30)
    output.get_by_role("button", name="Start again").press("Enter")
    return spread(took)


def held(widgets: WidgetsNotebook, output: Any, label: str) -> dict[str, int]:
    """A key that is held down, with 30 presses a second as keyboards repeat: moves of the slider, and pictures."""
    slider = output.get_by_label(label, exact=True)
    widgets.page.evaluate(COUNT, [slider.element_handle(), output.locator(".picture").element_handle()])
    slider.focus()
    for number in range(40):
        widgets.page.keyboard.press("ArrowRight" if number < 20 else "ArrowLeft")
        widgets.page.wait_for_timeout(33)
    return widgets.page.evaluate("window.count()")


def drawing(lesson: str, control: str) -> dict[str, float]:
    """Python's share: all positions of a control, one after the other."""
    panel = PANELS[lesson]()
    took = []
    for value in panel.controls[control].stops:
        started = time.perf_counter()
        panel.draw(panel.start | {control: value})
        took.append(1000 * (time.perf_counter() - started))
    return spread(took)


def painted_cells(widgets: WidgetsNotebook, output: Any) -> dict[str, dict[str, float]]:
    """Space and an arrow, over the whole grid."""
    page, grid = widgets.page, output.locator(".grid table")
    output.get_by_role("button", name="empty", exact=True).click()
    page.evaluate(WATCH, [grid.element_handle(), output.locator(".picture").element_handle(), [" "]])
    grid.locator("button").first.focus()
    for number in range(49):
        page.keyboard.press("Space")
        page.wait_for_function(f"window.took.length > {number}")
        page.wait_for_timeout(30)
        row, at_the_end = number // 7, number % 7 == 6
        page.keyboard.press("ArrowDown" if at_the_end else "ArrowLeft" if row % 2 else "ArrowRight")
    found = page.evaluate("window.took")
    return {moment: spread([one[moment] for one in found]) for moment in MOMENTS}


def measure(browser: Any, folder: Path) -> dict[str, Any]:
    """All panels and controls."""
    server = LabServer(folder)
    try:
        lab = Lab(browser, server)
        widgets = WidgetsNotebook(lab, server)
        widgets.run_panels()
        found: dict[str, Any] = {}
        for lesson, controls in SLIDERS.items():
            found[lesson] = {}
            for control, label in controls.items():
                times: dict[str, Any] = {}
                if lesson not in PICTURES:
                    times = {"from_kernel": jumps(widgets, widgets.output(lesson), label)}
                    times["held"] = held(widgets, widgets.output(lesson), label)
                    times["draw"] = drawing(lesson, control)
                output = widgets.fresh(lesson)  # far from the slider's ends every key moves it
                picture = output.locator(PICTURES.get(lesson, ".picture"))
                found[lesson][control] = times | press(
                    widgets.page, output.get_by_label(label, exact=True), picture
                )
        found["masking"]["painted_cell"] = painted_cells(widgets, widgets.fresh("masking"))
        lab.close()
        return found
    finally:
        server.stop()


def main() -> None:
    """Measure, print and store."""
    for lesson, controls in store("screens_widgets", measure).items():
        for control, numbers in controls.items():
            told = ", ".join(f"{what} {tuple(n.values())}" for what, n in numbers.items())
            print(f"{lesson:16} {control:12} {told}")


if __name__ == "__main__":
    main()
