"""What a lesson offers its notebook: names of its modules, and what is made of the pages in its folder."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdpa_helpers.lazy import offer

_MADE = {
    "predict": ("predictions", "questions", "predict_in"),
    "recall": ("recall", "questions", "recall_in"),
    "cheat_card": ("card", "cards", "cheat_card_in"),
}
"""Name → (the page that has to be there, the module of this folder, what makes it for a lesson)."""


def offer_lesson(package: str, homes: dict[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], list[str]]:
    """What a lesson's `__init__` needs, as `offer` makes it; of the pages only those names whose page is there."""
    load, names = offer(package, homes)
    folder = Path(str(sys.modules[package].__file__)).parent
    made = [name for name, (page, _, _) in _MADE.items() if (folder / f"{page}.md").is_file()]

    def load_or_make(name: str) -> Any:
        if name not in made:
            return load(name)
        _, module, maker = _MADE[name]
        found = getattr(importlib.import_module(f"sdpa_helpers.course.{module}"), maker)(folder.name)
        setattr(sys.modules[package], name, found)
        return found

    return load_or_make, [*names, *made]
