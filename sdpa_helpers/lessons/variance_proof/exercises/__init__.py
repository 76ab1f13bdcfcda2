"""The exercises of lesson 02, in the order of their notebook, and what stands above them there."""

NUMBER = 2
TITLE = "Why the scores are scaled"
QUESTION = "Why divide by √dₖ, and when does that reason fail?"

NOTES = """Arrays are NumPy, float64 if nothing else is said. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
