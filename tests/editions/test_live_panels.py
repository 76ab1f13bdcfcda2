"""The pictures that a page draws without Python are those that Python draws, stroke by stroke."""

import json
import re
import subprocess

import numpy as np
import pytest

from editions.live import scripts

RUN = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(([name, at]) => drawers[name](given[name], at))));
"""


@pytest.fixture(scope="module")
def drawn(needs_program):
    """Pictures by the page's own script for these positions of a panel."""

    def draw(asked):
        here = scripts.drawn_here()
        given = json.dumps({name: one.data for name, one in here.items()}, ensure_ascii=False)
        files = (scripts.HERE / "canvas.js", *(scripts.LESSONS / name / "without_python.js" for name in here))
        parts = [f"const drawers = {{}}, given = {given};", *(file.read_text() for file in files), RUN]
        node = [needs_program("node"), "-e", "\n".join(parts)]
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
    panels = {name: one.panel for name, one in scripts.drawn_here().items()}
    assert list(panels) == ["gradients", "masking"]
    asked = [(name, at) for name, panel in panels.items() for at in positions(panel, rng, 25)]
    for (name, at), here in zip(asked, drawn(asked), strict=True):
        there = panels[name].draw(panels[name].values(at))
        assert here["text"] == there.text, (name, at)
        assert rounded(here["svg"]) == rounded(there.svg), (name, at)


@pytest.mark.parametrize(
    ("lesson", "cell"), [("04_gradients", "explore-way-back"), ("05_masking", "paint-mask")]
)
def test_a_lessons_still_is_of_what_the_panel_begins_with(course, lesson, cell):
    cells = json.loads((course / f"notebooks/{lesson}.ipynb").read_text())["cells"]
    (shown,) = (one for one in cells if one["id"] == cell)
    still = "".join(shown["outputs"][0]["data"]["text/html"])
    key = scripts.drawn_here()[lesson.partition("_")[2]].panel.given()["key"]
    assert f'data-key="{key}"' in still, "the key is made from the picture that it begins with"
