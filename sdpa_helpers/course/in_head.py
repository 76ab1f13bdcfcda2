"""An answer at work in the trained head, for a page without Jupyter: whom it looks at, and which drink it says."""

import json
from collections.abc import Mapping

import numpy as np

from sdpa_helpers.course.in_page import Verdict, run_alone
from sdpa_helpers.head.consequences import PLACES
from sdpa_helpers.head.run import run


def in_head(name: str, answers: Mapping[str, str]) -> Verdict:
    """What the head does with an exercise's answer: its card, and as text {"answer", "weights", "trouble"} in JSON.

    Raises:
        LookupError: the exercise has no place in the head.
    """
    stages = PLACES[name].stages
    space, problem = run_alone(answers.get(name, ""), {})
    if problem or not callable(function := space.get(name)):
        return Verdict(
            "", json.dumps({"answer": "", "weights": [], "trouble": problem or f"no function {name}"})
        )
    ran = run(stages(function))
    weights = [float(w) if np.isfinite(w) else None for w in ran.yours]
    told = {"answer": ran.answer, "weights": weights, "trouble": ran.trouble}
    return Verdict(ran.html(), json.dumps(told, ensure_ascii=False))
