"""`sdpa lab` and `sdpa reset`, as they are typed; JupyterLab itself is a program that only says what it got."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sdpa_helpers.cli.app import app
from sdpa_helpers.desk import launch, running
from sdpa_helpers.desk.laying import lay
from sdpa_helpers.desk.trusting import is_trusted
from tests.environments import path_with

from .course_folder import annotate, edit, make_course, new_version


@pytest.fixture
def root(tmp_path, monkeypatch):
    make_course(tmp_path)
    monkeypatch.setattr("sdpa_helpers.course.places.course_root", lambda: tmp_path)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(os, "environ", os.environ.copy())  # which `sdpa lab` may add to
    return tmp_path


@pytest.fixture
def started(monkeypatch):
    """What JupyterLab was started with."""
    found = []
    monkeypatch.setattr(launch, "start", lambda root, flags: found.append((root, flags)))
    return found


def test_lab_lays_the_copies_and_passes_flags_on(root, started):
    ran = CliRunner().invoke(app, ["lab", "--no-browser", "--port", "8899", "--LabApp.x=1"])
    assert ran.exit_code == 0
    assert ran.stdout == "work/: 2 lessons and 1 exercise notebook laid out.\n"
    assert started == [(root, ["--no-browser", "--port", "8899", "--LabApp.x=1"])]
    assert (root / "work/notebooks/00_start_here.ipynb").is_file()
    copies = [root / "work" / name for name in ("notebooks/03_softmax.ipynb", "exercises/03_softmax.ipynb")]
    assert all(map(is_trusted, copies))  # Jupyter does not call them "Not Trusted"
    annotate(copies[0])
    assert not is_trusted(copies[0])
    assert CliRunner().invoke(app, ["reset", "softmax"]).exit_code == 0
    assert is_trusted(copies[1])
    new_version(root)
    assert "you changed 1 lesson that has a new version" in CliRunner().invoke(app, ["lab"]).stdout


def test_without_jupyters_list_of_trusted_notebooks_it_starts_all_the_same(root, started, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(root / "exercises/03_softmax.ipynb"))  # no folder
    assert CliRunner().invoke(app, ["lab"]).exit_code == 0
    assert started


def test_lab_does_not_start_where_it_cannot_lay(root, started):
    (root / "work").write_text("")
    ran = CliRunner().invoke(app, ["lab"])
    assert ran.exit_code == 2
    assert "move away what is in its place" in " ".join(ran.stderr.split())
    assert not started


def test_jupyterlab_gets_the_courses_settings_before_the_users_own(root):
    theirs = {"JUPYTER_PATH": "/mine", "JUPYTER_CONFIG_PATH": ""}
    given = launch.settings(root, theirs)
    assert given["JUPYTER_CONFIG_PATH"] == str(root / ".jupyter")
    assert given["JUPYTER_PATH"].split(os.pathsep) == [str(launch.FRONT), "/mine"]
    line = launch.command(root, ["--port", "1"])
    assert line[:4] == [sys.executable, "-m", "jupyter", "lab"]
    assert "--LabApp.default_url=/lab/tree/work/notebooks/00_start_here.ipynb" in line
    assert f"--ServerApp.root_dir={root}" in line
    assert line[-2:] == ["--port", "1"]


def test_starting_becomes_jupyterlab(root, tmp_path):
    """Its exit status is ours, and so is its place in the terminal."""
    folder = tmp_path / "fake" / "jupyter"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "__main__.py").write_text("import os, sys; print(os.getpid(), sys.argv[1]); sys.exit(7)")
    program = f"from pathlib import Path; from sdpa_helpers.desk import launch; launch.start(Path({str(root)!r}), [])"
    paths = os.pathsep.join([str(folder.parent), str(Path(launch.__file__).parents[2])])
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"PYTHONPATH": paths}) as started:  # fmt: skip
        out, _ = started.communicate(timeout=30)
    assert out.split() == [str(started.pid), "lab"]
    assert started.returncode == 7


OWN = ("XDG_", "JUPYTER_", "SDPA_HOME", "IPYTHONDIR", "MPLCONFIGDIR")
"""Variables that name folders beside the home."""

IN_A_FOLDER = """\
import sys
from pathlib import Path
from sdpa_helpers.course import places
root = Path(sys.argv.pop(1))
places.course_root = lambda: root
from sdpa_helpers.cli.app import app
app()
"""


def test_a_home_that_cannot_be_written_is_said_in_a_sentence_and_jupyterlab_starts(tmp_path):
    """Nothing can be made below a file, whoever tries: neither a learner nor root in a container."""
    root = make_course(tmp_path / "course")
    (tmp_path / "file").touch()
    bare = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(
        [sys.executable, "-c", IN_A_FOLDER, str(root), "lab", *flags, "--IdentityProvider.token=abc"],
        env=bare | {"HOME": str(tmp_path / "file" / "home"), "PYTHONPATH": path_with(Path(launch.__file__).parents[2])},
        stdout=out, stderr=out,
    ) as lab:  # fmt: skip
        try:
            assert _answers(lab, f"http://127.0.0.1:{port}/api/status"), log.read_text()
        finally:
            lab.terminate()
    first, *_ = said = log.read_text().splitlines()
    assert (
        first == "Your home folder cannot be written: points and Jupyter's own files are kept in work/.home."
    )
    assert not [line for line in said if "Traceback" in line or "writable location" in line]
    assert {path.name for path in (root / "work/.home").iterdir()} >= {"jupyter_runtime_dir"}


def _answers(server: subprocess.Popen, url: str) -> bool:
    """Whether it says, within a minute, that it is there."""
    asked = urllib.request.Request(url, headers={"Authorization": "token abc"})
    until = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(asked, timeout=20).status == 200
        time.sleep(0.1)
    return False


def test_a_notebook_is_checked_without_a_home(course, tmp_path):
    (tmp_path / "file").touch()
    shutil.copy(course / "solutions/01_dot_product.ipynb", tmp_path)
    checked = [sys.executable, "-m", "sdpa_helpers", "check", "01_dot_product.ipynb"]
    home = {"HOME": str(tmp_path / "file/home"), "PYTHONPATH": path_with(course)}
    bare = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    ran = subprocess.run(checked, cwd=tmp_path, env=bare | home, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""


def test_without_a_home_and_without_work_it_does_not_start(root, started, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(root / "exercises/03_softmax.ipynb/runtime"))
    lay(root)
    (root / "work/.home").touch()  # as in a folder in which nothing can be made
    ran = CliRunner().invoke(app, ["lab"])
    assert ran.exit_code == 2
    assert "neither your home folder nor" in " ".join(ran.stderr.split())
    assert not started


def test_in_an_ordinary_home_everything_stays_there(root, started, monkeypatch):
    monkeypatch.setenv("HOME", str(root / "home"))
    ran = CliRunner().invoke(app, ["lab"])
    assert "home" not in ran.stdout
    assert not (root / "work/.home").exists()


def test_reset_says_where_the_answer_is(root, started):
    CliRunner().invoke(app, ["lab"])
    place = root / "work/exercises/03_softmax.ipynb"
    edit(place, lambda cells: cells[1].update(source="# exercise: softmax\nmine"))
    ran = CliRunner().invoke(app, ["reset", "softmax"])
    assert ran.stdout == (
        "softmax has its stub again, in work/exercises/03_softmax.ipynb. "
        "Your answer is kept in work/answers-put-aside.md.\n"
    )
    ran = CliRunner().invoke(app, ["reset", "softmacks"])
    assert ran.exit_code == 2
    assert "did you mean softmax?" in ran.stderr


def test_reset_leaves_an_open_notebook_to_the_button(root, started, monkeypatch):
    CliRunner().invoke(app, ["lab"])
    place = root / "work/exercises/03_softmax.ipynb"
    edit(place, lambda cells: cells[1].update(source="# exercise: softmax\nmine"))
    before = place.read_bytes()
    monkeypatch.setattr(running, "open_in_work", lambda work: frozenset({"exercises/03_softmax.ipynb"}))
    ran = CliRunner().invoke(app, ["reset", "softmax"])
    assert ran.exit_code == 2
    assert "is open in JupyterLab" in ran.stderr
    assert place.read_bytes() == before


def test_what_is_no_server_has_nothing_open(root):
    runtime = root / "runtime"
    runtime.mkdir()
    (runtime / "jpserver-1.json").write_text("{")
    (runtime / "jpserver-2.json").write_text("[]")
    gone = {"url": "http://127.0.0.1:9/", "root_dir": str(root), "token": "a"}
    (runtime / "jpserver-3.json").write_text(json.dumps(gone))
    assert running.open_in_work(root / "work") == frozenset()


@pytest.mark.parametrize("about", [{"url": "x"}, {"url": None}, {"url": "http://a:b/"}, {"root_dir": None}])
def test_a_record_of_a_server_that_makes_no_sense_is_passed_over(root, about):
    (root / "runtime").mkdir()
    sound = {"url": "http://127.0.0.1:9/", "root_dir": str(root)}
    (root / "runtime/jpserver-1.json").write_text(json.dumps(sound | about))
    assert running.open_in_work(root / "work") == frozenset()


@pytest.mark.parametrize(
    "says", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n["]
)
def test_something_else_that_listens_where_a_killed_server_did_is_passed_over(root, says):
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer():
            with other.accept()[0] as caller:
                caller.recv(4096)
                caller.sendall(says)

        thread = threading.Thread(target=answer)
        thread.start()
        (root / "runtime").mkdir()
        left = {"url": f"http://127.0.0.1:{other.getsockname()[1]}/", "root_dir": str(root)}
        (root / "runtime/jpserver-1.json").write_text(json.dumps(left))
        assert running.open_in_work(root / "work") == frozenset()
        thread.join(5)
