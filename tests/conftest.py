"""What tests of every part share."""

import importlib.util
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import nbformat
import pytest
import typer.testing

from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.grading.assemble import exercise_of

REQUIRE_ALL = bool(os.environ.get("SDPA_REQUIRE_ALL"))
"""Set by continuous integration: what is not installed is then a failure, not a skip."""

# What the command line is, is made of a hundred signatures, each time that a test calls it: once is enough.
typer.testing._get_command = cache(typer.testing._get_command)


def absent(what: str) -> None:
    """Skip the test by name, or fail it under SDPA_REQUIRE_ALL."""
    if REQUIRE_ALL:
        pytest.fail(f"{what} is not installed, and SDPA_REQUIRE_ALL is set")
    pytest.skip(f"not installed: {what}")


@pytest.fixture(scope="session")
def needs():
    """`needs("torch")` skips the test by name, or fails it under SDPA_REQUIRE_ALL, when a module is absent."""

    def check(module: str) -> None:
        if importlib.util.find_spec(module) is None:
            absent(module)

    return check


@pytest.fixture(scope="session")
def needs_program():
    """The same for a program on the PATH; gives its path."""

    def check(*names: str) -> str:
        for name in names:
            if found := shutil.which(name):
                return found
        absent(" or ".join(names))
        raise AssertionError("unreachable")

    return check


@pytest.fixture(scope="session")
def browser(needs, needs_program):
    """Headless Chromium, one for all tests of a process: Playwright runs once in it. Else they are skipped by name."""
    needs("playwright")
    from editions.programs import CHROMIUM
    from tests.browser.harness import chromium

    with chromium(needs_program(*CHROMIUM)) as opened:
        yield opened


@pytest.fixture(scope="session")
def in_a_thread():
    """`in_a_thread(f, x)` is f(x), called where no browser of ours is: for what starts its own by Playwright."""

    def call(function, *arguments):
        with ThreadPoolExecutor(1) as aside:
            return aside.submit(function, *arguments).result()

    return call


@pytest.fixture(scope="session")
def course() -> Path:
    """The repository's root."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def pristine():
    return exercise_notebook("01_dot_product")


@pytest.fixture
def hand_in(pristine, tmp_path):
    """hand_in("ada", dot_product="def …") writes tmp_path/in/ada/01_dot_product.ipynb and gives its path."""

    def write(student: str, **answers: str) -> Path:
        notebook = nbformat.from_dict(pristine)
        for cell in notebook.cells:
            name = exercise_of(cell)
            if name in answers:
                cell.source = f"# exercise: {name}\n{answers[name]}"
        path = tmp_path / "in" / student / "01_dot_product.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return path

    return write
