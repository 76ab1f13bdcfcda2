"""Lesson 04, exercise `mend_softmax_backward`: one line of the way back through softmax is wrong. Fix it."""

from dataclasses import replace

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.gradients.exercises.softmax_backward import EXERCISE as SOFTMAX_BACKWARD

PROMPT = """The cell below holds the code of `hunt_softmax_backward`, bug included. Fix it: one line is enough.

- `mend_softmax_backward(weights, grad_weights)` should do what [`softmax_backward`](#softmax_backward) does, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(weights, grad_weights):
    """Back through softmax: two arrays (..., n_q, n_k) -> (..., n_q, n_k)."""
    products = weights * grad_weights
    average = products.mean(axis=-1, keepdims=True)
    return weights * (grad_weights - average)


def mend_softmax_backward(weights, grad_weights):
    """Back through softmax: two arrays (..., n_q, n_k) -> (..., n_q, n_k)."""
    products = weights * grad_weights
    average = products.sum(axis=-1, keepdims=True)
    return weights * (grad_weights - average)


EXERCISE = replace(
    SOFTMAX_BACKWARD,
    name="mend_softmax_backward",
    title="Fix the way back through softmax",
    prompt=PROMPT,
    examples=(),
    difficulty=1,
    minutes=3,
    reference=mend_softmax_backward,
    starter=with_a_bug,
    whole=True,
    cases=worth(SOFTMAX_BACKWARD, {"three queries, five keys": 1, "batch and heads": 1}),
    hints=(
        "Take the example of `softmax_backward` and compute line 4 by hand.",
        "The average is taken under the weights. Are the products divided by anything?",
        "The weights of a row add up to 1 already, so `products.sum(axis=-1, keepdims=True)` is the average.",
    ),
    spared=(),
)
