"""A small kernel: IPython's shell, made before the fork, and one connection, which it gets after it.

ipykernel needs a tenth of a second to start and milliseconds for a cell, mostly for what a graded notebook has no
use for: completion, history, debugging, widgets, input, a heartbeat. Here is what a notebook's cells need.
"""

import builtins
import contextlib
import getpass
import io
import os
import socket
import sys
from pathlib import Path
from typing import Any

from IPython.core.error import StdinNotImplementedError
from traitlets.config import Config

from sdpa_helpers.sandbox.inside.front import Front, Shell
from sdpa_helpers.sandbox.inside.signed import Notebook
from sdpa_helpers.sandbox.inside.unseen import loader

_HERE = __name__.rpartition(".")[0]
CHECKS = f"{_HERE.rpartition('.')[0]}.checks"
"""A module that a package may have for its kernels: `answer(question, names) -> bytes` does a hidden check."""

_ANY = (Exception, KeyboardInterrupt, SystemExit)


class Kernel:
    """Answers the requests of one client, one after the other. No object that a notebook can reach leads here."""

    def __init__(self) -> None:
        self.front = Front()
        config = Config()
        config.HistoryManager.enabled = False
        self.shell = Shell.instance(config=config)
        Shell.kernel = self.front
        load = loader()
        self.check = None
        with contextlib.suppress(LookupError):
            self.check = load(CHECKS).answer
        self.signed = load(f"{_HERE}.signed").serve
        self.known: tuple[str, ...] = ()

    def warm(self, source: str) -> None:
        """Run what kernels will do, so that no fork does it first, and slowly; RuntimeError when it fails.

        What the source calls `question` is answered as a check.
        """
        names = self.shell.user_ns
        before = set(names)
        for _ in range(10):
            self.front.begin("0")
            self._run(source)
            if self.front.failed:
                raise RuntimeError("the warm-up ended in an error")
            if self.check is not None and "question" in names:
                self.check(names["question"], names)
        for name in set(names) - before:
            del names[name]
        self.known = _places()

    def serve(self, connection: socket.socket) -> None:
        """Say that this is ready, then answer requests until there is nobody to ask."""
        self.front.writer.open(connection)
        sys.stdout, sys.stderr = self.front.streams
        sys.stdin = io.StringIO()
        builtins.input = getpass.getpass = _no_input  # type: ignore[assignment]
        notebook = Notebook(self.front.begin, self._run, self.check, self.shell.user_ns, self.front.flush)
        self.signed(connection, self.front.writer.lock, notebook, self.known or _places())

    def _run(self, source: str) -> None:
        # An answer that sets one to None costs itself: IPython asks them for more in every cell.
        sys.stdout, sys.stderr = (
            own if now is None else now
            for now, own in zip((sys.stdout, sys.stderr), self.front.streams, strict=True)
        )
        try:
            self.shell.goes_on = False
            self.shell.run_cell(source, store_history=False)
        except _ANY as error:  # of a hook, or of a shell that was patched
            self.front.publish_error(type(error).__name__, error)


def _places() -> tuple[str, ...]:
    """The folders of all modules that are there before learners' code is."""
    loaded = [getattr(module, "__file__", None) for name, module in sys.modules.items() if "." not in name]
    files = [Path(file) for file in loaded if file]
    folders = {file.parent.parent if file.name == "__init__.py" else file.parent for file in files}
    return tuple(f"{folder}{os.sep}" for folder in folders)


def _no_input(prompt: Any = "", *_: Any, **__: Any) -> str:
    raise StdinNotImplementedError("input() has nobody to ask here: this notebook is run by a program")
