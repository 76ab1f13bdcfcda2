"""What no listed mistake gives may be one change of a right answer, and then that is said."""

import numpy as np

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find


def _said(exercise, function):
    return [(mistake.name, mistake.says) for mistake in try_out(find(exercise), function).mistakes]


def test_a_change_of_a_right_answer_is_told_with_what_was_changed():
    def sum_over_everything(x, axis=-1):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / np.sum(e)

    [(name, says)] = _said("softmax", sum_over_everything)
    assert name == "an-argument-left-out"
    assert "in which one argument is left out: `" in says
    assert "axis=axis" in says


def test_code_that_was_to_be_mended_is_changed_too():
    def mend_softmax_backward(weights, grad_weights):
        products = weights + grad_weights
        return weights * (grad_weights - products.mean(axis=-1, keepdims=True))

    [(name, says)] = _said("mend_softmax_backward", mend_softmax_backward)
    assert name == "another-operation"
    assert "the code as it came in which one operation is another: `weights + grad_weights`" in says


def test_numbers_that_are_no_mutants_get_no_name():
    assert not _said("softmax", lambda x, axis=-1: np.cos(x) ** 2)
