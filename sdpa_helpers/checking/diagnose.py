"""From the verdicts on all cases to what is said of them: which mistakes were made, or what the numbers show."""

import hashlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdpa_helpers.checking.answers.not_there import NotThere, name_in
from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.code.clues import Clue, clues
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.as_it_came import (
    CHANGED,
    FAULT,
    all_or_nothing,
    is_as_it_came,
    is_changed,
    not_attempted,
)
from sdpa_helpers.checking.judging.by_luck import ALWAYS, BY_LUCK, without_luck
from sdpa_helpers.checking.judging.conduct import Mistake, Tried
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Verdict, judge, truths
from sdpa_helpers.checking.naming.candidates import line_showing
from sdpa_helpers.checking.naming.name_mistakes import name_mistakes
from sdpa_helpers.checking.naming.patterns import pattern_over_cases
from sdpa_helpers.checking.naming.traits import what_fails

NOT_BEGUN = ("not-attempted", "missing")
"""What is said of every case of an answer that nobody has begun."""


@dataclass(frozen=True)
class Explained:
    """A verdict with its diagnosis."""

    verdict: Verdict
    diagnosis: str = ""
    """A slug for gradebooks, e.g. "no-scaling"."""
    means: str = ""
    """What it means, in words."""
    about: str = ""
    """What the case is about, where no mistake is named for it."""

    @property
    def message(self) -> str:
        """What the learner reads in graded feedback: what was seen, then what it means."""
        if self.verdict.passed:
            return ""
        about = f"This is about: {self.about}" if self.about else ""
        return " ".join(text for text in (_sentence(self.verdict.seen), self.means, about) if text)


@dataclass(frozen=True)
class Result:
    """All cases of one exercise, explained."""

    exercise: Exercise
    cases: tuple[Explained, ...]
    mistakes: tuple[Mistake, ...] = ()
    """At most two, which explain every failed case together; or one that gives a part of them, and says so."""
    pattern: str = ""
    """What the numbers show over all cases, where no mistake is named; one sentence or ""."""
    unknown: str = ""
    """Where no mistake is named: the same for all answers that return the same, else ""."""
    where_to_look: str = ""
    """In the learner's own `check`, where no mistake is named: the line whose change lets every case pass."""
    last_hint: str = ""
    """That change itself."""
    not_there: tuple[str, ...] = ()
    """What the answer ran into that isn't there when it is graded, e.g. ("torch.softmax",), sorted."""

    @property
    def mistake(self) -> str:
        """The name of the first mistake, or ""."""
        return self.mistakes[0].name if self.mistakes else ""

    @property
    def points(self) -> float:
        """Points earned."""
        return sum(c.verdict.points for c in self.cases)

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(c.verdict.passed for c in self.cases)

    @property
    def attempted(self) -> bool:
        """False when the stub was left as it came."""
        return any(c.verdict.status not in NOT_BEGUN for c in self.cases)


def assess(exercise: Exercise, answers: list[Answer], seed: str, source: str = "") -> Result:
    """Judge one answer per case, in the order of the cases, and explain the failures.

    source: the text of the answer, where it is known; its lines support a name.
    """
    pairs = zip(truths(exercise, seed), answers, strict=True)
    tried = [Tried(t, judge(exercise, t, a), a) for t, a in pairs]
    wanted = source and any(not t.verdict.passed for t in tried)
    result = explain(exercise, tried, clues(source, exercise.name) if wanted else ())
    if exercise.whole and not result.attempted and is_changed(exercise, source):
        result = replace(result, cases=tuple(replace(case, means=CHANGED) for case in result.cases))
    ended = {name_in(answer.message) for answer in answers if answer.error == NotThere.__name__}
    return replace(result, not_there=tuple(sorted(ended - {""})))


def try_out(exercise: Exercise, function, seed: str = PUBLIC_SEED) -> Result:
    """Call `function` on every case, here and now, and assess what it returns."""
    return assess(exercise, [*_answers(exercise, function, seed)], seed, source_of(function))


def passes(exercise: Exercise, function, seed: str = PUBLIC_SEED) -> bool:
    """Whether `try_out` would find every case passed: the first that fails ends it, and nothing is explained."""
    pairs = zip(truths(exercise, seed), _answers(exercise, function, seed), strict=True)
    return all(judge(exercise, truth, answer).passed for truth, answer in pairs)


def points_of(exercise: Exercise, function, seed: str = PUBLIC_SEED) -> float:
    """The points that `try_out` would give; nothing is explained."""
    pairs = zip(truths(exercise, seed), _answers(exercise, function, seed), strict=True)
    tried = [Tried(t, judge(exercise, t, a), a) for t, a in pairs]
    if is_as_it_came(exercise, tried):
        return 0.0
    return sum(t.verdict.points for t in all_or_nothing(exercise, without_luck(tried)))


def _answers(exercise: Exercise, function, seed: str) -> Iterator[Answer]:
    """What comes back in each case, called when it is asked for."""
    came: dict[str, Answer] = {}
    for truth in truths(exercise, seed):
        call = truth.asked_in or truth.case.name
        if call not in came:
            came[call] = observe(function, truth.inputs, truth.watch)
        yield came[call]


def source_of(function) -> str:
    """The text of a function, behind as many empty lines as its cell or file has lines above; "" where none is kept."""
    try:
        lines, first = inspect.getsourcelines(function)
        return "\n" * (first - 1) + "".join(lines)
    except (OSError, TypeError, SyntaxError):
        return ""


def explain(
    exercise: Exercise, tried: list[Tried], found: tuple[Clue, ...] = (), *, exact: bool = True
) -> Result:
    """Name what explains all failures, and give every failed case a diagnosis.

    found: what the answer's text shows, where it is known; its lines support a name. exact: a pattern may hold numbers.
    """
    tried = without_luck(tried)
    mistakes: tuple[Mistake, ...] = ()
    pattern = unknown = ""
    if any(not t.verdict.passed and t.answer is not None for t in tried):
        mistakes = name_mistakes(exercise, tried, found)
        if not mistakes and not exercise.sealed and not exercise.is_made:
            pattern = pattern_over_cases(exercise, tried, exact=exact) or what_fails(exercise, tried)
            pattern = pattern or _sentence(line_showing("thrown-away", found))
        if not mistakes and any(t.verdict.fault == BY_LUCK for t in tried):
            pattern = ALWAYS
        begun = any(t.verdict.status not in NOT_BEGUN for t in tried)
        unknown = answer_key([t.answer for t in tried]) if begun and not mistakes else ""
    if is_as_it_came(exercise, tried):
        untouched = tuple(_explain_case(exercise, t, ()) for t in not_attempted(tried))
        return Result(exercise, untouched)
    tried = all_or_nothing(exercise, tried)
    cases = tuple(_explain_case(exercise, t, mistakes) for t in tried)
    return Result(exercise, cases, mistakes, pattern, unknown)


def answer_key(answers: list[Answer | None]) -> str:
    """The same for all that came back with the same numbers, to six digits, and the same types of errors.

    What is nothing but noise beside an array's largest number counts as 0: it is another on another processor.
    """
    digest = hashlib.sha256()
    for answer in answers:
        digest.update(repr(_essence(answer)).encode())
    return digest.hexdigest()[:12]


_MOST_NUMBERS = 10_000
"""Of an answer, that are looked at: the largest that is right has as many."""


def _essence(answer: Answer | None) -> object:
    if answer is None:
        return None
    values = answer.array
    numbers = [] if values is None else _numbers(values.ravel()[:_MOST_NUMBERS])
    shape = None if values is None else values.shape
    return (answer.kind, shape, numbers, answer.error, [_essence(item) for item in answer.items], answer.made)


def _numbers(values: np.ndarray) -> list[str]:
    if values.dtype.kind not in "fc":
        return [f"{n:.6g}" for n in values.tolist()]
    sizes = np.abs(values)
    most = sizes[np.isfinite(sizes)].max(initial=0.0)
    return [f"{n:.6g}" for n in np.where(sizes < most * _NOISE, 0, values).tolist()]


_NOISE = 1e-12


def _explain_case(exercise: Exercise, tried: Tried, mistakes: tuple[Mistake, ...]) -> Explained:
    verdict = tried.verdict
    if verdict.passed:
        return Explained(verdict)
    for mistake in mistakes:
        if verdict.case in mistake.cases or verdict.fault == BY_LUCK:
            return Explained(verdict, mistake.name, mistake.says)
    about = next(c for c in exercise.cases if c.name == verdict.case).says
    if verdict.broken:
        broken = next(i.says for i in exercise.invariants if i.name == verdict.broken)
        return Explained(verdict, verdict.broken, broken, about)
    if exercise.is_made and verdict.fault not in _MEANING:
        known = next((wrong.says for wrong in exercise.wrong if wrong.name == verdict.fault), "")
        return Explained(verdict, verdict.fault, known, "" if known else about)
    about = about if verdict.fault in ("wrong-values", "not-finite", "raised-error", "wrong-shape") else ""
    means = _MEANING.get(verdict.fault, "")
    if verdict.fault == "wrong-dtype":
        means = _about_dtype(tried.truth.expected.array)
    return Explained(verdict, verdict.fault, means, about)


def _about_dtype(expected: np.ndarray | None) -> str:
    """What to do about numbers of another dtype; of the answer it tells nothing, whose inputs may be hidden."""
    if expected is not None and expected.dtype.kind == "b":
        return "True and False are asked for: a comparison returns them, and so does `.astype(bool)`."
    if expected is not None and expected.dtype.kind == "f":
        return (
            f"Compute in {expected.dtype} from the start: digits that are lost do not come back at the end."
        )
    return "The dtype is part of the answer."


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "?", "!")) else text + "."


_MEANING = {
    "not-attempted": "Nothing is lost: write your answer in the cell and run it.",
    FAULT: "Nothing is lost: change the code in the cell and run it.",
    "missing": "The answer cell is found by its first line, `# exercise: NAME`; keep that line.",
    "raised-error": "An error stops the function before it can answer; the message says at which line.",
    "returned-nothing": "A function without `return` gives None.",
    "wrong-kind": "What kind of value comes back is part of the exercise: look at the prompt again.",
    "wrong-shape": "Write the shape of every intermediate result beside its line; the odd one out is the mistake.",
    "timeout": "Look at what ends the loop: does it change inside?",
    BY_LUCK: "A number that hardly changes shows nothing: let it depend on what the function is given.",
    "unfit": "Return numbers, True, False, None, texts, NumPy arrays, or lists and tuples of these.",
    "another-form": "Look at the prompt again: what is to be returned, and in which order.",
    "not-finite": "Print what each line gives, and look for the first result that is NaN or infinite.",
}
