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
import threading
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList
from traitlets import Type
from traitlets.config import Config

from sdpa_helpers.sandbox.inside import messages, no_programs

_ANY = (Exception, KeyboardInterrupt, SystemExit)
_PROGRAMS = frozenset({"pip", "conda", "mamba", "micromamba", "uv"})
"""Magics that are another program's."""
_FLUSH_FROM = 1 << 16
"""Characters of a stream that are kept back for a message of their own."""


class Channel:
    """Sends messages, from whatever thread; a child that the notebook forks sends nothing."""

    def __init__(self) -> None:
        self.pack, self.lock, self.owner = messages.pack, threading.RLock(), 0
        self.connection: socket.socket | None = None

    def open(self, connection: socket.socket) -> None:
        """Send through this connection from now on, and from this process alone."""
        self.connection, self.owner = connection, os.getpid()

    def send(self, kind: str, content: dict, asked: str) -> None:
        """Send an answer to a request; waits while the grader does not read."""
        if self.connection is None or os.getpid() != self.owner:
            return
        packed = self.pack({"asked": asked, "kind": kind, "content": content})
        with self.lock:
            self.connection.sendall(messages.framed(packed))


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the notebook: what is written becomes messages."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, kernel: "Kernel", name: str) -> None:
        self.kernel, self.name, self.kept, self.size = kernel, name, [], 0

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep the text until it is worth a message."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self.kernel.channel.lock:
            self.kept.append(text)
            self.size += len(text)
        if self.size >= _FLUSH_FROM:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        with self.kernel.channel.lock:
            text, self.kept, self.size = "".join(self.kept), [], 0
            if text:
                self.kernel.publish("stream", {"name": self.name, "text": text})


class _Hook(DisplayHook):
    """The value of a cell's last line."""

    shell: Any

    def write_output_prompt(self) -> None:
        """The number is part of the message."""

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        """Send the value."""
        count = self.prompt_count
        content = {"data": format_dict, "metadata": md_dict or {}, "execution_count": count}
        self.shell.kernel.publish("execute_result", content)

    def finish_displayhook(self) -> None:
        """Nothing to write."""
        self._is_active = False


class _Publisher(DisplayPublisher):
    """What display() shows."""

    shell: Any

    def publish(self, data: dict, metadata: dict | None = None, *_: Any, **options: Any) -> None:
        """Send it."""
        self._validate_data(data, metadata)
        kind = "update_display_data" if options.get("update") else "display_data"
        self.shell.kernel.publish(kind, {"data": data, "metadata": metadata or {}})

    def clear_output(self, wait: bool = False) -> None:
        """Say so."""
        self.shell.kernel.publish("clear_output", {})


class Shell(InteractiveShell):
    """IPython's shell; a traceback is not worth its time here: nobody reads it."""

    displayhook_class, display_pub_class = Type(_Hook), Type(_Publisher)
    kernel: Any = None
    goes_on = False
    """Whether the present cell goes on after errors: a line of it has tried to start a program."""

    def showtraceback(self, exc_tuple: Any = None, *_: Any, **__: Any) -> None:
        """Send the name and the text of an error, and in which line of the cell it was."""
        kind, value, traceback = self._get_exc_info(exc_tuple)
        while (
            traceback is not None and traceback.tb_frame.f_code.co_filename not in self.compile._filename_map
        ):
            traceback = traceback.tb_next
        where = f" (line {traceback.tb_lineno})" if traceback is not None else ""
        self.kernel.publish_error(kind.__name__, value, where)

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        """The same for code that cannot be compiled."""
        self.showtraceback()

    showindentationerror = showsyntaxerror

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> bool:
        """Run one statement; whether the cell ends here. One that may not start a program costs itself alone."""
        failed = await super().run_code(code_obj, result, async_=async_)
        self.goes_on |= failed and result is not None and no_programs.is_refusal(result.error_in_exec)
        return failed and not self.goes_on

    def system(self, cmd: str) -> Any:
        """`!program` does nothing where no program can be started."""
        return self._not_run(cmd) if no_programs.are_refused() else super().system(cmd)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """The same for `files = !program`; nothing comes of it."""
        if not no_programs.are_refused():
            return super().getoutput(cmd, split, depth + 1)
        self._not_run(cmd)
        return SList() if split else LSString()

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """The same for magics that look for a program first; how things look has no effect here, and costs nothing."""
        if magic_name in _PROGRAMS and no_programs.are_refused():
            return self._not_run(magic_name)
        if magic_name == "config":  # it would run what stands in its line
            return None
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except Exception:
            if magic_name != "matplotlib":  # a window or a widget, which are not here
                raise

    def var_expand(self, cmd: str, *_: Any, **__: Any) -> str:
        """What stands in braces in a magic's line is no code here: nobody would read it."""
        return cmd

    def _not_run(self, cmd: str) -> None:
        print(f"{cmd}: not run: {no_programs.SAYS}", file=sys.stderr)

    def enable_gui(self, gui: str | None = None) -> None:
        """There is no window to draw in."""

    def ask_exit(self) -> None:
        """`exit` and `quit` do nothing in a notebook that is graded."""


class Kernel:
    """Answers the requests of one client, one after the other."""

    def __init__(self) -> None:
        self.channel, self.asked, self.failed = Channel(), messages.READY, False
        self.streams = Stream(self, "stdout"), Stream(self, "stderr")
        config = Config()
        config.HistoryManager.enabled = False
        self.shell = Shell.instance(config=config)
        Shell.kernel = self

    def warm(self, source: str) -> None:
        """Run what kernels will do, so that no fork does it first, and slowly; RuntimeError when it fails."""
        before = set(self.shell.user_ns)
        for turn in range(20):
            self._execute({"code": source, "plain": turn % 2})
            if self.failed:
                raise RuntimeError("the warm-up ended in an error")
        for name in set(self.shell.user_ns) - before:
            del self.shell.user_ns[name]

    def serve(self, connection: socket.socket) -> None:
        """Say that this is ready, then answer requests until there is nobody to ask."""
        self.channel.open(connection)
        sys.stdout, sys.stderr = self.streams
        sys.stdin = io.StringIO()
        builtins.input = getpass.getpass = _no_input  # type: ignore[assignment]
        self.channel.send("done", {}, messages.READY)
        while os.getpid() == self.channel.owner:
            try:
                request = messages.receive(connection)
            except (EOFError, OSError):
                return  # the grader has hung up, or the notebook has closed the connection
            with contextlib.suppress(*_ANY):  # a notebook may have spoiled anything here
                self._answer(request)

    def _answer(self, request: dict[str, Any]) -> None:
        self.asked, self.failed = request["asked"], False
        try:
            self._execute(request)
        finally:
            self._flush()
            self.channel.send("done", {}, self.asked)

    def _execute(self, content: dict) -> None:
        """Run a cell; the grader's own checks are plain Python, which needs no shell."""
        try:
            if content.get("plain"):
                exec(compile(content["code"], "<check>", "exec"), self.shell.user_ns)
            else:
                self.shell.goes_on = False
                self.shell.run_cell(content["code"], store_history=False)
        except _ANY as error:  # of a hook, or of a shell that was patched
            self.publish_error(type(error).__name__, error)

    def publish(self, kind: str, content: dict) -> None:
        """Send an output of the present cell, after what was printed before it."""
        if kind != "stream":
            self._flush()
        self.channel.send(kind, content, self.asked)

    def _flush(self) -> None:
        for stream in self.streams:
            stream.flush()

    def publish_error(self, name: str, value: Any, where: str = "") -> None:
        """Send an error that ends the present cell."""
        self.failed = True
        try:
            text = str(value)
        except Exception as error:
            text = f"its text cannot be had: {type(error).__name__}"
        self.publish("error", {"ename": name, "evalue": text + where})


def _no_input(prompt: Any = "", *_: Any, **__: Any) -> str:
    raise StdinNotImplementedError("input() has nobody to ask here: this notebook is run by a program")
