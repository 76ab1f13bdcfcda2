"""Lay the learner's working copies into work/, and bring new versions without touching what a learner wrote.

A copy is the learner's when its cells are none of the versions that were ever laid there. These are written down in
work/.laid.json before they are laid, and files are moved into their place in one step: stopped at any moment, nothing
is lost, and nothing of ours looks like a learner's. First all is looked at and decided, then it is written.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.desk.copy_text import copy_of, fingerprint, has_answers, has_run
from sdpa_helpers.desk.deciding import Copy, CopyStep, Done, Found, Lying, NotOurs, decide
from sdpa_helpers.desk.record import read_record, write_record
from sdpa_helpers.desk.where import FOLDERS, DeskProblem, notebooks_in, refuse_links, work_of
from sdpa_helpers.desk.write import replace_file, sweep

LOCK = ".lock"
PATIENCE = 10.0
"""Seconds to wait for another start that is laying copies, which takes one."""

_NO_NOTEBOOK = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading something else as a notebook raises."""
_DAMAGED = "cannot be read as a notebook. Get it again, for example with `git checkout`"


def lay(root: Path, is_open: frozenset[str] = frozenset()) -> tuple[CopyStep, ...]:
    """Bring work/ up to date; returns what became of each copy.

    is_open: files, from work/, that a running JupyterLab has open: they are not replaced. Raises DeskProblem when
    work/ cannot be written, or a link leads out of it.
    """
    work = work_of(root)
    refuse_links(root, work, *(work / name for name in (*FOLDERS, LOCK)))
    try:
        for folder in FOLDERS:
            (work / folder).mkdir(parents=True, exist_ok=True)
        with _alone(work / LOCK):
            return _lay(root, work, is_open)
    except OSError as error:
        raise DeskProblem(
            f"{work}, the folder of your own copies, cannot be written: {error.strerror or error}. Give yourself the "
            "right to write there, or move away what is in its place"
        ) from error


def _lay(root: Path, work: Path, is_open: frozenset[str]) -> tuple[CopyStep, ...]:
    record = read_record(work)
    seen: dict[str, Lying] = {}
    steps = []
    for path in (path for folder in FOLDERS for path in notebooks_in(root, folder)):
        name = f"{path.parent.name}/{path.name}"
        try:
            copy = _copy(name, copy_of(path, root))
        except _NO_NOTEBOOK:
            steps.append(CopyStep(Copy(name, "", ""), Done.SKIPPED, f"the course's own {path} {_DAMAGED}"))
            continue
        seen |= {name: look(work / name) for name in (copy.name, copy.beside)}
        steps.append(decide(copy, seen[copy.name], seen[copy.beside], record, is_open))
    before = record
    for step in steps:
        lying = seen.get(step.copy.name)
        if step.write:
            record = record.intending(step.write, step.copy.version)
        elif isinstance(lying, Found) and lying.version == step.copy.version:
            record = record.laying(step.copy.name, step.copy.version)
    if record != before:
        write_record(work, record)
    sweep(work, *(work / folder for folder in FOLDERS))
    steps = [_do(work, step, seen) for step in steps]
    before = record
    for step in steps:
        if step.write and step.done is not Done.SKIPPED:
            record = record.laying(step.write, step.copy.version)
    record = record.offering({s.copy.name: s.copy.version for s in steps if s.done is Done.BESIDE})
    if record != before:
        write_record(work, record)
    return tuple(steps)


def _copy(name: str, text: str) -> Copy:
    return Copy(name, text, fingerprint(json.loads(text)))


def look(place: Path) -> Lying:
    """What lies there; None: nothing."""
    again = "Rename or delete it, and the next start lays a fresh copy"
    if place.is_symlink() or (place.exists() and not place.is_file()):
        return NotOurs(f"this is no file, so it was left alone. {again}")
    try:
        data = place.read_bytes()
        notebook = json.loads(data)
        return Found(data, fingerprint(notebook), has_run(notebook), has_answers(notebook))
    except FileNotFoundError:
        return None
    except _NO_NOTEBOOK:
        return NotOurs(f"this cannot be read as a notebook, so it was left alone. {again}")


def _do(work: Path, step: CopyStep, seen: dict[str, Lying]) -> CopyStep:
    """Write and remove what was decided; what fails, or was saved since it was looked at, is left alone."""
    try:
        if step.write:
            lying = seen[step.write]
            if not _is_still(work / step.write, lying):
                return dataclasses.replace(step, done=Done.SKIPPED, why="it was being saved. Start again")
            replace_file(work / step.write, step.copy.text)
        if step.remove and _is_still(work / step.remove, seen[step.remove]):
            (work / step.remove).unlink()
    except OSError as error:
        why = f"there is a new version, and it cannot be written: {error.strerror or error}"
        return dataclasses.replace(step, done=Done.SKIPPED, why=why)
    return step


def _is_still(place: Path, lying: Lying) -> bool:
    if not isinstance(lying, Found):
        return lying is None and not place.exists()
    with contextlib.suppress(OSError):
        return place.read_bytes() == lying.data
    return False


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One start at a time, where the system has locks. They end with their process, however it ends."""
    try:
        import fcntl

        file = lock.open("a")
    except (
        ImportError,
        OSError,
    ):  # Windows; a folder that cannot be written, where there may be nothing to do
        yield
        return
    with file:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:  # a network folder without locks
                break
        else:
            raise DeskProblem(
                f"another start of the course is at work in {lock.parent}: wait for it, then start again"
            )
        yield


# ---- what to say of it --------------------------------------------------------------------------------------


def lines_on(steps: tuple[CopyStep, ...]) -> list[str]:
    """What a learner reads; nothing when nothing was done."""
    of = {done: [step.copy for step in steps if step.done is done] for done in Done}
    said = [f"{count(of[done])} {done.value}" for done in (Done.NEW, Done.UPDATED) if of[done]]
    if changed := of[Done.BESIDE]:
        has, it, delete = ("has", "it lies", "it") if len(changed) == 1 else ("have", "they lie", "them")
        places = ", ".join(copy.beside for copy in changed[:3])
        places += f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        said.append(
            f"you changed {count(changed)} that {has} a new version: {it} beside yours as {places}. Take over what you "
            f"want, then delete {delete}"
        )
    lines = [f"work/: {'; '.join(said)}."] if said else []
    return lines + [f"work/{step.copy.name}: {step.why}." for step in steps if step.done is Done.SKIPPED]


def count(copies: list[Copy]) -> str:
    """E.g. "2 lessons and 1 exercise notebook"."""
    lessons = sum(copy.name.startswith("notebooks/") for copy in copies)
    kinds = (("lesson", lessons), ("exercise notebook", len(copies) - lessons))
    return " and ".join(f"{number} {kind}{'s' if number != 1 else ''}" for kind, number in kinds if number)
