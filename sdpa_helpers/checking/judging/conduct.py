"""Mistakes that show without knowing the exercise: how an answer behaves, and errors that explain themselves."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.code.clues import Clue
from sdpa_helpers.checking.judging.difference import READ_ONLY
from sdpa_helpers.checking.judging.judge import Truth, Verdict


@dataclass(frozen=True)
class Tried:
    """One case, what came back, and what that was worth."""

    truth: Truth
    verdict: Verdict
    answer: Answer | None
    """None where nothing came: the run was stopped, or the result forged."""


@dataclass(frozen=True)
class Mistake:
    """A mistake that was made."""

    name: str
    says: str
    hints: tuple[str, ...] = ()
    section: str = ""
    cases: tuple[str, ...] = ()
    """The failed cases that it explains."""
    line: str = ""
    """The line that shows it, e.g. "line 3: `scores = Q @ K.T`", or ""."""


@dataclass(frozen=True)
class Sign:
    """A mistake, and how it shows in one case."""

    name: str
    says: str
    shows: Callable[[Tried], bool]
    clue: str = ""
    """What in the source shows it too, a kind of `clues.Clue`."""
    unless_listed: str = ""
    """The mistake that says it better, in an exercise that lists it."""


def by_conduct(
    failed: list[Tried], found: tuple[Clue, ...], listed: frozenset[str] = frozenset(), *, last: bool = False
) -> tuple[list[Mistake], list[Tried]]:
    """The mistakes that show, and the failed cases that they leave unexplained. listed: the exercise's own mistakes.

    last: what is said of an error where nothing of the exercise's says more.
    """
    rest, mistakes = failed, []
    for sign in LAST_SIGNS if last else SIGNS:
        if sign.unless_listed in listed:
            continue
        showing = [t for t in rest if sign.shows(t)]
        if showing and sign is MOODY:
            showing = rest  # nothing can be said of results that change
        if showing:
            cases = tuple(t.truth.case.name for t in showing)
            mistakes.append(Mistake(sign.name, sign.says, cases=cases, line=line_of(sign, showing, found)))
            rest = [t for t in rest if t not in showing]
    return mistakes, rest


def line_of(sign: Sign, showing: list[Tried], found: tuple[Clue, ...]) -> str:
    """The line that shows it: of the source, or that in which the first error was raised."""
    shown = next((clue.line for clue in found if clue.kind == sign.clue), "")
    raised = next((t.answer.line for t in showing if t.answer and t.answer.line), "")
    number, _, text = raised.partition(": ")
    return shown or (f"{number}: `{text}`" if text else number)


def _raised(kind: str, text: str) -> Callable[[Tried], bool]:
    """Whether an error of this kind, with this in its text, was raised."""

    def shows(t: Tried) -> bool:
        if t.answer is None or t.answer.kind != "error":
            return False
        return bool(re.fullmatch(kind, t.answer.error) and re.search(text, t.answer.message))

    return shows


def _cannot_be_called(t: Tried) -> bool:
    """Whether the call itself failed: no line of the learner's was reached."""
    of_arguments = _raised("TypeError", r"(missing \d+ required|takes .* positional argument)")
    return of_arguments(t) and t.answer is not None and not t.answer.line


def _fault(name: str) -> Callable[[Tried], bool]:
    return lambda t: t.verdict.fault == name


MOODY = Sign(
    "differs-each-call",
    "Called twice with the same inputs, your function returns two results. Look for memory that was never written "
    "(`np.empty`, `where=` without `out=`), random numbers, or something kept from the last call.",
    lambda t: t.answer is not None and t.answer.differs,
    "where-without-out",
)

SIGNS = (
    MOODY,
    Sign(
        "changes-its-input",
        "Your function writes into the caller's array, which others still use. Make a new array: no `+=`, `/=`, "
        "`out=` or `x[...] =` on an argument.",
        lambda t: t.verdict.fault == "changed-input" or _raised("ValueError", READ_ONLY)(t),
        "writes-argument",
    ),
    Sign(
        "too-much-memory",
        "The numbers are right, but more is held in memory at once than the exercise allows.",
        _fault("too-much-memory"),
    ),
    Sign(
        "returned-nothing",
        "The caller gets None: on this way through your function there is no `return`, or it returns nothing. "
        "`print` shows a result and returns None.",
        _fault("returned-nothing"),
        "no-return",
    ),
    Sign(
        "truth-of-an-array",
        "Python's `if`, `and`, `or`, `not`, `min`, `max` and chains like `0 <= x < 3` want one True or False, and an "
        "array of many has none. Ask `is None` where None is meant; else use `np.where`, `&`, `|`, `~` with each "
        "comparison in brackets, `np.minimum`, or `.any()` and `.all()`.",
        _raised("ValueError", "truth value of an array"),
        "truth-of-array",
    ),
    Sign(
        "name-not-defined",
        "A name is used that stands for nothing here: its `import` is missing, it is misspelled, or it was computed in "
        "another cell. What an answer needs has to stand in its cell; from your other cells come functions, classes, "
        "imports and plain values.",
        _raised("NameError", ""),
    ),
    Sign(
        "no-first-value",
        "A variable is used before it has a value in this function. What a loop adds to needs a first value before the "
        "loop, e.g. `total = 0.0`; what only one branch sets is missing on the other.",
        _raised("UnboundLocalError", ""),
    ),
    Sign(
        "transpose-wants-all-axes",
        "`transpose` wants the new order of ALL axes, as many as the array has; PyTorch's takes the two to be swapped. "
        "`np.swapaxes(x, -1, -2)` swaps the last two of any number of axes.",
        _raised("ValueError", "axes don't match array"),
        unless_listed="transpose-of-two-axes",
    ),
    Sign(
        "arguments-do-not-fit",
        "The function cannot be called as the prompt calls it: keep the names, the number and the defaults of its "
        "arguments.",
        lambda t: _cannot_be_called(t),
    ),
    Sign(
        "unpacks-a-shape",
        "A shape, or something else, is unpacked into a fixed number of names, which fits some inputs only. Count axes "
        "from the end: `x.shape[-1]`.",
        _raised("ValueError", r"(too many|not enough) values to unpack"),
    ),
)

LAST_SIGNS = (
    Sign(
        "no-such-argument",
        "A function is called with an argument by a name that it does not have. In NumPy it is `axis` and `keepdims` "
        "where PyTorch has `dim` and `keepdim`.",
        _raised("TypeError", "unexpected keyword argument|invalid keyword argument"),
    ),
    Sign(
        "no-such-name-in-numpy",
        "Behind a dot stands a name that NumPy, or an array, does not have. PyTorch has other names.",
        _raised("AttributeError", r"(module 'numpy[\w.]*'|'numpy\.ndarray' object) has no attribute"),
    ),
    Sign(
        "none-for-a-value",
        "A value is None here where something else is needed. An argument may be None, and so is what a function "
        "without `return` gives.",
        _raised("AttributeError|TypeError", "'?NoneType'? (object )?(has no attribute|is not)|'NoneType'"),
    ),
    Sign(
        "divided-by-zero",
        "Something is divided by 0 here, and that is an error. Ask first whether it is 0, or see to it that nothing "
        "has to be divided there.",
        _raised("ZeroDivisionError", ""),
    ),
    Sign(
        "largest-of-nothing",
        "The largest or smallest of no numbers at all is an error. Treat what is empty by itself. "
        "(With `initial=-np.inf` the largest is −∞ there: mind what you subtract it from.)",
        _raised("ValueError", "zero-size array to reduction|empty sequence|iterable argument is empty"),
    ),
    Sign(
        "float-for-a-whole-number",
        "What is no whole number, such as a float, stands where one is asked for: a size, an index or a count. "
        "`/` returns a float, also where nothing is left over; `//` of two ints returns an int.",
        _raised(
            "TypeError|IndexError",
            r"'float.*' object cannot be|slice indices must be|must be of integer|a single integer, got '\d|not float",
        ),
    ),
)
"""Of errors that explain themselves, but less well than an exercise's own list does."""
