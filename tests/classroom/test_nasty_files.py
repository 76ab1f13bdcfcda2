"""One bad file costs itself: names, kinds of files and zips that somebody may hand in, by mistake or on purpose."""

import csv
import json
import os
import socket
import struct
import unicodedata
import warnings
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sdpa_helpers.classroom.collect import RENAMED, Late, find_submissions
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.classroom.grade_folder import Batch, Unusable, grade_folder
from sdpa_helpers.classroom.listing import unpack
from sdpa_helpers.classroom.names import MAX_NAME_BYTES, Sender, apart, safe_name
from sdpa_helpers.grading.assemble import pristine_text
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from tests.handing_in import RIGHT, TOTAL

NAME, OTHER = "01_dot_product", "03_softmax"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

NAMES = [
    "=1+1", "＝1+1", "-rf", "--help", "@SUM(A1)", "+1", "'", '"', "a;b", "a,b", "a b", "%s%n", "$(id)",
    "`id`", "~", "#x", "a&b", "con", "NUL", "aux.txt", "com1", "LPT9", "a:b", "a?b", "a*b", "a<b>", "a|b",
    "a.", "a. ", " a", "a ", "a..", "...", "a\nb", "a\rb", "a\tb", "\x1b[2Jx", "\x07", "\x9b31m", "a\u202eb",
    "a\u200bb", "\ufeffa", "a\u2028b", "\u00a0", "\u3164", "Zo\u00eb", "Zoe\u0308", "Ada", "ada", "ADA",
    "stra\u00dfe", "STRASSE", "\u0130", "i\u0307", "\ufb01", "fi", "\U0001f600" * 30, "李" * 60, "é" * 120,
    "x" * 250, "x" * 120, "x" * 121, "a\u0301" * 80, "İ" * 100, "[bold]x[/]", ":bomb:", "{{x}}", "<b>x</b>",
    "results", "feedback", ".lock", "grades.csv", "_", "__", "_a", "~1", "a\\b", "\\\\server\\x", "C:",
    "a%2Fb", "%00", "\U000e0041x", "null", "None", "nan", "1e9", "true", "0", "-1", "1_2_3", "LATE",
    "anon_x", "1_assignsubmission_file", "a_attempt_b", "Copy of x", os.fsdecode(b"\xff\xfe"),
    os.fsdecode(b"caf\xe9"), "Ada\u00a0B", "a=b", "'; DROP TABLE", "z\u0336" * 50,
]  # fmt: skip
assert len(NAMES) >= 100


def put(path, at=NOON, text="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def found(source, **options):
    submissions, left_out = find_submissions(source, [NAME, OTHER], **options)
    return {s.student: s for s in submissions if s.notebook == NAME}, left_out


def kinds(submission):
    return [flag.kind for flag in submission.flags]


# ---- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, "", "/", "..", "a/b", "\0", "\ud800"])
def test_every_name_becomes_one_that_every_file_system_holds(name):
    safe = safe_name(name)
    assert 0 < len(safe.encode("utf-8")) <= MAX_NAME_BYTES
    assert safe.isprintable()
    assert not set(safe) & set('/\\<>:"|?*\0')
    assert safe == safe.strip().rstrip(".").lstrip(".")
    assert unicodedata.is_normalized("NFC", safe)
    assert safe_name(safe) == safe
    unchanged = unicodedata.normalize("NFC", name.strip())
    assert safe == unchanged or "~" in safe


def test_no_two_share_a_name_however_alike_they_are():
    names = apart(Sender(safe_name(name), None, name) for name in NAMES)
    assert len(names) == len(NAMES)
    folded = {unicodedata.normalize("NFC", name.casefold()) for name in names.values()}
    assert len(folded) == len(NAMES)


def test_who_has_the_name_keeps_it_also_beside_one_who_copies_a_mark():
    ada, twin = Sender(safe_name("Ada"), None, "Ada"), Sender(safe_name("ada"), None, "ada")
    alone = apart([twin, ada])
    assert alone[ada] == "Ada"
    copy = Sender(alone[twin], None, alone[twin])
    beside = apart([twin, ada, copy])
    assert (beside[ada], beside[copy]) == ("Ada", alone[twin])
    assert beside[twin] not in (beside[ada], beside[copy])


# ---- folders ----------------------------------------------------------------------------------------------


def test_a_hundred_nasty_names_and_each_has_a_result(tmp_path):
    """As folders of students."""
    for name in NAMES:
        put(tmp_path / "in" / name / f"{NAME}.ipynb")
    out = tmp_path / "out"
    summary = grade_folder(Batch(tmp_path / "in", out), Settings("s"), Processes(1))
    hidden = [name for name in NAMES if name.startswith(".")]
    folders = {os.path.normpath(name) for name in NAMES} - set(hidden)
    assert len(summary.submissions) == len(folders)
    assert not summary.given_up
    assert len(list((out / "results").glob("*/*.json"))) == len(summary.submissions)
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(summary.submissions)
    assert {name for name, _ in summary.left_out} == {*hidden}
    again = grade_folder(Batch(tmp_path / "in", out), Settings("s"), Processes(1))
    assert again.kept == len(summary.submissions)


def test_twins_are_kept_apart_and_it_is_said(tmp_path):
    for name in ("Ada", "ada", "x" * 250):
        put(tmp_path / name / f"{NAME}.ipynb")
    put(tmp_path / f"Ada_12_77_{NAME}.ipynb")  # Canvas calls her Ada_12
    put(tmp_path / "Ada_12" / f"{NAME}.ipynb")
    got, _ = found(tmp_path)
    assert len(got) == 5
    assert [s for s in got if RENAMED not in kinds(got[s])] == ["Ada", "Ada_12"]
    assert all(s.path is not None for s in got.values())
    assert len({s.path for s in got.values()}) == 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_left_out_by_name_and_nothing_waits_for_a_pipe(tmp_path):
    put(tmp_path / "zoe" / f"{NAME}.ipynb")
    for student in ("pipe", "link", "socket", "folder", "broken"):
        (tmp_path / student).mkdir()
    os.mkfifo(tmp_path / "pipe" / f"{NAME}.ipynb")
    (tmp_path / "link" / f"{NAME}.ipynb").symlink_to(tmp_path / "zoe" / f"{NAME}.ipynb")
    (tmp_path / "broken" / f"{NAME}.ipynb").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        try:
            os.chdir(tmp_path / "socket")  # a socket's path is short
            listener.bind(f"{NAME}.ipynb")
        finally:
            os.chdir(here)
    put(tmp_path / "folder" / f"{NAME}.ipynb" / f"{NAME}.ipynb")
    put(tmp_path / f"{OTHER}.ipynb" / f"{NAME}.ipynb")
    (tmp_path / "linked folder").symlink_to(tmp_path / "zoe")
    (tmp_path / "bob").write_text("a file where a folder should be")
    put(tmp_path / ".hidden" / f"{NAME}.ipynb")
    got, left_out = found(tmp_path)
    assert [s for s in got if got[s].path] == ["zoe"]
    assert set(got) == {"zoe", "pipe", "link", "socket", "folder", "broken", "linked folder"}
    why = dict(left_out)
    assert set(why) == {
        *(f"{s}/{NAME}.ipynb" for s in ("pipe", "link", "socket", "folder", "broken")),
        f"{OTHER}.ipynb", "linked folder", "bob", ".hidden",
    }  # fmt: skip
    assert "pipe" in why[f"pipe/{NAME}.ipynb"]
    assert "link" in why["linked folder"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_says_so(tmp_path):
    put(tmp_path / "ada" / f"{NAME}.ipynb").chmod(0)
    put(tmp_path / "bob" / f"{NAME}.ipynb").parent.chmod(0)
    got, left_out = found(tmp_path)
    (tmp_path / "bob").chmod(0o700)
    assert kinds(got["ada"]) == ["odd-file"]
    assert "cannot be opened" in grade(got["ada"], Settings("s")).reason
    assert left_out == [("bob", "a folder that cannot be opened: Permission denied")]


def test_no_month_13_and_no_endless_number_ends_the_batch(tmp_path):
    put(tmp_path / f"Homework 1_ada_attempt_2026-13-30-15-30-10_{NAME}.ipynb")
    put(tmp_path / f"Homework 1_bob_attempt_0001-01-01-00-00-00_{NAME}.ipynb")
    put(tmp_path / f"Homework 1_eve_attempt_9999-12-31-23-59-59_{NAME}.ipynb")
    put(tmp_path / f"noether_1_{'9' * 200}_{NAME}.ipynb")
    got, left_out = found(tmp_path, deadline=NOON + HOUR)
    assert {"ada", "bob", "eve"} < set(got)
    assert kinds(got["ada"]) == []  # the time of the file itself
    assert (len(got), left_out) == (4, [])


# ---- zips -------------------------------------------------------------------------------------------------


def zipped(tmp_path, entries, **options):
    """A zip of (name, content) pairs, as it is found."""
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "a.zip", "w", **options) as file:
        warnings.simplefilter("ignore")  # doubled names
        for name, content in entries:
            file.writestr(name, content)
    (tmp_path / "into").mkdir()
    return unpack(tmp_path / "a.zip", tmp_path / "into")


def test_nobodys_notebook_is_overwritten_and_what_tries_is_named(tmp_path):
    link = zipfile.ZipInfo(f"link/{NAME}.ipynb")
    link.external_attr = 0o120777 << 16
    listing = zipped(
        tmp_path,
        [
            (f"zoe/{NAME}.ipynb", "hers"),
            (f"eve/../zoe/{NAME}.ipynb", "not hers"),
            (f"./zoe/{NAME}.ipynb", "the same name"),
            (f"/zoe/{NAME}.ipynb", "x"),
            (f"C:/zoe/{NAME}.ipynb", "x"),
            (f"../../zoe/{NAME}.ipynb", "x"),
            (link, "/etc/passwd"),
            ("bob", "a file that is a folder too"),
            (f"bob/{NAME}.ipynb", "his"),
            (f"bob/{NAME}.ipynb/{NAME}.ipynb", "in a file"),
            (f"ada\\{NAME}.ipynb", "a name with a backslash"),
            (f"{'x' * 300}/{NAME}.ipynb", "long"),
            (f"{'d/' * 3000}{NAME}.ipynb", "deep"),
        ],
    )
    assert all(path.parent == tmp_path / "into" for path in (tmp_path / "into").rglob("*"))
    got, left_out = found(listing)
    assert got["zoe"].path.read_text() == "hers"
    assert kinds(got["zoe"]) == ["odd-file"]
    assert got["bob"].path.read_text() == "his"
    assert sorted(got["d"].path.read_text()) == sorted("deep")
    assert [name for name, _ in left_out if "zoe" in name] == [
        f"../../zoe/{NAME}.ipynb", f"/zoe/{NAME}.ipynb", f"C:/zoe/{NAME}.ipynb", f"eve/../zoe/{NAME}.ipynb",
        f"zoe/{NAME}.ipynb"]  # fmt: skip
    assert dict(left_out)[f"zoe/{NAME}.ipynb"] == "the zip has 2 entries of this name: the first is read"
    assert {"bob", f"bob/{NAME}.ipynb/{NAME}.ipynb", f"link/{NAME}.ipynb"} < {name for name, _ in left_out}
    assert all(len(name) < 300 for name, _ in left_out)


def test_a_zip_with_backslashes_alone_is_one_of_folders(tmp_path):
    got, left_out = found(
        zipped(tmp_path, [(f"ada\\{NAME}.ipynb", "{}"), (f"a\\..\\ada\\{NAME}.ipynb", "{}")])
    )
    assert list(got) == ["ada"]
    assert [name for name, _ in left_out] == [f"a/../ada/{NAME}.ipynb"]


def test_a_name_without_end_is_left_out_and_costs_no_time(tmp_path):
    names = [
        part * (60_000 // len(part)) for part in ("-", "1_", "anon_", "LATE_", " ", "a_attempt_", "Copy")
    ]
    listing = zipped(
        tmp_path, [(f"{name}{NAME}.ipynb", "{}") for name in names] + [(f"ada/{NAME}.ipynb", "{}")]
    )
    got, left_out = found(listing)
    assert list(got) == ["ada"]
    assert {why for _, why in left_out} == {"a name of more than 1000 characters"}
    assert len(left_out) == len(names)


@pytest.mark.parametrize("name", [f"{NAME}.ipynb.txt", f"{NAME}.IPYNB.zip", f"{NAME}.ipynb "])
def test_a_notebook_with_another_ending_is_named(tmp_path, name):
    put(tmp_path / "ada" / name)
    put(tmp_path / "bob" / f"{NAME}.ipynb")
    got, left_out = found(tmp_path)
    assert got["ada"].path is None
    assert [file for file, _ in left_out] == [f"ada/{name}"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_bounds_are_not_read(tmp_path, method):
    got, _ = found(zipped(tmp_path, [(f"ada/{NAME}.ipynb", b" " * (3 << 20))], compression=method))
    assert got["ada"].path.stat().st_size < 1000
    assert kinds(got["ada"]) == ["odd-file"]


def test_an_encrypted_or_small_bomb_costs_itself(tmp_path):
    listing = zipped(
        tmp_path,
        [(f"ada/{NAME}.ipynb", "{}"), (f"eve/{NAME}.ipynb", b" " * (30 << 20))],
        compression=zipfile.ZIP_DEFLATED,
    )
    assert sum(path.stat().st_blocks for path in (tmp_path / "into").iterdir()) < 100
    got, _ = found(listing)
    assert (kinds(got["ada"]), kinds(got["eve"])) == ([], ["odd-file"])
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(magic) + offset, 1)
    (tmp_path / "a.zip").write_bytes(data)
    for path in (tmp_path / "into").iterdir():
        path.unlink()
    got, _ = found(unpack(tmp_path / "a.zip", tmp_path / "into"))
    assert got["ada"].flags[0].message == f"{NAME}.ipynb: encrypted in the zip"


@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 99), ("name", b"e\xff\xfe")],
    ids=["a version that nobody knows", "no UTF-8"],
)
def test_one_entry_that_python_refuses_costs_itself(tmp_path, field, value):
    entries = [
        (f"ada/{NAME}.ipynb", "hers"),
        (f"e\u00e9/{NAME}.ipynb", "x"),
        (f"zoe/{NAME}.ipynb", "also hers"),
    ]
    zipped(tmp_path, entries)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    if field == "version":
        struct.pack_into("<H", data, at + 6, value)
    else:
        data[at + 46 : at + 46 + len(value)] = value
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises((UnicodeDecodeError, NotImplementedError)):
        zipfile.ZipFile(tmp_path / "a.zip")
    (tmp_path / "again").mkdir()
    got, _ = found(unpack(tmp_path / "a.zip", tmp_path / "again"))
    assert [s for s in got if s in ("ada", "zoe")] == ["ada", "zoe"]
    assert got["ada"].path.read_text() == "hers"
    assert got["zoe"].path.read_text() == "also hers"
    assert len(got) == 3


def test_thousands_of_entries_are_a_matter_of_seconds(tmp_path):
    entries = [(f"s{n:04}/{NAME}.ipynb", "{}") for n in range(2000)]
    got, left_out = found(zipped(tmp_path, entries + entries[:10]))
    assert (len(got), len(left_out)) == (2000, 10)


# ---- late -------------------------------------------------------------------------------------------------

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


# ---- the command ------------------------------------------------------------------------------------------


def test_a_file_that_is_gone_tells_nothing_of_the_graders_folders(tmp_path):
    result = grade(Submission("ada", NAME, tmp_path / "gone.ipynb"), Settings("s"))
    assert result.status == "unreadable"
    assert str(tmp_path) not in result.reason


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


def test_a_new_folder_is_the_graders_alone_and_its_seed_stays_so(tmp_path):
    put(tmp_path / "in" / "ada" / f"{NAME}.ipynb")
    for out, rights in ((tmp_path / "a" / "out", 0o700), (tmp_path / "open", 0o755)):
        if rights == 0o755:
            out.mkdir(mode=rights)
        grade_folder(Batch(tmp_path / "in", out), Settings(""), Processes(1))
        assert out.stat().st_mode & 0o777 == rights
        (out / "run.json").chmod(0o644)
        grade_folder(Batch(tmp_path / "in", out), Settings(""), Processes(1))
        assert (out / "run.json").stat().st_mode & 0o777 == 0o600


def test_results_among_the_submissions_are_nobodys(tmp_path):
    put(tmp_path / "ada" / f"{NAME}.ipynb")
    for _ in range(2):
        summary = grade_folder(Batch(tmp_path, tmp_path / "grades"), Settings("s"), Processes(1))
        assert [noted.student for noted in summary.submissions] == ["ada"]
        assert summary.left_out == ()


@pytest.mark.parametrize("name", ["roster.csv", "a pipe"])
def test_what_is_no_archive_is_refused_and_not_waited_for(tmp_path, name):
    source = tmp_path / name
    if name == "a pipe":
        os.mkfifo(source)
    else:
        source.write_text("a,b")
    with pytest.raises(Unusable, match="neither a folder nor"):
        grade_folder(Batch(source, tmp_path / "out"), Settings("s"), Processes(1))
