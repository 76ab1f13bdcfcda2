"""The panel of this lesson in a page without Python: what it begins with there, and what its script is given."""

import numpy as np

from sdpa_helpers.lessons.gradients import widget
from sdpa_helpers.show.figures import INK, SKY, fullest
from sdpa_helpers.show.panels import WithoutPython

ROW = ("water", "tea", "soda", "juice", "cocoa")
KEYS = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]])
VALUES = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
QUERY, UPSTREAM = np.array([1.0, 0, 0]), np.array([-1, -0.5])
"""What the lesson begins with: the query "hot", and the gradient that arrives at its output."""


def panel() -> WithoutPython:
    """The way back through softmax, with a row of scores and a gradient to move."""
    scores, arrived = KEYS @ QUERY / np.sqrt(len(QUERY)), VALUES @ UPSTREAM
    back = widget.explore_way_back(ROW, scores, arrived)
    data = {
        "words": ROW,
        "rows": [row.tolist() for row in widget.starting_scores(scores).values()],
        "gradients": [row.tolist() for row in widget.starting_gradients(arrived, ROW).values()],
        "factors": widget.FACTORS,
        "steps": list(back.controls["add_0"].stops),
        "shares": {"ink": fullest(INK), "sky": fullest(SKY), "blue": SKY},
    }
    return WithoutPython(back, data)
