"""`sdpa review` as a person uses it: the real command, JupyterLab, a browser, and nothing but keys."""

import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.decisions import Decision, load_decisions
from sdpa_helpers.classroom.review.session import ReviewSession
from sdpa_helpers.classroom.tables import write_tables
from tests.grading.test_lift_words import LIMIT, NAME, PROOF
from tests.ports import free_port
from tests.results import in_words
from tests.warm_kernels import jupyter_path

from .harness import PYTHONPATH, Lab

HOSTILE = r"""<script>window.hacked = 1; alert('x')</script><img src=x onerror="window.hacked=2">
<img src="http://evil.example/a.png"> <iframe srcdoc="<script>parent.hacked=3</script>"></iframe>
<svg onload="window.hacked=4"></svg> <style>* { display: none }</style>

[click](javascript:window.hacked=5) ![pic](http://evil.example/b.png) <a href="javascript:window.hacked=6">here</a>

$\href{javascript:window.hacked=7}{x}$ $\text{<img src=x onerror="window.hacked=8">}$
`<b onclick="window.hacked=9">code</b>`"""

PROSE = r"""Because of **independence** $E[q_i^2k_i^2] = E[q_i^2]\,E[k_i^2] = 1$, and

- all covariances are 0, hence $$\mathrm{Var}(q\cdot k) = \sum_{i=1}^{d_k} \frac{1}{1} = d_k$$"""


class ReviewServer:
    """`sdpa review`, with a token and a home of its own."""

    def __init__(self, out: Path, home: Path) -> None:
        port = free_port()
        self.token, self.url = secrets.token_hex(8), f"http://127.0.0.1:{port}"
        folders = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
        own = {f"JUPYTER_{name}": str(home / folder) for name, folder in folders.items()}
        own |= {"IPYTHONDIR": str(home / "ipython"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
        own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "PYTHONPATH": PYTHONPATH}
        own["JUPYTER_PATH"] = jupyter_path(home)
        flags = [
            "--no-browser", f"--port={port}", "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True",
            f"--IdentityProvider.token={self.token}", "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
        ]  # fmt: skip
        command = [sys.executable, "-m", "sdpa_helpers", "review", str(out), *flags]
        self.log = home / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
        end = time.monotonic() + 90
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{self.url}/api/status?token={self.token}", timeout=5)
                return
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        raise RuntimeError(self.log.read_text()[-3000:])

    def stop(self) -> int:
        """End it as a system does that shuts down; gives the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Graded answers of four learners to two questions; one of them is hostile."""
    folder = tmp_path_factory.mktemp("grades")
    records = [
        in_words(student, **{PROOF: words, LIMIT: f"{student}: nothing to do with it."})
        for student, words in (
            ("ada", PROSE),
            ("ben", "Variances add up."),
            ("eve", HOSTILE),
            ("zoe", "No idea."),
        )
    ]
    for one in records:
        ResultsFolder(folder).write_result(one)
    write_tables(ResultsFolder(folder), records, [NAME])
    return folder


@pytest.fixture(scope="module")
def server(browser, out, tmp_path_factory):
    running = ReviewServer(out, tmp_path_factory.mktemp("home"))
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture(scope="module")
def lab(browser, server):
    opened = Lab(browser, server)
    opened.dialogs = []

    def answer(dialog):
        if dialog.type != "beforeunload":  # which asks before a notebook is left that was not saved
            opened.dialogs.append(dialog.message)
        dialog.accept()

    opened.page.on("dialog", answer)
    run(opened)
    yield opened
    opened.close()


def run(lab):
    """Open the notebook and run its first cell with the keyboard; the panel then has the keyboard."""
    lab.open("review.ipynb")
    lab.page.keyboard.press("Shift+Enter")
    lab.page.wait_for_function(
        "() => document.activeElement?.shadowRoot?.activeElement?.className === 'panel'"
    )


def press(lab, *keys):
    for key in keys:
        lab.page.keyboard.press(key)


def says(lab, text):
    lab.page.locator(".say", has_text=text).wait_for(state="attached")


def place_of(out, student):
    """How many steps from the first answer a learner's proof is."""
    return [a.key.student for a in ReviewSession(ResultsFolder(out)).answers[:4]].index(student)


def marks(out):
    return {(key.student, key.exercise): mark for key, mark in load_decisions(out / "marks.db").items()}


def test_a_hostile_answer_is_shown_as_it_was_typed(lab, out):
    press(lab, *["ArrowRight"] * place_of(out, "eve"))
    answer = lab.page.locator(".answer")
    answer.get_by_text("<script>window.hacked = 1").wait_for()
    assert answer.inner_text() == HOSTILE
    assert answer.locator("*").count() == 0
    assert lab.dialogs == []
    assert lab.page.evaluate("() => window.hacked") is None
    assert lab.page.log.refused == []


def test_marking_with_keys_alone_is_kept_over_a_reload_and_lands_in_the_grades(lab, server, out, axe):
    panel = lab.page.locator(".panel")
    press(lab, *["ArrowLeft"] * 8)
    says(lab, "This is the first answer.")
    assert "0 of 8 marked" in panel.inner_text()
    order = [a.key.student for a in ReviewSession(ResultsFolder(out)).answers]
    assert not any(name in panel.inner_text() for name in set(order) - {"eve"})  # names are hidden

    press(lab, "2", "3", "+")
    says(lab, "9.5 of 15 points. Saved.")
    press(lab, "c")
    lab.page.keyboard.type("Say why they add up. 12n")  # in the field, letters are letters
    press(lab, "Escape", "n", "1")
    says(lab, "6 of 15 points. Saved.")
    press(lab, "n", "f", "x", "u")
    says(lab, "Undone.")
    first = (order[0], PROOF)
    assert marks(out) == {
        first: Decision(("sum", "moments"), 0.5, 9.5, "Say why they add up. 12n"),
        (order[1], PROOF): Decision(("one-product",), 0.0, 6.0),
        (order[2], PROOF): Decision(("one-product", "sum", "moments"), 0.0, 15.0),
    }
    before = marks(out)

    for dark in (True, False):
        lab.theme(dark)
        press(lab, "?")
        assert panel.locator(".keys").is_visible()
        assert axe(lab.page, ".jp-Cell-outputArea") == []
        press(lab, "?")

    lab.command("kernelmenu:shutdown")  # whatever was not on the disk is gone now
    run(lab)
    assert "3 of 8 marked" in panel.inner_text()
    assert "Answer 4 of 4" in panel.inner_text()  # the first that is not marked
    press(lab, *["ArrowLeft"] * 3)
    says(lab, "Answer 1 of 4")
    assert panel.locator("textarea").input_value() == "Say why they add up. 12n"
    assert [box.is_checked() for box in panel.locator("input[type=checkbox]").all()] == [False, True, True]
    press(lab, "b")
    panel.get_by_text(order[0], exact=True).wait_for()
    assert marks(out) == before
    assert lab.page.log.thrown == []

    assert server.stop() == 0
    assert "Answers marked: 3, waiting: 5; submissions changed: 3." in server.log.read_text()
    assert f"{order[0]},9.5,9.5,30" in re.sub(r",+", ",", (out / "grades.csv").read_text())
    page = (out / "feedback" / order[0] / f"{NAME}.html").read_text()
    assert "Say why they add up. 12n" in page
