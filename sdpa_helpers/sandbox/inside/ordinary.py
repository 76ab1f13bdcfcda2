"""The fork server without a sandbox: `python -m …ordinary LISTENER LEASH WARM_UP`, an ordinary process of the account.

A kernel is a process group of its own. When whoever asked for it hangs up it ends, with all that it has started; when
the leash is gone everything ends.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import tempfile

from sdpa_helpers.sandbox.inside import linux
from sdpa_helpers.sandbox.inside.confine import Request, become_kernel
from sdpa_helpers.sandbox.inside.fork_server import accept, warm_up
from sdpa_helpers.sandbox.inside.kernel import Kernel

_LINUX = sys.platform.startswith("linux")


def main() -> None:
    """Warm up, fork a kernel for every connection, end it with the connection."""
    listener, leash, kernel = warm_up()
    if _LINUX:
        linux.adopt_orphans()
    kernels: dict[socket.socket, int] = {}
    while True:
        ready = select.select([listener, leash, *kernels], [], [], 1.0)[0]
        if leash in ready:
            for connection in list(kernels):
                _end(connection, kernels)
            os._exit(0)
        for connection in [known for known in ready if known in kernels]:
            _end(connection, kernels)
        if listener in ready and (asked := accept(listener)) is not None:
            connection, request, channel = asked
            kernels[connection] = _fork_kernel(request, channel, kernel)
            channel.close()
            with contextlib.suppress(OSError):
                connection.send(b"%d" % kernels[connection])


def _fork_kernel(request: Request, channel: socket.socket, kernel: Kernel) -> int:
    server, pid = os.getpid(), os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # here too: it may be ended before it comes to that itself
        return pid
    try:
        os.setpgid(0, 0)
        if _LINUX:
            linux.die_with_parent()
            if os.getppid() != server:
                os._exit(1)
        _own_folder(request["box"])
        become_kernel(request, channel, kernel)
    finally:
        os._exit(1)


def _own_folder(box: str) -> None:
    os.chdir(box)
    for name in ("HOME", "TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        os.environ[name] = box
    tempfile.tempdir = None


def _end(connection: socket.socket, kernels: dict[socket.socket, int]) -> None:
    """End a kernel and all that it has started; who asked for it reads the end of the connection then."""
    pid = kernels.pop(connection)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(pid, 0)  # only now can its number be another's
    _end_orphans(set(kernels.values()))
    connection.close()


def _end_orphans(kernels: set[int]) -> None:
    """End what has left its family: whoever is a child of this process and not a kernel."""
    while orphans := _children() - kernels:
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> set[int]:
    """This process's children, where the system tells."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()


if __name__ == "__main__":
    main()
