"""The pictures that a page draws without Python are those that Python draws, stroke by stroke."""

import json
import re
import subprocess

import numpy as np
import pytest

from editions.live import scripts
from sdpa_helpers.lessons import gradients, masking

RUN = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const drawers = { masking: drawMask, gradients: drawWayBack };
console.log(JSON.stringify(asked.map(([name, at]) => drawers[name](LIVE_GIVEN[name].data, at))));
"""


@pytest.fixture(scope="module")
def drawn(needs_program):
    """Pictures by the page's own script for these positions of a panel."""

    def draw(asked):
        data = json.dumps(scripts.given(), ensure_ascii=False)
        files = (scripts.HERE / name for name in ("canvas.js", "mask.js", "way_back.js"))
        source = f"const LIVE_GIVEN = {data};\n" + "\n".join(file.read_text() for file in files) + RUN
        node = [needs_program("node"), "-e", source]
        ran = subprocess.run(node, input=json.dumps(asked), capture_output=True, text=True, check=True)
        return json.loads(ran.stdout)

    return draw


def positions(panel, rng, count):
    """The start, the ends of every control, and some at random."""
    ends = [
        {**panel.given()["start"], name: len(c.stops) - 1} for name, c in panel.controls.items() if c.stops
    ]
    most = {name: len(c.stops) or 2**49 for name, c in panel.controls.items()}  # a mask is 49 bits
    some = [{name: int(rng.integers(end)) for name, end in most.items()} for _ in range(count)]
    return [panel.given()["start"], *ends, *some]


def rounded(svg):
    """A number of the last digit may round either way: the languages add up in another order."""
    return re.sub(r'"-?\d+\.\d+"', lambda found: f'"{float(found[0][1:-1]):.1f}"', svg)


def test_every_picture_is_that_of_python(drawn):
    rng = np.random.default_rng(5)
    scores, arrived = scripts.KEYS @ scripts.QUERY / np.sqrt(3), scripts.VALUES @ scripts.UPSTREAM
    panels = {
        "masking": masking.paint_mask(scripts.PAINTED),
        "gradients": gradients.explore_way_back(scripts.ROW, scores, arrived),
    }
    asked = [(name, at) for name, panel in panels.items() for at in positions(panel, rng, 25)]
    for (name, at), here in zip(asked, drawn(asked), strict=True):
        there = panels[name].draw(panels[name].values(at))
        assert here["text"] == there.text, (name, at)
        assert rounded(here["svg"]) == rounded(there.svg), (name, at)


def test_lesson_04s_still_has_the_numbers_that_the_panel_begins_with(course):
    cells = json.loads((course / "notebooks/04_gradients.ipynb").read_text())["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == "explore-way-back")
    still = "".join(cell["outputs"][0]["data"]["text/html"])
    panel = scripts.given()["gradients"]
    assert f'data-key="{panel["panel"]["key"]}"' in still, (
        "the key is made from the picture that it begins with"
    )


def test_lesson_05s_panel_is_over_the_words_of_its_cell(course):
    cells = json.loads((course / "notebooks/05_masking.ipynb").read_text())["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == "paint-mask")
    panel = scripts.given()["masking"]["panel"]
    assert f'data-key="{panel["key"]}"' in "".join(cell["outputs"][0]["data"]["text/html"])
