"""Levels of confinement, started once; what an attack may aim at; what must not be left behind."""

import contextlib
import os
import resource
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy
import psutil
import pytest

from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.assemble import assemble
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox import choose_level, installed, start
from sdpa_helpers.sandbox.bounded_kernel import GradedKernel
from sdpa_helpers.sandbox.inside import linux
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import EMPTY
from tests.handing_in import RIGHT

NAME = "01_dot_product"
# Time on the clock is generous: other tests run beside these. Those that sleep wait for it.
LIMITS = Limits(
    seconds=6, cell_seconds=0.5, memory_mb=768, patience=16.0, messages=6_000, output_bytes=4 << 20
)
TRUTHS = {e.name: truths(e, "attacks") for e in exercises_of(NAME)}


@pytest.fixture(scope="session")
def usable(needs_program):
    """usable("warm") skips by name where this machine cannot have the level; a level that leaks is a failure."""
    faults: dict[str, str] = {}

    def check(level: str) -> str:
        if level == "landlock":
            if not hasattr(os, "pidfd_open") or linux.landlock_version() == 0:
                pytest.skip("this kernel has no Landlock")
        else:
            bwrap = needs_program("bwrap")
            simplest = [bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"]
            if subprocess.run(simplest, capture_output=True, check=False).returncode:
                pytest.skip("namespaces are forbidden on this machine")
        if level not in faults:
            faults[level] = choose_level.fault(level, kernel_package())
        assert faults[level] == ""
        return level

    return check


@pytest.fixture(scope="module")
def warm(usable):
    """The warm level, with a fork server that a module's tests share."""
    yield usable("warm")
    start.end("warm")


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """What attacks aim at: {canary} a readable file outside, {folder} open to all, {port}, {unix}, {abstract}.

    And {library_names}, {library_files}, {library_folders}: all that is installed and not for a graded notebook.
    """
    folder = Path(tempfile.mkdtemp(prefix="targets-"))
    folder.chmod(0o777)
    canary = folder / "another-submission.ipynb"
    canary.write_text("secret")
    listeners, connected = [], []
    places = [(socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(folder / "s"))]
    places.append((socket.AF_UNIX, f"\0attack-{os.getpid()}"))
    for family, place in places:
        listener = socket.socket(family)
        listener.bind(place)
        listener.listen(8)
        listeners.append(listener)
        threading.Thread(target=_accept, args=(listener, connected), daemon=True).start()
    (folder / "s").chmod(0o777)
    known = {"canary": str(canary), "folder": str(folder), "pid": os.getpid(), "unix": str(folder / "s")}
    known |= {"port": listeners[0].getsockname()[1], "abstract": f"\\0attack-{os.getpid()}"}
    library_files, library_names = installed.others(EMPTY.distributions)
    known |= {
        "library_names": sorted(library_names - sys.stdlib_module_names),
        "library_files": library_files,
    }
    folders, own = zip(*map(os.path.split, installed.places(EMPTY.distributions)), strict=True)
    known |= {"library_folders": sorted(set(folders)), "own_libraries": own}
    known |= {"user_packages": site.getusersitepackages(), "numpy_file": os.path.realpath(numpy.__file__)}
    yield {**known, "connected": connected}
    assert connected == []
    assert {p.name for p in folder.iterdir()} == {canary.name, "s"}
    for listener in listeners:
        listener.close()
    canary.unlink()
    (folder / "s").unlink()
    folder.rmdir()


def _accept(listener, connected):
    while True:
        try:
            connected.append(listener.accept())
        except OSError:
            return


@pytest.fixture
def attacked(pristine):
    """attacked(level, source) runs an answer to dot_product, and gives the outcome."""

    def go(level, source, limits=LIMITS):
        return run(assemble(pristine, {"dot_product": source}, TRUTHS, ["dot_product"]), limits, level)

    return go


@pytest.fixture
def graded(hand_in):
    """graded(level, source) grades a hand-in whose dot_product is the given source and the rest is right."""

    def go(level, source, limits=LIMITS):
        path = hand_in("mallory", **{**RIGHT, "dot_product": source})
        return grade(Submission("mallory", NAME, path), Settings("attacks", limits, sandbox=level))

    return go


def kernels() -> list[psutil.Process]:
    """Processes of sandboxes that this process has started, fork servers themselves left out."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            command = " ".join(process.cmdline())
            depth = len(
                Path(f"/proc/{process.pid}/status").read_text().split("NSpid:")[1].split("\n")[0].split()
            )
        except (psutil.Error, OSError):
            continue
        if process.status() != psutil.STATUS_ZOMBIE and (
            "inside.alone" in command
            or "inside.fenced" in command
            or ("inside.fork_server" in command and depth > 2)
            or ("inside.ordinary" in command and "inside.ordinary" in " ".join(process.parent().cmdline()))
        ):
            found.append(process)
    return found


def alive(process: psutil.Process) -> bool:
    """Whether a process runs, dead ones that nobody has collected yet left out."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@contextlib.contextmanager
def a_kernel(level, limits=LIMITS, package=EMPTY):
    """A kernel at that level; it ends with the block."""
    kernel = GradedKernel(start.start_kernel(level, limits, package), limits)
    try:
        yield kernel
    finally:
        kernel.stop()


def printed_by(kernel, source):
    """What a cell prints, with the name and the text of an error behind it."""
    asked, said = kernel.execute_cell_input(source), ""
    kernel.await_reply(asked, timeout=60)
    while (message := kernel.get_message("iopub", timeout=5))["msg_type"] != "status":
        content = message["content"]
        said += content.get("text", "") or f"{content.get('ename', '')}: {content.get('evalue', '')}"
    return said


def scratch_folders() -> set[Path]:
    """This process's temporary folders of runs and kernels."""
    here = Path(tempfile.gettempdir())
    return {p for kind in ("run", "box", "plain") for p in here.glob(f"sdpa-{kind}-{os.getpid()}.*")}


def wait_until_gone(what, seconds=5.0):
    """Wait until what() is empty; give what is left."""
    deadline = time.monotonic() + seconds
    while (left := what()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.fixture(autouse=True)
def nothing_left():
    """After every test: no process, no folder, and no more than 150 MB of the grader's memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert wait_until_gone(kernels) == []
    assert scratch_folders() == set()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 << 10
