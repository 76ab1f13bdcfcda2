"""Lesson 04: the ladder to an answer in more lines than the page has."""

from sdpa_helpers.course.code_ladder import CodeLadder, WrongLine


def softmax_backward(weights, grad_weights):
    """The reference in four lines."""
    products = weights * grad_weights
    average = products.sum(axis=-1, keepdims=True)
    above_average = grad_weights - average
    return weights * above_average


LADDERS = (
    CodeLadder(
        "softmax_backward",
        wrong=(
            WrongLine("average =", "average = products.mean(axis=-1, keepdims=True)", "mean-not-sum"),
            WrongLine("average =", "average = products.sum(axis=-2, keepdims=True)", "column-sum"),
            WrongLine("above_average =", "above_average = grad_weights + average", "average-added"),
            WrongLine("return", "return above_average", "weights-not-multiplied"),
        ),
        blanks=("weights * grad_weights", "grad_weights - average"),
        answer=softmax_backward,
    ),
)
