"""my_attention.py: the learner's own functions in one file, each put in when `check` accepts it.

An answer stands between two lines that we write, in the order of the course, with what it needs of other cells. Only
what is between these lines is ours: it is replaced when a new answer is accepted. Anything else in the file stays.
"""

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course import saved
from sdpa_helpers.course.answer_source import Missing, Statement, gathered, renamed, statements
from sdpa_helpers.course.notebook_cells import Cell, Notebook, this_notebook
from sdpa_helpers.course.places import LAID
from sdpa_helpers.course.registry import all_exercises

FILE = "my_attention.py"
MOST_BYTES = 1 << 20
"""A file that is larger was not written by us."""

HEADER = '''"""My attention: the functions that I wrote in this course.

`check` puts an answer in here when it earns all points, between two lines `# --- … ---`, and replaces it when a
new one is accepted. Whatever stands outside of those lines is yours: it is never touched.
"""
'''
_BEGIN, _END = "# --- {} (lesson {}) ---", "# --- end of {} ---"
_SECTION = re.compile(
    r"^# --- (\w+) \(lesson \d\d\) ---\n(.*?)^# --- end of \1 ---$", re.MULTILINE | re.DOTALL
)
_MARK = re.compile(r"^# --- (\w+ \(lesson \d\d\)|end of \w+) ---$", re.MULTILINE)


class NotPut(Exception):
    """An answer could not be put into the file; its text says why, as part of a sentence."""


@dataclass(frozen=True)
class Section:
    """An answer in the file."""

    name: str
    body: str
    start: int
    """Where it begins in the text, its first line included."""
    end: int


def sections_of(text: str) -> tuple[Section, ...]:
    """The answers in a file, in its order.

    Raises:
        NotPut: one of our lines is missing, or stands there twice.
    """
    found = tuple(Section(m[1], m[2].strip("\n"), m.start(), m.end()) for m in _SECTION.finditer(text))
    names = [section.name for section in found]
    if len(_MARK.findall(text)) != 2 * len(found) or len(set(names)) != len(names):
        raise NotPut(f"a line `# --- … ---` is missing there, or one too many. Repair {FILE} or delete it")
    return found


def code_of(text: str) -> str:
    """The answers alone, without what the learner has added; NotPut as above."""
    return "\n\n\n".join(section.body for section in sections_of(text))


def with_answer(text: str, exercise: Exercise, body: str) -> str:
    """The file's text with an answer: in the place of an older one, else where the course has it; NotPut as above."""
    text = text if text.strip() else HEADER
    section = "\n".join([_BEGIN.format(exercise.name, exercise.lesson[:2]), body, _END.format(exercise.name)])
    found = sections_of(text)
    for old in found:
        if old.name == exercise.name:
            return text[: old.start] + section + text[old.end :]
    order = list(all_exercises())
    for later in found:
        if later.name in order and order.index(later.name) > order.index(exercise.name):
            return text[: later.start] + section + "\n\n\n" + text[later.start :]
    if found:
        at = found[-1].end
        return text[:at] + "\n\n\n" + section + text[at:]
    return text.rstrip("\n") + "\n\n\n" + section + "\n"


def body_for(name: str, needed: tuple[Statement, ...], others: tuple[Section, ...]) -> str:
    """The text of an answer's section. A helper whose name means something else in the file gets another name."""
    taken = {n: s.text for section in others for s in statements(section.body) for n in s.bound}
    names = {n: s.text for s in needed for n in s.bound if n != name}
    clashing = {n for n, text in names.items() if n in all_exercises() or taken.get(n, text) != text}
    body = "\n\n".join(statement.text.strip("\n") for statement in needed)
    return renamed(body, {n: f"{n}_for_{name}" for n in clashing}) if clashing else body


# ---- where the file is -------------------------------------------------------------------------------------


def own_file() -> Path | None:
    """The file of whoever works in this notebook, there or not yet; None in a script, and under nbval."""
    notebook = this_notebook()
    session = notebook.file if notebook else ""
    if not session:
        return None
    for folder in Path(session).absolute().parents:
        if (folder / LAID).is_file():
            return folder / FILE
    return saved.home() / FILE


def read(path: Path) -> str:
    """The file's text, "" where there is none; NotPut when it cannot be read."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NotPut(f"{FILE} is too large")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise NotPut(f"{FILE} cannot be read: {error}") from None


def own_functions() -> tuple[str, ...]:
    """The exercises whose answers are in the file; () where there is none, or it is damaged."""
    path = own_file()
    with contextlib.suppress(NotPut):
        return tuple(section.name for section in sections_of(read(path))) if path else ()
    return ()


def run_within(code: str, space: dict[str, Any]) -> str:
    """Run a file's code in a namespace, within a limit of time; why it stops, or ""."""
    ran = observe_within(lambda: exec(compile(code, FILE, "exec"), space), (), SECONDS)
    if ran.kind == "stopped":
        return f"It was stopped {ran.message}"
    return f"It stops with {ran.error}: {ran.message}" if ran.kind == "error" else ""


SECONDS = 4.0
"""What running the file may take."""


# ---- putting an answer in ----------------------------------------------------------------------------------


def keep_answer(notebook: Notebook, exercise: Exercise, cell: Cell, fails: Callable[[str], str]) -> str:
    """Put an accepted answer into the file; a sentence about it, or "" where nothing has changed.

    fails: says why a text, run by itself, does not answer the exercise; "" when it does.
    """
    path = own_file()
    if path is None or exercise.is_made:
        return ""
    try:
        with saved.alone(saved.home()):
            return _put(path, notebook, exercise, cell, fails)
    except NotPut as why:
        return f"`{exercise.name}` was not put into {FILE}: {why}."
    except OSError as error:
        return f"`{exercise.name}` was not put into {FILE}: {error.strerror or error}."


def _put(path: Path, notebook: Notebook, exercise: Exercise, cell: Cell, fails: Callable[[str], str]) -> str:
    name, before = exercise.name, read(path)
    others = tuple(section for section in sections_of(before) if section.name != name)
    try:
        needed = gathered(notebook, name, cell, {section.name for section in others})
        body = body_for(name, needed, others)
    except Missing as other:
        raise NotPut(f"it calls `{other}`, which is not in there yet. Check that first") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotPut("its cell, or one that it needs, cannot be read as Python alone") from None
    if _MARK.search(body):
        raise NotPut("a line of it looks like those that we write, `# --- … ---`")
    after = with_answer(before, exercise, body)
    if len(after.encode()) > MOST_BYTES:
        raise NotPut("the file would become too large")
    if after == before:
        return ""
    if why := fails(code_of(after)):
        raise NotPut(f"it does not work without the rest of this notebook. {why}")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{FILE}.{os.getpid()}.tmp")
    try:
        draft.write_text(after, encoding="utf-8")
        draft.replace(path)
    finally:  # where the disk is full
        draft.unlink(missing_ok=True)
    known = any(section.name == name for section in sections_of(before))
    return f"your new `{name}` replaces the one in {FILE}." if known else f"your `{name}` is in {FILE} now."
