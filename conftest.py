"""Settings for every test, the notebooks' included: no test touches the user's own progress."""

import atexit
import contextlib
import gc
import os
import shutil
import tempfile
from collections import Counter
from unittest import mock

import pytest
from threadpoolctl import threadpool_limits

_HOME = os.environ["SDPA_HOME"] = tempfile.mkdtemp(prefix="sdpa-progress-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
# Kernels that nbval starts inherit these: one thread each, so that tests of a small machine do not fight.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
# And this process: a plugin loads NumPy before. On matrices this small BLAS's threads wait for one another, and
# burn a core each doing so; beside other workers, twenty times what the product takes.
_ONE = threadpool_limits(1, "blas")


@pytest.fixture(scope="module")
def every_core():
    """As many threads of BLAS as there were, for tests of what is shared among them."""
    with threadpool_limits(_ONE.get_original_num_threads()["blas"], "blas"):
        yield


_WIDGETS = ("cards", "every_widget", "ladder", "lesson_widgets", "predict")


def _part(nodeid):
    """What one worker runs together: a file, or half of the tests in the browser, with one JupyterLab and Chromium."""
    file = nodeid.split("::")[0]
    folder, _, name = file.rpartition("/test_")
    if folder != "tests/browser":
        return file
    return "tests/browser, widgets" if name.removesuffix(".py") in _WIDGETS else "tests/browser, the rest"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out parts instead of files."""
    from xdist.scheduler import LoadFileScheduling

    class Parts(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _part(nodeid)

    return Parts(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """While tests are collected nothing becomes garbage: who looked for it took two fifths of the time, per worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


_SECONDS = "sdpa/seconds"
"""Where pytest's cache has how long each part took the last time."""
_took: dict[str, float] = Counter()


def _known(config):
    """Part → seconds, as far as they were kept; without a cache nothing is."""
    if hasattr(config, "workerinput"):
        return config.workerinput["seconds"]
    cache = getattr(config, "cache", None)
    return cache.get(_SECONDS, {}) if cache else {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Every worker has to have the same order, also when another run ends meanwhile."""
    node.workerinput["seconds"] = _known(node.config)


def pytest_collection_modifyitems(config, items):
    """What took longest comes first, so that no worker begins with it when the others are done; of one file, the order
    is its own. What nobody has timed comes before all that.
    """
    known = _known(config)
    items.sort(key=lambda item: -known.get(_part(item.nodeid), float("inf")))


def pytest_runtest_logreport(report):
    """Add up what a part takes."""
    _took[_part(report.nodeid)] += report.duration


def pytest_sessionfinish(session):
    """Keep it for the next time; workers leave that to who has started them."""
    config = session.config
    if getattr(config, "cache", None) and not hasattr(config, "workerinput"):
        config.cache.set(_SECONDS, _known(config) | {part: round(took, 1) for part, took in _took.items()})


def pytest_collection_finish():
    """Thousands of tests and all they import stay to the end: who collects garbage need not look at them again.

    A worker stood still for two seconds at a time over it, half a minute in all. What is garbage already stays too: to
    look for it would take another second, and it is a few megabytes.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_TRAINED = {"notebooks/04_gradients.ipynb", "notebooks/10_does_scaling_matter.ipynb"}
"""The lessons that train. Their kernels run as on a processor of 2008: what they store must not depend on ours."""


def _kernels(file):
    """Kernels of notebooks are forked from a warm one."""
    if not file.endswith(".ipynb"):
        return contextlib.nullcontext()
    from tests.warm_kernels import specification

    return mock.patch("ipykernel.kernelspec.get_kernel_dict", return_value=specification())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """nbval starts a notebook's kernel when it sets up the first of its cells."""
    file = item.nodeid.split("::")[0]
    if file.endswith(
        ".ipynb"
    ):  # as where it was made: cards show what was solved before, in this notebook alone
        os.environ["SDPA_HOME"] = os.path.join(_HOME, file.replace("/", "-"))
    if file not in _TRAINED:
        with _kernels(file):
            return (yield)
    from sdpa_helpers.classroom.processors import NEHALEM, as_if_on, flags

    with as_if_on(NEHALEM) if flags() >= NEHALEM.needs else contextlib.nullcontext():
        return (yield)
