"""The scripts of the panels: their tests in node, and that those joined for a panel are sound."""

import subprocess
from pathlib import Path

import pytest

from sdpa_helpers.lessons.does_scaling_matter import widget as arms
from sdpa_helpers.lessons.dot_product import widget as keys
from sdpa_helpers.lessons.flash_attention import widget as tiles
from sdpa_helpers.lessons.many_machines import widget as devices
from sdpa_helpers.lessons.masking.widget import GRID
from sdpa_helpers.lessons.softmax import widget as temperature
from sdpa_helpers.show import ladder
from sdpa_helpers.show.panels import DRAWN, TOUCH, inlined, module
from sdpa_helpers.show.visualiser import SCRIPTS

TESTS = sorted(Path(__file__).parents[1].rglob("*.test.mjs"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_in_node(needs_program, path):
    ran = subprocess.run([needs_program("node"), "--test", path], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:]
    assert "# pass 0" not in ran.stdout


JOINED = {
    "drawn": (DRAWN,),
    "with a grid": (GRID, DRAWN),
    "ladder": (ladder.SCRIPT,),
    "walk": SCRIPTS,
    "keys": (TOUCH, keys.SCRIPT),
    "temperature": (TOUCH, temperature.SCRIPT),
    "tiles": (TOUCH, tiles.SCRIPT),
    "devices": (TOUCH, devices.SCRIPT),
    "arms": (TOUCH, arms.SCRIPT),
}


@pytest.mark.parametrize("files", JOINED.values(), ids=JOINED)
def test_scripts_joined_for_a_panel_are_sound(needs_program, files, tmp_path):
    """No name is declared twice, and nothing of a page is needed until a panel is mounted."""
    (tmp_path / "module.mjs").write_text(f"globalThis.window = {{}};\n{module(*files)}")
    code = "import('./module.mjs').then(({default: it}) => console.log(Object.keys(it).join()))"
    ran = subprocess.run(
        [needs_program("node"), "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "initialize,render", ran.stderr
    script = inlined("<p>A still.</p>", "", {}, files).split("<script>")[1]
    (tmp_path / "inlined.js").write_text(script.removesuffix("</script>"))
    ran = subprocess.run(
        [needs_program("node"), "--check", "inlined.js"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
