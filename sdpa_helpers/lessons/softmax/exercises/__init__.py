"""The exercises of lesson 03, in the order of their notebook, and what stands above them there."""

NUMBER = 3
TITLE = "Softmax"
QUESTION = "How do scores become weights without overflow?"

NOTES = """Arrays are NumPy, float64 unless it says otherwise. Don't change the arrays you are given.
"""
