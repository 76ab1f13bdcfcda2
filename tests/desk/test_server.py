"""The server extension, in a real Jupyter server."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sdpa_helpers.desk.launch import settings


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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(8)
    own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "SDPA_HOME")}
    command = [
        sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}", "--ServerApp.port_retries=0",
    ]  # fmt: skip
    environment = os.environ | settings(course, {}) | own | {"PYTHONPATH": str(course)}
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
def server(course, tmp_path_factory):
    with jupyter_server(course, course, tmp_path_factory.mktemp("server")) as running:
        yield running


def test_the_course_is_told_in_json(server):
    server.home.mkdir(exist_ok=True)
    (server.home / "progress.json").write_text(json.dumps({"dot_product": 7.0, "attention_scores": 1.5}))
    status, told = server.ask("sdpa/course")
    assert status == 200
    assert [lesson["name"][:2] for lesson in told["lessons"][:3]] == ["00", "01", "02"]
    start, first = told["lessons"][:2]
    assert start["exercise"] is None
    assert first["title"] == "The dot product"
    assert first["minutes"] > 0
    assert first["lesson"] == "work/notebooks/01_dot_product.ipynb"
    assert first["exercise"] == "work/exercises/01_dot_product.ipynb"
    assert first["points"] == 8.5
    assert first["max_points"] > 20
    assert first["exercises"][0] == {"name": "dot_product", "points": 7.0, "max_points": 7.0, "done": True}
    assert not first["exercises"][1]["done"]
    assert told["next"] == {"lesson": "01_dot_product", "exercise": "attention_scores"}


def test_nobody_else_is_told(server):
    assert server.ask("sdpa/course", token=False)[0] == 403
    assert server.ask("sdpa/reset", {"exercise": "softmax"}, token=False)[0] == 403


def test_what_makes_no_sense_is_refused(server):
    assert server.ask("sdpa/reset", {"exercise": 3})[0] == 400
    assert server.ask("sdpa/reset", {})[0] == 400
