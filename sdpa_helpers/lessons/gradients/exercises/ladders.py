"""Lesson 04: ladders to its two longest exercises."""

from sdpa_helpers.lessons.code_ladder import CodeLadder, WrongLine


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
    CodeLadder(
        "attention_backward",
        wrong=(
            WrongLine("dV =", "dV = A @ grad_output", "values-not-transposed"),
            WrongLine("dS =", "dS = A * dA", "row-sum-left-out"),
            WrongLine("dQ =", "dQ = dS @ K", "scale-missing-in-queries"),
            WrongLine("dK =", "dK = dS @ Q * scale", "keys-not-transposed"),
        ),
        blanks=("grad_output @ np.swapaxes(V, -1, -2)", "(A * dA).sum(axis=-1, keepdims=True)"),
    ),
)
