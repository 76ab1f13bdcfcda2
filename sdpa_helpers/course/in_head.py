"""An answer at work in the trained head, for a page without Jupyter: whom it looks at, and which drink it says."""

import json
from collections.abc import Callable

import numpy as np

from sdpa_helpers.head.consequences import PLACES
from sdpa_helpers.head.run import run


def in_head(name: str, function: Callable) -> str:
    """What the head does with an exercise's function: {"answer", "weights", "trouble"} as JSON.

    Raises:
        LookupError: the exercise has no place in the head.
    """
    ran = run(PLACES[name].stages(function))
    weights = [float(w) if np.isfinite(w) else None for w in ran.yours]
    return json.dumps({"answer": ran.answer, "weights": weights, "trouble": ran.trouble}, ensure_ascii=False)
