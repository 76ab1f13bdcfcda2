"""Grade many submissions: in worker processes of this machine, or on a Dask cluster; one never stops the others."""

import multiprocessing
import multiprocessing.connection
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from sdpa_helpers.classroom.worker_process import MARGIN, Kin, Worker
from sdpa_helpers.grading.grade_one import Attempt, Settings, given_up
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import Flag
from sdpa_helpers.sandbox import scratch

TRIES_ALONE = 2
"""How often a submission under which a worker has died is tried again, with nothing beside it."""

MAX_AGAIN = 10
"""How many submissions of a batch are graded once more because the machine was busy."""

MAX_SECONDS_AGAIN = 600.0
"""How long all of that may take."""

MAX_PROBES = 3
"""How many others are graded to find out whether trouble is the machine's or one submission's."""


GO_ON = "What is graded is kept: the same command goes on from there."


class CannotGrade(Refusal):
    """The work cannot be done here and now; its text says why. What is graded already stays so."""


@dataclass(frozen=True)
class Ended:
    """A submission that an executor has done with."""

    submission: Submission
    attempt: Attempt | None
    """None when its worker, or the sandbox, has died."""


class Executor(Protocol):
    """Where submissions are graded."""

    def room(self) -> int:
        """How many more can begin now, so that no worker waits for the next. Raises CannotGrade when it is lost."""
        ...

    def submit(self, submission: Submission, settings: Settings) -> None:
        """Begin to grade one."""
        ...

    def ended(self) -> list[Ended]:
        """Wait until one of those that have begun has ended; raises CannotGrade when the executor itself is lost."""
        ...

    def close(self, finished: bool) -> None:
        """End the workers, at once unless everything is finished."""
        ...


def grade_all(submissions: list[Submission], settings: Settings, executor: Executor) -> Iterator[Attempt]:
    """Grade every submission; attempts, each with a result, come in the order in which they are finished.

    One under which a worker died is graded again alone: if it does it again, it is recorded as "grader-failed". One
    that ran out of time on the clock while the machine was busy is graded once more, alone, when the others are
    done; of many such only the first MAX_AGAIN are, within MAX_SECONDS_AGAIN. Raises CannotGrade when the machine,
    or the cluster, is in trouble: when a submission cannot be graded alone, and another cannot either.
    """
    waiting, crowd, finished = deque(submissions), len(submissions) > 1, False
    under_way, alone = 0, Alone(submissions, settings, executor)
    suspects: list[Submission] = []
    slow: list[Ended] = []
    ready: list[Attempt] = []
    scratch.sweep()
    try:
        while waiting or under_way or suspects or ready:
            while waiting and not suspects and executor.room() > 0:
                executor.submit(waiting.popleft(), settings)
                under_way += 1
            yield from ready  # the workers have been given more before whoever gets these looks at them
            ready = []
            if not under_way:
                yield from map(alone.grade, suspects)
                suspects = []
                continue
            for ended in executor.ended():
                under_way -= 1
                if ended.attempt is None or ended.attempt.trouble:
                    suspects.append(ended.submission)
                elif ended.attempt.slow and crowd:
                    slow.append(ended)
                else:
                    alone.seen(ended)
                    ready.append(ended.attempt)
            ready += [_as_it_is(ended) for ended in slow[MAX_AGAIN:]]
            del slow[MAX_AGAIN:]
        yield from _again(slow, alone)
        finished = True
    finally:
        executor.close(finished)
        scratch.sweep()  # what a worker that was killed has left


def _again(slow: list[Ended], alone: "Alone") -> Iterator[Attempt]:
    """Grade once more what met a busy machine, while there is time for that."""
    end = time.monotonic() + MAX_SECONDS_AGAIN
    for ended in slow:
        yield alone.grade(ended.submission) if time.monotonic() < end else _as_it_is(ended)


def _as_it_is(ended: Ended) -> Attempt:
    """The first attempt, with a flag: many others ran out of time too."""
    assert ended.attempt is not None
    assert ended.attempt.result is not None
    message = (
        "ran out of time on the clock, and was not graded once more, for many others did too: if the machine was "
        "busy, delete this result and run the same command again"
    )
    result = ended.attempt.result
    return replace(ended.attempt, result=replace(result, flags=(*result.flags, Flag("no-time", message))))


class Alone:
    """Grades one submission with nothing beside it, and finds out whose trouble it is."""

    def __init__(self, submissions: list[Submission], settings: Settings, executor: Executor) -> None:
        self.submissions, self.settings, self.executor = submissions, settings, executor
        self.fine: Submission | None = None
        """One that this machine could grade."""

    def seen(self, ended: Ended) -> bool:
        """Remember one whose code was run to its end; says whether this was such."""
        result = ended.attempt.result if ended.attempt is not None else None
        if result is not None and result.status == "graded":
            self.fine = ended.submission
            return True
        return False

    def grade(self, submission: Submission) -> Attempt:
        """Its attempt, the first that came to an end; raises CannotGrade when others cannot be graded either."""
        done = None
        for _ in range(TRIES_ALONE):
            done = self._once(submission)
            if done is not None and not done.trouble:
                return done
        if done is None:
            reason = "The grading process ended each time it worked on this notebook."
            return Attempt(given_up(submission, reason))
        if not self._others_can(submission):
            raise CannotGrade(f"{submission.student}, {submission.notebook}: {done.trouble}. {GO_ON}")
        reason = f"The grader can work on other notebooks, and not on this one: {done.trouble}"
        return Attempt(given_up(submission, reason))

    def _once(self, submission: Submission) -> Attempt | None:
        self.executor.submit(submission, self.settings)
        (ended,) = self.executor.ended()
        return ended.attempt

    def _others_can(self, submission: Submission) -> bool:
        others = [s for s in self.submissions if s is not submission and s.path is not None]
        probes = [self.fine] if self.fine else others[:MAX_PROBES]
        return any(self.seen(Ended(probe, self._once(probe))) for probe in probes)


# ---- this machine -----------------------------------------------------------------------------------------


class Processes:
    """Worker processes of this machine, `jobs` of them; one that has ended is replaced."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.workers: list[Worker] = []
        self.leash: multiprocessing.connection.Connection | None = None
        self.held: multiprocessing.connection.Connection | None = None

    def room(self) -> int:
        """One for each worker that has nothing to do."""
        return self.jobs - len(self._busy())

    def submit(self, submission: Submission, settings: Settings) -> None:
        """Hand one to a worker."""
        for worker in self.workers:
            if not worker.usable():
                worker.end()
        self.workers = [worker for worker in self.workers if not worker.gone]
        idle = next((worker for worker in self.workers if worker.task is None), None)
        (idle or self._another()).begin(submission, settings, MARGIN)

    def ended(self) -> list[Ended]:
        """Those that have ended, by themselves or at their deadline."""
        while True:
            busy = self._busy()
            left = min(worker.deadline for worker in busy) - time.monotonic()
            connections = [worker.connection for worker in busy]
            multiprocessing.connection.wait(connections, max(0.0, min(left, _LOOK_EVERY)))
            if found := [Ended(*seen) for worker in busy if (seen := worker.look()) is not None]:
                return found

    def close(self, finished: bool) -> None:
        """Workers that have nothing left to do clean up behind them; the others end at once."""
        for worker in self.workers:
            worker.close() if finished else worker.end()
        for end in (self.leash, self.held):
            if end is not None:
                end.close()
        self.workers, self.leash, self.held = [], None, None

    def _busy(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.task is not None]

    def _another(self) -> Worker:
        # Forked workers have everything imported, and share the fork server that this process has tried out.
        # A process with other threads must not be forked.
        forked = sys.platform.startswith("linux") and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if forked else "spawn")
        if self.leash is None or self.held is None:
            self.held, self.leash = context.Pipe(duplex=False)
        graders = (self.leash, *(worker.connection for worker in self.workers)) if forked else ()
        self.workers.append(Worker(context, Kin(self.held, graders)))
        return self.workers[-1]


_LOOK_EVERY = 1.0
"""Seconds after which workers are looked at though none has sent anything: one may have been killed."""
