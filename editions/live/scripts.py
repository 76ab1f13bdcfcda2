"""`live.js`: one script that lets a lesson's stored outputs move in a page without a kernel.

The scaffold and the bodies are those of the notebooks (`sdpa_helpers/show`), joined as `show/panels.py` explains; what
stands here puts something else in the place of the kernel. A lesson whose panel a page can draw by itself has
`without_python.py` and `.js` in its folder; what the panel needs to begin is computed when the site is built.
"""

import importlib
import json
from pathlib import Path

from sdpa_helpers.course.registry import HERE as LESSONS
from sdpa_helpers.show import panels, predict
from sdpa_helpers.show.panels import WithoutPython

HERE = Path(__file__).parent

SHARED = (panels.SCAFFOLD, predict.SCRIPT, panels.DRAWN)
OWN = tuple(HERE / name for name in ("canvas.js", "drawn_here.js", "questions.js"))


def drawn_here() -> dict[str, WithoutPython]:
    """Lesson's folder → its panel, of the lessons that have one for a page without Python."""
    folders = sorted(path.parent.name for path in LESSONS.glob("*/without_python.py"))
    modules = {
        name: importlib.import_module(f"sdpa_helpers.lessons.{name}.without_python") for name in folders
    }
    return {name: module.panel() for name, module in modules.items()}


def live_script() -> str:
    """The script of the pages, in one piece and with nothing of it global."""
    here = drawn_here()
    given = {name: {"panel": one.panel.given(), "data": one.data} for name, one in here.items()}
    data = json.dumps(given, ensure_ascii=False).replace("<", "\\u003c")
    added = dict.fromkeys(script for one in here.values() for script in one.panel.added())
    drawing = (LESSONS / name / "without_python.js" for name in here)
    files = "\n".join(file.read_text(encoding="utf-8") for file in (*SHARED, *added, *OWN, *drawing))
    start = (HERE / "start.js").read_text(encoding="utf-8")
    return f'(() => {{\n"use strict";\nconst LIVE_GIVEN = {data};\n{files}\n{start}\n}})();\n'
