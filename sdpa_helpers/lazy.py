"""Names that load their module when first used: how a package offers much and imports little."""

import importlib
import sys
from collections.abc import Callable
from typing import Any


def offer(package: str, homes: dict[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], list[str]]:
    """What a package's `__init__` needs to offer names of its modules: its `__getattr__` and its `__all__`.

    homes: module, by its name below sdpa_helpers, e.g. "show.predict" → the names that are taken from it.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"sdpa_helpers.{home_of[name]}"), name)
        # Kept, lest a module of the same name take its place once it is imported.
        setattr(sys.modules[package], name, found)
        return found

    return load, list(home_of)
