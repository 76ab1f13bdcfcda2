"""`sdpa release`: the student edition. Lessons, exercises, the package, what sets it up; all of it works offline.

The boundary is a folder: of the package everything goes along but classroom/ and the pages for teachers, `TO_TEACH`;
of the course only what is named here.
What stays behind: solutions/, model answers and rubrics of what is answered in words, tests/ with its submissions,
the gradebook, reports and exports, what makes notebooks. Seeds of hidden cases are in no edition: `sdpa grade` draws
one per run and keeps it in its --out folder. What `check` needs has to go along, the references and wrong answers in
sdpa_helpers/lessons: a learner who looks for them finds them, as `solution(f)` shows them anyway. For marks that
count, grade with `sdpa grade`: its hidden inputs differ from those of `check`, and the package is not there. An
edition for homework has files of `classroom.homework` in the place of some.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import nbformat

from sdpa_helpers.checking.card.render import BUTTON
from sdpa_helpers.classroom.core_track import beyond_the_core, lessons_of_track
from sdpa_helpers.classroom.homework import Homework
from sdpa_helpers.course.exercise_notebook import KEPT, SHOWN
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.grading.refusal import Refusal

FOLDERS = {
    "notebooks": (".ipynb",),
    "exercises": (".ipynb",),
    "sdpa_helpers": (".py", ".md", ".js", ".json", ".html", ".css", ".typed"),
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
TO_TEACH = ("kit.md", "board.svg", "slides.md")
"""What only those who teach need of a lesson's folder."""


ALL, CORE, SHORT = TRACKS = ("all", "core", "short")
"""Lessons as they are, without the sections that go deeper, or their shorts alone."""


class CannotRelease(Refusal):
    """The edition cannot be written there; its text says why."""


def release(target: Path, graded: Homework | None = None, track: str = ALL) -> list[str]:
    """Write the student edition into `target`, a new or empty folder; returns what it holds at the top.

    graded: the exercises to which it has no answers; None: `check` and `solution(f)` know all answers. track: "all",
    "core" for lessons without the sections that go deeper, "short" for their shorts alone.
    Raises CannotRelease when the folder holds something, or lies inside what is copied, or when the course lacks a
    file that has to go along.
    """
    root = course_root()
    refuse_place(target, root, FOLDERS)
    files = [*present(root, FILES), *edition_files(root)]
    _refuse_solutions([root / name for name in files])
    texts = {} if track == ALL else lessons_of_track(root, track)
    texts |= {"README.md": student_readme(root, graded, track)}
    if graded:
        files = [name for name in files if name not in graded.left_out]
        lessons = [name for name in files if name.startswith("notebooks/")]
        whole = {name: texts.get(name) or (root / name).read_text(encoding="utf-8") for name in lessons}
        texts |= {name: without_buttons(text) for name, text in whole.items()}
        texts |= graded.texts | _notebooks_without_solution(root, graded)
    return write_edition(target, root, files, texts)


def refuse_place(target: Path, root: Path, folders: Iterable[str]) -> None:
    """CannotRelease unless `target` is a new or empty folder that lies in none of these folders of the course."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CannotRelease(f"{target} exists and is not empty; name a new folder")
    if any(target.resolve().is_relative_to(root / name) for name in folders):
        raise CannotRelease(f"{target} lies inside what is copied; name a folder elsewhere")


def present(root: Path, names: Iterable[str]) -> list[str]:
    """These files of the course, all of them; CannotRelease names those that it lacks."""
    listed = list(names)
    if missing := [name for name in listed if not (root / name).is_file()]:
        raise CannotRelease(
            f"{root} lacks {', '.join(missing)}, which the edition needs. Nothing was written"
        )
    return listed


def write_edition(target: Path, root: Path, files: Iterable[str], texts: Mapping[str, str]) -> list[str]:
    """Copy files from the course, but for those whose text is given, and write these; returns what is at the top."""
    for name in {*files, *texts}:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name in texts:
            (target / name).write_bytes(texts[name].encode())
        else:
            shutil.copyfile(root / name, target / name)
    return sorted(p.name for p in target.iterdir())


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


def edition_files(
    root: Path,
    folders: Mapping[str, tuple[str, ...]] = MappingProxyType(FOLDERS),
    left_out: str = LEFT_OUT,
) -> list[str]:
    """What of these folders goes along, as paths from the course's root; of sdpa_helpers/ all but one folder."""
    found = []
    for folder, endings in folders.items():
        for path in sorted((root / folder).rglob("*")):
            within = path.relative_to(root / folder).parts
            if path.suffix in endings and path.is_file() and _goes_along(folder, within, left_out):
                found.append(path.relative_to(root).as_posix())
    return found


def _goes_along(folder: str, within: tuple[str, ...], left_out: str) -> bool:
    if folder == "sdpa_helpers" and left_out and (within[0] == left_out or within[-1] in TO_TEACH):
        return False
    return not any(part.startswith(".") or part == "__pycache__" for part in within)


def student_readme(root: Path, graded: Homework | None = None, track: str = ALL) -> str:
    """The student edition's README: how to start, the lessons by their titles, what is homework, and the track."""
    homework = _HOMEWORK.format(what=graded.in_words) if graded else ""
    told = {ALL: "", SHORT: _SHORT_TRACK, CORE: _CORE_TRACK}[track]
    of_track = told.format(beyond=_beyond(root)) if track == CORE else told
    return _README.format(lessons=list_of_lessons(root), homework=homework, track=of_track)


def list_of_lessons(root: Path) -> str:
    """The lessons by their titles, with links, a line each."""
    return "\n".join(f"- [{title}](notebooks/{name})" for name, title in _lessons(root))


def _beyond(root: Path) -> str:
    named = beyond_the_core(root).items()
    return "; ".join(f"{lesson[:2]}: {', '.join(f'`{name}`' for name in names)}" for lesson, names in named)


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


_CORE_TRACK = """
This edition has the short and the long way of each lesson, ten minutes and half an hour at most. Sections keep the
numbers that they have in the full course, so some numbers are missing. The exercises are all there. These go beyond
the long way, and their prompts say all that they need: {beyond}.
"""
_SHORT_TRACK = """
This edition has the short of each lesson: a screen with a question, something to drag and a few lines of your own, ten
minutes at most. The exercises are all there, and their prompts say all that they need.
"""
_HOMEWORK = """
Homework is {what}.

This edition has no answers to it. There `check(f)` says what is right and wrong, case by case, and not why, and
`solution(f)` shows nothing. You are graded with other inputs than those of `check`.
"""
_README = Path(__file__).with_name("student_readme.md").read_text(encoding="utf-8")
