"""Call a learner's function with a limit on its time: an endless loop, or an interrupt, is an answer too.

In the main thread of a Unix process a signal ends the call, elsewhere an exception that another thread sends. Both
come again and again until the call is over: code that catches everything is ended too, at the first moment at which
it catches nothing. What runs inside one long operation of C is ended when that operation is.

In a browser there are neither signals nor threads: there every call and every turn of a loop looks at the clock.
"""

import builtins
import contextlib
import ctypes
import functools
import linecache
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from sdpa_helpers.checking.answers.observe import MAX_TEXT, NOTHING_ELSE, Answer, Watch, observe

SECONDS = 8.0
"""How long one case may take in `check`."""

NOT_RUN = Answer("not-run")
"""The answer to a case that was not tried, as the call before it had to be stopped."""

_AGAIN = 50e-6
"""Seconds between one attempt to end a call and the next. Short: code that catches everything has to be met outside
of its `try`."""


class Stopped(BaseException):
    """The time is up. No Exception, so that `except Exception` lets it through."""


class _StoppedAgain(Stopped):
    """The same, sent by another thread. Whoever catches it is stopped again in the first line of the handler."""

    def __init__(self) -> None:
        frame = sys._getframe(1)
        while frame is not None and frame.f_code is not _CALL:
            frame.f_trace = _stop_here
            frame = frame.f_back
        sys.settrace(_stop_here)


def _stop_here(frame: FrameType, event: str, argument: Any) -> None:
    sys.settrace(None)
    if _is_in_call(frame):
        raise Stopped


def observe_within(
    function: Callable, arguments: tuple, seconds: float = SECONDS, watch: Watch = NOTHING_ELSE
) -> Answer:
    """What `observe` says of the call, or an answer of kind "stopped" after `seconds`, or when it is interrupted."""
    limited = _way()
    result = _Result()
    started = time.monotonic()
    try:
        with _nothing_said_of_stops(), _nobody_to_ask():
            limited(functools.partial(observe, watch=watch), function, arguments, seconds, result)
    except Stopped as error:
        result.end = error
    except KeyboardInterrupt as error:
        result.end = error
    if result.answer is not None:
        return result.answer
    if result.end is None:  # the call was over before anything could be kept: it cannot happen twice
        return Answer("stopped", message=_after(seconds))
    by_you = isinstance(result.end, KeyboardInterrupt)
    message = f"by you, {_after(time.monotonic() - started)}" if by_you else _after(seconds)
    return Answer("stopped", message=message, line=_line_in(result.end, function))


def observe_all(
    function: Callable, calls: list[tuple[tuple, Watch]], seconds: float = SECONDS
) -> list[Answer]:
    """One answer for each call; nothing is called any more after one that had to be stopped."""
    answers: list[Answer] = []
    for arguments, watch in calls:
        over = answers and answers[-1].kind in ("stopped", NOT_RUN.kind)
        answers.append(NOT_RUN if over else observe_within(function, arguments, seconds, watch))
    return answers


def _way() -> Callable[..., None]:
    """How a call can be ended here."""
    if sys.platform == "emscripten":
        return _by_looking
    in_main = threading.current_thread() is threading.main_thread()
    return _by_signal if in_main and hasattr(signal, "setitimer") else _from_a_thread


@contextlib.contextmanager
def _nothing_said_of_stops() -> Iterator[None]:
    """A stop that arrives while Python clears something away is lost, and reported. The next one comes: keep quiet."""
    before = sys.unraisablehook

    def report(lost: Any) -> None:
        if not issubclass(lost.exc_type, Stopped):
            before(lost)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def _nobody_to_ask() -> Iterator[None]:
    """Meanwhile `input()` is an error: in a notebook it would leave a box, and wait."""
    before = builtins.input

    def refused(*_: object) -> str:
        raise EOFError(
            "nobody answers `input()` while your function is tried: all it needs are its arguments"
        )

    builtins.input = refused
    try:
        yield
    finally:
        builtins.input = before


class _Result:
    """What came of a call: a place that is there before the call begins."""

    answer: Answer | None = None
    end: BaseException | None = None


class _Guarded:
    """A function whose calls may be stopped; what `observe` does before and after may not.

    Its time begins with the first call: what a slow machine takes to get there is not the learner's.
    """

    def __init__(self, function: Callable, begin: Callable[[], None]) -> None:
        self.function = function
        self.begin = begin
        self.begun = False

    def __call__(self, *arguments: Any) -> Any:
        if not self.begun:
            self.begun = True
            self.begin()
        return self.function(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


_CALL: CodeType = _Guarded.__call__.__code__


def _by_signal(
    look: Callable[..., Answer], function: Callable, arguments: tuple, seconds: float, result: _Result
) -> None:
    def ring(number: int, frame: FrameType | None) -> None:
        if _is_in_call(frame):
            raise Stopped

    def begin() -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)

    theirs = signal.setitimer(signal.ITIMER_REAL, 0)  # somebody else's alarm
    before = signal.signal(signal.SIGALRM, ring)
    started = time.monotonic()
    try:
        result.answer = look(_Guarded(function, begin), arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if theirs[0]:
            left = max(theirs[0] - (time.monotonic() - started), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, theirs[1])


def _is_in_call(frame: FrameType | None) -> bool:
    """Whether a frame belongs to the learner's call: the guard itself, and who called it, must not be stopped."""
    while frame is not None and (caller := frame.f_back) is not None:
        if caller.f_code is _CALL:
            return True
        frame = caller
    return False


def _from_a_thread(
    look: Callable[..., Answer], function: Callable, arguments: tuple, seconds: float, result: _Result
) -> None:
    caller = ctypes.c_ulong(threading.get_ident())
    begun, over = threading.Event(), threading.Event()
    send = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def nag() -> None:
        begun.wait()
        if not over.wait(seconds):
            while not over.wait(1e-3):
                send(caller, ctypes.py_object(_StoppedAgain))

    watch = threading.Thread(target=nag, daemon=True)
    watch.start()
    traced = sys.gettrace()  # a debugger's
    try:
        result.answer = look(_Guarded(function, begun.set), arguments)
    except (Stopped, KeyboardInterrupt) as error:
        result.end = error
    finally:
        sys.settrace(traced)
        while True:
            try:  # the last one may arrive here
                over.set()
                begun.set()
                watch.join()
                send(caller, None)
                break
            except Stopped:
                continue


def _by_looking(
    look: Callable[..., Answer], function: Callable, arguments: tuple, seconds: float, result: _Result
) -> None:
    end = float("inf")

    def begin() -> None:
        nonlocal end
        end = time.monotonic() + seconds

    def look_at_the_clock(*_: Any) -> None:
        if time.monotonic() > end and _is_in_call(sys._getframe(1)):
            raise Stopped

    with _at_every_turn(look_at_the_clock):
        result.answer = look(_Guarded(function, begin), arguments)


@contextlib.contextmanager
def _at_every_turn(act: Callable[..., None]) -> Iterator[None]:
    """Call `act` whenever a Python function begins and whenever a loop goes back to its beginning."""
    if sys.version_info < (3, 12) or sys.monitoring.get_tool(
        _TOOL
    ):  # nobody can look, or somebody already does
        yield
        return
    events = sys.monitoring.events.JUMP | sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(_TOOL, "sdpa_helpers")
    for event in (sys.monitoring.events.JUMP, sys.monitoring.events.PY_START):
        sys.monitoring.register_callback(_TOOL, event, act)
    sys.monitoring.set_events(_TOOL, events)
    try:
        yield
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)


_TOOL = 4
"""Which of the six places for tools is ours: one that neither debuggers nor profilers take."""


def _after(seconds: float) -> str:
    return f"after {seconds:.0f} s" if seconds >= 1 else "within a second"


def _line_in(end: BaseException, function: Any) -> str:
    """Where the call stood: the deepest line of the learner's own file, e.g. "line 2: while True:"."""
    while isinstance(end.__context__, Stopped):  # what stopped it first
        end = end.__context__
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    found, step = "", end.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file == home or (home is None and file not in _OURS):
            source = linecache.getline(file, step.tb_lineno).strip()
            found = f"line {step.tb_lineno}: {source}".removesuffix(": ")[:MAX_TEXT]
        step = step.tb_next
    return found


_OURS = {__file__, _CALL.co_filename, observe.__code__.co_filename}
