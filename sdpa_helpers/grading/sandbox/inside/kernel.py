"""The kernel inside: its limits, its connection file, and the supervisor that is pid 1 of its namespace."""

import base64
import json
import os
import random
import resource
import select
import socket
import sys
import time
from typing import Any

from sdpa_helpers.grading.sandbox.inside import linux

Request = dict[str, Any]
"""key, ip, limits {AS: MB over what is in use, CPU, NPROC, FSIZE, NOFILE}, filter, late_filter, wall, box_mb."""


def read_request(connection: socket.socket) -> Request:
    """What the trusted side wants; it is the first message of a connection."""
    request = json.loads(connection.recv(1 << 16))
    for name in ("filter", "late_filter"):
        request[name] = base64.b64decode(request.get(name) or "")
    return request


def become_kernel(request: Request, folder: str) -> None:
    """Confine this process and be the Jupyter kernel; never returns. `folder` holds the connection file."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        os.closerange(3, 4096)  # neither the listening socket nor the trusted side's connection stays open
        path = f"{folder}/connection.json"
        with open(path, "w") as file:
            json.dump(_connection(request), file)
        _limit(request["limits"])
        _reseed()
        linux.filter_calls(request["filter"])  # last: nothing of the submission runs without it
        _run(path, request["late_filter"])
    finally:
        os._exit(1)


def _connection(request: Request) -> dict[str, Any]:
    ports = {f"{name}_port": n + 1 for n, name in enumerate(("shell", "iopub", "stdin", "control", "hb"))}
    scheme = "hmac-sha256"
    return {
        "transport": "ipc",
        "ip": request["ip"],
        "key": request["key"],
        "signature_scheme": scheme,
        **ports,
    }


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
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def _run(connection_file: str, late_filter: bytes) -> None:
    from ipykernel.kernelapp import IPKernelApp

    sys.argv = ["ipykernel_launcher"]
    app = IPKernelApp.instance()
    app.initialize(["-f", connection_file, "--HistoryManager.enabled=False", "--quiet"])
    if late_filter:
        linux.filter_calls(late_filter, every_thread=True)  # the sockets are bound: no further one is needed
    app.start()


def supervise(connection: socket.socket, request: Request, folder: str) -> None:
    """As pid 1: start the kernel, and end with it or when the trusted side hangs up; never returns.

    The death of pid 1 is the death of every process in its namespace, whatever they do.
    """
    kernel = os.fork()
    if kernel == 0:
        linux.dumpable(True)  # an ordinary user's grader follows /proc/PID/root to the sockets
        connection.send(b"kernel")
        become_kernel(request, folder)
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
