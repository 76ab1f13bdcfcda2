"""`sdpa release`: the student edition. Lessons, exercises, the package, what sets it up; all of it works offline.

The boundary is a folder: of the package everything goes along but classroom/, of the course only what is named here.
What stays behind: solutions/, model answers and rubrics of what is answered in words, tests/ with its submissions,
the gradebook, reports and exports, what makes notebooks. Seeds of hidden cases are in no edition: `sdpa grade` draws
one per run and keeps it in its --out folder. What `check` needs has to go along, the references and wrong answers in
sdpa_helpers/lessons: a learner who looks for them finds them, as `solution(f)` shows them anyway. For marks that
count, grade with `sdpa grade`; its hidden inputs differ from those of `check`, and a solution copied from the package
is flagged when it is imported. An edition for homework has files of `classroom.homework` in the place of some.
"""

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from sdpa_helpers.checking.render import BUTTON
from sdpa_helpers.classroom.homework import Homework
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.lessons.exercise_notebook import KEPT, SHOWN
from sdpa_helpers.lessons.places import course_root
from sdpa_helpers.lessons.registry import LESSONS, exercises_of

FOLDERS = {
    "notebooks": (".ipynb",),
    "exercises": (".ipynb",),
    "sdpa_helpers": (".py", ".js", ".json", ".html", ".css", ".typed"),
    "benchmarks/results": (".csv", ".json", ".png"),
    ".jupyter": (".json",),
}
"""Folders of the course → endings of the files in them that go along; no other file does, whoever laid it there."""

FILES = (
    *("Makefile", "pyproject.toml", "constraints.txt", "environment.yml", ".gitignore"),
    *("LICENSE", "LICENSE-CONTENT", "CITATION.cff", "CHANGELOG.md"),
    *("docs/ledger.md", "docs/ledger.json", "docs/semantic-corners.md"),
    *("docs/cheat-sheet.html", "docs/interview.md", "docs/long-contexts.md"),
)
"""All of these have to be there. README.md is written for learners."""

LEFT_OUT = "classroom"
"""The folder of sdpa_helpers/ that only those who teach need."""


class CannotRelease(Refusal):
    """The edition cannot be written there; its text says why."""


def release(target: Path, graded: Homework | None = None) -> list[str]:
    """Write the student edition into `target`, a new or empty folder; returns what it holds at the top.

    graded: the exercises to which it has no answers; None: `check` and `solution(f)` know all answers.
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
    texts = {"README.md": student_readme(root, graded)}
    if graded:
        files = [name for name in files if name not in graded.left_out]
        lessons = [name for name in files if name.startswith("notebooks/")]
        texts |= {name: without_buttons((root / name).read_text(encoding="utf-8")) for name in lessons}
        texts |= graded.texts | _notebooks_without_solution(root, graded)
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name not in texts:
            shutil.copy(root / name, target / name)
    for name, text in texts.items():
        (target / name).write_text(text, encoding="utf-8")
    return sorted(p.name for p in target.iterdir())


def zip_edition(folder: Path) -> Path:
    """Pack an edition into FOLDER.zip beside it; the same files make the same bytes. CannotRelease if that exists."""
    path = folder.with_name(f"{folder.name}.zip")
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for file in sorted(p for p in folder.rglob("*") if p.is_file()):
                entry = zipfile.ZipInfo(f"{folder.name}/{file.relative_to(folder).as_posix()}", _LONG_AGO)
                entry.external_attr = 0o100644 << 16
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    except FileExistsError:
        raise CannotRelease(f"{path} exists; name a new folder") from None
    return path


_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold: when a file was copied is not part of an edition."""


def _notebooks_without_solution(root: Path, graded: Homework) -> dict[str, str]:
    """The exercise notebooks that speak of `solution(f)`, without that."""
    texts = {}
    for lesson in LESSONS:
        names = [exercise.name for exercise in exercises_of(lesson)]
        if {*names} & {*graded.names}:
            text = (root / "exercises" / f"{lesson}.ipynb").read_text(encoding="utf-8")
            if (shown := SHOWN.format(first=names[0])) not in text:
                raise CannotRelease(f"{lesson}.ipynb is out of date: run `make notebooks` first")
            texts[f"exercises/{lesson}.ipynb"] = text.replace(shown, KEPT)
    return texts


def without_buttons(notebook: str) -> str:
    """A notebook's file without stored cards that have hints and answers behind buttons: their text stays."""
    if BUTTON not in notebook:
        return notebook
    opened = nbformat.reads(notebook, as_version=4)
    for cell in opened.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if BUTTON in data.get("text/html", ""):
                del data["text/html"]
    return nbformat.writes(opened) + "\n"


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


def student_readme(root: Path, graded: Homework | None = None) -> str:
    """The student edition's README: how to start, the lessons by their titles, and what is homework."""
    rows = "\n".join(f"- [{title}](notebooks/{name})" for name, title in _lessons(root))
    homework = _HOMEWORK.format(what=graded.in_words) if graded else ""
    return _README.format(lessons=rows, homework=homework)


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


_HOMEWORK = """
Homework is {what}.

This edition has no answers to it. There `check(f)` says what is right and wrong, case by case, and not why, and
`solution(f)` shows nothing. You are graded with other inputs than those of `check`.
"""
_README = """\
# Scaled dot-product attention: a course that checks itself

## Start

You need Python 3.11 or newer, pip and make.

```sh
make lab     # makes .venv the first time (a minute or two), then opens JupyterLab at the first lesson
```

You work in copies, in the folder `work/`. When you start again with a newer edition, copies that you have not changed
are brought up to date. What you have changed is never overwritten: the new version lies beside it.

Without make, also on Windows (there: `py -3.11 -m venv .venv`, then `.venv\\Scripts\\Activate.ps1`):

```sh
python3 -m venv .venv
. .venv/bin/activate
pip install -c constraints.txt -e ".[lab]"
sdpa lab
```

## The lessons

{lessons}

Each lesson from 01 on has an exercise notebook of the same name in `exercises/`. Write a function, run its cell, run
the check below it. `hint(f)` gives the next hint, `progress()` your points so far. `sdpa reset softmax` gives one
exercise its empty cell back, and keeps your answer in `work/answers-put-aside.md`.
{homework}
Before you hand in, check the file itself, as the grader will read it:

```sh
sdpa check work/exercises/01_dot_product.ipynb
```

(`sdpa` is in `.venv/bin`; activate the environment first.) Hand in the `.ipynb` file under its own name.

Code is under the MIT licence ([LICENSE](LICENSE)), texts and figures are under CC BY 4.0
([LICENSE-CONTENT](LICENSE-CONTENT)). [CHANGELOG.md](CHANGELOG.md) says what is new.
"""
