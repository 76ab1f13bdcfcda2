"""kill -9 at random moments, full disks, what a machine that lost its power leaves: the same command ends the same."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from sdpa_helpers.classroom import lock
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.run import RUNS
from tests.classroom.faults import NAME, alive, gone, make_class, written
from tests.commands import sdpa
from tests.handing_in import RIGHT, TOTAL

KILLS = {"grader": 1, "worker": 1, "server": 2}
MANY_KILLS = {"grader": 13, "worker": 9, "server": 18}
"""A worker takes the pool with it; the fork server is bubblewrap, or the process inside."""

# The command without its trial of the sandbox: what is killed on trial is not used, and weaker levels cannot
# tell a bubblewrap that was killed from a submission that ended itself.
GRADE = """
import sys
from pathlib import Path
from sdpa_helpers.grading.grade_one import Settings
from sdpa_helpers.classroom.grade_folder import Batch, grade_folder
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.sandbox.limits import Limits
if __name__ == "__main__":
    limits = Limits(seconds=20.0, cell_seconds=5.0, memory_mb=1024)
    settings = Settings("s", limits, sandbox=sys.argv[3])
    grade_folder(Batch(Path(sys.argv[1]), Path(sys.argv[2])), settings, Processes(2))
"""


@pytest.fixture
def short():
    """A folder with a short name, for sockets and for what must be empty again at the end."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


# ---- kill -9 ----------------------------------------------------------------------------------------------


class Killed:
    """One run of the grader, its processes, and the moment to kill one of them."""

    def __init__(
        self, command: list[str], out: Path, environment: dict[str, str], dice: random.Random
    ) -> None:
        self.out, self.dice, self.strikes = out, dice, 0
        self.grader = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.tree = psutil.Process(self.grader.pid)
        self.seen: set[psutil.Process] = {self.tree}

    def find(self, kind: str) -> list[psutil.Process]:
        """The processes of a kind that run now."""
        try:
            everything = self.tree.children(recursive=True)
            boxes = [p for p in everything if p.name() == "bwrap"]
            servers = boxes + [c for box in boxes for c in box.children()]
            others = [p for p in self.tree.children() if p not in boxes]
            workers = [p for p in others if "resource_tracker" not in " ".join(p.cmdline())]
        except psutil.Error:
            return []
        self.seen.update(everything)
        return {"grader": [self.tree], "worker": workers, "server": servers}[kind]

    def strike(self, kind: str) -> bool:
        """Wait for a random moment and kill one of a kind; False when the run has ended before it came."""
        results = len(list(self.out.glob("results/*/*.json")))
        moments = {
            "at once": lambda: True,
            "when a kernel can run": lambda: self.find("server"),
            "when a result was written": lambda: len(list(self.out.glob("results/*/*.json"))) > results,
        }
        ready = moments[self.dice.choice(list(moments))]
        while not ready() and self.grader.poll() is None:
            time.sleep(0.01)
        time.sleep(self.dice.uniform(0.0, 0.4))
        while not (victims := self.find(kind)) and self.grader.poll() is None:
            time.sleep(0.01)
        if not victims or self.grader.poll() is not None:
            return False
        victim = self.dice.choice(victims)
        if not alive(victim):
            return False
        victim.kill()
        self.strikes += 1
        return True

    def stopped(self, complaint: str) -> bool:
        """Whether it gave the machine up: its fork server never lived to start, which takes a kill each time.

        The command says so, ends with 2, and goes on where it stopped when it is run again.
        """
        refused = "CannotGrade" in complaint and "the fork server did not start" in complaint
        return self.grader.returncode != 0 and refused and self.strikes > RUNS


@pytest.mark.parametrize(
    "kills", [KILLS, pytest.param(MANY_KILLS, marks=pytest.mark.nightly)], ids=["four", "forty"]
)
def test_kills_at_random_moments_change_nothing(hand_in, tmp_path, short, needs_program, kills):
    needs_program("bwrap")
    source = make_class(hand_in, tmp_path)
    undisturbed = sdpa(
        *("grade", source, "--out", tmp_path / "undisturbed", "--jobs", 1),
        *("--seed", "s", "--timeout", 20, "--memory", 1024),
    )
    assert undisturbed.returncode == 0, undisturbed.stderr
    expected = written(tmp_path / "undisturbed")

    seed = random.randrange(1 << 32)
    print(f"the dice's seed: {seed}")
    dice = random.Random(seed)
    script = short / "grade.py"
    script.write_text(GRADE)
    scratch = short / "tmp"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    victims = [kind for kind, number in kills.items() for _ in range(number)]
    dice.shuffle(victims)
    seen, number = set(), 0
    out = tmp_path / "out 0"
    command = [sys.executable, str(script), str(source), str(out), "warm"]
    try:
        while victims:
            run = Killed(command, out, environment, dice)
            killed = False
            while victims and not killed and run.strike(victims[-1]):
                killed = victims.pop() == "grader"
            complaint = run.grader.communicate(timeout=120)[1].decode()
            seen |= run.seen
            if killed or run.stopped(complaint):
                continue
            assert run.grader.returncode == 0, complaint
            assert again_if_given_up(command, out, environment) == expected
            number += 1
            assert number < 50, "almost nothing was killed"
            out = tmp_path / f"out {number}"
            command[3] = str(out)
        subprocess.run(command, env=environment, check=True)
        assert written(out) == expected
        assert gone(seen) == []
        assert os.listdir(scratch) == []
        assert [p for p in out.rglob(".*") if p.name != ".lock"] == []
    finally:
        for process in filter(alive, seen):
            process.kill()
    assert number > 1 or kills is KILLS


def again_if_given_up(command: list[str], out: Path, environment: dict[str, str]) -> dict[str, object]:
    """What was written; the same command again first, if a submission met three kills and was given up for now."""
    results = [json.loads(path.read_text()) for path in out.glob("results/*/*.json")]
    if any(result["fingerprint"] == "" for result in results):
        subprocess.run(command, env=environment, check=True)
    return written(out)


# ---- what else can happen to a machine --------------------------------------------------------------------


class SmallDisk:
    """A file system of a given size that only programs started through it see, in a mount table of its own."""

    def __init__(self, place: Path, size: str) -> None:
        self.place = place
        place.mkdir()
        mount = f"mount -t tmpfs -o size={size} tmpfs {place} && mkdir {place}/out && echo ready && exec cat"
        command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount]
        self.owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.works = self.owner.stdout.readline() == b"ready\n"

    def run(self, *command, **options) -> subprocess.CompletedProcess:
        """Run a program that sees the disk."""
        enter = [
            "nsenter",
            "--preserve-credentials",
            "--user",
            "--mount",
            "--target",
            str(self.owner.pid),
            "--wdns=/",
        ]
        return subprocess.run(
            [*enter, *map(str, command)], capture_output=True, text=True, check=False, **options
        )

    def leave(self, kilobytes: int) -> None:
        """Fill it up so that this much is free."""
        filler = self.place / "filler"
        code = f"""
import os, shutil
if os.path.exists({str(filler)!r}):
    os.unlink({str(filler)!r})
with open({str(filler)!r}, "wb") as file:
    file.write(bytes(max(0, shutil.disk_usage({str(self.place)!r}).free - {kilobytes << 10})))
"""
        assert self.run(sys.executable, "-c", code).returncode == 0

    def copy(self, target: Path) -> Path:
        """What lies in its folder, brought out."""
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(f"/proc/{self.owner.pid}/root{self.place}/out", target)
        return target


@pytest.fixture
def small_disk(short, needs_program):
    """small_disk("1m"): a SmallDisk."""
    needs_program("unshare")
    needs_program("nsenter")
    disks = []

    def make(size: str) -> SmallDisk:
        disks.append(SmallDisk(short / "disk", size))
        if not disks[-1].works:
            pytest.skip("no file system can be mounted here: namespaces are forbidden")
        return disks[-1]

    yield make
    for disk in disks:
        disk.owner.kill()
        disk.owner.wait()


GRADE_OPENLY = [
    sys.executable,
    "-m",
    "sdpa_helpers",
    "grade",
    "--seed",
    "s",
    "--sandbox",
    "off",
    "--jobs",
    "2",
]


def test_a_full_disk_is_said_and_with_room_the_same_command_ends_the_same(
    hand_in, tmp_path, short, small_disk
):
    source, undisturbed = make_class(hand_in, tmp_path, ("ada", "bob")), short / "roomy" / "out"
    disk = small_disk("1m")
    assert sdpa("grade", source, "--out", undisturbed, *GRADE_OPENLY[4:]).returncode == 0
    graded = []
    for room in (12, 100, 600):  # KB: for hardly any result, for all but the gradebook, for everything
        disk.leave(room)
        ran = disk.run(*GRADE_OPENLY, source, "--out", disk.place / "out")
        out = disk.copy(tmp_path / "out")
        assert "Traceback" not in ran.stderr
        assert [p for p in out.rglob(".*") if p.name != ".lock"] == []
        results = [json.loads(path.read_text()) for path in out.glob("results/*/*.json")]
        graded.append(len(results))
        if room < 600:
            assert ran.returncode == 2
            said = " ".join(ran.stderr.split())
            assert "No space left" in said or "disk is full" in said
            assert "What is graded is kept: the same command goes on from there." in said
    assert ran.returncode == 0, ran.stderr
    assert graded[0] < graded[-1] == 3
    assert written(out) == written(undisturbed)


def test_no_room_for_temporary_files_is_nobodys_mark(hand_in, tmp_path, small_disk):
    """Kernels cannot be started then, which is no reason to give anybody nothing."""
    hand_in("ada", **RIGHT)
    disk = small_disk("16k")
    command = [*GRADE_OPENLY, tmp_path / "in", "--out", tmp_path / "out"]
    ran = disk.run(*command, env={**os.environ, "TMPDIR": str(disk.place / "out")})
    assert ran.returncode == 2
    assert "No space left" in " ".join(ran.stderr.split())
    assert not (tmp_path / "out" / "results").exists()
    assert disk.run(*command).returncode == 0
    assert f"ada,{TOTAL:g}," in (tmp_path / "out" / "grades.csv").read_text()


@pytest.mark.parametrize("size", ["4k", "64k", "160k"])
def test_a_sandbox_that_has_no_room_to_be_tried_out_is_not_done_without(hand_in, tmp_path, small_disk, size):
    """4 KB have no room for a folder, 64 for what the trial aims at, 160 for a kernel."""
    hand_in("ada", **RIGHT)
    disk = small_disk(size)
    command = [*GRADE_OPENLY[:6], tmp_path / "in", "--out", tmp_path / "out"]
    ran = disk.run(*command, env={**os.environ, "TMPDIR": str(disk.place / "out")})
    said = " ".join(ran.stderr.split())
    if ran.returncode == 0:  # it was enough
        assert size == "160k"
        assert "No sandbox" not in said
        return
    assert ran.returncode == 2, said
    assert "No space left" in said
    assert "Traceback" not in said
    assert "No sandbox" not in said


def test_what_a_machine_without_power_leaves_does_no_harm(hand_in, tmp_path, short):
    """Half a run.json, half a result, drafts, a journal of the gradebook, a folder of a process that is no more."""
    hand_in("ada", **RIGHT)
    hand_in("bob")
    source, out = tmp_path / "in", tmp_path / "out"
    options = ("--seed", "s", "--sandbox", "off", "--jobs", 2)
    assert sdpa("grade", source, "--out", out, *options).returncode == 0
    expected = written(out)
    (out / "run.json").write_text('{"seed": "')
    (out / "results" / "ada" / f"{NAME}.json").write_text('{"student": "ada", "fing')
    (out / "feedback" / "bob" / f"{NAME}.html").unlink()
    (out / "results" / "ada" / f".{NAME}.json.4711.tmp").write_text("{")
    (out / ".grades.csv.4711.tmp").write_text("student")
    stale = short / "sdpa-run-999999.12345-abcdefgh"
    (stale / "box").mkdir(parents=True)
    ran = sdpa("grade", source, "--out", out, *options, TMPDIR=str(short))
    assert ran.returncode == 0, ran.stderr
    assert written(out) == expected
    assert json.loads((out / "run.json").read_text())["seed"] == "s"
    assert os.listdir(short) == []


def test_a_fresh_start_is_not_spoiled_by_the_journal_of_a_killed_one(tmp_path):
    """SQLite would apply it to the next gradebook."""
    for name in ("gradebook.db", "gradebook.db-journal"):
        (tmp_path / name).touch()
    ResultsFolder(tmp_path).clear()
    assert list(tmp_path.iterdir()) == []


def test_two_graders_do_not_share_a_folder(hand_in, tmp_path):
    hand_in("ada", dot_product="import time\ntime.sleep(60)\ndef dot_product(q, k):\n    return 0.0")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "sdpa_helpers", "grade", str(tmp_path / "in"), "--out", str(out)]
    first = subprocess.Popen(
        [*command, "--sandbox", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not (out / "run.json").exists():
            assert first.poll() is None
            time.sleep(0.02)
        before = (out / "run.json").read_text()
        second = sdpa("grade", tmp_path / "in", "--out", out, "--sandbox", "off", "--fresh")
        assert second.returncode == 2
        assert "another `sdpa grade` is at work in" in " ".join(second.stderr.split())
        assert (out / "run.json").read_text() == before
    finally:
        first.kill()
        first.wait()
    with lock.held(ResultsFolder(out).lock):  # it has ended with its process
        pass
