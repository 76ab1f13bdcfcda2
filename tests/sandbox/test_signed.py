"""Nothing that learners' code can reach leads to the key, and who takes it from a frame is noted."""

import pytest

from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.sandbox import bounded_kernel
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.start import OFF
from tests.sandbox.conftest import a_kernel, printed_by

LIMITS = Limits(seconds=120.0, cell_seconds=60.0)


@pytest.fixture
def kernel(monkeypatch):
    """A kernel whose key is 32 times the same letter."""
    monkeypatch.setattr(bounded_kernel.secrets, "token_bytes", lambda size: b"k" * size)
    with a_kernel(OFF, LIMITS, kernel_package()) as made:
        yield made


WALK = """
import builtins, functools, os, socket, sys, types
INSIDE = ("__dict__", "__closure__", "__globals__", "__self__", "__func__", "__wrapped__", "__mro__", "__kwdefaults__",
          "cell_contents", "fget", "fset", "fdel", "func", "args", "keywords", "__code__", "co_consts", "__builtins__")
fds = [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")]
channel, = (fd for fd in fds if fd != get_ipython().kernel.writer.connection.fileno())
@functools.cache
def names_of(kind):  # what stands in an object's own __dict__ is found in that
    found = {name: what for base in kind.__mro__ for name, what in vars(base).items()}
    return [name for name, what in found.items() if name in INSIDE or type(what) is types.MemberDescriptorType]
def within(value):
    if isinstance(value, (dict, types.MappingProxyType)):
        yield from list(value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)
    for name in names_of(type(value)):
        try:
            yield object.__getattribute__(value, name) if name != "__mro__" else type.__getattribute__(value, name)
        except Exception:
            pass
    yield type(value)
    if isinstance(value, type):
        yield from type.__subclasses__(value)
def is_secret(value):
    if type(value) in (bytes, bytearray):
        return value.count(107) >= 32 and len(set(value)) == 1
    if isinstance(value, socket.socket):
        return value.fileno() == channel
    name = getattr(value, "__qualname__", "") if isinstance(value, types.FunctionType) else ""
    return name.startswith(("serve.<locals>", "listen.<locals>", "marks.<locals>"))
def found_from(*roots):
    seen, todo, found = {}, list(roots), []
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if is_secret(value):
            found.append(type(value).__name__)
        todo += within(value)
    return found, len(seen)
def planted():
    secret = bytes([107]) * 32
    class Holder:
        def show(self): return secret
    return Holder()
"""


def test_nothing_within_reach_leads_to_the_key(kernel):
    assert printed_by(kernel, WALK) == ""
    roots = "get_ipython(), sys.modules, builtins, globals(), sys.stdout, display"
    found = printed_by(kernel, f"print(*found_from({roots}))")
    secrets, _, number = found.strip().rpartition(" ")
    assert secrets == "[]"
    assert int(number) > 50_000
    assert printed_by(kernel, "print(found_from({'a': [planted()]})[0])") == "['bytes']\n"


THIEF = """
import sys
frames = list(sys._current_frames().values())
while frames:
    frame = frames.pop()
    if frame.f_back is not None: frames.append(frame.f_back)
    for value in frame.f_locals.values():
        if type(value) is bytes and len(value) == 32: print(value.decode())
"""


def test_who_takes_it_from_a_frame_is_noted(kernel):
    assert printed_by(kernel, THIEF) == "k" * 32 + "\n"
    assert kernel.noticed == ["looked at the interpreter's frames"]


def test_no_error_can_be_raised_in_the_thread_that_has_it(kernel):
    """There `_thread.interrupt_main` would end in a frame of somebody who handles the error."""
    assert printed_by(kernel, "import _thread\n_thread.interrupt_main()\nprint('on')") == "on\n"
    assert "main thread" in printed_by(kernel, "import signal\nsignal.signal(signal.SIGALRM, print)")
    assert printed_by(kernel, "print('still')") == "still\n"
    assert kernel.noticed == []
