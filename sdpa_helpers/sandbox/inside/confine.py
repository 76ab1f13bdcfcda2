"""The kernel inside: its limits, and the supervisor that is pid 1 of its namespace."""

import base64
import gc
import json
import os
import random
import resource
import select
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from sdpa_helpers.sandbox.inside import linux

if TYPE_CHECKING:
    from sdpa_helpers.sandbox.inside.jupyter_kernel import Kernel

Request = dict[str, Any]
"""key, ip, limits {AS: MB over what is in use, CPU, NPROC, FSIZE, NOFILE}, filter, late_filter, wall, box_mb."""

GIVES_WAY = 10
"""How much lower than the grader's a submission's priority is: a hundred busy processes must not starve who counts."""


def read_request(connection: socket.socket) -> Request:
    """What the trusted side wants; it is the first message of a connection."""
    request = json.loads(connection.recv(1 << 16))
    for name in ("filter", "late_filter"):
        request[name] = base64.b64decode(request.get(name) or "")
    return request


def become_kernel(request: Request, made: "Kernel | None" = None) -> None:
    """Confine this process and be the Jupyter kernel, `made` before if there is one; never returns."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        os.closerange(3, 4096)  # neither the listening socket nor the trusted side's connection stays open
        os.nice(GIVES_WAY)
        _limit(request["limits"])
        _reseed()
        linux.filter_calls(request["filter"])  # last: nothing of the submission runs without it
        if made is None:
            from sdpa_helpers.sandbox.inside.jupyter_kernel import Kernel

            made = Kernel()
        made.bind(request["ip"], request["key"])
        if request["late_filter"]:  # the sockets are bound: no further one is needed
            _wait_for_threads()
            linux.filter_calls(request["late_filter"], every_thread=True)
        gc.enable()
        made.serve()
    finally:
        os._exit(1)


def _limit(limits: dict[str, int]) -> None:
    """Set the limits; memory is counted on top of what the warm interpreter holds already."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    memory = used + (limits["AS"] << 20)
    values = {
        "AS": memory,
        "DATA": memory,
        "CPU": limits["CPU"],
        "NPROC": limits["NPROC"],
        "FSIZE": limits["FSIZE"] << 20,
        "NOFILE": limits["NOFILE"],
        "CORE": 0,
        "MEMLOCK": 1 << 16,
        "MSGQUEUE": 0,
    }
    for name, value in values.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _reseed() -> None:
    """Forks of one interpreter share its random state: give each its own."""
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()  # torch.seed() looks for GPUs first


def _wait_for_threads(seconds: float = 5.0) -> None:
    """Wait until libzmq's threads have set their priority, which aborts when it is refused; then they get a name."""
    main, deadline = os.getpid(), time.monotonic() + seconds
    threads = [int(name) for name in os.listdir("/proc/self/task") if int(name) != main]
    while time.monotonic() < deadline and any(map(_has_mains_name, threads)):
        time.sleep(0.001)


def _has_mains_name(thread: int) -> bool:
    with open("/proc/self/comm") as mains, open(f"/proc/self/task/{thread}/comm") as its:
        return mains.read() == its.read()


def supervise(connection: socket.socket, request: Request, made: "Kernel | None" = None) -> None:
    """As pid 1: start the kernel, and end with it or when the trusted side hangs up; never returns.

    The death of pid 1 is the death of every process in its namespace, whatever they do.
    """
    kernel = os.fork()
    if kernel == 0:
        linux.dumpable(True)  # an ordinary user's grader follows /proc/PID/root to the sockets
        connection.send(b"kernel")
        become_kernel(request, made)
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
