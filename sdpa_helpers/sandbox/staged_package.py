"""The package as a submission's kernel sees it: nothing that could answer an exercise.

Reference answers, wrong answers, hidden cases and the attention functions stay out of it, so that importing them
there fails, however the import is written.
"""

import shutil
from pathlib import Path

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


def stage(folder: Path) -> Path:
    """Write the kernel's edition of the package below `folder`; put `folder` on the kernel's PYTHONPATH."""
    package = Path(__file__).parents[1]
    target = folder / "sdpa_helpers"
    for room in ("checking", "lessons"):
        (target / room).mkdir(parents=True)
        (target / room / "__init__.py").write_text('"""Only what a graded notebook needs."""\n')
    (target / "__init__.py").write_text(_PACKAGE)
    shutil.copy(package / "checking" / "observe.py", target / "checking" / "observe.py")
    (target / "lessons" / "session.py").write_text(_SESSION)
    return folder
