"""Ways to earn points for what somebody else computes, or that nobody computes: data for `test_ways_around`.

What an answer may use is what there is in its kernel, so most of these come to nothing; what runs all the same, or
meddles with what tells of it, leaves a flag. Each says which.
"""

from dataclasses import dataclass

# fmt: off

NOTHING = "nothing"
"""No point is earned."""


@dataclass(frozen=True)
class Way:
    """One answer to an exercise."""

    name: str
    source: str
    """The answer cell, without the line `# exercise: …`."""
    exercise: str = "softmax"
    comes_to: str = NOTHING
    """`NOTHING`, or the kind of the flag that it leaves at least."""
    beside: str = ""
    """A cell of the learner's own before it."""


HEADS = {
    "softmax": "softmax(x, axis=-1)",
    "entropy": "entropy(weights, axis=-1)",
    "cosine_similarity": "cosine_similarity(q, k)",
    "softmax_jacobian": "softmax_jacobian(x)",
    "softmax_backward": "softmax_backward(weights, grad_weights)",
    "chunked_attention": "chunked_attention(Q, K, V, chunk)",
    "causal_mask": "causal_mask(n_q, n_k)",
}


def of(exercise: str, name: str, gives: str, before: str = "", comes_to: str = NOTHING, beside: str = "") -> Way:
    """A function that gives an expression, with lines before it."""
    return Way(name, f"{before}\ndef {HEADS[exercise]}:\n    return {gives}", exercise, comes_to, beside)


def torch(name: str, call: str, before: str = "", exercise: str = "softmax") -> Way:
    """`call` uses `t`, the scores as a tensor, and gives a tensor."""
    made = f"(lambda t: {call})(torch.from_numpy(np.array({'x' if exercise == 'softmax' else 'weights'}))).numpy()"
    return of(exercise, f"torch: {name}", made, f"import torch\n{before}")


def scipy(name: str, call: str, before: str, exercise: str = "softmax") -> Way:
    """`call` uses the arguments."""
    return of(exercise, f"scipy: {name}", call, before)


PICKLED = "pickle.loads(b'c{}\\n{}\\n.')"

LIBRARIES = (
    # ---- PyTorch's, by its names
    torch("a method", "t.softmax(axis)"),
    torch("a function", "torch.softmax(t, axis)"),
    torch("special", "torch.special.softmax(t, axis)"),
    torch("a module object", "torch.nn.Softmax(axis)(t)"),
    torch("another name", "other.softmax(t, axis)", "other = torch"),
    torch("everything imported", "softmin(-t, axis)", "from torch.nn.functional import *"),
    torch("by %time", "f(t, axis)", "%time f = torch.softmax"),
    torch("by match", "f(t, axis)", "match torch.softmax:\n    case f: pass"),
    torch("a walrus", "f(t, axis)", "print(f := torch.softmax)"),
    torch("a default", "help_me(t, axis)", "def help_me(t, axis, f=torch.softmax):\n    return f(t, axis)"),
    torch("of a class", "Kit.do(t, axis)", "class Kit:\n    do = staticmethod(torch.softmax)"),
    torch("a base class", "Own()(t)", "class Own(torch.nn.Softmax): pass"),
    torch("a metaclass", "Own.softmax(t, axis)", "class Own(metaclass=type(torch)): softmax = torch.softmax"),
    torch("a comprehension", "[f(t, axis) for f in [torch.softmax]][0]"),
    torch("in a list", "[torch][0].softmax(t, axis)"),
    torch("a list of modules", "kit[0].softmax(t, axis)", "kit = []\nkit.append(torch)"),
    torch("an attribute set later", "Kit.m.softmax(t, axis)", "class Kit: pass\nKit.m = torch"),
    torch("returned", "give().softmax(t, axis)", "def give():\n    return torch"),
    torch("passed", "(lambda m: m.softmax(t, axis))(torch)"),
    torch("globals", "globals()['torch'].softmax(t, axis)"),
    torch("a joined name", "getattr(torch, 'soft' + 'max')(t, axis)"),
    torch("attrgetter", "operator.attrgetter('soft' + 'max')(torch)(t, axis)", "import operator"),
    torch("methodcaller", "operator.methodcaller('soft' + 'max', axis)(t)", "import operator"),
    torch("a context", "f(t, axis)", "from contextlib import *\nwith nullcontext(torch.softmax) as f: pass"),
    torch("a decorator", "f(t, axis)", "@lambda f: torch.softmax\ndef f(): pass"),
    torch("partial", "f(t)", "import functools\nf = functools.partial(torch.softmax, dim=-1)"),
    torch("pickle", PICKLED.format("torch", "softmax") + "(t, axis)", "import pickle"),
    torch("importlib", "importlib.import_module('tor' + 'ch').softmax(t, axis)", "import importlib"),
    torch("eval", "eval('t.soft' + 'max(axis)', {'t': t, 'axis': axis})"),
    torch("exec", "f(t, axis)", "exec('f = torch.' + 'softmax')"),
    torch("by global", "f(t, axis)", "def prepare():\n    global f\n    f = torch.softmax\nprepare()"),
    torch("an operator", "torch.ops.aten._softmax(t, axis, False)"),
    torch("private", "torch._softmax(t, axis, False)"),
    torch("composed", "torch.exp(t - torch.logsumexp(t, axis, keepdim=True))"),
    torch("into a result", "torch.softmax(t, axis, out=torch.empty_like(t))"),
    torch("a distribution", "torch.distributions.Categorical(logits=t).probs"),
    torch("masked", "torch.masked.softmax(t, axis)", "import torch.masked"),
    torch("mapped", "torch.vmap(lambda r: r.softmax(-1))(t)"),
    torch("sparse", "torch.sparse.softmax(t.to_sparse(), axis).to_dense()"),
    torch("traced", "torch.jit.trace(lambda z: z.softmax(-1), t)(t)"),
    torch("the references", "torch._refs.softmax(t, axis)", "import torch._refs"),
    torch("of a loss", "-torch.nn.functional.poisson_nll_loss(t, t)", exercise="entropy"),
    torch("a cross-entropy", "torch.nn.functional.cross_entropy(t.log(), t)", exercise="entropy"),
    torch(
        "a thread",
        "told.get()",
        "import queue, threading\ntold = queue.Queue()\n"
        "threading.Thread(target=lambda: told.put(torch.eye(3).softmax(-1)), daemon=True).start()",
    ),
    torch("another library's", "f(t, axis)", "from torch.utils.dlpack import from_dlpack as f"),
    Way(
        "torch: imported within",
        "def softmax(x, axis=-1):\n    from torch import tensor\n    return tensor(x).softmax(axis).numpy()",
    ),
    of(
        "softmax_jacobian",
        "torch: derivatives",
        "to.func.jacrev(lambda z: to.exp(z) / to.exp(z).sum())(to.from_numpy(np.array(x))).numpy()",
        "to = __import__('to' + 'rch')",
    ),
    of(
        "softmax_backward",
        "torch: derivatives of its own softmax",
        "torch.autograd.grad((e / e.sum(-1, keepdim=True)), s, g)[0]",
        "import torch\ns = torch.ones(3).requires_grad_()\ne, g = s.exp(), torch.ones(3)",
    ),
    of(
        "chunked_attention",
        "torch: attention",
        "sdpa(*(torch.from_numpy(np.array(x)) for x in (Q, K, V))).numpy()",
        "import torch\nsdpa = vars(torch.nn.functional)['scaled_dot' + '_product_attention']",
    ),
    of(
        "chunked_attention",
        "torch: its memory",
        "(torch.softmax(torch.tensor(Q) @ torch.tensor(K).mT, -1) @ torch.tensor(V)).numpy()",
        "import torch",
    ),
    of("cosine_similarity", "torch: a cosine", "torch.cosine_similarity(*map(torch.tensor, (q, k)), 0)", "import torch"),
    # ---- other libraries'
    scipy("by its name", "s.softmax(x, axis)", "import scipy.special as s"),
    scipy("by another name", "other(x, axis)", "from scipy.special import softmax as other"),
    scipy("a private module", "_l.softmax(x, axis)", "import scipy.special._logsumexp as _l"),
    scipy("a vendored one", "a.logsumexp(x, axis)", "import scipy._lib.array_api_extra as a"),
    scipy("everything", "np.exp(log_softmax(x, axis))", "from scipy.special import *"),
    scipy("pickle", PICKLED.format("scipy.special", "softmax") + "(x, axis)", "import pickle"),
    scipy("sys.modules", "sys.modules['scipy.special'].softmax(x, axis)", "import sys, scipy.special"),
    scipy("a table", "vars(s)['soft' 'max'](x, axis)", "import scipy.special as s"),
    scipy("reloaded", "s.softmax(x, axis)", "import importlib, scipy.special as s\nimportlib.reload(s)"),
    scipy("an entropy", "s.entropy(weights, axis=axis)", "import scipy.stats as s", "entropy"),
    scipy("a ufunc", "entr(weights).sum(axis)", "from scipy.special.cython_special import entr", "entropy"),
    scipy("a cosine", "1 - d.cosine(q, k)", "import scipy.spatial.distance as d", "cosine_similarity"),
    scipy("a correlation", "s.pearsonr(np.r_[q, -q], np.r_[k, -k])[0]", "import scipy.stats as s", "cosine_similarity"),
    scipy("differences", "minimize(lambda v: v[0], x).jac", "from scipy.optimize import minimize", "softmax_jacobian"),
    of("softmax", "jax", "np.asarray(jax.nn.softmax(x, axis))", "import jax"),
    of("softmax", "jax, private", "np.asarray(f(x))", "from jax._src.nn.functions import softmax as f"),
    of("softmax", "keras, private", "f(x)", "from keras.src.activations.activations import softmax as f"),
    of("softmax", "onnx", "S._run(None, x)[0]", "from onnx.reference.ops.op_softmax import Softmax as S"),
    of("softmax", "numba", "f(x)", "import numba\n@numba.njit\ndef f(x):\n    e = np.exp(x)\n    return e / e.sum()"),
    of("softmax", "matplotlib's mathtext", "m.pyplot.softmax(x)", "import matplotlib as m"),
    of("softmax_jacobian", "sympy", "sp.diff(sp.exp(x[0]))", "sp = __import__('sym' + 'py')"),
    of("softmax_jacobian", "mpmath", "np.diag([float(mpmath.diff(mpmath.exp, v)) for v in x])", "import mpmath"),
    of("softmax", "a helper in another cell", "f(x, axis)", beside="from scipy.special import softmax as f"),
    of("softmax", "a table in another cell", "KIT[0].softmax(x, axis)", beside="import torch\nKIT = [torch]"),
    # ---- the course's
    of("softmax", "course: its softmax", "sdpa_helpers.softmax(x, axis)", "import sdpa_helpers"),
    of("softmax", "course: by a joined name", "getattr(s, 'soft' + 'max')(x, axis)", "import sdpa_helpers as s"),
    of("softmax", "course: imported", "f(x, axis)", "from sdpa_helpers import softmax as f"),
    of("softmax", "course: its formula", "f(x, axis)", "from sdpa_helpers import _formula as f"),
    of("softmax", "course: a backend", "f(x, axis)", "from sdpa_helpers.attention.numpy_formula import softmax as f"),
    Way("course: a reference", "from sdpa_helpers.course.registry import find\nsoftmax = find('softmax').reference"),
    of("softmax", "course: a solution", "s.solution('softmax')", "import sdpa_helpers as s"),
    of("softmax", "course: the notebook's globals", "globals()['softmax_given'](x, axis)"),
    of("softmax", "course: in a list", "kit[0](x, axis)", "import sdpa_helpers\nkit = [sdpa_helpers.softmax]"),
    of("causal_mask", "course: a mask", "s.causal_mask(n_q, n_k)", "import sdpa_helpers as s"),
)
"""What is not there: none of these earns a point. In one kernel, one after the other."""

END_OTHERWISE = {
    *("torch: a metaclass", "torch: attention", "scipy: everything", "scipy: a table"),
    *("course: a solution", "course: the notebook's globals"),
}
"""Those that do not come so far as to use what is not there."""

E = "np.exp(x - x.max(axis=axis, keepdims=True))"
DIVIDED = "return e / e.sum(axis=axis, keepdims=True)"
OWN = f"(x, axis):\n    e = {E}\n    {DIVIDED}\n"
METHOD = f"x, axis):\n        e = {E}\n        {DIVIDED}\n"
SOFTMAX = f"def softmax(x, axis=-1):\n    e = {E}\n    {DIVIDED}\n"


def honest(name: str, before: str = "", body: str = f"e = {E}; {DIVIDED}", beside: str = "") -> Way:
    """A right softmax: what stands before it, and its body."""
    return Way(f"own: {name}", f"{before}\ndef softmax(x, axis=-1):\n    {body}", beside=beside)


def followed(name: str, after: str, before: str = "") -> Way:
    """A right softmax, and what stands behind it."""
    return Way(f"own: {name}", f"{before}\n{SOFTMAX}{after}")


HONEST = (
    honest("plain"),
    # ---- what is not there, and not needed
    honest("a comment", "# torch.softmax(x) and x.softmax() would do it"),
    honest("a docstring", body=f"'''As torch.softmax(x, axis) or scipy.special.softmax.'''; e = {E}; {DIVIDED}"),
    honest("a text", "ABOUT = 'torch.softmax, x.softmax(-1)'"),
    honest("torch imported", "import torch"),
    honest("torch's functions imported", "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F"),
    honest("its name imported", "from torch import softmax as theirs, Tensor"),
    honest("everything imported", "from torch import *\nfrom scipy.special import *"),
    honest(
        "many imported",
        "import pandas as pd, seaborn as sns, sklearn, jax, tqdm\nimport matplotlib.pyplot as plt\n"
        "from tqdm.auto import tqdm\nfrom jaxtyping import Float",
    ),
    honest("SciPy imported", "import scipy.special\nfrom scipy.special import softmax as other"),
    honest("everything of the course imported", "from sdpa_helpers import *"),
    honest("a try", "try:\n    import torch\nexcept ImportError:\n    torch = None"),
    honest("a try for numba", "try:\n    from numba import njit\nexcept ImportError:\n    njit = lambda f: f"),
    honest("whether torch is there", "import importlib.util\nHAS = importlib.util.find_spec('no_such_one') is not None"),
    Way(
        "own: type hints",
        "from __future__ import annotations\nimport torch\nfrom jaxtyping import Float\n"
        "def softmax(x: np.ndarray | torch.Tensor, axis: int = -1) -> Float[torch.Tensor, '... n']:\n"
        f"    e: torch.Tensor | None = {E}\n    {DIVIDED}",
    ),
    Way(
        "own: type hints that are evaluated",
        "import torch\nfrom typing import Optional, Union\nArray = Union[np.ndarray, 'torch.Tensor']\n"
        "def softmax(x: np.ndarray | torch.Tensor, axis: Optional[int] = -1) -> torch.Tensor | None:\n"
        f"    e = {E}\n    {DIVIDED}",
    ),
    honest("torch's kind asked for", "import torch", f"x = x.numpy() if isinstance(x, torch.Tensor) else x; e = {E}; {DIVIDED}"),
    honest("two kinds asked for", "import torch", f"assert not isinstance(x, (torch.Tensor, str)); e = {E}; {DIVIDED}"),
    honest(
        "torch where it is there",
        "import torch",
        f"try:\n        return torch.softmax(torch.from_numpy(x), axis).numpy()\n"
        f"    except ImportError:\n        e = {E}; {DIVIDED}",
    ),
    honest("torch's seed set", "import torch\ntorch.manual_seed(0)"),
    honest("torch asked for its device", "import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'"),
    honest("torch beside it", "import torch\nexpected = torch.special.expit(torch.zeros(2))"),
    honest("torch beside it, in another cell", beside="import torch\ntorch.set_printoptions(3)\nD = torch.float64"),
    followed("a test behind it", "import scipy.special\nassert np.allclose(softmax(np.eye(2)), scipy.special.softmax(np.eye(2), -1))"),
    followed("a test that nobody calls", "def compare():\n    import torch\n    return torch.softmax(torch.ones(2), 0)"),
    followed("a test in a loop", "import scipy.special\nfor n in range(2):\n    print(scipy.special.softmax(np.ones(n + 1)))"),
    followed("a plot behind it", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot(softmax(np.arange(3.0)))\nplt.show()"),
    followed("a table behind it", "import pandas as pd\npd.DataFrame(softmax(np.eye(3)))"),
    followed("its time behind it", "import time\nt = time.perf_counter()\nsoftmax(np.eye(50))\nprint(time.perf_counter() - t)"),
    followed("%timeit behind it", "%timeit -n 1 -r 1 softmax(np.eye(3))\n%time softmax(np.eye(3))"),
    followed("timeit behind it", "import timeit\nprint(timeit.timeit(lambda: softmax(np.eye(3)), number=2))"),
    followed("help behind it", "np.sum?\nsoftmax?\nhelp(np.exp)"),
    followed("a check behind it", "check(softmax)\nhint('softmax')\nprogress()"),
    honest("leftovers", "from sdpa_helpers import solution, hint\nsolution('softmax')\nhint('softmax')"),
    honest("solution kept", "from sdpa_helpers import solution\nshown = solution('softmax')"),
    # ---- names that mean something else
    honest("a variable called torch", body=f"torch = {E}; return torch / torch.sum(axis=axis, keepdims=True)"),
    honest("the usual short names", "F = 1.0\nnn = F", f"x = x * F; e = {E}; {DIVIDED}"),
    honest("a class", f"class Mine:\n    def softmax(self, {METHOD}", "return Mine().softmax(x, axis)"),
    honest("a class called torch", f"class torch:\n    @staticmethod\n    def softmax({METHOD}", "return torch.softmax(x, axis)"),
    honest("a name space", f"import types\ndef mine{OWN}kit = types.SimpleNamespace(softmax=mine)", "return kit.softmax(x, axis)"),
    honest("a table", f"def mine{OWN}table = {{'softmax': mine}}", "return table['softmax'](x, axis)"),
    honest("an inner function", body=f"def softmax(x, axis):\n        e = {E}\n        {DIVIDED}\n    return softmax(x, axis)"),
    # ---- the standard library
    honest("a named tuple", "from collections import namedtuple\nR = namedtuple('R', 'softmax total')", f"r = R({E}, 1); e = r.softmax; {DIVIDED}"),
    honest("a named tuple with types", "from typing import NamedTuple\nclass R(NamedTuple):\n    e: np.ndarray", f"e = R({E}).e; {DIVIDED}"),
    honest("a data class", "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass R:\n    e: np.ndarray\n    n: int = field(default=1)", f"e = R({E}).e; {DIVIDED}"),
    honest("a made data class", "from dataclasses import make_dataclass\nR = make_dataclass('R', ['e'])", f"e = R({E}).e; {DIVIDED}"),
    honest("a named tuple within", body=f"from collections import namedtuple; e = namedtuple('R', 'e')({E}).e; {DIVIDED}"),
    honest("a typed dict", "from typing import TypedDict\nclass R(TypedDict):\n    e: np.ndarray", f"e = R(e={E})['e']; {DIVIDED}"),
    honest("an enum", "from enum import Enum, auto\nclass How(Enum):\n    SAFE = auto()", f"e = {E} if How['SAFE'] is How.SAFE else 0; {DIVIDED}"),
    honest("partial", "from functools import partial\nE = partial(np.exp)", f"e = {E}; {DIVIDED}"),
    honest("reduce", "from functools import reduce\nimport operator", f"e = {E}\n    s = reduce(operator.add, np.moveaxis(e, axis, 0)); return e / np.expand_dims(s, axis)"),
    honest("cached", "from functools import lru_cache, wraps, cached_property\n@lru_cache\ndef one():\n    return 1.0", f"e = one() * {E}; {DIVIDED}"),
    honest("single dispatch", f"from functools import singledispatch\n@singledispatch\ndef f(x, axis):\n    raise TypeError\n@f.register\ndef _(x: np.ndarray, axis):\n    e = {E}\n    {DIVIDED}", "return f(x, axis)"),
    honest("a decorator", "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n@loud"),
    honest("a context of its own", "import contextlib\n@contextlib.contextmanager\ndef quietly():\n    with np.errstate(all='ignore'):\n        yield", f"with quietly():\n        e = {E}\n    {DIVIDED}"),
    honest("an exit stack", "from contextlib import ExitStack, suppress", f"with ExitStack() as s, suppress(KeyError):\n        e = {E}; {DIVIDED}"),
    honest("a generator", body=f"def steps():\n        e = {E}\n        yield e\n        yield e / e.sum(axis=axis, keepdims=True)\n    return [*steps()][-1]"),
    honest("a generator that is sent to", body=f"def f():\n        e = yield\n        yield e / e.sum(axis=axis, keepdims=True)\n    g = f(); next(g); return g.send({E})"),
    honest("a lambda", f"step = lambda x, axis: {E}", f"e = step(x, axis); {DIVIDED}"),
    Way("own: called", f"class S:\n    def __call__(self, x, axis=-1):\n        e = {E}\n        {DIVIDED}\nsoftmax = S()"),
    honest("an abstract class", "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\nclass C(B):\n    def f(self): return 1.0", f"e = C().f() * {E}; {DIVIDED}"),
    honest("a metaclass", "class M(type):\n    def __new__(m, *a, **k):\n        return super().__new__(m, *a, **k)\nclass C(metaclass=M): pass"),
    honest("a descriptor", "class C:\n    @property\n    def one(self): return 1.0\n    __slots__ = ()", f"e = C().one * {E}; {DIVIDED}"),
    honest("logging", "import logging\nlog = logging.getLogger(__name__)\nlogging.basicConfig(level=logging.INFO)", f"log.info('x %s', x.shape); log.warning('y'); e = {E}; {DIVIDED}"),
    honest("warnings", "import warnings\nwarnings.filterwarnings('ignore')", f"warnings.warn('careful', stacklevel=2); e = {E}; {DIVIDED}"),
    honest("a traceback printed", "import traceback", f"try:\n        1 / 0\n    except ZeroDivisionError:\n        traceback.print_exc()\n    e = {E}; {DIVIDED}"),
    honest("math", "import math", f"e = np.vectorize(math.exp)(x - x.max(axis=axis, keepdims=True)); {DIVIDED}"),
    honest("statistics", "import statistics", f"m = statistics.fmean([1.0, 1.0]); e = m * {E}; {DIVIDED}"),
    honest("fractions", "from fractions import Fraction", f"e = float(Fraction(1, 1)) * {E}; {DIVIDED}"),
    honest("decimal", "from decimal import Decimal, getcontext\ngetcontext().prec = 30", f"e = float(Decimal(1)) * {E}; {DIVIDED}"),
    honest("itertools", "import itertools as it", f"e = {E}; assert [*it.islice(it.count(), 2)] == [0, 1]; {DIVIDED}"),
    honest("an array of Python's", "from array import array", f"e = np.array(array('d', [1.0])) * {E}; {DIVIDED}"),
    honest("a regular expression", "import re, string, textwrap, json, random, copy, collections\nre.compile('a+').sub('b', 'aa')", f"e = copy.deepcopy({E}); {DIVIDED}"),
    honest("a random number", "import random\nrandom.seed(0)\nrng = np.random.default_rng(0)\nnp.random.seed(1)"),
    honest("a thread", "import threading", f"t = threading.Thread(target=len, args=('',)); t.start(); t.join(); e = {E}; {DIVIDED}"),
    honest("a pool", "from concurrent.futures import ThreadPoolExecutor", f"with ThreadPoolExecutor(1) as p:\n        e = p.submit(lambda: {E}).result()\n    {DIVIDED}"),
    honest("asyncio imported", "import asyncio\nasync def nothing():\n    return 1"),
    honest("a path", "from pathlib import Path\nimport os, sys, platform\nHERE = Path.cwd()\nprint(sys.version, platform.python_version())"),
    honest("a file written", "import tempfile\nwith open('notes.txt', 'w') as f:\n    f.write('x')\nprint(open('notes.txt').read())"),
    honest("a getattr", body=f"e = getattr(np, 'exp')(x - x.max(axis=axis, keepdims=True)); {DIVIDED}"),
    honest("a hasattr", body=f"assert hasattr(x, 'shape') and not hasattr(x, 'numpy'); e = {E}; {DIVIDED}"),
    honest("inspected", "import inspect", f"assert inspect.isfunction(softmax); inspect.signature(softmax); e = {E}; {DIVIDED}"),
    honest("unittest", "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(True)"),
    honest("a doctest text", body=f"'''>>> 1 + 1\n    2\n    '''; e = {E}; {DIVIDED}"),
    # ---- NumPy's corners
    honest("NumPy's logaddexp", body="return np.exp(x - np.expand_dims(np.logaddexp.reduce(x, axis=axis), axis))"),
    honest("einsum", body=f"e = np.moveaxis({E}, axis, -1)\n    return np.moveaxis(e / np.einsum('...i->...', e)[..., None], -1, axis)"),
    honest("einsum, by its best path", body=f"e = np.moveaxis({E}, axis, -1)\n    return np.moveaxis(e / np.einsum('...i->...', e, optimize=True)[..., None], -1, axis)"),
    honest("along an axis", body="return np.apply_along_axis(lambda r: np.exp(r - r.max()) / np.exp(r - r.max()).sum(), axis, x)"),
    honest("vectorize with a signature", body="f = np.vectorize(lambda r: np.exp(r - r.max()) / np.exp(r - r.max()).sum(), signature='(n)->(n)')\n    return np.moveaxis(f(np.moveaxis(x, axis, -1)), -1, axis)"),
    honest("a ufunc of its own", "f = np.frompyfunc(lambda v: float(np.exp(v)), 1, 1)", f"e = f(x - x.max(axis=axis, keepdims=True)).astype(float); {DIVIDED}"),
    honest("linear algebra", "from numpy.linalg import norm", f"e = {E}; norm(e); {DIVIDED}"),
    honest("masked arrays", "import numpy.ma as ma", f"e = ma.masked_invalid({E}).filled(0.0); {DIVIDED}"),
    honest("a window", "from numpy.lib.stride_tricks import sliding_window_view", f"sliding_window_view(np.arange(5), 2); e = {E}; {DIVIDED}"),
    honest("NumPy's tests", body=f"np.testing.assert_allclose(1.0, 1.0); e = {E}; {DIVIDED}"),
    honest("typing of NumPy's", "import numpy.typing as npt\nfrom numpy.typing import NDArray", f"e: npt.NDArray[np.float64] = {E}; {DIVIDED}"),
    honest("another name for NumPy", "import numpy\nimport numpy as jnp", f"e = jnp.exp(x - numpy.max(x, axis=axis, keepdims=True)); {DIVIDED}"),
    honest("in a record", f"def mine{OWN}", "r = np.zeros(1, [('e', float)]); r['e'] = 1; return r['e'][0] * mine(x, axis)"),
    # ---- other cells
    honest("a helper in another cell", body="return mine(x, axis)", beside=f"def mine{OWN}"),
    honest("a module's name in another cell", body=f"e = scipy * {E}; {DIVIDED}", beside="scipy = 1.0"),
    Way("own: a mask, by comparing", "def causal_mask(n_q, n_k):\n    return np.arange(n_q)[:, None] >= np.arange(n_k)", "causal_mask"),
    Way(
        "own: torch asked for its device, where it could derive",
        "import torch\ndef softmax_backward(W: np.ndarray | torch.Tensor, G):\n    assert not isinstance(W, torch.Tensor)\n"
        "    return W * (G - (W * G).sum(-1, keepdims=True))",
        "softmax_backward",
    ),
)
"""Who does it without what is not there earns all, and no flag. In one kernel, one after the other."""
