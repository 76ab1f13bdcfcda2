"""Load modules that nobody else finds: in no `sys.modules`, with builtins of their own and copies of what they import.

Learners' code shares the process with them. Whatever it puts in place of a function of a module, or among the
builtins, these go on with what was there when they were loaded.
"""

import builtins
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def loader() -> Callable[[str], Any]:
    """What loads a module by its name, with all of the same package that it imports; LookupError if there is none."""
    own, loaded, copies = dict(vars(builtins)), dict[str, ModuleType](), dict[ModuleType, ModuleType]()
    theirs, package = builtins.__import__, __name__.partition(".")[0]

    def load(name: str) -> ModuleType:
        if name not in loaded:
            spec = importlib.util.find_spec(name)
            if spec is None or spec.origin is None:
                raise LookupError(name)
            module = loaded[name] = ModuleType(name)
            vars(module).update(__builtins__=own, __file__=spec.origin)
            exec(compile(Path(spec.origin).read_bytes(), spec.origin, "exec"), vars(module))
        return loaded[name]

    def find(name: str, _: Any = None, __: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if name.partition(".")[0] != package:
            found = theirs(name, fromlist=wanted)
            if found not in copies:
                copies[found] = ModuleType(found.__name__)
                vars(copies[found]).update(vars(found))
            return copies[found]
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            return SimpleNamespace(**{item: load(f"{name}.{item}") for item in wanted})
        return load(name)

    own["__import__"] = find
    return load
