"""nbval's kernel with budgets: what comes from it is counted while it comes, its death is noticed at once."""

import hmac
import secrets
import selectors
import time
from collections import deque
from queue import Empty
from typing import NoReturn

import nbval.kernel

from sdpa_helpers.sandbox.busy import idle, spent_here
from sdpa_helpers.sandbox.incoming import (
    MAX_MESSAGE,
    MAX_PARTS,
    Forged,
    Incoming,
    Malformed,
    OutputLimit,
    load,
    parse,
    parts,
)
from sdpa_helpers.sandbox.inside.audit import NOTES
from sdpa_helpers.sandbox.inside.messages import (
    CELL,
    CHECK,
    DONE,
    FROM_GRADER,
    FROM_KERNEL,
    KEY_BYTES,
    MARK_BYTES,
    NOTED,
    READY,
    framed,
    marks,
)
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.running import Running

RESULT = "application/vnd.sdpa.answer+json"
"""The MIME type in which nbval gets what a check gave: {"answer", "held": bytes, where memory was measured}."""

MUCH_BYTES = 12 << 20
"""What a kernel may use while memory is measured: 6 MB are its own, and new memory is counted anyway."""

USED_MUCH = "used much memory, some of which it had held before"

_READY_WITHIN = 60.0


class KernelDied(Exception):
    """The kernel's process ended while a cell ran."""


class TimedOut(Exception):
    """A limit on time was reached."""

    def __init__(self, only_wall: bool, slept: bool = False) -> None:
        super().__init__()
        self.only_wall, self.slept = only_wall, slept
        """Whether there was CPU time left, so that the machine may have been busy; whether it was not used."""


class GradedKernel(nbval.kernel.RunningKernel):
    """A kernel that runs one submission. prints: whether what it prints is kept, not just counted."""

    def __init__(self, running: Running, limits: Limits, prints: bool = True) -> None:
        self.running, self.limits, self.prints = running, limits, prints
        self.is_check = self.measures = False
        """Whether the next cell is a question to the kernel itself, and whether its memory is measured meanwhile."""
        self.noticed: list[str] = []
        """What the kernel has noted of the present cell."""
        self.awaits_answer = True
        self.most = MAX_MESSAGE
        """Bytes of one message of the next cell, and of all that it leaves to be read."""
        self.asked = self.kept_parts = self.kept_bytes = 0
        self.cell: tuple[float, float] | None = None
        self.incoming = Incoming(running.channel, limits)
        self.unread: dict[str, deque[dict]] = {"iopub": deque(), "shell": deque()}
        key = secrets.token_bytes(KEY_BYTES)
        self.mark, self.expected = marks(key, FROM_GRADER), marks(key, FROM_KERNEL)
        running.channel.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(running.channel, selectors.EVENT_READ)
        try:
            self._send(key)
            self.await_idle(READY, _READY_WITHIN)
        except (Empty, KernelDied, OutputLimit, Malformed, Forged) as error:
            self.stop()
            raise RuntimeError(f"the kernel does not answer ({type(error).__name__})") from error
        self.started = (time.monotonic(), running.cpu)
        self.spent_before = spent_here()

    @property
    def cpu_used(self) -> float:
        """CPU-seconds since the kernel was ready."""
        return self.running.cpu - self.started[1]

    @property
    def wall_used(self) -> float:
        """Seconds on the clock since the kernel was ready."""
        return time.monotonic() - self.started[0]

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """As nbval's; every cell has the whole budget, and what is left of the one before is forgotten."""
        self.incoming.renew(self.most)
        self.kept_parts = self.kept_bytes = 0
        for unread in self.unread.values():
            unread.clear()
        self.cell = (time.monotonic(), self.running.cpu)
        self.asked += 1
        self.awaits_answer, self.noticed = True, []
        if self.measures:
            self.running.forget_peak()
        request = (CHECK if self.is_check else CELL) + cell_input.encode("utf-8", "replace")
        self._send(framed(self.mark(request) + request))
        return str(self.asked)

    def _send(self, message: bytes) -> None:
        """Send; meanwhile reads, minds the clock and sees the kernel die, for it may never take the message."""
        left = memoryview(message)
        while left:
            try:
                left = left[self.running.channel.send(left) :]
            except (BlockingIOError, InterruptedError):
                self.selector.modify(self.running.channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
                self._hear(0.1)
                self.selector.modify(self.running.channel, selectors.EVENT_READ)
                self._mind_the_clock()
            except OSError:
                self._hung_up()

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message of nbval's two streams; what comes for the other one waits for its turn."""
        unread, end = self.unread[stream], time.monotonic() + (timeout if timeout is not None else 3600)
        while not unread:
            self._mind_the_clock()
            left = end - time.monotonic()
            if left <= 0:
                raise Empty
            self._hear(min(0.1, left))
        return unread.popleft()

    def _hear(self, seconds: float) -> None:
        """Take in what comes within that time."""
        ready = self.selector.select(seconds)
        if any(events & selectors.EVENT_READ for _, events in ready):
            try:
                came = self.incoming.read()
            except EOFError:
                self._hung_up()
            for packed in came:
                self._keep(packed)
        elif not ready and not self.is_alive():
            raise KernelDied

    def _keep(self, packed: bytes) -> None:
        """Let a message wait to be read; only what is kept counts for the cell's number of values."""
        values = parts(packed)
        if values > MAX_PARTS:
            raise OutputLimit
        if packed[:1] in (DONE, NOTED):
            return self._keep_own(packed[:1], packed[1 : 1 + MARK_BYTES], packed[1 + MARK_BYTES :], values)
        asked, kind, content = parse(packed)
        if not (asked.isdecimal() and len(asked) < 10 and int(asked) <= self.asked):
            raise Malformed("it answers what was never asked")
        if kind == "stream" and not self.prints:
            return
        self._count(values, len(packed))
        if kind == "error":
            content = {**content, "traceback": []}
        self._show(asked, kind, content)

    def _keep_own(self, kind: bytes, mark: bytes, packed: bytes, values: int) -> None:
        """The same for what a kernel says itself, which has its place, and its mark."""
        if not hmac.compare_digest(mark, self.expected(kind + packed)):
            raise Forged("its mark is another's")
        if kind == NOTED:
            self.noticed.append(NOTES[int(packed)])
            return
        if not self.awaits_answer:
            raise Forged("it answers what nobody has asked")
        self.awaits_answer = False
        asked = str(self.asked)
        if packed:
            self._count(values, len(packed))
            held = self.running.held() if self.measures else 0
            if self.measures and self.running.used() > MUCH_BYTES:
                self.noticed.append(USED_MUCH)
            result = {"answer": load(packed), "held": held}
            self._show(asked, "display_data", {"data": {RESULT: result}, "metadata": {}})
        reply = {"parent_header": {"msg_id": asked}, "msg_type": "execute_reply", "content": {"status": "ok"}}
        self.unread["shell"].append(reply)
        self._show(asked, "status", {"execution_state": "idle"})

    def _count(self, values: int, size: int) -> None:
        self.kept_parts, self.kept_bytes = self.kept_parts + values, self.kept_bytes + size
        if self.kept_parts > MAX_PARTS or self.kept_bytes > self.most:
            raise OutputLimit

    def _show(self, asked: str, kind: str, content: dict) -> None:
        message = {"parent_header": {"msg_id": asked}, "msg_type": kind, "content": content}
        self.unread["iopub"].append(message)

    def _mind_the_clock(self) -> None:
        if self.cell is None:
            return
        limits, (wall, cpu) = self.limits, self.cell
        if self.running.cpu - cpu > limits.cell_seconds or self.cpu_used > limits.seconds:
            raise TimedOut(only_wall=False)
        if self.wall_used - self.cpu_used > limits.idle and self._idle() > limits.idle:
            raise TimedOut(only_wall=True, slept=True)
        slow = time.monotonic() - wall > limits.patience * limits.cell_seconds
        if slow or self.wall_used > limits.wall_seconds:
            raise TimedOut(only_wall=True)

    def _idle(self) -> float:
        return idle(self.running.pid, self.wall_used, self.started[1], self.spent_before)

    def _hung_up(self) -> NoReturn:
        """The connection is gone: the kernel has died, or closed it."""
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            if not self.is_alive():
                raise KernelDied
            time.sleep(0.01)
        raise Malformed("the connection was closed")

    def is_alive(self) -> bool:
        """Whether the kernel runs."""
        return self.running.is_alive()

    def interrupt(self) -> None:
        """Nothing: a kernel that is out of time is ended."""

    def stop(self) -> None:
        """End the kernel and everything it has started, whatever state it is in."""
        self.selector.close()
        self.running.close()
