"""Try an answer without what isn't there when it is graded: in `check`, in the learner's own process.

There PyTorch may be installed, and all of the course is. While an answer is tried, the names of its notebook that stand
for such things mean placeholders, and so does what its code imports; afterwards everything is as it was. Libraries,
and the course's own code, go on as always: nothing is taken from them.
"""

import builtins
import contextlib
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from sdpa_helpers.checking.answers.not_there import (
    COURSE,
    IN_EVERY_NOTEBOOK,
    is_placeholder,
    is_there,
    placeholder,
)

_MOST, _DEEPEST = 1000, 3
"""Lists and tables are looked into that are so long, and lie so deep in others."""
_MOST_VALUES = 20_000
"""Of so many values is asked what hangs on them."""


@contextlib.contextmanager
def taken_away(function: Callable, space: dict[str, Any], allows: Iterable[str]) -> Iterator[Callable]:
    """Take away what isn't there, for a while. Yields what to call: the function, or a placeholder for a library's.

    space: the names of the notebook or the file that the function is from. allows: dotted names of the course that
    stay, e.g. "sdpa_helpers.softmax".
    """
    if str(space.get("__name__")).partition(".")[0] == COURSE:  # our own code
        yield function
        return
    away = _Away(space, frozenset(allows) | IN_EVERY_NOTEBOOK)
    with contextlib.ExitStack() as undo:
        for place in list(away.places(function)):
            away.empty(place, undo)
        imports = builtins.__import__
        undo.callback(setattr, builtins, "__import__", imports)
        builtins.__import__ = functools.partial(away.importing, imports)
        yield away.without(function)


def innermost(function: Any) -> Any:
    """The function that a learner wrote, inside of what was made of it."""
    function = _unwrapped(function)
    called = getattr(type(function), "__call__", None)  # noqa: B004
    return called if not hasattr(function, "__code__") and hasattr(called, "__code__") else function


def space_of(function: Any) -> dict[str, Any]:
    """The names of the file in which a function was written, or the class of what is called like one."""
    function = _unwrapped(function)
    if hasattr(function, "__globals__"):
        return function.__globals__
    called = getattr(type(function).__call__, "__globals__", {})
    home = type(function).__module__
    return called if called.get("__name__") == home else vars(sys.modules.get(home, builtins))


def _unwrapped(function: Any) -> Any:
    for _ in range(20):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return function


class _Place(NamedTuple):
    """Where a notebook keeps a value."""

    get: Callable[[], Any]
    put: Callable[[Any], object]


@dataclass(frozen=True)
class _Away:
    """What is taken away from a notebook, or from a file."""

    space: dict[str, Any]
    """Its names."""
    allows: frozenset[str]
    known: dict[int, str] = field(default_factory=dict)
    """The names of what was found, by its id."""

    def empty(self, place: _Place, undo: contextlib.ExitStack) -> None:
        """Put a placeholder where something is that isn't there; undone, unless the answer puts something there."""

        def put_back() -> None:
            if place.get() is put:
                place.put(held)

        held = place.get()
        put = self.without(held)
        if put is not held:
            undo.callback(put_back)
            place.put(put)

    def importing(
        self,
        imports: Callable,
        name: str,
        globals: Mapping | None = None,
        locals: Mapping | None = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> Any:
        """What `import` does meanwhile: the learner's code gets placeholders, all other code what it asks for."""
        asking = vars(sys.modules.get((globals or {}).get("__name__", ""), builtins))
        if level or is_there(name) or (globals is not self.space and globals is asking):
            return imports(name, globals, locals, fromlist, level)
        return self._placeholder(name if fromlist else name.partition(".")[0])

    def without(self, value: Any, depth: int = 0) -> Any:
        """A value without what isn't there: itself, a placeholder, or a copy that holds placeholders."""
        if missing := self._missing(value):
            return self._placeholder(missing)
        if isinstance(value, staticmethod):
            inner = self.without(value.__func__)
            return value if inner is value.__func__ else inner
        if isinstance(value, functools.partial):
            held = value.func, value.args, value.keywords
            inner = self.without(held)
            return value if inner is held else functools.partial(inner[0], *inner[1], **inner[2])
        if type(value) not in (list, tuple, set, dict) or depth >= _DEEPEST or len(value) > _MOST:
            return value
        parts = list(value.values() if type(value) is dict else value)
        empty = [self.without(part, depth + 1) for part in parts]
        if all(new is old for new, old in zip(empty, parts, strict=True)):
            return value
        return dict(zip(value, empty, strict=True)) if type(value) is dict else type(value)(empty)

    def _placeholder(self, name: str) -> Any:
        made = placeholder(name)
        if name == COURSE:
            for allowed in self.allows - IN_EVERY_NOTEBOOK:
                setattr(made, allowed.removeprefix(f"{COURSE}."), _of_the_course(allowed))
        return made

    def _allowed(self) -> list[Any]:
        """What is allowed of the course, under whatever name a module or a notebook has it."""
        return [_of_the_course(name) for name in self.allows]

    # ---- where values are ---------------------------------------------------------------------------------

    def places(self, function: Callable) -> Iterator[_Place]:
        """The names, and what hangs on functions, classes and objects of the learner's own."""
        yield from (_item(self.space, name) for name in self.space)
        todo, seen = [function, *self.space.values()], set[int]()
        while todo and len(seen) < _MOST_VALUES:
            value = todo.pop()
            if id(value) in seen or isinstance(value, ModuleType) or is_placeholder(value):
                continue
            seen.add(id(value))
            with contextlib.suppress(Exception):  # values may answer anything when they are asked
                inside = list(self._inside(value))
                yield from inside
                todo += [place.get() for place in inside]
                todo += [innermost(value)] if callable(value) and not isinstance(value, type) else []
                todo += [value.__func__, value.__self__] if isinstance(value, MethodType) else []

    def _inside(self, value: Any) -> Iterator[_Place]:
        if isinstance(value, FunctionType):
            if value.__globals__ is self.space:
                yield from (
                    _attribute(cell, "cell_contents")
                    for cell in value.__closure__ or ()
                    if hasattr(cell, "cell_contents")
                )
                yield from (
                    _attribute(value, name) for name in ("__defaults__", "__kwdefaults__", *vars(value))
                )
            return
        kind = value if isinstance(value, type) else type(value)
        if kind.__module__ == self.space.get("__name__") or kind in (SimpleNamespace, np.vectorize):
            yield from (_attribute(value, name) for name in vars(value) if not name.startswith("__"))

    # ---- what is there, and what isn't ---------------------------------------------------------------------

    def _missing(self, value: Any) -> str:
        """The dotted name of what isn't there, e.g. "torch.softmax"; "" for what is, and for the learner's own."""
        if is_placeholder(value):
            return ""
        if isinstance(value, ModuleType):
            return "" if is_there(value.__name__) else value.__name__
        with contextlib.suppress(Exception):  # values may answer anything when they are asked
            if (thing := self._foreign(value)) is None:
                return ""
            if id(thing) not in self.known:
                allowed = any(thing is each for each in self._allowed())
                self.known[id(thing)] = "" if allowed else _name(thing)
            return self.known[id(thing)]
        return ""

    def _foreign(self, value: Any) -> Any:
        """The function or the class from a module that isn't there to which a value is due; None where none is."""
        if isinstance(value, FunctionType):
            return None if value.__globals__ is self.space or is_there(_home(value)) else value
        for kind in value.__mro__ if isinstance(value, type) else type(value).__mro__:
            if kind.__module__ != self.space.get("__name__") and not is_there(kind.__module__):
                return kind
        if isinstance(value, MethodType):
            return self._foreign(value.__func__)
        if isinstance(value, np.ufunc):  # SciPy's look like NumPy's own
            return value if vars(np).get(value.__name__) is not value and _offered(value) else None
        if not callable(value) or isinstance(value, type):
            return None
        holders = (getattr(value, "__self__", None), getattr(value, "__objclass__", None))
        due = (self._foreign(h) for h in holders if h is not None and not isinstance(h, ModuleType))
        return value if not is_there(_home(value)) else next(filter(None, due), None)


def _item(table: dict[str, Any], name: str) -> _Place:
    return _Place(functools.partial(table.get, name), functools.partial(table.__setitem__, name))


def _attribute(holder: Any, name: str) -> _Place:
    return _Place(functools.partial(getattr, holder, name), functools.partial(setattr, holder, name))


def _of_the_course(name: str) -> Any:
    return getattr(sys.modules[COURSE], name.removeprefix(f"{COURSE}."))


def _home(value: Any) -> str:
    """The module in which a function was written."""
    home = value.__globals__.get("__name__") if isinstance(value, FunctionType) else None
    home = home or getattr(value, "__module__", None)
    return home if isinstance(home, str) else "builtins"


def _name(thing: Any) -> str:
    """The name by which something is known: "scipy.special.softmax", wherever in SciPy it was written."""
    module = _home(thing).partition("._")[0]
    inner = isinstance(thing, FunctionType) and "<locals>" in thing.__code__.co_qualname
    return _offered(thing) or (module if inner else f"{module}.{thing.__name__}")


def _offered(thing: Any) -> str:
    """The shortest name under which a module that isn't there offers it, or ""."""
    name = thing.__name__
    modules = (
        (known_as, module)
        for known_as, module in list(sys.modules.items())
        if not is_there(known_as) and "._" not in f".{known_as}" and isinstance(module, ModuleType)
    )
    found = [f"{known_as}.{name}" for known_as, module in modules if vars(module).get(name) is thing]
    return min(found, key=lambda one: (one.count("."), one), default="")
