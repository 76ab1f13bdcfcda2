"""The exercises of lesson 04, in the order of their notebook, and what stands above them there."""

NUMBER = 4
TITLE = "Gradients"
QUESTION = "How does learning flow back through attention?"

NOTES = r"""Arrays are NumPy, float64 unless it says otherwise. In shapes, `...` stands for any number of leading axes, including none. Don't change the arrays you are given.

We write $dX$ for $\partial L / \partial X$, where $L$ is the loss. It has the shape of $X$.
"""

NAMES = (
    "softmax_jacobian",
    "softmax_backward",
    "test_cases_for_softmax_backward",
    "value_gradient",
    "row_dots",
    "attention_backward",
    "relative_error",
    "dead_rows",
    "hunt_softmax_backward",
    "mend_softmax_backward",
    "hunt_attention_backward",
    "mend_attention_backward",
    "score_gradient_proof",
    "when_gradients_vanish",
)
"""A file of this folder each."""
