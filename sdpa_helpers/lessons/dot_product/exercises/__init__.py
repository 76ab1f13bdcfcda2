"""The exercises of lesson 01, in the order of their notebook, and what stands above them there."""

NUMBER = 1
TITLE = "The dot product"
QUESTION = "What does a score measure, and how does it become a weighted average?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
