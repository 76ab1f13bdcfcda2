"""The exercise of attention as functions from elsewhere answer it: the output alone, no mask, or causal by itself."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdpa_helpers.checking.code.edits import EditableAnswer, Edits, Pairs
from sdpa_helpers.checking.exercise import Case, Exercise, WrongAnswer, stream
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
from sdpa_helpers.course.registry import find

Around = Callable[[Callable], Callable]
LOUD = "scores of ±1000 and ±200"


@dataclass(frozen=True)
class _Around(EditableAnswer):
    """An answer with something done to what each of its edited versions takes or returns."""

    around: Around

    def edited(self, edits: Edits) -> Callable:
        return self.around(super().edited(edits))


def _changed(exercise: Exercise, around: Around) -> Exercise:
    """With the same done to every answer that is known, right or wrong."""
    pairs = exercise.mistakes
    if pairs is not None:
        own = pairs.answer
        pairs = Pairs(_Around(own.name, own.source, own.space, around), pairs.listed, pairs.alone)
    return replace(
        exercise,
        reference=around(exercise.reference),
        also_right=tuple(map(around, exercise.also_right)),
        wrong=tuple(replace(wrong, function=around(wrong.function)) for wrong in exercise.wrong),
        invariants=(),
        mistakes=pairs,
        examples=(),
    )


@functools.cache
def output_alone(exercise: Exercise) -> Exercise:
    """The exercise for a function that returns the output, and no weights."""

    def first(function: Callable) -> Callable:
        """The same function, without the weights that it may return."""

        @functools.wraps(function)
        def alone(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            return result[0] if isinstance(result, tuple) else result

        return alone

    return _changed(exercise, first)


def with_cases(exercise: Exercise, holds: Callable[[tuple], bool]) -> Exercise:
    """An exercise with those cases alone whose inputs are of a kind."""
    drawn = ((case, case.make(stream(PUBLIC_SEED, exercise.name, case.name))) for case in exercise.cases)
    return replace(exercise, cases=tuple(case for case, inputs in drawn if holds(inputs)), examples=())


@functools.cache
def variant(kind: str, one_width: bool = False, matrices: bool = False) -> Exercise:
    """ "any", "no mask", or with as many keys as queries "square" and "causal"; values as wide as keys; matrices."""
    exercise = find("attention")
    if one_width:
        widened = tuple(
            replace(case, make=functools.partial(_one_width, case.make)) for case in exercise.cases
        )
        exercise = replace(exercise, cases=widened, examples=())
    if kind == "any":
        return exercise
    if kind == "no mask":
        return with_cases(exercise, lambda inputs: len(inputs) < 4 or inputs[3] is None)
    square = replace(exercise, cases=_square_cases(one_width), examples=())
    if matrices:
        square = with_cases(square, lambda inputs: inputs[0].ndim == 2)
    if kind == "square":
        return square
    known = {wrong.name: wrong for wrong in exercise.wrong}
    empty = ("", "minus-infinity-minus-minus-infinity", "finite-fill-on-an-empty-row")
    triangles = [
        WrongAnswer(name, _under(known[how].function if how else exercise.reference, visible), says)
        for name, says, visible in TRIANGLES
        for how in empty
    ]
    rest = tuple(w for w in exercise.wrong if w.name not in {name for name, _, _ in TRIANGLES})
    causal = _changed(replace(square, wrong=rest), functools.partial(_under, visible=np.tri))
    return replace(causal, wrong=(*triangles, *causal.wrong))


TRIANGLES: tuple[tuple[str, str, Callable], ...] = (
    (
        "own-position-hidden",
        "No position sees itself, and the first sees nothing: the triangle's diagonal is one off (`diagonal=-1` in "
        "`tril`, or 0 in a `triu` that hides). Causal means up to and including itself.",
        lambda n: np.tri(n, k=-1),
    ),
    (
        "one-more-key-visible",
        "Each position also sees the one after it, a step of the future: the triangle's diagonal is one off "
        "(`diagonal=1` in `tril`, or 2 in a `triu` that hides).",
        lambda n: np.tri(n, k=1),
    ),
    (
        "mask-inverted",
        "Each position sees only what comes after it: what the triangle hides and what it shows are exchanged.",
        lambda n: 1 - np.tri(n),
    ),
    (
        "mask-transposed",
        "Each position sees itself and what comes after it: the triangle is the upper one, and should be the lower.",
        lambda n: np.tri(n).T,
    ),
)
"""Mistakes of a causal mask: name, sentence, what is visible among n positions."""


def _under(function: Callable, visible: Callable) -> Callable:
    @functools.wraps(function)
    def causal(Q: Any, K: Any, V: Any) -> Any:
        if Q.shape[-2] != K.shape[-2]:
            raise ValueError("causal self-attention has a key for each query")
        return function(Q, K, V, visible(Q.shape[-2]).astype(bool))

    return causal


def _one_width(make: Callable, rng: np.random.Generator) -> tuple:
    Q, K, V, *mask = make(rng)
    return Q, K, np.take(V, np.arange(K.shape[-1]) % V.shape[-1], -1), *mask


def _square_cases(one_width: bool) -> tuple[Case, ...]:
    """Without a mask."""

    def case(name: str, n: int, d_k: int, d_v: int, *batch: int) -> Case:
        widths = (d_k, d_k, d_k if one_width else d_v)
        return Case(name, lambda rng: tuple(rng.normal(size=(*batch, n, d)) for d in widths))

    def levels(rng: np.random.Generator) -> tuple:
        Q, K, V, *_ = next(c.make(rng) for c in find("attention").cases if c.name == LOUD)
        return Q, K[..., :4, :], K[..., :4, :] if one_width else V[..., :4, :]

    return (
        case("five positions", 5, 6, 4),
        case("a batch", 4, 5, 3, 2),
        Case(
            LOUD,
            levels,
            says="Every row needs its own maximum: the rows lie far apart.",
        ),
        case("a batch with heads", 5, 4, 6, 2, 3),
        case("all sizes equal", 4, 4, 4, 4),
        case("one position", 1, 3, 2, 2),
        case("three positions", 3, 4, 2),
        case("a longer text", 30, 11, 10),
    )
