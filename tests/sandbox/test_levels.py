"""Which level is taken, what is said about it, and what a kernel at each may use."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sdpa_helpers.cli.app import app
from sdpa_helpers.sandbox import choose_level, start, visible_files
from sdpa_helpers.sandbox.levels import LEVELS, CannotStart, Level
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import KernelPackage
from tests.handing_in import POINTS, RIGHT, TOTAL
from tests.nightly import at_night
from tests.sandbox import conftest, exhaust
from tests.sandbox.conftest import a_kernel, printed_by, wait_until_gone

ATTACKS = ("endless loop", "daemon")
LIMITS = replace(conftest.LIMITS, cell_seconds=5.0)


class Broken(Level):
    """A level that cannot start."""

    def __init__(self, package):
        raise CannotStart("it is broken")


@pytest.fixture(autouse=True)
def anew():
    """No level that an earlier test has started is still in use."""
    for level in LEVELS:
        start.end(level)


# ---- the choice -------------------------------------------------------------------------------------------


def test_auto_takes_the_best_level_and_says_what_is_missing(usable, monkeypatch):
    usable("warm")
    assert choose_level.choose("auto") == choose_level.ChosenLevel("warm")
    usable("landlock")
    start.end("warm")  # what was tried out is kept for the grading that follows
    monkeypatch.setitem(LEVELS, "warm", Broken)
    monkeypatch.setenv("PATH", "/nowhere")  # no bubblewrap
    choice = choose_level.choose("require")
    assert choice.level == "landlock"
    assert choice.missing == {"warm": "it is broken", "bubblewrap": "bubblewrap is not installed"}


def test_require_refuses_and_auto_warns_where_nothing_holds(monkeypatch):
    for name in LEVELS:
        monkeypatch.setitem(LEVELS, name, Broken)
    with pytest.raises(choose_level.NoSandbox, match="landlock: it is broken"):
        choose_level.choose("require")
    assert choose_level.choose("auto").level == "off"
    assert set(choose_level.choose("auto").missing) == set(LEVELS)


def test_a_level_that_leaks_is_not_taken(monkeypatch):
    """The probe has teeth: a plain process that calls itself a sandbox is found out."""
    kernel = start.start_kernel
    monkeypatch.setattr(start, "start_kernel", lambda level, limits, package: kernel("off", limits, package))
    fault = choose_level.fault("warm")
    for expected in (
        *(f"sdpa_helpers/{room}/" for room in ("checking", "course", "grading", "lessons", "sandbox")),
        "which is not for it",
        "write to",
        "connect to this machine",
        "see the grader",
        "signal its parent",
        "start another process",
        "become another program",
    ):
        assert expected in fault


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_that_shows_one_library_too_many_is_not_taken(level, usable, monkeypatch):
    usable(level)
    start.end(level)
    code_of, one_more = visible_files.code_of, str(Path(pytest.__file__).parent)
    monkeypatch.setattr(visible_files, "code_of", lambda package: [*code_of(package), one_more])
    assert "import pytest, which is not for it" in choose_level.fault(level)


@pytest.mark.parametrize(("option", "status"), [("require", 2), ("auto", 0)])
def test_the_command_refuses_or_warns_without_a_sandbox(hand_in, tmp_path, monkeypatch, option, status):
    for name in LEVELS:
        monkeypatch.setitem(LEVELS, name, Broken)
    hand_in("ada", **RIGHT)
    arguments = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--sandbox", option]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == status, ran.stderr
    assert "landlock: it is broken" in ran.stderr
    assert ("No sandbox" in ran.stderr) == (option == "auto")
    assert (tmp_path / "out" / "grades.csv").exists() == (option == "auto")


@pytest.mark.parametrize("option", ["auto", "require"])
def test_without_room_for_temporary_files_nothing_is_graded_and_nothing_left(hand_in, tmp_path, option):
    hand_in("ada", **RIGHT)
    (tmp_path / "small").mkdir()
    script = 'mount -t tmpfs -o size=64k none "$0" || exit 77; TMPDIR="$0" "$@"; status=$?; ls -A "$0"; exit $status'
    arguments = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--sandbox", option]
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, str(tmp_path / "small")]
    command += [sys.executable, "-m", "sdpa_helpers", *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if ran.returncode not in (0, 2, 3):
        pytest.skip(f"no file system of its own can be mounted here: {ran.stderr}")
    assert ran.returncode == 2
    assert "no room in" in " ".join(ran.stderr.split())
    assert "Nothing was graded" in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""  # nothing printed, and nothing in the folder


COUNT_STARTS = """
import sys
from sdpa_helpers.sandbox import levels
begin = levels.Warm.__init__
def counted(self, package):
    print("a fork server starts", file=sys.stderr)
    begin(self, package)
levels.Warm.__init__ = counted
from sdpa_helpers.cli.app import main
if __name__ == "__main__": main()
"""


def test_the_fork_server_that_was_tried_out_is_the_one_that_grades(hand_in, usable, tmp_path):
    """Starting it costs more than grading a small folder."""
    usable("warm")
    hand_in("ada", **RIGHT)
    hand_in("bob", **RIGHT)
    script = tmp_path / "counted.py"
    script.write_text(COUNT_STARTS)
    arguments = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--sandbox", "require"]
    ran = subprocess.run(
        [sys.executable, str(script), *arguments, "--jobs", "2"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("a fork server starts") == 1


# ---- what a kernel can import ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [*LEVELS, "off"])
def test_a_kernel_sees_the_package_that_it_was_given(level, usable):
    """The sandbox knows no course: what it stages, and what it warms up with, come as data."""
    if level != "off":
        usable(level)
    package = KernelPackage((("abacus/__init__.py", ""), ("abacus/beads.py", "N = 7")), "import abacus.beads")
    code = "import os\nassert 'abacus' not in globals()\nimport abacus.beads\nassert abacus.beads.N == 7"
    code += "\nfrom importlib.machinery import PathFinder\nassert not PathFinder.find_spec('pytest')"
    code += "\ntry:\n    import sdpa_helpers.lessons\nexcept ImportError:\n    print('not there')"
    with a_kernel(level, LIMITS, package) as kernel:
        assert printed_by(kernel, code) == "not there\n"


def test_a_warm_up_that_fails_is_a_fault_of_the_level(usable):
    usable("warm")
    assert "the warm-up ended in an error" in choose_level.fault("warm", KernelPackage(warm_up="1 / 0"))


# ---- root and ordinary users ------------------------------------------------------------------------------


def as_nobody(folder: Path) -> list[str]:
    """The start of a command line that runs as another user, for whom Python's own folder is made reachable."""
    if os.getuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv"))):
        pytest.skip("needs root, unshare and setpriv to become another user")
    uid = "54321"
    closed = [p for p in Path(sys.base_prefix).parents if not p.stat().st_mode & stat.S_IXOTH]
    lines = ["set -e", f"chown -R {uid} {folder}"]
    if closed:
        top, copy = closed[-1], folder / "python"
        lines += [f"mkdir {copy}", f"mount --bind {sys.base_prefix} {copy}"]
        lines += [f"mount -t tmpfs -o mode=755 none {top}", f"mkdir -p {sys.base_prefix}"]
        lines += [f"mount --bind {copy} {sys.base_prefix}"]
    environment = f"HOME={folder} TMPDIR={folder} SDPA_HOME={folder}"
    lines.append(f'exec setpriv --reuid={uid} --regid={uid} --clear-groups env {environment} "$@"')
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines), "sh"]


@pytest.mark.parametrize("level", ["warm", at_night("bubblewrap"), "landlock"])
def test_an_ordinary_user_has_the_same_sandbox(hand_in, usable, level, course):
    usable(level)
    with tempfile.TemporaryDirectory(prefix="user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for attack in ATTACKS:
            shutil.copytree(
                hand_in("m", **{**RIGHT, "dot_product": exhaust.source_of(attack)}).parent,
                folder / "in" / attack.replace(" ", "-"),
            )
        shutil.copytree(hand_in("ada", **RIGHT).parent, folder / "in" / "ada")
        better = [n for n in LEVELS if list(LEVELS).index(n) < list(LEVELS).index(level)]
        code = (
            "from sdpa_helpers.sandbox import levels\n"
            "def broken(package): raise levels.CannotStart('not now')\n"
            f"for name in {better}: levels.LEVELS[name] = broken\n"
            "from sdpa_helpers.cli.app import main\n"
            "if __name__ == '__main__': main()\n"
        )
        script = folder / "sdpa.py"
        script.write_text(code)
        command = [sys.executable, str(script), "grade", str(folder / "in"), "--out", str(folder / "out")]
        command += ["--sandbox", "require", "--timeout", "2", "--seed", "s"]
        ran = subprocess.run(
            [*as_nobody(folder), *command], capture_output=True, text=True, check=False, cwd=course
        )
        assert ran.returncode == 0, ran.stderr
        assert ("not the best" in ran.stderr) == bool(better)
        points = {
            path.parent.name: json.loads(path.read_text())["points"]
            for path in (folder / "out" / "results").glob("*/*.json")
        }
        assert points == {"ada": TOTAL} | dict.fromkeys(
            ("endless-loop", "daemon"), TOTAL - POINTS["dot_product"]
        )
        assert list(folder.glob("sdpa-*-*.*")) == []


# ---- memory of the system ---------------------------------------------------------------------------------

FAR_APART = """
import mmap, ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for number in range(15_000):  # a page of zeros in every gigabyte: its tables take twice as much, and count nowhere else
    ctypes.c_char.from_address(libc.mmap(0x100000000000 + (number << 30), 4096, 1, 0x22, -1, 0)).value
"""


@pytest.mark.parametrize("level", ["warm", "landlock"])
def test_page_tables_count_as_memory(usable, level):
    """Up to 500 MB of them could be had for nothing."""
    with a_kernel(usable(level), LIMITS) as kernel:
        assert printed_by(kernel, FAR_APART) == ""
        assert wait_until_gone(lambda: kernel.running.peak < 120 << 20) is False


# ---- time -------------------------------------------------------------------------------------------------

NAPS = "import time\ndef dot_product(q, k):\n    time.sleep(0.8)\n    return np.sum(q * k)"


def test_waiting_is_not_working(graded, warm):
    """Time on the clock without work is no timeout, though longer than the limit of work.

    The first case calls the answer twice: the clock has room for both naps.
    """
    limits = Limits(seconds=6, cell_seconds=0.5, memory_mb=768, patience=8.0)
    assert graded(warm, NAPS, limits).points == TOTAL
