"""The exercises of lesson 05, in the order of their notebook, and what stands above them there."""

NUMBER = 5
TITLE = "Masking"
QUESTION = "How do you keep a query from seeing a key?"

NOTES = """Arrays are NumPy, float64 unless it says otherwise. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.

In all of these, **True = may attend**.
"""
