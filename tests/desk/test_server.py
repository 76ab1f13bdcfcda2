"""The server extension, in a real Jupyter server."""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.base.handlers import FileFindHandler

from sdpa_helpers.course.exercise_notebook import answer_cell
from sdpa_helpers.course.registry import find
from sdpa_helpers.desk.launch import settings
from sdpa_helpers.desk.laying import lay
from sdpa_helpers.desk.running import open_in_work
from sdpa_helpers.desk.server import _Forgetful
from tests.environments import path_with
from tests.ports import free_port

OWN = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "SDPA_HOME")


@dataclass
class Server:
    """A running server, and a learner's progress."""

    url: str
    token: str
    home: Path

    def ask(self, path: str, body: Any = None, *, token: bool = True) -> tuple[int, Any]:
        """GET, or POST with a body: status and answer."""
        data = None if body is None else json.dumps(body).encode()
        allowed = {"Authorization": f"token {self.token}"} if token else {}
        try:
            request = urllib.request.Request(f"{self.url}/{path}", data, allowed)
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")


@contextlib.contextmanager
def jupyter_server(course: Path, root: Path, folder: Path):
    """A server with the course's settings, in the folder `root`."""
    port = free_port()
    token = secrets.token_hex(8)
    own = {name: str(folder / name) for name in OWN}
    command = [
        sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}", "--ServerApp.port_retries=0",
    ]  # fmt: skip
    environment = os.environ | settings(course, {}) | own
    environment["PYTHONPATH"] = path_with(course)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", token, folder / "SDPA_HOME")
    try:
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(OSError):
                server.ask("api/status")
                break
            time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def root(course, tmp_path_factory):
    """The course's notebooks, and the copies of them."""
    root = tmp_path_factory.mktemp("course")
    for name in ("notebooks", "exercises"):
        shutil.copytree(course / name, root / name)
    lay(root)
    return root


@pytest.fixture(scope="module")
def server(course, root, tmp_path_factory):
    """One server for all tests of this file."""
    with jupyter_server(course, root, tmp_path_factory.mktemp("server")) as running:
        yield running


def test_the_course_is_told_in_json(server):
    server.home.mkdir(exist_ok=True)
    (server.home / "progress.json").write_text(json.dumps({"dot_product": 5.0, "attention_scores": 1.5}))
    answers = {"pairs_that_may_attend": [0, True], "moving_a_key": [1, False], "gone_since": [1, True]}
    shown = {"one_query_is_causal": [-1, False]}
    predicted = {f"05_masking/{name}": first for name, first in (answers | shown).items()}
    (server.home / "predictions.json").write_text(json.dumps(predicted))
    status, told = server.ask("sdpa/course")
    assert status == 200
    assert [lesson["name"][:3] for lesson in told["lessons"][:4]] == ["00_", "00a", "00b", "01_"]
    start, _, _, first = told["lessons"][:4]
    assert start["exercise"] is None
    assert first["title"] == "The dot product"
    assert first["minutes"] > 0
    assert first["lesson"] == "work/notebooks/01_dot_product.ipynb"
    assert first["exercise"] == "work/exercises/01_dot_product.ipynb"
    assert first["points"] == 6.5
    assert first["max_points"] > 20
    assert first["exercises"][0] == {"name": "dot_product", "points": 5.0, "max_points": 5.0, "done": True}
    assert not first["exercises"][1]["done"]
    masking = next(lesson for lesson in told["lessons"] if lesson["name"] == "05_masking")
    assert masking["answered"] == 2
    assert told["next"]["lesson"] == "05_masking"  # who has begun it has left the earlier ones
    assert told["next"]["exercise"] is None


def test_jupyterlab_has_the_courses_settings(server):
    status, told = server.ask("lab/api/settings/@jupyterlab/notebook-extension:tracker")
    assert status == 200
    assert told["schema"]["properties"]["windowingMode"]["default"] == "none"  # pictures do not jump


def test_nobody_else_is_told(server):
    assert server.ask("sdpa/course", token=False)[0] == 403
    assert server.ask("sdpa/reset", {"exercise": "softmax"}, token=False)[0] == 403


def test_what_makes_no_sense_is_refused(server):
    assert server.ask("sdpa/reset", {"exercise": 3})[0] == 400
    assert server.ask("sdpa/reset", {})[0] == server.ask("sdpa/reset", [1])[0] == 400
    assert server.ask("sdpa/reset", {"exercise": "softmax", "answer": "x" * 1_000_001})[0] == 413


def test_a_reset_gives_the_stub_and_keeps_the_answer(server, root):
    status, told = server.ask("sdpa/reset", {"exercise": "softmax", "answer": "# exercise: softmax\nmine"})
    assert status == 200
    assert told.pop("source") == answer_cell(find("softmax"))
    assert told == {"kept": "work/answers-put-aside.md", "notebook": "work/exercises/03_softmax.ipynb"}
    assert "mine" in (root / told["kept"]).read_text()
    status, told = server.ask("sdpa/reset", {"exercise": "sofmax"})
    assert status == 404
    assert "did you mean softmax" in told["message"]


def test_a_notebook_with_a_kernel_counts_as_open(server, root, monkeypatch):
    kernel = {"kernel": {"name": "python3"}, "name": "", "path": "work/exercises/03_softmax.ipynb"}
    assert server.ask("api/sessions", kernel | {"type": "notebook"})[0] == 201
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(server.home.parent / "JUPYTER_RUNTIME_DIR"))
    assert open_in_work(root / "work") == {"exercises/03_softmax.ipynb"}


def test_a_folder_that_is_no_course_has_no_desk(server, root):
    first = root / "notebooks/00_start_here.ipynb"
    text = first.read_bytes()
    first.unlink()
    try:
        assert server.ask("sdpa/course")[0] == server.ask("sdpa/reset", {"exercise": "softmax"})[0] == 404
    finally:
        first.write_bytes(text)


def test_two_hosts_have_a_font_of_the_same_name_each(monkeypatch, tmp_path):
    monkeypatch.setattr(FileFindHandler, "_static_paths", _Forgetful())
    for host in ("lab", "notebook"):
        (tmp_path / host).mkdir()
        (tmp_path / host / "math.woff").touch()
        found = FileFindHandler.get_absolute_path([str(tmp_path / host)], "math.woff")
        assert Path(found).parent.name == host
