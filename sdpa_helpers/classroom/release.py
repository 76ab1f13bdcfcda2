"""`sdpa release`: the student edition. Lessons, exercises, the package, what sets it up; all of it works offline.

The boundary is a folder: of the package everything goes along but classroom/, of the course only what is named here.
What stays behind: solutions/, model answers and rubrics of what is answered in words, tests/ with its submissions,
the gradebook, reports and exports, what makes notebooks. Seeds of hidden cases are in no edition: `sdpa grade` draws
one per run and keeps it in its --out folder. What `check` needs has to go along, the references and wrong answers in
sdpa_helpers/lessons: a learner who looks for them finds them, as `solution(f)` shows them anyway. For marks that
count, grade with `sdpa grade`; its hidden inputs differ from those of `check`, and a solution copied from the package
is flagged when it is imported.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat

from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.lessons.places import course_root

FOLDERS = {
    "notebooks": (".ipynb",),
    "exercises": (".ipynb",),
    "sdpa_helpers": (".py", ".js", ".html", ".css", ".typed"),
    "benchmarks/results": (".csv", ".json", ".png"),
    ".jupyter": (".json",),
}
"""Folders of the course → endings of the files in them that go along; no other file does, whoever laid it there."""

FILES = (
    *("Makefile", "pyproject.toml", "constraints.txt", "environment.yml", ".gitignore"),
    *("LICENSE", "LICENSE-CONTENT", "CITATION.cff", "CHANGELOG.md", "docs/ledger.md"),
)
"""All of these have to be there. README.md is written for learners."""

LEFT_OUT = "classroom"
"""The folder of sdpa_helpers/ that only those who teach need."""


class CannotRelease(Refusal):
    """The edition cannot be written there; its text says why."""


def release(target: Path) -> list[str]:
    """Write the student edition into `target`, a new or empty folder; returns what it holds at the top.

    Raises CannotRelease when the folder holds something, or lies inside what is copied, or when the course lacks a
    file that has to go along.
    """
    root = course_root()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CannotRelease(f"{target} exists and is not empty; name a new folder")
    if any(target.resolve().is_relative_to(root / name) for name in FOLDERS):
        raise CannotRelease(f"{target} lies inside what is copied; name a folder elsewhere")
    if missing := [name for name in FILES if not (root / name).is_file()]:
        raise CannotRelease(
            f"{root} lacks {', '.join(missing)}, which the edition needs. Nothing was written"
        )
    files = [*FILES, *edition_files(root)]
    _refuse_solutions([root / name for name in files])
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, target / name)
    (target / "README.md").write_text(student_readme(root), encoding="utf-8")
    return sorted(p.name for p in target.iterdir())


def edition_files(root: Path) -> list[str]:
    """What of FOLDERS goes along, as paths from the course's root."""
    found = []
    for folder, endings in FOLDERS.items():
        for path in sorted((root / folder).rglob("*")):
            within = path.relative_to(root / folder).parts
            if path.suffix in endings and path.is_file() and _goes_along(folder, within):
                found.append(path.relative_to(root).as_posix())
    return found


def _goes_along(folder: str, within: tuple[str, ...]) -> bool:
    if folder == "sdpa_helpers" and within[0] == LEFT_OUT:
        return False
    return not any(part.startswith(".") or part == "__pycache__" for part in within)


def student_readme(root: Path) -> str:
    """The student edition's README: how to start, and the lessons by their titles."""
    rows = "\n".join(f"- [{title}](notebooks/{name})" for name, title in _lessons(root))
    return _README.format(lessons=rows)


def _lessons(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        title = next((c.source for c in cells if c.cell_type == "markdown"), path.stem).split("\n")[0]
        yield path.name, title.lstrip("# ").strip()


def _refuse_solutions(paths: list[Path]) -> None:
    """The last look: no notebook of the edition holds a solution cell."""
    for path in paths:
        if path.suffix == ".ipynb" and "BEGIN SOLUTION" in path.read_text(encoding="utf-8"):
            raise CannotRelease(
                f"{path.name} holds a solution: run `make notebooks` first. Nothing was written"
            )


_README = """\
# Scaled dot-product attention: a course that checks itself

## Start

You need Python 3.11 or newer, pip and make.

```sh
make lab     # makes .venv the first time (a minute or two), then opens JupyterLab at the first notebook
```

Without make, also on Windows (there: `py -3.11 -m venv .venv`, then `.venv\\Scripts\\Activate.ps1`):

```sh
python3 -m venv .venv
. .venv/bin/activate
pip install -c constraints.txt -e ".[lab]"
jupyter lab notebooks/00_start_here.ipynb
```

## The lessons

{lessons}

Each lesson from 01 on has an exercise notebook of the same name in `exercises/`. Write a function, run its cell, run
the check below it. `hint(f)` gives the next hint, `progress()` your points so far.

Before you hand in, check the file itself, as the grader will read it:

```sh
sdpa check exercises/01_dot_product.ipynb
```

(`sdpa` is in `.venv/bin`; activate the environment first.) Hand in the `.ipynb` file under its own name.

Code is under the MIT licence ([LICENSE](LICENSE)), texts and figures are under CC BY 4.0
([LICENSE-CONTENT](LICENSE-CONTENT)). [CHANGELOG.md](CHANGELOG.md) says what is new.
"""
