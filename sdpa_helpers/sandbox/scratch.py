"""Temporary folders that know who made them: what a killed grader has left is removed by the next one."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import psutil

_PREFIX = "sdpa-"


def make(kind: str) -> Path:
    """A new folder, e.g. /tmp/sdpa-run-1234.56789-abcd: process 1234, started at tick 56789."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-{os.getpid()}.{_started(os.getpid())}-"))


def sweep() -> None:
    """Remove the folders of this user's graders that run no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*.*-*"):
        try:
            pid, started = map(int, folder.name.split("-")[-2].split("."))
            mine = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
        except (ValueError, IndexError, OSError):
            continue
        if mine and not folder.is_symlink() and _started(pid) != started:
            remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, also one whose owner has made parts of it unreadable."""
    for home, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(home, name)
            with contextlib.suppress(OSError):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


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
