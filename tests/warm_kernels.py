"""Notebooks' kernels as tests start them: forked from one process that has imported what they all import.

That takes a kernel most of two seconds, a fork no time. One process forks for all that run tests together, and ends
with the last of them.
"""

import contextlib
import gc
import importlib
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "ipykernel.debugger"),
    *("matplotlib.pyplot", "matplotlib_inline.backend_inline", "sympy", "torch", "sdpa_helpers.show.figures"),
)
DRAWING = "module://matplotlib_inline.backend_inline"
"""What MPLBACKEND says in a kernel, when it loads matplotlib."""
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or secrets.token_hex(8)
STARTS_WITHIN = 20.0


def jupyter_path(folder: Path) -> str:
    """For JUPYTER_PATH: a folder in which Jupyter finds them as its `python3`."""
    (folder / "kernels" / "python3").mkdir(parents=True)
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(specification()))
    return str(folder)


def specification() -> dict[str, Any]:
    """What Jupyter has to know of such kernels."""
    from ipykernel.kernelspec import get_kernel_dict

    forks = [sys.executable, "-IS", str(HERE / "ask_kernel.py"), _lease()[0], "{connection_file}"]
    return get_kernel_dict() | {"argv": forks}


@cache
def _lease() -> tuple[str, socket.socket, subprocess.Popen | None]:
    """Where kernels are forked, the connection that keeps it so until this process ends, and whom we started for it."""
    address = str(Path(tempfile.gettempdir(), f"sdpa-{RUN}"))
    lease, started = socket.socket(socket.AF_UNIX), None
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            lease.connect(address)
            lease.send(b"lease")
            break
        if started is None:  # of two that are started at once one finds the address taken, and ends
            environment = {**os.environ, "MPLBACKEND": DRAWING}
            started = subprocess.Popen([sys.executable, __file__, address], env=environment)
        time.sleep(0.02)
    return address, lease, started


def _listening(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    os.umask(0o077)
    try:
        listener.bind(address)
    except OSError:
        sys.exit()
    listener.listen(64)
    return listener


def _serve(listener: socket.socket, address: str) -> tuple[socket.socket, list[int]]:
    """Fork for each that asks. Returns in the process that is to be a kernel: who asked for it, and the files sent."""
    leases: set[socket.socket] = set()
    while True:
        for ready in select.select([listener, *leases], [], [])[0]:
            if ready is not listener:
                leases.remove(ready)
                ready.close()
                continue
            connection, _ = listener.accept()
            _, files, _, _ = socket.recv_fds(connection, 10, 4)
            if not files:
                leases.add(connection)
                continue
            if (kernel := os.fork()) == 0:
                for one in (listener, *leases):
                    one.close()
                return connection, files
            connection.send(str(kernel).encode())
            connection.close()
            for file in files:
                os.close(file)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not leases:
            os.unlink(address)
            os._exit(0)


def _end_with(asker: socket.socket) -> None:
    asker.recv(1)
    os._exit(1)


if __name__ == "__main__":
    sys.path[0] = str(HERE.parent)
    _, address = sys.argv
    listener = _listening(address)
    for name in IMPORTED:
        importlib.import_module(name)
    from ipykernel.kernelapp import launch_new_instance

    from sdpa_helpers.course.registry import all_exercises
    from tests.commands import become, leave

    del sys.path[0]
    all_exercises()  # they are read once, not in every kernel anew
    gc.freeze()  # what is shared stays shared: who collects garbage would write into all of it
    forking = os.getpid()
    asker, files = _serve(listener, address)
    os.setsid()
    os.umask(0o022)
    become("ipykernel_launcher", *files)
    threading.Thread(target=_end_with, args=[asker], daemon=True).start()
    launch_new_instance([*sys.argv[1:], f"--IPKernelApp.parent_handle={forking}"])
    leave(0)
