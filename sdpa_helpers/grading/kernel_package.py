"""The course's package as a submission's kernel sees it: names that do nothing, and nothing that could answer.

Reference answers, wrong answers, hidden cases and the attention functions stay out of it, so that importing them
there fails, however the import is written. An exercise that allows the course's softmax gets it by a cell (`assemble`).
"""

from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from sdpa_helpers.checking.answers import carried, made_value, not_there, observe, packed_array, where
from sdpa_helpers.sandbox.installed import top_level_names
from sdpa_helpers.sandbox.visible_files import KernelPackage

_PACKAGE = '''"""The course's package in a graded notebook, where hidden checks follow each answer."""

from sdpa_helpers.checking.answers import not_there


class _Report:
    """What `check` returns here: in a notebook it would be a report, and answers may ask it for one."""

    passed, points, max_points = True, 1.0, 1.0
    cases = mistakes = forbidden = ()

    def __repr__(self):
        return ""

    def _ipython_display_(self):
        pass


def check(*arguments, **options):
    """Does nothing here."""
    return _Report()


hint = progress = solution = ladder = check


def __getattr__(name):
    if name[:2] == "__":
        raise AttributeError(name)
    return not_there.placeholder(f"sdpa_helpers.{name}")


not_there.keep(frozenset(OFFERED))
'''

_ROOM = '"""Only what a graded notebook needs."""\n'
_CHECKS = "from sdpa_helpers.checking.answers.carried import answer\n"


@cache
def kernel_package() -> KernelPackage:
    """The files, and a check to warm up with."""
    offered = sorted(top_level_names(KernelPackage.distributions))
    return KernelPackage(
        files=(
            ("sdpa_helpers/__init__.py", _PACKAGE.replace("OFFERED", repr(offered))),
            ("sdpa_helpers/checking/__init__.py", _ROOM),
            ("sdpa_helpers/checking/answers/__init__.py", _ROOM),
            *((_file(module), _text(module)) for module in _NEXT_TO_LEARNERS),
            ("sdpa_helpers/sandbox/checks.py", _CHECKS),
        ),
        warm_up=_warm_up(),
    )


_NEXT_TO_LEARNERS = (carried, made_value, not_there, observe, packed_array, where)


def _warm_up() -> str:
    """A cell and a hidden check, so that no kernel does first, and slowly, what all have to do."""
    asked = carried.question("same", carried.pack_inputs((np.zeros(2), 1.0)), "twice")
    return f"import numpy as np\n\n\ndef same(x, y):\n    return x + y\n\n\nquestion = {asked!r}\n"


def _file(module: ModuleType) -> str:
    return f"{module.__name__.replace('.', '/')}.py"


def _text(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text(encoding="utf-8")
