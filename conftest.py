"""Settings for every test, the notebooks' included: no test touches the user's own progress."""

import atexit
import gc
import os
import shutil
import tempfile

os.environ["SDPA_HOME"] = tempfile.mkdtemp(prefix="sdpa-progress-")
atexit.register(shutil.rmtree, os.environ["SDPA_HOME"], ignore_errors=True)
# Kernels that nbval starts inherit these: one thread each, so that tests of a small machine do not fight.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

_FIRST = (
    "tests/sandbox/test_attacks.py",
    "tests/sandbox/test_levels.py",
    "tests/classroom/test_executors.py",
    "tests/grading/test_grade_one.py",
    "tests/classroom/test_faults.py",
    "tests/browser/test_visualiser.py",
    "tests/grading/test_three_commands.py",
    "notebooks/06_complexity.ipynb",
    "tests/attention/test_triton.py",
    "tests/lessons/test_no_mutant_survives.py",
    "tests/lessons/test_every_exercise.py",
    "tests/browser/test_every_widget.py",
    "tests/browser/test_review.py",
    "tests/browser/test_lesson_widgets.py",
    "tests/classroom/test_postgres.py",
    "tests/classroom/test_exports.py",
    "tests/corpus/test_corpus_is_judged_and_named.py",
    "tests/grading/test_ways_around.py",
    "notebooks/04_gradients.ipynb",
    "tests/lessons/test_mistakes_of_03_and_04.py",
    "tests/lessons/test_ledger.py",
    "tests/lessons/test_mistakes_in_pairs.py",
    "notebooks/02_variance_proof.ipynb",
)
"""What takes longest, so that no worker begins with it when the others are done. Of one file, the order is its own."""


def pytest_collection_modifyitems(items):
    """Long files first: `make test` hands files to its workers in this order."""
    ranks = {name: rank for rank, name in enumerate(_FIRST)}
    items.sort(key=lambda item: ranks.get(item.nodeid.split("::")[0], len(ranks)))


def pytest_collection_finish():
    """Thousands of tests and all they import stay to the end: who collects garbage need not look at them again.

    A worker stood still for two seconds at a time over it, half a minute in all.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
