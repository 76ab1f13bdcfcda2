"""What comes out if one thing in a right answer is changed: a sentence where no listed mistake gives the numbers.

The mutants that an exercise's cases have to refute are candidates here. That an answer has the numbers of one is a fact
about numbers, and is said as one: of the learner's own lines it claims nothing.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Container, Iterator
from functools import lru_cache

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.code.changes import Change, Spot
from sdpa_helpers.checking.code.mending import sizes_of
from sdpa_helpers.checking.code.mutations import changes_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Mistake, Tried
from sdpa_helpers.checking.judging.judge import Truth
from sdpa_helpers.checking.naming.candidates import right
from sdpa_helpers.checking.naming.evidence import TWO, tells
from sdpa_helpers.checking.naming.forms import FORMS, in_right_kind
from sdpa_helpers.checking.naming.mutants import Mutant, mutants_of

SECONDS = 1.0
"""Of one call: no mutant that takes longer is anybody's answer."""

LEADS = {
    "name": ("one-name-for-another", "one thing is taken for another"),
    "size": ("another-size", "one size is taken for another"),
    "off by one": ("off-by-one", "one comparison is off by one"),
    "number": ("another-number", "one number is changed"),
    "flag": ("another-number", "one setting is changed"),
    "infinity": ("another-number", "one number is changed"),
    "operator": ("another-operation", "one operation is swapped for another"),
    "sides swapped": ("sides-swapped", "two sides are swapped"),
    "arguments swapped": ("sides-swapped", "two arguments are swapped"),
    "negated": ("sign-turned", "one sign is reversed"),
    "sign dropped": ("sign-turned", "one sign is left out"),
    "one side": ("a-step-left-out", "one step is left out"),
    "call dropped": ("a-step-left-out", "one step is left out"),
    "statement dropped": ("a-step-left-out", "one line is missing"),
    "early return": ("a-step-left-out", "the last steps are left out"),
    "index dropped": ("another-part", "one index is left out"),
    "slice": ("another-part", "another part of an array is taken"),
    "fixed place": ("another-part", "one place is always the same"),
    "argument dropped": ("an-argument-left-out", "one argument is left out"),
    "argument ignored": ("an-argument-left-out", "one argument isn't used"),
    "edge": ("another-comparison", "one comparison is changed"),
    "comparison": ("another-comparison", "one comparison is changed"),
    "condition negated": ("another-comparison", "one condition is reversed"),
    "and, or": ("another-comparison", "`and` and `or` are exchanged"),
    "one condition": ("another-comparison", "one of two conditions is left out"),
    "always": ("another-comparison", "one question is always answered with yes"),
    "never": ("another-comparison", "one question is always answered with no"),
    "one branch": ("another-comparison", "one of two ways is always taken"),
    "function": ("another-function", "one function is swapped for another"),
    "norm": ("another-function", "one function is swapped for another"),
    "less than the largest": ("another-function", "one function is swapped for another"),
    "transpose": ("axes-turned-otherwise", "the axes are in another order"),
    "range": ("other-turns-of-a-loop", "a loop runs over something else"),
    "loop": ("other-turns-of-a-loop", "a loop runs over something else"),
    "epsilon": ("a-small-number-added", "a small number is added"),
    "absolute": ("sign-turned", "signs are left out at the start"),
}
"""For each kind of change a name, and what it does; kinds that aren't here are nobody's answer."""

AS_IF = frozenset(name for name, _ in LEADS.values())
LONGEST = 90
"""Characters of code in a sentence."""


def named_as_if(exercise: Exercise, asked: list[Tried]) -> tuple[Mistake, ...]:
    """The change of a right answer, or of the code that was to be mended, that gives all that failed; () where none."""
    failed = [t for t in asked if not right(t)]
    telling = sorted(filter(tells, failed), key=lambda t: len(t.truth.packed))
    if len(telling) < TWO:
        return ()
    order = [*telling, *(t for t in failed if t not in telling)]
    for changes in (_changes(exercise), _changes_of_styles(exercise)):
        if gives := [m for m in changes if all(_same(m, t) for t in order)]:
            break
    denied = {m: sum(not _same(m, t) for t in asked) for m in gives}
    least = min(denied.values(), default=0)
    if not gives or 2 * least >= len(telling):
        return ()
    best = min((m for m in gives if denied[m] == least), key=lambda m: _rank(exercise, m))
    cases = tuple(t.truth.case.name for t in failed)
    return (Mistake(LEADS[best.kind][0], _says(exercise, best), cases=cases),)


@lru_cache(maxsize=128)
def _changes(exercise: Exercise) -> dict[Mutant, bool]:
    """The mutants of the code that was to be mended, and of the reference: whether it is one of the former."""
    start = _mutants(exercise, exercise.starter) if exercise.starter else []
    return dict.fromkeys(start, True) | dict.fromkeys(_mutants(exercise, exercise.reference), False)


@lru_cache(maxsize=16)
def _changes_of_styles(exercise: Exercise) -> tuple[Mutant, ...]:
    """The mutants of the page's other right answers, in lines of their own: a loop's have no place in a formula."""
    kept = {m.before for m in _changes(exercise)}
    return tuple(m for answer in exercise.also_right for m in _mutants(exercise, answer, kept))


def _mutants(exercise: Exercise, answer: Callable, kept: Container[str] = ()) -> list[Mutant]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a change may be Python and nonsense
        try:
            return [m for m in mutants_of(exercise, answer, _changes_of, kept) if m.kind in LEADS]
        except ValueError:  # its source isn't there
            return []


def _changes_of(spot: Spot) -> Iterator[Change]:
    yield from (one for one in (*changes_of(spot), *sizes_of(spot)) if one[0] in LEADS)


def _same(mutant: Mutant, t: Tried) -> bool:
    assert t.answer is not None
    known, answer = _answer(mutant, t.truth), in_right_kind(t.truth.expected, t.answer)
    if "error" in (known.kind, answer.kind):
        return known.kind == answer.kind and known.error == answer.error
    return FORMS[1].same(known, answer)


@lru_cache(maxsize=1 << 13)
def _answer(mutant: Mutant, truth: Truth) -> Answer:
    return in_right_kind(truth.expected, observe_within(mutant.function, truth.inputs, SECONDS))


_LIKELY = (
    "a-step-left-out",
    "an-argument-left-out",
    "another-operation",
    "sides-swapped",
    "another-function",
)
"""What people do most; of two changes with equal numbers the likelier is told."""


def _rank(exercise: Exercise, mutant: Mutant) -> tuple[bool, bool, int]:
    """What is likely comes first, then what holds no name that the learner has never seen, then what is short."""
    is_rare = LEADS[mutant.kind][0] not in _LIKELY
    return is_rare, not _is_plain(exercise, mutant), len(mutant.was) + len(mutant.now)


def _is_plain(exercise: Exercise, mutant: Mutant) -> bool:
    """Whether the change is told in words that the prompt has."""
    names = {*re.findall(r"(?<![.\w])[A-Za-z_]\w*(?!\s*=)", f"{mutant.was} {mutant.now}")}
    return bool(mutant.was) and names <= {"np", "axis", "True", "False", "None"} | {
        *inspect.signature(exercise.reference).parameters
    }


def _says(exercise: Exercise, mutant: Mutant) -> str:
    where = "the code as it came" if _changes(exercise).get(mutant) else "a right answer"
    begins = f"Your numbers are exactly those of {where} in which {LEADS[mutant.kind][1]}"
    if _is_plain(exercise, mutant):
        was, now = mutant.was, mutant.now
    elif exercise.whole:  # code that is there, with all its names
        was, now = mutant.before, mutant.after
    else:  # names of ours, which the learner has never seen
        return f"{begins}."
    if not was:
        return f"{begins}: as if it began with `{now}`."
    if now == "pass":
        return f"{begins}: `{was}`." if len(was) <= LONGEST else f"{begins}."
    if len(was) + len(now) > 2 * LONGEST:
        return f"{begins}."
    return f"{begins}: `{now}` instead of `{was}`."
