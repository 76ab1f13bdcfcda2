"""The few Linux system calls that Python does not offer, through ctypes."""

import ctypes
import os
import struct
from pathlib import Path

NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 24, 36, 38
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SYS_LANDLOCK = 444  # create_ruleset; add_rule and restrict_self follow; the same on every architecture

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Enter new namespaces."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount a file system."""
    raw = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _checked(_libc.mount(raw[0], raw[1], raw[2], ctypes.c_ulong(flags), raw[3]), f"mount {target}")


def die_with_parent() -> None:
    """Be killed when the process that started this one ends."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "PR_SET_PDEATHSIG")


def dumpable(yes: bool) -> None:
    """Whether processes of the same user may look at this one's memory and files under /proc."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, int(yes), 0, 0, 0), "PR_SET_DUMPABLE")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")


def give_up_privileges() -> None:
    """Drop every capability for good; no program started later can gain one."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for numbers that do not exist
    header = struct.pack("II", 0x20080522, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")


def filter_calls(program: bytes, every_thread: bool = False) -> None:
    """Load a seccomp program; what it refuses stays refused, for every child too."""
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    if every_thread:
        number = _SYS_SECCOMP[os.uname().machine]
        _checked(_libc.syscall(number, 1, 1, header), "seccomp")
    else:
        _checked(_libc.prctl(_PR_SET_SECCOMP, 2, header, 0, 0), "PR_SET_SECCOMP")


# ---- Landlock ---------------------------------------------------------------------------------------------

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG, TRUNCATE = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 14
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15
_RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # how many bits are known; 16 from version 5 on


def landlock_version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    return max(0, _libc.syscall(_SYS_LANDLOCK, None, 0, 1))


def landlock(rules: list[tuple[str, int]]) -> None:
    """Allow files below the given paths the given rights, and refuse all other files, TCP and other processes."""
    version = landlock_version()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    handled = (1 << _RIGHTS_OF_ABI.get(version, 16)) - 1
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0  # abstract sockets and signals of others
    attributes = struct.pack("QQQ", handled, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _checked(_libc.syscall(_SYS_LANDLOCK, attributes, size, 0), "landlock_create_ruleset")
    for path, rights in rules:
        if not os.path.exists(path):
            continue
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = rights & handled & (-1 if Path(path).is_dir() else _FILE_RIGHTS)
        rule = struct.pack("=Qi", allowed, fd)
        _checked(_libc.syscall(_SYS_LANDLOCK + 1, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
        os.close(fd)
    _checked(_libc.syscall(_SYS_LANDLOCK + 2, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
