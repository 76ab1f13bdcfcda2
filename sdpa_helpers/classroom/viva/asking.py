"""Three questions on one answer: what it returns, what an edit of it would change, and which cases show another one.

All answers on the key are what the learner's code returned, run as the grader runs it: in a kernel behind walls, with
limits, what comes out read with a budget. Nothing of it is run here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from nbformat import NotebookNode

from sdpa_helpers.checking.answers.carried import pack_inputs
from sdpa_helpers.checking.answers.observe import NOTHING_ELSE, Answer, alike, observe
from sdpa_helpers.checking.exercise import Exercise, Inputs
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, truths
from sdpa_helpers.checking.pages.prompt import written
from sdpa_helpers.classroom.viva.edits import Edit, edits_of
from sdpa_helpers.grading.assemble import assemble, pristine_notebook
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox.limits import Limits

READABLE = 70
"""Characters of a call or of a result."""
MOST_PACKED = 20_000
RUNS = 4
"""Of one answer: each ends with an edit that doesn't come to an end."""


@dataclass(frozen=True)
class VivaQuestion:
    """One question, and its answer on the instructor's key; `code` between backticks."""

    asks: str
    answer: str


@dataclass(frozen=True)
class Sheet:
    """One answer and what is asked about it."""

    learner: str
    exercise: str
    code: str
    questions: tuple[VivaQuestion, ...]


def sheet_of(
    learner: str, exercise: Exercise, code: str, where: tuple[Limits, str], seed: str
) -> Sheet | None:
    """The questions about an answer; None where three can't be made. where: the limits, and the sandbox's level."""
    edits = edits_of(code, exercise.name, f"{seed}\0{learner}\0{exercise.name}")
    calls = list(_small_calls(exercise))
    cases = [t for t in truths(exercise, PUBLIC_SEED) if len(t.packed) <= MOST_PACKED and not t.watch.memory]
    if not edits or not calls or not cases:
        return None
    base = cases[0]
    asked = [replace(base, packed=pack_inputs(inputs), watch=NOTHING_ELSE) for inputs in calls]
    asked += [replace(truth, watch=NOTHING_ELSE) for truth in cases]
    came = _run(exercise, [code, *(edit.source for edit in edits)], asked, where)
    if not came or len(came[0]) < len(asked):
        return None
    texts = [f"{exercise.name}({', '.join(map(written, inputs))})" for inputs in calls]
    changed = [(edit, came[n]) for n, edit in enumerate(edits, 1) if len(came.get(n, ())) == len(asked)]
    first = _predict(texts, came[0])
    edit, second = _change(texts, came[0], changed)
    others = [(other, answers[len(calls) :]) for other, answers in changed if other != edit]
    third = _which_show([truth.case.name for truth in cases], came[0][len(calls) :], others)
    if first is None or second is None or third is None:
        return None
    return Sheet(learner, exercise.name, code, (first, second, third))


def _small_calls(exercise: Exercise) -> Iterator[Inputs]:
    """Calls that are read at a glance: the prompt's examples, first with something in them changed."""
    examples = [example.inputs_for(exercise.reference) for example in exercise.examples]
    for inputs in [*(other for one in examples for other in _altered(one)), *examples]:
        answer = observe(exercise.reference, inputs)
        text = ", ".join(map(written, inputs))
        if (
            answer.kind in ("array", "number", "tuple")
            and len(text) <= READABLE
            and "nan" not in _told(answer)
        ):
            yield inputs


def _altered(inputs: Inputs) -> Iterator[Inputs]:
    """The same with the last axis of an array turned around, and with its first number one larger."""
    for place, value in enumerate(inputs):
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or not value.size:
            continue
        turned, larger = value[..., ::-1].copy(), value.copy()
        larger.flat[0] += 1
        for other in (turned, larger):
            if not np.array_equal(other, value):
                yield (*inputs[:place], other, *inputs[place + 1 :])


def _run(
    exercise: Exercise, sources: Sequence[str], asked: Sequence[Truth], where: tuple[Limits, str]
) -> Mapping[int, list[Answer]]:
    """What each of several answers returns, in one kernel; one that ends the run is left out, and what follows it is
    run again. {} where the first one, the learner's own, ends it."""
    left, came = list(range(len(sources))), dict[int, list[Answer]]()
    for _ in range(RUNS):
        if not left:
            break
        outcome = run(_notebook(exercise, [(n, sources[n]) for n in left], asked), *where)
        for n in left:
            keys = [(exercise.name, f"{n}/{place}") for place in range(len(asked))]
            came[n] = [outcome.answers[key] for key in keys if key in outcome.answers]
        ended = next((n for n in left if len(came[n]) < len(asked)), None)
        if not outcome.stopped or ended is None:
            break
        if ended == 0:
            return {}
        left = [n for n in left if n > ended]
    return came


def _notebook(exercise: Exercise, sources: Sequence[tuple[int, str]], asked: Sequence[Truth]) -> NotebookNode:
    """One after the other, each with its own calls: a later definition takes the place of the one before."""
    pristine, parts = pristine_notebook(exercise.lesson), []
    for number, source in sources:
        calls = tuple(
            replace(truth, case=replace(truth.case, name=f"{number}/{place}"))
            for place, truth in enumerate(asked)
        )
        parts.append(assemble(pristine, {exercise.name: source}, {exercise.name: calls}, [exercise.name]))
    whole, *others = parts
    for other in others:
        whole.cells += other.cells
    return whole


# ---- the three ---------------------------------------------------------------------------------------------


def _predict(texts: Sequence[str], own: Sequence[Answer]) -> VivaQuestion | None:
    for text, answer in zip(texts, own, strict=False):
        if _readable(answer):
            return VivaQuestion(f"What does your function return for `{text}`?", f"`{_told(answer)}`")
    return None


def _change(
    texts: Sequence[str], own: Sequence[Answer], changed: Sequence[tuple[Edit, Sequence[Answer]]]
) -> tuple[Edit | None, VivaQuestion | None]:
    """An edit that shows in a small call; one that raises comes last."""
    found = [
        (answers[place].kind == "error", edit, place, answers[place])
        for edit, answers in changed
        for place in range(len(texts))
        if _readable(own[place])
        and _readable(answers[place], errors=True)
        and not alike(own[place], answers[place])
    ]
    if not found:
        return None, None
    _, edit, place, answer = min(found, key=lambda one: one[0])
    asks = f"{_if(edit)} What would `{texts[place]}` give then?"
    return edit, VivaQuestion(asks, f"`{_told(answer)}`; as it stands, `{_told(own[place])}`")


def _which_show(
    names: Sequence[str], own: Sequence[Answer], changed: Sequence[tuple[Edit, Sequence[Answer]]]
) -> VivaQuestion | None:
    """An edit that some cases of `check` show and others don't: two of each at most."""
    for edit, answers in changed:
        same = [alike(before, after) for before, after in zip(own, answers, strict=True)]
        quiet = [name for name, alike_there in zip(names, same, strict=True) if alike_there][:2]
        loud = [name for name, alike_there in zip(names, same, strict=True) if not alike_there][:2]
        if quiet and loud:
            listed = "; ".join(name for name in names if name in (*quiet, *loud))
            asks = f"{_if(edit)} In which of these cases of `check` would anybody notice? {listed}."
            return VivaQuestion(asks, f"In {'; '.join(loud)}. Not in {'; '.join(quiet)}.")
    return None


def _if(edit: Edit) -> str:
    return f"Suppose that line {edit.line} said `{edit.now}` where it says `{edit.was}`."


def _readable(answer: Answer, *, errors: bool = False) -> bool:
    kinds = ("array", "number", "tuple", *(("error",) if errors else ()))
    return answer.kind in kinds and 0 < len(_told(answer)) <= READABLE


def _told(answer: Answer) -> str:
    """A result on one line; "" for what isn't numbers."""
    if answer.kind == "error":
        return f"an error, {answer.error}" if answer.error.isidentifier() else "an error"
    if answer.kind == "tuple":
        parts = [_told(item) for item in answer.items]
        return f"({', '.join(parts)})" if all(parts) else ""
    return written(answer.array) if answer.array is not None and answer.array.size <= READABLE else ""
