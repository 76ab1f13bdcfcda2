"""The course's package as a submission's kernel sees it: nothing that could answer an exercise.

Reference answers, wrong answers, hidden cases and the attention functions stay out of it, so that importing them
there fails, however the import is written.
"""

from functools import cache
from pathlib import Path

from sdpa_helpers.checking import observe, where
from sdpa_helpers.sandbox.visible_files import KernelPackage

_PACKAGE = '''"""The course's package in a graded notebook."""

from sdpa_helpers.lessons.session import check, hint, progress, solution


def __getattr__(name):
    raise AttributeError(f"sdpa_helpers.{name} is not there in a graded notebook: write the steps yourself")
'''

_SESSION = '''"""In a graded notebook these do nothing: the hidden checks follow each answer."""


def check(*arguments, **options):
    """Does nothing here."""


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
    """The files, a check to warm up with, and the checkout to hide: it may hold the solutions."""
    checkout = Path(__file__).resolve().parents[2]
    return KernelPackage(
        files=(
            ("sdpa_helpers/__init__.py", _PACKAGE),
            ("sdpa_helpers/checking/__init__.py", _ROOM),
            ("sdpa_helpers/checking/observe.py", Path(observe.__file__).read_text(encoding="utf-8")),
            ("sdpa_helpers/checking/where.py", Path(where.__file__).read_text(encoding="utf-8")),
            ("sdpa_helpers/lessons/__init__.py", _ROOM),
            ("sdpa_helpers/lessons/session.py", _SESSION),
        ),
        warm_up=_WARM_UP,
        hidden=(str(checkout),) if (checkout / "solutions").is_dir() else (),
    )
