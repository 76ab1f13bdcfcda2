"""Start JupyterLab with the course's settings and extension, in the lesson that is next."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from sdpa_helpers.desk.course import course_state
from sdpa_helpers.desk.where import FIRST, work_of

FRONT = Path(__file__).parent / "front"
"""Jupyter looks for the front end in its labextensions/."""


def settings(root: Path, outside: Mapping[str, str]) -> dict[str, str]:
    """Environment variables that name the course's settings and front end to Jupyter, before the user's own ones."""
    ours = {"JUPYTER_CONFIG_PATH": root / ".jupyter", "JUPYTER_PATH": FRONT}
    return {
        name: os.pathsep.join(filter(None, [str(place), outside.get(name, "")]))
        for name, place in ours.items()
    }


def lesson_to_open(root: Path) -> Path:
    """The learner's copy of the lesson that is next; the first one for who has not begun, or has solved everything."""
    folder, step = work_of(root) / "notebooks", course_state(root).next
    copy = folder / f"{step.lesson if step else FIRST}.ipynb"
    return copy if copy.is_file() else folder / f"{FIRST}.ipynb"


def command(root: Path, flags: list[str]) -> list[str]:
    """What starts JupyterLab in the course's root. flags: the user's own, which have the last word."""
    lesson = lesson_to_open(root).relative_to(root).as_posix()
    # Jupyter refuses to run as root unless told; in a container one often is.
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        sys.executable, "-m", "jupyter", "lab", f"--LabApp.default_url=/lab/tree/{lesson}",
        f"--ServerApp.root_dir={root}", *as_root, *flags,
    ]  # fmt: skip


def start(root: Path, flags: list[str]) -> NoReturn:
    """Become JupyterLab; Ctrl-C and the exit status are then its own."""
    environment = os.environ | settings(root, os.environ)
    if os.name == "nt":  # there, who becomes another program leaves the terminal
        raise SystemExit(subprocess.call(command(root, flags), env=environment))
    sys.stdout.flush()
    os.execve(sys.executable, command(root, flags), environment)
