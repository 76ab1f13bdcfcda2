"""The exercises of lesson 06, in the order of their notebook, and what stands above them there."""

NUMBER = 6
TITLE = "What attention costs"
QUESTION = "What does attention cost, in time and in memory?"

NOTES = """Counts may be ints or floats. Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
