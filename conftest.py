"""Settings for every test, the notebooks' included: no test touches the user's own progress."""

import atexit
import contextlib
import gc
import os
import shutil
import tempfile

import pytest

os.environ["SDPA_HOME"] = tempfile.mkdtemp(prefix="sdpa-progress-")
atexit.register(shutil.rmtree, os.environ["SDPA_HOME"], ignore_errors=True)
# Kernels that nbval starts inherit these: one thread each, so that tests of a small machine do not fight.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

_FIRST = (
    "tests/browser, widgets",
    "tests/browser, the rest",
    "tests/sandbox/test_attacks.py",
    "tests/classroom/test_faults.py",
    "tests/lessons/test_no_mutant_survives.py",
    "tests/sandbox/test_levels.py",
    "tests/classroom/test_executors.py",
    "tests/grading/test_grade_one.py",
    "tests/lessons/test_every_exercise.py",
    "tests/grading/test_three_commands.py",
    "tests/attention/test_triton.py",
    "notebooks/09_many_machines.ipynb",
    "notebooks/10_does_scaling_matter.ipynb",
    "notebooks/07_flash_attention.ipynb",
    "notebooks/06_complexity.ipynb",
    "tests/attention/test_jax_and_keras.py",
    "tests/classroom/test_release.py",
    "tests/classroom/test_postgres.py",
    "tests/classroom/test_exports.py",
    "tests/corpus/test_corpus_is_judged_and_named.py",
    "tests/grading/test_ways_around.py",
    "notebooks/04_gradients.ipynb",
    "notebooks/08_heads_and_variants.ipynb",
    "tests/lessons/test_mistakes_of_03_and_04.py",
    "tests/lessons/test_many_machines.py",
    "tests/lessons/test_ledger.py",
    "tests/lessons/test_mistakes_in_pairs.py",
    "notebooks/02_variance_proof.ipynb",
)
"""What takes longest, so that no worker begins with it when the others are done. Of one file, the order is its own."""


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


def pytest_collection_modifyitems(items):
    """Long parts first: `make test` hands them to its workers in this order."""
    ranks = {name: rank for rank, name in enumerate(_FIRST)}
    items.sort(key=lambda item: ranks.get(_part(item.nodeid), len(ranks)))


def pytest_collection_finish():
    """Thousands of tests and all they import stay to the end: who collects garbage need not look at them again.

    A worker stood still for two seconds at a time over it, half a minute in all.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_TRAINED = {"notebooks/04_gradients.ipynb", "notebooks/10_does_scaling_matter.ipynb"}
"""The lessons that train. Their kernels run as on a processor of 2008: what they store must not depend on ours."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """nbval starts a notebook's kernel when it sets up the first of its cells."""
    if item.nodeid.split("::")[0] not in _TRAINED:
        return (yield)
    from sdpa_helpers.classroom.processors import NEHALEM, as_if_on, flags

    with as_if_on(NEHALEM) if flags() >= NEHALEM.needs else contextlib.nullcontext():
        return (yield)
