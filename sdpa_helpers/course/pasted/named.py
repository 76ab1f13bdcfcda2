"""What is said of a pasted function: its verdict as a card, what it leads to, and where its mistake is shown."""

import re
import textwrap
from collections.abc import Callable
from types import FunctionType

from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.render import framed, heading, practice_card
from sdpa_helpers.checking.code.answer_cells import MAX_ANSWER_CHARACTERS
from sdpa_helpers.checking.diagnose import Result, points_of, try_out
from sdpa_helpers.checking.helping.shrink import example_of
from sdpa_helpers.course.page_shell import ShownVerdict, run_alone
from sdpa_helpers.course.pasted import torch_like
from sdpa_helpers.course.pasted.almost import almost
from sdpa_helpers.course.pasted.fit import Fit, fits, unknown
from sdpa_helpers.course.pasted.stand_ins import functions_in, wanted_of_self
from sdpa_helpers.head.consequences import consequence, shown

NOTHING = (
    "There is no function of attention here that this page knows. Paste one whose parameters say what they are: "
    "`q, k, v` with or without `mask`, `scores` with `mask`, `q, k`, or `x` for a softmax."
)
INSTEAD = (
    "Paste the lines between q, k, v and the result as a function of their own, `def attention(q, k, v):`."
)
HAS = "It has NumPy, and of PyTorch what attention needs."
_IS_TORCH = re.compile(
    r"torch|einops|masked_fill|\bF\.|\bnn\.|\.softmax\(|\.size\(|\.transpose\(\s*-?\d\s*,\s*-?\d\s*\)"
)


def named(source: str) -> ShownVerdict:
    """The verdict on pasted code, whose function is found by its parameters; `mistake` is "exercise#name" or "".

    source: Python, NumPy or PyTorch style, with its own imports or without, a function or a class.
    """
    if len(source) > MAX_ANSWER_CHARACTERS:
        return _told("", f"That is {len(source):,} characters; {MAX_ANSWER_CHARACTERS:,} are read.")
    source = textwrap.dedent(source)
    if other := re.search(r"(?m)^[^#\n]*\b(jax|jnp|tensorflow|tf)\.\w", source):
        missing = "JAX" if other[1].startswith("j") else "TensorFlow"
        return _told("It can't run here", f"This code uses {missing}, which this page does not have. {HAS}")
    is_torch = _IS_TORCH.search(source) is not None
    with torch_like.imported():
        ready = torch_like.modules()
        ready |= {"nn": ready["torch.nn"], "F": ready["torch.nn.functional"]}
        space, problem = run_alone(source, ready)
        if problem:
            return _told("It stops before it is tried", _in_a_sentence(problem))
        own = functions_in(space)
        with kept(0):
            tried = _tried(own, is_torch)
            if tried is None:
                return _told("", f"{_not_called(own)}{NOTHING if not _not_called(own) else ''}".strip())
            function, fit, result = tried
            return _verdict(fit, result, _not_called(own) if function is not own[-1] else "")


def _told(title: str, sentence: str) -> ShownVerdict:
    """A card of a sentence or two."""
    head = heading("○", title) if title else ""
    return ShownVerdict(framed(f"{head}<p>{code_spans(sentence)}</p>"), _quoted(sentence))


def _in_a_sentence(problem: str) -> str:
    """What stopped pasted code, with its own line."""
    *lines, last = problem.splitlines()
    kind, _, message = last.partition(": ")
    if missing := re.match(r"no (\w+) here", message):
        return f"This page has no `{missing[1]}`. {HAS} Take out what else is imported, and what uses it."
    if lacks := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", message):
        return f"This page's small `{lacks[2]}` has no `{lacks[1]}`. {HAS}"
    number, _, code = (lines[-1] if lines else "").partition(": ")
    where = f"Python stops in {number} of what you pasted, `{code}`" if code else "Python stops"
    if kind == "NameError" and (name := re.search(r"'(q|k|v|x|query|key|value)'", message)):
        return f"{where}: nothing defines `{name[1]}`. {INSTEAD}"
    return f"{where}: {message or kind}{f' ({kind})' * bool(message)}."


def _quoted(text: str) -> str:
    """Where text is all that can be shown: quotation marks for the marks of code."""
    return re.sub(r"`([^`]+)`", r"“\1”", text)


def _not_called(own: list[FunctionType]) -> str:
    """What is said of the last function, where it wants something that nobody here can give it."""
    if not own:
        return ""
    missing = [f"`self.{one}`" for one in wanted_of_self(own[-1])] or [f"`{one}`" for one in unknown(own[-1])]
    if not missing:
        return ""
    listed = ", ".join(missing[:4])
    return f"`{own[-1].__name__}` was not tried: it wants {listed}, which this page does not have. {INSTEAD} "


def _tried(own: list[FunctionType], is_torch: bool) -> tuple[Callable, Fit, Result] | None:
    """The last function that fits anything, in the way in which it passes most; a name breaks a tie."""
    for function in reversed(own):
        if not (found := fits(function, is_torch)):
            continue
        earned = [points_of(fit.exercise, fit.answer) / fit.exercise.max_points for fit in found]
        best = [fit for fit, share in zip(found, earned, strict=True) if share == max(earned)]
        results = [(fit, try_out(fit.exercise, fit.answer)) for fit in best[:3]]
        return function, *max(results, key=lambda one: bool(one[1].mistakes))
    return None


def _verdict(fit: Fit, result: Result, besides: str) -> ShownVerdict:
    seen = " ".join(case.verdict.seen for case in result.cases)
    if lacks := re.search(rf"{torch_like.LACKS} (\S+?)(?: \((line \d+))?(?=[\s:)])", seen):
        where = f" {lacks[2].capitalize()} asks for it." if lacks[2] else ""
        return _told("Not tried to its end", f"This page's small PyTorch has no {lacks[1]}.{where} {HAS}")
    about = f"{besides}Tried as `{fit.exercise.name}` of lesson {fit.exercise.lesson[:2]}"
    about += f", {fit.says}." if fit.says else "."
    known = {wrong.name for wrong in fit.exercise.wrong}
    mistake = f"{fit.exercise.name}#{result.mistake}" if result.mistake in known else ""
    but = almost(fit, result)
    small = None if but else example_of(result, fit.answer)
    card = practice_card(result, small, about, but)
    if "causal" not in fit.says:  # the head wants to look everywhere
        told = consequence(fit.exercise.name, fit.answer, result.passed)
        if told.says:
            more = f"<summary>{HEAD}</summary><div><p>{told.says}</p>{shown(told)}</div>"
            card = f"{card.removesuffix('</div>')}<details class='seen'>{more}</details></div>"
    return ShownVerdict(card, _quoted(f"{but} {about}".strip()), passed=result.passed, mistake=mistake)


HEAD = "In use: a small trained head reads a list of who drinks what, and is asked what one of them drinks"
