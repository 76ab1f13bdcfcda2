"""One kernel under Landlock, where namespaces are forbidden: `python -m …fenced FD`.

It is a single process that may start no other one, so ending it ends everything.
"""

import os
import socket
import sys

from sdpa_helpers.sandbox.inside import linux
from sdpa_helpers.sandbox.inside.confine import become_kernel, end_this_first, read_request

_READ = linux.READ_FILE | linux.READ_DIR | linux.EXECUTE
_BOX = _READ | linux.WRITE_FILE | linux.TRUNCATE | linux.MAKE_REG | linux.REMOVE_FILE
_BOX |= linux.MAKE_DIR | linux.REMOVE_DIR
_OWN_FACTS = ("cmdline", "comm", "fd", "limits", "maps", "stat", "statm", "status")
"""What a kernel may read of itself under /proc: `net` is there too, with the connections of the whole machine."""


def main() -> None:
    """Take the request from the connection and become its kernel."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    request, channel = read_request(connection)
    end_this_first()  # neither another user nor who is behind the fence could
    if request["uid"] and os.getuid() == 0:
        os.setgroups([])
        os.setgid(request["uid"])
        os.setuid(request["uid"])
    linux.die_with_parent()
    if os.getppid() == 1 and not request["parent_is_init"]:
        os._exit(1)  # the parent ended before the line above
    linux.give_up_privileges()
    linux.dumpable(False)
    box = request["box"]
    os.chdir(box)
    devices = [("/dev/null", linux.READ_FILE | linux.WRITE_FILE), ("/dev/urandom", linux.READ_FILE)]
    own = (f"/proc/{os.getpid()}/{name}" for name in _OWN_FACTS)
    readable = [(path, _READ) for path in (*request["readable"], *own)]
    listed = [
        (path, linux.READ_DIR) for path in request["listed"]
    ]  # without it Python finds nothing to import there
    facts = [(path, linux.READ_FILE) for path in ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat")]
    linux.landlock([*devices, *readable, *listed, *facts, (box, _BOX)])
    connection.send(b"kernel")
    become_kernel(request, channel)


if __name__ == "__main__":
    main()
