"""What a lesson offers its notebook: what its modules define, and what is made of the pages in its folder."""

import importlib
import re
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
_PUBLIC = re.compile(r"^(?:def |class )([a-zA-Z]\w*)|^([A-Z][A-Z0-9_]*)(?::[^=\n]+)? = ", re.MULTILINE)


def offer_lesson(
    package: str, more: dict[str, tuple[str, ...]] | None = None
) -> tuple[Callable[[str], Any], list[str]]:
    """What a lesson's `__init__` needs, as `offer` makes it: `__getattr__` and `__all__`.

    more: names of modules elsewhere, as `offer` takes them. Of the pages only those names whose page is there.
    """
    folder = Path(str(sys.modules[package].__file__)).parent
    load, names = offer(package, _public_in(folder) | (more or {}))
    made = [name for name, (page, _, _) in _MADE.items() if (folder / f"{page}.md").is_file()]

    def load_or_make(name: str) -> Any:
        if name not in made:
            return load(name)
        _, module, maker = _MADE[name]
        found = getattr(importlib.import_module(f"sdpa_helpers.course.{module}"), maker)(folder.name)
        setattr(sys.modules[package], name, found)
        return found

    return load_or_make, [*names, *made]


def _public_in(folder: Path) -> dict[str, tuple[str, ...]]:
    """Module → the functions, classes and constants that it defines; of two of one name the first file's.

    They are read, not imported, because that would take long. A module keeps its own name.
    """
    home_of: dict[str, str] = {}
    modules = sorted(folder.glob("*.py"))
    for path in modules:
        if path.stem not in ("__init__", "claims"):
            for names in _PUBLIC.findall(path.read_text(encoding="utf-8")):
                home_of.setdefault("".join(names), f"lessons.{folder.name}.{path.stem}")
    for path in modules:
        home_of.pop(path.stem, None)
    return {home: tuple(name for name in home_of if home_of[name] == home) for home in home_of.values()}
