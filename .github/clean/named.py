"""Names a mistake with the core of the package alone: `python named.py`, nothing of the checkout beside it."""

import numpy as np

import sdpa_helpers as sdpa


def dot_product(q, k):
    """Not summed."""
    return q * k


report = sdpa.check(dot_product)
assert not report.passed
assert "not-summed" in str(report), report
Q = np.eye(3)
assert sdpa.scaled_dot_product_attention(Q, Q, Q, is_causal=True)[0].tolist() == [1, 0, 0]
print(report)
