"""What is not there when an answer is graded: it can be imported and named, and raises as soon as it is used.

A graded notebook sees Python's standard library, NumPy, and of the course what its exercises allow. All else is a
placeholder, so that an unused import, an annotation and an `isinstance` cost nothing. In a submission's kernel `keep`
sees to it for good; `taken_away.py` does the same in a learner's own process, while an answer is tried.

Runs next to untrusted code, in the kernel of a submission too, so it needs the standard library alone.
"""

import importlib.machinery
import re
import sys
from types import GenericAlias, NoneType, UnionType
from typing import Any, NoReturn

COURSE = "sdpa_helpers"
IN_EVERY_NOTEBOOK = frozenset(
    f"{COURSE}.{name}" for name in ("check", "hint", "ladder", "progress", "solution")
)
"""What every notebook has of the course; in a graded one it does nothing."""
_THERE = frozenset({"numpy", "IPython", "ipykernel", "__main__", "__mp_main__", *sys.stdlib_module_names})


class NotThere(ImportError):
    """What is not there was used; `name` is its dotted name."""


def is_there(name: str) -> bool:
    """Whether a module, or what has this dotted name, is there when an answer is graded, apart from the course."""
    return name.partition(".")[0] in _THERE


def in_words(name: str) -> str:
    """What is said of the use of one name, wherever it is said."""
    return f"`{name}` isn't there when your answer is graded"


def name_in(message: str) -> str:
    """The name that was used, from the message of a `NotThere`; "" where there is none."""
    found = re.match(r"`([\w.]+)` isn't there", message)
    return found[1] if found else ""


def placeholder(name: str) -> Any:
    """What stands for a thing that is not there, e.g. "torch.nn": all below it are placeholders, any use raises."""
    return _Placeholder(name)


def is_placeholder(value: object) -> bool:
    """Whether a value stands for something that is not there."""
    return type(value) is _Placeholder


class _Placeholder:
    """Stands for a module, a function, a class or a value that is not there."""

    __path__ = __all__ = ()  # as a module: a package, of which `import *` takes nothing
    __version__ = "not there"

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if (name[:2] == "__" and name[-2:] == "__") or name.startswith(("_repr_", "_ipython_")):
            raise AttributeError(name)  # Python and IPython ask this of anything
        return _Placeholder(f"{self.__name__}.{name}")

    def __getitem__(self, item: object) -> Any:
        return self  # as annotations do: `Float[Tensor, "n d"]`

    def __repr__(self) -> str:
        return f"<{self.__name__}, which isn't there when your answer is graded>"

    def __bool__(self) -> bool:
        return False

    def __instancecheck__(self, instance: object) -> bool:
        return False

    __subclasscheck__ = __instancecheck__

    def __or__(self, other: Any) -> Any:
        """The other kind alone, in `Tensor | None`: nothing is of this one."""
        if other is None:
            return NoneType
        is_kind = isinstance(other, type | UnionType | GenericAlias | _Placeholder)
        return other if is_kind or type(other).__module__ == "typing" else _used(self)

    __ror__ = __or__


def _used(what: _Placeholder, *_: object, **__: object) -> NoReturn:
    raise NotThere(in_words(what.__name__), name=what.__name__)


_NUMBERS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor"
_USES = f"""
    call iter next reversed len length_hint contains setitem delitem mro_entries
    enter exit aenter aexit await aiter anext
    lt le gt ge neg pos abs invert int float complex index round trunc floor ceil
    array array_ufunc array_function fspath buffer
    {_NUMBERS} {" ".join(f"r{name}" for name in _NUMBERS.split())} {" ".join(f"i{name}" for name in _NUMBERS.split())}
"""
for _use in _USES.split():
    setattr(_Placeholder, f"__{_use}__", _used)


# ---- for good, in a submission's kernel -------------------------------------------------------------------


def keep(offered: frozenset[str]) -> None:
    """From now on nothing can be imported but the standard library, the modules in `offered`, and files of the course.

    offered: names of top-level modules, e.g. frozenset({"numpy", "IPython"}). Other imports by learners' code give
    placeholders, those by these modules themselves fail, as where a module is not installed.
    """
    sys.meta_path.insert(0, _Finder(offered | sys.stdlib_module_names))


class _Finder:
    """Finds a placeholder where nothing else is to be found; it is its own loader."""

    def __init__(self, there: frozenset[str]) -> None:
        self.there = there

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """None for what is there: the others find it."""
        root = name.partition(".")[0]
        if root in self.there or name == COURSE:
            return None
        if root == COURSE and (found := importlib.machinery.PathFinder.find_spec(name, path, target)):
            return found
        if self._asked_by_what_is_there():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def _asked_by_what_is_there(self) -> bool:
        frame = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        asking = frame.f_globals.get("__name__") if frame is not None else None
        return isinstance(asking, str) and asking.partition(".")[0] in self.there

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        """The placeholder."""
        return placeholder(spec.name)

    def exec_module(self, module: Any) -> None:
        """Nothing to run."""
