"""Answers to dot_product that try to wear the grader down, or to get away.

Written as the body of the function. `HEAVY` ones are given with the statuses that the record may have; the
exercise itself earns nothing, the others keep their points.
"""

HELP = """
import ctypes, json, mmap, os, re, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
"""

TIME = {
    "endless loop": "while True: pass",
    "endless loop in C": "return pow(7, 10 ** 9)",
    "endless regular expression": 'return re.match(r"(a+)+$", "a" * 64 + "b")',
    "deaf to signals": """
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True: pass
    """,
    "catches everything": """
        while True:
            try:
                while True: pass
            except BaseException:
                pass
    """,
    "a child that works": """
        if os.fork() == 0:
            while True: pass
        time.sleep(1000)
    """,
    "many children that work": """
        for _ in range(8):
            if os.fork() == 0:
                while True: pass
        return 1.0
    """,
}

MEMORY = {
    "memory, little by little": "hoard = []\n        while True: hoard.append(b'x' * 10_000_000)",
    "shared memory of many processes": """
        for _ in range(3):
            if os.fork() == 0:
                mine = mmap.mmap(-1, 500 << 20)
                libc.memset(ctypes.addressof(ctypes.c_char.from_buffer(mine)), 1, 500 << 20)
                time.sleep(1000)
        time.sleep(1000)
    """,
    "files in shared memory": """
        maps = []
        for number in range(100):
            with open(f"/dev/shm/{number}", "wb") as file:
                file.write(b"x" * (32 << 20))
    """,
    "one huge array": "return np.ones((100_000, 100_000)).sum()",
}

PROCESSES = {
    "fork bomb": """
        while True:
            try: os.fork()
            except OSError: time.sleep(0.001)
    """,
    "thread bomb": """
        while True:
            try: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            except RuntimeError: time.sleep(0.01)
    """,
    "daemon": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 4096)
                time.sleep(1000)
            os._exit(0)
        return 1.0
    """,
    "daemon whose parent ends": """
        if os.fork() == 0:
            os.setsid()
            while True: time.sleep(1)
        os._exit(0)
    """,
    "a program": "subprocess.Popen(['sleep', '1000'], start_new_session=True); return 1.0",
    "forks in C": """
        if (child := libc.fork()) == 0: libc._exit(0)
        if child < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return 1.0
    """,
    "becomes another program": "os.execv('/bin/sleep', ['sleep', '1000'])",
}

ENDS = {
    "os._exit": "os._exit(0)",
    "sys.exit": "sys.exit(0)",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "kills pid 1": "os.kill(1, signal.SIGKILL); os.kill(1, signal.SIGTERM); return 1.0",
    "kills everybody": "os.kill(-1, signal.SIGKILL); os.kill(0, signal.SIGKILL)",
    "crashes": "ctypes.string_at(0)",
    "closes every file": "os.closerange(0, 4096); time.sleep(1000)",
    "endless recursion": "sys.setrecursionlimit(10**9)\n        def f(n): return f(n + 1)\n        return f(0)",
    "calls of another architecture": """
        if os.uname().machine != "x86_64":
            return 1.0
        code = mmap.mmap(-1, 4096, prot=7)
        code.write(bytes.fromhex("b814000000cd80c3"))
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    """,
}

OUTPUT = {
    "200 MB of output": "print('x' * (200 << 20), flush=True); return 1.0",
    "200 MB of errors": "sys.stderr.write('é' * (100 << 20)); return 1.0",
    "endless output": "while True: print('x' * 100_000, flush=True)",
    "20,000 messages": "[display(i) for i in range(20_000)]; return 1.0",
    "a message of 100 MB": "display({'text/plain': 'x' * (100 << 20)}, raw=True); return 1.0",
    "an answer of 100 MB": "return np.ones(13_000_000)",
    "deep JSON": """
        get_ipython().kernel.writer.pack = lambda o: b'[' * 200_000 + b']' * 200_000
        display(1)
        return 1.0
    """,
    "broad JSON": """
        get_ipython().kernel.writer.pack = lambda o: b'[' + b'[],' * 1_000_000 + b'[]]'
        display(1)
        return 1.0
    """,
    "not JSON": "get_ipython().kernel.writer.pack = lambda o: b'{'; display(1); return 1.0",
    "messages of another shape": """
        writer = get_ipython().kernel.writer
        before, writer.pack = writer.pack, lambda o: b'[]'
        display(1)
        writer.pack = before
        return 1.0
    """,
    "messages without contents": """
        kernel = get_ipython().kernel
        for kind in ("stream", "display_data", "execute_result", "error", "status"):
            kernel.writer.send(kind, {}, kernel.asked)
        return 1.0
    """,
    "no reply": "get_ipython().kernel.writer.send = lambda *a, **k: {}; return 1.0",
    "a message that never finishes": """
        import struct
        out = get_ipython().kernel.writer.connection
        out.sendall(struct.pack(">I", 16 << 20))
        while True: out.sendall(b"x" * 1000); time.sleep(0.01)
    """,
    "a message of 4 GB is announced": """
        get_ipython().kernel.writer.connection.sendall(b"\\xff\\xff\\xff\\xff" + b"x" * (1 << 20))
        return 1.0
    """,
    "messages of nothing": """
        while True: get_ipython().kernel.writer.connection.sendall(bytes(1 << 16))
    """,
    "a message of 15 MB, most of it escaped": """
        get_ipython().kernel.writer.pack = lambda o: b'["' + b'\\\\ud83d\\\\ude00' * 1_250_000 + b'"]'
        display(1)
        return 1.0
    """,
}

FILES = {
    "fills its folder": """
        for number in range(1000):
            with open(f"fill{number}", "wb") as file:
                file.write(b"x" * (8 << 20))
    """,
    "fills every folder": """
        for folder in ("/", "/tmp", "/run", "/dev/shm", "/dev", "/box", "/var/tmp", "/box/tmp"):
            try:
                for number in range(1000):
                    with open(f"{folder}/fill{number}", "wb") as file:
                        file.write(b"x" * (4 << 20))
            except OSError:
                pass
        return 1.0
    """,
    "a million files": """
        try:
            for number in range(1_000_000): open(f"{number}", "w").close()
        except OSError: pass
        return 1.0
    """,
    "a million folders": """
        number = 0
        while True:
            os.mkdir(f"{number}")
            number += 1
    """,
    "folders in folders": """
        try:
            for _ in range(3000):
                os.mkdir("deeper")
                os.chdir("deeper")
            os.chmod("..", 0)
            for number in range(1000):
                with open(str(number), "wb") as file: file.write(b"x" * (4 << 20))
        except OSError: pass
        return 1.0
    """,
    "files without a name": """
        hoard = []
        try:
            for number in range(1000):
                fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
                hoard.append(fd)
                os.write(fd, b"x" * (4 << 20))
        except OSError: pass
        return 1.0
    """,
}

ATTACKS = {**TIME, **MEMORY, **PROCESSES, **ENDS, **OUTPUT, **FILES}

STARTS_PROCESSES = {
    "a child that works",
    "many children that work",
    "shared memory of many processes",
    *(PROCESSES.keys() - {"thread bomb"}),
}
"""Worth trying where submissions may start programs; else their first line is refused."""

ELSEWHERE = (
    "endless loop",
    "deaf to signals",
    "memory, little by little",
    "thread bomb",
    "forks in C",
    "os._exit",
    "kills everybody",
    "200 MB of output",
    "fills its folder",
    "a million folders",
    "folders in folders",
)
"""Tried at the other levels too."""


def source_of(name: str) -> str:
    """The answer."""
    body = ATTACKS[name].strip("\n")
    return f"{HELP}\ndef dot_product(q, k):\n" + (body if body.startswith(" ") else "        " + body)
