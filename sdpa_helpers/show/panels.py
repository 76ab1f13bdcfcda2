"""Panels: pictures that move, as the result of a cell. In Python here, in the page `panels.js`: one scaffold for all.

    def draw(state):                      # pure: the same state gives the same picture
        return canvas.finish("Bars", f"The largest weight is {...}.")

    Panel("softmax", "How sharp is a row?", [slider("n", "keys", range(2, 65), 16)], draw, still)

A control has finitely many positions ("stops"), each with a value and the text that shows it; so zero and infinity
can be stops as well. A cell's output is a still picture with alt text, which every viewer shows. In JupyterLab the
living panel takes its place as long as the kernel that made it is there.

How scripts are joined: `panels.js` first, then the files that a panel needs, whole and in order, then one line that
exports (`module`, for anywidget) or mounts (`inlined`, for a page without a kernel). So no file imports or exports
anything; what it takes from those before it stands in its line `global`, which the linter checks. There are two
registries, and each entry is one file that ends with its registration:

- `bodies.walk = {style, fill}`, a kind of panel: `drawn.js`, whose pictures Python draws (`Panel`), and those that
  the page draws by itself, with what `touch.js` has for them: `visualiser.js`, and a lesson's own (`PagePanel`), which
  move in exported pages too. What Python hands to it names it: `{"body": "walk", "title": …}`.
- `kinds.grid = grid`, a kind of control beside slider, choice, switch and button. Its `Control` names the file.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdpa_helpers.show.figures import Picture
    from sdpa_helpers.show.panels_model import DrawnModel, SettingsModel

SCAFFOLD = Path(__file__).with_suffix(".js")
DRAWN = Path(__file__).with_name("drawn.js")
TOUCH = Path(__file__).with_name("touch.js")
"""Strokes, motion, handles and moving numbers, for panels that the page draws by itself."""

DRAWN_WIDTH = 536
"""A picture of Python's is no wider: then letters of 12 and more are as large in a panel of 560 pixels."""

State = Mapping[str, Any]


def module(*files: Path) -> str:
    """The scaffold and these files as one ES module, as anywidget wants it."""
    return f"{_joined(files)}\nexport default {{ initialize, render }};\n"


def still_html(still: "Callable[[], Picture]") -> str:
    """A still as HTML. None where Python runs in the page itself: the panel lives at once, a still takes seconds."""
    return "" if sys.platform == "emscripten" else still().html()


def inlined(still: str, note: str, given: Mapping[str, Any], files: Iterable[Path]) -> str:
    """HTML of a still and its note, and a script that puts the living panel in their place: no network, no kernel."""
    data = json.dumps(given, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f"<div>{still}<p><em>{note}</em></p></div>\n<script>\n(() => {{\n"
        # A classic script, because it knows its own place in the page.
        '"use strict";\nconst place = document.currentScript.previousElementSibling;\n'
        f"{_joined(files)}\nreplaceStill(place, {data});\n}})();\n</script>"
    )


def place_for(key: str, still: str) -> str:
    """HTML of a still, and the line of script that offers its place to the living panel with this key."""
    return (
        f'<div data-key="{key}">{still}</div>\n'
        "<script>(() => { const desk = (window.sdpaPanels ??= { places: [], models: [] });\n"
        "desk.places.push(document.currentScript.previousElementSibling); desk.meet?.(); })()</script>"
    )


def _joined(files: Iterable[Path]) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in (SCAFFOLD, *files))


@dataclass(frozen=True)
class Drawing:
    """A picture, and the sentences that say what it shows. Made by `svg.Canvas.finish`."""

    svg: str
    text: str


@dataclass(frozen=True)
class Control:
    """Something to move."""

    kind: str
    """slider, choice, switch, button, or what `file` adds to the page's `kinds`."""
    name: str
    """The name of its value in a state."""
    label: str
    """What the reader sees beside it."""
    stops: Sequence[Any] = ()
    """The value at each position; a button has none, it counts."""
    shown: Sequence[str] = ()
    """The text of each position."""
    start: int = 0
    """The first position."""
    file: Path | None = None
    """The script that adds its kind, for a control that `panels.js` does not have."""

    def index(self, value: Any) -> int:
        """The position with this value.

        Raises:
            ValueError: no position has it.
        """
        if self.kind == "button":
            return int(value)
        if value not in self.stops:
            near = "" if isinstance(value, str) else f", the nearest is {self._nearest(value)}"
            raise ValueError(f"{self.name} has no stop at {value!r}{near}")
        return list(self.stops).index(value)

    def value(self, index: int) -> Any:
        """The value at a position; positions beyond the ends mean the ends."""
        return (
            max(int(index), 0)
            if self.kind == "button"
            else self.stops[min(max(int(index), 0), len(self.stops) - 1)]
        )

    def _nearest(self, value: float) -> Any:
        return min(self.stops, key=lambda stop: abs(stop - value))


def slider(
    name: str, label: str, stops: Iterable[float], start: float, shown: Callable[[Any], str] = "{:g}".format
) -> Control:
    """A slider over these values; `shown` writes one, with its unit."""
    values = list(stops)
    return Control("slider", name, label, values, [shown(value) for value in values], values.index(start))


def choice(name: str, label: str, options: Sequence[str], start: str) -> Control:
    """A list to choose from."""
    return Control("choice", name, label, list(options), list(options), list(options).index(start))


def switch(name: str, label: str, start: bool = False) -> Control:
    """A box to tick: False or True."""
    return Control("switch", name, label, [False, True], ["off", "on"], int(start))


def button(name: str, label: str) -> Control:
    """A button; its value says how often it was pressed."""
    return Control("button", name, label)


class Panel:
    """A widget of a lesson, as the result of a cell."""

    def __init__(
        self,
        name: str,
        title: str,
        controls: Sequence[Control],
        draw: Callable[[State], Drawing],
        still: "Callable[[], Picture]",
    ) -> None:
        self.name, self.title, self.draw, self.still = name, title, draw, still
        self.controls = {control.name: control for control in controls}
        self.models: list[DrawnModel] = []

    @property
    def start(self) -> dict[str, Any]:
        """The values at the beginning."""
        return {name: control.value(control.start) for name, control in self.controls.items()}

    @property
    def state(self) -> dict[str, Any]:
        """The values now: where the reader moved the panel that was shown last."""
        return self.values(self.models[-1].asked["at"]) if self.models else self.start

    def set(self, **values: Any) -> None:
        """Move controls from Python: `panel.set(d_k=64)`.

        Raises:
            ValueError: a control that is not there, or a value that is not one of its stops.
        """
        indices = self.indices(values)
        for model in self.models:
            asked = model.asked
            model.asked = {"number": asked["number"] + 1, "at": asked["at"] | indices, "known": False}

    def indices(self, values: State) -> dict[str, int]:
        """Positions for values."""
        if unknown := set(values) - set(self.controls):
            raise ValueError(
                f"no control is called {', '.join(sorted(unknown))}; there are {', '.join(self.controls)}"
            )
        return {name: self.controls[name].index(value) for name, value in values.items()}

    def values(self, indices: Mapping[str, int]) -> dict[str, Any]:
        """Values for positions."""
        return {name: control.value(indices[name]) for name, control in self.controls.items()}

    def given(self) -> dict[str, Any]:
        """What the module needs to begin. The key is the same for the same panel: stored outputs stay the same."""
        controls = [
            {"kind": c.kind, "name": c.name, "label": c.label, "shown": list(c.shown)}
            for c in self.controls.values()
        ]
        data = {"title": self.title, "controls": controls, "start": self.indices(self.start)}
        whole = json.dumps([self.name, data, self.draw(self.start).svg])
        return data | {
            "body": "drawn",
            "key": f"{self.name}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}",
        }

    def added(self) -> list[Path]:
        """The scripts of its controls."""
        return list(dict.fromkeys(control.file for control in self.controls.values() if control.file))

    def widget(self) -> "DrawnModel":
        """The living panel as an anywidget: for JupyterLab it is made by itself when the panel is shown."""
        # Imported when the first panel is shown: anywidget takes its time.
        from sdpa_helpers.show.panels_model import DrawnModel

        self.models.append(DrawnModel(module(*self.added(), DRAWN), self.given(), self._picture))
        return self.models[-1]

    def _picture(self, indices: Mapping[str, int]) -> dict[str, str]:
        drawing = self.draw(self.values(indices))
        return {"svg": drawing.svg, "text": drawing.text}

    def html(self) -> str:
        """The still, and the line of script that offers its place to the living panel."""
        note = PagePanel.NOTE
        return place_for(self.given()["key"], f"{_html_of(self.still)}<p><em>{note}</em></p>")

    def __repr__(self) -> str:
        return f"{self.title} {self.draw(self.start).text}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        self.widget()
        return {"text/plain": repr(self), "text/html": self.html()}


@dataclass(frozen=True)
class WithoutPython:
    """A panel that a script draws by itself where there is no Python: `without_python.js` in its lesson's folder."""

    panel: Panel
    data: Mapping[str, Any]
    """What the script is given, beside the positions of the controls: as JSON takes it."""


class PagePanel:
    """A widget of a lesson that the page draws by itself: it moves wherever scripts run, with a kernel or without."""

    NOTE = "Run this cell, and the picture moves."

    def __init__(
        self,
        given: Mapping[str, Any],
        settings: Mapping[str, int | float | str],
        text: str,
        still: "Callable[[], Picture]",
        *files: Path,
    ) -> None:
        """`given` names its body and title, `settings` are what the reader moves, `text` is their start in words."""
        self.settings, self.text, self.still, self.files = settings, text, still, files
        self.given = {**given, **settings}

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.given["title"]

    def widget(self) -> "SettingsModel":
        """The same as an anywidget: Python can read and set the settings while it is shown."""
        from sdpa_helpers.show.panels_model import SettingsModel

        return SettingsModel(module(*self.files), self.given, self.settings)

    def html(self) -> str:
        """The still, and a script that puts the living picture in its place. Needs no network and no kernel."""
        return inlined(_html_of(self.still), self.NOTE, self.given, self.files)

    def __repr__(self) -> str:
        return f"{self.title} {self.text}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


@lru_cache(maxsize=16)
def _html_of(still: "Callable[[], Picture]") -> str:
    """A still never changes, and takes half a second: who runs a cell again should not wait for it again."""
    return still_html(still)
