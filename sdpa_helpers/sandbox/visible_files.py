"""What a kernel gets to see: the files of the view, the environment, the user."""

import os
import sys
import sysconfig
from pathlib import Path

from sdpa_helpers.sandbox import staged_package as kernel_edition

PACKAGE = "/package"
"""Where the kernel's edition of the package lies in a bubblewrap view."""

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")
_FIRST_UID, _UIDS = 61184, 4000  # what systemd sets aside for users that exist for the moment only


def sandbox_uid() -> int:
    """As root: the unprivileged user that this process's kernels run as. Else 0: no change of user."""
    return _FIRST_UID + os.getpid() % _UIDS if os.getuid() == 0 else 0


def environment(package: str, home: str) -> dict[str, str]:
    """The kernel's whole environment; nothing of the grader's own is in it."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **threads,
        "MALLOC_ARENA_MAX": "2",  # each thread would set aside 64 MB of address space
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "USER": "learner",
        "LOGNAME": "learner",
        "TMPDIR": f"{home}/tmp",
        "IPYTHONDIR": f"{home}/.ipython",
        "JUPYTER_RUNTIME_DIR": f"{home}/.jupyter",
        "MPLCONFIGDIR": f"{home}/.mpl",
        "MPLBACKEND": "agg",
        "PYTHONPATH": package,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def stage(folder: Path) -> Path:
    """The kernel's edition of the package, with the part of the sandbox that runs inside."""
    kernel_edition.stage(folder)
    inside = Path(__file__).parent / "inside"
    target = folder / "sdpa_helpers" / "sandbox" / "inside"
    target.mkdir(parents=True)
    for part in (target.parent,):
        (part / "__init__.py").write_text("")
    for path in inside.glob("*.py"):
        (target / path.name).write_bytes(path.read_bytes())
    return folder


def python_paths() -> list[str]:
    """The interpreter and the installed packages, without anything that lies beside them."""
    prefix, found = Path(sys.prefix), [sys.base_prefix]
    found += [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")]
    found.append(str(Path(sys.executable).parent))
    if (prefix / "pyvenv.cfg").is_file():
        found.append(str(prefix / "pyvenv.cfg"))
    return list(dict.fromkeys(found))


def hidden_paths() -> list[str]:
    """What must not be seen even if it lies below something visible: the course and its reference answers."""
    package = Path(__file__).resolve().parents[1]
    hidden = [str(package)]
    if (package.parent / "solutions").is_dir():
        hidden.append(str(package.parent))
    return hidden


def _inside(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def sources(staged: Path) -> list[tuple[str, str]]:
    """(where it lies, where it is shown) of everything that is not part of the system's own folders."""
    found = [(p, p) for p in python_paths() if not any(_inside(p, s) for s in _SYSTEM)]
    for hidden in hidden_paths():
        for path, _ in found:
            if path == hidden or path == "/":
                raise OSError(f"{path} holds Python and the course in one folder: install them apart")
    return [*found, (str(staged), PACKAGE)]


def bubblewrap(program: str, shown: list[tuple[str, str]], box_mb: int) -> list[str]:
    """bubblewrap's command line up to the program that it runs; `shown`: (source, place) to bind read-only."""
    command = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    command += ["--hostname", "box", "--clearenv", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for path in _SYSTEM:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    covered = [h for h in hidden_paths() if any(_inside(h, s) for s in _SYSTEM)]
    for hidden in covered:
        command += ["--tmpfs", hidden]
    for source, place in shown:
        command += ["--ro-bind", source, place]
        for hidden in hidden_paths():
            if _inside(hidden, place) and hidden != place:
                command += ["--tmpfs", hidden]  # a folder shown later, e.g. a .venv in it, comes on top
    size = str(box_mb << 20)
    for place in ("/box", "/dev/shm"):
        command += ["--size", size, "--tmpfs", place]
    command += ["--size", str(1 << 20), "--tmpfs", "/run", "--remount-ro", "/", "--remount-ro", "/dev"]
    for name, value in environment(PACKAGE, "/box").items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", "/box"]
