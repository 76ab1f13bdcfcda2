"""From what the runs of a submission brought to the verdicts on its exercises.

What the numbers are worth is decided in `checking.judging.judge`, for learners' own checks too. Here stands what
only a grader meets: no answer cell, a forged result, a run that ended before its time.
"""

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from sdpa_helpers.checking.answers.not_there import NotThere
from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.code.clues import Clue
from sdpa_helpers.checking.diagnose import Explained, answer_key, explain
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.as_it_came import FAULT
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, Verdict, judge, truths
from sdpa_helpers.checking.pages.rules import not_allowed
from sdpa_helpers.grading.hidden_words import ShownSource, error_in_words, names_not_there, without_values
from sdpa_helpers.grading.read import Lifted
from sdpa_helpers.grading.result import CaseStatus, Flag, GradedCase, GradedExercise, NamedMistake, Status
from sdpa_helpers.grading.run import Outcome
from sdpa_helpers.sandbox.inside.no_programs import SAYS

NO_FUNCTION = Answer("other", "nothing")
"""What a check sends when there is no function to call."""


@dataclass(frozen=True)
class Evidence:
    """What there is to judge a submission by."""

    lifted: Lifted
    outcome: Outcome
    """What came out of all its runs together."""
    stops: dict[str, str]
    """Exercise → why a run ended in it, or before it was reached."""
    own_stopped: str = ""
    """Why a run ended in the learner's own definitions, so that the next did without them; or ""."""


@dataclass(frozen=True)
class Marking:
    """How the answers of a submission are marked."""

    seed: str
    """Its inputs are drawn from it."""
    hidden: bool = True
    """Whether nobody may learn what these inputs are."""
    refuse: bool = True
    """Whether an answer that ran into what is not there earns nothing."""
    mistake_cap: float | None = None
    """The share of an exercise that an answer with a named mistake earns at most; None: there is no such limit."""


def judge_exercise(exercise: Exercise, evidence: Evidence, marking: Marking) -> GradedExercise:
    """The graded exercise."""
    known = truths(exercise, marking.seed)
    tried = [Tried(t, _verdict(exercise, t, evidence), _answer(exercise, t, evidence)) for t in known]
    source = shown_source(evidence.lifted, exercise.name)
    shown = without_values(tried, source) if marking.hidden else tried
    found = evidence.lifted.clues.get(exercise.name, ())
    graded = _graded(exercise, shown, found, marking)
    absent = not_there(exercise, evidence)
    if marking.refuse and absent:
        return _refused(graded, absent, exercise.is_made)
    return graded if marking.mistake_cap is None else _capped(graded, marking.mistake_cap)


def _capped(graded: GradedExercise, share: float) -> GradedExercise:
    """The same with at most this share of the points, where a mistake is named: the last cases lose theirs first."""
    left = round(share * graded.max_points, 2)
    if not graded.mistakes or graded.points <= left:
        return graded
    cases = []
    for case in graded.cases:
        cases.append(replace(case, points=min(case.points, left)))
        left = round(left - cases[-1].points, 2)
    return replace(graded, cases=tuple(cases), before_cap=graded.points)


def not_there(exercise: Exercise, evidence: Evidence) -> tuple[str, ...]:
    """The names of what ended an answer because it is not there when it is graded; () where nothing did.

    What its cell met beside the function did not end that one, unless a name is missing since.
    """
    outcome, name = evidence.outcome, exercise.name
    errors = [f"{a.error}: {a.message}" for (answered, _), a in outcome.answers.items() if answered == name]
    if not _is_there(exercise, outcome) or any(error.startswith("NameError: ") for error in errors):
        errors.append(outcome.cell_errors.get(name, ""))
    met = [error.removeprefix(_NOT_THERE) for error in errors if error.startswith(_NOT_THERE)]
    return names_not_there(met, evidence.lifted.not_there.get(name, ())) if met else ()


def use_flags(exercise: Exercise, evidence: Evidence) -> tuple[Flag, ...]:
    """Flags for an answer that was ended by what is not there, and for what was noticed while it ran."""
    if absent := not_there(exercise, evidence):
        message = f"{exercise.name}: {', '.join(absent)}: not there when an answer is graded"
        return (Flag("forbidden-call", message), *_noticed(evidence.outcome, exercise.name))
    return _noticed(evidence.outcome, exercise.name)


def beside_flags(outcome: Outcome) -> tuple[Flag, ...]:
    """A flag for what was noticed while the definitions beside the answers ran."""
    return _noticed(outcome, "")


def _noticed(outcome: Outcome, name: str) -> tuple[Flag, ...]:
    seen = ", ".join(outcome.noticed.get(name, ()))
    message = f"{name or 'beside the answers'}: {seen}: please look at what it does"
    return (Flag("dynamic-code", message),) if seen else ()


_NOT_THERE = f"{NotThere.__name__}: "
"""How the errors of what is not there begin."""


def cell_flags(exercises: Iterable[Exercise], evidence: Evidence, *, hidden: bool) -> tuple[Flag, ...]:
    """A flag for every answer cell that ended with an error behind its function; a plot that had no library is none."""
    outcome = evidence.outcome
    flags: list[Flag] = []
    for e in exercises:
        error = outcome.cell_errors.get(e.name, "")
        if error and not error.startswith(_NOT_THERE) and _is_there(e, outcome):
            if hidden:
                kind, _, message = error.partition(": ")
                source = shown_source(evidence.lifted, e.name)
                error = ", ".join(error_in_words(kind, message, source)) or "an error"
            what = (
                "a line of its cell did not run"
                if SAYS in error
                else "behind it, its cell ended with an error"
            )
            text = f"{e.name}: the function was graded; {what}: {error}"
            flags.append(Flag("answer-cell-error", text))
    return tuple(flags)


def run_flags(evidence: Evidence) -> tuple[Flag, ...]:
    """A flag where the run was made without the learner's own definitions, and for each answer that slept."""
    slept = [f"{name or 'setup'}: {_SLEPT}" for name, why in evidence.stops.items() if why == "slept"]
    flags = [Flag("slept", what) for what in slept]
    if evidence.own_stopped:
        what = f"the definitions beside the answers ended the run ({evidence.own_stopped}); it was made without them"
        flags.append(Flag("definitions-stopped", what))
    return tuple(flags)


_SLEPT = "it waited without computing until it was ended"


def shown_source(lifted: Lifted, name: str) -> ShownSource:
    """What feedback may repeat of the answer to an exercise."""
    return ShownSource(lifted.answers.get(name, ""), frozenset(lifted.names.get(name, ())))


def _is_there(e: Exercise, outcome: Outcome) -> bool:
    """Whether a check has found the function."""
    return any(name == e.name and answer != NO_FUNCTION for (name, _), answer in outcome.answers.items())


def _refused(graded: GradedExercise, absent: tuple[str, ...], made: bool) -> GradedExercise:
    """The same without points, and with the sentence that `check` says too."""
    right = sum(case.status == "passed" for case in graded.cases)
    why = f"{not_allowed(right, len(graded.cases), absent, made)}."
    nothing = {"status": "failed", "points": 0.0, "diagnosis": "forbidden-call", "message": why}
    return replace(graded, cases=tuple(replace(case, **nothing) for case in graded.cases))


def nothing_run(exercise: Exercise, seed: str, why: str) -> GradedExercise:
    """The graded exercise of a submission that could not be run; `why` is what the learner reads."""
    tried = [
        Tried(t, Verdict(t.case.name, "missing", 0.0, t.case.points, fault="missing", seen=why), None)
        for t in truths(exercise, seed)
    ]
    return _graded(exercise, tried, (), Marking(seed))


def status_of(exercises: Iterable[GradedExercise], stops: dict[str, str]) -> Status:
    """What became of a submission that was run."""
    exercises = list(exercises)
    if any(exercise.failed for exercise in exercises):
        return "grader-failed"
    if {"timeout", "slept"} & {*stops.values()}:
        return "timeout"
    if any(case.status == "out-of-memory" for exercise in exercises for case in exercise.cases):
        return "out-of-memory"
    return "kernel-died" if stops else "graded"


def forged(outcome: Outcome) -> tuple[Flag, ...]:
    """A flag for results that were not accepted, and for every message that was none, in words of ours alone."""
    why = "what came as the result of a check was not accepted: it did not come as the check sends it"
    return (
        *(
            Flag("forged-output", f"{name}: {why}")
            for name in dict.fromkeys(name for name, _ in outcome.forged)
        ),
        *(
            Flag("malformed-message", f"{name or 'setup'}: {what}")
            for name, what in outcome.malformed.items()
        ),
    )


def _graded(
    exercise: Exercise, tried: list[Tried], found: tuple[Clue, ...], marking: Marking
) -> GradedExercise:
    explained = explain(exercise, tried, found, exact=not marking.hidden)
    cases = tuple(
        GradedCase(
            case=c.verdict.case,
            status=cast(CaseStatus, c.verdict.status),
            points=c.verdict.points,
            max_points=c.verdict.max_points,
            diagnosis=c.diagnosis,
            message=_message(c, marking),
        )
        for c in explained.cases
    )
    mistakes = tuple(NamedMistake(m.name, m.says, m.cases) for m in explained.mistakes)
    unknown = _sealed(explained.unknown, marking.seed) if marking.hidden else explained.unknown
    more = (mistakes, explained.pattern, unknown)
    return GradedExercise(exercise.name, exercise.title, exercise.max_points, cases, *more)


def _sealed(digest: str, seed: str) -> str:
    """The digest of what came back, so that only who knows the seed could find out of what."""
    return hmac.new(seed.encode(), digest.encode(), "sha256").hexdigest()[:12] if digest else ""


def public_key(exercise: Exercise, evidence: Evidence) -> str:
    """`unknown` of an answer that ran on the inputs of `check`, as `check` itself finds it; "" where nothing came.

    These are the same in every run, so the key is the same next term, and tells nothing of hidden inputs.
    """
    came = [_answer(exercise, truth, evidence) for truth in truths(exercise, PUBLIC_SEED)]
    return answer_key(came) if any(answer is not None for answer in came) else ""


def _answer(e: Exercise, truth: Truth, evidence: Evidence) -> Answer | None:
    """What came back in a case, if it says something about the function."""
    key = _key(e, truth)
    if key in evidence.outcome.forged:
        return None
    answer = evidence.outcome.answers.get(key)
    return None if answer is None or answer == NO_FUNCTION else _of_its_kind(truth, answer)


def _key(e: Exercise, truth: Truth) -> tuple[str, str]:
    """Under which exercise and case the answer to a case comes."""
    return e.name, truth.asked_in or truth.case.name


def _of_its_kind(truth: Truth, answer: Answer) -> Answer:
    """What only a forger sends, something made where nothing is, as no check sends it."""
    return answer if truth.watch.made or answer.kind != "made" else Answer("other", answer.type_name)


def _verdict(e: Exercise, truth: Truth, evidence: Evidence) -> Verdict:
    """One case: judged when an answer arrived, else why none did."""
    outcome, key = evidence.outcome, _key(e, truth)
    nothing = Verdict(truth.case.name, "failed", 0.0, truth.case.points)
    if e.name not in evidence.lifted.answers:
        seen = f"no answer cell for {e.name} was found"
        return replace(nothing, status="missing", fault="missing", seen=seen)
    if key in outcome.forged:
        seen = f"the result of this check was not accepted: {outcome.forged[key]}"
        return replace(nothing, fault="forged-output", seen=seen)
    if e.name in outcome.cell_errors and not _is_there(e, outcome):
        seen = f"the answer cell did not run: {outcome.cell_errors[e.name]}"
        return replace(nothing, status="error", fault="answer-cell-failed", seen=seen)
    if key in outcome.answers:
        return _of_answer(e, truth, _of_its_kind(truth, outcome.answers[key]))
    why = evidence.stops.get(e.name, "not-run")
    status = {"slept": "timeout"}.get(why, why if why in ("timeout", "out-of-memory") else "not-run")
    return replace(nothing, status=status, fault=why, seen=_STOPPED[why])


def _of_answer(e: Exercise, truth: Truth, answer: Answer) -> Verdict:
    nothing = Verdict(truth.case.name, "failed", 0.0, truth.case.points)
    if answer == NO_FUNCTION:
        seen = f"the answer cell defines no function called {e.name}"
        return replace(nothing, status="error", fault="no-function", seen=seen)
    if answer.error == "MemoryError":
        seen = "the memory limit was reached while this case ran"
        return replace(nothing, status="out-of-memory", fault="out-of-memory", seen=seen)
    return judge(e, truth, answer)


def _message(c: Explained, marking: Marking) -> str:
    """What the learner reads of a case; where something is missing, with what is taken of other cells."""
    if c.diagnosis in ("not-attempted", FAULT) and marking.hidden:
        c = replace(c, means="")  # it is too late to write an answer
    missing = re.search(r"\b(Name|Import|ModuleNotFound)Error\b", c.verdict.seen)
    if not missing or c.diagnosis not in ("raised-error", "answer-cell-failed"):
        return c.message  # a mistake by name says it itself
    asks = "Is an `import` missing? " if missing[1] == "Name" else ""
    return f"{c.message} {asks}{_HELPERS}"


_HELPERS = (
    "Of the cells beside the answers, only functions, classes, imports and plain values are taken: what is computed "
    "there has to stand in the answer cell itself."
)
_STOPPED = {
    "timeout": "this did not finish within the time limit: is there a loop that never ends?",
    "slept": "this waited without computing: does it sleep, or wait for something that never comes?",
    "kernel-died": "the Python process ended while this exercise ran",
    "out-of-memory": "the memory limit was reached while this exercise ran",
    "malformed-message": "this exercise wrote into the grader's own connection, which ended the run",
    "forged-output": "this exercise made up a message of the grader's own kernel, which ended the run",
    "output-limit": "this exercise printed or displayed far more than can be read",
    "start-failed": "the Python process could not be started; that is the grader's problem, not yours",
    "not-run": "this case was not reached",
}
