"""Laying copies where something is broken, hostile, ended or started twice: nothing of the learner's is lost."""

import fcntl
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sdpa_helpers.course.places import LAID, course_root
from sdpa_helpers.desk import laying, write
from sdpa_helpers.desk.deciding import Done
from sdpa_helpers.desk.laying import lay, lines_on
from sdpa_helpers.desk.where import DeskProblem

from .course_folder import annotate, done, edit, everything, make_course, new_version, sources

LESSON = "notebooks/03_softmax.ipynb"


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", '{"laid": {"a": 3}, "offered": {}}', '{"laid": []}', "\x00"]
)
def test_without_a_record_every_notebook_is_the_learners(root, text):
    annotate(root / "work" / LESSON)
    before = (root / "work" / LESSON).read_bytes()
    (root / "work" / LAID).unlink()
    if text is not None:
        (root / "work" / LAID).write_text(text)
    assert done(lay(root))[LESSON] is Done.BESIDE
    assert (root / "work" / LESSON).read_bytes() == before
    assert done(lay(root))["notebooks/00_start_here.ipynb"] is Done.KEPT
    new_version(root, "notebooks/00_start_here.ipynb")
    assert done(lay(root))["notebooks/00_start_here.ipynb"] is Done.UPDATED  # it was known again


DAMAGES = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": lambda path: path.write_text(""),
    "no notebook": lambda path: path.write_text('{"worksheets": []}'),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "a list": lambda path: path.write_text("[1]"),
    "cells of another kind": lambda path: path.write_text('{"cells": [3]}'),
    "nested without end": lambda path: path.write_text("[" * 100_000),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_read_is_left_alone(root, damage):
    mine = root / "work" / LESSON
    DAMAGES[damage](mine)
    before = mine.read_bytes()
    new_version(root)
    (line,) = lines_on(lay(root))
    assert line == (
        "work/notebooks/03_softmax.ipynb: this cannot be read as a notebook, so it was left alone. "
        "Rename or delete it, and the next start lays a fresh copy."
    )
    assert mine.read_bytes() == before


def test_a_folder_a_link_or_a_pipe_in_the_place_of_a_copy(root):
    names = ["notebooks/00_start_here.ipynb", LESSON, "exercises/03_softmax.ipynb"]
    folder, link, pipe = (root / "work" / name for name in names)
    for path in (folder, link, pipe):
        path.unlink()
    folder.mkdir()
    link.symlink_to(root / "nowhere")
    os.mkfifo(pipe)
    assert [line.split(":")[1].split(",")[0].strip() for line in lines_on(lay(root))] == [
        "this is no file"
    ] * 3
    assert folder.is_dir()
    assert link.is_symlink()


@pytest.mark.parametrize("place", ["work", "work/notebooks", "work/exercises", f"work/{laying.LOCK}"])
@pytest.mark.parametrize("leads", ["out", "to the course's own"])
def test_nothing_is_laid_through_a_link(root, place, leads, tmp_path_factory):
    """Neither out of the course's folder nor, within it, over the course's own notebooks."""
    copies = root / place
    if copies.is_dir():
        shutil.rmtree(copies)
    copies.unlink(missing_ok=True)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    copies.symlink_to(elsewhere if leads == "out" else root / "exercises")
    before = everything(root), everything(elsewhere)
    with pytest.raises(DeskProblem, match="by a link: nothing is written there"):
        lay(root)
    assert (everything(root), everything(elsewhere)) == before


def test_a_course_that_is_reached_by_a_link_is_laid(root, tmp_path_factory):
    way = tmp_path_factory.mktemp("way") / "course"
    way.symlink_to(root)
    (root / "work" / LESSON).unlink()
    assert lines_on(lay(way)) == ["work/: 1 lesson laid out."]


def test_a_damaged_notebook_of_the_course_does_not_keep_the_others_away(root):
    (root / "notebooks/00_start_here.ipynb").write_text("<<<<<<< HEAD")
    new_version(root)
    updated, damaged = lines_on(lay(root))
    assert updated == "work/: 1 lesson updated."
    assert damaged.startswith("work/notebooks/00_start_here.ipynb: the course's own")
    assert sources(root / "work/notebooks/00_start_here.ipynb") == ["# 00 · Start here"]


def test_a_file_in_the_place_of_the_folder_is_refused_with_a_sentence(tmp_path):
    make_course(tmp_path)
    (tmp_path / "work").write_text("mine")
    with pytest.raises(DeskProblem, match="move away what is in its place"):
        lay(tmp_path)
    assert (tmp_path / "work").read_text() == "mine"


def test_no_right_to_write_is_said_in_a_sentence(root, monkeypatch):
    """Tests may run as root, who has every right: so the error is made here."""

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    new_version(root)
    monkeypatch.setattr(laying, "replace_file", refused)
    (line,) = lines_on(lay(root))
    assert line.endswith("there is a new version, and it cannot be written: Permission denied.")
    new_version(root)
    monkeypatch.setattr("sdpa_helpers.desk.record.replace_file", refused)
    with pytest.raises(DeskProblem, match="cannot be written: Permission denied"):
        lay(root)


def test_what_is_saved_while_we_look_is_not_overwritten(root, monkeypatch):
    new_version(root)
    really = laying.write_record

    def save_just_then(*given):
        annotate(root / "work" / LESSON)
        really(*given)

    monkeypatch.setattr(laying, "write_record", save_just_then)
    (line,) = lines_on(lay(root))
    assert "it was being saved" in line
    assert sources(root / "work" / LESSON)[0].endswith("my note")
    monkeypatch.undo()
    (line,) = lines_on(lay(root))  # as it was told to
    assert "has a new version" in line


def test_a_version_that_could_not_be_written_is_offered_again(root, monkeypatch):
    """Also to who changes the old one meanwhile: they never had the new one."""

    def full(place, text):
        raise OSError(28, "No space left on device")

    new_version(root)
    with monkeypatch.context() as patched:
        patched.setattr(laying, "replace_file", full)
        (line,) = lines_on(lay(root))
    assert "cannot be written: No space left on device" in line
    annotate(root / "work" / LESSON)
    assert done(lay(root))[LESSON] is Done.BESIDE


def test_answers_that_were_laid_from_the_courses_own_notebook_are_the_learners(root):
    """Who wrote into exercises/ in an earlier edition has their answers in work/, and may then tidy exercises/ up."""
    place = "exercises/03_softmax.ipynb"
    stubs = (root / place).read_bytes()
    edit(
        root / place,
        lambda cells: cells[1].update(source="# exercise: softmax\ndef softmax(x):\n    return x"),
    )
    assert done(lay(root))[place] is Done.UPDATED
    (root / place).write_bytes(stubs)
    assert done(lay(root))[place] is Done.BESIDE
    assert sources(root / "work" / place)[1].endswith("return x")


def test_a_folder_without_locks_is_laid_all_the_same(tmp_path, monkeypatch):
    def none(*given):
        raise OSError(37, "No locks available")

    make_course(tmp_path)
    monkeypatch.setattr(fcntl, "flock", none)
    assert lines_on(lay(tmp_path)) == ["work/: 2 lessons and 1 exercise notebook laid out."]


class Killed(BaseException):
    """Nothing catches it."""


def test_stopped_at_any_moment_nothing_is_lost_and_the_next_start_goes_on(tmp_path, monkeypatch):
    """Every file operation of a start in turn is the last one; also the newest version is not taken for a learner's."""
    operations = [(Path, "write_bytes"), (Path, "replace"), (Path, "unlink")]
    for stop_at in range(40):
        root = make_course(tmp_path / str(stop_at))
        lay(root)
        annotate(root / "work/exercises/03_softmax.ipynb")
        mine = (root / "work/exercises/03_softmax.ipynb").read_bytes()
        new_version(root)
        new_version(root, "exercises/03_softmax.ipynb")
        left = [stop_at]

        def counting(real, left=left):
            def operation(*given, **named):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return real(*given, **named)

            return operation

        with monkeypatch.context() as patched:
            for owner, name in operations:
                patched.setattr(owner, name, counting(getattr(owner, name)))
            try:
                lay(root)
            except Killed:
                ended = False
            else:
                ended = True
        newest = new_version(root, says="The version after that.")
        new_version(root, "exercises/03_softmax.ipynb")
        lay(root)
        assert (root / "work/exercises/03_softmax.ipynb").read_bytes() == mine
        assert sources(root / "work" / LESSON)[-1] == newest, stop_at
        assert (root / "work/exercises/03_softmax.new.ipynb").is_file(), stop_at
        assert not list((root / "work").rglob(f"{write.DRAFT}*"))
        if ended:
            break
    assert ended
    assert stop_at > 6


def _start(root: Path, barrier) -> None:
    barrier.wait()
    lay(root)


def test_starts_at_the_same_time_do_not_disturb_each_other(tmp_path):
    root = make_course(tmp_path)
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(4)
    starts = [fork.Process(target=_start, args=(root, barrier)) for _ in range(4)]
    for start in starts:
        start.start()
    for start in starts:
        start.join(30)
    assert [start.exitcode for start in starts] == [0] * 4
    assert lines_on(lay(root)) == []
    assert not list((root / "work").rglob(f"{write.DRAFT}*"))


def test_a_start_waits_for_another_and_then_says_so(root, monkeypatch):
    monkeypatch.setattr(laying, "PATIENCE", 0.05)
    with (root / "work" / laying.LOCK).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DeskProblem, match="another start of the course is at work"):
            lay(root)


def test_the_learners_copies_are_not_taken_for_the_course(root, monkeypatch):
    """As where the package is installed, and does not lie in the course."""
    monkeypatch.chdir(root / "work/notebooks")
    monkeypatch.setattr(
        "sdpa_helpers.course.places.__file__", str(root / "site/packages/sdpa_helpers/course/places.py")
    )
    assert course_root() == root


def test_laying_needs_neither_torch_nor_matplotlib(root):
    program = (
        "import sys; from pathlib import Path; from sdpa_helpers.desk.laying import lay; "
        f"lay(Path({str(root)!r})); print(sorted({{'torch', 'matplotlib', 'nbformat'}} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
