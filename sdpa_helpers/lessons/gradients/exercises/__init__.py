"""The exercises of lesson 04, in the order of their notebook, and what stands above them there."""

NUMBER = 4
TITLE = "Gradients"
QUESTION = "How does learning flow back through attention?"

NOTES = r"""Arrays are NumPy, float64 unless it says otherwise. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.

We write $dX$ for $\partial L / \partial X$, where $L$ is the loss. It has the shape of $X$.
"""
