"""Give an exercise its stub back, and keep the answer that stood there: nothing that a learner wrote is ever lost."""

import difflib
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.code.answer_cells import answered_in
from sdpa_helpers.checking.kinds.written_exercise import LINE
from sdpa_helpers.desk.copy_text import as_saved
from sdpa_helpers.desk.outline import text_of
from sdpa_helpers.desk.where import DeskProblem, notebooks_in, refuse_links, work_of
from sdpa_helpers.desk.write import replace_file

KEPT_IN = "answers-put-aside.md"
_HEAD = """\
# Answers put aside

Each time you reset an exercise, the answer that stood there is kept here, the newest last.
"""


@dataclass(frozen=True)
class Reset:
    """An exercise that was given back. This is what the front end gets."""

    source: str
    """The stub, for its answer cell."""
    kept: str | None
    """The file that has the old answer now, from the course's root; None when there was only the stub."""
    notebook: str
    """The learner's exercise notebook, from the course's root."""


@dataclass(frozen=True)
class CellAnswer:
    """What stood in an answer cell."""

    text: str
    pictures: tuple[tuple[str, str, str], ...] = ()
    """Those that were pasted into words: name, MIME type, base64."""


@dataclass(frozen=True)
class Stub:
    """An exercise as it is handed out."""

    notebook: str
    """Its exercise notebook, e.g. "03_softmax.ipynb"."""
    cell: dict[str, Any]
    """The answer cell."""
    following: str
    """The id of the cell below it."""


def stub_of(root: Path, exercise: str) -> Stub:
    """The stub of an exercise; DeskProblem names near ones."""
    known, damaged = {}, []
    for path in notebooks_in(root, "exercises"):
        try:
            cells = _notebook(path)["cells"]
        except DeskProblem as problem:
            damaged.append(problem)
            continue
        for cell, following in zip(cells, [*cells[1:], {}], strict=True):
            for name in _answered(cell):
                known[name] = Stub(path.name, cell, following.get("id", ""))
    if exercise not in known:
        if damaged:
            raise damaged[0]
        near = difflib.get_close_matches(exercise, known, n=3)
        others = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
        raise DeskProblem(f"there is no exercise called {exercise!r}; {others}")
    return known[exercise]


def put_aside(root: Path, exercise: str, answer: str | None) -> Reset:
    """Keep an answer, and give back the stub for it. No notebook is written.

    answer: the cell as it stands in the browser; None: as it stands in the saved file.
    """
    stub = stub_of(root, exercise)
    answers = _saved_answers(root, stub, exercise) if answer is None else [CellAnswer(answer)]
    return _kept(root, exercise, stub, answers)


def reset_saved(root: Path, exercise: str) -> Reset:
    """Put the stub into the saved exercise notebook, and keep what stood there. A cell that was deleted is added.

    Call it only when no browser has the notebook open: what is unsaved there would not be kept.
    """
    stub = stub_of(root, exercise)
    place = work_of(root) / "exercises" / stub.notebook
    refuse_links(root, place)
    notebook = _notebook(place)
    cells = notebook["cells"]
    at = [number for number, cell in enumerate(cells) if exercise in _answered(cell)]
    reset = _kept(root, exercise, stub, [_answer(cells[number]) for number in at])
    ids = [cell.get("id") for number, cell in enumerate(cells) if number not in at]
    fresh = _stub_cell(stub, ids, notebook.get("nbformat_minor"))
    if at:
        cells[at[0]] = fresh
        notebook["cells"] = [cell for number, cell in enumerate(cells) if number not in at[1:]]
    else:
        cells.insert(ids.index(stub.following) if stub.following in ids else len(cells), fresh)
    try:
        replace_file(place, as_saved(notebook))
    except OSError as error:
        raise DeskProblem(
            f"{place} cannot be written, so it stays as it is: {error.strerror or error}"
        ) from error
    return reset


def _stub_cell(stub: Stub, ids: list[Any], minor: Any) -> dict[str, Any]:
    """The answer cell for a notebook whose other cells have these ids; formats before 4.5 have none."""
    cell = dict(stub.cell)
    if isinstance(minor, int) and minor < 5:
        cell.pop("id", None)
    elif cell.get("id") in ids:
        cell["id"] = uuid.uuid4().hex[:8]
    return cell


def _kept(root: Path, exercise: str, stub: Stub, answers: list[CellAnswer]) -> Reset:
    work, source = work_of(root), text_of(stub.cell)
    names = {name for answer in answers for name in answered_in(answer.text)}
    if others := ", ".join(sorted(names - {exercise})):
        raise DeskProblem(
            f"the cell of {exercise} answers {others} too, so it stays as it is: give each a cell of its own first"
        )
    written = [answer for answer in answers if answer.text.strip() != source.strip()]
    refuse_links(root, work / KEPT_IN)
    for answer in written:
        _append(work / KEPT_IN, exercise, answer)
    kept = f"{work.name}/{KEPT_IN}" if written else None
    return Reset(source, kept, f"{work.name}/exercises/{stub.notebook}")


def _append(place: Path, exercise: str, answer: CellAnswer) -> None:
    fence, text = "```", answer.text
    while fence in text:
        fence += "`"
    kind = "markdown" if text.startswith("<!--") else "python"
    pictures = "".join(f"\n![{name}](data:{mime};base64,{data})\n" for name, mime, data in answer.pictures)
    when = datetime.now().strftime("%Y-%m-%d %H:%M")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8") as file:
            head = "" if file.tell() else _HEAD
            file.write(f"{head}\n## {exercise}, {when}\n\n{fence}{kind}\n{text}\n{fence}\n{pictures}")
            file.flush()
            os.fsync(file.fileno())
    except (OSError, UnicodeEncodeError) as error:
        raise DeskProblem(
            f"your answer cannot be kept in {place} ({error}), so it stays where it is"
        ) from error


def _saved_answers(root: Path, stub: Stub, exercise: str) -> list[CellAnswer]:
    cells = _notebook(work_of(root) / "exercises" / stub.notebook)["cells"]
    return [_answer(cell) for cell in cells if exercise in _answered(cell)]


def _notebook(place: Path) -> dict[str, Any]:
    try:
        notebook = json.loads(place.read_text(encoding="utf-8"))
        _ = [_answered(cell) for cell in notebook["cells"]]
    except FileNotFoundError:
        raise DeskProblem(f"there is no {place}: `sdpa lab` lays it") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DeskProblem(f"{place} cannot be read as a notebook, so it was left alone: {error}") from error
    return notebook


def _answer(cell: dict[str, Any]) -> CellAnswer:
    pasted = cell.get("attachments", {}).items()
    return CellAnswer(
        text_of(cell),
        tuple((name, mime, "".join(data)) for name, kinds in pasted for mime, data in kinds.items()),
    )


def _answered(cell: dict[str, Any]) -> list[str]:
    """The exercises that a cell answers, in code or in words."""
    return list(_names_in(cell["cell_type"], text_of(cell)))


def _names_in(kind: str, source: str) -> Iterator[str]:
    if kind == "code":
        yield from answered_in(source)
    elif kind == "markdown":
        before, after = LINE.split("{name}")
        first = source.lstrip().partition("\n")[0].strip()
        if first.startswith(before) and first.endswith(after):
            yield first[len(before) : -len(after)].strip()
