"""`sdpa …` as tests call it: forked from one process that has imported the command already, for that takes a second.

Where it matters how the interpreter starts, or that the process can be found and killed, tests start one of their own.
"""

import atexit
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path

IMPORTED = "cli.app", "classroom.grade_folder", "classroom.executors", "course.registry"


def sdpa(
    *arguments: object, cwd: Path | str | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """What `sdpa ARGUMENTS` returns and says, as `subprocess.run` gives it; `environment` is added to ours."""
    asked = {"arguments": [*map(str, arguments)], "cwd": str(cwd or Path.cwd())}
    asked["environment"] = {**os.environ, **environment}
    connection, _ = _server()
    with tempfile.TemporaryFile() as ask, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        ask.write(json.dumps(asked).encode())
        ask.seek(0)
        socket.send_fds(connection, [b"?"], [file.fileno() for file in (ask, out, err)])
        status = int(connection.recv(100))
        said = [_text(file) for file in (out, err)]
    return subprocess.CompletedProcess(asked["arguments"], status, *said)


def _text(file) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _server() -> tuple[socket.socket, subprocess.Popen]:
    """The connection to the process that forks, which ends when this one has."""
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        return ours, subprocess.Popen([sys.executable, __file__, str(number)], pass_fds=[number])


def _serve(connection: socket.socket) -> None:
    """Fork for each that is asked for; returns in the process that is to run it."""
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1, 3)
        if not message:
            os._exit(0)
        if (child := os.fork()) == 0:
            connection.close()
            become("sdpa", *files)
            return
        for file in files:
            os.close(file)
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def become(program: str, ask: int, *files: int) -> None:
    """Take over the folder, the environment and the arguments that are asked for, and files up to standard error."""
    for number, file in enumerate(files, start=3 - len(files)):
        os.dup2(file, number)
        os.close(file)
    with open(ask, encoding="utf-8") as file:
        asked = json.load(file)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = [program, *asked["arguments"]]
    tempfile.tempdir = None


def leave(status: int) -> None:
    """End, without taking down what was imported, piece by piece."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(f"sdpa_helpers.{name}")
    import typer.main

    from sdpa_helpers.__main__ import main
    from sdpa_helpers.cli.app import app
    from sdpa_helpers.course.registry import all_exercises

    all_exercises()  # they are read once, not in every process anew
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(app)  # made of a hundred signatures: so is this
    gc.freeze()  # what is shared stays shared: who collects garbage would write into all of it
    _serve(socket.socket(fileno=int(sys.argv[1])))
    status = 1
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    leave(status)
