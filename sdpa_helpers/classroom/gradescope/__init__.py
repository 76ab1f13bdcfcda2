"""A Gradescope autograder: `packing_list.py` writes its zip, `run_there.py` grades one hand-in on Gradescope's machine.

Both do what `sdpa grade` does: the marks are those of `sdpa grade` with the same seed, to the byte.
"""
