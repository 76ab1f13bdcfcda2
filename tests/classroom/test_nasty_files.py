"""One bad file costs itself: names, kinds of files and zips that somebody may hand in, by mistake or on purpose."""

import csv
import os
import socket
import unicodedata

import pytest

from sdpa_helpers.classroom.collect import RENAMED
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.classroom.grade_folder import Batch, Unusable, grade_folder
from sdpa_helpers.classroom.names import MAX_NAME_BYTES, Sender, apart, safe_name
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from tests.classroom.collected import HOUR, NAME, NOON, OTHER, found, kinds, put

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


# ---- the command ------------------------------------------------------------------------------------------


def test_a_file_that_is_gone_tells_nothing_of_the_graders_folders(tmp_path):
    result = grade(Submission("ada", NAME, tmp_path / "gone.ipynb"), Settings("s"))
    assert result.status == "unreadable"
    assert str(tmp_path) not in result.reason


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
