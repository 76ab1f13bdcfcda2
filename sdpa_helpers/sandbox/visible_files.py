"""What a kernel gets to see: the files of the view, the environment, the user."""

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sdpa_helpers.sandbox.installed import CACHE, places

PACKAGE = "/package"
"""From where all is imported beside the standard library, in a bubblewrap view."""

INTERPRETER = getattr(sys, "_base_executable", None) or sys.executable
"""Python itself, whatever environment this process is in: what an environment adds comes by PYTHONPATH."""

_FACTS = ".dist-info"
_FIRST_UID, _UIDS = 61184, 4000  # what systemd sets aside for users that exist for the moment only


@dataclass(frozen=True)
class KernelPackage:
    """What kernels can import beside the standard library."""

    files: tuple[tuple[str, str], ...] = ()
    """(path, text) of each file, below a folder on the kernel's PYTHONPATH."""
    warm_up: str = ""
    """Python that a fork server runs some times before its first kernel."""
    distributions: tuple[str, ...] = ("numpy", "ipython")
    """Of all that is installed, these and what they require are there, and nothing else."""


EMPTY = KernelPackage()
"""Nothing but NumPy and IPython."""


def sandbox_uid() -> int:
    """As root: the unprivileged user that this process's kernels run as. Else 0: no change of user."""
    return _FIRST_UID + os.getpid() % _UIDS if os.getuid() == 0 else 0


def environment(package: str, home: str) -> dict[str, str]:
    """The kernel's whole environment; nothing of the grader's own is in it."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **threads,
        "MALLOC_ARENA_MAX": "1",  # each thread would set aside 64 MB of address space
        "PATH": f"{Path(INTERPRETER).parent}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "USER": "learner",
        "LOGNAME": "learner",
        "TMPDIR": f"{home}/tmp",
        "IPYTHONDIR": f"{home}/.ipython",
        "JUPYTER_RUNTIME_DIR": f"{home}/.jupyter",
        "PYTHONPATH": package,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def stage(package: KernelPackage, folder: Path) -> Path:
    """Make a folder to import from, with all that `contents` and `links_to_code` name; it is what PYTHONPATH names."""
    for name, content in contents(package).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if hasattr(os, "fork"):  # on Windows links are not for everybody
        for name, place in links_to_code(package).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).symlink_to(place)
    return folder


def contents(package: KernelPackage) -> dict[str, bytes]:
    """Name → content of the package's files, of the part of the sandbox that runs inside, of the versions installed."""
    inside = Path(__file__).parent / "inside"
    room = inside.relative_to(own_package().parent)
    found = {name: text.encode() for name, text in package.files}
    found = {**{f"{part}/__init__.py": b"" for part in room.parents[:-1]}, **found}
    found |= {f"{room}/{path.name}": path.read_bytes() for path in inside.glob("*.py")}
    for facts in (
        os.path.basename(place) for place in places(package.distributions) if place.endswith(_FACTS)
    ):
        name, _, version = facts.removesuffix(_FACTS).rpartition("-")  # some ask for their own version
        found[f"{facts}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    return found


def links_to_code(package: KernelPackage) -> dict[str, str]:
    """Name → where it lies, of all that can be imported of the package's distributions.

    Links, for a compiled module may look for its libraries from where it was installed.
    """
    code = map(Path, code_of(package))
    return {f"{CACHE}/{p.name}" if p.parent.name == CACHE else p.name: str(p) for p in code}


def code_of(package: KernelPackage) -> list[str]:
    """Where all code of the package's distributions lies."""
    return [place for place in places(package.distributions) if not place.endswith(_FACTS)]


def own_package() -> Path:
    """The folder of the package that this sandbox is part of."""
    return Path(__file__).resolve().parents[1]


# ---- the system and the interpreter -----------------------------------------------------------------------

_SYSTEM = ("/usr", "/etc", "/bin", "/lib", "/lib32", "/lib64")


def is_of_system(path: str) -> bool:
    """Whether every user of a machine can reach it."""
    return any(lies_in(path, folder) for folder in _SYSTEM)


def seen(package: KernelPackage) -> list[str]:
    """Paths of all that a kernel sees of the machine, less what is `covered`."""
    return [*shown(), *code_of(package)]


@cache
def shown() -> tuple[str, ...]:
    """What of the system a kernel gets to see, less what is `covered`: programs, libraries, Python, time zones."""
    found = ["/usr/bin", "/bin", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/alternatives", INTERPRETER]
    found += [*_library_folders(), *standard_library()]
    found += map(str, Path("/usr/lib").glob("ld-linux*"))  # where the loader is not with the others
    existing = [path for path in dict.fromkeys(found) if os.path.exists(path) and path not in links()]
    return tuple(p for p in existing if not any(p != other and lies_in(p, other) for other in existing))


@cache
def covered() -> tuple[str, ...]:
    """What lies in something `shown` and is not to be seen: the packages of this Python, and other Pythons."""
    own = standard_library()
    found = [os.path.join(folder, name) for folder in own for name in ("site-packages", "dist-packages")]
    for folder in _library_folders():
        others = [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(("python", "pypy"))]
        found += [path for path in others if not any(lies_in(library, path) for library in own)]
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path) and not os.path.islink(path))


def links() -> dict[str, str]:
    """Folders of the system that are links to others, and where they lead."""
    return {path: os.readlink(path) for path in (*_SYSTEM, "/usr/lib64") if os.path.islink(path)}


def standard_library() -> list[str]:
    """The folders of Python's standard library."""
    pure = sysconfig.get_path("stdlib")
    return list(dict.fromkeys((pure, f"{sys.base_exec_prefix}/{sys.platlibdir}/{Path(pure).name}")))


def _library_folders() -> list[str]:
    """Folders of shared libraries. Debian keeps those in one of their own, beside which much else lies."""
    of_debian = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"
    usr = of_debian if os.path.isdir(of_debian) else "/usr/lib"
    prefixes = {sys.base_prefix, sys.base_exec_prefix} - {"/usr"}
    own = [f"{prefix}/{name}" for prefix in sorted(prefixes) for name in ("lib", sys.platlibdir)]
    found = [usr, "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/lib", "/lib32", "/lib64", *own]
    return [path for path in dict.fromkeys(found) if os.path.isdir(path) and path not in links()]


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    return Path(path).is_relative_to(folder)


def apart_from(path: str, left_out: tuple[str, ...]) -> Iterator[str]:
    """The path, or where something in it is to be left out, the entries of the folder that are not."""
    if not any(lies_in(other, path) for other in left_out):
        yield path
    elif path not in left_out:
        for entry in os.scandir(path):
            if not entry.is_symlink():  # what it leads to is looked at where it lies
                yield from apart_from(entry.path, left_out)


def bubblewrap(
    program: str,
    source_of: Callable[[str], str],
    package: KernelPackage,
    copied: Mapping[int, str],
    box_mb: int,
) -> list[str]:
    """bubblewrap's command line up to the program that it runs.

    source_of: where that is to be had which is seen at a path; what it gives can be read from /proc/self/mountinfo
    inside. copied: descriptor → name of what `contents` gives, of which nothing can be read there.
    """
    command = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    command += ["--hostname", "box", "--clearenv", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for path in shown():
        command += ["--ro-bind", source_of(path), path]
    for path in covered():
        command += ["--tmpfs", path]
    for path in code_of(package):
        command += ["--ro-bind", source_of(path), path]
    in_package = {f"{PACKAGE}/{name}": place for name, place in links_to_code(package).items()}
    for path, target in (links() | in_package).items():
        command += ["--symlink", target, path]
    for descriptor, name in copied.items():
        command += ["--perms", "0444", "--file", str(descriptor), f"{PACKAGE}/{name}"]
    size = str(box_mb << 20)
    for place in ("/box", "/dev/shm"):
        command += ["--size", size, "--tmpfs", place]
    for path in ("/", "/dev", *covered()):
        command += ["--remount-ro", path]
    for name, value in environment(PACKAGE, "/box").items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", "/box"]
