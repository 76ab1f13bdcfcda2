"""One kernel without a sandbox in an interpreter of its own, where processes cannot fork: `python -m …fresh`.

The first line on stdin is its connection: what Windows makes of a socket for another process, in base64; elsewhere the
number of a descriptor. The rest of stdin is a leash: when it ends, the grader has.
"""

import base64
import contextlib
import os
import socket
import sys
import threading

from sdpa_helpers.sandbox.inside import messages, no_programs
from sdpa_helpers.sandbox.inside.kernel import Kernel


def main() -> None:
    """Take the request from the connection and be its kernel."""
    named = sys.stdin.buffer.readline()
    if sys.platform == "win32":
        channel = socket.fromshare(base64.b64decode(named))
    else:
        channel = socket.socket(fileno=int(named))
    threading.Thread(target=_end_with_grader, daemon=True).start()
    request = messages.receive(channel)
    with contextlib.suppress(ImportError):  # Windows has no such limits
        from sdpa_helpers.sandbox.inside.confine import set_limits

        set_limits(request["limits"])
    if not request["subprocesses"]:
        no_programs.explain_refusal()
    Kernel().serve(channel)
    os._exit(1)


def _end_with_grader() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
