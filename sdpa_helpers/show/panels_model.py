"""The part of a panel that lives in the kernel: anywidgets that know of no panel, only of what it hands them."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

SLICE = 0.03  # seconds for drawing ahead, then the kernel listens again

_TRAITS = {int: traitlets.Int, float: traitlets.Float, str: traitlets.Unicode}


class DrawnModel(anywidget.AnyWidget):
    """Answers every position of the controls with a picture. Made by `Panel.widget`."""

    _esm = traitlets.Unicode().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)  # title, controls, start, key, born; never changes
    asked = traitlets.Dict().tag(sync=True)  # {"number", "at": {control: index}, "known": it has the picture}
    answer = traitlets.Dict().tag(sync=True)  # {"number", "at", "svg", "text"}

    def __init__(
        self, module: str, given: Mapping[str, Any], picture: Callable[[dict[str, int]], dict[str, str]]
    ) -> None:
        """`picture` draws for positions of the controls: {"svg", "text"}."""
        self.picture = picture
        start = given["start"]
        super().__init__(
            _esm=module,
            given={**given, "born": time.time()},
            asked={"number": 0, "at": start, "known": False},
            answer=self._frame(start) | {"number": 0},
        )
        self.on_msg(self._draw_ahead)

    def _frame(self, at: dict[str, int]) -> dict[str, Any]:
        return {"at": at} | self.picture(at)

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


class SettingsModel(anywidget.AnyWidget):
    """A panel that the page draws by itself. Each setting is a trait, which Python and the reader both move."""

    _esm = traitlets.Unicode().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)  # what the module needs to begin; never changes

    def __init__(
        self, module: str, given: Mapping[str, Any], settings: Mapping[str, int | float | str]
    ) -> None:
        self.add_traits(
            **{name: _TRAITS[type(value)](value).tag(sync=True) for name, value in settings.items()}
        )
        super().__init__(_esm=module, given=dict(given))


class QuestionModel(anywidget.AnyWidget):
    """A question of `predict.py`. The page tells what the reader chose."""

    _esm = traitlets.Unicode().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)  # what the module needs to begin; never changes
    chosen = traitlets.List().tag(sync=True)  # [option, sure], or [] before the reader has chosen

    def __init__(
        self,
        module: str,
        given: Mapping[str, Any],
        before: Sequence[int | bool | None],
        keep: Callable[[int, bool | None], None],
    ) -> None:
        """`before`: what was chosen some other day, as in `chosen`. `keep` is told each choice."""
        self.keep = keep
        super().__init__(_esm=module, given={**given, "born": time.time()}, chosen=list(before))
        self.observe(self._tell, "chosen")

    def _tell(self, change: dict) -> None:
        match change["new"]:
            case [int(option), bool() | None as sure] if option is not True and option is not False:
                self.keep(option, sure)  # whatever else a page may send is nobody's choice


class LadderModel(anywidget.AnyWidget):
    """A ladder of `ladder.py`. The page tells where the reader is, and asks for verdicts."""

    _esm = traitlets.Unicode().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)  # what the module needs to begin; never changes
    place = traitlets.Dict().tag(sync=True)  # {"rung", "order", "typed", "passed"}
    asked = traitlets.Dict().tag(sync=True)  # {"number", "place"}
    answer = traitlets.Dict().tag(sync=True)  # {"number", "passed", "html", "said", "marked"}

    def __init__(
        self,
        module: str,
        given: Mapping[str, Any],
        place: Mapping[str, Any],
        move: Callable[[Any], None],
        judge: Callable[[Any], dict[str, Any]],
    ) -> None:
        """`move` is told each new place, `judge` gives the verdict on one."""
        self.move, self.judge = move, judge
        super().__init__(_esm=module, given={**given, "born": time.time()}, place=dict(place))
        self.observe(lambda change: self.move(change["new"]), "place")
        self.observe(self._answer, "asked")

    def _answer(self, change: dict) -> None:
        number = change["new"].get("number")
        self.answer = {"number": number, **self.judge(change["new"].get("place"))}
