"""A small Jupyter kernel: IPython's shell and two sockets, made before the fork and bound after it.

ipykernel needs a tenth of a second to start and milliseconds for a cell, mostly for what a graded notebook has no
use for: completion, history, debugging, widgets, input, a heartbeat. Here are the requests that nbval makes.
"""

import builtins
import getpass
import io
import os
import sys
import threading
from typing import Any

import zmq
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from sdpa_helpers.sandbox.inside import wire

_ANY = (Exception, KeyboardInterrupt, SystemExit)
_FLUSH_FROM = 1 << 16
"""Characters of a stream that are kept back for a message of their own."""


class Session:
    """Sends messages, from whatever thread; a child that the notebook forks sends nothing."""

    def __init__(self) -> None:
        self.key, self.pack = b"", wire.pack
        self.lock, self.sent, self.owner = threading.RLock(), 0, 0

    def send(
        self,
        socket: zmq.Socket | None,
        kind: str,
        content: dict | None = None,
        parent: Any = None,
        ident: Any = (),
    ) -> None:
        """Send a message that answers the request `parent`."""
        if socket is None or os.getpid() != self.owner:
            return
        with self.lock:
            self.sent += 1
            answered = (parent or {}).get("header")
            number = f"kernel-{self.sent}"
            frames = wire.write(self.key, number, kind, content or {}, answered, self.pack)
            socket.send_multipart([*ident, *frames])


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
        with self.kernel.session.lock:
            self.kept.append(text)
            self.size += len(text)
        if self.size >= _FLUSH_FROM:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        with self.kernel.session.lock:
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
        content = {"data": data, "metadata": metadata or {}, "transient": options.get("transient") or {}}
        kind = "update_display_data" if options.get("update") else "display_data"
        self.shell.kernel.publish(kind, content)

    def clear_output(self, wait: bool = False) -> None:
        """Say so."""
        self.shell.kernel.publish("clear_output", {"wait": wait})


class Shell(InteractiveShell):
    """IPython's shell; a traceback is not worth its time here: nobody reads it."""

    displayhook_class, display_pub_class = Type(_Hook), Type(_Publisher)
    kernel: Any = None

    def showtraceback(self, exc_tuple: Any = None, *_: Any, **__: Any) -> None:
        """Send the name and the text of an error."""
        kind, value = self._get_exc_info(exc_tuple)[:2]
        self.kernel.publish_error(kind.__name__, value)

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        """The same for code that cannot be compiled."""
        self.showtraceback()

    showindentationerror = showsyntaxerror

    def enable_gui(self, gui: str | None = None) -> None:
        """There is no window to draw in."""

    def ask_exit(self) -> None:
        """`exit` and `quit` do nothing in a notebook that is graded."""


class Kernel:
    """Answers the requests of one client, one after the other."""

    def __init__(self) -> None:
        self.session, self.parent, self.failed = Session(), {}, False
        self.iopub_socket: zmq.Socket | None = None
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

    def bind(self, address: str, key: str) -> None:
        """Open `address`-2 for outputs and `address`-1 for requests, then make the file `address`-0: both listen.

        A socket's own file is there a moment before it listens, and who connects in that moment is refused.
        """
        self.session.key, self.session.owner = key.encode(), os.getpid()
        context = zmq.Context(io_threads=1)
        self.iopub_socket, self.requests = context.socket(zmq.XPUB), context.socket(zmq.ROUTER)
        # A client that reads slowly makes the notebook wait; by default its messages would be lost.
        self.iopub_socket.setsockopt(zmq.XPUB_NODROP, 1)
        self.iopub_socket.bind(f"ipc://{address}-2")
        self.requests.bind(f"ipc://{address}-1")
        os.close(os.open(f"{address}-0", os.O_CREAT, 0o600))

    def serve(self) -> None:
        """Wait until the client hears the outputs, then answer its requests for ever."""
        assert self.iopub_socket is not None
        self.iopub_socket.recv()
        sys.stdout, sys.stderr = self.streams
        sys.stdin = io.StringIO()
        builtins.input = getpass.getpass = _no_input  # type: ignore[assignment]
        while os.getpid() == self.session.owner:
            try:
                addresses, request = wire.read(self.requests.recv_multipart())
                self._answer(addresses, request)
            except _ANY:  # a notebook may have spoiled anything here
                continue

    def _answer(self, addresses: list[bytes], request: wire.Message) -> None:
        self.parent, self.failed = request, False
        try:  # "busy" is not told: who has asked knows it, and every message costs as much as a small cell
            if request["msg_type"] == "execute_request":
                self._execute(request["content"])
        finally:
            self._flush()
            kind = str(request["msg_type"]).replace("_request", "_reply")
            content = {"status": "error" if self.failed else "ok", "execution_count": 0}
            self.session.send(self.requests, kind, content, parent=request, ident=addresses)
            self._publish_status("idle")

    def _execute(self, content: dict) -> None:
        """Run a cell; the grader's own checks are plain Python, which needs no shell."""
        try:
            if content.get("plain"):
                exec(compile(content["code"], "<check>", "exec"), self.shell.user_ns)
            else:
                self.shell.run_cell(content["code"], store_history=False)
        except _ANY as error:  # of a hook, or of a shell that was patched
            self.publish_error(type(error).__name__, error)

    def get_parent(self, *_: Any) -> wire.Message:
        """The request that is being answered."""
        return self.parent

    def publish(self, kind: str, content: dict) -> None:
        """Send an output of the present cell, after what was printed before it."""
        if kind not in ("stream", "status"):
            self._flush()
        self.session.send(self.iopub_socket, kind, content, parent=self.parent)

    def _flush(self) -> None:
        for stream in self.streams:
            stream.flush()

    def publish_error(self, name: str, value: Any) -> None:
        """Send an error that ends the present cell."""
        self.failed = True
        try:
            text = str(value)
        except Exception as error:
            text = f"its text cannot be had: {type(error).__name__}"
        self.publish("error", {"ename": name, "evalue": text, "traceback": []})

    def _publish_status(self, state: str) -> None:
        self.publish("status", {"execution_state": state})


def _no_input(prompt: Any = "", *_: Any, **__: Any) -> str:
    raise StdinNotImplementedError("input() has nobody to ask here: this notebook is run by a program")
