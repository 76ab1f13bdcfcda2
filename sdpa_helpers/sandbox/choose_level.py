"""Find the best level that holds on this machine: start a kernel at each and let it attack."""

import contextlib
import json
import os
import shutil
import site
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_helpers.sandbox import scratch, start
from sdpa_helpers.sandbox.bounded_kernel import GradedKernel
from sdpa_helpers.sandbox.fork_servers import CannotStart
from sdpa_helpers.sandbox.installed import others, places, refuse_links
from sdpa_helpers.sandbox.levels import LEVELS
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import EMPTY, KernelPackage, covered, own_package

_LIMITS = Limits(seconds=20, cell_seconds=10, memory_mb=1024)


class NoSandbox(Exception):
    """No level holds; the text says why, level by level."""


class CannotTry(Exception):
    """Nothing can be tried out, and that says nothing about a level; the text says why, and what to do."""


@dataclass(frozen=True)
class ChosenLevel:
    """What `choose` has found out."""

    level: str
    """The level to use."""
    missing: dict[str, str] = field(default_factory=dict)
    """For each better level: why it is not used."""


def choose(wanted: str, package: KernelPackage = EMPTY) -> ChosenLevel:
    """The level for `--sandbox auto`, `require` or `off`; NoSandbox when "require" cannot be met, CannotTry.

    What is started for the trial is kept: with the package that is used later it need not be started again.
    """
    try:
        places(package.distributions)
    except CannotStart as error:
        raise CannotTry(str(error)) from None
    if wanted == start.OFF:
        return ChosenLevel(start.OFF)
    missing: dict[str, str] = {}
    for name in LEVELS:
        why = fault(name, package)
        if not why:
            return ChosenLevel(name, missing)
        missing[name] = why
    if wanted == "require":
        raise NoSandbox(explain(missing))
    return ChosenLevel(start.OFF, missing)


def explain(missing: dict[str, str]) -> str:
    """Why levels are not used, as sentences."""
    return "\n".join(f"  {name}: {why}" for name, why in missing.items())


def fault(level: str, package: KernelPackage = EMPTY) -> str:
    """ "" when attacks from a kernel at this level all fail, else what is wrong with it."""
    if not sys.platform.startswith("linux"):
        return "works on Linux only; see docs/sandbox.md for containers and WSL 2"
    try:
        refuse_links(package.distributions)
    except CannotStart as error:
        return str(error)
    try:
        with _targets() as targets:
            try:
                done = _attack(level, package, targets)
            except (
                Exception
            ):  # something may have killed it from outside; a level that holds here holds twice
                start.end(level)
                _refuse_without_room()
                try:
                    done = _attack(level, package, targets)
                except Exception as error:
                    start.end(level)
                    return " ".join(str(error).split())[:400] or type(error).__name__
            done += targets.harm()
    except OSError as error:  # the targets themselves
        raise _no_room(error) from error
    if done:
        start.end(level)
    return f"a kernel could {', '.join(dict.fromkeys(done))}" if done else ""


_ENOUGH = 512 << 10
"""Bytes of temporary files, more than a kernel at any level needs to be started."""


def _refuse_without_room() -> None:
    """Raise CannotTry where a level cannot be blamed for a kernel that did not start."""
    folder = tempfile.mkdtemp(prefix="sdpa-room-")
    try:
        with open(os.path.join(folder, "room"), "wb") as file:
            file.write(bytes(_ENOUGH))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _no_room(error: OSError) -> CannotTry:
    return CannotTry(
        f"temporary files have no room in {tempfile.gettempdir()} ({error.strerror or error}): make some, or name "
        "another folder in TMPDIR"
    )


@dataclass
class _Targets:
    """What the attacks aim at: files, folders, listening sockets, this process."""

    folder: Path
    """Open to everybody; holds the file "secret" and a listening socket."""
    listeners: list[socket.socket]
    """On a port, in the folder, and at an abstract address."""

    def as_data(self, given: KernelPackage) -> dict:
        """What the attacking code needs to know."""
        package = own_package()
        files, names = others(given.distributions, (*covered(), site.getusersitepackages()))
        own = {package.name, *(name.partition("/")[0] for name, _ in given.files)}
        return {
            "others": files,
            "names": sorted(names - own - sys.stdlib_module_names),
            "read": [*map(str, (self.folder / "secret", *_one_of_each_room(package))), "/etc/shadow"],
            "write": [str(self.folder), str(package), "/usr", "/etc", "/"],
            "port": self.listeners[0].getsockname()[1],
            "unix": str(self.folder / "socket"),
            "abstract": self.listeners[2].getsockname().decode("latin-1"),
            "pid": os.getpid(),
            "command": Path("/proc/self/cmdline").read_text(errors="replace"),
        }

    def harm(self) -> list[str]:
        """What can be seen from here."""
        found = []
        if {p.name for p in self.folder.iterdir()} != {"secret", "socket"}:
            found.append("write outside")
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                found.append("connect to a socket of this machine")
        return found


def _one_of_each_room(package: Path) -> list[Path]:
    """A module of each folder in a package, the longest: none of them is for a kernel to read."""
    rooms = [list(folder.rglob("*.py")) for folder in sorted(package.iterdir()) if folder.is_dir()]
    return [max(modules, key=lambda path: path.stat().st_size) for modules in rooms if modules]


@contextlib.contextmanager
def _targets() -> Iterator[_Targets]:
    folder, listeners = scratch.make("probe"), []
    try:
        folder.chmod(0o777)  # open to everybody: what keeps a kernel out must be the sandbox
        (folder / "secret").write_text("secret")
        places = ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(folder / "socket")))
        for family, place in (*places, (socket.AF_UNIX, f"\0sdpa-probe-{os.getpid()}")):
            listener = socket.socket(family)
            listeners.append(listener)
            listener.bind(place)
            listener.listen(4)
            listener.setblocking(False)
        (folder / "socket").chmod(0o777)
        yield _Targets(folder, listeners)
    finally:
        for listener in listeners:
            listener.close()
        scratch.remove(folder)


def _attack(level: str, package: KernelPackage, targets: _Targets) -> list[str]:
    """What the attacks from inside report as done."""
    kernel = GradedKernel(start.start_kernel(level, _LIMITS, package), _LIMITS)
    try:
        source = f"_targets = {json.dumps(targets.as_data(package))!r}\n{_ATTACKS}"
        asked = kernel.execute_cell_input(source, allow_stdin=False)
        kernel.await_reply(asked, timeout=20)
        said = ""
        while True:
            message = kernel.get_message("iopub", timeout=5)
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                said += str(content.get("text"))
            if message["msg_type"] == "error":
                raise RuntimeError(
                    f"the probe itself failed: {content.get('ename')}: {content.get('evalue')}"
                )
            if message["msg_type"] == "status" and content.get("execution_state") == "idle":
                break
        if not kernel.is_alive():
            return ["end its own supervisor"]
        return list(json.loads(said.strip().split("\n")[-1]))
    finally:
        kernel.stop()


_ATTACKS = """
import ctypes, importlib.machinery, json, os, signal, socket
targets, done = json.loads(_targets), []

def attempt(name, action):
    try:
        if action():
            done.append(name)
    except (OSError, ValueError):
        pass

def read(path):
    with open(path, "rb") as file:
        return len(file.read(1)) == 1

def opens(path):
    try:
        return read(path)
    except OSError:
        return False

def write(folder):
    path = os.path.join(folder, "sdpa-was-here")
    open(path, "w").close()
    os.unlink(path)  # proved; nothing is left behind
    return True

def connect(family, place, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as s:
        s.settimeout(2)
        s.connect(place)
    return True

for path in targets["read"]:
    attempt(f"read {path}", lambda: read(path))
seen = next(filter(opens, targets["others"]), None)
attempt(f"read {seen}, which is not for it", lambda: seen)
found = next(filter(importlib.machinery.PathFinder.find_spec, targets["names"]), None)
attempt(f"import {found}, which is not for it", lambda: found)
for folder in targets["write"]:
    attempt(f"write to {folder}", lambda: write(folder))
attempt("connect to this machine", lambda: connect(socket.AF_INET, ("127.0.0.1", targets["port"])))
attempt("connect to a socket file", lambda: connect(socket.AF_UNIX, targets["unix"]))
attempt("connect to an abstract socket", lambda: connect(socket.AF_UNIX, targets["abstract"]))
for family in (socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        attempt(f"open a socket of family {int(family)}", lambda: socket.socket(family, kind).close() is None)

def sees():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", errors="replace") as file:
                    if file.read() == targets["command"]:
                        return True
            except OSError:
                pass

libc, parent = ctypes.CDLL(None, use_errno=True), os.getppid()
attempt("see the grader's process", sees)
if parent > 1:
    attempt("signal its parent", lambda: os.kill(parent, 0) is None)
if parent > 0:
    # SEIZE, not ATTACH: a tracee that ATTACH has stopped stays stopped, and here it may be the grader.
    attempt("trace its parent", lambda: libc.ptrace(0x4206, parent, 0, 0) == 0)
    attempt("read its parent's memory", lambda: open(f"/proc/{parent}/mem", "rb").close() is None)
attempt("enter a name space", lambda: libc.unshare(0x10000000) == 0)

def forks():
    child = libc.fork()
    if child == 0:
        libc._exit(0)
    return child > 0

def executes():
    libc.execv(b"/there/is/no/such/program", None)
    return ctypes.get_errno() not in (1, 13)

attempt("start another process", forks)
attempt("become another program", executes)
print(json.dumps(done))
"""
