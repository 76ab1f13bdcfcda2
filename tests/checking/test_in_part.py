"""A name may be denied by what is right, and never by what failed."""

import numpy as np

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.lessons.registry import find


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
