"""The steps that build the site, each for itself."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from editions.browser.runtime import build_runtime
from editions.front.page import write_front
from editions.lite.build import build_lite
from editions.museum.build import build_museum
from editions.programs import output_of
from editions.search.build import build_search
from editions.site.kept import write_keeper
from editions.site.source import WHOLE, lay_source
from editions.slides.build import build_slides
from editions.try_it.build import build_try
from sdpa_helpers.course.places import course_root

HERE = Path(__file__).parent
SPHINX_SEARCH = ("searchindex.js", "_static/searchtools.js", "_static/language_data.js")
"""What Sphinx writes for its own search, which no page of ours loads."""


class NotBuilt(RuntimeError):
    """Sphinx found a fault; the text says which."""


def build_pages(site: Path) -> None:
    """Everything that Sphinx writes."""
    source = site.with_name(f"{site.name}-source")
    lay_source(source)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(HERE)]
    command += ["-d", str(site.with_name(f"{site.name}-doctrees")), str(source), str(site)]
    places = [str(course_root()), *filter(None, [os.environ.get("PYTHONPATH")])]
    output_of(command, "Sphinx says", NotBuilt, env={**os.environ, "PYTHONPATH": os.pathsep.join(places)})
    for name in SPHINX_SEARCH:
        (site / name).unlink()
    for page in WHOLE:
        shutil.copy(course_root() / page, site / page)
    write_front(site)


STEPS: dict[str, Callable[[Path], object]] = {
    "pages": build_pages,
    "pyodide": lambda site: build_runtime(site / "pyodide"),
    "try": lambda site: build_try(site / "try"),
    "lite": lambda site: build_lite(site / "lite"),
    "mistakes": lambda site: build_museum(site / "mistakes"),
    "slides": lambda site: build_slides(site / "slides"),
    "search": build_search,  # over what the steps before have built
    "keeper": write_keeper,
}
"""In this order; `--only` names some."""
