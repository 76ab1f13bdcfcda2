"""What a kernel gets to see: the files of the view, the environment, the user."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "/package"
"""Where the staged package lies in a bubblewrap view."""

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")
_FIRST_UID, _UIDS = 61184, 4000  # what systemd sets aside for users that exist for the moment only


@dataclass(frozen=True)
class KernelPackage:
    """What kernels can import beside the installed packages, and what they must not see."""

    files: tuple[tuple[str, str], ...] = ()
    """(path, text) of each file, below a folder on the kernel's PYTHONPATH."""
    warm_up: str = ""
    """Python that a fork server runs some times before its first kernel."""
    distributions: tuple[str, ...] = ("numpy", "ipython")
    hidden: tuple[str, ...] = ()
    """Folders that stay hidden; the one of the package that this sandbox is part of always does."""


EMPTY = KernelPackage()
"""Nothing but what is installed."""


def sandbox_uid() -> int:
    """As root: the unprivileged user that this process's kernels run as. Else 0: no change of user."""
    return _FIRST_UID + os.getpid() % _UIDS if os.getuid() == 0 else 0


def environment(package: str, home: str) -> dict[str, str]:
    """The kernel's whole environment; nothing of the grader's own is in it."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **threads,
        "MALLOC_ARENA_MAX": "1",  # each thread would set aside 64 MB of address space
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


def write_files(package: KernelPackage, folder: Path) -> Path:
    """Write the package's files below `folder`, which is made; put `folder` on the kernel's PYTHONPATH."""
    folder.mkdir(parents=True)
    for name, text in package.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def stage(package: KernelPackage, folder: Path) -> Path:
    """Write the package's files and the part of the sandbox that runs inside below `folder`, which is made."""
    write_files(package, folder)
    inside = Path(__file__).parent / "inside"
    target = folder / inside.relative_to(own_package().parent)
    target.mkdir(parents=True)
    for part in target.relative_to(folder).parents[:-1]:
        (folder / part / "__init__.py").touch()
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


def own_package() -> Path:
    """The folder of the package that this sandbox is part of."""
    return Path(__file__).resolve().parents[1]


def hidden_paths(package: KernelPackage) -> list[str]:
    """What must not be seen even if it lies below something visible."""
    return [str(own_package()), *package.hidden]


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    return Path(path).is_relative_to(folder)


def sources(package: KernelPackage) -> list[tuple[str, str]]:
    """(where it lies, where it is shown) of everything that is not part of the system's own folders."""
    found = [(p, p) for p in python_paths() if not any(lies_in(p, s) for s in _SYSTEM)]
    for hidden in hidden_paths(package):
        for path, _ in found:
            if path == hidden or path == "/":
                raise OSError(
                    f"{path} holds Python and what must stay hidden in one folder: install them apart"
                )
    return found


def bubblewrap(
    program: str,
    shown: list[tuple[str, str]],
    copied: list[tuple[int, str]],
    hidden_folders: list[str],
    box_mb: int,
) -> list[str]:
    """bubblewrap's command line up to the program that it runs.

    shown: (source, place) to bind read-only; where the source lies can be read from /proc/self/mountinfo inside.
    copied: (descriptor, place) of small files, of which nothing can be read there.
    """
    command = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    command += ["--hostname", "box", "--clearenv", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for path in _SYSTEM:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    covered = [h for h in hidden_folders if any(lies_in(h, s) for s in _SYSTEM)]
    for hidden in covered:
        command += ["--tmpfs", hidden]
    for source, place in shown:
        command += ["--ro-bind", source, place]
        for hidden in hidden_folders:
            if lies_in(hidden, place) and hidden != place:
                command += ["--tmpfs", hidden]  # a folder shown later, e.g. a .venv in it, comes on top
    for descriptor, place in copied:
        command += ["--perms", "0444", "--file", str(descriptor), place]
    size = str(box_mb << 20)
    for place in ("/box", "/dev/shm"):
        command += ["--size", size, "--tmpfs", place]
    command += ["--remount-ro", "/", "--remount-ro", "/dev"]
    for name, value in environment(PACKAGE, "/box").items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", "/box"]
