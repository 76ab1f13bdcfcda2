"""One grader at a time in an --out folder, by a lock that ends with its process, however that ends."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.grading.refusal import Refusal


class Taken(Refusal):
    """Another grader works in the folder."""


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock file; raises Taken when another process does. Where a file system has no locks nothing is held."""
    with path.open("a") as file:
        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError):
            raise Taken(
                f"another `sdpa grade` is at work in {path.parent}: wait for it, or name another folder with --out"
            ) from None
        except OSError:
            pass  # some network file systems have no locks
        if hasattr(os, "register_at_fork"):
            # A worker must not hold it for a grader that is gone.
            os.register_at_fork(after_in_child=file.close)
        yield


def _lock(file: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
