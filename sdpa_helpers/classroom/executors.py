"""Grade many submissions: in worker processes of this machine, or on a Dask cluster; one never stops the others."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Protocol

from sdpa_helpers.grading.grade_one import Attempt, Settings, attempt, without_run
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook, Status
from sdpa_helpers.grading.run import SandboxEnded
from sdpa_helpers.sandbox import scratch

TRIES_ALONE = 2
"""How often a submission under which a worker has died is tried again, with nothing beside it."""


class CannotGrade(Refusal):
    """The work cannot be done here and now; its text says why. What is graded already stays so."""


class Executor(Protocol):
    """Where submissions are graded."""

    def max_in_flight(self) -> int:
        """How many submissions to have under way: enough that no worker waits for the next."""
        ...

    def submit(self, submission: Submission, settings: Settings) -> Future[Attempt | None]:
        """Begin to grade one."""
        ...

    def outcome(self, future: Future[Attempt | None]) -> Attempt | None:
        """Its attempt; None when its worker, or the sandbox, has died.

        Raises CannotGrade when the executor itself is lost.
        """
        ...

    def close(self, finished: bool) -> None:
        """End the workers, at once unless everything is finished."""
        ...


def grade_all(submissions: list[Submission], settings: Settings, executor: Executor) -> Iterator[Attempt]:
    """Grade every submission; attempts, each with a result, come in the order in which they are finished.

    Those under way while a worker died are graded again one by one: the one that did it, and does it again, is
    recorded as "kernel-died". A submission that ran out of time on the clock, but not of CPU time, is graded once
    more, alone, when the others are done. Raises CannotGrade when the machine, or the cluster, is in trouble.
    """
    waiting, crowd, finished = deque(submissions), len(submissions) > 1, False
    under_way: dict[Future[Attempt | None], Submission] = {}
    suspects: list[Submission] = []
    slow: list[Submission] = []
    scratch.sweep()
    try:
        while waiting or under_way or suspects:
            while waiting and not suspects and len(under_way) < executor.max_in_flight():
                submission = waiting.popleft()
                under_way[executor.submit(submission, settings)] = submission
            if not under_way:
                yield from _one_by_one(suspects, settings, executor)
                suspects = []
                continue
            done_now = _finished(under_way, executor)
            for future in [f for f in under_way if f in done_now]:
                submission, done = under_way.pop(future), executor.outcome(future)
                if done is None or done.trouble:
                    suspects.append(submission)
                elif done.slow and crowd:
                    slow.append(submission)
                else:
                    yield done
        yield from _one_by_one(slow, settings, executor)
        finished = True
    finally:
        executor.close(finished)
        scratch.sweep()  # what a worker that was killed has left


def _one_by_one(submissions: list[Submission], settings: Settings, executor: Executor) -> Iterator[Attempt]:
    for submission in submissions:
        yield _alone(submission, settings, executor)


def _alone(submission: Submission, settings: Settings, executor: Executor) -> Attempt:
    done = None
    for _ in range(TRIES_ALONE):
        future = executor.submit(submission, settings)
        _finished([future], executor)
        done = executor.outcome(future)
        if done is not None and not done.trouble:
            return done
    if done is not None:
        raise CannotGrade(f"{submission.student}, {submission.notebook}: {done.trouble}")
    reason = "The grading process ended each time it worked on this notebook."
    return Attempt(_given_up(submission, settings, "kernel-died", reason))


def _finished(futures: Iterable[Future], executor: Executor) -> set[Future]:
    """Wait until one is finished; meanwhile the executor looks now and then whether it still has workers."""
    while not (done := wait(futures, 5.0, FIRST_COMPLETED).done):
        executor.max_in_flight()
    return done


def _given_up(submission: Submission, settings: Settings, status: Status, reason: str) -> GradedNotebook:
    """A result without a fingerprint: the next run of the same command tries again."""
    return replace(without_run(submission, settings, status, reason), fingerprint="")


def work(submission: Submission, settings: Settings) -> Attempt | None:
    """What a worker does: an error of the machine is no submission's fault, and a bug of ours stops no batch.

    None when the sandbox ended again and again, as if this process had.
    """
    try:
        return attempt(submission, settings)
    except SandboxEnded:
        return None
    except (OSError, MemoryError) as error:
        return Attempt(None, trouble=f"{type(error).__name__}: {error}")
    except Exception as error:
        reason = (
            f"The grader itself failed on this notebook ({type(error).__name__}: {str(error)[:200]}). "
            "Tell your instructor; it was not you who made the mistake."
        )
        return Attempt(_given_up(submission, settings, "unreadable", reason))


# ---- this machine -----------------------------------------------------------------------------------------


class Processes:
    """Worker processes of this machine, `jobs` of them; a pool whose worker was killed is replaced."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.pool: ProcessPoolExecutor | None = None
        self.leash: multiprocessing.connection.Connection | None = None

    def max_in_flight(self) -> int:
        """One waits beside each that runs."""
        return 2 * self.jobs

    def submit(self, submission: Submission, settings: Settings) -> Future[Attempt | None]:
        """Hand one to the pool."""
        if self.pool is None:
            # Forked workers have everything imported, and share the fork server that this process has tried out.
            # A process with other threads must not be forked.
            forked = sys.platform.startswith("linux") and threading.active_count() == 1
            context = multiprocessing.get_context("fork" if forked else "spawn")
            held, self.leash = context.Pipe(duplex=False)
            given = (held, self.leash if forked else None)
            self.pool = ProcessPoolExecutor(self.jobs, context, _end_with_parent, given)
        try:
            return self.pool.submit(work, submission, settings)
        except BrokenProcessPool as error:
            broken: Future[Attempt | None] = Future()
            broken.set_exception(error)
            return broken

    def outcome(self, future: Future[Attempt | None]) -> Attempt | None:
        """None when the pool broke meanwhile."""
        try:
            return future.result()
        except BrokenProcessPool:
            self.close(finished=False)
            return None

    def close(self, finished: bool) -> None:
        """Workers that have nothing left to do clean up behind them; the others are let go of, and end at once."""
        if self.leash is not None and not finished:
            self.leash.close()
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)
        self.pool = self.leash = None


def _end_with_parent(
    leash: multiprocessing.connection.Connection, graders_end: multiprocessing.connection.Connection | None
) -> None:
    """A worker ends at once, and with it its kernels, when its grader was killed or has let go of the leash."""
    if graders_end is not None:
        graders_end.close()  # a forked worker has it too, and would hold itself by the leash
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's to act on
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel, leash])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
