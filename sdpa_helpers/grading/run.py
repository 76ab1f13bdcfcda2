"""Execute an assembled notebook under nbval and collect what the learner's functions gave.

nbval's collector, cell and kernel classes are subclassed, not patched. What is added: answers travel in one
MIME type and are read strictly, one per check cell, which the kernel itself marks as its own; everything read from it
has a budget; a dead kernel is noticed at once; comments and tags that steer nbval have no effect.
"""

import contextlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from queue import Empty
from typing import Any

import nbval.plugin
import pytest
from _pytest.config import default_plugins, essential_plugins
from nbformat import NotebookNode

from sdpa_helpers.checking.answers.carried import bytes_of, unpack_answer
from sdpa_helpers.checking.answers.observe import Answer, beyond_doubt
from sdpa_helpers.grading.assemble import ROLE
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.sandbox.bounded_kernel import RESULT, GradedKernel, KernelDied, TimedOut
from sdpa_helpers.sandbox.busy import was_busy
from sdpa_helpers.sandbox.incoming import MAX_MESSAGE, Forged, Malformed, OutputLimit
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.running import Running
from sdpa_helpers.sandbox.start import OFF, broken_down, start_kernel

__all__ = ["Limits", "Outcome", "run"]

MAX_CHECK_BYTES = 4 << 20
"""That one check may send, what the learner's function shows meanwhile included."""
MAX_EXERCISE_BYTES = 8 << 20
"""Of all numbers that are kept of one exercise."""

CaseKey = tuple[str, str]
"""(exercise, case)."""


@dataclass
class Outcome:
    """What came out of one run.

    answers: by (exercise, case), only those that arrived properly. cell_errors: by exercise, why its answer
    cell did not run. forged: by (exercise, case), what was wrong with a result; the case is "" for a message of the
    answer's own cell. malformed: by exercise, what was wrong with a message. noticed: by exercise, what the kernel
    saw it do, as `audit.NOTES` says it; "" for the cells beside the answers. stopped: "", "timeout", "slept",
    "kernel-died", "out-of-memory", "output-limit", "malformed-message", "forged-output" or "start-failed", with the
    exercise that was running in `stopped_in`; reason: why the start failed. seconds, wall: CPU time, and time on the
    clock; slow: there was CPU time left at a timeout.
    """

    answers: dict[CaseKey, Answer] = field(default_factory=dict)
    cell_errors: dict[str, str] = field(default_factory=dict)
    forged: dict[CaseKey, str] = field(default_factory=dict)
    malformed: dict[str, str] = field(default_factory=dict)
    noticed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: str = ""
    stopped_in: str = ""
    reason: str = ""
    seconds: float = 0.0
    wall: float = 0.0
    slow: bool = False


def run(notebook: NotebookNode, limits: Limits, sandbox: str = OFF) -> Outcome:
    """Run the notebook in a kernel of its own at a level of confinement; nothing of it is left afterwards.

    When the fork server ends, that is not the learner's doing: the run is then made again. Raises SandboxEnded
    when it ends each time.
    """
    outcome = Outcome()
    for _ in range(RUNS):
        outcome = _run_once(notebook, limits, sandbox)
        if outcome.stopped not in ("kernel-died", "start-failed") or not broken_down(
            sandbox, kernel_package(), 0.5
        ):
            return outcome
    if outcome.stopped == "kernel-died":
        raise SandboxEnded("the sandbox's fork server ended each time this notebook ran")
    return outcome


RUNS = 3
"""How often a notebook is run while it is the fork server that ends."""


class SandboxEnded(Exception):
    """Again and again the sandbox itself has ended while a notebook ran."""


def _run_once(notebook: NotebookNode, limits: Limits, sandbox: str) -> Outcome:
    grader = Grader(limits, sandbox)
    # No file: nothing that the kernel could find.
    collector = GradedFile.from_parent(session(), path=Path("submission.ipynb").absolute())
    collector.grader, collector.nb = grader, notebook
    with _no_output():  # nbval prints what it cannot use
        try:
            collector.setup()
            for cell in collector.collect():
                cell.runtest()
        except CannotStartKernel:
            pass  # the outcome says why
        finally:
            collector.teardown()
    return grader.outcome


@cache
def session() -> pytest.Session:
    """The pytest session that all notebooks of this process belong to, with none of the user's own plugins.

    Made once: pytest needs as long to read its configuration as a notebook to run.
    """
    made: list[pytest.Session] = []

    class Host:
        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> int:
            """Instead of a run: keep the session."""
            made.append(pytest.Session.from_config(config))
            return 0

    nowhere = Path(os.devnull)
    options = ["-c", str(nowhere), "--rootdir", str(nowhere.parent), "--noconftest", "--color=no"]
    options += [f"-pno:{name}" for name in default_plugins if name not in _OF_PYTEST]
    with _undisturbed():
        ended = pytest.main(options, plugins=[Host(), nbval.plugin])
    if not made:
        raise RuntimeError(f"pytest cannot be used here: it ended with {ended}")
    return made[0]


_OF_PYTEST = {*essential_plugins, "python", "terminal"}
"""What nbval's cells need of pytest; the rest takes longer to be made ready than they do."""


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """No output, and none of the user's own pytest plugins or options."""
    changes = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        with _no_output():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _no_output() -> Iterator[None]:
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


class CannotStartKernel(Exception):
    """The kernel did not start."""


class Grader:
    """What all cells of one notebook tell: its outcome."""

    def __init__(self, limits: Limits, sandbox: str) -> None:
        self.limits, self.sandbox = limits, sandbox
        self.outcome = Outcome()
        self.kept: Counter[str] = Counter()
        """Bytes of answers, by exercise."""

    def stop(self, why: str, exercise: str) -> None:
        """Remember the first thing that ended the run."""
        if not self.outcome.stopped:
            self.outcome.stopped, self.outcome.stopped_in = why, exercise

    def malformed(self, what: str, exercise: str) -> None:
        """A message was none: the run ends, and somebody should look at the exercise."""
        if not self.outcome.stopped:
            self.outcome.malformed[exercise] = what
        self.stop("malformed-message", exercise)

    def forged(self, what: str, exercise: str, case: str) -> None:
        """A message was made up: the run ends, for what comes now could be, too."""
        if not self.outcome.stopped:
            self.outcome.forged[exercise, case] = what
        self.stop("forged-output", exercise)

    def notice(self, notes: list[str], exercise: str) -> None:
        """Keep what the kernel noted."""
        known = self.outcome.noticed.get(exercise, ())
        if notes:
            self.outcome.noticed[exercise] = tuple(dict.fromkeys((*known, *notes)))


class GradedFile(nbval.plugin.IPyNbFile):
    """One assembled notebook with a kernel of its own."""

    grader: Grader
    nb: NotebookNode
    running: Running | None = None
    graded: GradedKernel | None = None

    def setup(self) -> None:
        """Start the kernel; limits on time count from when it is ready."""
        grader = self.grader
        try:
            self.running = start_kernel(grader.sandbox, grader.limits, kernel_package())
            self.kernel = self.graded = GradedKernel(self.running, grader.limits, prints=False)
        except Exception as error:
            grader.stop("start-failed", "")
            grader.outcome.reason = f"{type(error).__name__}: {error}"
            raise CannotStartKernel from error

    def collect(self) -> Generator["GradedCell", None, None]:
        """One item per cell; which options apply is ours to say, not the cell's comments' or tags'."""
        for number, cell in enumerate(self.nb.cells):
            cell.execution_count = number + 1  # so that nbval hands the outputs to compare_outputs
            options = defaultdict(bool, {"check": True})
            yield GradedCell.from_parent(
                self, name=f"cell {number}", cell_num=number, cell=cell, options=options
            )

    def was_busy(self) -> bool:
        """Whether the kernel had to wait for a processor, so that a calmer moment may do better."""
        assert self.running is not None
        assert self.graded is not None
        return was_busy(self.running.pid, self.graded.wall_used)

    def teardown(self) -> None:
        """Stop the kernel and everything it has started."""
        if self.graded is not None:
            outcome = self.grader.outcome
            outcome.seconds, outcome.wall = self.graded.cpu_used, self.graded.wall_used
            self.graded.stop()
        elif self.running is not None:
            self.running.close()


class GradedCell(nbval.plugin.IPyNbCell):
    """One cell of an assembled notebook."""

    parent: GradedFile

    def runtest(self) -> None:
        """Run the cell unless the run has ended; turn every way to fail into part of the outcome."""
        grader, role = self.parent.grader, self.cell.metadata[ROLE]
        exercise = role.get("exercise", "")
        if grader.outcome.stopped:
            return
        self.config.option.nbval_cell_timeout = 1e6  # GradedKernel minds the clock
        if self.parent.graded is not None:
            is_check = role["role"] == "check"
            self.parent.graded.is_check = is_check
            self.parent.graded.measures = is_check and role["memory"]
            self.parent.graded.most = MAX_CHECK_BYTES if is_check else MAX_MESSAGE
        try:
            super().runtest()
        except nbval.plugin.NbCellError as error:
            if self.parent.timed_out:
                grader.stop("timeout", exercise)
            elif role["role"] == "answer":
                grader.outcome.cell_errors[exercise] = self._error_text(str(error))
            elif role["role"] == "check":
                grader.outcome.forged[exercise, role["case"]] = "the check itself was stopped by an error"
        except TimedOut as timeout:
            grader.outcome.slow = timeout.only_wall and self.parent.was_busy()
            grader.stop("slept" if timeout.slept else "timeout", exercise)
        except (OutputLimit, MemoryError):  # of this process: what came was too much for it
            grader.stop("output-limit", exercise)
        except RecursionError:  # nbval takes messages apart without asking how deep they are
            grader.malformed("it is too deep", exercise)
        except (KernelDied, RuntimeError, Empty):
            grader.stop(self._end(), exercise)
        except Malformed as error:
            grader.malformed(str(error), exercise)
        except Forged as error:
            grader.forged(str(error), exercise, role.get("case", ""))
        except Exception as error:  # or what is in them
            grader.malformed(f"it cannot be taken apart ({type(error).__name__})", exercise)
        finally:
            self.test_outputs = None
            if self.parent.graded is not None:
                grader.notice(self.parent.graded.noticed, exercise)

    def _end(self) -> str:
        """Why the kernel is gone."""
        running = self.parent.running
        limit = running.why if running is not None else ""
        ends = {"memory": "out-of-memory", "disk": "output-limit"}
        return ends.get(limit, "timeout" if self.parent.timed_out else "kernel-died")

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        """Take the one answer out of a check cell's outputs; other cells may print what they like."""
        role = self.cell.metadata[ROLE]
        if role["role"] == "check":
            key = (role["exercise"], role["case"])
            sent = [
                o["data"][RESULT] for o in test if isinstance(o.get("data"), dict) and RESULT in o["data"]
            ]
            grader = self.parent.grader
            try:
                answer = _read(sent)
            except ValueError as error:
                grader.outcome.forged[key] = str(error)
                return True
            grader.kept[key[0]] += bytes_of(answer)
            if grader.kept[key[0]] > MAX_EXERCISE_BYTES:
                raise OutputLimit
            grader.outcome.answers[key] = answer
        return True

    def _error_text(self, fallback: str) -> str:
        for output in self.test_outputs or []:
            if output.get("output_type") == "error":
                text = _FILE.sub(r" (line \1)", f"{output.get('ename')}: {output.get('evalue')}")
                return text[:400]
        return fallback


_FILE = re.compile(r" \([^()]*, line (\d+)\)$")
"""How a SyntaxError tells where it is; the file's name means nothing to a learner."""


def _read(sent: list[Any]) -> Answer:
    """The answer in the outputs of a check cell; ValueError when there is not exactly one, and whole.

    Where there are more, the notebook displayed one itself.
    """
    if len(sent) != 1:
        raise ValueError(f"{len(sent)} results arrived where exactly one belongs")
    answer, held = unpack_answer(sent[0]["answer"]), beyond_doubt(sent[0]["held"])
    return replace(answer, peak_bytes=held) if held > answer.peak_bytes else answer
