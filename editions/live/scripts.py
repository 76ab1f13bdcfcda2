"""`live.js`: one script that lets a lesson's stored outputs move in a page without a kernel.

The scaffold and the bodies are those of the notebooks (`sdpa_helpers/show`), joined as `show/panels.py` explains; what
stands here puts something else in the place of the kernel. What each panel needs to begin is computed by Python when
the site is built.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.lessons import gradients, masking
from sdpa_helpers.lessons.gradients import widget as way_back
from sdpa_helpers.lessons.masking import widget as reach
from sdpa_helpers.show import panels, predict
from sdpa_helpers.show.figures import INK, SKY, fullest

HERE = Path(__file__).parent

FILES = (
    panels.SCAFFOLD,
    predict.SCRIPT,
    reach.GRID,
    panels.DRAWN,
    *(HERE / name for name in ("canvas.js", "mask.js", "way_back.js", "questions.js", "drawn_here.js")),
)

PAINTED = ("Ann", "pours", "Ben", "and", "Lea", "some", "tea")
"""Lesson 05 paints a mask over these."""

ROW = ("water", "tea", "soda", "juice", "cocoa")
KEYS = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]])
VALUES = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
QUERY, UPSTREAM = np.array([1.0, 0, 0]), np.array([-1, -0.5])
"""What lesson 04 begins with: the query "hot", and the gradient that arrives at its output."""


def live_script() -> str:
    """The script of the pages, in one piece and with nothing of it global."""
    data = json.dumps(given(), ensure_ascii=False).replace("<", "\\u003c")
    files = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
    start = (HERE / "start.js").read_text(encoding="utf-8")
    return f'(() => {{\n"use strict";\nconst LIVE_GIVEN = {data};\n{files}\n{start}\n}})();\n'


def given() -> dict[str, dict[str, Any]]:
    """For each panel that Python draws in a notebook and the page draws here: its controls, and what is drawn."""
    shares = {"ink": fullest(INK), "sky": fullest(SKY), "blue": SKY}
    painted = masking.paint_mask(PAINTED)
    scores, arrived = KEYS @ QUERY / np.sqrt(len(QUERY)), VALUES @ UPSTREAM
    back = gradients.explore_way_back(ROW, scores, arrived)
    return {
        "masking": {"panel": painted.given(), "data": {"words": PAINTED, "shares": shares}},
        "gradients": {
            "panel": back.given(),
            "data": {
                "words": ROW,
                "rows": [row.tolist() for row in way_back.starting_scores(scores).values()],
                "gradients": [row.tolist() for row in way_back.starting_gradients(arrived, ROW).values()],
                "factors": way_back.FACTORS,
                "steps": list(back.controls["add_0"].stops),
                "shares": shares,
            },
        },
    }
