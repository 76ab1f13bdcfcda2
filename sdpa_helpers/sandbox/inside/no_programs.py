"""Say what is going on when a notebook tries to start a program: the wall itself is the filter of system calls."""

import sys
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system")
)
SAYS = "a graded notebook cannot start other programs"

_refused = frozenset[str]()


def explain_refusal() -> None:
    """From now on whoever starts a program in Python's usual ways reads why that does not work."""
    global _refused
    _refused = _STARTS
    sys.addaudithook(_refuse)


def are_refused() -> bool:
    """Whether programs cannot be started here."""
    return bool(_refused)


def is_refusal(error: BaseException | None) -> bool:
    """Whether an error says that a program was not started."""
    return isinstance(error, PermissionError) and error.args == (SAYS,)


def _refuse(event: str, _: tuple[Any, ...]) -> None:
    if event in _refused:
        raise PermissionError(SAYS)
