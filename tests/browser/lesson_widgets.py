"""The panels of all lessons in one notebook."""

from typing import Any

from tests.lessons.pictures import ARRIVED, KEYS, SCORES, TOKENS

from .harness import Lab, LabServer

CELLS = {
    "dot_product": "from sdpa_helpers.lessons.dot_product import explore_keys\nexplore_keys()",
    "variance_proof": "from sdpa_helpers.lessons.variance_proof import explore_scores\nexplore_scores()",
    "softmax": "from sdpa_helpers.lessons.softmax import explore_temperature\nexplore_temperature()",
    "gradients": "from sdpa_helpers.lessons.gradients import explore_way_back\n"
    f"explore_way_back({KEYS}, {SCORES}, {ARRIVED})",
    "masking": f"from sdpa_helpers.lessons.masking import paint_mask\nmasks = paint_mask({TOKENS})\nmasks",
    "complexity": "from sdpa_helpers.lessons.complexity import explore_roofline\n"
    "from sdpa_helpers.lessons.complexity.experiments import Machine\nexplore_roofline(Machine(5e10, 8e9))",
    "flash_attention": "from sdpa_helpers.lessons.flash_attention import paint_tiles\npaint_tiles()",
    "heads_and_variants": "from sdpa_helpers.lessons.heads_and_variants import explore_rope\nexplore_rope()",
    "many_machines": "from sdpa_helpers.lessons.many_machines import explore_devices\nexplore_devices()",
    "does_scaling_matter": "from sdpa_helpers.lessons.does_scaling_matter import explore_arms\nexplore_arms()",
}
"""The code that shows each lesson's panel, by lesson; in the notebook they stand in this order."""

MASK_STATE = "print(masks.state['mask'].astype(int).tolist(), masks.state['layers'])"
SET_LAYERS = "masks.set(layers=6)"
MORE = MASK_STATE, SET_LAYERS
"""The cells behind them."""


class WidgetsNotebook:
    """A notebook with a panel of each lesson, open in JupyterLab and not yet run; more cells follow them."""

    def __init__(
        self, lab: Lab, server: LabServer, *more: str, outputs: dict[int, dict[str, str]] | None = None
    ) -> None:
        self.cells = [*CELLS.values(), *more]
        server.write("widgets.ipynb", *self.cells, outputs=outputs)
        self.lab = lab.open("widgets.ipynb")
        self.page = lab.page
        self.begins: dict[str, str] = {}
        """What the sentence of each panel says at its start."""

    def cell(self, lesson: str) -> int:
        """The number of the cell with a lesson's panel."""
        return self.cells.index(CELLS[lesson])

    def active_cell(self) -> int:
        """The number of the cell that JupyterLab's commands would go to."""
        return self.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex")

    def output(self, lesson: str) -> Any:
        """The output with a lesson's panel."""
        return self.lab.output(self.cell(lesson))

    def run(self, code: str) -> Any:
        """Run one of the cells behind the panels; its output."""
        number = self.cells.index(code)
        self.lab.run_cell(number)
        return self.lab.output(number)

    def run_panels(self) -> None:
        """Run the panels' cells, and wait until they live."""
        for lesson in CELLS:
            self.lab.run_cell(self.cell(lesson))
            self.output(lesson).locator(".panel svg").first.wait_for()
            self.begins[lesson] = self.output(lesson).locator(".say").inner_text().split("\n")[0]

    def fresh(self, lesson: str) -> Any:
        """Set a panel back to its start; the output that it is in."""
        output = self.output(lesson)
        output.get_by_role("button", name="Start again").click()
        output.locator(".say", has_text=self.begins[lesson]).wait_for()
        return output


def shown(output: Any, name: str) -> str:
    """What the picture writes under this name."""
    return output.locator(f"[data-name='{name}']").text_content()


def number(output: Any, name: str) -> float:
    """The number that the picture writes under this name."""
    return float(shown(output, name).replace("−", "-").replace("∞", "inf"))


def wait_for(output: Any, says: str) -> None:
    """Until the sentence below the picture contains some words; the picture's description has them too."""
    output.locator(".say", has_text=says).wait_for()
    assert says in output.locator("svg[role=img] desc").text_content()
