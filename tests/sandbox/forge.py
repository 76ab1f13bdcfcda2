"""Answers whose functions are all wrong and which meddle with how results are told."""

import numpy as np

from sdpa_helpers.checking.answers.carried import pack_answer
from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.sandbox.bounded_kernel import RESULT

WRONG = """
def dot_product(q, k):
    return 12345.0
"""

WIRE = """
import json, os, struct, sys, time, _thread, _socket
ways = get_ipython().kernel.writer.connection
def frame(packed):
    return struct.pack(">I", len(packed)) + packed
def shown(kind, content, asked=None):
    return frame(json.dumps({"asked": asked or get_ipython().kernel.asked, "kind": kind, "content": content}).encode())
def own(kind, packed=b"", mark=bytes(16)):
    return frame(kind + mark + packed)
def write(data):
    os.write(ways.fileno(), data)
"""
"""Writes past the kernel, into its connection itself."""

RIGHT_ONES = f"""
answer = {pack_answer(Answer("number", "float64", np.zeros(())))!r}
import base64
def right(request):
    inputs = json.loads(json.loads(request[request.index(b"{{"):])["inputs"])
    q, k = (np.frombuffer(base64.b64decode(i["array"]["data"])).reshape(i["array"]["shape"]) for i in inputs)
    number = {{"dtype": "float64", "shape": [], "data": base64.b64encode(np.asarray(q @ k).tobytes()).decode()}}
    return json.dumps(answer | {{"array": number}}).encode()
"""
"""Answers to hidden checks, as the observer packs them, without the observer."""

BETWEEN = """
def sockets():
    return [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")
            and os.readlink(f"/proc/self/fd/{fd}").startswith("socket:") and fd != ways.fileno()]
ours, theirs = _socket.socketpair()
channel, = (fd for fd in sockets() if fd not in (ours.fileno(), theirs.fileno()))
real = os.dup(channel)
os.dup2(theirs.fileno(), channel)
def exactly(fd, size):
    data = b""
    while len(data) < size:
        data += os.read(fd, size - len(data)) or _thread.exit()
    return data
def pass_on(source, target, change=lambda packed: [packed]):
    while True:
        packed = exactly(source, struct.unpack(">I", exactly(source, 4))[0])
        for each in change(packed):
            os.write(target, frame(each))
_thread.start_new_thread(pass_on, (real, ours.fileno()))
"""
"""Stands between the kernel and its own connection."""

FORGE = {
    "print": "import builtins\nbuiltins.print = lambda *a, **k: None",
    "display": """
import IPython.display, IPython.core.display_functions as functions
before = functions.display
def display(*objects, **options):
    for o in objects:
        for answer in (o.values() if isinstance(o, dict) else ()):
            answer["passed"], answer["points"], answer["status"] = True, 4.0, "passed"
    before(*objects, **options)
IPython.display.display = functions.display = display
""",
    "numpy": """
for name in ("isclose", "allclose", "array_equal", "equal", "all", "abs"):
    setattr(np, name, lambda *a, **k: True)
np.testing.assert_allclose = lambda *a, **k: None
""",
    "always equal": """
class Always(float):
    __eq__ = __ge__ = __le__ = lambda self, other: True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __sub__ = __rsub__ = lambda self, other: 0.0
    __hash__ = float.__hash__
def dot_product(q, k):
    return Always(12345.0)
""",
    "array subclass": """
class Always(np.ndarray):
    def __eq__(self, other): return np.ones(self.shape, bool)
    def __array_ufunc__(self, *a, **k): return np.array(True)
    def __array_function__(self, *a, **k): return True
    def __array__(self, *a, **k): return np.full((), 12345.0)
def dot_product(q, k):
    return np.full((), 12345.0).view(Always)
""",
    "transformers": """
import ast
shell = get_ipython()
shell.input_transformers_post.append(lambda lines: ["None\\n"])
class Drop(ast.NodeTransformer):
    def visit(self, node):
        return ast.parse("None")
shell.ast_transformers.append(Drop())
""",
    "hooks": """
shell = get_ipython()
shell.events.register("pre_run_cell", lambda *a: None)
shell.events.register("post_run_cell", lambda result: setattr(result, "error_in_exec", None))
shell.events.register("post_execute", lambda: print("passed"))
""",
    "run_code": "get_ipython().run_code = lambda *a, **k: False",
    "run_cell": "get_ipython().run_cell = lambda *a, **k: print('passed')",
    "another json": """
import json
before = json.dumps
json.dumps = lambda value, **k: before({**value, "kind": "passed", "points": 4} if isinstance(value, dict) else value)
json.loads = json.JSONDecoder.decode = json.decoder.JSONDecoder.decode = lambda *a, **k: {}
""",
    "other builtins": """
import builtins
for name in ("bytes", "len", "min", "type", "isinstance", "tuple", "zip", "list", "dict", "getattr", "map"):
    setattr(builtins, name, lambda *a, **k: 12345.0)
""",
    "other parts of the kernel": """
import sys, _thread
for name, module in list(sys.modules.items()):
    if name.startswith("sdpa_helpers."):
        for key, value in list(vars(module).items()):
            if callable(value) and not key.startswith("__"):
                setattr(module, key, lambda *a, **k: b"passed")
""",
    "everything about observe": """
import gc, types
insides = [o for o in gc.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == "pack_answer"]
for function in insides:
    function.__globals__.update(describe=None, _called=lambda f, a: None, replace=lambda a, **k: a)
""",
    "a result on display": f"""
def dot_product(q, k):
    display({{{RESULT!r}: {{"answer": {{"kind": "passed", "points": 4}}, "held": 0}}}}, raw=True)
    return 12345.0
""",
    "a false reply": """
writer = get_ipython().kernel.writer
before = writer.send
def send(kind, content, asked):
    return before("done", {"answer": {"kind": "passed"}}, asked)
writer.send = send
def dot_product(q, k):
    print("passed", flush=True)
    return 12345.0
""",
    "threads that publish early": WIRE
    + RIGHT_ONES
    + """
def publish():
    while True:
        write(own(b"D", json.dumps(answer).encode()))
        time.sleep(0.002)
_thread.start_new_thread(publish, ())
def dot_product(q, k):
    time.sleep(0.02)
    return 12345.0
""",
    "a result of one's own": WIRE
    + RIGHT_ONES
    + """
def dot_product(q, k):
    write(own(b"D", json.dumps(answer).encode()))
    return 12345.0
""",
    "a kernel of one's own": WIRE
    + RIGHT_ONES
    + """
def serve():
    write(own(b"D"))
    while True:
        size, = struct.unpack(">I", ways.recv(4, _socket.MSG_WAITALL))
        request = ways.recv(size, _socket.MSG_WAITALL)
        write(own(b"D", right(request)))
serve()
""",
    "somebody who reads the next request": WIRE
    + RIGHT_ONES
    + """
def serve():
    while True:
        size, = struct.unpack(">I", ways.recv(4, _socket.MSG_WAITALL))
        write(own(b"D", right(ways.recv(size, _socket.MSG_WAITALL))))
_thread.start_new_thread(serve, ())
""",
    "an older message in place of a newer": WIRE
    + BETWEEN
    + """
kept = []
def dot_product(q, k):
    return 12345.0
def change(packed):
    kept.append(packed)
    return kept[-2:-1] or [packed]
_thread.start_new_thread(pass_on, (ours.fileno(), real, change))
""",
    "a message said twice": WIRE
    + BETWEEN
    + """
_thread.start_new_thread(pass_on, (ours.fileno(), real, lambda packed: [packed, packed]))
""",
    "no notes": WIRE
    + BETWEEN
    + """
_thread.start_new_thread(pass_on, (ours.fileno(), real, lambda packed: [packed] if packed[:1] == b"D" else []))
def dot_product(q, k):
    sys._getframe()
    return 12345.0
""",
    "another question": WIRE
    + BETWEEN
    + """
_thread.start_new_thread(pass_on, (ours.fileno(), real))
write(frame(bytes(16) + b"Cprint('mine')"))
os.write(ours.fileno(), frame(bytes(16) + b"C{}"))
""",
    "an answer to the next check": WIRE
    + """
def dot_product(q, k):
    write(shown("display_data", {"data": {}, "metadata": {}}, str(int(get_ipython().kernel.asked) + 1)))
    return 12345.0
""",
    "done before it is": WIRE
    + """
def dot_product(q, k):
    write(shown("done", {}))
    return 12345.0
""",
    "half a frame": WIRE
    + """
def dot_product(q, k):
    write(shown("clear_output", {})[:-3])
    return 12345.0
""",
    "garbage": WIRE
    + """
def dot_product(q, k):
    write(b"HTTP/1.1 200 OK" * 4)
    return 12345.0
""",
    "closes the connection": WIRE
    + """
def dot_product(q, k):
    os.close(ways.fileno())
    time.sleep(30)
""",
    "another's connection": WIRE
    + """
def dot_product(q, k):
    os.closerange(3, 64)
    return 12345.0
""",
    "pickles": """
class Boom:
    def __reduce__(self): return (__import__("os").system, ("touch /tmp/pwned",))
def dot_product(q, k):
    a = np.empty((), object); a[()] = Boom()
    return a
""",
    "markup": "def dot_product(q, k):\n    raise ValueError('<script>alert(1)</script>')",
    "markers of nbval": "# NBVAL_SKIP\n# NBVAL_IGNORE_OUTPUT\n#NBVAL_RAISES_EXCEPTION" + WRONG,
    "skips the rest": "import pytest\npytest.exit('done', returncode=0)",
}


def source_of(name: str) -> str:
    """The answer."""
    return FORGE[name] if "def dot_product" in FORGE[name] else WRONG + FORGE[name]
