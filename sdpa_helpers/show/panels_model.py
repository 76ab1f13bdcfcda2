"""The part of a lesson's widget that lives in the kernel: an anywidget around `widgets.js`."""

import time
from typing import Any

import anywidget
import traitlets

from sdpa_helpers.show.panels import MODULE, Panel

SLICE = 0.03  # seconds for drawing ahead, then the kernel listens again


class PanelModel(anywidget.AnyWidget):
    """Answers every position of the controls with a picture. Made by `Panel`."""

    _esm = MODULE
    given = traitlets.Dict().tag(sync=True)  # title, controls, start, key, born; never changes
    asked = traitlets.Dict().tag(sync=True)  # {"number", "at": {control: index}, "known": it has the picture}
    answer = traitlets.Dict().tag(sync=True)  # {"number", "at", "svg", "text"}

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        asked = {"number": 0, "at": panel.indices(panel.start), "known": False}
        super().__init__(
            given=panel.given() | {"born": time.time()},
            asked=asked,
            answer=self._frame(asked["at"]) | {"number": 0},
        )
        self.on_msg(self._draw_ahead)

    def _frame(self, at: dict[str, int]) -> dict[str, Any]:
        drawing = self.panel.draw(self.panel.values(at))
        return {"at": at, "svg": drawing.svg, "text": drawing.text}

    @traitlets.observe("asked")
    def _respond(self, change: dict) -> None:
        asked = change["new"]
        if self.answer and not asked["known"]:
            self.answer = self._frame(asked["at"]) | {"number": asked["number"]}

    def _draw_ahead(self, _: Any, message: dict, buffers: Any) -> None:
        """Pictures the reader may want next: as many as fit into a slice of time, at least one."""
        until, frames = time.monotonic() + SLICE, []
        for at in message.get("ahead", []):
            frames.append(self._frame(at))
            if time.monotonic() > until:
                break
        self.send({"frames": frames})
