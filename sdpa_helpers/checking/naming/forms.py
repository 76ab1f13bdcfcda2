"""What can be done to a result on its way out, right or wrong: squeezed, turned, in fewer digits, in a list.

A form is a mistake in itself, and can come on top of another: it is applied to what a known answer returns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.difference import close
from sdpa_helpers.checking.judging.judge import Truth


def _as_it_is(array: np.ndarray) -> np.ndarray:
    return array


@dataclass(frozen=True, eq=False)
class Form:
    """One way to hand out a result. Each is itself alone, so that what is kept for it is found quickly."""

    name: str
    """The diagnosis; "" for the plain way."""
    says: str
    change: Callable[[np.ndarray], np.ndarray] = _as_it_is
    """What it does with an array."""
    clue: str = ""
    """What in the source shows it, a kind of `clues.Clue`."""
    loosely: bool = False
    """Agree as float32 agrees with float64, and no better."""
    by_value: bool = True
    """Take 3 for 3.0, and 1 for 1.0."""
    digits: float = 2e-6
    """How loosely."""
    alone: bool = False
    """Looked for on top of the right result alone."""
    raises_on_more_axes: bool = False
    """An error wherever an input has more than two axes, none elsewhere."""

    def of(self, answer: Answer) -> Answer:
        """What becomes of an answer."""
        if self.change is _as_it_is:
            return answer
        if answer.kind == "tuple":
            return replace(answer, items=tuple(map(self.of, answer.items)))
        if answer.array is None or (answer.array.dtype == bool and self.loosely):
            return answer
        array = self.change(answer.array)
        return replace(answer, kind="array" if array.ndim else "number", array=array)

    def raises(self, truth: Truth) -> bool:
        """Whether with this form every answer is an error here."""
        return self.raises_on_more_axes and more_axes(truth)

    def same(self, known: Answer, answer: Answer) -> bool:
        """Whether an answer is what a known one is: kind, shape and numbers; 3 and 3.0 are one number."""
        if known.kind != answer.kind or len(known.items) != len(answer.items):
            return False
        if known.kind == "tuple":
            return all(map(self.same, known.items, answer.items))
        if known.kind == "other" and known.array is None:
            return known.type_name == answer.type_name
        a, b = known.array, answer.array
        if a is None or b is None:
            return known.kind == "none"
        if a.shape != b.shape or (a.dtype == bool) != (b.dtype == bool):
            return False
        if not self.by_value and a.dtype.kind != b.dtype.kind:
            return False
        if self.loosely:
            return _loosely_close(a, b, self.digits)
        return bool(close(a, b).all())


def more_axes(truth: Truth) -> bool:
    """Whether an input has more than two axes."""
    return any(isinstance(x, np.ndarray) and x.ndim > 2 for x in truth.shared)


def _loosely_close(known: np.ndarray, values: np.ndarray, digits: float) -> bool:
    """Equal up to so much of each number, and of the largest."""
    if known.dtype.kind != "f":
        return bool((known == values).all())
    finite = known[np.isfinite(known)]
    if not (np.isfinite(known) == np.isfinite(values)).all():
        return False
    return bool(
        np.isclose(
            values, known, rtol=digits, atol=digits * np.abs(finite).max(initial=0.0) / 20, equal_nan=True
        ).all()
    )


FORMS = (
    Form("", "", by_value=False),
    Form("", ""),
    Form(
        "squeezed",
        "Axes of length 1 are gone: one query, one key or a batch of one is still an axis. Look for `squeeze`, an "
        "index `[0]`, or a result put together without them.",
        np.squeeze,
        clue="squeeze",
    ),
    Form(
        "extra-leading-axis",
        "There is one axis too many in front, of length 1.",
        lambda array: array[None],
    ),
    Form(
        "extra-leading-axis",
        "For one vector there is one axis too many in front, of length 1: it came back as a matrix.",
        np.atleast_2d,
    ),
    Form(
        "swapped-last-axes",
        "The last two axes of the result are swapped.",
        lambda array: np.swapaxes(array, -1, -2) if array.ndim > 1 else array,
    ),
    Form(
        "two-axes-only",
        "This works for matrices only: with leading axes, a batch or heads, it fails. `...` in an index or in einsum, "
        "and axes counted from the end (-1, -2), hold for any number of them.",
        raises_on_more_axes=True,
    ),
    Form(
        "float32-somewhere",
        "Somewhere your numbers passed through float32, which keeps about seven digits. Keep the dtype you were given.",
        clue="float32",
        loosely=True,
    ),
    Form(
        "half-precision-somewhere",
        "The numbers are right to three digits: somewhere they passed through float16. Keep the dtype you were given.",
        clue="float16",
        loosely=True,
        digits=2e-2,
        alone=True,
    ),
    *(
        Form(
            "rounded",
            f"The numbers are the right ones, rounded to {places} decimal{'s' if places > 1 else ''}. Return them as "
            "they are.",
            lambda array, places=places: np.round(array, places) if array.dtype.kind == "f" else array,
            alone=True,
        )
        for places in range(1, 9)
    ),
)
"""The plain way first, then what is looked for on top of every known answer."""


@dataclass(frozen=True)
class Kind:
    """A thing that came where another was asked for."""

    name: str
    says: str


def kind_of_thing(expected: Answer, answer: Answer) -> Kind | None:
    """Why a result with numbers in it is not of the right kind, or None when it is, or holds no numbers."""
    wanted = {"tuple": "a tuple", "number": "one number"}.get(expected.kind, "a NumPy array")
    if answer.type_name == "list" and (answer.array is not None or answer.items):
        if expected.kind == "tuple":
            return Kind("list-not-tuple", "You return a list; return a tuple: `return a, b`.")
        how = " with `np.array(...)`" if expected.kind == "array" else ""
        return Kind("list-not-array", f"You return a list; return {wanted}{how}.")
    if expected.kind == "tuple" and answer.kind == "array" and _parts(expected, answer):
        return Kind("array-not-tuple", "You return one array; return a tuple: `return a, b`.")
    if answer.kind == "tuple" and expected.kind != "tuple":
        return Kind("tuple-not-array", f"You return a tuple of {len(answer.items)}; return {wanted} alone.")
    size = answer.array.size if answer.array is not None else 0
    if (expected.kind, answer.kind, size) == ("number", "array", 1):
        return Kind(
            "one-element-array", "You return an array with one number in it; return the number alone."
        )
    if _zeros_and_ones(expected, answer):
        return Kind("numbers-not-booleans", "You return numbers, 0 and 1; return True and False: dtype bool.")
    if _floats_for_integers(expected, answer) and np.array_equal(expected.array, answer.array):  # type: ignore[arg-type]
        whole = "integers: `np.zeros` and `np.array([])` need `dtype=int`"
        whole = "an int" if answer.kind == "number" else whole
        return Kind("floats-not-integers", f"You return floats; return {whole}.")
    if _complex_for_real(expected, answer):
        return Kind("complex-not-real", "You return complex numbers; return real ones, of dtype float64.")
    if expected.kind == "tuple" and answer.kind == "tuple":
        pairs = zip(expected.items, answer.items, strict=False)
        inside = {i: kind for i, (want, got) in enumerate(pairs) if (kind := kind_of_thing(want, got))}
        if inside:
            place, kind = next(iter(inside.items()))
            part = f"part {place}" if len(inside) < len(expected.items) else "each part"
            return replace(kind, says=f"As {part} of your tuple y{kind.says.removeprefix('Y')}")
    return None


def in_right_kind(expected: Answer, answer: Answer) -> Answer:
    """The numbers of an answer in the kind that was asked for, where it holds them in another."""
    if expected.kind == "tuple" and (answer.kind == "array" or answer.type_name == "list"):
        parts = answer.items or _parts(expected, answer)
        return in_right_kind(expected, Answer("tuple", "tuple", items=parts)) if parts else answer
    if expected.kind == "tuple" and answer.kind == "tuple" and len(expected.items) == len(answer.items):
        parts = tuple(map(in_right_kind, expected.items, answer.items))
        same = all(a is b for a, b in zip(parts, answer.items, strict=True))
        return answer if same else replace(answer, items=parts)
    if _floats_for_integers(expected, answer) and answer.array is not None:
        return replace(answer, array=answer.array.astype(np.int64))
    if _complex_for_real(expected, answer) and answer.array is not None:
        answer = replace(answer, array=np.array(np.real(answer.array)))
    if expected.kind == answer.kind and not _zeros_and_ones(expected, answer):
        return answer
    if answer.kind == "tuple" and expected.kind != "tuple" and answer.items:
        fitting = [i for i in answer.items if i.array is not None and i.array.shape == _shape(expected)]
        return fitting[0] if fitting else answer
    if answer.array is None or kind_of_thing(expected, answer) is None:
        return answer
    if _zeros_and_ones(expected, answer):
        return replace(answer, array=answer.array != 0)
    array = answer.array.reshape(()) if expected.kind == "number" and answer.array.size == 1 else answer.array
    if not array.size and expected.array is not None:
        array = array.astype(expected.array.dtype)  # an empty list says nothing of what it would hold
    return Answer("array" if array.ndim else "number", "ndarray", array=array)


def _zeros_and_ones(expected: Answer, answer: Answer) -> bool:
    """Whether numbers stand where True and False are asked for."""
    return _stand_for(expected, answer, "b", "iuf") and bool(np.isin(answer.array, (0, 1)).all())  # type: ignore[arg-type]


def _floats_for_integers(expected: Answer, answer: Answer) -> bool:
    """Whether floats that are whole numbers stand where integers are asked for."""
    return _stand_for(expected, answer, "i", "f") and bool(
        ((np.abs(answer.array) < 2**62) & (answer.array % 1 == 0)).all()  # type: ignore[arg-type, operator]
    )


def _complex_for_real(expected: Answer, answer: Answer) -> bool:
    """Whether complex numbers without an imaginary part stand where floats are asked for."""
    return _stand_for(expected, answer, "f", "c") and bool(np.all(np.imag(answer.array) == 0))  # type: ignore[arg-type]


def _stand_for(expected: Answer, answer: Answer, wanted: str, came: str) -> bool:
    """Whether an array of one kind of dtype came where another was asked for."""
    if expected.array is None or answer.array is None or answer.kind not in ("array", "number"):
        return False
    return expected.array.dtype.kind == wanted and answer.array.dtype.kind in came


def _parts(expected: Answer, answer: Answer) -> tuple[Answer, ...]:
    """What lies along the first axis of an array, where that is what a tuple should hold."""
    array = answer.array
    if array is None or array.ndim == 0 or len(array) != len(expected.items):
        return ()
    parts = tuple(map(np.asarray, array))
    if any(part.shape != _shape(want) for part, want in zip(parts, expected.items, strict=True)):
        return ()
    return tuple(Answer("array" if part.ndim else "number", "ndarray", array=part) for part in parts)


def _shape(answer: Answer) -> tuple[int, ...]:
    return answer.array.shape if answer.array is not None else (-1,)
