"""What is said of a pasted function: its verdict as a card, what it leads to, and where its mistake is shown."""

import contextlib
import re
from types import FunctionType

from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.card.render import practice_card
from sdpa_helpers.checking.code.answer_cells import MAX_ANSWER_CHARACTERS
from sdpa_helpers.checking.diagnose import Result, try_out
from sdpa_helpers.checking.helping.shrink import example_of
from sdpa_helpers.course.page_shell import ShownVerdict, run_alone
from sdpa_helpers.course.pasted import torch_like
from sdpa_helpers.course.pasted.fit import Fit, fits, unknown
from sdpa_helpers.head.consequences import consequence, shown

NOTHING = (
    "There is no function of attention here that this page knows. Paste one whose parameters say what they are: "
    "`q, k, v` with or without `mask`, `scores` with `mask`, `q, k`, or `x` for a softmax. Of a class, paste the "
    "method as a function."
)
ELSEWHERE = "\nThis page runs NumPy, and of PyTorch what attention needs. Take out what else is imported."


def named(source: str) -> ShownVerdict:
    """The verdict on pasted code, whose function is found by its parameters; `mistake` is "exercise#name" or "".

    source: Python, NumPy or PyTorch style, with its own imports or without. Errors that it raises are in `text`.
    """
    if len(source) > MAX_ANSWER_CHARACTERS:
        return ShownVerdict("", f"That is {len(source):,} characters; {MAX_ANSWER_CHARACTERS:,} are read.")
    is_torch = any(sign in source for sign in ("torch", "einops", "masked_fill", ".transpose(-"))
    with torch_like.imported() if is_torch else contextlib.nullcontext():
        space, problem = run_alone(source, torch_like.modules() if is_torch else {})
        if problem:
            return ShownVerdict("", problem + ELSEWHERE * ("ModuleNotFoundError" in problem))
        own = [f for f in space.values() if isinstance(f, FunctionType) and f.__globals__ is space]
        with kept(0):
            best = max(_tried(own, is_torch), key=_passed, default=None)
            return (
                _verdict(*best, _not_called(own))
                if best
                else ShownVerdict("", _quoted(f"{_not_called(own)}{NOTHING}"))
            )


def _quoted(text: str) -> str:
    """Where text is all that can be shown: quotation marks for the marks of code."""
    return re.sub(r"`([^`]+)`", r"“\1”", text)


def _not_called(own: list[FunctionType]) -> str:
    """What is said of the last function, where it wants something that nobody here can give it."""
    if not own or not (missing := unknown(own[-1])):
        return ""
    listed = ", ".join(f"`{one}`" for one in missing)
    return f"`{own[-1].__name__}` was not tried: it wants {listed}, which this page does not have. "


def _tried(own: list[FunctionType], is_torch: bool) -> list[tuple[Fit, Result]]:
    """The ways of the last function that fits anything."""
    for function in reversed(own):
        if found := fits(function, is_torch):
            return [(fit, try_out(fit.exercise, fit.answer)) for fit in found]
    return []


def _passed(tried: tuple[Fit, Result]) -> float:
    """The share of cases that pass; a name breaks a tie."""
    cases = tried[1].cases
    return sum(case.verdict.passed for case in cases) / len(cases) + 0.001 * bool(tried[1].mistakes)


def _verdict(fit: Fit, result: Result, besides: str) -> ShownVerdict:
    small = example_of(result, fit.answer)
    told = consequence(fit.exercise.name, fit.answer, result.passed)
    about = f"{besides}Tried as `{fit.exercise.name}` of lesson {fit.exercise.lesson[:2]}"
    card = practice_card(result, small, f"{about}{fit.says and f', {fit.says}'}.")
    more = f"<p>{told.says}</p>{shown(told)}" if told.says else ""
    known = {wrong.name for wrong in fit.exercise.wrong}
    mistake = f"{fit.exercise.name}#{result.mistake}" if result.mistake in known else ""
    end = "</div>"
    return ShownVerdict(
        f"{card.removesuffix(end)}{more}{end}", _quoted(about), passed=result.passed, mistake=mistake
    )
