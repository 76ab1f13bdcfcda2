"""`sdpa release`: the student edition. Lessons, exercises, the package, what sets it up; all of it works offline.

What stays behind: solutions/, model answers and rubrics of what is answered in words, tests/ with its submissions,
the gradebook, reports and exports, what makes notebooks from solutions. Seeds of hidden cases are in no edition:
`sdpa grade` draws one per run and keeps it in its --out folder. What `check` needs has to go along, the references
and wrong answers in sdpa_helpers/lessons: a learner who looks for them finds them, as `solution(f)` shows them
anyway. For marks that count, grade with `sdpa grade`; its hidden inputs differ from those of `check`, and a
solution copied from the package is flagged when it is imported.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat

from sdpa_helpers.lessons.places import course_root

WHOLE = (".jupyter", "notebooks", "exercises", "sdpa_helpers", "benchmarks/results")
FILES = ("pyproject.toml", "environment.yml", ".gitignore", "LICENSE", "docs/ledger.md")
LEFT_OUT = "classroom"
"""The folder of sdpa_helpers/ that only those who teach need: all of it, so that no new file can get out."""

TARGETS = ("help", "lab", "clean")
"""Of the Makefile's targets, those that work without tests and solutions."""

_NEVER = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.pyc", ".DS_Store")


class CannotRelease(Exception):
    """The edition cannot be written there; its text says why."""


def release(target: Path) -> list[str]:
    """Write the student edition into `target`, a new or empty folder; gives what it holds at the top.

    Raises CannotRelease when the folder holds something, or lies inside what is copied.
    """
    root = course_root()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CannotRelease(f"{target} exists and is not empty; name a new folder")
    if any(target.resolve().is_relative_to(root / name) for name in WHOLE):
        raise CannotRelease(f"{target} lies inside what is copied; name a folder elsewhere")
    target.mkdir(parents=True, exist_ok=True)
    for name in WHOLE:
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=_NEVER)
    shutil.rmtree(target / "sdpa_helpers" / LEFT_OUT)
    for name in FILES:
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)
    (target / "Makefile").write_text(student_makefile((root / "Makefile").read_text()))
    (target / "README.md").write_text(student_readme(root))
    _no_solutions(target)
    return sorted(p.name for p in target.iterdir())


def student_makefile(text: str) -> str:
    """The Makefile with the learner's targets only, and without what developers install."""
    blocks = re.split(r"\n{2,}", text.strip())
    kept = []
    for block in blocks:
        names = re.findall(r"^([a-z]+):.*##", block, re.MULTILINE)
        if not names or all(name in TARGETS for name in names):
            kept.append(block)
    text = "\n\n".join(kept) + "\n"
    text = re.sub(r"^\.PHONY:.*$", f".PHONY: {' '.join(TARGETS)}", text, flags=re.MULTILINE)
    text = re.sub(
        r"^#.*`make test`.*$", "# `make lab` is enough. `make help` lists the rest.", text, flags=re.MULTILINE
    )
    text = re.sub(r"^#[^\n]*\nEXTRAS [^\n]*\n", "", text, flags=re.MULTILINE)
    return text.replace('-e ".[$(EXTRAS)]"', "-e .")


def student_readme(root: Path) -> str:
    """The student edition's README: how to start, and the lessons by their titles."""
    rows = "\n".join(f"- [{title}](notebooks/{name})" for name, title in _lessons(root))
    return _README.format(lessons=rows)


def _lessons(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        title = next((c.source for c in cells if c.cell_type == "markdown"), path.stem).split("\n")[0]
        yield path.name, title.lstrip("# ").strip()


def _no_solutions(target: Path) -> None:
    """The last look: no notebook of the edition holds a solution cell."""
    for path in target.rglob("*.ipynb"):
        if "BEGIN SOLUTION" in path.read_text(encoding="utf-8"):
            shutil.rmtree(target)
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
pip install -e .
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
"""
