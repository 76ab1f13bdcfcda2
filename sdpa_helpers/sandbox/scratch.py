"""Temporary folders that know who made them: what a killed grader has left is removed by the next one."""

import contextlib
import itertools
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil

_PREFIX = "sdpa-"


def make(kind: str) -> Path:
    """A new folder, e.g. /tmp/sdpa-run-1234.56789-abcd: process 1234, started at tick 56789."""
    return Path(tempfile.mkdtemp(prefix=_begins(kind)))


def sweep() -> None:
    """Remove the folders of this user's graders that run no more.

    A folder first gets the sweeper's own name: of two that sweep at once one has it, and one that is killed
    while it sweeps leaves it to the next.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*.*-*"):
        try:
            pid, started = map(int, folder.name.split("-")[-2].split("."))
            mine = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
        except (ValueError, IndexError, OSError):
            continue
        if mine and not folder.is_symlink() and _started(pid) != started:
            taken = folder.with_name(f"{_begins('swept')}{secrets.token_hex(4)}")
            with contextlib.suppress(OSError):
                folder.rename(taken)
                remove(taken)


def remove(folder: Path) -> None:
    """Remove a folder, also one whose owner has made parts of it unreadable, or thousands of folders deep.

    What lies in its folders is brought to the top until there is nothing below: no path gets long that way.
    """
    numbers, own = itertools.count(), secrets.token_hex(8)
    with contextlib.suppress(OSError):
        while left := _folders_in(folder):
            for inner in left:
                _empty(inner, lambda: folder / f"{own}-{next(numbers)}")
            if not set(left).isdisjoint(_folders_in(folder)):
                break  # that one cannot be removed
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)


def _folders_in(folder: Path) -> list[Path]:
    """The folders directly in a folder, made readable; links are none."""
    os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    for path in found:
        os.chmod(path, 0o700)
    return found


def _empty(folder: Path, elsewhere: Callable[[], Path]) -> None:
    """Remove a folder and its files; its folders are moved."""
    with contextlib.suppress(OSError):
        for inner in _folders_in(folder):
            os.rename(inner, elsewhere())
        for name in os.listdir(folder):
            os.unlink(folder / name)
        os.rmdir(folder)


def _begins(kind: str) -> str:
    return f"{_PREFIX}{kind}-{os.getpid()}.{_started(os.getpid())}-"


def _started(pid: int) -> int:
    """When a process began: tells it from a later one with its number. -1: it is gone, 0: who knows."""
    try:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return -1
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except psutil.Error:
        return -1
    except OSError:
        return 0  # no /proc: the number alone has to do
