"""What feedback says of a failed case whose inputs are hidden: nothing that tells a number of them.

`check` shows every digit, for its inputs are public. Here the code that was graded may want to carry hidden inputs
out, and whatever it fills in is a way: error texts, shapes, counts, places, names of types, memory. So every sentence
is one of ours, chosen by the kind of difference. What else is said of a kind (how many, how far, which error, which
name or line of the learner's own) comes from short lists, and only where it holds for every case that failed in this
way. That is no limit for code which fails in one case alone, so the lists are the limit: a line is shown of cells with
at most 40, a name only if the cell's code uses it, of at most 60. An error's type, subject and line are then one of
some 300,000 things, about 18 bits: five or six digits, for each exercise and submission. Each other case tells
at most its kind and a few words, or which name of its source is not there, 3 to 7 bits. So whoever is out for it learns
a number or two of the hidden inputs, not the inputs; a new seed makes it worthless.

A factor that a pattern names ("twice", "divided by the length of `K`'s last axis") is told although it says something
of the truth: only exact factors of a short list are, over all failed cases; who guesses one learns as much by the mark.
"""

import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdpa_helpers.checking.answers.not_there import NotThere
from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.difference import close, difference, pattern
from sdpa_helpers.sandbox.inside.no_programs import SAYS

_KINDS = {
    "raised-error": "raised an error",
    "returned-nothing": "returned None: is a `return` missing?",
    "wrong-kind": "returned another kind of thing than is asked for",
    "wrong-shape": "returned an array of another shape than is asked for",
    "wrong-dtype": "returned numbers of another dtype than is asked for",
    "not-finite": "returned NaN or inf where finite numbers belong",
    "wrong-values": "returned wrong values",
    "changed-input": "changed the caller's array",
    "differs-each-call": "called twice with the same inputs, it returned two results",
    "too-much-memory": "held more memory at once than is enough for what has to be there",
    "answer-cell-failed": "the answer cell did not run",
    "forged-output": "the result of this check was not accepted: it did not come as this check sends it",
}
"""Fault → what is said of it at least. The faults that are not here are the grader's own, in words without numbers."""

_TYPES = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)
) | {"AxisError", "LinAlgError", "UFuncTypeError", NotThere.__name__}

_ERRORS = (
    (r"name '(\w+)' is not defined", "the name `{}` is not defined"),
    (r"variable '(\w+)'", "the variable `{}` has no value yet"),
    (r"read-only", "the caller's array, which is read-only here, was written to"),
    (r"could not be broadcast|could not broadcast", "the shapes of two arrays do not go together"),
    (r"core dimension|not aligned|incompatible", "the shapes do not fit for a matrix product"),
    (r"does not have enough dimensions", "an array has too few axes for a matrix product"),
    (r"truth value of an array", "an array of many has no one truth value"),
    (r"axes don't match array", "`transpose` wants all axes"),
    (r"cannot reshape|invalid for input of size", "the shape asked for has another number of entries"),
    (r"axis \S+ is out of bounds", "there is no such axis"),
    (r"out of bounds|out of range", "an index lies outside"),
    (r"too many indices", "there are more indices than axes"),
    (r"boolean index did not match", "a mask in brackets has another shape than the array"),
    (r"unsupported operand", "these two things cannot be combined so"),
    (
        r"not supported for the input types|Cannot cast|[cC]annot cast",
        "the operation does not suit this dtype",
    ),
    (r"is not callable", "something is called that is no function"),
    (r"is not subscriptable", "something in front of [ ] has no parts"),
    (r"is not iterable|cannot unpack", "something is taken apart that has no parts"),
    (r"values to unpack", "another number of values is unpacked than there are"),
    (r"missing \d+ required", "an argument is missing"),
    (r"positional arguments? but", "there are more arguments than are taken"),
    (r"unexpected keyword argument", "an argument has a name that is not known"),
    (r"has no attribute", "an attribute is used that is not there"),
    (r"No module named|cannot import name", "an import found nothing"),
    (r"isn't there when your answer is graded", "something is used that isn't there when it is graded"),
    (r"division by zero", "division by zero"),
    (r"maximum recursion depth", "a function calls itself without end"),
    (r"only (length-1|0-dimensional)", "one number is needed, and there is an array of several"),
    (r"inhomogeneous", "rows of different lengths make no array"),
    (r"was never closed", "a bracket was never closed"),
    (r"unmatched|does not match opening", "a bracket was never opened"),
    (r"unterminated", "a text was never closed"),
    (r"expected ':'", "a colon is missing"),
    (r"indent", "the indentation is not right"),
    (SAYS, SAYS),
    (r"outside function", "a `return` stands outside of a function"),
    (r"invalid syntax", "invalid syntax"),
)
"""What is in a message → what is said of it. {}: a name, which must be one that the source uses."""

MAX_SHOWN_LINES = 40
"""Of a cell with more lines, none is shown: which of them it was would tell too much."""


@dataclass(frozen=True)
class ShownSource:
    """What may be repeated of an answer."""

    text: str
    """The cell."""
    names: frozenset[str] = frozenset()
    """The names that its code uses: `read.shown_names`."""


_THINGS = frozenset({"list", "tuple", "dict", "set", "str", "generator", "function", "method", "map"})
_PARTS = ("first", "second", "third", "fourth")
_LARGE = 10.0
_NEAR = 1e-3


def without_values(tried: list[Tried], source: ShownSource) -> list[Tried]:
    """The same cases, with verdicts that hold nothing of hidden inputs, nor of expected values.

    source: the answer, of which a line or a name may be shown.
    """
    said: dict[str, list[tuple[str, ...]]] = {}
    for t in tried:
        said.setdefault(t.verdict.fault, []).append(tuple(_facts(t, source)))
    return [replace(t, verdict=_told(t, said[t.verdict.fault])) for t in tried]


def _told(t: Tried, said: list[tuple[str, ...]]):
    """The verdict on one case; said: the facts about each case that failed in the same way."""
    verdict = t.verdict
    if verdict.fault not in _KINDS:
        return replace(verdict, compare="", notes=())
    shared = [fact for fact in said[0] if all(fact in facts for facts in said)]
    return replace(
        verdict, seen=": ".join([_KINDS[verdict.fault], *filter(None, [", ".join(shared)])]), compare=""
    )


def _facts(t: Tried, source: ShownSource) -> Iterator[str]:
    """What could be said of one failed case beside its kind, each from a short list."""
    fault, expected, answer = t.verdict.fault, t.truth.expected, t.answer
    if fault == "answer-cell-failed":
        text = t.verdict.seen.partition(": ")[2]
        kind, _, message = text.partition(": ")
        yield from error_in_words(kind, message, source)
        if where := re.search(r"line ([0-9]{1,4})\)?$", message):
            yield from _line(int(where[1]), source)
    if answer is None:
        return
    if fault == "raised-error":
        yield from error_in_words(answer.error, answer.message, source)
        yield from _own_line(answer.line, source)
    if expected.kind == "tuple" and answer.kind == "tuple" and len(expected.items) == len(answer.items):
        parts = enumerate(zip(expected.items, answer.items, strict=True))
        n, (expected, answer) = next(
            (n, p) for n, p in parts if difference(*p).fault or n == len(answer.items) - 1
        )
        yield f"in the {_PARTS[n]} part of the tuple" if n < len(_PARTS) else "in a later part of the tuple"
    if fault == "wrong-kind":
        yield from _kind(expected, answer)
    elif expected.array is not None and answer.array is not None:
        about = {
            "wrong-shape": _shape,
            "wrong-dtype": _dtype,
            "wrong-values": _values,
            "not-finite": _not_finite,
        }
        if fault in about:
            yield from about[fault](expected.array, answer.array)


# ---- what is not there ------------------------------------------------------------------------------------

_LIBRARIES = frozenset(
    {
        "jax",
        "keras",
        "matplotlib",
        "mpmath",
        "numba",
        "onnx",
        "pandas",
        "scipy",
        "sdpa_helpers",
        "sklearn",
        "sympy",
    }
    | {"tensorflow", "torch"}
)


def names_not_there(messages: Iterable[str], read: tuple[str, ...]) -> tuple[str, ...]:
    """What may be said of what was used and is not there: nothing of a message but a name that was known before.

    messages: those of the errors; code can choose their text. read: the names that a reader found in the source, which
    no input can change; where they do not have it, a library of a short list.
    """
    said = [found[1] for message in messages if (found := re.match(r"`([\w.]+)`", message))]
    libraries = sorted({name.partition(".")[0] for name in said} & _LIBRARIES)
    of_it = tuple(name for name in read if name.partition(".")[0] in libraries[:1])
    return (
        tuple(name for name in read if name in said)
        or of_it
        or tuple(libraries[:1])
        or read
        or ("a library",)
    )


# ---- errors -----------------------------------------------------------------------------------------------


def error_in_words(kind: str, message: str, source: ShownSource) -> Iterator[str]:
    """The type of an error, if it is one of Python's or NumPy's, and what its message is about, if that is known."""
    if kind in _TYPES:
        yield kind
    for text, words in _ERRORS:
        found = re.search(text, message)
        if found and "{}" not in words:
            yield words
        elif found and found[1] in source.names:
            yield words.format(found[1])
        if found:
            break


def _own_line(line: str, source: ShownSource) -> Iterator[str]:
    """The line in which it was raised, as it stands in the source: "line 3: `return q @ k`"."""
    if found := re.match(r"line ([0-9]{1,4})\b", line):
        yield from _line(int(found[1]), source)


def _line(number: int, source: ShownSource) -> Iterator[str]:
    lines = source.text.split("\n")
    if len(lines) <= MAX_SHOWN_LINES and 0 < number <= len(lines) and (own := lines[number - 1].strip()):
        yield f"line {number}: `{own[:120]}`"


# ---- results ----------------------------------------------------------------------------------------------


def _kind(expected: Answer, answer: Answer) -> Iterator[str]:
    if answer.kind == "tuple" and expected.kind == "tuple":
        yield f"a tuple of another length; {len(expected.items)} parts belong"
        return
    name = answer.kind if answer.kind in ("array", "number", "tuple") else answer.type_name
    if name in _THINGS | {"array", "number"}:
        yield f"{'an' if name == 'array' else 'a'} {name}"
    wanted = {"tuple": f"a tuple of {len(expected.items)}", "number": "one number", "array": "an array"}
    yield f"expected {wanted[expected.kind]}"


def _shape(expected: np.ndarray, values: np.ndarray) -> Iterator[str]:
    axes = values.ndim - expected.ndim
    if not expected.ndim:
        yield "an array came where one number belongs"
    elif not axes and values.ndim > 1 and expected.shape == values.swapaxes(-1, -2).shape:
        yield "the last two axes are swapped"
    elif not axes and sorted(expected.shape) == sorted(values.shape):
        yield "its axes stand in another order"
    elif not axes:
        yield "it has the right number of axes, but not their lengths"
    elif not values.ndim:
        yield "one number came"
    else:
        yield f"it has {'more' if axes > 0 else 'fewer'} axes"


def _dtype(expected: np.ndarray, values: np.ndarray) -> Iterator[str]:
    kind = (
        "less precise numbers"
        if values.dtype.kind == expected.dtype.kind == "f"
        else _DTYPES[values.dtype.kind]
    )
    yield f"{kind}; expected {expected.dtype}"


_DTYPES = {
    "b": "True and False",
    "i": "whole numbers",
    "u": "whole numbers",
    "f": "floats",
    "c": "complex numbers",
}


def _not_finite(expected: np.ndarray, values: np.ndarray) -> Iterator[str]:
    spoiled = ~np.isfinite(values) & np.isfinite(expected)
    is_nan = np.isnan(values[spoiled])
    yield "NaN" if is_nan.all() else "both" if is_nan.any() else "inf"
    if spoiled.ndim:
        share = spoiled.mean()
        yield "everywhere" if share == 1 else "in most places" if share > 0.5 else "in some places"


def _values(expected: np.ndarray, values: np.ndarray) -> Iterator[str]:
    wrong = ~close(expected, values)
    yield from _how_many(wrong)
    if values.dtype.kind != "b" and wrong.any():
        yield from _how_far(expected.astype(float), values.astype(float), wrong)


def _how_many(wrong: np.ndarray) -> Iterator[str]:
    if wrong.ndim:
        share = wrong.mean()
        yield "all of them" if share == 1 else "most of them" if share > 0.5 else "some of them"


def _how_far(expected: np.ndarray, values: np.ndarray, wrong: np.ndarray) -> Iterator[str]:
    """The size of a difference as one of a few words."""
    common = pattern(expected, values)
    want, came = np.abs(expected[wrong]), np.abs(values[wrong])
    with np.errstate(all="ignore"):
        off = np.abs(values - expected)[wrong]
        if not np.isfinite(came).all() or not np.isfinite(want).all():
            yield "among them NaN or inf"
        elif (off <= _NEAR * want).all():
            yield "but close to the right ones"
        elif np.allclose(values, -expected):
            yield "of the opposite sign"
        elif common:
            yield "all by the same factor" if "times" in common else "all by the same amount"
        else:
            ratio = float(came.max() / want.max()) if want.max() else np.inf
            yield (
                "much too large"
                if ratio > _LARGE
                else "much too small"
                if ratio < 1 / _LARGE
                else "of about the right size"
            )
