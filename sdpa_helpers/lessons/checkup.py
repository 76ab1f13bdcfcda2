"""What is installed here, and whether the course can run: `sdpa doctor` and `sdpa_helpers.doctor()`."""

import importlib.metadata
import importlib.util
import os
import platform
import sys
from dataclasses import dataclass, replace

NEEDED = ("numpy", "matplotlib", "ipywidgets", "jupyterlab", "ipykernel", "nbval", "torch")
"""Without these a lesson or a check cannot run. Lessons 01-03 run without torch."""

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
    found = [_python(), *(_package(name, needed=True) for name in NEEDED)]
    found += [
        _kernel(),
        _gpu(),
        _triton(),
        *(_package(name, needed=False) for name in _OPTIONAL),
        _backends(),
        _sandbox(),
    ]
    return found


def can_run(found: list[Fact]) -> bool:
    """Whether nothing that the course needs is missing."""
    return all(fact.ok is not False for fact in found)


class Doctor:
    """The report: prints as text, shows as a table in a notebook."""

    def __init__(self) -> None:
        self.facts = facts()

    @property
    def can_run(self) -> bool:
        """Whether the course can run here."""
        return can_run(self.facts)

    def __repr__(self) -> str:
        mark = {True: "ok", False: "MISSING", None: "-"}
        lines = [
            f"{mark[f.ok]:<8} {f.name:<12} {f.value}" + (f"\n{'':<21} {f.help}" if f.help else "")
            for f in self.facts
        ]
        verdict = (
            "The course can run here."
            if self.can_run
            else "Something is missing: see the lines marked MISSING."
        )
        return "\n".join([*lines, "", verdict])


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
        from sdpa_helpers.sandbox import choose_level

        choice = choose_level.choose("auto")
    except ImportError:  # the student edition, or an installation without the grader's packages
        return Fact("sandbox", f"none: {note}")
    if choice.level == "off":
        return Fact("sandbox", f"none holds: {note}", help=choose_level.explain(choice.missing).strip())
    return Fact("sandbox", choice.level, help=choose_level.explain(choice.missing).strip())
