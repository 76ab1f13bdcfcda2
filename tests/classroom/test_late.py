"""Late files: which counts, what a penalty takes, and what is told."""

import json
import os
from dataclasses import replace

import pytest

from sdpa_helpers.classroom.collect import Late
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.classroom.grade_folder import Batch, grade_folder
from sdpa_helpers.grading.assemble import pristine_text
from sdpa_helpers.grading.grade_one import Settings
from tests.classroom.collected import HOUR, NAME, NOON, found, kinds, put
from tests.handing_in import RIGHT, TOTAL

ANSWERED = '{"cells": [{"cell_type": "code", "source": "# exercise: dot_product\\nx"}]}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("half a fi", "cannot be read as a notebook"),
        ('{"cells": []}', "has no answer in it"),
        (pristine_text(NAME), "has no answer in it"),
        ("[" * 100_000, "cannot be read as a notebook"),
    ],
)
def test_a_file_without_an_answer_hides_no_other(tmp_path, content, says):
    put(tmp_path / "ada" / f"{NAME}.ipynb", NOON - HOUR, content)
    put(tmp_path / "ada" / f"{NAME} (1).ipynb", NOON + HOUR, ANSWERED)
    put(tmp_path / "bob" / f"{NAME}.ipynb", NOON - HOUR, content)
    put(tmp_path / "bob" / f"{NAME} (1).ipynb", NOON - 2 * HOUR, ANSWERED)
    put(tmp_path / "zoe" / f"{NAME}.ipynb", NOON - HOUR, content)
    got, _ = found(tmp_path, deadline=NOON)
    assert [f.file for f in got["ada"].handed_in if f.graded] == [f"ada/{NAME} (1).ipynb"]
    assert kinds(got["ada"]) == ["late", "several-files", "passed-over"]
    assert says in got["ada"].flags[2].message
    assert [f.file for f in got["bob"].handed_in if f.graded] == [f"bob/{NAME} (1).ipynb"]
    assert got["zoe"].path is not None
    ignoring, _ = found(tmp_path, deadline=NOON, late=Late("ignore"))
    assert ignoring["ada"].path is None
    assert f"The file that came in time {says}" in ignoring["ada"].why_missing
    assert (
        "One with answers came at 2026-05-01T13:00:00+00:00, after the deadline"
        in ignoring["ada"].why_missing
    )


def test_late_files_can_be_ignored(tmp_path):
    put(tmp_path / "ada" / f"{NAME}.ipynb", NOON + HOUR, ANSWERED)
    put(tmp_path / "zoe" / f"{NAME}.ipynb", NOON - HOUR, ANSWERED)
    got, _ = found(tmp_path, deadline=NOON, late=Late("ignore"))
    assert got["ada"].path is None
    assert "2026-05-01T13:00:00+00:00; late files are not graded" in got["ada"].why_missing
    assert [(f.graded, f.late) for f in got["ada"].handed_in] == [(False, True)]
    assert got["zoe"].path is not None


@pytest.mark.parametrize(("after", "share"), [(-1, 0), (1, 0.1), (24, 0.1), (24.1, 0.2), (24 * 20, 1.0)])
def test_a_penalty_grows_with_every_started_day(tmp_path, after, share):
    put(tmp_path / "ada" / f"{NAME}.ipynb", NOON + after * HOUR, ANSWERED)
    got, _ = found(tmp_path, deadline=NOON, late=Late("penalty", 0.1))
    assert got["ada"].late_penalty == pytest.approx(share)
    assert kinds(got["ada"]) == (["late"] if share else [])


def test_canvas_alone_says_late_and_that_is_one_day(tmp_path):
    put(tmp_path / f"lovelaceada_LATE_1_12_{NAME}.ipynb")
    got, _ = found(tmp_path, late=Late("penalty", 0.25))
    assert got["lovelaceada_1"].late_penalty == 0.25
    assert (
        "25 % of its points are taken off (1 started day, 0.25 each)" in got["lovelaceada_1"].flags[0].message
    )


def test_the_points_of_a_late_notebook_are_fewer_in_every_table_and_its_page_says_why(tmp_path, hand_in):
    path = hand_in("ada", **RIGHT)
    os.utime(path, (NOON.timestamp() + 90_000,) * 2)
    put(tmp_path / "in" / "bob" / f"{NAME}.ipynb", NOON + HOUR, ANSWERED)
    out = tmp_path / "out"
    batch = Batch(tmp_path / "in", out, deadline=NOON, late=Late("penalty", 0.2))
    summary = grade_folder(batch, Settings("s"), Processes(1))
    assert [(row.student, row.total) for row in summary.rows] == [("ada", round(0.6 * TOTAL, 4)), ("bob", 0)]
    record = json.loads((out / "results" / "ada" / f"{NAME}.json").read_text())
    assert (record["earned"], record["late_penalty"], record["points"]) == (TOTAL, 0.4, round(0.6 * TOTAL, 4))
    page = (out / "feedback" / "ada" / f"{NAME}.html").read_text()
    assert f"Handed in late: 40 % of {TOTAL:g} points are taken off." in page
    assert grade_folder(batch, Settings("s"), Processes(1)).kept == 2
    used = grade_folder(replace(batch, late=Late("ignore")), Settings("s"), Processes(1))
    assert (used.kept, {noted.status for noted in used.submissions}) == (0, {"missing"})
    assert "late files are not graded here" in (out / "feedback" / "ada" / f"{NAME}.html").read_text()
