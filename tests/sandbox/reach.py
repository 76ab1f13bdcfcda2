"""Attacks that reach for what lies outside: each gives something true when it gets there.

Written as the body of a function. {names} in braces are filled in by the fixture `targets`.
"""

HELP = """
import contextlib, ctypes, errno, functools, glob, importlib, importlib.machinery, importlib.util
import mmap, os, resource, signal, socket, struct, sys, sysconfig
libc = ctypes.CDLL(None, use_errno=True)
ME = os.getpid()

def read(path):
    with open(path, "rb") as file:
        return file.read(1)

def opens(path):
    try:
        return os.path.isfile(path) and open(path, "rb").close() is None
    except OSError:
        return False

@functools.cache
def folders():
    # (folder, names of its files) of all that can be listed where programs and libraries lie
    roots = {"/usr", "/lib", "/opt", "/package", sys.base_prefix, os.path.dirname(os.__file__)}
    return [(home, names) for root in roots for home, _, names in os.walk(root)]

def write(path):
    with open(path, "wb") as file:
        return file.write(b"x")

def call(number, *arguments):
    if os.uname().machine != "x86_64":
        return False
    return libc.syscall(number, *arguments) >= 0

def sock(family, kind=socket.SOCK_STREAM, place=None, protocol=0):
    with socket.socket(family, kind, protocol) as s:
        s.settimeout(1)
        if place is not None:
            s.connect(place)
    return True
"""

REACH = {
    # ---- files
    "solution in the checkout": 'return read("{checkout}/sdpa_helpers/lessons/dot_product/exercises/dot_product.md")',
    "solution notebook": 'return read("{checkout}/solutions/01_dot_product.ipynb")',
    "list the checkout": 'return set(os.listdir("{checkout}")) - {{".venv"}}',
    "import the exercises": "return importlib.import_module('sdpa_helpers.course.registry').find('dot_product')",
    "import the judge": "return importlib.import_module('sdpa_helpers.checking.judging.judge')",
    "import the attention functions": "return importlib.import_module('sdpa_helpers.attention')",
    "use the course's attention call": """
        call = getattr(importlib.import_module("sdpa_helpers"), "scaled_dot_product_attention", None)
        return call is not None and call(np.eye(2), np.eye(2), np.eye(2)).shape
    """,
    "answers in the package": """
        home = os.path.dirname(importlib.import_module("sdpa_helpers").__file__)
        found = [name for _, folders, names in os.walk(home) for name in (*folders, *names)]
        assert "observe.py" in found, found
        return set(found) & {{"attention", "exercises", "registry.py", "judge.py", "grading", "solutions"}}
    """,
    "import the grader": "return importlib.import_module('sdpa_helpers.grading.grade_one')",
    "follow the editable install": """
        for path in glob.glob(sysconfig.get_path("purelib") + "/*.pth"):
            for line in open(path).read().split("\\n"):
                if os.path.isdir(line) and set(os.listdir(line)) & {{"solutions", "sdpa_helpers", "tests"}}:
                    return True
    """,
    "notebooks anywhere": """
        for home, folders, names in os.walk("/"):
            folders[:] = [f for f in folders if f not in ("proc", "usr", "site-packages", "lib")]
            if any(n.endswith((".ipynb", "gradebook.db", "judge.py")) for n in names):
                return True
    """,
    "another submission": 'return read("{canary}")',
    "password hashes": 'return read("/etc/shadow")',
    "home folders": 'return [os.listdir(p) for p in ("/home", "/root/.ssh", "/root/.config")]',
    "disk devices": 'return [read(p) for p in (*glob.glob("/dev/vd*"), *glob.glob("/dev/sd*"), "/dev/mem")]',
    "make a device": 'os.mknod("disk", 0o60600, os.makedev(254, 0)); return read("disk")',
    "kernel messages": 'return read("/dev/kmsg")',
    "write outside": """
        places = ("{folder}", "/", "/usr", "/etc", "/package", "/dev", "/var", "/sys", sys.prefix, "{checkout}",
                  os.path.dirname(importlib.util.find_spec("sdpa_helpers").origin), sysconfig.get_path("purelib"))
        done = []
        for place in places:
            try:
                done.append(write(place + "/was-here") and place)
            except OSError:
                pass
        return done
    """,
    "write system settings": """
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches"):
            try:
                return write(path)
            except OSError:
                pass
    """,
    "change a mode outside": 'os.chmod("{canary}", 0o600); return True',
    "change a time outside": 'os.utime("{canary}", (1, 1)); return True',
    "link to outside": 'os.link("{canary}", "here"); return read("here")',
    "where the grader's files lie": """
        return os.getppid() == 1 and "sdpa-" in open("/proc/self/mountinfo").read()
    """,
    # ---- libraries
    "find another library": """
        path = [*{library_folders}, *sys.path]
        return [name for name in {library_names} if importlib.machinery.PathFinder.find_spec(name, path)]
    """,
    "read another library": "return [path for path in {library_files} if opens(path)]",
    "list the other libraries": """
        found = [name for folder in {library_folders} if os.path.isdir(folder) for name in os.listdir(folder)]
        return set(found) - {{"__pycache__", *{own_libraries}}}
    """,
    "packages of another Python": """
        for home, names in folders():
            if {{"site-packages", "dist-packages"}} & set(home.split("/")):
                if any(opens(os.path.join(home, name)) for name in names):
                    return True
    """,
    "another Python": """
        modules = [home + "/os.py" for home, names in folders() if "os.py" in names]
        return [path for path in modules if opens(path) and not os.path.samefile(path, os.__file__)]
    """,
    "NumPy twice, or another": """
        found = [home for home, names in folders() if home.endswith(("/numpy", "/torch")) and "__init__.py" in names]
        own = os.path.dirname(np.__file__)
        return [home for home in found if opens(home + "/__init__.py") and not os.path.samefile(home, own)]
    """,
    "what the interpreter came with": """
        return set(os.listdir(sys.base_prefix + "/share")) - {{"zoneinfo"}}
    """,
    "packages of the account": "return os.listdir({user_packages!r})",
    "a wheel": """
        own = ("/ensurepip/", "/test/")  # of the standard library
        found = [f"{{home}}/{{name}}" for home, names in folders() for name in names if name.endswith((".whl", ".egg"))]
        return [path for path in found if opens(path) and not any(folder in path for folder in own)]
    """,
    # ---- processes
    "memory of the parent": 'return os.getppid() > 0 and open(f"/proc/{{os.getppid()}}/mem", "rb")',
    "memory of pid 1": 'return open("/proc/1/mem", "rb")',
    "environment of pid 1": 'return read("/proc/1/environ")',
    "open files of pid 1": 'return os.listdir("/proc/1/fd")',
    "root of pid 1": 'return ME != 1 and os.listdir("/proc/1/root/")',
    "trace the parent": "return libc.ptrace(0x4206, os.getppid(), 0, 0) == 0",
    "trace any process": "return any(libc.ptrace(0x4206, pid, 0, 0) == 0 for pid in range(1, 200) if pid != ME)",
    "read another's memory": """
        buffer = ctypes.create_string_buffer(8)
        io = struct.pack("PN", ctypes.addressof(buffer), 8)
        return call(310, os.getppid() or 1, io, 1, struct.pack("PN", 0x400000, 8), 1, 0)
    """,
    "take a file of pid 1": "fd = os.pidfd_open(1); return call(438, fd, 3, 0)",
    "see the grader": """
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):  # one of them may have ended meanwhile
                if b"pytest" in open(f"/proc/{{pid}}/cmdline", "rb").read():
                    return True
    """,
    "signal the grader": """
        if os.getppid() <= 1:
            return False  # pid 1 of the namespace is deaf to the others in it
        os.kill(os.getppid(), 0)
        return True
    """,
    "signal everybody outside": """
        if os.getppid() == 1:
            return False  # a namespace holds only the submission's own
        os.kill(-1, 0)
        return True
    """,
    "limits of the grader": "return os.getppid() > 1 and resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "outlive the grader": "return libc.prctl(1, 0, 0, 0, 0) == 0",
    # ---- privileges
    "capabilities": """
        status = open("/proc/self/status").read()
        values = dict(line.split(":\\t") for line in status.strip().split("\\n") if ":\\t" in line)
        assert values["Seccomp"] == "2" and values["NoNewPrivs"] == "1", values
        return any(int(values[f"Cap{{kind}}"], 16) for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"))
    """,
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NPROC, (10_000, 10_000)); return True",
    "become root": "os.setresuid(0, 0, 0); return bool(open('/proc/1/mem', 'rb'))",
    "new user namespace": "return libc.unshare(0x10000000) == 0",
    "new mount namespace": "return libc.unshare(0x20000) == 0",
    "clone into namespaces": "return call(56, 0x10000000 | 17, 0, 0, 0, 0)",
    "clone3": "return call(435, struct.pack('11Q', 0x10000000, *[0] * 10), 88)",
    "enter a namespace": "return libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0) == 0",
    "mount": "return libc.mount(b'none', b'.', b'tmpfs', 0, None) == 0",
    "change root": "return libc.chroot(b'.') == 0",
    "keys of the user": "return call(250, 0, -3, 1)",
    "kernel programs": "return call(321, 0, ctypes.create_string_buffer(128), 128)",
    "performance counters": "return call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "asynchronous system calls": "return call(425, 8, ctypes.create_string_buffer(256))",
    "page faults": "return call(323, 0)",
    "memory files": "return call(319, b'x', 0)",
    "shared segments": "return call(29, 0, 4096, 0o600)",
    "message queues": "return call(240, b'q', os.O_CREAT | os.O_RDWR, 0o600, 0)",
    "pages in a pipe": """
        read, write = os.pipe()
        page = mmap.mmap(-1, 4096)
        part = struct.pack("PN", ctypes.addressof(ctypes.c_char.from_buffer(page)), 4096)
        return call(278, write, ctypes.create_string_buffer(part), 1, 0)
    """,
    "files into a pipe": """
        read, write = os.pipe()
        with open("page", "wb+") as file:
            file.write(bytes(4096))
            file.flush()
            return call(275, file.fileno(), ctypes.byref(ctypes.c_long(0)), write, 0, 4096, 0)
    """,
    "one pipe twice": """
        (read, write), (_, other) = os.pipe(), os.pipe()
        os.write(write, b"x")
        return call(276, read, other, 1, 0)
    """,
    "a thread with descriptors of its own": """
        call(56, 0x10000, 0, 0, 0, 0)
        return ctypes.get_errno() == errno.EINVAL
    """,
    "descriptors no longer shared": "return call(436, 1000, 1000, 2)",
    "larger buffers": """
        with socket.socketpair()[0] as s:
            return call(54, s.fileno(), 1, ctypes.c_long(7 | 1 << 32), struct.pack("i", 1 << 22), 4)
    """,
    "outlive the parent": "return call(157, ctypes.c_long(1 | 1 << 32), 0, 0, 0, 0)",
    "rules of Landlock": "return call(444, struct.pack('QQ', 1, 0), 16, 0)",
    "rules of Landlock, one more": """
        call(445, -1, 2, struct.pack("QQ", 1, 1), 0)
        return ctypes.get_errno() == errno.EBADF
    """,
    "a table of futexes": "return libc.prctl(78, 1, ctypes.c_ulong(1 << 20), 0, 0) == 0",
    "pages merged with those of others": "return libc.prctl(67, 1, 0, 0, 0) == 0",
    "a filter of its own": """
        allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
        return libc.prctl(22, 2, struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)), 0, 0) == 0
    """,
    "a filter of its own, another way": """
        allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
        return call(317, 1, 0, struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
    """,
    "a thousand timers": """
        quiet, number = struct.pack("QiiQQQQQQ", 0, 0, 1, 0, 0, 0, 0, 0, 0), ctypes.c_void_p()
        return all(libc.timer_create(1, quiet, ctypes.byref(number)) == 0 for _ in range(1000))
    """,
    "watches on files": """
        watcher = libc.inotify_init1(0)
        return watcher >= 0 and libc.inotify_add_watch(watcher, b"/usr", 0xFFF) >= 0
    """,
    # ---- a word to another submission
    "a lock on a file that all see": """
        import fcntl
        fcntl.flock(open(np.__file__), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    """,
    "a lock on a part of it": """
        import fcntl
        fcntl.lockf(open(np.__file__), fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    """,
    "whether another holds one": """
        import fcntl
        for asks in (fcntl.F_GETLK, 36):
            try:
                fcntl.fcntl(open(np.__file__), asks, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
                return True
            except OSError as error:
                assert error.errno == errno.ENOLCK, error
    """,
    "a lock of a description": """
        import fcntl
        fcntl.fcntl(open(np.__file__), 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
        return True
    """,
    "a lease": """
        import fcntl
        return fcntl.fcntl(open(np.__file__), fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0
    """,
    "news of a folder": """
        import fcntl
        return fcntl.fcntl(os.open(os.path.dirname(np.__file__), os.O_RDONLY), fcntl.F_NOTIFY, 0x3F) == 0
    """,
    "locks of the machine": "return open('/proc/locks').read()",
    "file handles": "return call(304, -100, ctypes.create_string_buffer(128), 0)",
    "calls of the x32 kind": "return call(0x40000000 | 39)",
    "calls yet to be invented": "return call(500)",
    # ---- network
    "the machine's sockets": """
        named = open("/proc/self/net/unix").read().splitlines()[1:]
        return [line for line in named if "/" in line or "@" in line]
    """,
    "the machine's connections": "return open('/proc/thread-self/net/tcp').read().count('\\n') > 1",
    "connect to this machine": "return sock(socket.AF_INET, place=('127.0.0.1', {port}))",
    "internet, version 6": "return sock(socket.AF_INET6, place=('::1', {port}))",
    "datagrams": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port})); return True",
    "raw packets": "return sock(socket.AF_INET, socket.SOCK_RAW, protocol=1)",
    "socket file": "return sock(socket.AF_UNIX, place='{unix}')",
    "abstract socket": "return sock(socket.AF_UNIX, place='{abstract}')",
    "netlink": "return sock(socket.AF_NETLINK, socket.SOCK_RAW)",
    "packet": "return sock(socket.AF_PACKET, socket.SOCK_RAW)",
    "vsock": "return sock(socket.AF_VSOCK)",
    "crypto": "return sock(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    "any other family": """
        done = []
        for family in range(2, 46):
            for kind in range(1, 6):
                fd = libc.socket(family, kind, 0)
                done += [family] if fd >= 0 else []
        return done
    """,
}

ALLOWED = {
    "all of NumPy": """
        import numpy.testing, numpy.polynomial, numpy.lib.stride_tricks
        np.testing.assert_allclose(np.fft.ifft(np.fft.fft(np.arange(4.0))).real, np.arange(4.0), atol=1e-12)
        shares = np.random.default_rng(0).dirichlet(np.ones(4)) @ np.linalg.inv(np.eye(4))
        return np.isclose(np.ma.masked_less(shares, 0).sum(), 1) and np.polynomial.Polynomial([0, 1])(2) == 2
    """,
    "NumPy knows its version, and lies where it was installed": """
        import importlib.metadata
        assert os.path.realpath(np.__file__) == {numpy_file!r}  # for its libraries are found from there
        return importlib.metadata.version("numpy") == np.__version__
    """,
    "IPython": """
        from IPython.display import HTML, Markdown, display
        import IPython.core.magic
        display(HTML("<b>b</b>"), Markdown("*b*"))
        return get_ipython() is not None
    """,
    "the standard library": """
        import bz2, curses, dataclasses, decimal, email.message, hashlib, json, lzma, multiprocessing.pool, readline
        import sqlite3, ssl, statistics, this, unittest.mock, uuid, venv, xml.etree.ElementTree, zlib
        (seven,) = sqlite3.connect(":memory:").execute("SELECT 3 + 4").fetchone()
        return seven == 7 and os.path.samefile(os.path.dirname(os.__file__), sysconfig.get_path("stdlib"))
    """,
}
"""What is there on purpose."""


def source_of(names: list[str], targets: dict) -> str:
    """An answer that runs attacks and gives for each 1.0 when it succeeded, else 0.0."""
    lines = [HELP]
    for number, name in enumerate(names):
        body = {**REACH, **ALLOWED}[name].format(**targets).strip("\n")
        indented = body if body.startswith(" ") else "        " + body
        lines.append(f"def attack_{number}():\n{indented}\n")
    listed = ", ".join(f"attack_{n}" for n in range(len(names)))
    lines.append(f"""
def outcome_of(attack):
    try:
        return float(bool(attack()))
    except (OSError, ValueError, ImportError, KeyError):
        return 0.0
found = [outcome_of(attack) for attack in ({listed},)]
def dot_product(q, k):
    return np.array(found)
""")
    return "\n".join(lines)
