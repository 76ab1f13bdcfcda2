"""What is said of a result, in its order and each sentence once; `render` turns it into text and into HTML.

What a learner's code wrote (names, error messages) comes in here at any length and leaves bounded.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sdpa_helpers.checking.diagnose import Explained, Result
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.as_it_came import CHANGED, FAULT
from sdpa_helpers.checking.pages.rules import not_allowed

State = Literal["passed", "failed", "forbidden", "not-attempted"]

LONGEST = 320
"""Characters of one sentence that holds what somebody else wrote."""
MOST = 6
"""Remarks, and names of what is not there."""
SHORT, SHORT_OF_TWO = 150, 90
"""Of a sentence or two that stand on a card at once; what a mistake's text says beyond them is folded."""
_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)[.?!][”)]?\s+(?=[^a-z])")
FEW = 3
"""Where more fail than so many, what a single case is about says little."""


NOT_SAID = "Homework: right or wrong, case by case, without a diagnosis"
"""In the place of a diagnosis, in an edition without answers."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, over all cases."""

    label: str
    says: str
    where: str = ""
    """In which cases, where that is not all that failed: "in cases 1–4"."""
    line: str = ""
    """The line of the source that shows it."""

    def in_short(self, of: int) -> tuple[str, str]:
        """What it says in its first sentences, and the rest: all of it where that is short. of: so many findings."""
        return first_sentences(self.says, SHORT if of == 1 else SHORT_OF_TWO)


@dataclass(frozen=True)
class Seen:
    """What was seen in one failed case, or in several alike."""

    cases: str
    """ "case 2", "cases 2, 3, 5" or "all 8 cases"."""
    names: str
    """What the cases are called; "" for all."""
    text: str
    means: str = ""
    about: str = ""
    """What the case is about."""
    notes: tuple[str, ...] = ()
    was_run: bool = True


def state_of(result: Result, forbidden: Sequence[str]) -> State:
    """What the card looks like."""
    if not result.attempted:
        return "not-attempted"
    if forbidden:
        return "forbidden"
    return "passed" if result.passed else "failed"


def headline(result: Result, forbidden: Sequence[str]) -> str:
    """The exercise and its points; with the reason, where right cases earn none."""
    exercise, right = result.exercise, sum(case.verdict.passed for case in result.cases)
    state = state_of(result, forbidden)
    if state == "not-attempted":
        tried = "changed, and not mended yet" if as_it_came(result) == [CHANGED] else "not attempted yet"
        return f"{exercise.name}: {tried} (worth {exercise.max_points:g} points)"
    if state == "forbidden":
        names = [shortened(name, 80) for name in forbidden[:MOST]]
        return f"{exercise.name}: {not_allowed(right, len(result.cases), names, exercise.is_made)}"
    met = f"all criteria {MET}, " if exercise.is_made else f"all cases {PASSED}, "
    all_passed = met if state == "passed" else ""
    return f"{exercise.name}: {all_passed}{result.points:g} of {exercise.max_points:g} points"


def as_it_came(result: Result) -> list[str]:
    """What is said of code that does what it did when it came, bug and all, as a sentence; [] of any other answer."""
    came = [c for c in result.cases if c.verdict.fault == FAULT and result.exercise.whole]
    if any(c.means == CHANGED for c in came):
        return [CHANGED]
    seen = {c.verdict.seen for c in came}
    return [
        f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '.)')) else '.'}" for text in sorted(seen)
    ]


def all_or_nothing(result: Result) -> list[str]:
    """Why cases that passed earn nothing yet, where that is so."""
    if not result.exercise.whole or result.passed or not any(case.verdict.passed for case in result.cases):
        return []
    return ["The points come when every case passes: a fix must not break what worked."]


def findings(result: Result) -> list[Finding]:
    """What is wrong: mistakes by name, else the line to look at, else what the cases have in common."""
    exercise = result.exercise
    failed = [c for c in result.cases if not c.verdict.passed]
    found = []
    for mistake in result.mistakes:
        everywhere = {c.verdict.case for c in failed} <= set(mistake.cases)
        where = "" if everywhere else f"in {numbered(_numbers(result, mistake.cases), exercise)}"
        found.append(Finding(f"Diagnosis ({mistake.name})", mistake.says, where, mistake.line))
    if not found and result.where_to_look:
        found.append(Finding("Where to look", result.where_to_look))
    if not found and result.pattern:
        found.append(Finding("Pattern", result.pattern))
    if not found and not exercise.is_made and any(c.verdict.status == "failed" for c in failed):
        found.append(Finding(NOT_SAID, "") if exercise.sealed else Finding("What was seen", _tally(result)))
    return found


def first_sentences(text: str, most: int = SHORT) -> tuple[str, str]:
    """As many sentences as `most` characters hold, one at least; and the rest."""
    ends = [end.end() for end in _SENTENCE.finditer(text)] + [len(text)]
    cut = max((end for end in ends if end <= most), default=ends[0])
    return text[:cut].strip(), text[cut:].strip()


def _tally(result: Result) -> str:
    """How many cases fail, and in which way: the most frequent first."""
    faults = Counter(c.verdict.fault for c in result.cases if not c.verdict.passed)
    [(most, count), *others] = [(_WAYS.get(f, "something else is wrong"), n) for f, n in faults.most_common()]
    of = f"of {len(result.cases)} {unit_of(result.exercise, len(result.cases))}"
    if not others:
        return f"{most} in {count} {of}. {_BESIDES.get(next(iter(faults)), '')}".rstrip()
    return f"{most} in {count} {of}, {', '.join(f'{way} in {n}' for way, n in others)}."


_WAYS = {
    "wrong-values": "numbers differ",
    "not-finite": "NaN or ∞ comes back",
    "wrong-shape": "the shape is another",
    "wrong-dtype": "the dtype is another",
    "wrong-kind": "another kind of value comes back",
    "raised-error": "an error is raised",
    "timeout": "the time runs out",
    "not-run": "nothing was run",
}
_BESIDES = {"wrong-values": "Kind, shape and dtype are right everywhere; the numbers are not."}


def seen_in_cases(result: Result) -> list[Seen]:
    """What was seen in the cases that failed; those with the same text, or the same but for its numbers, together."""
    told = {mistake.says for mistake in result.mistakes}
    groups: dict[tuple[str, str], list[Explained]] = {}
    for case in result.cases:
        if not case.verdict.passed:
            groups.setdefault((_alike(case), "" if case.means in told else case.means), []).append(case)
    found = []
    for (_, means), cases in groups.items():
        about = cases[0].about if len(cases) == 1 and len(groups) <= FEW else ""
        found.append(_seen(result, cases, "" if means in told else means, about))
        told.add(means)
    return found


def _seen(result: Result, cases: list[Explained], means: str, about: str) -> Seen:
    exercise = result.exercise
    names, texts = [c.verdict.case for c in cases], [_observed(c) for c in cases]
    others = "The others fail" if len(texts) > 2 else "The other fails"
    text = texts[0] if len({*texts}) == 1 else f"{texts[0]}. {others} the same way"
    was_run = cases[0].verdict.status != "not-run"
    notes = tuple(map(shortened, cases[0].verdict.notes))
    if len(cases) == len(result.cases):
        return Seen(f"all {len(cases)} {unit_of(exercise)}", "", text, means, about, notes, was_run)
    where = numbered(_numbers(result, names), exercise), shortened("; ".join(names))
    return Seen(*where, text, means, about, notes, was_run)


def _alike(case: Explained) -> str:
    """The same for two cases that are told as one: the same fault, with other numbers and sizes in it."""
    text = _observed(case)
    if how_many := _HOW_MANY.match(text):
        _, every, rule = case.verdict.compare.partition("; every number")
        return f"{_without_numbers(how_many[0])}{every}{rule}"
    if case.verdict.fault in ("raised-error", "wrong-kind", "wrong-shape"):
        return _without_numbers(text)
    return text


_HOW_MANY = re.compile(r"((?:part \d+ of the tuple|`\w+`): )?\d+ of \d+ (numbers|entries) [^;:,]+")
"""The beginning of what is said of numbers: how many are wrong and in which way; which ones comes after it."""


def _without_numbers(text: str) -> str:
    text = re.sub(r"\(0(, 0)*,?\)", "(0)", re.sub(r"\d+", "0", text))
    return re.sub(r"\b(differs|is)\b", lambda one: {"is": "are"}.get(one[0], "differ"), text)  # of one number


def passed_cases(result: Result) -> list[str]:
    """The cases that passed, numbered."""
    return [f"{n} {c.verdict.case}" for n, c in enumerate(result.cases, 1) if c.verdict.passed]


def shortened(text: str, length: int = LONGEST) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _observed(case: Explained) -> str:
    verdict = case.verdict
    seen = verdict.seen
    if verdict.status == "timeout" and not seen.startswith("stopped"):
        seen = f"stopped {seen}".strip()
    if verdict.status == "not-run" and not seen:
        seen = "not run"
    compare = f" ({verdict.compare})" if verdict.compare else ""
    return shortened(seen) + compare


def _numbers(result: Result, names: Sequence[str]) -> list[int]:
    return [n for n, case in enumerate(result.cases, 1) if case.verdict.case in names]


def unit_of(exercise: Exercise, count: int = 2) -> str:
    """What is counted: cases, or criteria where the learner makes something."""
    one, more = ("criterion", "criteria") if exercise.is_made else ("case", "cases")
    return one if count == 1 else more


def how_many_passed(result: Result) -> str:
    """ "7 of 8 cases passed", "2 of 5 criteria met"."""
    passed = MET if result.exercise.is_made else PASSED
    right = sum(case.verdict.passed for case in result.cases)
    return f"{right} of {len(result.cases)} {unit_of(result.exercise)} {passed}"


MET, PASSED = "met", "passed"


def numbered(numbers: list[int], exercise: Exercise) -> str:
    """ "case 2", "cases 1–4, 6"."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    parts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"{unit_of(exercise, len(numbers))} {', '.join(parts)}"
