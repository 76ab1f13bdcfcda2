"""Ours beside JAX's and Keras's: `jax_and_keras.py`, in a process of its own.

JAX starts threads, and what is forked from a process with threads may wait for ever; the tests of the grader fork.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.nightly  # loading the two takes longer than all of it
def test_in_a_process_without_forks(needs):
    for module in ("torch", "jax", "keras"):
        needs(module)
    settings = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "jax_and_keras.py"],
        env=settings | {"OMP_NUM_THREADS": "1"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 20
