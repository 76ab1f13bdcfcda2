"""Note which ready-made operations run while a function is called, however they were reached.

Reading an answer tells what it names; `t = torch; t.softmax`, a pickle or a table of functions names nothing. So the
operations themselves tell: PyTorch's operators get a kernel that notes its name and calls the one that was there,
which holds for all threads and whatever function, method or transform leads to them; a function written in Python gets
another body, so that every reference to it is noted, also one that is older; a function written in C is replaced in
every module that has it. A module that is imported later is treated when it has been imported, before anybody has
it. What is not loaded costs nothing, and no import is blocked: answers that use PyTorch for a product are right.

In the kernel of a submission, `keep` does this for good, before learners' code runs. In `check`, `watching` does it
while an answer is tried, and undoes it.

It is no wall. Code that shares a process with it can take it out again, and go around it: with `ctypes` in a library,
with a copy of a function's source. What is kept here lies in a closure, `observe.seal` leaves no attribute of a module
to overwrite, and whether it is still in place is looked at after each call. Runs next to untrusted code, with NumPy
alone.
"""

import contextlib
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sdpa_helpers.checking.operations import FUNCTIONS, OF_TORCH, OVERLOADS, UNDONE

Undo = Callable[[], object]

_KEYS = ("CPU", "CUDA", "MPS", "MkldnnCPU", "NestedTensorCPU", "SparseCPU", "SparseCsrCPU")
"""What PyTorch calls the kinds of tensors that an operator may have a kernel of its own for."""


class _Watch(NamedTuple):
    """What there is to call; all they share is theirs alone."""

    begin: Callable[[], None]
    """Forget what was noted."""
    noted: Callable[[], tuple[str, ...]]
    """What was noted since then, sorted."""
    keep: Callable[..., None]
    """Watch from now on, for good; may be told the name of the module that is just being imported."""
    watching: Callable[[], contextlib.AbstractContextManager[None]]
    """Watch for a while."""


def _made() -> _Watch:
    names: set[str] = set()
    done: dict[str, Undo] = {}  # what is treated → what undoes it
    probes: list[Callable[[], bool]] = []  # whether it is still in place
    modules, path, functions = (
        sys.modules,
        sys.meta_path,
        {name: dict(those) for name, those in FUNCTIONS.items()},
    )
    watched = frozenset({"torch", "sympy", *functions})
    add, forget = names.add, names.clear
    a_tuple, in_order, a_set, every = tuple, sorted, set, all  # what they are now

    def treat(finished: str = "") -> int:
        """Treat every module that is loaded and not treated yet; how many. `finished`: whose import ends with this."""
        before = len(done)
        for name, those in functions.items():
            if name in modules and name not in done and (name == finished or _is_there(modules[name])):
                _treat(name, lambda name=name, those=those: _functions(modules[name], those, add))
        torch = modules.get("torch")
        if "torch" not in done and (finished == "torch" or _is_there(torch)):
            _treat("torch", lambda: _operators(torch, names))
        return len(done) - before

    def _treat(name: str, how: Callable[[], tuple[Undo, Callable[[], bool]]]) -> None:
        done[name] = types.NoneType
        with contextlib.suppress(Exception):  # a module that is loaded in part, or of another edition
            done[name], probe = how()
            probes.append(probe)

    class Finder:
        """Treats a module as soon as it has been imported."""

        def find_spec(self, name: str, where: Any = None, target: Any = None) -> Any:
            """How the others would load it, and then our part."""
            if name not in watched:
                return None
            others = (f.find_spec(name, where, target) for f in list(path) if f is not finder)
            spec = next((found for found in others if found is not None), None)
            loader = getattr(spec, "loader", None)
            load = getattr(loader, "exec_module", None)
            if loader is None or load is None:
                return spec

            def exec_module(module: Any) -> None:
                load(module)
                done.pop(name, None)  # it may have been loaded anew
                treat(name)

            loader.exec_module = exec_module
            return spec

    finder = Finder()

    def begin() -> None:
        if done:
            treat()
        forget()

    def noted() -> tuple[str, ...]:
        found = a_set(names)
        if not every(probe() for probe in probes) or (done and (finder not in path or treat())):
            found.add(UNDONE)
        return a_tuple(in_order(found))

    def keep(finished: str = "") -> None:
        if finder not in path:
            path.insert(0, finder)  # type: ignore[arg-type]
        done.setdefault("", types.NoneType)
        treat(finished)

    @contextlib.contextmanager
    def watching() -> Iterator[None]:
        if finder in path:  # for good, or already
            yield
            return
        keep()
        try:
            yield
        finally:
            path.remove(finder)  # type: ignore[arg-type]
            for undo in done.values():
                undo()
            done.clear()
            probes.clear()

    return _Watch(begin, noted, keep, watching)


def _is_there(module: Any) -> bool:
    """Whether a module is loaded, and not in the middle of it."""
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


# ---- functions --------------------------------------------------------------------------------------------


def _functions(
    module: Any, there: dict[str, str], add: Callable[[str], None]
) -> tuple[Undo, Callable[[], bool]]:
    """Let functions and methods of a module note their names; (what undoes it, what tells whether it holds)."""
    undos, holds = [], []
    for attribute, name in there.items():
        holder = module
        for part in attribute.split(".")[:-1]:
            holder = getattr(holder, part, None)
        last = attribute.rpartition(".")[2]
        inner = vars(holder).get(last) if holder is module else getattr(holder, last, None)
        if inspect.isfunction(inner):
            for function in _layers(inner):
                if function.__code__.co_name != _BODY.co_name:  # the same function by another of its names
                    undo, hold = _with_another_body(function, name, add)
                    undos.append(undo)
                    holds.append(hold)
        elif callable(inner):
            for place, known_as in _places(inner):
                undo, hold = _replaced(place, known_as, name, add)
                undos.append(undo)
                if place is holder:
                    holds.append(hold)
    return (lambda: [undo() for undo in undos]), (lambda: all(hold() for hold in holds))


def _layers(function: Any) -> Iterator[types.FunctionType]:
    """A function, and those inside of it that decorators have wrapped."""
    for _ in range(10):
        if inspect.isfunction(function):
            yield function
        function = getattr(function, "__wrapped__", None)


def _places(value: Any) -> list[tuple[Any, str]]:
    """Every module that has a value, with its name there: the notebook, too, where it was imported before."""
    loaded = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
    return [(module, name) for module in loaded for name, v in list(vars(module).items()) if v is value]


def _body() -> types.CodeType:
    def noted_use(*arguments: Any, **options: Any) -> Any:
        inner: Any = "here"
        return inner(*arguments, **options)

    return noted_use.__code__


_BODY = _body()
"""A body that calls a constant; which one is put in below."""


def _with_another_body(
    function: types.FunctionType, name: str, add: Callable[[str], None]
) -> tuple[Undo, Callable[[], bool]]:
    code, defaults, only_named = function.__code__, function.__defaults__, function.__kwdefaults__
    inner = types.FunctionType(code, function.__globals__, function.__name__, defaults, function.__closure__)
    inner.__kwdefaults__ = only_named

    def noting(*arguments: Any, **options: Any) -> Any:
        add(name)
        return inner(*arguments, **options)

    constants = tuple(noting if constant == "here" else constant for constant in _BODY.co_consts)
    body = _BODY.replace(co_consts=constants, co_freevars=code.co_freevars)
    signed = "__signature__" in function.__dict__
    if not signed:
        function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    function.__code__ = body

    def undo() -> None:
        function.__code__ = code
        if not signed:
            del function.__signature__  # type: ignore[attr-defined]

    return undo, lambda: function.__code__ is body


def _replaced(
    holder: Any, attribute: str, name: str, add: Callable[[str], None]
) -> tuple[Undo, Callable[[], bool]]:
    inner = getattr(holder, attribute)

    def noting(*arguments: Any, **options: Any) -> Any:
        add(name)
        return inner(*arguments, **options)

    noting.__name__, noting.__doc__, noting.__module__ = attribute, inner.__doc__, holder.__name__
    setattr(holder, attribute, noting)
    return lambda: setattr(holder, attribute, inner), lambda: getattr(holder, attribute, None) is noting


# ---- PyTorch's operators ----------------------------------------------------------------------------------


def _operators(torch: Any, names: set[str]) -> tuple[Undo, Callable[[], bool]]:
    """Let PyTorch's operators note their names; (what undoes it, what tells whether it holds)."""
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is a kernel already
        for name in OF_TORCH:
            for overload in OVERLOADS.get(name, ("",)) if name.startswith("aten::") else ():
                full = f"{name}.{overload}" if overload else name
                for key, original in _kernels(torch, full):
                    _noting_kernel(library, full, key, original, name, names.add)
    softmax, tiny, expected = torch.ops.aten._softmax.default, torch.zeros(1), "aten::_softmax"

    def holds() -> bool:
        there = expected in names
        names.discard(expected)
        try:
            softmax(tiny, 0, False)
            return expected in names
        except Exception:
            return False
        finally:
            (names.add if there else names.discard)(expected)

    return library._destroy, holds


def _kernels(torch: Any, full: str) -> Iterator[tuple[str, Any]]:
    """The kernels of an operator that do its work: (the key for which each is registered, the kernel)."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    try:
        composite = has(full, "CompositeImplicitAutograd")
    except RuntimeError:  # no such operator in this edition
        return
    if composite:
        yield "CompositeImplicitAutograd", torch.library.get_kernel(full, "CPU")
        return
    general = has(full, "CompositeExplicitAutograd")
    general = general or has(full, "CompositeExplicitAutogradNonFunctional")
    everywhere = ("CPU", "CUDA") if torch.backends.cuda.is_built() else ("CPU",)
    for key in _KEYS:
        if has(full, key) or (general and key in everywhere):
            yield key, torch.library.get_kernel(full, torch._C._parse_dispatch_key(key))


def _noting_kernel(
    library: Any, full: str, key: str, original: Any, name: str, add: Callable[[str], None]
) -> None:
    call = original.call_boxed

    def noting(keys: Any, *arguments: Any, **options: Any) -> Any:
        add(name)
        return call(keys, *arguments, **options)

    library.impl(full.removeprefix("aten::"), noting, key, with_keyset=True, allow_override=True)


begin, noted, keep, watching = _made()
