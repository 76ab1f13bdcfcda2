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

from sdpa_helpers.checking.exercise import Exercise, stream
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
from sdpa_helpers.course.pasted.torch_like import Tensor
from sdpa_helpers.course.registry import find

_ROLES = {
    "query": ("q", "query", "queries", "xq"),
    "key": ("k", "key", "keys", "xk"),
    "value": ("v", "value", "values", "xv"),
    "mask": ("mask", "attn_mask", "attention_mask", "m", "bias", "key_padding_mask", "valid"),
    "scores": ("x", "scores", "score", "logits", "z", "s", "a", "inputs", "input", "e", "energy", "att"),
    "axis": ("axis", "dim"),
    "width": ("d_k", "dk", "d", "head_dim", "d_head"),
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
    return [name for name in _required(function) if name not in roles(function).values()]


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

    called.__code__ = called.__code__.replace(co_filename=function.__code__.co_filename)
    called.__wrapped__ = function  # type: ignore[attr-defined]
    return called


def _fits(function: Callable, is_torch: bool) -> list[Fit]:
    required = _required(function)
    part = {role: name for role, name in roles(function).items() if role != "width" or name in required}
    call = functools.partial(_called, function, is_torch)
    if unknown(function):
        part = {}
    if {"query", "key", "value"} <= {*part}:
        return list(_attention(call, part, part.get("mask") in required))
    if {"query", "key"} <= {*part} and "width" not in part:
        is_scaled = re.search(r"/|sqrt|\*\*", inspect.getsource(function)) is not None
        exercise = find("scaled_scores" if is_scaled else "attention_scores")
        return [Fit(exercise, lambda Q, K: call({part["query"]: Q, part["key"]: K}))]
    if {"scores", "mask"} <= {*part}:
        return [
            Fit(
                find("masked_softmax"),
                lambda s, m, c=c: call({part["scores"]: s, part["mask"]: c.given(m)}),
                c.says,
            )
            for c in CONVENTIONS
        ]
    if "scores" in part:
        name = "log_softmax" if "log" in function.__name__ else "softmax"
        return [_softmax(find(name), call, part)]
    try:
        return [Fit(find(function.__name__), _as_it_is(function, is_torch))]
    except LookupError:
        return []


def _attention(call: Callable, part: dict[str, str], needs_mask: bool) -> Iterator[Fit]:
    """With a mask in each convention, else without; with its weights where it gives them, else the output alone."""

    def given_to(Q: Any, K: Any, V: Any) -> dict[str, Any]:
        """The matrices by the names that it has for them, and their width where it wants that."""
        width = {part["width"]: Q.shape[-1]} if "width" in part else {}
        return {part["query"]: Q, part["key"]: K, part["value"]: V} | width

    def answer(convention: Convention, Q: Any, K: Any, V: Any, mask: Any = None) -> Any:
        """Its result, with the mask as it wants masks."""
        given = given_to(Q, K, V)
        if mask is None and needs_mask:
            mask = np.ones((Q.shape[-2], K.shape[-2]), bool)
        if mask is not None:
            given[part["mask"]] = convention.given(np.asarray(mask))
        return call(given)

    exercise = find("attention")
    if "mask" not in part:
        yield _as_returned(
            _with_cases(exercise, lambda inputs: len(inputs) < 4 or inputs[3] is None),
            lambda Q, K, V: call(given_to(Q, K, V)),
            "without a mask",
        )
        return
    for convention in CONVENTIONS:
        yield _as_returned(exercise, functools.partial(answer, convention), convention.says)


def _as_returned(exercise: Exercise, function: Callable, says: str) -> Fit:
    """Fitted to what it returns: (output, weights) in either order, or the output."""
    probe = _probed(function)
    if not isinstance(probe, tuple) or len(probe) != 2:
        return Fit(_output_alone(exercise), function, f"{says}; its output alone")
    weights_first = np.shape(probe[0])[-2:] == (3, 4) and np.shape(probe[1])[-2:] == (3, 2)
    return Fit(exercise, _turned(function) if weights_first else function, says)


def _with_cases(exercise: Exercise, holds: Callable[[tuple], bool]) -> Exercise:
    """An exercise with those cases alone whose inputs are of a kind."""
    drawn = ((case, case.make(stream(PUBLIC_SEED, exercise.name, case.name))) for case in exercise.cases)
    return replace(exercise, cases=tuple(case for case, inputs in drawn if holds(inputs)), examples=())


def _probed(function: Callable) -> Any:
    """What it returns for a matrix each, or for those in as many batches as it needs."""
    rng = np.random.default_rng(0)
    for batch in ((), (2,), (2, 2)):
        with contextlib.suppress(Exception):  # the check says what it raises
            return function(*(rng.normal(size=(*batch, *size)) for size in ((3, 5), (4, 5), (4, 2))))
    return None


def _turned(function: Callable) -> Callable:
    return lambda *arguments: tuple(reversed(function(*arguments)))


def _output_alone(exercise: Exercise) -> Exercise:
    """The exercise for a function that returns the output, and no weights."""

    def first(function: Callable) -> Callable:
        """The same function, without the weights that it may return."""

        @functools.wraps(function)
        def alone(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            return result[0] if isinstance(result, tuple) else result

        return alone

    return replace(
        exercise,
        reference=first(exercise.reference),
        also_right=tuple(map(first, exercise.also_right)),
        wrong=tuple(replace(wrong, function=first(wrong.function)) for wrong in exercise.wrong),
        invariants=(),
        mistakes=None,
        examples=(),
    )


def _softmax(exercise: Exercise, call: Callable, part: dict[str, str]) -> Fit:
    if "axis" in part:
        return Fit(exercise, lambda x, axis=-1: call({part["scores"]: x, part["axis"]: axis}))
    last = _with_cases(exercise, lambda inputs: len(inputs) < 2 or inputs[1] in (-1, inputs[0].ndim - 1))
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
