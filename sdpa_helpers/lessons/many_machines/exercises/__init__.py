"""The exercises of lesson 09, in the order of their notebook, and what stands above them there."""

TITLE = "Many machines"
QUESTION = "How do several machines share one sequence, and when does it pay?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, also none. Don't change the arrays you are given.
"""

NAMES: tuple[str, ...] = ()
"""A file of this folder each."""
