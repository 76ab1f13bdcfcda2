"""Lesson 09: processes of torch.distributed that a cell starts, and that end with it.

    with Ranks(4) as ranks:
        replies = ranks.run(program, [(rank, ...) for rank in range(4)], uses=(helper,))

Leaving the block ends them: at its end, by an error, by an interrupted cell. Where the kernel itself is restarted or
killed, each of them notices and ends by itself (`rank_process.py`).

They are forks of one helper process (a "forkserver"), which imports torch once and stays as long as the kernel does. A
fork of the kernel itself, with its threads, could hang. This module needs no torch.
"""

import contextlib
import inspect
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from types import ModuleType
from typing import Any, Self

from sdpa_helpers.course.needs import needs
from sdpa_helpers.lessons.many_machines.jobs import Job, Reply

_WORKER = "sdpa_helpers.lessons.many_machines.rank_process"


@needs("torch")
class Ranks:
    """Processes that hold one sequence together; a context manager."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.processes: list[Any] = []
        self.pipes: list[Any] = []
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        folder = self._open.enter_context(tempfile.TemporaryDirectory())
        self._open.callback(self._end)
        try:
            for rank in range(self.size):
                self._start(rank, folder)
        except BaseException:  # an interrupt, too: none may be left
            self._open.close()
            raise
        return self

    def _start(self, rank: int, folder: str) -> None:
        context = _context()
        ours, theirs = context.Pipe()
        arguments = (rank, self.size, folder, theirs)
        process = context.Process(target=_serve, args=arguments, name=f"rank {rank}", daemon=True)
        self.processes.append(process)
        self.pipes.append(ours)
        with _without_main():
            process.start()
        theirs.close()

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(
        self, program: Callable, arguments: Sequence[tuple], uses: Sequence[Callable] = ()
    ) -> list[Reply]:
        """Every rank calls `program` with its own arguments; what each found and what it sent, in order.

        Args:
            program: a function of the notebook; in the ranks it knows np, torch, dist and what it `uses`.
            arguments: for each rank.
            uses: other functions of the notebook that it calls.

        Raises:
            RuntimeError: a rank failed; the message holds its traceback. All ranks are then ended.
        """
        source = "\n\n".join(inspect.getsource(function) for function in (*uses, program))
        for pipe, given in zip(self.pipes, arguments, strict=True):
            pipe.send(Job(source, program.__name__, given))
        replies: dict[int, Reply] = {}
        while len(replies) < self.size:
            waiting = {pipe: rank for rank, pipe in enumerate(self.pipes) if rank not in replies}
            for pipe in wait(list(waiting)):
                replies[waiting[pipe]] = self._reply(waiting[pipe])
        return [replies[rank] for rank in range(self.size)]

    def _reply(self, rank: int) -> Reply:
        try:
            reply = self.pipes[rank].recv()
        except EOFError:
            self._open.close()
            raise RuntimeError(f"rank {rank} ended without an answer") from None
        if reply.error:
            self._open.close()
            raise RuntimeError(f"rank {rank} failed:\n{reply.error}")
        return reply

    def alive(self) -> int:
        """How many of the processes are running."""
        return sum(process.is_alive() for process in self.processes)

    def _end(self) -> None:
        started = [process for process in self.processes if process.pid is not None]
        for process in started:
            process.kill()  # nothing of theirs needs saving
        for process in started:
            process.join()
        for pipe in self.pipes:
            pipe.close()


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")  # Windows
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_WORKER])
    return context


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Each new process would run the program again that started it, where there is a file: it needs nothing of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(*arguments: Any) -> None:
    from sdpa_helpers.lessons.many_machines.rank_process import serve

    serve(*arguments)
