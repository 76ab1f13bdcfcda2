"""Who handed in what, and when: the names that Canvas, Moodle, Blackboard and people give to files."""

import csv
import json
import os
import shutil
import struct
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath

import nbformat
import pytest

from sdpa_helpers.classroom.collect import find_submissions
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.classroom.grade_folder import Batch, Unusable, grade_folder
from sdpa_helpers.classroom.listing import unpack
from sdpa_helpers.classroom.names import read_name, safe_name
from sdpa_helpers.classroom.worksheet import worksheet_times
from sdpa_helpers.grading.grade_one import Settings, fingerprint, grade
from sdpa_helpers.grading.result import LmsIdentity
from sdpa_helpers.sandbox.limits import Limits
from tests.handing_in import RIGHT, TOTAL

NAME, OTHER = "01_dot_product", "03_softmax"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def put(path: Path, at: datetime | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    if at:
        os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def found(root, deadline=None, times=None, late=None):
    submissions, left_out = find_submissions(root, [NAME, OTHER], deadline, times, late)
    return {(s.student, s.notebook): s for s in submissions}, dict(left_out)


def graded(submission):
    """The name of the file that counts."""
    return next((Path(f.file).name for f in submission.handed_in if f.graded), None)


@pytest.mark.parametrize(
    ("path", "student", "system", "number", "late"),
    [
        (f"ada/{NAME}.ipynb", "ada", "", "", None),
        (f"ada/old/{NAME} (1).ipynb", "ada", "", "", None),
        (f"ada_{NAME}.ipynb", "ada", "", "", None),
        (f"{NAME} - Ada Lovelace.ipynb", "Ada Lovelace", "", "", None),
        (f"{NAME}_ada (2).ipynb", "ada", "", "", None),
        (f"ada_{NAME}-2.ipynb", "ada", "", "", None),
        (f"lovelaceada_12345_67890_{NAME}.ipynb", "lovelaceada_12345", "canvas", "12345", False),
        (f"lovelaceada_LATE_12345_67890_{NAME}-1.ipynb", "lovelaceada_12345", "canvas", "12345", True),
        (f"vandeurselann_marie_12345_67890_{NAME}.ipynb", "vandeurselann_marie_12345", "canvas", "12345", False),
        (f"李小龙_12345_67890_{NAME}.ipynb", "李小龙_12345", "canvas", "12345", False),
        (f"LATE_anon_x7Kq2_67890_{NAME}.ipynb", "anon_x7Kq2", "canvas", "anon_x7Kq2", True),
        (f"anon_x7Kq2_67890_{NAME}.ipynb", "anon_x7Kq2", "canvas", "anon_x7Kq2", False),
        (f"Ada Lovelace_123456_assignsubmission_file_/{NAME}.ipynb", "Ada Lovelace_123456", "moodle", "123456", None),
        (f"Ada Lovelace_123456_assignsubmission_file/a/{NAME}.ipynb", "Ada Lovelace_123456", "moodle", "123456", None),
        (f"Ada Lovelace_123456_assignsubmission_file_{NAME}.ipynb", "Ada Lovelace_123456", "moodle", "123456", None),
        (f"Participant_7_assignsubmission_file_{NAME}.ipynb", "Participant_7", "moodle", "7", None),
        (f"Homework 1_ada1_attempt_2026-05-01-11-30-00_{NAME}.ipynb", "ada1", "blackboard", "ada1", None),
    ],
)  # fmt: skip
def test_names_tell_who(path, student, system, number, late):
    named = read_name(PurePath(path), [NAME, OTHER])
    assert named is not None
    lms = named.sender.lms
    assert (named.sender.student, named.late) == (student, late)
    assert ((lms.system, lms.id) if lms else ("", "")) == (system, number)


@pytest.mark.parametrize(
    "path",
    [f"{NAME}.ipynb", f"{NAME} (1).ipynb", f"Copy of {NAME}.ipynb", f"{NAME}-Copy1.ipynb", "essay.ipynb"],
)
def test_names_that_tell_nobody(path):
    assert read_name(PurePath(path), [NAME, OTHER]) is None


def test_a_file_in_a_students_own_folder_cannot_speak_for_another():
    named = read_name(PurePath(f"eve/lovelaceada_12345_67890_{NAME}.ipynb"), [NAME])
    assert named is not None
    assert named.sender.student == "eve"


@pytest.mark.parametrize("name", ["..", "../../etc", "a/b", "a\0b", "\udcff", "", "x" * 999, "a\nb"])
def test_a_student_is_always_the_name_of_a_folder(tmp_path, name):
    safe = safe_name(name)
    made = tmp_path / safe
    made.mkdir()
    assert made.parent.samefile(tmp_path)
    assert made.name not in ("", ".", "..")
    safe.encode("utf-8")


def test_canvas_download_as_zip_and_unpacked(tmp_path):
    names = [f"lovelaceada_1_10_{NAME}.ipynb", f"lovelaceada_1_12_{NAME}-1.ipynb", f"noethe_LATE_2_11_{NAME}.ipynb",
             "turinga_3_13_essay.pdf"]  # fmt: skip
    folder = tmp_path / "submissions"
    for name in names:
        put(folder / name)
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as file:
        for name in names:
            file.write(folder / name, name)
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    shutil.copytree(folder, tmp_path / "wrapped" / "submissions")
    zipped = unpack(tmp_path / "submissions.zip", unpacked)
    for root in (folder, tmp_path / "wrapped", zipped):
        got, left_out = found(root, deadline=NOON)
        assert set(got) == {("lovelaceada_1", NAME), ("noethe_2", NAME), ("turinga_3", NAME)}
        ada, emmy = got["lovelaceada_1", NAME], got["noethe_2", NAME]
        assert graded(ada) == f"lovelaceada_1_12_{NAME}-1.ipynb"  # the upload with the higher number
        assert ada.lms == LmsIdentity("canvas", "1", "lovelaceada")
        assert [f.kind for f in ada.flags] == ["several-files"]  # the times of a download make nobody late
        assert [f.kind for f in emmy.flags] == ["late"]
        assert got["turinga_3", NAME].path is None
        assert left_out == {}


def test_canvas_late_files_count_only_where_there_is_no_other(tmp_path):
    put(tmp_path / f"lovelaceada_1_10_{NAME}.ipynb")
    put(tmp_path / f"lovelaceada_LATE_1_12_{NAME}-1.ipynb")
    got, _ = found(tmp_path)
    assert got["lovelaceada_1", NAME].path.name == f"lovelaceada_1_10_{NAME}.ipynb"
    assert [(f.graded, f.late) for f in got["lovelaceada_1", NAME].handed_in] == [
        (True, False),
        (False, True),
    ]


def test_capitals_in_a_files_name_do_not_matter(tmp_path):
    shouted = f"{NAME.upper()}.IPYNB"
    for path in (
        f"ada/{shouted}",
        f"emmy/{NAME}.ipynb",
        f"emmy/{shouted}",
        f"Alan_{shouted}",
        f"alan_{NAME}.ipynb",
    ):
        put(tmp_path / "in" / path)
    put(tmp_path / "in" / f"lovelaceada_123_456_{shouted}")
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for path in (tmp_path / "in").rglob("*.*"):
            archive.write(path, path.relative_to(tmp_path / "in"))
    (tmp_path / "out").mkdir()
    for source in (tmp_path / "in", unpack(tmp_path / "in.zip", tmp_path / "out")):
        got, left_out = found(source)
        assert left_out == {}
        people = {student: graded(submission) for (student, _), submission in got.items()}
        (other_alan,) = (name for name in people if name.startswith("alan"))
        assert people == {
            "Alan": f"Alan_{shouted}",
            other_alan: f"alan_{NAME}.ipynb",
            "ada": shouted,
            "emmy": f"{NAME}.ipynb",
            "lovelaceada_123": f"lovelaceada_123_456_{shouted}",
        }
        assert other_alan.casefold() != "alan"


def test_moodle_folders_flat_files_and_online_texts(tmp_path):
    put(tmp_path / "Ada Lovelace_11_assignsubmission_file" / "sub" / f"{NAME}.ipynb")
    put(tmp_path / f"Emmy Noether_12_assignsubmission_file_{NAME}.ipynb")
    put(tmp_path / "Alan Turing_13_assignsubmission_onlinetext" / "onlinetext.html")
    got, left_out = found(tmp_path)
    assert {s for s, _ in got} == {"Ada Lovelace_11", "Emmy Noether_12", "Alan Turing_13"}
    assert got["Alan Turing_13", NAME].path is None
    assert left_out == {}


def test_moodles_worksheet_knows_the_times_that_its_zip_does_not(tmp_path):
    for number, name in ((11, "Ada Lovelace"), (12, "Emmy Noether"), (13, "Alan Turing")):
        put(tmp_path / "zip" / f"{name}_{number}_assignsubmission_file" / f"{NAME}.ipynb")
    header = [
        "Identifier",
        "Full name",
        "Status",
        "Grade",
        "Last modified (submission)",
        "Last modified (grade)",
    ]
    rows = [["Participant 11", "Ada Lovelace", "Submitted for grading - ", "", "Friday, 1 May 2026, 11:59 AM", "-"],
            ["Participant 12", "Emmy Noether", "Submitted for grading - 3 mins 31 secs late - ", "", "-", "-"],
            ["Participant 13", "Alan Turing", "Submitted for grading - ", "", "Friday, May 1, 2026, 12:01 PM", "-"],
            ["Participant 14", "Nobody", "No submission - ", "", "-", "-"]]  # fmt: skip
    with (tmp_path / "grades.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([header, *rows])
    times = worksheet_times(tmp_path / "grades.csv")
    assert set(times) == {"11", "12", "13"}
    deadline = datetime(2026, 5, 1, 12).astimezone()
    got, _ = found(tmp_path / "zip", deadline, times)
    assert {s: [f.kind for f in got[s, NAME].flags] for s, _ in got} == {
        "Ada Lovelace_11": [], "Emmy Noether_12": ["late"], "Alan Turing_13": ["late"]}  # fmt: skip


def test_the_newest_before_the_deadline_counts_and_all_are_kept(tmp_path):
    hour = timedelta(hours=1)
    put(tmp_path / "ada" / f"{NAME}.ipynb", NOON - 5 * hour)
    put(tmp_path / "ada" / f"{NAME} (1).ipynb", NOON - hour)
    put(tmp_path / "ada" / f"{NAME} (2).ipynb", NOON + hour)
    put(tmp_path / "bob" / f"{NAME}.ipynb", NOON + hour)
    put(tmp_path / "bob" / f"{NAME} (1).ipynb", NOON + 2 * hour)
    got, _ = found(tmp_path, NOON)
    ada, bob = got["ada", NAME], got["bob", NAME]
    assert ada.path.name == f"{NAME} (1).ipynb"
    assert [(Path(f.file).name, f.graded, f.late) for f in ada.handed_in] == [
        (f"{NAME} (1).ipynb", True, False),
        (f"{NAME} (2).ipynb", False, True),
        (f"{NAME}.ipynb", False, False),
    ]
    assert ada.handed_in[0].time == "2026-05-01T11:00:00+00:00"
    assert [f.kind for f in ada.flags] == ["several-files"]
    assert f"{NAME} (2).ipynb (late)" in ada.flags[0].message
    assert bob.path.name == f"{NAME} (1).ipynb"  # all are late: the newest
    assert [f.kind for f in bob.flags] == ["late", "several-files"]
    without, _ = found(tmp_path)
    assert without["ada", NAME].path.name == f"{NAME} (2).ipynb"
    assert without["ada", NAME].handed_in[0].time == ""  # times differ between copies of a folder


def test_another_deadline_is_another_result(tmp_path):
    put(tmp_path / "ada" / f"{NAME}.ipynb", NOON)
    prints = {
        fingerprint(found(tmp_path, deadline)[0]["ada", NAME], Settings("s"))
        for deadline in (None, NOON + timedelta(1), NOON - timedelta(1))
    }
    assert len(prints) == 3


def test_links_are_not_followed(tmp_path):
    secret = put(tmp_path / "elsewhere" / f"{NAME}.ipynb")
    (tmp_path / "in" / "eve").mkdir(parents=True)
    (tmp_path / "in" / "eve" / f"{NAME}.ipynb").symlink_to(secret)
    put(tmp_path / "in" / "ada" / f"{NAME}.ipynb")
    got, left_out = found(tmp_path / "in")
    assert got["eve", NAME].path is None
    assert list(left_out) == [f"eve/{NAME}.ipynb"]


# ---- zips -------------------------------------------------------------------------------------------------


def test_times_of_a_zips_entries(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        local = zipfile.ZipInfo(f"ada/{NAME}.ipynb", (2026, 5, 1, 11, 30, 0))
        exact = zipfile.ZipInfo(f"bob/{NAME}.ipynb", (1980, 1, 1, 0, 0, 0))
        exact.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(NOON.timestamp()))
        wrong = zipfile.ZipInfo(f"eve/{NAME}.ipynb", (1980, 0, 0, 0, 0, 0))
        for info in (local, exact, wrong):
            file.writestr(info, "{}")
    into = tmp_path / "into"
    into.mkdir()
    listing = unpack(tmp_path / "a.zip", into)
    stamp = {entry.relative.parent.name: entry.time for entry in listing.entries}
    assert stamp["ada"] == datetime(2026, 5, 1, 11, 30).astimezone()
    assert stamp["bob"] == NOON


def test_bombs_and_damage_in_a_zip_cost_one_submission(tmp_path, pristine):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(f"bomb/{NAME}.ipynb", b" " * (40 << 20))
        file.writestr(f"good/{NAME}.ipynb", nbformat.writes(pristine))
        file.writestr(f"torn/{NAME}.ipynb", os.urandom(4000))
    data = bytearray(archive.read_bytes())
    at = data.index(f"torn/{NAME}.ipynb".encode()) + 200
    data[at : at + 50] = bytes(50)
    archive.write_bytes(data)
    into = tmp_path / "into"
    into.mkdir()
    got, _ = found(unpack(archive, into))
    assert got["bomb", NAME].path.stat().st_blocks < 100  # takes no room
    limits = Settings("s", Limits(seconds=15))
    assert grade(got["bomb", NAME], limits).status == "unreadable"
    assert grade(got["torn", NAME], limits).status == "unreadable"
    assert nbformat.read(got["good", NAME].path, as_version=4).cells


# ---- the whole command ------------------------------------------------------------------------------------


def run(source, out, **options):
    settings = Settings("s", Limits(seconds=15))
    return grade_folder(Batch(source, out, **options), settings, Processes(1))


def test_a_canvas_zip_is_graded_and_its_ids_are_kept(tmp_path, hand_in):
    path = hand_in("x", **RIGHT)
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as file:
        file.write(path, f"lovelaceada_LATE_12345_67890_{NAME}-1.ipynb")
        file.writestr(f"noethere_777_67891_{NAME}.ipynb", "{")
    summary = run(tmp_path / "submissions.zip", tmp_path / "out", deadline=NOON)
    assert [(row.student, row.total) for row in summary.rows] == [
        ("lovelaceada_12345", TOTAL),
        ("noethere_777", 0),
    ]
    record = json.loads((tmp_path / "out" / "results" / "lovelaceada_12345" / f"{NAME}.json").read_text())
    assert record["lms"] == {"system": "canvas", "id": "12345", "name": "lovelaceada"}
    assert record["answers"]["best_key"].endswith(RIGHT["best_key"])
    assert [f["kind"] for f in record["flags"]] == ["late"]
    rows = list(csv.DictReader((tmp_path / "out" / "handed_in.csv").open()))
    assert [(r["student"], r["late"], r["graded"]) for r in rows] == [
        ("lovelaceada_12345", "yes", "yes"), ("noethere_777", "no", "yes")]  # fmt: skip
    assert (tmp_path / "out" / "class.html").is_file()
    assert (tmp_path / "out" / "similar.html").is_file()
    again = run(tmp_path / "submissions.zip", tmp_path / "out", deadline=NOON)
    assert again.kept == 2


def test_a_roster_that_cannot_be_read_is_refused(tmp_path):
    put(tmp_path / "in" / "ada" / f"{NAME}.ipynb")
    with pytest.raises(Unusable, match="roster"):
        run(tmp_path / "in", tmp_path / "out", roster=tmp_path / "absent.csv")
