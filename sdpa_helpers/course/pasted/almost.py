"""Where a function from elsewhere is right but for one thing that people do in their own way, what that is."""

import contextlib

import numpy as np

from sdpa_helpers.checking.answers.observe import quiet
from sdpa_helpers.checking.diagnose import Result
from sdpa_helpers.checking.exercise import Inputs
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.course.pasted.fit import Fit

_EMPTY = "Right, except for a row that sees nothing: you return {what}; the course wants zeros."
_NAN = "NaN (as PyTorch's softmax does)"
_MEAN = "the mean of all values (equal numbers in every place make equal weights)"
_OPEN = "what comes without a mask (one number added to all of its scores cancels)"
_OTHER = "other numbers"
_MATRICES = "Right for matrices; with a batch in front of them it {how}."
_ELSE = "ends with an error, or does something else"
_TWO_AXES = {"two-axes-only", "all-axes-transposed", "mixes-batch-entries", "unpacks-a-shape"}


def almost(fit: Fit, result: Result) -> str:
    """A sentence; "" where all is right, and where something else is wrong too."""
    failed = {case.verdict.case: case.verdict for case in result.cases if not case.verdict.passed}
    inputs = {truth.case.name: truth.inputs for truth in truths(fit.exercise, PUBLIC_SEED)}
    empty = {name: what for name in failed if (what := _of_empty_rows(fit, inputs[name]))}
    rest = [failed[name] for name in failed if name not in empty]
    matrices = [name for name in inputs if all(np.ndim(x) < 3 for x in inputs[name][:3])]
    same = frozenset[str]().union(*empty.values()).intersection(*empty.values())
    if (empty and not same) or not ({*matrices} - {*failed}) or any(v.case in matrices for v in rest):
        return ""
    stops = all(verdict.fault == "raised-error" for verdict in rest)
    if not (stops or (result.mistakes and {one.name for one in result.mistakes} <= _TWO_AXES)):
        return ""
    says = [_EMPTY.format(what=min(same, key=(_NAN, _MEAN, _OPEN, _OTHER).index))] if empty else []
    return " ".join([*says, _MATRICES.format(how="ends with an error" if stops else _ELSE)] if rest else says)


def _of_empty_rows(fit: Fit, inputs: Inputs) -> frozenset[str]:
    """What may be said of what it returns in rows that see nothing; nothing where another row is wrong too."""
    mask = inputs[-1]
    if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.any(-1).all():
        return frozenset()
    with contextlib.suppress(Exception), quiet():
        came, right = (_first(function(*inputs)) for function in (fit.answer, fit.exercise.reference))
        sees = np.broadcast_to(mask.any(-1), right.shape[:-1])
        if came.shape != right.shape or not np.allclose(came[sees], right[sees], rtol=1e-6):
            return frozenset()
        visible = _first(fit.exercise.reference(*inputs[:-1], np.ones_like(mask)))
        mean = inputs[2].mean(-2, keepdims=True) if len(inputs) == 4 else 1 / right.shape[-1]
        values = ((_NAN, np.nan), (_MEAN, mean), (_OPEN, visible), (_OTHER, came))
        empty = {what: np.broadcast_to(value, right.shape)[~sees] for what, value in values}
        return frozenset(
            w for w, v in empty.items() if np.allclose(came[~sees], v, 1e-4, 1e-5, equal_nan=True)
        )
    return frozenset()


def _first(result: object) -> np.ndarray:
    return np.asarray(result[0] if isinstance(result, tuple) else result)
