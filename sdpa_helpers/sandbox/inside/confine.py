"""The kernel inside: its limits, and the supervisor that is pid 1 of its namespace."""

import base64
import contextlib
import gc
import os
import random
import resource
import select
import site
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from sdpa_helpers.sandbox.inside import linux, messages, no_programs

if TYPE_CHECKING:
    from sdpa_helpers.sandbox.inside.kernel import Kernel

Request = dict[str, Any]
"""subprocesses, limits {AS: MB over what is in use, CPU, NPROC, FSIZE, NOFILE}, filter, late_filter, wall,
box_mb; some levels have more."""

GIVES_WAY = 10
"""How much lower than the grader's a submission's priority is: a hundred busy processes must not starve who counts."""


def read_request(connection: socket.socket) -> tuple[Request, socket.socket]:
    """What the trusted side wants, and the kernel's own connection to it, which comes along."""
    request, channel = messages.receive_with_socket(connection)
    for name in ("filter", "late_filter"):
        request[name] = base64.b64decode(request.get(name) or "")
    assert channel is not None
    return request, channel


def become_kernel(request: Request, channel: socket.socket, made: "Kernel | None" = None) -> None:
    """Confine this process and be the kernel, `made` before if there is one; never returns."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        kept = channel.fileno()  # no other descriptor stays open: no listener, nothing of the trusted side's
        os.closerange(3, kept)
        os.closerange(kept + 1, 4096)
        os.nice(GIVES_WAY)
        end_this_first()
        set_limits(request["limits"])
        reseed()
        site.sethelper()  # `help`, which Python began without
        if request["filter"]:  # last: nothing of the submission runs without it
            linux.filter_calls(request["filter"])
        if not request["subprocesses"]:
            no_programs.explain_refusal()
        if made is None:
            from sdpa_helpers.sandbox.inside.kernel import Kernel

            made = Kernel()
        if request["late_filter"]:
            linux.filter_calls(request["late_filter"], every_thread=True)
        gc.enable()
        made.serve(channel)
    finally:
        os._exit(1)


def end_this_first() -> None:
    """Where memory runs out on the whole machine, a kernel is what the system ends."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def set_limits(limits: dict[str, int]) -> None:
    """Set the limits; memory is counted on top of what the warm interpreter holds already."""
    memory = _in_use() + (limits["AS"] << 20)
    values = {
        **limits,
        "AS": memory,
        "DATA": memory,
        "FSIZE": limits["FSIZE"] << 20,
        "CORE": 0,
        "MEMLOCK": 1 << 16,
        "MSGQUEUE": 0,
    }
    for name, value in values.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            _lower(number, value)


def _lower(number: int, value: int) -> None:
    try:
        resource.setrlimit(number, (value, value))
    except (ValueError, OSError):
        if sys.platform.startswith("linux"):
            raise  # elsewhere not every limit can be had


def _in_use() -> int:
    """Address space in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def reseed() -> None:
    """Forks of one interpreter share its random state: give each its own."""
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def supervise(
    connection: socket.socket, request: Request, channel: socket.socket, made: "Kernel | None" = None
) -> None:
    """As pid 1: start the kernel, and end with it or when the trusted side hangs up; never returns.

    The death of pid 1 is the death of every process in its namespace, whatever they do.
    """
    kernel = os.fork()
    if kernel == 0:
        linux.dumpable(True)  # an ordinary user's grader looks at its memory under /proc
        become_kernel(request, channel, made)
    channel.close()  # so that its end shows
    linux.dumpable(False)  # the kernel has the same uid: /proc/1/mem and /proc/1/fd stay shut
    connection.send(b"init")
    linux.filter_calls(request["filter"])
    ended, deadline = os.pidfd_open(kernel), time.monotonic() + request["wall"]
    while time.monotonic() < deadline:
        if select.select([connection, ended], [], [], 1.0)[0]:
            break
        _reap(kernel)
    os._exit(0)


def _reap(kernel: int) -> None:
    """Collect orphans, so that dead processes do not pile up; the kernel itself shows on its pidfd."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] not in (0, kernel):
            pass
    except ChildProcessError:
        pass
