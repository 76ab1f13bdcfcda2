"""Execute an assembled notebook under nbval and collect what the learner's functions gave.

nbval's collector, cell and kernel classes are subclassed, not patched. What is added: answers travel in one
MIME type and are read strictly, one per check cell, bound to it by a nonce; everything read from the kernel
has a budget; a dead kernel is noticed at once; comments and tags that steer nbval have no effect.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import nbval.kernel
import nbval.plugin
import pytest
import zmq
from nbformat import NotebookNode

from sdpa_helpers.exercises.probe import MIME, Answer, unpack_answer
from sdpa_helpers.grading import kernel_edition
from sdpa_helpers.grading.assemble import ROLE

Key = tuple[str, str]
"""(exercise, case)."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. seconds and cell_seconds: wall time once its kernel is up."""

    seconds: float = 60.0
    cell_seconds: float = 10.0
    memory_mb: int = 4096
    messages: int = 20_000
    output_bytes: int = 16 << 20


@dataclass
class Outcome:
    """What came out of one run.

    answers: by (exercise, case), only those that arrived properly. cell_errors: by exercise, why its answer
    cell did not run. forged: by (exercise, case), what was wrong with a result. stopped: "", "timeout",
    "kernel-died", "output-limit" or "start-failed", with the exercise that was running in `stopped_in`.
    """

    answers: dict[Key, Answer] = field(default_factory=dict)
    cell_errors: dict[str, str] = field(default_factory=dict)
    forged: dict[Key, str] = field(default_factory=dict)
    stopped: str = ""
    stopped_in: str = ""
    seconds: float = 0.0


class OutputLimit(Exception):
    """The kernel sent more than its budget."""


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


def run(notebook: NotebookNode, limits: Limits) -> Outcome:
    """Run the notebook in a kernel of its own, in an empty folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="sdpa-run-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        box = home / "box"
        box.mkdir()
        (home / "pytest.ini").write_text("[pytest]\n")
        path = home / "submission.ipynb"
        nbformat.write(notebook, path)
        grader = Grader(limits, box, kernel_edition.stage(home / "package"))
        options = [
            "-c",
            str(home / "pytest.ini"),
            "--rootdir",
            folder,
            "--noconftest",
            "-q",
            "--color=no",
            "--tb=no",
        ]
        options += ["-p", "no:cacheprovider", "-p", "nbval.plugin", "-s", str(path)]
        with _quiet_pytest():
            pytest.main(options, plugins=[grader])
        return grader.outcome


@contextlib.contextmanager
def _quiet_pytest() -> Iterator[None]:
    """No terminal report, and none of the user's own pytest plugins or options."""
    changes = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Grader:
    """The pytest plugin that collects one assembled notebook and gathers its outcome."""

    def __init__(self, limits: Limits, box: Path, package: Path) -> None:
        self.limits, self.box, self.package = limits, box, package
        self.outcome = Outcome()
        self.deadline = float("inf")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Any:
        """Collect the notebook with our classes; nbval's own hook stays silent without its --nbval flag."""
        if file_path.suffix == ".ipynb":
            collector = GradedFile.from_parent(parent, path=file_path)
            collector.grader = self
            return collector
        return None

    def stop(self, why: str, exercise: str) -> None:
        """Remember the first thing that ended the run."""
        if not self.outcome.stopped:
            self.outcome.stopped, self.outcome.stopped_in = why, exercise


class GradedFile(nbval.plugin.IPyNbFile):
    """One assembled notebook with a kernel of its own."""

    grader: Grader

    def setup(self) -> None:
        """Start the kernel; the time limit counts from when it is ready."""
        try:
            self.kernel = GradedKernel(self.grader.limits, self.grader.box, self.grader.package)
        except Exception as error:
            self.grader.stop("start-failed", "")
            raise RuntimeError(f"the kernel did not start: {error}") from error
        self.grader.deadline = time.monotonic() + self.grader.limits.seconds

    def collect(self) -> Generator["GradedCell", None, None]:
        """One item per cell; which options apply is ours to say, not the cell's comments' or tags'."""
        self.nb = nbformat.read(self.path, as_version=4)
        self.path.unlink()  # the kernel must not find the notebook: it holds the later cells' nonces
        for number, cell in enumerate(self.nb.cells):
            cell.execution_count = number + 1  # so that nbval hands the outputs to compare_outputs
            options = defaultdict(bool, {"check": True})
            yield GradedCell.from_parent(
                self, name=f"cell {number}", cell_num=number, cell=cell, options=options
            )

    def teardown(self) -> None:
        """Stop the kernel and everything in its process group."""
        self.grader.outcome.seconds = self.grader.limits.seconds - (self.grader.deadline - time.monotonic())
        if isinstance(self.kernel, GradedKernel):
            self.kernel.finish()


class GradedCell(nbval.plugin.IPyNbCell):
    """One cell of an assembled notebook."""

    parent: GradedFile

    def setup(self) -> None:
        """nbval would mark cells after a timeout as expected failures; here they are not run at all."""

    def runtest(self) -> None:
        """Run the cell unless the run has ended; turn every way to fail into part of the outcome."""
        grader, role = self.parent.grader, self.cell.metadata[ROLE]
        exercise = role.get("exercise", "")
        if grader.outcome.stopped:
            return
        left = grader.deadline - time.monotonic()
        self.config.option.nbval_cell_timeout = max(0.1, min(left, grader.limits.cell_seconds))
        try:
            super().runtest()
        except nbval.plugin.NbCellError as error:
            if self.parent.timed_out:
                grader.stop("timeout", exercise)
            elif role["role"] == "answer":
                grader.outcome.cell_errors[exercise] = self._error_text(str(error))
            elif role["role"] == "check":
                grader.outcome.forged[exercise, role["case"]] = "the check itself was stopped by an error"
        except KernelDied:
            grader.stop("kernel-died", exercise)
        except OutputLimit:
            grader.stop("output-limit", exercise)
        except (RuntimeError, Empty):
            grader.stop("timeout" if self.parent.timed_out else "kernel-died", exercise)

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        """Take the one answer out of a check cell's outputs; other cells may print what they like."""
        role = self.cell.metadata[ROLE]
        if role["role"] == "check":
            key = (role["exercise"], role["case"])
            sent = [o["data"][MIME] for o in test if isinstance(o.get("data"), dict) and MIME in o["data"]]
            try:
                self.parent.grader.outcome.answers[key] = _read(sent, role["nonce"])
            except ValueError as error:
                self.parent.grader.outcome.forged[key] = str(error)
        return True

    def _error_text(self, fallback: str) -> str:
        for output in self.test_outputs or []:
            if output.get("output_type") == "error":
                return f"{output.get('ename')}: {output.get('evalue')}"[:400]
        return fallback

    def repr_failure(self, excinfo: Any) -> str:
        """Short: pytest's own report is not shown to anybody."""
        return str(excinfo.value)[:400]


def _read(sent: list[Any], nonce: str) -> Answer:
    """The answer in the outputs of a check cell; ValueError when there is not exactly one, whole and bound."""
    if len(sent) != 1:
        raise ValueError(f"{len(sent)} results arrived where exactly one belongs")
    if not isinstance(sent[0], dict) or set(sent[0]) != {"nonce", "answer"} or sent[0]["nonce"] != nonce:
        raise ValueError("the result does not carry this check's own mark")
    return unpack_answer(sent[0]["answer"])


class GradedKernel(nbval.kernel.RunningKernel):
    """nbval's kernel with budgets: what it sends is counted before it is parsed, and its death is noticed."""

    def __init__(self, limits: Limits, box: Path, package: Path) -> None:
        self.limits = limits
        self.messages = self.bytes = 0
        self.backlog: deque[dict] = deque()
        self.km, self.kc = nbval.kernel.start_new_kernel(
            kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME,
            cwd=str(box),
            env=_kernel_environment(box, package),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **_process_limits(limits),
        )
        self._ensure_iopub_up()

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """As nbval's; every cell has the whole budget."""
        self.messages = self.bytes = 0
        return super().execute_cell_input(cell_input, allow_stdin)

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message; reads both channels meanwhile, so that neither can pile up unread."""
        if stream == "iopub" and self.backlog:
            return self.backlog.popleft()
        channels = {"iopub": self.kc.iopub_channel.socket, "shell": self.kc.shell_channel.socket}
        poller = zmq.Poller()
        for socket in {channels[stream], channels["iopub"]}:
            poller.register(socket, zmq.POLLIN)
        end = time.monotonic() + (timeout if timeout is not None else 3600)
        while (left := end - time.monotonic()) > 0:
            ready = dict(poller.poll(int(min(100, 1000 * left)) + 1))
            if channels[stream] in ready:
                return self._receive(channels[stream])
            if channels["iopub"] in ready:
                self.backlog.append(self._receive(channels["iopub"]))
            elif not self.is_alive():
                raise KernelDied
        raise Empty

    def _receive(self, socket: Any) -> dict:
        frames = socket.recv_multipart()
        self.messages += 1
        self.bytes += sum(map(len, frames))
        if self.messages > self.limits.messages or self.bytes > self.limits.output_bytes:
            raise OutputLimit
        _, rest = self.kc.session.feed_identities(frames)
        try:
            message = self.kc.session.deserialize(rest)
            # Everything nbval indexes without asking: a forged message must not break the run.
            valid = all(isinstance(message.get(k), dict) for k in ("content", "parent_header", "header"))
            if not valid or not isinstance(message.get("msg_type"), str):
                raise OutputLimit
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise OutputLimit from error
        return message

    def finish(self) -> None:
        """End the kernel and its process group, whatever state it is in."""
        if hasattr(self, "km"):
            with contextlib.suppress(Exception):
                self.stop()


def _kernel_environment(box: Path, package: Path) -> dict[str, str]:
    """A short environment: nothing of the grader's own reaches the kernel."""
    kept = {
        k: os.environ[k] for k in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV") if k in os.environ
    }
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    own = {"HOME": str(box), "IPYTHONDIR": str(box / ".ipython"), "MPLCONFIGDIR": str(box / ".mpl")}
    fixed = {
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    return {**kept, **threads, **own, **fixed, "MPLBACKEND": "agg"}


def _process_limits(limits: Limits) -> dict[str, Any]:
    """Limits that the operating system holds for us; none on Windows, which has no such call."""
    if sys.platform == "win32":
        return {}
    import resource

    def apply() -> None:
        memory = limits.memory_mb << 20
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))

    return {"preexec_fn": apply}
