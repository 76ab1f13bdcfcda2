"""The package as a submission's kernel sees it: the public attention functions, and no exercise definitions.

Reference answers, wrong answers and hidden cases stay out of it, so importing them there fails.
"""

import shutil
from pathlib import Path

_SESSION = '''"""In a graded notebook these do nothing: the hidden checks follow each answer."""


def check(*arguments, **options):
    """Does nothing here."""


hint = solution = progress = check
'''


def stage(folder: Path) -> Path:
    """Write the kernel's edition of the package below `folder`; put `folder` on the kernel's PYTHONPATH."""
    package = Path(__file__).parents[1]
    target = folder / "sdpa_helpers"
    (target / "exercises").mkdir(parents=True)
    shutil.copy(package / "__init__.py", target / "__init__.py")
    shutil.copytree(package / "attention", target / "attention", ignore=shutil.ignore_patterns("__pycache__"))
    (target / "exercises" / "__init__.py").write_text('"""Only what a graded notebook needs."""\n')
    shutil.copy(package / "exercises" / "probe.py", target / "exercises" / "probe.py")
    (target / "exercises" / "session.py").write_text(_SESSION)
    return folder
