"""The course's package as a submission's kernel sees it: nothing that could answer an exercise.

Reference answers, wrong answers, hidden cases and the attention functions stay out of it, so that importing them
there fails, however the import is written. The softmax is there: some exercises allow it, and its use is noted. What
notes the use of ready-made functions begins when the package is imported, which the first cell does.
"""

import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

from sdpa_helpers.attention import numpy_formula
from sdpa_helpers.checking import made_value, observe, operations, packed_array, watch_use, where
from sdpa_helpers.sandbox.visible_files import KernelPackage

_PACKAGE = '''"""The course's package in a graded notebook."""

from __future__ import annotations

import sys

import numpy as np

from sdpa_helpers.checking import observe, watch_use
from sdpa_helpers.lessons.session import check, hint, progress, solution

ladder = hint


def softmax(x, axis=-1):
    """Turn scores into weights along one axis; a slice that is −∞ throughout gives zeros."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return torch.from_numpy(softmax(x.detach().numpy(), axis))
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        raise TypeError("x must be a NumPy array of floats: np.array(x, dtype=np.float64) makes one")
    working = np.result_type(x.dtype, np.float32)
    return _formula(np.asarray(x, dtype=working), axis).astype(x.dtype, copy=False)


FORMULA


def __getattr__(name):
    raise AttributeError(f"sdpa_helpers.{name} is not there in a graded notebook: write the steps yourself")


if __name__ == "sdpa_helpers":  # not where a test runs this file by itself
    watch_use.keep("sdpa_helpers")
    observe.seal()
    del observe, watch_use
'''

_SESSION = '''"""In a graded notebook these do nothing: the hidden checks follow each answer."""


class Report:
    """What `check` returns here: in a notebook it would be a report, and answers may ask it for one."""

    passed, points, max_points = True, 1.0, 1.0
    cases = mistakes = forbidden = ()

    def __repr__(self):
        return ""

    def _ipython_display_(self):
        pass


def check(*arguments, **options):
    """Does nothing here."""
    return Report()


hint = solution = progress = check
'''

_ROOM = '"""Only what a graded notebook needs."""\n'

_WARM_UP = """
import sdpa_helpers.checking.observe
sdpa_helpers.checking.observe.report(lambda n: n, "", '[{"plain": 1.0}]')
"""
"""A hidden check, so that no kernel does first, and slowly, what all have to do."""


@cache
def kernel_package() -> KernelPackage:
    """The files, and a check to warm up with."""
    return KernelPackage(
        files=(
            ("sdpa_helpers/__init__.py", _PACKAGE.replace("FORMULA", _formula())),
            ("sdpa_helpers/checking/__init__.py", _ROOM),
            *((f"sdpa_helpers/checking/{_name(module)}.py", _text(module)) for module in _NEXT_TO_LEARNERS),
            ("sdpa_helpers/lessons/__init__.py", _ROOM),
            ("sdpa_helpers/lessons/session.py", _SESSION),
        ),
        warm_up=_WARM_UP,
    )


_NEXT_TO_LEARNERS = (made_value, observe, operations, packed_array, watch_use, where)


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _text(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text(encoding="utf-8")


def _formula() -> str:
    """The source of the course's softmax in NumPy, and of nothing else that stands in its file."""
    return inspect.getsource(numpy_formula.softmax).replace("def softmax(", "def _formula(", 1)
