"""The part of lesson 05's widget that lives in the kernel: the scaffold's module, which learns one more control."""

from pathlib import Path

from sdpa_helpers.show.panels import MODULE
from sdpa_helpers.show.panels_model import PanelModel

GRID = Path(__file__).with_name("widget.js")


def module() -> str:
    """`widgets.js` with grids. Its places and models are kept apart from those of panels without."""
    scaffold = MODULE.read_text(encoding="utf-8")
    with_room = scaffold.replace("function control(", "function plainControl(").replace(
        "sdpaPanels", "sdpaPaintPanels"
    )
    return f"{with_room}\n{GRID.read_text(encoding='utf-8')}"


class PaintModel(PanelModel):
    """Made by `PaintPanel`."""

    _esm = module()
