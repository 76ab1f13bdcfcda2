"""Which exercise a pasted function answers, and how its arguments and results are meant.

Its parameters' names say what it computes. What they leave open (is a mask's True "look here" or "hide this"?)
is tried: the way in which most cases pass is taken, so that another convention is not called a mistake.
"""

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.pasted.layout import (
    TRIED,
    Way,
    drawn,
    furthest,
    looks_one_way,
    wants_matrices,
    ways_of,
)
from sdpa_helpers.course.pasted.stand_ins import OBJECTS, kind_of, stand_in, taken_for, wanted_of_self
from sdpa_helpers.course.pasted.torch_like import Tensor
from sdpa_helpers.course.pasted.variants import output_alone, variant, with_cases
from sdpa_helpers.course.registry import find

_ROLES = {
    "query": ("q", "query", "queries", "xq", "query_layer", "query_states", "q_states"),
    "key": ("k", "key", "keys", "xk", "key_layer", "key_states", "k_states"),
    "value": ("v", "value", "values", "xv", "value_layer", "value_states", "v_states"),
    "mask": ("mask", "attn_mask", "attention_mask", "src_mask", "m", "attn_bias", "valid"),
    "scores": ("x", "scores", "score", "logits", "z", "s", "a", "inputs", "input", "e", "energy", "att"),
    "axis": ("axis", "dim"),
}
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names}


@dataclass(frozen=True)
class Convention:
    """How a mask is handed over."""

    says: str
    given: Callable[[np.ndarray], np.ndarray]
    """From a mask with True = may look."""


CONVENTIONS = (
    Convention("your mask: True is looked at", lambda mask: mask),
    Convention("your mask: True is hidden", lambda mask: ~mask),
    Convention("your mask: numbers that are added to the scores", lambda mask: np.where(mask, 0.0, -np.inf)),
)


@dataclass(frozen=True)
class Fit:
    """An exercise, and the pasted function as an answer to it."""

    exercise: Exercise
    answer: Callable
    says: str = ""
    """What was taken for granted."""


def roles(function: Callable) -> dict[str, str]:
    """Role → the parameter that has it, for as many as have a known name; a softmax's first is its scores."""
    found: dict[str, str] = {}
    for name in inspect.signature(function).parameters:
        role = _ROLE_OF.get(name.lower().rstrip("_"))
        if role is None and not found and "softmax" in function.__name__:
            role = "scores"
        if role and role not in found:
            found[role] = name
    return found


def unknown(function: Callable) -> list[str]:
    """The parameters that it cannot do without, and of which the page knows no meaning."""
    return [
        name for name in _required(function) if name not in roles(function).values() and not kind_of(name)
    ]


def _required(function: Callable) -> list[str]:
    every = inspect.signature(function).parameters.values()
    return [p.name for p in every if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def fits(function: Callable, is_torch: bool) -> list[Fit]:
    """The ways in which a function may be an answer; [] where its parameters say nothing that is known.

    One that has the name of an exercise is an answer to that, if nothing else.
    """
    return [replace(fit, answer=_as_if(function, fit.answer)) for fit in _fits(function, is_torch)]


def _as_if(function: Callable, answer: Callable) -> Callable:
    """An answer whose text, and the lines of whose errors, are those of the pasted function."""

    def called(*arguments: Any, **named: Any) -> Any:
        return answer(*arguments, **named)

    code = function.__code__
    called.__code__ = called.__code__.replace(
        co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
    )
    called.__wrapped__ = function  # type: ignore[attr-defined]
    return called


def _fits(function: Callable, is_torch: bool) -> Iterator[Fit]:
    part, others = roles(function), [name for name in _required(function) if kind_of(name)]
    taken = taken_for(function, others)

    def call(given: dict[str, Any]) -> Any:
        """Its result, with what stands for its other arguments."""
        stands = {name: stand_in(function, name, given.get(part.get("query", ""))) for name in others}
        return _called(function, is_torch, {**stands, **given})

    if unknown(function) or (OBJECTS & {*others} and wanted_of_self(function)):
        yield from _by_name(function, is_torch)
    elif {"query", "key", "value"} <= {*part}:
        for fit in _attention(call, part, part.get("mask") in _required(function)):
            yield replace(fit, says="; ".join(filter(None, (fit.says, *taken))))
    elif {"query", "key"} <= {*part}:
        is_scaled = re.search(r"/|sqrt|\*\*", inspect.getsource(function)) is not None
        exercise = find("scaled_scores" if is_scaled else "attention_scores")
        yield Fit(exercise, lambda Q, K: call({part["query"]: Q, part["key"]: K}))
    elif {"scores", "mask"} <= {*part}:
        for c in CONVENTIONS:
            given = lambda s, m, c=c: call({part["scores"]: s, part["mask"]: c.given(m)})  # noqa: E731
            yield Fit(find("masked_softmax"), given, c.says)
    elif "scores" in part:
        yield _softmax(find("log_softmax" if "log" in function.__name__ else "softmax"), call, part)
    else:
        yield from _by_name(function, is_torch)


_NOT_BY_NAME = ("attention", "masked_softmax", "softmax", "attention_scores", "scaled_scores")
"""Many functions are called so, and want other arguments than the course's."""


def _by_name(function: Callable, is_torch: bool) -> Iterator[Fit]:
    """As an answer to the exercise whose name it has, where it can be called like one."""
    with contextlib.suppress(LookupError, TypeError):
        exercise = find(function.__name__)
        inspect.signature(function).bind(*inspect.signature(exercise.reference).parameters)
        if exercise.name not in _NOT_BY_NAME:
            yield Fit(exercise, _as_it_is(function, is_torch))


def _attention(call: Callable, part: dict[str, str], needs_mask: bool) -> Iterator[Fit]:
    """With a mask in each convention, else without; in each way in which it returns an output."""

    def answer(convention: Convention, Q: Any, K: Any, V: Any, mask: Any = None) -> Any:
        """Its result, with the mask as it wants masks."""
        given = {part["query"]: Q, part["key"]: K, part["value"]: V}
        if mask is not None:
            given[part["mask"]] = convention.given(np.asarray(mask))
        return call(given)

    for convention in CONVENTIONS if "mask" in part else (Convention("without a mask", np.asarray),):
        function = functools.partial(answer, convention)
        tried = ((sizes, ways_of(function, sizes, needs_mask)) for sizes in TRIED)
        sizes, ways = next((one for one in tried if one[1]), (TRIED[0], [furthest(function, needs_mask)]))
        for way in ways:
            called = functools.partial(way.called, function)
            looks = bool(way.parts) and looks_one_way(function, sizes, way)
            if (looks or sizes.is_square) and wants_matrices(function, sizes, way):
                way = replace(way, axes=2)
            if looks:
                says = "as causal self-attention, of which no position sees a later one"
                yield _as_returned(variant("causal", sizes.one_width, way.axes == 2), called, way, says)
            if sizes.is_square:
                square = variant("square", sizes.one_width, way.axes == 2)
                yield _as_returned(square, called, way, "with as many keys as queries")
            else:
                kind = "any" if "mask" in part else "no mask"
                yield _as_returned(variant(kind, sizes.one_width), called, way, convention.says)


def _as_returned(exercise: Exercise, called: Callable, way: Way, says: str) -> Fit:
    """Fitted to what it returns: (output, weights), or the output."""
    has_both = "weights" in way.parts
    if not way.parts:
        with contextlib.suppress(Exception):  # the check says what it raises
            has_both = len(called(*drawn(TRIED[0], way))) == 2
    says = "; ".join(filter(None, (says, way.says, "" if has_both else "its output alone")))
    return Fit(exercise if has_both else output_alone(exercise), called, says)


def _softmax(exercise: Exercise, call: Callable, part: dict[str, str]) -> Fit:
    if "axis" in part:
        return Fit(exercise, lambda x, axis=-1: call({part["scores"]: x, part["axis"]: axis}))
    last = with_cases(exercise, lambda inputs: len(inputs) < 2 or inputs[1] in (-1, inputs[0].ndim - 1))
    return Fit(last, lambda x, axis=-1: call({part["scores"]: x}), "along the last axis")


def _as_it_is(function: Callable, is_torch: bool) -> Callable:
    """A function of the course's own name, with arguments as they come."""
    return lambda *arguments, **named: _plain(
        function(*(_given(one, is_torch) for one in arguments), **named)
    )


def _called(function: Callable, is_torch: bool, named: dict[str, Any]) -> Any:
    return _plain(function(**{name: _given(value, is_torch) for name, value in named.items()}))


def _given(value: Any, is_torch: bool) -> Any:
    return Tensor(value) if is_torch and isinstance(value, np.ndarray) else value


def _plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_plain, result))
    return np.asarray(result) if isinstance(result, Tensor) else result
