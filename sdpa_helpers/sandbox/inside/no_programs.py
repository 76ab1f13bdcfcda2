"""Say what is going on when a notebook tries to start a program: the wall itself is the filter of system calls."""

import sys
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system")
)
_SAYS = "a graded notebook cannot start other programs"


def explain_refusal() -> None:
    """From now on whoever starts a program in Python's usual ways reads why that does not work."""
    sys.addaudithook(_refuse)


def _refuse(event: str, _: tuple[Any, ...]) -> None:
    if event in _STARTS:
        raise PermissionError(_SAYS)
