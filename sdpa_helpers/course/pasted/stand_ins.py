"""What stands for the arguments that a pasted function wants beside its matrices, and for the `self` of a method."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from sdpa_helpers.course.pasted.torch_like import softmax

_KINDS = {
    "scale": "scale scaling softmax_scale sm_scale scale_factor norm_factor temperature temp",
    "width": "d_k dk d head_dim d_head dim_head attention_head_size",
    "one": "n_rep num_heads n_heads n_head heads nhead h n_kv_heads num_key_value_groups num_kv_groups",
    "off": "p training train causal is_causal flash",
    "object": "self module",
    "softmax": "softmax",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
OBJECTS = frozenset(_KINDS["object"].split())


class Off(float):
    """0.0, False, and as a function it returns what it gets: no dropout."""

    def __call__(self, values: Any, *_: Any, **__: Any) -> Any:
        """The values."""
        return values


def kind_of(name: str) -> str:
    """What stands for this name; "" where nothing does."""
    return _KIND_OF.get(name) or ("off" if "drop" in name else "")


def stand_in(function: Callable, name: str, queries: Any) -> Any:
    """The value for a parameter or an attribute of this name. queries: None where the function has none."""
    width = 1 if queries is None else queries.shape[-1]
    kind = kind_of(name)
    if kind == "scale":
        return np.sqrt(width) if _divides(function, name) else 1 / np.sqrt(width)
    if kind == "object":
        return _Object(function, queries)
    return {"width": width, "one": 1, "off": Off(0.0), "softmax": lambda x, dim=-1, **_: softmax(x, dim)}[
        kind
    ]


def taken_for(function: Callable, names: list[str]) -> list[str]:
    """In words, what was taken for a factor whose value does not stand in the code."""
    wanted = [*names, *_of_self(function, ast.Load)] if OBJECTS & {*names} else names
    told = dict.fromkeys(one for one in wanted if kind_of(one) == "scale")
    return [f"`{one}` taken for {'√d_k' if _divides(function, one) else '1/√d_k'}" for one in told]


def _divides(function: Callable, name: str) -> bool:
    return re.search(rf"/\s*(\w+\.)?{name}\b", inspect.getsource(function)) is not None


def wanted_of_self(function: Callable) -> list[str]:
    """What a method reads from `self` that nothing stands for: weights, as a rule."""
    stored = _of_self(function, ast.Store)
    return [one for one in _of_self(function, ast.Load) if one not in stored and not kind_of(one)]


def _of_self(function: Callable, how: type) -> list[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    read = (one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and isinstance(one.ctx, how))
    return list(dict.fromkeys(one.attr for one in read if getattr(one.value, "id", "") in OBJECTS))


class _Object:
    """The `self` of a method; what the method stores there is there."""

    def __init__(self, function: Callable, queries: Any) -> None:
        self._of = function, queries

    def __getattr__(self, name: str) -> Any:
        if not kind_of(name):
            raise AttributeError(name)
        return stand_in(self._of[0], name, self._of[1])


def functions_in(space: dict[str, Any]) -> list[FunctionType]:
    """The functions that a cell defines and the methods of its classes, in their order."""
    found = []
    for value in [*space.values()]:
        parts = (
            vars(value).values() if isinstance(value, type) and value.__module__ == "__main__" else [value]
        )
        plain = (getattr(part, "__func__", part) for part in parts)
        found += [one for one in plain if isinstance(one, FunctionType) and one.__globals__ is space]
    return [one for one in found if not one.__name__.startswith("__")]
