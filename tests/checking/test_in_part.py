"""A name may be denied by what is right, and never by what failed."""

import numpy as np

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find


def _names(exercise, function):
    return [mistake.name for mistake in try_out(find(exercise), function).mistakes]


def axis_one_and_vectors_apart(x, axis=-1):
    """One row is handled well, so the listed mistake, which fails there, does not give all answers."""
    axis = 0 if x.ndim == 1 else 1
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def test_a_corner_that_is_handled_well_does_not_hide_a_name():
    assert _names("softmax", axis_one_and_vectors_apart) == ["axis-always-1"]


def test_what_failed_otherwise_denies_the_name():
    def and_a_row_is_nan(x, axis=-1):
        return x * np.nan if x.ndim > 2 else axis_one_and_vectors_apart(x, axis)

    assert _names("softmax", and_a_row_is_nan) == []


def test_true_and_false_are_no_evidence_for_it():
    def row_one_is_right(n_q, n_k):
        mask = np.tri(n_q, n_k, k=1, dtype=bool)
        return np.tri(n_q, n_k, dtype=bool) if n_q < 4 else mask

    assert "sees-one-future-key" not in _names("causal_mask", row_one_is_right)


def online_softmax_with_the_factor_upside_down(scores, block):
    largest = np.full(scores.shape[:-1], -np.inf)
    total = np.zeros(scores.shape[:-1])
    for j in range(0, scores.shape[-1], block):
        s = scores[..., j : j + block]
        new = np.maximum(largest, s.max(-1))
        safe = np.where(np.isfinite(new), new, 0.0)
        factor = np.exp(np.where(np.isfinite(largest), safe - largest, 0.0))
        total = total * factor + np.exp(s - safe[..., None]).sum(-1)
        largest = new
    return largest, total


def test_a_name_for_a_part_says_of_how_many_cases():
    result = try_out(find("online_softmax"), online_softmax_with_the_factor_upside_down)
    [mistake] = result.mistakes
    failed = [case for case in result.cases if not case.verdict.passed]
    assert mistake.name == "sum-rescaled-the-wrong-way"
    assert f"In {len(mistake.cases)} of the {len(failed)} cases that failed, your numbers are" in mistake.says
    assert len(mistake.cases) < len(failed)
