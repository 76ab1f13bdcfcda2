"""Which system calls a kernel may make: seccomp programs, assembled by the system's libseccomp.

Everything is allowed except what reaches other processes, other name spaces, the network, or memory that
no limit counts. The programs are made in the trusted process; the sandbox only loads them.
"""

import ctypes
import ctypes.util
import errno
import struct
import tempfile
from collections.abc import Iterable
from functools import cache

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NE, _GE, _MASKED = 1, 5, 7
_CLONE_NEWUSER, _CLONE_THREAD, _CLONE_FILES = 0x10000000, 0x10000, 0x400
_CLOSE_RANGE_UNSHARE, _TIOCSTI, _PR_SET_PDEATHSIG, _PR_SET_SECCOMP = 2, 0x5412, 1, 22
_FIRST_REFUSED_OPTION = 62
"""prctl's options from this number on share pages with other processes, name mappings, or set aside memory that nobody
counts: one call for a table of futexes took a gigabyte of the system's (Linux 6.16)."""
_AF_UNIX, _SOCK_STREAM, _SOCK_KIND = 1, 1, 0xF
_SO_SNDBUF, _F_SETPIPE_SZ = 7, 1031
_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""fcntl's locks, leases and notices (F_GETLK … F_OFD_SETLKW, F_SETLEASE, F_GETLEASE, F_NOTIFY): whoever holds one on a
file that all submissions see can be heard by the others."""
_ON_FOREIGN_CALL, _KILL_PROCESS = 2, 0x80000000
_FIRST_UNKNOWN_CALL = 451
"""Calls from this number on are newer than this list (and than Debian 12's libseccomp): "not implemented"."""

_ALWAYS_REFUSED = """
unshare setns mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr
ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp bpf perf_event_open userfaultfd
io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key kexec_load kexec_file_load
init_module finit_module delete_module open_by_handle_at name_to_handle_at quotactl acct swapon
swapoff reboot syslog fanotify_init fanotify_mark lookup_dcookie iopl ioperm modify_ldt vhangup nfsservctl
mbind set_mempolicy migrate_pages move_pages settimeofday clock_settime clock_adjtime adjtimex sethostname
setdomainname uselib ustat sysfs _sysctl
"""
_UNCOUNTED_MEMORY = """
memfd_create memfd_secret shmget shmat shmctl msgget msgsnd semget mq_open mlockall mlock mlock2
vmsplice splice tee landlock_create_ruleset landlock_add_rule landlock_restrict_self
inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
"""
"""No limit counts these; Python and NumPy do without: "not implemented". A level's own rules are set before."""

_NETWORK = "socket bind listen connect accept accept4 sendmsg sendmmsg recvmmsg"
"""A kernel has its one connection, and asyncio makes a pair of sockets to wake itself up: no more is needed."""

_PROGRAMS = "fork vfork execve execveat"
_OTHER_PROCESSES = """
kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal pidfd_open
"""
_AFTER_START = """
setpriority ioprio_set sched_setaffinity sched_setscheduler sched_setparam sched_setattr
chmod fchmod fchmodat chown fchown lchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr
fremovexattr utime utimes utimensat futimesat
"""
"""What Landlock leaves open, and IPython needs when it starts."""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    )


@cache
def _library() -> ctypes.CDLL:
    """libseccomp; OSError when it is not installed."""
    library = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Comparison),
    ]
    return library


class _Program:
    """A list of refusals; everything else is allowed."""

    def __init__(self) -> None:
        self.handle = _library().seccomp_init(_ALLOW)
        _library().seccomp_attr_set(self.handle, _ON_FOREIGN_CALL, _KILL_PROCESS)

    def refuse(self, names: Iterable[str], error: int, *when: tuple[int, int, int, int]) -> None:
        """Answer `error` to these calls when every (argument, operator, a, b) holds."""
        conditions = (_Comparison * len(when))(*(_Comparison(*condition) for condition in when))
        for name in names:
            number = _library().seccomp_syscall_resolve_name(name.encode())
            if number < 0:
                continue  # this architecture has no such call
            result = _library().seccomp_rule_add_array(
                self.handle, _ERRNO | error, number, len(when), conditions
            )
            if result < 0:
                raise OSError(-result, f"no seccomp rule for {name}")

    def assemble(self) -> bytes:
        """The program, with newer calls than we know refused before anything else."""
        with tempfile.TemporaryFile() as file:
            result = _library().seccomp_export_bpf(self.handle, file.fileno())
            _library().seccomp_release(self.handle)
            if result < 0:
                raise OSError(-result, "seccomp_export_bpf")
            file.seek(0)
            program = file.read()
        load_number = struct.pack("=HBBI", 0x20, 0, 0, 0)
        unless_new = struct.pack("=HBBI", 0x35, 0, 1, _FIRST_UNKNOWN_CALL)  # jge: next, else skip one
        not_implemented = struct.pack("=HBBI", 0x06, 0, 0, _ERRNO | errno.ENOSYS)
        return load_number + unless_new + not_implemented + program


def _is(argument: int, value: int) -> tuple[int, int, int, int]:
    """Where the system looks at 32 bits of an argument: whatever stands in the others."""
    return argument, _MASKED, 0xFFFFFFFF, value


def _common() -> _Program:
    program = _Program()
    program.refuse(_ALWAYS_REFUSED.split(), errno.EPERM)
    program.refuse(
        [*_UNCOUNTED_MEMORY.split(), "clone3"], errno.ENOSYS
    )  # clone3: its flags cannot be looked at
    program.refuse(["personality"], errno.EPERM, (0, _NE, 0xFFFFFFFF, 0))
    program.refuse(["ioctl"], errno.EPERM, _is(1, _TIOCSTI))
    program.refuse(["prctl"], errno.EPERM, _is(0, _PR_SET_PDEATHSIG))
    program.refuse(["prctl"], errno.EINVAL, (0, _GE, _FIRST_REFUSED_OPTION, 0))
    program.refuse(_NETWORK.split(), errno.EACCES)
    program.refuse(["socketpair"], errno.EOPNOTSUPP, (0, _NE, _AF_UNIX, 0))
    for kind in (
        2,
        3,
        4,
        5,
    ):  # _MASKED knows no "not equal"; what else has the first bits of a stream is none
        program.refuse(["socketpair"], errno.EOPNOTSUPP, (1, _MASKED, _SOCK_KIND, kind))
    # No larger buffers: nobody counts them.
    program.refuse(["setsockopt"], errno.EPERM, _is(2, _SO_SNDBUF))
    program.refuse(["fcntl"], errno.EPERM, _is(1, _F_SETPIPE_SZ))
    program.refuse(["flock"], errno.ENOLCK)
    for lock in _LOCKS:
        program.refuse(["fcntl"], errno.ENOLCK, _is(1, lock))
    # No thread with descriptors of its own: the limit on open files holds for all of a process.
    program.refuse(["clone"], errno.EPERM, (0, _MASKED, _CLONE_THREAD | _CLONE_FILES, _CLONE_THREAD))
    program.refuse(["close_range"], errno.EPERM, (2, _MASKED, _CLOSE_RANGE_UNSHARE, _CLOSE_RANGE_UNSHARE))
    return program


def _refuse_filters(program: _Program) -> None:
    """No filter after this one: each takes up to a megabyte that no limit counts."""
    program.refuse(["seccomp"], errno.EPERM)
    program.refuse(["prctl"], errno.EPERM, _is(0, _PR_SET_SECCOMP))


def _refuse_programs(program: _Program) -> None:
    """No other program and no fork; threads stay."""
    program.refuse(_PROGRAMS.split(), errno.EPERM)
    program.refuse(["clone"], errno.EPERM, (0, _MASKED, _CLONE_THREAD, 0))


@cache
def for_namespaces(subprocesses: bool) -> bytes:
    """The program for a kernel in namespaces of its own. subprocesses: it may start other programs, and fork."""
    program = _common()
    if not subprocesses:
        _refuse_programs(program)
    program.refuse(["clone"], errno.EPERM, (0, _MASKED, _CLONE_NEWUSER, _CLONE_NEWUSER))
    _refuse_filters(program)
    return program.assemble()


@cache
def for_landlock() -> bytes:
    """The program for a kernel that shares its view of processes with the machine: one process, no reach."""
    program = _common()
    _refuse_programs(program)
    program.refuse(_OTHER_PROCESSES.split(), errno.EPERM)
    program.refuse(["prlimit64"], errno.EPERM, (0, _NE, 0, 0))
    return program.assemble()


@cache
def after_start() -> bytes:
    """Loaded under Landlock once the kernel has started."""
    program = _Program()
    program.refuse(_AFTER_START.split(), errno.EPERM)
    _refuse_filters(program)
    return program.assemble()
