"""What a learner calls in a notebook: `check(f)`, `hint(f)`, `solution(f)`, `progress()`."""

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sdpa_helpers.checking.answers.observe import Answer, Watch
from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.answers.taken_away import innermost, space_of, taken_away
from sdpa_helpers.checking.answers.time_limit import observe_all, observe_within
from sdpa_helpers.checking.card.render import NO_HELPS, Helps, Hint, Shown
from sdpa_helpers.checking.diagnose import Result, assess, source_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.helping.repair import repair_of
from sdpa_helpers.checking.helping.shrink import Small, example_of
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, for_all, truths, with_own_calls
from sdpa_helpers.checking.kinds.catching import hunt_of
from sdpa_helpers.checking.naming.as_if import AS_IF
from sdpa_helpers.course import attempts, notebook_cells, saved
from sdpa_helpers.course.check_report import CheckReport
from sdpa_helpers.course.foresight import foresight_of
from sdpa_helpers.course.joined import tell
from sdpa_helpers.course.my_attention import keep_answer, own_functions, run_within
from sdpa_helpers.course.notebook_cells import Cell, Elsewhere, Notebook, this_notebook
from sdpa_helpers.course.notes import HintNote, Note, Told
from sdpa_helpers.course.onward import onward_from
from sdpa_helpers.course.progress import ProgressTable
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of, find, written_of
from sdpa_helpers.course.told import sentence_for
from sdpa_helpers.course.worlds_won import prize_of, won_of, worlds
from sdpa_helpers.head.consequences import Consequence, consequence, shown

_mistakes: dict[str, str] = {}  # exercise -> the mistake that its last check found
_last_hints: dict[str, tuple[str, ...]] = {}  # exercise -> the change that mends what was checked last
_hints_given: dict[str, set[str]] = {}  # exercise -> those that `hint` told

notebook_cells.watch()


def check(function: Callable | str, *, exercise: str | None = None, keep: bool = True) -> CheckReport:
    """Try `function` on every case of the exercise that has its name, and say which mistake was made.

    function: anything that can be called, or the name of a function of this notebook. exercise: which exercise it
    answers, where its name does not say so. Returns an object that shows itself in a notebook and prints as text;
    its `.passed` and `.points` are there for scripts. keep=False tries without counting it in `progress()`. Errors:
    LookupError when no exercise has the function's name, or no function has the name that was given.
    """
    notebook = this_notebook()
    namespace = notebook.namespace if notebook else sys._getframe(1).f_globals
    asked = _exercise_of(function, exercise, namespace)
    tried = _function_of(function, namespace)
    report = report_on(asked, tried, notebook)
    _mistakes[asked.name] = report.result.mistake
    if keep and not report.withheld:
        saved.keep(asked.name, report.points)
    if keep:
        key = report.result.unknown
        tell(attempts.log(asked.name, report.points, report.max_points, report.mistakes, answer=key))
    if keep and report.passed and notebook is not None:
        remark = _into_own_file(asked, tried, notebook)
        report = replace(report, remarks=(remark,) if remark else ())
    report = replace(report, told=sentence_for(asked.name, report.result.unknown))
    if not keep:  # the exercise is not done, so the card leads nowhere else and no world is won
        report = replace(report, helps=replace(report.helps, onward=None, worlds=()))
    if os.environ.get("NBGRADER_EXECUTION") and not report.passed:
        raise AssertionError(report.text())  # nbgrader reads an exception as "no points"
    return report


def hint(function: Callable | str) -> Shown:
    """The next hint: first those for the mistake that `check` found, then the exercise's own three."""
    return hint_for(_exercise_of(function, None, _namespace(sys._getframe(1).f_globals)))


def solution(function: Callable | str) -> Shown:
    """One right answer, as source text. Read it after you tried: the comparison is where the learning is."""
    return solution_of(_exercise_of(function, None, _namespace(sys._getframe(1).f_globals)))


def progress() -> Shown:
    """The whole course: points per exercise, how often you predicted rightly, your time, and where to go next."""
    points = saved.load()
    rows = [
        (lesson, e, saved.best_of(points, e.name, e.max_points))
        for lesson in LESSONS
        for e in exercises_of(lesson)
    ]
    written = {lesson: written_of(lesson) for lesson in LESSONS}
    foreseen = foresight_of(saved.load_predictions())
    spent = attempts.in_words(attempts.read())
    return ProgressTable(rows, written, foreseen, own_functions(), worlds(points), spent)


def hint_for(exercise: Exercise) -> Shown:
    """The next hint to an exercise; each call tells a little more."""
    given, *coming = _hints_to_come(exercise)
    _hints_given.setdefault(exercise.name, set()).add(given.text)
    return HintNote(exercise.name, given, tuple(coming))


def solution_of(exercise: Exercise) -> Shown:
    """One right answer to an exercise; a sentence where this edition has none."""
    if exercise.sealed:
        return Note(
            f"{exercise.name}: homework", "The answer is not in this edition: your instructor has kept it."
        )
    return Note(f"{exercise.name}: one right answer", _right_answer(exercise), is_code=True)


def _hints_to_come(exercise: Exercise) -> list[Hint]:
    """Those that `hint` has not told yet, first those for the mistake that was found; at the end the last one again."""
    mistake = _mistakes.get(exercise.name, "")
    special = next((w.hints for w in exercise.wrong if w.name == mistake), ())
    texts = (*special, *exercise.hints, *_last_hints.get(exercise.name, ()))
    hints = [Hint(number, len(texts), text) for number, text in enumerate(texts, 1)]
    given = _hints_given.get(exercise.name, set())
    return [hint for hint in hints if hint.text not in given] or hints[-1:]


def _right_answer(exercise: Exercise) -> str:
    return "" if exercise.sealed else inspect.getsource(exercise.reference)


def _helps(result: Result, exercise: Exercise, function: Callable) -> Helps:
    """What the card offers: what the function does in a trained head, hints for the mistake that was just found, a
    right answer, the way on."""
    _mistakes[exercise.name] = result.mistake
    _last_hints[exercise.name] = (result.last_hint,) if result.last_hint else ()
    if os.environ.get("NBGRADER_EXECUTION"):
        return NO_HELPS  # what is kept there is handed back with marks
    hints, right, onward = tuple(_hints_to_come(exercise)), _right_answer(exercise), onward_from(exercise)
    seen, squares = _in_the_head(result, exercise, function), _squares(result, exercise, function)
    if not result.passed:
        return Helps(hints, right, onward, seen.says, shown(seen), squares)
    won = worlds(saved.load() | {exercise.name: result.points})
    won = won if won_of(won) else ()  # nobody knows what a world is before one is won
    return Helps(hints, right, onward, _praise(exercise, seen.says), squares=squares, worlds=won)


def _praise(exercise: Exercise, in_the_head: str) -> str:
    """What was just built, and what it is good for."""
    prize, end = prize_of(exercise.name), "" if exercise.title.endswith(("?", "!", ".")) else "."
    wins = f"That wins the world “{prize.name}”: {prize.about}." if prize else ""
    return " ".join(filter(None, (f"Done: {exercise.title}{end}", wins, in_the_head)))


def _squares(result: Result, exercise: Exercise, function: Callable) -> tuple[tuple[str, bool], ...]:
    """Which wrong versions are caught, where that is asked for."""
    hunt = hunt_of(exercise)
    if hunt is None or not result.attempted or result.not_there:
        return ()
    with taken_away(function, space_of(function), exercise.allows) as given:
        answer = observe_within(given, (), EXAMPLE_SECONDS, Watch(made=True))
    return hunt.fallen(answer.made) if answer.made else ()


def _in_the_head(result: Result, exercise: Exercise, function: Callable) -> Consequence:
    """Nothing where the cases say all there is to say: nothing is written yet, or the answer had to be stopped."""
    stopped = any(case.verdict.fault in ("stopped", "not-run") for case in result.cases)
    if not result.attempted or result.not_there or exercise.sealed or stopped:
        return Consequence()
    return consequence(exercise.name, function, result.passed)


# ---- which exercise, which function -----------------------------------------------------------------------


def _namespace(callers: dict[str, Any]) -> dict[str, Any]:
    notebook = this_notebook()
    return notebook.namespace if notebook else callers


def _exercise_of(function: Callable | str, exercise: str | None, namespace: Mapping[str, Any]) -> Exercise:
    """The exercise that is meant: by its name, by the name the function has in the notebook, or by its own."""
    if exercise is not None or isinstance(function, str):
        return _named(exercise if exercise is not None else str(function))
    if not callable(function):
        came = type(function).__name__
        raise Told(f"check needs the function itself, e.g. check(dot_product); this is of type {came}")
    own = getattr(function, "__name__", "")
    bound = [name for name, value in list(namespace.items()) if value is function]
    names = [name for name in bound if name in all_exercises()]
    if own in names or not names:
        return _named(own if own and own != "<lambda>" else next((n for n in bound if n[:1] != "_"), own))
    return _named(names[0])


def _named(name: str) -> Exercise:
    if name in ("", "<lambda>"):
        raise Told(
            'this function has no name that says which exercise it answers: check(f, exercise="dot_product") does'
        )
    try:
        return find(name)
    except LookupError as error:
        raise Told(str(error)) from None


def _function_of(function: Callable | str, namespace: Mapping[str, Any]) -> Callable:
    if not isinstance(function, str):
        return function
    found = namespace.get(function)
    if not callable(found):
        raise Told(
            f"there is no function called {function} here yet: run the cell that defines it, then check again"
        )
    return found


# ---- the verdict ------------------------------------------------------------------------------------------


def report_on(exercise: Exercise, function: Callable, notebook: Notebook | None) -> CheckReport:
    """The verdict on a function as it stands in a notebook, or in a script. Nothing is kept of it."""
    space = notebook.namespace if notebook else space_of(function)
    with kept() as printed:
        tried = _try_out(exercise, function, space)
    with kept(0):
        return replace(_report_on(exercise, function, notebook, tried), printed=printed.text)


def _report_on(
    exercise: Exercise, function: Callable, notebook: Notebook | None, tried: Result
) -> CheckReport:
    space = notebook.namespace if notebook else space_of(function)
    result = _with_the_line(tried, function, space)
    forbidden = result.not_there
    is_the_answer = notebook is not None and notebook.namespace.get(exercise.name) is function
    name = exercise.name if is_the_answer else getattr(function, "__name__", "")
    cell = notebook.defining(innermost(function), name) if notebook else None
    small = None if forbidden else _example(result, function, space)
    if notebook is None or cell is None or not is_the_answer:  # no grader looks at it
        return CheckReport(result, result, forbidden, helps=_helps(result, exercise, function), small=small)
    notices = [notebook_cells.out_of_date(notebook, exercise.name, cell)]
    graded, why = _as_graded(exercise, function, result, notebook, cell)
    told = tuple(filter(None, notices))
    return CheckReport(result, graded, forbidden, why, told, _helps(result, exercise, function), small)


def _with_the_line(result: Result, function: Callable, space: dict[str, Any]) -> Result:
    """The result with the line to look at, where no mistake has a name and one change of the learner's code mends it.

    One change that mends all denies that there are two mistakes: then these names aren't said.
    """
    names = {mistake.name for mistake in result.mistakes}
    doubtful = len(result.mistakes) == 2 and names <= {wrong.name for wrong in result.exercise.wrong}
    doubtful = doubtful or (len(names) > 0 and names <= AS_IF)
    if result.passed or result.not_there or (result.mistakes and not doubtful) or not result.attempted:
        return result
    if os.environ.get("NBGRADER_EXECUTION") or any(c.verdict.fault == "timeout" for c in result.cases):
        return result
    inner = innermost(function)
    with taken_away(function, space, result.exercise.allows):
        repair = repair_of(result, source_of(inner), getattr(inner, "__name__", ""), space)
    if repair is None:
        return result
    if names and names <= AS_IF:  # what it is stays said; where it is, in the learner's own lines
        told = tuple(
            replace(mistake, line=f"{repair.where[:1].upper()}{repair.where[1:]}")
            for mistake in result.mistakes
        )
        return replace(result, mistakes=told, last_hint=repair.hint)
    cases = (
        replace(c, diagnosis=c.verdict.fault, means="") if c.diagnosis in names else c for c in result.cases
    )
    looked = replace(result, where_to_look=repair.where, last_hint=repair.hint)
    return replace(looked, mistakes=(), cases=tuple(cases))


def _example(result: Result, function: Callable, space: dict[str, Any]) -> Small | None:
    """A small input on which the answer fails."""
    with taken_away(function, space, result.exercise.allows) as given:
        return example_of(result, given, functools.partial(observe_within, seconds=EXAMPLE_SECONDS))


EXAMPLE_SECONDS = 2.0
"""What one call in the search for an example may take. It ends calls that never would; the longest other takes 0.01."""


def _try_out(exercise: Exercise, function: Callable, space: dict[str, Any]) -> Result:
    """What comes of the cases without what isn't there when an answer is graded."""
    known = truths(exercise, PUBLIC_SEED)
    with taken_away(function, space, exercise.allows) as given:
        answers = observe_all(given, [(t.inputs, t.watch) for t in with_own_calls(known)])
    return assess(exercise, for_all(known, answers), PUBLIC_SEED, source_of(innermost(function)))


def _into_own_file(exercise: Exercise, function: Callable, notebook: Notebook) -> str:
    """Put an accepted answer into the learner's my_attention.py; what there is to say of it, or ""."""
    cell = notebook.defining(innermost(function), exercise.name)
    if cell is None or notebook.namespace.get(exercise.name) is not function:
        return ""
    return keep_answer(notebook, exercise, cell, functools.partial(_fails_alone, exercise))


def _fails_alone(exercise: Exercise, code: str) -> str:
    """Why a file with this code does not answer an exercise; "" when it does."""
    space: dict[str, Any] = {"__name__": "my_attention"}
    ran = run_within(code, space)
    if ran:
        return ran
    if exercise.name not in space:
        return f"There it makes no `{exercise.name}`"
    with kept(0):
        result = _try_out(exercise, space[exercise.name], space)
    failed = [case.verdict.seen for case in result.cases if not case.verdict.passed]
    return f"There it {failed[0]}" if failed else ""


def _as_graded(
    exercise: Exercise, function: Callable, result: Result, notebook: Notebook, cell: Cell
) -> tuple[Result, str]:
    """(what comes of the answers where only they and definitions are run, what keeps them from earning more)."""
    names = [e.name for e in exercises_of(exercise.lesson)]
    missing = notebook_cells.elsewhere(notebook, exercise.name, cell, names[: names.index(exercise.name)])
    if not missing.names:
        return result, ""
    graded = _without(missing, exercise, function, notebook)
    if graded.points == result.points:
        return result, ""  # it can do without them, or was not worth anything with them
    names = _not_found(graded, missing.names)
    those = " and ".join(f"`{name}`{notebook_cells.where_is(notebook, name)}" for name in names)
    are, them = ("are", "them") if len(names) > 1 else ("is", "it")
    why = (
        f"{are} missing in a grader, which runs the answers in their order and, of other cells, only functions, "
        "classes, imports and plain values"
    )
    if exercise.name in names:
        why = (
            f"stands in a cell without the line `# exercise: {exercise.name}`, and the cell with it is graded"
        )
    right = sum(c.verdict.passed for c in result.cases)
    return graded, (
        f"{right} of {len(result.cases)} cases right, {graded.points:g} points here: {those} {why}. "
        f"Move {them} into the cell `# exercise: {exercise.name}`"
    )


def _without(missing: Elsewhere, exercise: Exercise, function: Callable, notebook: Notebook) -> Result:
    """What comes of the cases while the notebook lacks some names, as it does in a grader."""
    if missing.at_once:
        error = Answer("error", error="NameError", message=f"name {missing.names[0]!r} is not defined")
        return assess(exercise, [error] * len(exercise.cases), PUBLIC_SEED)
    taken = {name: notebook.namespace.pop(name) for name in missing.names}
    try:
        return _try_out(exercise, function, notebook.namespace)
    finally:
        notebook.namespace.update(taken)


def _not_found(graded: Result, names: tuple[str, ...]) -> tuple[str, ...]:
    told = " ".join(case.verdict.seen for case in graded.cases)
    return tuple(n for n in names if re.search(rf"\bname '{re.escape(n)}'", told)) or names
