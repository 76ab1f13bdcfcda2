"""MathJax for the site: its scripts and fonts, copied out of the npm packages."""

import shutil
from pathlib import Path

from editions.npm import npm_folder

SCRIPT = "mathjax/tex-chtml.js"
_PARTS = ("tex-chtml.js", "a11y", "input", "output", "sre", "ui", "LICENSE")

SETTINGS = {
    # Relative to the script, so that the site works under any path and without a network.
    "loader": {"paths": {"mathjax-newcm": "[mathjax]/font"}},
    "output": {"fontPath": "[mathjax]/font", "displayOverflow": "scroll"},
    "tex": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]]},
    # What myst-nb marks; all other text of a page is left alone.
    "options": {
        "ignoreHtmlClass": ".*",
        "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area",
    },
}


def copy_mathjax(into: Path) -> None:
    """Copy what the pages load into a folder, `mathjax/` with its font."""
    package = npm_folder() / "mathjax"
    for part in _PARTS:
        source, target = package / part, into / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    font = npm_folder() / "@mathjax" / "mathjax-newcm-font"
    shutil.copytree(font / "chtml", into / "font" / "chtml", dirs_exist_ok=True)
    shutil.copy(font / "chtml.js", into / "font" / "chtml.js")
