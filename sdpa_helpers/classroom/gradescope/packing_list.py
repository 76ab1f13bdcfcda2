"""`sdpa gradescope`: the zip that an instructor gives to Gradescope as a programming assignment's autograder.

Gradescope unpacks it to /autograder/source, runs setup.sh once, and run_autograder for each hand-in.
"""

import json
import re
import secrets
import tomllib
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

from sdpa_helpers.classroom.packing import LONG_AGO
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.refusal import Refusal

PROGRAMS = ("setup.sh", "run_autograder")
"""The files of the zip that Gradescope runs."""
SETTINGS, SEED = "settings.json", "seed"
TORCH = "torch"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_HERE = Path(__file__).parent
_GOES_ALONG = (".py", ".md", ".json", ".css", ".js", ".html", ".typed")


class CannotZip(Refusal):
    """The zip cannot be made as it was asked for; the text says what to change."""


@dataclass(frozen=True)
class Assignment:
    """What one Gradescope assignment takes, and how it is graded."""

    notebooks: tuple[str, ...]
    """E.g. ("03_softmax",); others that are handed in are not graded."""
    timeout: float = 60.0
    """Seconds for one notebook, as of `sdpa grade`."""
    mistake_cap: float | None = None
    sandbox: str = "auto"


def write_autograder(path: Path, assignment: Assignment, seed: str = "") -> Path:
    """Write the zip; the same course, assignment and seed make the same bytes.

    seed: hidden inputs are drawn from it; "": a fresh secret.

    Raises:
        CannotZip: a notebook has no exercises here, `path` exists, or the course's folder lacks a file.
    """
    if unknown := [name for name in assignment.notebooks if name not in LESSONS]:
        raise CannotZip(f"there are no exercises of {', '.join(unknown)}; there are: {', '.join(LESSONS)}")
    if not assignment.notebooks:
        raise CannotZip(f"name a notebook, e.g. {LESSONS[0]}")
    files = autograder_files(course_root(), assignment, seed or secrets.token_hex(16))
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(name, LONG_AGO)
                entry.create_system = 3
                entry.external_attr = (0o100755 if name in PROGRAMS else 0o100644) << 16
                archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED)
    except FileExistsError:
        raise CannotZip(f"{path} exists: name another file, or remove it first") from None
    return path


def autograder_files(root: Path, assignment: Assignment, seed: str) -> dict[str, bytes]:
    """What the zip holds, by name."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = {name: (_HERE / name).read_bytes() for name in PROGRAMS}
    files[SETTINGS] = (json.dumps(asdict(assignment), indent=1) + "\n").encode()
    files[SEED] = f"{seed}\n".encode()
    files["constraints.txt"] = (root / "constraints.txt").read_bytes()
    files["requirements.txt"] = ("\n".join(requirements(project)) + "\n").encode()
    for path in sorted((root / "sdpa_helpers").rglob("*")):
        if (path.suffix in _GOES_ALONG and "__pycache__" not in path.parts) or path.name in PROGRAMS:
            files[f"course/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    return files


def requirements(project: dict) -> list[str]:
    """What grading needs, by pyproject.toml's [project]: the extra "grade" with all it names; no answer has torch."""
    extras, own = project["optional-dependencies"], project["name"]
    found, waiting, seen = list(project["dependencies"]), ["grade"], set[str]()
    while waiting:
        extra = waiting.pop()
        seen.add(extra)
        for wanted in extras[extra]:
            if wanted.startswith(f"{own}["):
                named = wanted[len(own) + 1 :].partition("]")[0].split(",")
                waiting += [name for name in named if name not in seen and name != TORCH]
            else:
                found.append(wanted)
    return sorted(set(found), key=_bare)


def _bare(requirement: str) -> str:
    found = _NAME.match(requirement)
    return found[0].lower() if found else requirement
