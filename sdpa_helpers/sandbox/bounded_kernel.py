"""nbval's kernel with budgets: what comes from it is counted before it is parsed, its death is noticed."""

import contextlib
import time
from collections import deque
from queue import Empty
from typing import Any

import nbval.kernel
import zmq

from sdpa_helpers.sandbox.connection import Running
from sdpa_helpers.sandbox.inside import wire
from sdpa_helpers.sandbox.limits import Limits

MAX_PARTS = 500_000
"""Commas and brackets in one message: each may become an object in the grader's memory."""


class OutputLimit(Exception):
    """The kernel sent more than its budget, or what is no message."""


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


class TimedOut(Exception):
    """A limit on time was reached."""

    def __init__(self, only_wall: bool) -> None:
        super().__init__()
        self.only_wall = only_wall
        """Whether there was CPU time left, so that the machine may have been busy."""


class GradedKernel(nbval.kernel.RunningKernel):
    """A kernel that runs one submission."""

    def __init__(self, running: Running, limits: Limits) -> None:
        self.running, self.limits = running, limits
        self.messages = self.bytes = self.asked = 0
        self.plain = False
        """Whether the next cell is Python without IPython's additions."""
        self.backlog: deque[dict] = deque()
        self.cell: tuple[float, float] | None = None
        self.sockets = {"iopub": running.iopub, "shell": running.shell}
        self.hang_ups = [s.get_monitor_socket(zmq.EVENT_DISCONNECTED) for s in self.sockets.values()]
        self.pollers = {"iopub": zmq.Poller(), "shell": zmq.Poller()}
        for name, poller in self.pollers.items():
            for socket in {self.sockets[name], running.iopub, *self.hang_ups}:
                poller.register(socket, zmq.POLLIN)
        self._ensure_iopub_up()
        self.started = (time.monotonic(), running.cpu)

    @property
    def cpu_used(self) -> float:
        """CPU-seconds since the kernel was ready."""
        return self.running.cpu - self.started[1]

    @property
    def wall_used(self) -> float:
        """Seconds on the clock since the kernel was ready."""
        return time.monotonic() - self.started[0]

    def _ensure_iopub_up(self) -> None:
        """Wait until the kernel answers and its outputs reach us; as nbval's, without the pause of a second."""
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            asked = self._ask("kernel_info_request", {})
            self.await_reply(asked, timeout=max(1.0, deadline - time.monotonic()))
            with contextlib.suppress(Empty):
                self.await_idle(asked, 0.1)
                return
        raise RuntimeError("the kernel does not answer")

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """As nbval's; every cell has the whole budget of messages."""
        self.messages = self.bytes = 0
        self.cell = (time.monotonic(), self.running.cpu)
        fixed = {"silent": False, "store_history": False, "allow_stdin": False, "stop_on_error": False}
        content = {"code": cell_input, "plain": self.plain, "user_expressions": {}, **fixed}
        return self._ask("execute_request", content)

    def _ask(self, kind: str, content: dict[str, Any]) -> str:
        """Send a request; gives its id."""
        self.asked += 1
        number = f"grader-{self.asked}"
        self.running.shell.send_multipart(wire.write(self.running.key, number, kind, content))
        return number

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message; reads both channels meanwhile, so that neither can pile up unread."""
        self._mind_the_clock()
        if stream == "iopub" and self.backlog:
            return self.backlog.popleft()
        poller = self.pollers[stream]
        end = time.monotonic() + (timeout if timeout is not None else 3600)
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(zmq.Again):
                return self._receive(self.sockets[stream], zmq.NOBLOCK)
            ready = dict(poller.poll(int(min(100, 1000 * left)) + 1))
            if self.sockets[stream] in ready:
                return self._receive(self.sockets[stream])
            if self.sockets["iopub"] in ready:
                self.backlog.append(self._receive(self.sockets["iopub"]))
            elif ready:
                self._hung_up()
            elif not self.is_alive():
                raise KernelDied
            self._mind_the_clock()
        raise Empty

    def _mind_the_clock(self) -> None:
        if self.cell is None:
            return
        limits, (wall, cpu) = self.limits, self.cell
        if self.running.cpu - cpu > limits.cell_seconds or self.cpu_used > limits.seconds:
            raise TimedOut(only_wall=False)
        slow = time.monotonic() - wall > limits.patience * limits.cell_seconds
        if slow or self.wall_used > limits.wall_seconds:
            raise TimedOut(only_wall=True)

    def _hung_up(self) -> None:
        """The connection is gone: the kernel has died, or sent a message beyond the limit."""
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            if not self.is_alive():
                raise KernelDied
            time.sleep(0.01)
        raise OutputLimit

    def _receive(self, socket: Any, flags: int = 0) -> dict:
        frames = socket.recv_multipart(flags)
        self.messages += 1
        self.bytes += sum(map(len, frames))
        if self.messages > self.limits.messages or self.bytes > self.limits.output_bytes:
            raise OutputLimit
        if sum(frame.count(mark) for frame in frames for mark in (b",", b"[", b"{")) > MAX_PARTS:
            raise OutputLimit
        try:
            _, message = wire.read(frames)
        except (ValueError, RecursionError) as error:
            raise OutputLimit from error
        if not isinstance(message["msg_type"], str):  # nbval asks what it begins with
            raise OutputLimit
        return message

    def is_alive(self) -> bool:
        """Whether the kernel runs."""
        return self.running.is_alive()

    def interrupt(self) -> None:
        """Nothing: a kernel that is out of time is ended."""

    def stop(self) -> None:
        """End the kernel and everything it has started, whatever state it is in."""
        for socket in self.sockets.values():
            with contextlib.suppress(zmq.ZMQError):
                socket.disable_monitor()
        for socket in self.hang_ups:
            socket.close(linger=0)
        self.hang_ups = []
        self.running.close()
