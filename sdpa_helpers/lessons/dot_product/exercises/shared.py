"""What several exercises of lesson 01 use."""

import numpy as np


def length_product(q, k):
    return np.linalg.norm(q) * np.linalg.norm(k)
