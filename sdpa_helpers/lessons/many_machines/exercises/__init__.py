"""The exercises of lesson 09, in the order of their notebook, and what stands above them there."""

NUMBER = 9
TITLE = "One sequence on many machines"
QUESTION = "How do several machines share one sequence, and when does it pay?"

NOTES = """Arrays are NumPy, float64; positions are ints. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.

Nothing here starts a process: you write what one rank computes, holds or sends.
"""
