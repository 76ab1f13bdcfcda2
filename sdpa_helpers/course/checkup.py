"""What is installed here, and whether the course can run: `sdpa doctor` and `sdpa_helpers.doctor()`."""

import html
import importlib.metadata
import importlib.util
import os
import platform
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, framed, heading

NEEDED = ("numpy", "matplotlib", "ipywidgets", "jupyterlab", "ipykernel", "nbval", "torch")
"""What the course is made for. Without torch the cells that need it say so, and the others run."""

INSTALL = 'pip install "sdpa-helpers[lab]"'
"""Installs what learners need beside an installed package, a checkout's or another."""

_OPTIONAL = ("numba", "sqlalchemy", "nbgrader")


@dataclass(frozen=True)
class Fact:
    """One line of the report. ok: None when it makes no difference to the course."""

    name: str
    value: str
    ok: bool | None = None
    help: str = ""


def facts() -> list[Fact]:
    """Everything worth knowing about this machine; takes a second or two when torch is installed."""
    if sys.platform == "emscripten":
        return _in_a_browser()
    found = [_python(), *(_package(name, needed=True) for name in NEEDED)]
    found += [_looked_at("kernel", _kernel), _looked_at("GPU", _gpu), _looked_at("triton", _triton)]
    found += [_package(name, needed=False) for name in _OPTIONAL]
    return [*found, _looked_at("backends", _backends), _looked_at("sandbox", _sandbox)]


def _looked_at(name: str, look: Callable[[], Fact]) -> Fact:
    """What `look` finds; what it raises, e.g. where torch is installed but does not load, is a finding too."""
    try:
        return look()
    except Exception as error:
        told = str(error).strip().split("\n")[0]
        return Fact(name, f"could not be looked at: {type(error).__name__}: {told}"[:200])


def _in_a_browser() -> list[Fact]:
    """What matters in a page that runs Python itself: nothing can be installed there, and little has to be."""
    return [
        _python(),
        _package("numpy", needed=True),
        Fact("torch", "none: a browser has no PyTorch. Cells that need it say so; the other cells run"),
        Fact("processes", "none: cells that start processes say so"),
        _looked_at("backends", _backends),
    ]


def can_run(found: list[Fact]) -> bool:
    """Whether nothing that the course needs is missing."""
    return all(fact.ok is not False for fact in found)


_FIRST = ("Python", "numpy", "torch", "jupyterlab", "kernel", "backends")
"""What a learner looks for."""
_FASTER = ("GPU", "triton", "numba")
"""What makes some calls faster, and no lesson needs."""
_TEACHERS = ("nbval", "sqlalchemy", "nbgrader", "sandbox")
"""What those who teach and grade use."""


class Doctor(Shown):
    """The report: what a learner has to know comes first, in text and in a notebook."""

    def __init__(self) -> None:
        self.facts = facts()

    @property
    def can_run(self) -> bool:
        """Whether the course can run here."""
        return can_run(self.facts)

    def text(self) -> str:
        """The report as plain text."""
        lines = [self._verdict]
        for title, found in self._groups():
            lines += ["", *([f"{title}:"] if title else []), *(line for f in found for line in _lines(f))]
        return "\n".join(lines)

    def html(self) -> str:
        """The report as a card; what no lesson needs is folded."""
        parts = [heading("✓" if self.can_run else "✗", self._verdict)]
        for title, found in self._groups():
            listed = f"<ul class='plain'>{''.join(map(_item, found))}</ul>"
            parts.append(f"<details><summary>{title}</summary>{listed}</details>" if title else listed)
        return styled(framed("".join(parts), "passed" if self.can_run else "failed"))

    @property
    def _verdict(self) -> str:
        if self.can_run:
            return "The course can run here."
        return "Something is missing: see the lines marked MISSING."

    def _groups(self) -> list[tuple[str, list[Fact]]]:
        """(heading, facts): first, without one, what the course needs, and of that first what is missing."""
        missing = [f for f in self.facts if f.ok is False]
        here = [f for f in self.facts if f.ok is not False]
        named = {
            "faster, and not needed": [f for f in here if f.name in _FASTER],
            "for teachers and graders": [f for f in here if f.name in _TEACHERS],
        }
        rest = [f for f in here if f.name not in (*_FASTER, *_TEACHERS)]
        rest.sort(key=lambda f: _FIRST.index(f.name) if f.name in _FIRST else len(_FIRST))
        return [("", missing + rest), *((title, found) for title, found in named.items() if found)]


_MARK = {True: "ok", False: "MISSING", None: "-"}
_WIDTH = 100
"""Of the report as text."""


def _lines(fact: Fact) -> list[str]:
    """A fact as text; a long one goes on in its own column and breaks between words."""
    wrapped = textwrap.TextWrapper(_WIDTH - 22, break_long_words=False, break_on_hyphens=False)
    told = [line for text in (fact.value, *fact.help.split("\n")) for line in wrapped.wrap(text)]
    first, *rest = told or [""]
    return [f"{_MARK[fact.ok]:<8} {fact.name:<12} {first}", *(f"{'':<22}{line}" for line in rest)]


def _item(fact: Fact) -> str:
    sign = {True: "✓", False: "✗", None: "–"}[fact.ok]
    missing = "<strong>MISSING</strong> " if fact.ok is False else ""
    more = f"<div class='quiet'>{html.escape(fact.help)}</div>" if fact.help else ""
    name = f"<strong>{html.escape(fact.name)}</strong>"
    words = ", ".join(f"<span class='word'>{html.escape(word)}</span>" for word in fact.value.split(", "))
    value = words if "," in fact.value else html.escape(fact.value)
    return f"<li><span class='mark'>{sign}</span>{missing}{name} {value}{more}</li>"


def doctor() -> Doctor:
    """Look at this machine. In a notebook, the last line of a cell: `sdpa.doctor()`."""
    return Doctor()


def _python() -> Fact:
    version = platform.python_version()
    ok = sys.version_info >= (3, 11)
    return Fact(
        "Python",
        f"{version} on {platform.system()} {platform.machine()}",
        ok,
        "" if ok else "needs 3.11 or newer",
    )


def _package(name: str, needed: bool) -> Fact:
    try:
        return Fact(name, importlib.metadata.version(name), True if needed else None)
    except importlib.metadata.PackageNotFoundError:
        help_ = f"run: {INSTALL}" if needed else ""
        return Fact(name, "not installed", False if needed else None, help_)


def _kernel() -> Fact:
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ModuleNotFoundError:
        return Fact("kernel", "not looked for: Jupyter is not installed", False, f"run: {INSTALL}")
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return Fact("kernel", "no kernel called python3", False, "run: python -m ipykernel install --user")
    same = command in (sys.executable, "python", "python3")
    note = "" if same else f"the kernel python3 starts {command}, not this Python"
    return Fact(
        "kernel", "python3 starts this Python" if same else "python3 starts another Python", True, note
    )


def _gpu() -> Fact:
    if importlib.util.find_spec("torch") is None:
        return Fact("GPU", "not looked for: torch is not installed")
    import torch

    if torch.cuda.is_available():
        return Fact("GPU", torch.cuda.get_device_name(0), True)
    return Fact("GPU", "none: everything in the course also runs on the CPU")


def _triton() -> Fact:
    from sdpa_helpers.attention.known_backends import BACKENDS, is_usable
    from sdpa_helpers.attention.machine import has_gpu

    fact = _package("triton", needed=False)
    if is_usable("triton"):
        interpreted = "TRITON_INTERPRET is set: " if os.environ.get("TRITON_INTERPRET") else ""
        return replace(fact, help=f"{interpreted}backend='triton' runs here")
    if fact.value == "not installed":
        return replace(fact, help=f"for a GPU: {BACKENDS['triton'].install}") if has_gpu() else fact
    return replace(fact, help="backend='triton' needs an NVIDIA GPU that torch sees")


def _backends() -> Fact:
    """Which there are, and which `backend="auto"` takes for long calls without a mask, and why."""
    import numpy as np

    from sdpa_helpers.attention import backends, explain_backend

    long = np.broadcast_to(np.float32(1), (4096, 64))  # takes no memory, and nothing is computed
    automatic = [f"arrays of 4096 × 64: {explain_backend(long, long, long)}"]
    if "torch" in backends():
        import torch

        tensor = torch.ones(1, 1).expand(4096, 64)
        automatic.append(f"tensors: {explain_backend(tensor, tensor, tensor)}")
    text = "; ".join(reason.split("\n")[0] for reason in automatic)
    return Fact("backends", ", ".join(backends()), True, f"backend='auto' takes, for {text}")


def _sandbox() -> Fact:
    """Which sandbox `sdpa grade` would use; found out by attacking it, which takes a second or two."""
    note = "matters only to who grades notebooks of others; see docs/sandbox.md"
    if not sys.platform.startswith("linux"):
        return Fact("sandbox", f"Linux only: {note}")
    try:
        from sdpa_helpers.sandbox.choose_level import CannotTry, choose, explain
    except ImportError:  # the student edition, or an installation without the grader's packages
        return Fact("sandbox", f"none: {note}")
    try:
        choice = choose("auto")
    except CannotTry as error:
        return Fact("sandbox", f"none could be tried out: {note}", help=str(error))
    if choice.level == "off":
        return Fact("sandbox", f"none holds: {note}", help=explain(choice.missing).strip())
    return Fact("sandbox", choice.level, help=explain(choice.missing).strip())
