"""Ways to earn points that run all the same, or meddle with what tells of it: each leaves a flag or costs points."""

from dataclasses import replace

from tests.grading.ways_around import NOTHING, SOFTMAX, Way, of

# fmt: off


CODE, READY, MEMORY, FORGED = "dynamic-code", "ready-made", "too-much-memory", "forged-output"
TRI = "TRI(n_q, n_k, dtype=bool)"


def mask(name: str, gives: str, before: str = "", comes_to: str = READY, beside: str = "") -> Way:
    """A causal mask that NumPy makes."""
    return of("causal_mask", f"mask: {name}", gives, before, comes_to, beside)


def texts(name: str, before: str, comes_to: str = CODE) -> Way:
    """A causal mask by a text that makes `TRI`, which no reader finds."""
    return mask(name, TRI, f"import sys\nN = 'np.t' + 'ri'\n{before}", comes_to)


FULL = "S = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5; S -= S.max(-1, keepdims=True); np.exp(S, out=S)"
WEIGHTED = "S /= S.sum(-1, keepdims=True); return S @ V"
PLACED = """    shape = *Q.shape[:-1], K.shape[-2]
    S = PLACE
    np.matmul(Q, K.swapaxes(-1, -2), out=S)
    S /= Q.shape[-1] ** 0.5
    for row in S.reshape(-1, shape[-1]):
        row -= row.max(); np.exp(row, out=row); row /= row.sum()
    return S @ V"""
CHUNKS = """    parts = []
    for n in range(0, Q.shape[-2], chunk):
        s = Q[..., n:n + chunk, :] @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
        e = np.exp(s - s.max(-1, keepdims=True))
        parts.append(e / e.sum(-1, keepdims=True) @ V)
    return np.concatenate(parts, -2)"""


def memory(name: str, before: str = "", body: str = f"    {FULL}; {WEIGHTED}", comes_to: str = MEMORY) -> Way:
    """Attention that holds all scores at once."""
    source = f"{before}\ndef chunked_attention(Q, K, V, chunk):\n{body}"
    return Way(f"memory: {name}", source, "chunked_attention", comes_to)


def placed(name: str, place: str, before: str = "") -> Way:
    """The same, with the scores in a place that NumPy did not ask for."""
    return memory(name, before, PLACED.replace("PLACE", place))


IN_PLACE = "def softmax(x, axis=-1):\n    x -= x.max(axis=axis, keepdims=True); np.exp(x, out=x); x /= x.sum(axis=axis, keepdims=True)\n    return x.copy()\n"


def conduct(name: str, before: str) -> Way:
    """A softmax that spoils its caller's array, where something hides that."""
    return Way(f"conduct: {name}", f"{before}\n{IN_PLACE}", comes_to="changes-its-input")


EARLY = f"""import base64, binascii, json
kept, raw = {{}}, []
def full(Q, K, V):
    {FULL}; {WEIGHTED}
def array(item): return np.frombuffer(base64.b64decode(item["array"]["data"])).reshape(item["array"]["shape"])
decode, a2b = json.JSONDecoder.decode, binascii.a2b_base64
def by_json(self, text, *a):
    got = decode(self, text, *a)
    if isinstance(got, list) and len(got) == 4 and "array" in got[0]: kept["y"] = full(*map(array, got[:3]))
    return got
def by_base64(data, **k):
    raw.append(a2b(data, **k))
    if len(raw) > 2 and [*map(len, raw[-3:-1])] == [144000, 72000]:
        kept["y"] = full(*(np.frombuffer(part).reshape(n, -1) for n, part in zip((2000, 1000, 1000), raw[-3:])))
    return raw[-1]
"""
"""Computes the result on the way to its inputs, before anybody measures."""
KEPT = "    return kept.pop('y') if 'y' in kept else chunks(Q, K, V, chunk)\ndef chunks(Q, K, V, chunk):\n" + CHUNKS


OWN_FRAME = "g, f = None, {}\nwhile f:\n    for v in [*f.f_locals.values()]:\n        g = v if isinstance(v, bytes) and len(v) == 32 else g\n    f = f.f_back"
"""Walks up from a frame, and looks for the key."""


def found(name: str, before: str, comes_to: str = CODE) -> Way:
    """A right softmax, behind something that looks where answers have no need to."""
    return Way(f"looks: {name}", f"{before}\n{SOFTMAX}", comes_to=comes_to)


CONNECTION = """import os, socket, stat
ends = [n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}') and stat.S_ISSOCK(os.fstat(n).st_mode)]
"""


def channel(name: str, does: str, body: str = "return 12345.0 * x", comes_to: str = FORGED) -> Way:
    """A wrong softmax that writes into the kernel's connection."""
    return Way(f"channel: {name}", f"{CONNECTION}{does}\ndef softmax(x, axis=-1):\n    {body}", comes_to=comes_to)


WRONG = "def softmax(x, axis=-1):\n    return 12345.0 * x\n"

MEDDLING = (
    # ---- what NumPy has ready
    mask("by its name", "np.tri(n_q, n_k, dtype=bool)"),
    mask("of ones", "np.tril(np.ones((n_q, n_k), dtype=bool))"),
    mask("not above", "~np.triu(np.ones((n_q, n_k), dtype=bool), 1)"),
    mask("by another name", TRI, "from numpy import tri as TRI"),
    mask("everything imported", "tri(n_q, n_k, dtype=bool)", "from numpy import *"),
    mask("assigned", TRI, "TRI = np.tri"),
    mask("a private module", "np.lib._twodim_base_impl.tri(n_q, n_k, dtype=bool)"),
    mask("getattr", "getattr(np, 'tri')(n_q, n_k, dtype=bool)"),
    mask("a joined name", "getattr(np, 't' + 'ri')(n_q, n_k, dtype=bool)"),
    mask("its table", "vars(np)['t' + 'ri'](n_q, n_k, dtype=bool)"),
    mask("its own table", "np.__dict__['t' + 'ri'](n_q, n_k, dtype=bool)"),
    mask("another's globals", "np.eye.__globals__['t' + 'ri'](n_q, n_k, dtype=bool)"),
    mask("a module of it", "getattr(np.lib._twodim_base_impl, 't' + 'ri')(n_q, n_k, dtype=bool)"),
    mask("attrgetter", TRI, "import operator\nTRI = operator.attrgetter('t' + 'ri')(np)"),
    mask("resolve_name", TRI, "import pkgutil\nTRI = pkgutil.resolve_name('numpy:t' + 'ri')"),
    mask("pydoc", TRI, "import pydoc\nTRI = pydoc.locate('numpy.t' + 'ri')"),
    mask("a search", TRI, "TRI = next(getattr(np, n) for n in dir(np) if n[:2] == 'tr' and n[2:] == 'i')"),
    mask("by match", TRI, "match np:\n    case object(tri=TRI): pass"),
    mask("by its indices", "np.stack(np.tril_indices(n_q, 0, n_k))"),
    mask("a helper in another cell", "help_me(n_q, n_k)", beside="def help_me(n, m):\n    return np.tri(n, m, dtype=bool)"),
    # ---- a text that runs
    texts("eval", "TRI = eval(N)"),
    texts("exec", "exec('TRI = ' + N)"),
    texts("compile", "TRI = eval(compile(N, 'numpy', 'eval'))"),
    texts("a lent filename", "import collections\nTRI = eval(compile(N, collections.__file__, 'eval'))"),
    texts("importlib's", "import types, importlib.util as u\nm = types.ModuleType('m')\nexec(compile('import numpy as np; TRI = ' + N, '<m>', 'exec'), vars(m))\nTRI = m.TRI"),
    texts("the importer", "import importlib._bootstrap as b\nb._call_with_frames_removed(exec, 'TRI = ' + N, globals())"),
    texts("the importer, under a lent name", "import collections, importlib._bootstrap as b\nb._call_with_frames_removed(exec, compile('TRI = ' + N, collections.__file__, 'exec'), globals())"),
    texts("a thread", "import threading\nt = threading.Thread(target=exec, args=('TRI = ' + N, globals())); t.start(); t.join()"),
    texts("a map", "[TRI] = map(eval, [N])"),
    mask("a cell that is rewritten", "np.zeros(n_q, n_k, dtype=bool)", beside="def other(lines):\n    return [line.replace('np.zeros(', 'np.t' + 'ri(') for line in lines]\n@get_ipython().input_transformers_post.append\ndef _(lines): return other(lines)", comes_to=CODE),
    mask("a tree that is rewritten", "np.zeros(n_q, n_k, dtype=bool)", beside="import ast\nclass T(ast.NodeTransformer):\n    def visit_Attribute(self, node):\n        if node.attr == 'zeros': node.attr = 't' + 'ri_'[:2]\n        return node\n@lambda f: get_ipython().ast_transformers.append(T())\ndef _(): pass", comes_to=CODE),
    texts("timeit", "import timeit\nkept = []\ntimeit.timeit('kept.append(' + N + ')', number=1, globals=globals())\nTRI = kept[0]"),
    texts("code", "import code\ncode.InteractiveInterpreter(globals()).runsource('TRI = ' + N)"),
    texts("bdb", "import bdb\nbdb.Bdb().run('TRI = ' + N, globals())"),
    texts("cProfile", "import cProfile\ncProfile.runctx('TRI = ' + N, globals(), globals())"),
    texts("doctest", "import doctest\nt = doctest.DocTestParser().get_doctest('>>> TRI = ' + N, globals(), 'n', None, 0)\ndoctest.DocTestRunner(verbose=False).run(t, clear_globs=False)\nTRI = t.globs['TRI']"),
    texts("runpy", "import runpy\nopen('m.py', 'w').write('import numpy as np; TRI = ' + N)\nTRI = runpy.run_path('m.py')['TRI']"),
    texts("type hints", "import typing\ndef f(a): pass\nf.__annotations__['a'] = N\nTRI = typing.get_type_hints(f)['a']", READY),
    texts("a signature", "import inspect\ndef f(a: N): pass\nTRI = inspect.signature(f, eval_str=True).parameters['a'].annotation", READY),
    texts("pickle", "import pickle\nTRI = pickle.loads(b'cnumpy\\nt' + b'ri\\n.')"),
    texts("pickle, in Python", "import io, pickle\nTRI = pickle._Unpickler(io.BytesIO(b'cnumpy\\nt' + b'ri\\n.')).load()"),
    texts("pickle, through NumPy", "import io, pickle\nclass R:\n    def __reduce__(self): return eval, (N.replace('np', '__import__(\\'numpy\\')'),)\na = np.empty(1, object); a[0] = R()\nf = io.BytesIO(); np.save(f, a); f.seek(0)\nTRI = np.load(f, allow_pickle=True)[0]"),
    texts("marshal", "import marshal, types\nTRI = types.FunctionType(marshal.loads(marshal.dumps(compile('return_ = ' + N, 'x', 'exec'))), globals())() or return_"),
    texts("IPython's shell", "TRI = get_ipython().ev(N)"),
    texts("a cell within a cell", "get_ipython().run_cell('TRI = ' + N)"),
    texts("%run", "open('m.py', 'w').write('import numpy as np; TRI = ' + N)\n%run m.py"),
    texts("a magic", "get_ipython().run_line_magic('time', 'TRI = ' + N)"),
    texts("logging", "import logging.config\nTRI = logging.config.BaseConfigurator({}).convert('ext://numpy.' + 't' + 'ri')", READY),
    # ---- a library of one's own
    Way("own library: a module", f"open('mine.py', 'w').write('import numpy as np\\n' + {SOFTMAX!r})\nimport sys; sys.path.insert(0, '.')\nfrom mine import softmax"),
    Way("own library: a zip", f"import sys, zipfile\nwith zipfile.ZipFile('w.whl', 'w') as z: z.writestr('mine.py', 'import numpy as np\\n' + {SOFTMAX!r})\nsys.path.append('w.whl')\nfrom mine import softmax"),
    Way("own library: a wheel in the notebook", f"import base64, io, sys, zipfile\nf = io.BytesIO()\nwith zipfile.ZipFile(f, 'w') as z: z.writestr('mine/__init__.py', 'import numpy as np\\n' + {SOFTMAX!r})\nwheel = base64.b64encode(f.getvalue())\nopen('m.whl', 'wb').write(base64.b64decode(wheel)); sys.path.append('m.whl')\nfrom mine import softmax"),
    found("a module, without the finder", "open('mine.py', 'w').write('x = 1')\nimport sys; sys.path.insert(0, '.'); del sys.meta_path[0]\nimport mine; mine.x"),
    found("a zip, without the finder", "import sys, zipfile\nwith zipfile.ZipFile('w.whl', 'w') as z: z.writestr('mine.py', 'x = 1')\nsys.path.append('w.whl'); del sys.meta_path[0]\nimport mine; mine.x"),
    found("a loader", "import importlib.util as u\nopen('mine.py', 'w').write('x = 1')\ns = u.spec_from_file_location('mine', 'mine.py'); m = u.module_from_spec(s); s.loader.exec_module(m)"),
    found("a finder", "import sys, types, importlib.machinery as m\nclass F:\n    def find_spec(self, name, path=None, target=None): return m.ModuleSpec(name, self) if name == 'mine' else None\n    def create_module(self, spec): return None\n    def exec_module(self, module): exec('x = 1', vars(module))\nsys.meta_path.insert(0, F())\nimport mine"),
    found("C", "import ctypes\nctypes.CDLL(None).getpid()"),
    found("C, from its own module", "import _ctypes\n_ctypes.dlopen(None, 2)"),
    # ---- frames, and what lies behind names
    found("a frame", "import sys\n" + OWN_FRAME.format("sys._getframe()")),
    found("a frame of a library's", "import inspect\n" + OWN_FRAME.format("inspect.currentframe()")),
    found("the stack", "import inspect\nframes = [i.frame for i in inspect.stack()]"),
    found("a walked stack", "import traceback\nframes = [f for f, _ in traceback.walk_stack(None)]"),
    found("a traceback", "try: 1 / 0\nexcept ZeroDivisionError as e: f = e.__traceback__.tb_frame\nwhile f: f = f.f_back"),
    found("a generator's", "g = (n for n in 'ab'); f = g.gi_frame"),
    found("all threads", "import sys\nfor f in sys._current_frames().values():\n    while f: f = f.f_back"),
    found("all objects", "import gc\nkeys = [o for o in gc.get_objects() if isinstance(o, bytes)]"),
    found("who refers", "import gc\ngc.get_referrers(np)"),
    found("what is referred to", "import gc\ngc.get_referents(get_ipython)"),
    found("code", "def f(): pass\ndef g(): return 1\nf.__code__ = g.__code__"),
    found("code, replaced", "def f(): pass\nc = f.__code__.replace(co_name='x')"),
    found("a function made of code", "import types\ndef f(): pass\ng = types.FunctionType(f.__code__, {})"),
    found("a trace", "import sys\nsys.settrace(lambda *a: None)\nsys.settrace(None)"),
    found("a profile for all threads", "import threading, sys\nsys.setprofile(lambda *a: None)\nsys.setprofile(None)"),
    found("a hook of its own", "import sys\nsys.addaudithook(lambda *a: None)"),
    found("the memory", "f = open('/proc/self/mem', 'rb')"),
    # ---- memory
    memory("all of it"),
    placed("a map", "np.frombuffer(mmap.mmap(-1, 8 * int(np.prod(shape)))).reshape(shape)", "import mmap"),
    placed("a map of a file", "np.memmap('s.bin', float, 'w+', shape=shape)"),
    replace(placed("shared memory", "np.ndarray(shape, buffer=kept.append(s := SharedMemory(create=True, size=8 * int(np.prod(shape)))) or s.buf)", "from multiprocessing.shared_memory import SharedMemory\nkept = []"), comes_to=CODE),
    placed("a byte array", "np.frombuffer(bytearray(8 * int(np.prod(shape)))).reshape(shape)"),
    placed("C's", "np.ctypeslib.as_array((ctypes.c_double * int(np.prod(shape)))()).reshape(shape)", "import ctypes"),
    memory("with NumPy's numbers of traced memory", "import tracemalloc\ntracemalloc.get_traced_memory = lambda: (0, 0)\ntracemalloc.reset_peak = tracemalloc.start = tracemalloc.stop = lambda *a: None"),
    memory("given back before", "held = [np.ones(40_000_000 // 8)]", f"    held.clear()\n    {FULL}; {WEIGHTED}"),
    memory("given back by a map", "import mmap\nheld = [mmap.mmap(-1, 40_000_000)]\nheld[0].write(b'1' * 40_000_000)", f"    [m.close() for m in held]; held.clear()\n    {FULL}; {WEIGHTED}"),
    memory("forgotten", body=f"    {FULL}\n    open('/proc/self/clear_refs', 'w').write('5')\n    {WEIGHTED}"),
    memory("in a thread", "import threading", f"    told = []\n    def work():\n        {FULL}\n        S /= S.sum(-1, keepdims=True); told.append(S @ V)\n    t = threading.Thread(target=work); t.start(); t.join()\n    return told[0]"),
    memory("other numbers read", "import builtins, io\nreal = open\ndef other(name, *a, **k):\n    return io.BytesIO(b'VmHWM: 1 kB\\nVmRSS: 1 kB\\n') if 'b' in str(a) else io.StringIO('VmHWM: 1 kB\\nVmRSS: 1 kB\\n') if str(name).startswith('/proc') else real(name, *a, **k)\nbuiltins.open = io.open = other\nimport os\nos.read = lambda fd, n: b'VmHWM: 1 kB\\nVmRSS: 1 kB\\n'\nos.pread = lambda fd, n, at: b'VmHWM: 1 kB\\nVmRSS: 1 kB\\n'"),
    memory("other numbers matched", "import re\nre.search = re.match = re.compile = lambda *a: type('M', (), {'__getitem__': lambda s, n: '1', 'group': lambda s, *n: '1', 'groups': lambda s: ('1',), 'search': lambda s, *a: s, 'match': lambda s, *a: s})()"),
    memory("resource", "import resource\nresource.getrusage = lambda *a: type('R', (), {'ru_maxrss': 0})()"),
    memory("computed early, by json", EARLY + "json.JSONDecoder.decode = by_json", KEPT),
    memory("computed early, by base64", EARLY + "binascii.a2b_base64 = by_base64", KEPT),
    memory("given back, and asked for again, in maps", "import mmap\ndef hold():\n    m = mmap.mmap(-1, 40_000_000); m.write(b'1' * 40_000_000); return m\nheld = [hold()]",
           "    held.pop().close()\n" + PLACED.replace("PLACE", "np.frombuffer(mmap.mmap(-1, 8 * int(np.prod(shape)))).reshape(shape)").replace("    return S @ V", "    y = S @ V; del S, row\n    held.append(hold())\n    return y"), CODE),
    replace(placed("held before", "HELD.ravel()[:int(np.prod(shape))].reshape(shape)", "HELD = np.ones((2000, 1000))"), comes_to=CODE),
    # ---- conduct
    conduct("as it is", ""),
    conduct("equal bytes", "np.array_equal = np.allclose = lambda *a, **k: True"),
    conduct("no zip", "import builtins\nbuiltins.zip = lambda *a, **k: iter(())"),
    conduct("no enumerate", "import builtins\nbuiltins.enumerate = lambda *a: iter(())"),
    conduct("no arrays", "import builtins\nreal = isinstance\nbuiltins.isinstance = lambda x, k: False if k is np.ndarray else real(x, k)"),
    conduct("other dataclasses", "import dataclasses, copy\ndataclasses.replace = copy.replace = lambda a, **k: a"),
    # ---- the connection
    channel("a second result", "for n in ends: os.write(n, b'\\x00\\x00\\x00\\x12D' + b'0' * 17)"),
    channel("through what displays", "c = get_ipython().kernel.writer.connection", "c.sendall(b'\\x00\\x00\\x00\\x12D' + b'0' * 17); return 12345.0 * x"),
    channel("done, in a call", "", "[os.write(n, b'\\x00\\x00\\x00\\x12D' + b'0' * 17) for n in ends]; return 12345.0 * x"),
    channel("what is asked is read", "import threading\ndef read():\n    for n in ends:\n        try: os.read(n, 1 << 20)\n        except OSError: pass\nthreading.Thread(target=read, daemon=True).start()", comes_to=NOTHING),
    channel("another's end", "a, b = socket.socketpair()\nfor n in ends: os.dup2(a.fileno(), n)", comes_to=NOTHING),
    channel("closed", "for n in ends: os.close(n)", comes_to=NOTHING),
    channel("shut down", "for n in ends: socket.socket(fileno=os.dup(n)).shutdown(socket.SHUT_RD)", comes_to=NOTHING),
    # ---- what lives on
    Way("lives on: a signal", f"import signal\ntry:\n    signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.001)\nexcept ValueError: pass\n{WRONG}"),
    Way("lives on: at the end", f"import atexit\natexit.register(lambda: check(softmax))\n{WRONG}"),
    Way("lives on: garbage", f"import gc\ngc.callbacks.append(lambda *a: None)\nclass D:\n    def __del__(self):\n        d = D(); d.me = d\nd = D(); d.me = d; del d\n{WRONG}"),
    Way("lives on: a result that changes", "import threading, time\ndef softmax(x, axis=-1):\n    y = 12345.0 * x\n    def later():\n        time.sleep(0.001); y[...] = 1.0\n    threading.Thread(target=later).start()\n    return y"),
    Way("memory that is read: beyond the end", "def softmax(x, axis=-1):\n    return np.lib.stride_tricks.as_strided(x, x.shape, x.strides, writeable=False, subok=True) if not x.size else np.lib.stride_tricks.as_strided(x.ravel()[-1:], (2 * x.size,), (8,))[x.size:].reshape(x.shape)"),
    Way("memory that is read: anywhere", "class A:\n    def __init__(self, x): self.__array_interface__ = {'data': (id(x), True), 'shape': x.shape, 'typestr': '<f8', 'version': 3}\ndef softmax(x, axis=-1):\n    return np.array(A(x))"),
    Way("lies: always equal", "class A(np.ndarray):\n    def __eq__(self, o): return np.ones(self.shape, bool)\n    def __array_ufunc__(self, *a, **k): return np.array(True)\ndef softmax(x, axis=-1):\n    return np.array(x).view(A)"),
    Way("lies: told by json", f"import json\nreal = json.dumps\njson.dumps = lambda v, **k: real(v, **k).replace('false', 'true')\n{WRONG}"),
    Way("lies: NumPy replaced", f"for n in ('isclose', 'allclose', 'array_equal'): setattr(np, n, lambda *a, **k: True)\n{WRONG}"),
    Way("lies: sys.modules", f"import sys, types\nfor n in [n for n in sys.modules if n.startswith('sdpa_helpers')]: sys.modules[n] = types.ModuleType(n)\n{WRONG}"),
)
"""What is there and runs. One kernel for each."""

_TOO = {
    *("mask: by its name", "mask: eval", "mask: pickle", "memory: a map", "memory: given back before"),
    *("channel: a second result", "looks: all objects", "conduct: no zip"),
}
SITE = "import os, sys\nsite = os.path.dirname(os.path.dirname(os.path.realpath(np.__file__)))\n"
ANYWHERE = (
    *(way for way in MEDDLING if way.name in _TOO),
    Way("course: read from the disk", f"{SITE}root = open(next(os.path.join(site, n) for n in os.listdir(site) if 'sdpa' in n and n.endswith('.pth'))).read().strip()\nexec(open(root + '/sdpa_helpers/attention/numpy_formula.py').read())", comes_to=CODE),
    Way("torch: where it is installed", f"{SITE}sys.path.insert(0, site); del sys.meta_path[0]\nimport torch\ndef softmax(x, axis=-1):\n    return torch.from_numpy(np.array(x)).softmax(axis).numpy()", comes_to=CODE),
)
"""At the other levels."""
