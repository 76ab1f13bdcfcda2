"""The steps that build the site, each for itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from editions.front.page import write_front
from editions.site.source import WHOLE, lay_source
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
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotBuilt(f"Sphinx says:\n{done.stderr[-4000:]}")
    for name in SPHINX_SEARCH:
        (site / name).unlink()
    for page in WHOLE:
        shutil.copy(course_root() / page, site / page)
    write_front(site)


def build_pyodide(site: Path) -> None:
    """Python for the browser, which JupyterLite and the light pages share."""
    from editions.browser.runtime import build_runtime

    build_runtime(site / "pyodide")


def build_lite(site: Path) -> None:
    """JupyterLite with the lessons and the exercises."""
    from editions.lite.build import build_lite as build

    build(site / "lite")


def build_try(site: Path) -> None:
    """A light page for each exercise."""
    from editions.try_it.build import build_try as build

    build(site / "try")


def build_museum(site: Path) -> None:
    """Every known mistake, with an address."""
    from editions.museum.build import build_museum as build

    build(site / "mistakes")


def build_slides(site: Path) -> None:
    """Slides of each lesson."""
    from editions.slides.build import build_slides as build

    build(site / "slides")


def build_search(site: Path) -> None:
    """The index of the search, over what the other steps have built."""
    from editions.search.build import build_search as build

    build(site)


def build_keeper(site: Path) -> None:
    """The list of all that the other steps have built, by which a browser keeps it for when there is no network."""
    from editions.site.kept import write_keeper

    write_keeper(site)


STEPS: dict[str, Callable[[Path], None]] = {
    "pages": build_pages,
    "pyodide": build_pyodide,
    "try": build_try,
    "lite": build_lite,
    "mistakes": build_museum,
    "slides": build_slides,
    "search": build_search,
    "keeper": build_keeper,
}
"""In this order; `--only` names some."""
