"""Answers whose functions are all wrong and which meddle with how results are told."""

import numpy as np

from sdpa_helpers.checking.observe import MIME, Answer, pack_answer

WRONG = """
def dot_product(q, k):
    return 12345.0
"""

WIRE = """
import json, os, struct, sys, time
connection = get_ipython().kernel.channel.connection
def frame(kind, content, asked=None):
    message = {"asked": asked or get_ipython().kernel.asked, "kind": kind, "content": content}
    packed = json.dumps(message).encode()
    return struct.pack(">I", len(packed)) + packed
def write(data):
    os.write(connection.fileno(), data)
"""
"""Writes past the kernel, into its connection itself."""

OBSERVE = f"""
import sys, types
import sdpa_helpers.checking as room
observe = types.SimpleNamespace(
    MIME={MIME!r}, report=room.observe.report, zero={pack_answer(Answer("number", "float", np.zeros(())))!r})
def put(report):
    room.observe = sys.modules["sdpa_helpers.checking.observe"] = types.SimpleNamespace(report=report)
"""
"""Another module in place of ours, which cannot be overwritten."""

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
    "input transformer": """
shell = get_ipython()
shell.input_transformers_post.append(
    lambda lines: ["None\\n"] if any("observe.report" in line for line in lines) else lines)
""",
    "AST transformer": """
import ast
class Drop(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "attr", "") == "report":
            node.args[0] = ast.Lambda(ast.arguments([], [], ast.arg("a"), [], [], None, []), ast.Constant(12345.0))
        return node
get_ipython().ast_transformers.append(Drop())
""",
    "hooks": """
shell = get_ipython()
shell.events.register("pre_run_cell", lambda *a: None)
shell.events.register("post_run_cell", lambda result: setattr(result, "error_in_exec", None))
shell.events.register("post_execute", lambda: print("passed"))
""",
    "run_code": "get_ipython().run_code = lambda *a, **k: False",
    "run_cell": """
shell = get_ipython()
before = shell.run_cell
def run_cell(source, *a, **k):
    return before(source.replace("observe.report(", "print("), *a, **k)
shell.run_cell = run_cell
""",
    "a result of one's own": OBSERVE
    + """
def report(function, nonce, inputs, watched):
    from IPython.display import display
    display({observe.MIME: {"nonce": nonce, "answer": {"kind": "passed", "points": 4}}}, raw=True)
put(report)
""",
    "two results": OBSERVE
    + """
before = observe.report
def report(*arguments):
    before(*arguments)
    before(*arguments)
put(report)
""",
    "everything about observe": """
import gc, types
insides = [o for o in gc.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == "pack_answer"]
for function in insides:
    function.__globals__.update(describe=None, _called=lambda f, a: None, replace=lambda a, **k: a)
""",
    "threads that publish early": OBSERVE
    + """
import threading, time
def publish():
    while True:
        kernel = get_ipython().kernel
        answer = observe.zero
        for frame in sys._current_frames().values():
            while frame is not None:
                nonce = frame.f_locals.get("nonce")
                if frame.f_code.co_name == "report" and isinstance(nonce, str):
                    content = {"data": {observe.MIME: {"nonce": nonce, "answer": answer}}, "metadata": {}}
                    kernel.channel.send("display_data", content, kernel.asked)
                frame = frame.f_back
        time.sleep(0.002)
threading.Thread(target=publish, daemon=True).start()
def dot_product(q, k):
    time.sleep(0.02)
    return 12345.0
""",
    "a false reply": """
kernel = get_ipython().kernel
before = kernel.channel.send
def send(kind, content, asked):
    if isinstance(content, dict) and "data" in content:
        for data in content["data"].values():
            if isinstance(data, dict):
                data["answer"] = {"kind": "number", "type": "float", "array": None, "items": [], "error": ["", "", ""]}
    return before(kind, content, asked)
kernel.channel.send = send
""",
    "a frame of one's own": WIRE
    + """
def dot_product(q, k):
    caller = sys._getframe()
    while caller.f_code.co_name != "report":
        caller = caller.f_back
    result = {"nonce": caller.f_locals["nonce"], "answer": {"kind": "passed", "points": 4}}
    write(frame("display_data", {"data": {"application/vnd.sdpa.answer+json": result}, "metadata": {}}))
    return 12345.0
""",
    "an answer to the next check": WIRE
    + """
def dot_product(q, k):
    write(frame("done", {}, str(int(get_ipython().kernel.asked) + 1)))
    return 12345.0
""",
    "done before it is": WIRE
    + """
def dot_product(q, k):
    write(frame("done", {}))
    return 12345.0
""",
    "half a frame": WIRE
    + """
def dot_product(q, k):
    write(frame("done", {})[:-3])
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
    os.close(connection.fileno())
    time.sleep(30)
""",
    "another's connection": WIRE
    + """
def dot_product(q, k):
    os.dup2(os.open(os.devnull, os.O_RDWR), connection.fileno())
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
