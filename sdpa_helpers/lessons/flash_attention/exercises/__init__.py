"""The exercises of lesson 07, in the order of their notebook, and what stands above them there."""

NUMBER = 7
TITLE = "Flash attention"
QUESTION = "How can attention run without ever holding the n × n matrix?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
