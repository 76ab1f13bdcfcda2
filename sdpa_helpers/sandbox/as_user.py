"""As root: make files reachable for an unprivileged user, become that user, run a program.

`python -I -S as_user.py UID SOURCE… -- COMMAND…`: in a private copy of the mount table /tmp becomes a small file
system in which the first source is /tmp/0, the second /tmp/1 and so on, whatever the rights of the folders
that the sources lie in. A file by itself, so that it needs no import path.
"""

import ctypes
import os
import sys

_libc = ctypes.CDLL(None, use_errno=True)
_NEWNS, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18


def _mount(source: str, target: str, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    if _libc.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), data) < 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


def main() -> None:
    """Rearrange, drop root, execute."""
    at = sys.argv.index("--")
    uid, sources, command = int(sys.argv[1]), sys.argv[2:at], sys.argv[at + 1 :]
    if _libc.unshare(_NEWNS) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    opened = [os.open(path, os.O_PATH) for path in sources]  # before /tmp is covered: they may lie there
    _mount("tmpfs", "/tmp", b"tmpfs", 0, b"size=1m,mode=0755")
    for number, fd in enumerate(opened):
        target = f"/tmp/{number}"
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_CREAT, 0o644))
        _mount(f"/proc/self/fd/{fd}", target, None, _MS_BIND | _MS_REC)
        os.close(fd)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _libc.prctl(1, 9, 0, 0, 0)  # die with the parent: the change of user has cleared it
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
