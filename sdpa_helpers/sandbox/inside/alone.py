"""One kernel in one bubblewrap: `python -m …alone FD`, as pid 1 of the namespace that bubblewrap made."""

import os
import socket
import sys

from sdpa_helpers.sandbox.inside import linux
from sdpa_helpers.sandbox.inside.confine import read_request, supervise


def main() -> None:
    """Take the request from the connection and supervise a kernel."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    request, channel = read_request(connection)
    os.chdir("/box")
    os.mkdir("/box/tmp")
    linux.give_up_privileges()
    supervise(connection, request, channel)


if __name__ == "__main__":
    main()
