"""What no listed mistake gives may be one change of a right answer, and then that is said."""

import numpy as np

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import check
from tests.corpus import entries, function_of


def _said(exercise, function):
    return [(mistake.name, mistake.says) for mistake in try_out(find(exercise), function).mistakes]


def _written(exercise, title):
    return function_of(next(e for e in entries() if (e.exercise, e.title) == (exercise, title)))


def test_a_change_of_a_right_answer_is_told_without_names_that_nobody_has_seen():
    function = _written("attention_backward", "plain sum for the average")
    assert _said("attention_backward", function) == [
        ("a-step-left-out", "Your numbers are exactly those of a right answer in which one step is left out.")
    ]


def test_where_it_is_stands_in_the_learners_own_lines():
    function = _written("ring_attention_step", "scale by n_k")
    told = check(function, exercise="ring_attention_step", keep=False).text()
    assert "Diagnosis (another-size)" in told
    assert "\n    One small change in line 5 lets every case pass. Look at `K_block.shape[-2]`.\n" in told


def test_code_that_was_to_be_mended_is_changed_too():
    def mend_softmax_backward(weights, grad_weights):
        products = weights + grad_weights
        return weights * (grad_weights - products.mean(axis=-1, keepdims=True))

    [(name, says)] = _said("mend_softmax_backward", mend_softmax_backward)
    assert name == "another-operation"
    assert (
        "the code as it came in which one operation is swapped for another: `weights + grad_weights`" in says
    )


def test_a_change_of_another_right_answer_is_told_too():
    """The reference of the page calls no polyfit."""
    function = lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 2)[0]  # noqa: E731
    [(name, says)] = _said("fit_exponent", function)
    assert name == "another-number"
    assert says.endswith("`2` instead of `1`.")


def test_numbers_that_are_no_mutants_get_no_name():
    assert not _said("softmax", lambda x, axis=-1: np.cos(x) ** 2)
