"""Grade on a Dask cluster. Notebooks travel as bytes: workers need the package, and no file of the grader's."""

import asyncio
import faulthandler
import hashlib
import importlib.metadata
import logging
import os
import pickle
import platform
import queue
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

from sdpa_helpers import __version__
from sdpa_helpers.classroom.executors import CannotGrade, Ended
from sdpa_helpers.classroom.worker_process import MARGIN, overdue, work
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.assemble import pristine_text
from sdpa_helpers.grading.grade_one import Attempt, Settings, cannot_open, without_run
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.grading.own_code import own_code
from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, Submission
from sdpa_helpers.sandbox import choose_level, scratch

ANSWERS_WITHIN = 5.0
"""Seconds that the scheduler has to answer."""

_SEEN_EVERY = 2.0
_LAST_WORDS = 5.0
"""Seconds in which a worker that ends itself tells why."""

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Task:
    """A submission on its way to a worker."""

    submission: Submission
    size: int
    """Of its file, in bytes."""
    content: bytes | None
    """None where the file is too large to be read at all."""
    settings: Settings
    edition: dict[str, str]
    """What the worker must have too: name → version."""


class WorkerRefuses(Exception):
    """A worker must not grade; its text says why."""


class Cluster:
    """The workers of the Dask scheduler at an address; `say` tells the instructor what they should know.

    Settings.sandbox is then what was asked for, "auto", "require" or "off": each worker chooses its level itself.
    """

    def __init__(self, address: str, say: Callable[[str], None]) -> None:
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise CannotGrade(
                '--executor dask=… needs the package distributed: pip install -e ".[cluster]"'
            ) from None
        self.address, self.say, self.said = address, say, set[str]()
        _let_us_speak()
        try:
            with ThreadPoolExecutor(1) as aside:  # in this thread a loop may be running, as in a notebook
                aside.submit(
                    lambda: asyncio.run(asyncio.wait_for(_answers(address), ANSWERS_WITHIN))
                ).result()
            self.client = Client(address, timeout=ANSWERS_WITHIN, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise CannotGrade(
                f"no Dask scheduler answers at {address} ({str(error) or 'it is silent'}); expected the address that "
                "`dask scheduler` prints, e.g. --executor dask=tcp://192.0.2.7:8786"
            ) from None
        self.executor, self.deliver = self.client.get_executor(pure=False), _courier()
        self.seen, self.threads = -_SEEN_EVERY, 0
        self.under_way: dict[Future[Attempt | None], Submission] = {}

    def room(self) -> int:
        """Two for each thread of the cluster, which may grow and shrink; four when there is none yet."""
        if time.monotonic() - self.seen > _SEEN_EVERY:
            with self._reaching_it():
                threads = self.client.nthreads().values()  # type: ignore[union-attr]  # not an asynchronous client
            self.seen, self.threads = time.monotonic(), sum(threads)
            if not self.threads:
                self._tell(f"The Dask scheduler at {self.address} has no worker; waiting for one.")
        return max(4, 2 * self.threads) - len(self.under_way)

    def submit(self, submission: Submission, settings: Settings) -> None:
        """Send one to the scheduler."""
        try:
            task = pack(submission, settings)
        except OSError as error:
            unread: Future[Attempt | None] = Future()
            unread.set_result(Attempt(without_run(submission, settings, "unreadable", cannot_open(error))))
            self.under_way[unread] = submission
            return
        with warnings.catch_warnings(), self._reaching_it():
            warnings.filterwarnings("ignore", "Sending large graph")  # a notebook with its outputs
            self.under_way[self.executor.submit(self.deliver, pickle.dumps(task))] = submission

    def ended(self) -> list[Ended]:
        """Those that have ended; meanwhile it looks now and then whether the scheduler still has workers."""
        while not (done := wait(self.under_way, 5.0, FIRST_COMPLETED).done):
            self.room()
        return [Ended(self.under_way.pop(future), self._outcome(future)) for future in done]

    def _outcome(self, future: Future[Attempt | None]) -> Attempt | None:
        """None when several workers have died on it, one after the other."""
        from distributed import KilledWorker

        try:
            done = future.result()
        except KilledWorker:
            return None
        except CancelledError:
            raise self._gone() from None
        except WorkerRefuses as error:
            raise CannotGrade(str(error)) from None
        except Exception as error:  # the scheduler, or a worker, cannot even read what it should do
            raise CannotGrade(
                f"the Dask cluster at {self.address} could not do the work ({type(error).__name__}: {error}). "
                f"Its scheduler and its workers need the same packages as this machine: {_listed(edition())}"
            ) from None
        if done is not None and done.note:
            self._tell(done.note)
        return done

    @contextmanager
    def _reaching_it(self) -> Iterator[None]:
        """What the client raises when it has lost its scheduler depends on how far it has noticed."""
        try:
            yield
        except Exception as error:
            if isinstance(error, OSError) or self.client.status != "running":
                raise self._gone() from None
            raise

    def _gone(self) -> CannotGrade:
        return CannotGrade(
            f"the Dask scheduler at {self.address} is gone. What is graded is kept: run the same command again"
        )

    def _tell(self, note: str) -> None:
        if note not in self.said:
            self.said.add(note)
            self.say(note)

    def close(self, finished: bool) -> None:
        """Leave the cluster as it was; what is still under way there is cancelled."""
        try:
            self.executor.shutdown(wait=finished)
        except Exception:
            if self.client.status == "running":
                raise
            # The scheduler is gone, and with it what could be cancelled: the error on its way says so.
        self.client.close()


LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")
"""All that have a level of their own; the others have that of their parents."""


def _let_us_speak() -> None:
    """Keep Dask's own log out of what the instructor reads, unless their Dask configuration asks for it.

    Its threads log tracebacks of their own after a scheduler has gone, at any moment until the process ends.
    That it is gone is said once, by CannotGrade.
    """
    import dask.config

    if not dask.config.get("logging", None):
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)


async def _answers(address: str) -> None:
    """Ask the scheduler who it is. A client waits forever at a port that accepts and then says nothing."""
    from distributed import rpc

    async with rpc(address, timeout=ANSWERS_WITHIN) as scheduler:
        await scheduler.identity()


def pack(submission: Submission, settings: Settings) -> Task:
    """What a worker needs to grade a submission. Raises OSError when its file cannot be read."""
    size, content = 0, None
    if submission.path is not None:
        with submission.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read() if size <= MAX_NOTEBOOK_BYTES else None
    return Task(submission, size, content, settings, edition())


def _courier() -> Callable[[bytes], Attempt | None]:
    """The task as Dask sees it: sent by value, so that a worker without our package can say so.

    Annotations would bring in the package.
    """

    def deliver(task):
        import pickle

        from sdpa_helpers.classroom.cluster import work_there

        return work_there(pickle.loads(task))

    return deliver


# ---- on a worker ------------------------------------------------------------------------------------------


def work_there(task: Task) -> Attempt | None:
    """Grade what has arrived; one at a time in a process, however many threads the worker has.

    Raises WorkerRefuses when this worker has other packages, or cannot confine a kernel as it must.
    """
    here = edition()
    differing = {name: value for name, value in task.edition.items() if here[name] != value}
    if differing:
        raise WorkerRefuses(
            f"the worker on {socket.gethostname()} has {_listed({name: here[name] for name in differing})} where "
            f"the grader has {_listed(differing)}: marks could differ. Install the same there"
        )
    with _ONE_AT_A_TIME:
        choice = _choice(task.settings.sandbox)
        settings = replace(task.settings, sandbox=choice.level)
        done = _in_time(task, settings)
    if done is None or not choice.missing:
        return done
    weak = f"the sandbox {choice.level}, which is not the best there is"
    level = "no sandbox" if choice.level == "off" else weak
    note = f"{socket.gethostname()} grades with {level}.\n{choose_level.explain(choice.missing)}"
    return replace(done, note=note)


def _in_time(task: Task, settings: Settings) -> Attempt | None:
    """Grade it; at the deadline say so, and end this process, which cannot be trusted any more.

    Dask starts another one in its place, or gives its work to others.
    """
    seconds = settings.limits.wall_seconds + MARGIN
    done: queue.SimpleQueue[Attempt | None] = queue.SimpleQueue()
    # Where no thread of this process gets a turn any more, it ends without a word.
    faulthandler.dump_traceback_later(seconds + 2 * _LAST_WORDS, exit=True, file=2)
    threading.Thread(target=lambda: done.put(_work(task, settings)), daemon=True).start()
    try:
        attempt = done.get(timeout=seconds)
    except queue.Empty:
        threading.Timer(_LAST_WORDS, os._exit, [1]).start()
        return overdue(task.submission)
    faulthandler.cancel_dump_traceback_later()
    return attempt


def _work(task: Task, settings: Settings) -> Attempt | None:
    """Unpack the notebook to where the reader finds it. Of one that is too large only the size matters."""
    if task.submission.path is None:
        return work(task.submission, settings)
    try:
        folder = scratch.make("sent")
    except OSError as error:
        return Attempt(None, trouble=f"{socket.gethostname()}: {error}")
    try:
        path = folder / "submission.ipynb"
        path.write_bytes(task.content or b"")
        if task.content is None:
            os.truncate(path, task.size)
        return work(replace(task.submission, path=path), settings)
    except OSError as error:
        return Attempt(None, trouble=f"{socket.gethostname()}: {error}")
    finally:
        scratch.remove(folder)


@cache
def _choice(wanted: str) -> choose_level.ChosenLevel:
    try:
        return choose_level.choose(wanted, kernel_package())
    except choose_level.NoSandbox as error:
        host = socket.gethostname()
        raise WorkerRefuses(f"--sandbox require: no sandbox holds on the worker {host}.\n{error}") from None
    except choose_level.CannotTry as error:
        raise WorkerRefuses(f"on the worker {socket.gethostname()} {error}") from None


@cache
def edition() -> dict[str, str]:
    """What marks depend on, and the words in the feedback: this package's code and exercises, NumPy, Python."""
    digest = hashlib.sha256(own_code().encode())
    for name in LESSONS:
        digest.update(pristine_text(name).encode())
    libraries = {name: importlib.metadata.version(name) for name in ("numpy", "torch")}
    ours = f"{__version__} (files {digest.hexdigest()[:8]})"
    python = ".".join(platform.python_version_tuple()[:2])
    return {"sdpa-helpers": ours, **libraries, "Python": python}


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
