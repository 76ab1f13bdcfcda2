"""What learners' code reaches by `get_ipython()`: the shell, and what writes messages of what it shows.

Nothing here leads to the grader's connection itself, or to what marks a message as the kernel's own (`signed`).
"""

import io
import os
import socket
import sys
import threading
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList
from traitlets import Type

from sdpa_helpers.sandbox.inside import messages, no_programs

_PROGRAMS = frozenset({"pip", "conda", "mamba", "micromamba", "uv"})
"""Magics that are another program's."""
_FLUSH_FROM = 1 << 16
"""Characters of a stream that are kept back for a message of their own."""


class Writer:
    """Sends what a notebook shows, from whatever thread; a child that the notebook forks sends nothing."""

    def __init__(self) -> None:
        self.pack, self.lock, self.owner = messages.pack, threading.RLock(), 0
        self.connection: socket.socket | None = None

    def open(self, connection: socket.socket) -> None:
        """Send through another descriptor of this connection from now on, and from this process alone."""
        self.connection, self.owner = connection.dup(), os.getpid()

    def send(self, kind: str, content: dict, asked: str) -> None:
        """Send an output; waits while the grader does not read."""
        if self.connection is None or os.getpid() != self.owner:
            return
        packed = self.pack({"asked": asked, "kind": kind, "content": content})
        with self.lock:
            self.connection.sendall(messages.framed(packed))


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the notebook: what is written becomes messages."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, front: "Front", name: str) -> None:
        self.front, self.name, self.kept, self.size = front, name, [], 0

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep the text until it is worth a message."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self.front.writer.lock:
            self.kept.append(text)
            self.size += len(text)
        if self.size >= _FLUSH_FROM:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        with self.front.writer.lock:
            text, self.kept, self.size = "".join(self.kept), [], 0
            if text:
                self.front.publish("stream", {"name": self.name, "text": text})


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
    """Whether the present cell goes on after errors: a line of it has needed what is not there."""

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
        """Run one statement; whether the cell ends here. One that needs what is not there costs itself alone."""
        failed = await super().run_code(code_obj, result, async_=async_)
        self.goes_on |= failed and result is not None and _needs_more(result.error_in_exec)
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


def _needs_more(error: BaseException | None) -> bool:
    """Whether an error says that a library, or another program, is not there."""
    return isinstance(error, ImportError) or no_programs.is_refusal(error)


class Front:
    """What the shell shows, as messages; `asked` is the number of the request that they belong to."""

    def __init__(self) -> None:
        self.writer, self.asked, self.failed = Writer(), messages.READY, False
        self.streams = Stream(self, "stdout"), Stream(self, "stderr")

    def begin(self, asked: str) -> None:
        """The next request, by its number."""
        self.asked, self.failed = asked, False

    def publish(self, kind: str, content: dict) -> None:
        """Send an output of the present cell, after what was printed before it."""
        if kind != "stream":
            self.flush()
        self.writer.send(kind, content, self.asked)

    def flush(self) -> None:
        """Send what was kept."""
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
