"""Code with a bug: found by the number of its line and an input that shows it; `Hunt` makes the criteria."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np

from sdpa_helpers.checking.answers.made_value import MOST_AXES
from sdpa_helpers.checking.answers.observe import Answer, call, copies, has_nan
from sdpa_helpers.checking.exercise import Case, Exercise, Inputs, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.judging.difference import difference
from sdpa_helpers.checking.pages.prompt import source_called, written

MOST_NUMBERS = 100
"""In an input, all arguments together: a bug shows on small ones, and whatever came is then quick to try."""

Kind = Literal["numbers", "mask", "axis", "count", "flag"]
"""What an argument is: an array of numbers, an array of True and False, a whole number, one from 1 on, True or False.
An axis and a flag may be left out."""


@dataclass(frozen=True)
class Hunt:
    """A function with a bug, and how it is told that somebody has found it."""

    original: Exercise
    """The exercise whose function it should be: its right answers say what is right."""
    shown: Callable
    """The code with the bug."""
    lines: tuple[int, ...]
    """The numbers of the lines that may be called wrong."""
    kinds: tuple[Kind, ...]
    """What the arguments are, in their order."""
    innocent: Mapping[int, str]
    """What is said of lines that only look wrong. Every other gets `another-line`."""
    possible: Callable[..., bool] = lambda *inputs: True
    """Whether the prompt of `original` promises such arguments, where right answers would answer others too."""

    @property
    def code(self) -> str:
        """The code as the prompt shows it: a block of Markdown with numbers before the lines."""
        lines = source_called(self.shown, self.original.name).split("\n")
        width = len(str(len(lines)))
        numbered = "\n".join(f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(lines, 1))
        return f"```python\n{numbered}\n```"

    @property
    def cases(self) -> tuple[Case, ...]:
        """The line, that the input is a possible one, and that the bug shows on it."""
        name = self.original.name
        return (
            criterion(
                "the line", self._judge_line, 1, "In which line does the code stop doing what it should?"
            ),
            criterion(
                "the input", self._judge_input, 0, f"It has to be one that a right `{name}` can answer."
            ),
            criterion(
                "the bug shows on it",
                self._judge_difference,
                1,
                "Run the code on your input, and a right one.",
            ),
        )

    def wrong(self, shows: Inputs, hidden: Inputs, outside: Inputs) -> tuple[WrongAnswer, ...]:
        """Wrong findings, from an input that shows the bug, one that does not, and one that is none."""
        name, line = self.original.name, self.lines[0]
        others = (
            WrongAnswer(f"line-{number}-is-innocent", lambda number=number: (number, shows), says)
            for number, says in self.innocent.items()
        )
        return (
            *others,
            WrongAnswer(
                "another-line",
                lambda: (1, shows),
                "That line does what it should. Take a small input, write down what each line makes of it, and look "
                "for the first one that surprises you.",
            ),
            WrongAnswer(
                "does-not-show",
                lambda: (line, hidden),
                "On your input the code returns what it should, bug and all. That is why such bugs live: many inputs "
                "don't show them. What has to be special about one that does?",
            ),
            WrongAnswer(
                "not-an-input",
                lambda: (line, outside),
                f"Your input is none that `{name}` has to answer, so it proves nothing. Look at its prompt: which "
                "arguments, which shapes, which numbers?",
            ),
            WrongAnswer(
                "too-large",
                lambda: (line, (np.ones(MOST_NUMBERS + 1), *shows[1:])),
                f"Your input is too large: at most {MOST_NUMBERS} numbers, all arguments together. What shows on many "
                "shows on a few as well, and those you can follow by hand.",
            ),
            WrongAnswer(
                "no-line-and-input",
                lambda: line,
                "Return two things: the number of a line, and a tuple with the arguments of one call, as in "
                "`return 2, (x, y)`.",
            ),
        )

    def _judge_line(self, value: Any) -> None:
        line, _ = _parts(value)
        if line in self.lines:
            return
        last = len(source_called(self.shown, "f").split("\n"))
        if not 1 <= line <= last:
            raise Misses("another-line", f"there is no such line: they have the numbers 1 to {last}")
        if line in self.innocent:
            raise Misses(f"line-{line}-is-innocent", "another line is wrong")
        raise Misses("another-line", "another line is wrong")

    def _judge_input(self, value: Any) -> None:
        self._right(self._inputs(value))

    def _judge_difference(self, value: Any) -> None:
        inputs = self._inputs(value)
        right = self._right(inputs)
        if not difference(right, call(self.shown, copies(inputs))).fault:
            raise Misses("does-not-show", "the code is right on this input", _both_return(right))

    def _right(self, inputs: Inputs) -> Answer:
        """What right answers return, if they agree."""
        known = call(self.original.reference, copies(inputs))
        if known.kind != "error" and not self.possible(*inputs):
            raise Misses("not-an-input", "the prompt promises no such arguments")
        if known.kind == "error":
            error = f"{known.error}: {known.message}"
            raise Misses("not-an-input", "a right answer ends with an error on this input", error)
        others = (call(function, copies(inputs)) for function in self.original.also_right)
        if has_nan(known) or any(difference(known, other).fault for other in others):
            raise Misses("not-an-input", "one right answer and another differ on this input, or give NaN")
        return known

    def _inputs(self, value: Any) -> Inputs:
        _, given = _parts(value)
        given = (given,) if isinstance(given, np.ndarray) else tuple(given)
        required = sum(kind not in ("axis", "flag") for kind in self.kinds)
        if not required <= len(given) <= len(self.kinds):
            many = f"{required} or {len(self.kinds)}" if required < len(self.kinds) else f"{required}"
            raise Misses("not-an-input", f"the function takes {many} arguments; here are {len(given)}")
        inputs = tuple(_argument(kind, part) for kind, part in zip(self.kinds, given, strict=False))
        if (numbers := sum(np.size(part) for part in inputs)) > MOST_NUMBERS:
            raise Misses("too-large", f"at most {MOST_NUMBERS} numbers are allowed; your input has {numbers}")
        return inputs


def _parts(value: Any) -> tuple[int, Any]:
    """The number of the line, and the input as it came."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Misses("no-line-and-input", "return two things, a line and an input")
    line, inputs = value
    if isinstance(line, np.ndarray) and line.ndim == 0:
        line = line.item()
    if not _is_whole(line) or not isinstance(inputs, tuple | list | np.ndarray):
        raise Misses(
            "no-line-and-input", "the first is the number of a line, the second a tuple of arguments"
        )
    return line, inputs


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _argument(kind: Kind, part: Any) -> Any:
    if kind == "flag":
        if not isinstance(part, bool | np.bool_):
            raise Misses("not-an-input", "an argument has to be True or False")
        return bool(part)
    if kind in ("axis", "count"):
        if isinstance(part, np.ndarray) and part.ndim == 0:
            part = part.item()
        if not _is_whole(part) or not (1 if kind == "count" else -99) <= part <= 99:
            raise Misses("not-an-input", "an argument has to be a small whole number")
        return part
    array = np.array(part)
    if kind == "mask":
        if array.dtype != bool:
            raise Misses("not-an-input", "the mask has to hold True and False")
    elif array.dtype.kind not in "fiu":
        raise Misses("not-an-input", "an argument has to be an array of numbers")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise Misses("not-an-input", "an argument holds NaN")
    if array.ndim > MOST_AXES or array.size == 0:
        raise Misses("not-an-input", f"an array has at least one number and at most {MOST_AXES} axes")
    return array if kind == "mask" else array.astype(float)


def _both_return(right: Answer) -> str:
    """What comes back, where it is short enough to be compared by hand."""
    few = right.array is not None and right.array.size <= 8
    return f"both return {written(right.array)}" if few else ""
