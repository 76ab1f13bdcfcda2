"""The exercises of lesson 10, in the order of their notebook, and what stands above them there."""

NUMBER = 10
TITLE = "Does scaling matter?"
QUESTION = "Does a model that learns need 1/√dₖ? An experiment that could come out otherwise."

NOTES = """Arrays are NumPy, float64 unless it says otherwise. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
