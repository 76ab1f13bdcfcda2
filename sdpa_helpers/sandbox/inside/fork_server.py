"""The fork server: imports NumPy and IPython once; every kernel forks from it into its own namespaces.

Run inside one bubblewrap view as `python -m …fork_server LISTENER LEASH WARM_UP`. The first two are the numbers of
sockets: kernels are asked for at the first; when the other end of the second is gone, so is whoever would ask. WARM_UP
is Python that every kernel will do the like of.
"""

import contextlib
import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys

from sdpa_helpers.sandbox.inside import linux
from sdpa_helpers.sandbox.inside.confine import Request, read_request, supervise
from sdpa_helpers.sandbox.inside.kernel import Kernel

_READ_REQUEST_WITHIN = 5.0


def main() -> None:
    """Warm up, then fork a kernel for every connection, until the trusted side is gone."""
    listener, leash, kernel = warm_up()
    linux.adopt_orphans()
    while True:
        ready = select.select([listener, leash], [], [], 1.0)[0]
        if leash in ready:
            os._exit(0)
        if ready and (asked := accept(listener)) is not None:
            _fork_kernel(*asked, listener, kernel)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def warm_up() -> tuple[socket.socket, socket.socket, Kernel]:
    """The listener and the leash that the command line names, and the kernel that all others are forks of."""
    listener, leash = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    _let_memory_grow()
    gc.disable()  # here, where all is kept; a kernel enables it again
    kernel = Kernel()
    kernel.warm(sys.argv[3])
    importlib.import_module("numpy.random")
    if os.path.isdir("/proc/self/task") and len(os.listdir("/proc/self/task")) != 1:
        sys.exit("a module started a thread: what forks from here could hang")
    gc.freeze()
    listener.listen(16)  # only now: a connection that is refused means that this is not ready
    return listener, leash, kernel


def _let_memory_grow() -> None:
    """Lift the limit of a worker that starts this server anew: it is the worker's own. Kernels get others."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def accept(listener: socket.socket) -> tuple[socket.socket, Request, socket.socket] | None:
    """The next connection, what it asks for and its kernel's channel."""
    connection, _ = listener.accept()
    connection.settimeout(_READ_REQUEST_WITHIN)
    try:
        request, channel = read_request(connection)
    except (OSError, EOFError, ValueError):
        connection.close()
        return None
    connection.settimeout(None)
    return connection, request, channel


def _fork_kernel(
    connection: socket.socket,
    request: Request,
    channel: socket.socket,
    listener: socket.socket,
    kernel: Kernel,
) -> None:
    if os.fork() == 0:
        try:
            listener.close()
            _child(connection, request, channel, kernel)
        except BaseException as error:
            with contextlib.suppress(OSError):
                connection.send(f"error {error!r}".encode()[:2000])
        finally:
            os._exit(1)
    connection.close()
    channel.close()


def _child(connection: socket.socket, request: Request, channel: socket.socket, kernel: Kernel) -> None:
    uid, gid = os.getuid(), os.getgid()
    linux.unshare(linux.NEWUSER | linux.NEWNS | linux.NEWPID | linux.NEWIPC | linux.NEWUTS | linux.NEWNET)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    if os.fork():
        os._exit(0)
    os.setsid()  # a signal to one's own group would otherwise reach the server and every other kernel
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _own_files(request["box_mb"])
    linux.give_up_privileges()
    supervise(connection, request, channel, kernel)


def _own_files(box_mb: int) -> None:
    """Everything that can be written: two small file systems in memory that end with the namespace."""
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    plain = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("proc", "/proc", "proc", plain | linux.MS_NOEXEC)
    linux.mount("tmpfs", "/box", "tmpfs", plain, f"size={box_mb}m,mode=0700,nr_inodes=10000")
    linux.mount("tmpfs", "/dev/shm", "tmpfs", plain, f"size={box_mb}m,mode=1777,nr_inodes=1000")
    os.mkdir("/box/tmp")
    os.chdir("/box")


if __name__ == "__main__":
    main()
