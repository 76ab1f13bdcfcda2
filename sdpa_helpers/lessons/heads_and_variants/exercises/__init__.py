"""The exercises of lesson 08, in the order of their notebook, and what stands above them there."""

NUMBER = 8
TITLE = "Heads and variants"
QUESTION = "What may change in softmax(QKᵀ/√dₖ)V, what does it cost, and what is lost?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none; in one prompt always the same axes. Don't change the arrays you are given.
"""
