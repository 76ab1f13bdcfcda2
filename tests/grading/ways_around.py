"""Ways to have softmax computed by somebody else, and answers that only look so: data for `test_ways_around`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """One answer to an exercise."""

    name: str
    source: str
    """The answer cell, without the line `# exercise: …`."""
    needs: str = ""
    """The module that it takes."""
    exercise: str = "softmax"


def torch(name: str, call: str, before: str = "", exercise: str = "softmax") -> Way:
    """`call` uses `t`, the scores as a tensor, and gives a tensor."""
    source = f"""import torch
{before}
def {exercise}(x, axis=-1):
    t = torch.from_numpy(np.array(x))
    return ({call}).numpy()"""
    return Way(name, source, "torch", exercise)


def scipy(name: str, call: str, before: str = "", exercise: str = "softmax") -> Way:
    """`call` uses `x`."""
    return Way(name, f"{before}\ndef {exercise}(x, axis=-1):\n    return {call}", "scipy", exercise)


WAYS = (
    # ---- PyTorch, by its names
    torch("a method", "t.softmax(axis)"),
    torch("the function", "torch.softmax(t, axis)"),
    torch("special", "torch.special.softmax(t, axis)"),
    torch("another name", "other.softmax(t, axis)", "other = torch"),
    torch("everything imported", "softmin(-t, axis)", "from torch.nn.functional import *"),
    torch("a module object", "torch.nn.Softmax(axis)(t)"),
    torch("by %time", "f(t, axis)", "%time f = torch.softmax"),
    torch("by match", "f(t, axis)", "match torch.softmax:\n    case f: pass"),
    torch("a walrus", "f(t, axis)", "print(f := torch.softmax)"),
    torch("a tuple", "f(t, axis)", "f, g = torch.softmax, 1"),
    torch("a default", "help_me(t, axis)", "def help_me(t, axis, f=torch.softmax):\n    return f(t, axis)"),
    torch("an attribute of a class", "Kit.do(t, axis)", "class Kit:\n    do = staticmethod(torch.softmax)"),
    torch("in a comprehension", "[f(t, axis) for f in [torch.softmax]][0]"),
    torch("globals", "globals()['torch'].softmax(t, axis)"),
    torch("a joined name", "getattr(torch, 'soft' + 'max')(t, axis)"),
    torch("in a dict", "{'f': torch.softmax}['f'](t, axis)"),
    torch(
        "a context",
        "do(t, axis)",
        "import contextlib\nwith contextlib.nullcontext(torch.softmax) as do: pass",
    ),
    torch(
        "a decorator",
        "made(t, axis)",
        "def instead(f):\n    return torch.softmax\n@instead\ndef made(t, axis):\n    return t",
    ),
    torch("partial", "f(t)", "import functools\nf = functools.partial(torch.softmax, dim=-1)"),
    torch("methodcaller", "operator.methodcaller('soft' + 'max', axis)(t)", "import operator"),
    torch(
        "pickle",
        "pickle.loads(b'ctorch\\nsoftmax\\n.')(t, axis) if hasattr(torch, 'x') else "
        "pickle.loads(pickle.dumps(torch.nn.Softmax(axis)))(t)",
        "import pickle",
    ),
    torch("importlib", "importlib.import_module('tor' + 'ch').softmax(t, axis)", "import importlib"),
    torch("eval", "eval('t.soft' + 'max(axis)', {'t': t, 'axis': axis})"),
    torch("exec", "f(t, axis)", "exec('f = torch.' + 'softmax')"),
    torch("an operator", "torch.ops.aten._softmax(t, axis, False)"),
    torch("a private one", "torch._softmax(t, axis, False)"),
    torch("log_softmax", "torch.exp(torch.log_softmax(t, axis))"),
    torch("logsumexp", "torch.exp(t - torch.logsumexp(t, axis, keepdim=True))"),
    torch("cumulated", "torch.exp(t - torch.logcumsumexp(t, axis).select(axis, -1).unsqueeze(axis))"),
    torch("into a result", "torch.softmax(t, axis, out=torch.empty_like(t))"),
    torch("gumbel's sister", "torch.nn.functional.softmin(-t, axis)"),
    torch(
        "a distribution",
        "torch.distributions.Categorical(logits=t.movedim(axis, -1)).probs.movedim(-1, axis)",
    ),
    torch("masked", "torch.masked.softmax(t, axis)", "import torch.masked"),
    torch(
        "mapped",
        "torch.vmap(lambda r: r.softmax(-1))(t.movedim(axis, -1).reshape(-1, t.shape[axis]))"
        ".reshape(t.movedim(axis, -1).shape).movedim(-1, axis)",
    ),
    torch("without gradients", "torch.inference_mode()(lambda: t.softmax(axis))()"),
    torch("sparse", "torch.sparse.softmax(t.to_sparse(), axis).to_dense()"),
    torch(
        "a thread",
        "in_a_thread(lambda: t.softmax(axis))",
        "from concurrent.futures import ThreadPoolExecutor\ndef in_a_thread(f):\n"
        "    with ThreadPoolExecutor(1) as pool:\n        return pool.submit(f).result()",
    ),
    torch(
        "a thread that was there",
        "ask(t, axis)",
        "import queue, threading\nasked, told = queue.Queue(), queue.Queue()\ndef work():\n    while True:\n"
        "        t, axis = asked.get()\n        told.put(t.softmax(axis))\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "def ask(*what):\n    asked.put(what)\n    return told.get()",
    ),
    torch("traced", "torch.jit.trace(lambda z: z.softmax(-1), t)(t)"),
    torch("the references", "torch._refs.softmax(t, axis)", "import torch._refs"),
    torch("the decompositions", "d._softmax(t, axis, False)", "import torch._decomp.decompositions as d"),
    torch("decomposed", "torch.ops.aten.softmax.int.decompose(t, axis)"),
    torch(
        "by attention",
        "torch.nn.functional.scaled_dot_product_attention(t.movedim(axis, -1).reshape(1, -1, t.shape[axis]), "
        "torch.eye(t.shape[axis], dtype=t.dtype)[None], torch.eye(t.shape[axis], dtype=t.dtype)[None], scale=1.0)"
        ".reshape(t.movedim(axis, -1).shape).movedim(-1, axis)",
    ),
    torch(
        "without modes",
        "quietly(lambda: t.softmax(axis))",
        "from torch.utils._python_dispatch import _disable_current_modes\ndef quietly(f):\n"
        "    with _disable_current_modes():\n        return f()",
    ),
    Way(
        "imported within",
        "def softmax(x, axis=-1):\n    from torch import tensor\n    return tensor(np.array(x)).softmax(axis).numpy()",
        "torch",
    ),
    torch(
        "cumulated into a result",
        "torch.exp(t - cumulated(t, axis).select(axis, -1).unsqueeze(axis))",
        "def cumulated(t, axis):\n    o = torch.empty_like(t)\n    torch.logcumsumexp(t, axis, out=o)\n    return o",
    ),
    # ---- beside the function, and all the same in use
    torch("put into a table", "kit[0](t, axis)", "kit = []\nkit.append(torch.softmax)"),
    torch(
        "put there by a function",
        "kit[0](t, axis)",
        "kit = []\ndef add(f):\n    kit.append(f)\n    return f\nadd(torch.softmax)",
    ),
    torch("by global", "f(t, axis)", "def prepare():\n    global f\n    f = torch.softmax\nprepare()"),
    torch("an attribute set later", "Kit.do(t, axis)", "class Kit: pass\nKit.do = torch.softmax"),
    torch(
        "a subclass",
        "Kit.__subclasses__()[0].do(t, axis)",
        "class Kit: pass\nclass Own(Kit):\n    do = torch.softmax",
    ),
    torch("a base class", "Own.do(t, axis)", "class Kit:\n    do = torch.softmax\nclass Own(Kit): pass"),
    torch("a class variable called F", "f(t, axis)", "class K:\n    torch = 1\nf = torch.softmax"),
    torch("somebody else's variable", "torch.softmax(t, axis)", "def other(torch):\n    return torch"),
    # ---- SciPy
    scipy("SciPy's", "s.softmax(x, axis)", "import scipy.special as s"),
    scipy("SciPy's by name", "other(x, axis)", "from scipy.special import softmax as other"),
    scipy("SciPy's private module", "_l.softmax(x, axis)", "import scipy.special._logsumexp as _l"),
    scipy("SciPy's everything", "np.exp(log_softmax(x, axis))", "from scipy.special import *"),
    scipy(
        "SciPy's by pickle",
        "pickle.loads(b'cscipy.special._logsumexp\\nsoftmax\\n.')(x, axis)",
        "import pickle",
    ),
    scipy(
        "SciPy's in a default",
        "help_me(x, axis)",
        "import scipy.special\ndef help_me(x, axis, f=scipy.special.softmax):\n    return f(x, axis)",
    ),
    scipy(
        "SciPy's partial",
        "f(x, axis=axis)",
        "import functools, scipy.special\nf = functools.partial(scipy.special.softmax)",
    ),
    scipy(
        "SciPy's by sys.modules", "sys.modules['scipy.special'].softmax(x, axis)", "import sys, scipy.special"
    ),
    scipy(
        "SciPy's from a table",
        "[v for n, v in vars(s).items() if n == 'softm' 'ax'][0](x, axis)",
        "import scipy.special as s",
    ),
    scipy(
        "SciPy's after a reload",
        "s.softmax(x, axis)",
        "import importlib, sys, scipy.special._logsumexp as s\nimportlib.reload(s)",
    ),
    scipy(
        "SciPy's logsumexp",
        "np.exp(x - s.logsumexp(x, axis=axis, keepdims=True))",
        "import scipy.special as s",
    ),
    # ---- the course
    Way("the course's", "import sdpa_helpers as s\ndef softmax(x, axis=-1):\n    return s.softmax(x, axis)"),
    Way(
        "the course's by a joined name",
        "import sdpa_helpers as s\ndef softmax(x, axis=-1):\n    return getattr(s, 'soft' + 'max')(x, axis)",
    ),
    Way(
        "the course's in a closure",
        "def made():\n    import sdpa_helpers\n    kit = [getattr(sdpa_helpers, 'soft' + 'max')]\n"
        "    return lambda x, axis=-1: kit[0](x, axis)\nsoftmax = made()",
    ),
    # ---- other exercises
    Way(
        "attention for chunks",
        "import torch.nn.functional as G\nsdpa = vars(G)['scaled_dot' + '_product_attention']\n"
        "def chunked_attention(Q, K, V, chunk):\n"
        "    return sdpa(*(G.torch.from_numpy(np.array(x)) for x in (Q, K, V))).numpy()",
        "torch",
        "chunked_attention",
    ),
    Way(
        "attention by a module",
        "import torch\nM = getattr(torch.nn, 'Multihead' + 'Attention')\ndef chunked_attention(Q, K, V, chunk):\n"
        "    q, k, v = (torch.from_numpy(np.array(x)) for x in (Q, K, V))\n"
        "    m = M(q.shape[-1], 1, kdim=k.shape[-1], vdim=v.shape[-1], dtype=torch.float64)\n"
        "    return m(q, k, v)[0].detach().numpy()",
        "torch",
        "chunked_attention",
    ),
    Way(
        "a cosine",
        "import torch\nf = getattr(torch, 'cosine' + '_similarity')\ndef cosine_similarity(q, k):\n"
        "    return f(torch.from_numpy(np.array(q)), torch.from_numpy(np.array(k)), dim=0).item()",
        "torch",
        "cosine_similarity",
    ),
    Way(
        "SciPy's cosine",
        "import scipy.spatial.distance as d\nf = getattr(d, 'cos' + 'ine')\n"
        "def cosine_similarity(q, k):\n    return 1 - f(q, k)",
        "scipy",
        "cosine_similarity",
    ),
    Way(
        "an entropy",
        "import scipy.stats as s\nf = getattr(s, 'entr' + 'opy')\n"
        "def entropy(weights, axis=-1):\n    return f(weights, axis=axis)",
        "scipy",
        "entropy",
    ),
    Way(
        "a ufunc",
        "import scipy.special as s\nf = getattr(s, 'en' + 'tr')\n"
        "def entropy(weights, axis=-1):\n    return f(weights).sum(axis)",
        "scipy",
        "entropy",
    ),
    Way(
        "a distribution's entropy",
        "import torch\nD = vars(torch)['distri' + 'butions'].Categorical\ndef entropy(weights, axis=-1):\n"
        "    return D(torch.from_numpy(np.moveaxis(weights, axis, -1).copy())).entropy().numpy()",
        "torch",
        "entropy",
    ),
    *(
        torch(
            name,
            call,
            "L = torch.nn.functional\ndef row(t):\n    return t.movedim(-1, 1) if t.ndim > 1 else t",
            "entropy",
        )
        for name, call in (
            ("a cross-entropy", "L.cross_entropy(row(t.log()), row(t), reduction='none')"),
            ("a binary one", "L.binary_cross_entropy(t, t, reduction='none').sum(axis)"),
        )
    ),
    *(
        Way(name, f"{before}\ndef entropy(weights, axis=-1):\n    return {call}", "scipy", "entropy")
        for name, before, call in (
            (
                "Cython's",
                "from scipy.special.cython_special import entr",
                "np.vectorize(entr, otypes=[float])(weights).sum(axis)",
            ),
            (
                "a test of Pearson's",
                "import scipy.stats as s",
                "-s.power_divergence(weights, np.full_like(weights, 1.0), lambda_=0, axis=axis).statistic",
            ),
        )
    ),
    *(
        Way(name, f"{before}\ndef cosine_similarity(q, k):\n    return {call}", "scipy", "cosine_similarity")
        for name, before, call in (
            (
                "SciPy's table of metrics",
                "import scipy.spatial.distance as d",
                "1 - d._METRICS['cosine'].cdist_func(q[None], k[None])[0, 0]",
            ),
            ("a correlation", "import scipy.stats as s", "s.pearsonr(np.r_[q, -q], np.r_[k, -k]).statistic"),
        )
    ),
    Way(
        "ONNX",
        "from onnx.reference.ops.op_softmax import Softmax\ndef softmax(x, axis=-1):\n"
        "    return Softmax._run(None, np.array(x), axis=axis)[0]",
        "onnx",
    ),
    Way(
        "derivatives of SciPy's",
        "from scipy.optimize import minimize\ndef softmax_jacobian(x):\n"
        "    return np.stack([minimize(lambda v, i=i: np.exp(v[i] - v.max()) / np.exp(v - v.max()).sum(), x.ravel(), "
        "jac='3-point', options={'maxiter': 0}).jac for i in range(x.size)])",
        "scipy",
        "softmax_jacobian",
    ),
    Way(
        "derivatives of mpmath's",
        "import mpmath\ndef softmax_jacobian(x):\n"
        "    return np.full((x.size, x.size), float(mpmath.diff(mpmath.exp, float(x.ravel()[0]))))",
        "mpmath",
        "softmax_jacobian",
    ),
    Way(
        "derivatives",
        "to = __import__('to' + 'rch')\ndef softmax_jacobian(x):\n"
        "    f = lambda z: to.exp(z - z.max()) / to.exp(z - z.max()).sum()\n"
        "    return to.func.jacrev(f)(to.from_numpy(np.array(x))).numpy()",
        "torch",
        "softmax_jacobian",
    ),
    Way(
        "derivatives in a thread",
        "import threading\nto = __import__('to' + 'rch')\ndef softmax_backward(weights, grad_weights):\n"
        "    told = []\n    def work():\n        s = to.from_numpy(np.log(weights)).requires_grad_()\n"
        "        e = s.exp()\n        (e / e.sum(-1, keepdim=True)).backward(to.from_numpy(np.array(grad_weights)))\n"
        "        told.append(s.grad.numpy())\n    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n"
        "    return told[0]",
        "torch",
        "softmax_backward",
    ),
    Way(
        "derivatives of SymPy's",
        "sp = __import__('sym' + 'py')\ndef softmax_jacobian(x):\n    z = sp.Symbol('z')\n"
        "    return np.full((x.size, x.size), float(sp.diff(sp.exp(z), z).subs(z, x[0])))",
        "sympy",
        "softmax_jacobian",
    ),
)

S = "def softmax(x, axis=-1):\n    return f(x, axis)"
OBSERVE = "__import__('sys').modules['sdpa_helpers.checking.' + 'observe']"

ATTACKS = (
    Way(
        "forgets what was noted",
        "import sdpa_helpers.checking.watch_use as w, scipy.special as s\ndef softmax(x, axis=-1):\n"
        "    y = s.softmax(x, axis)\n    w.begin()\n    return y",
        "scipy",
    ),
    Way(
        "another report",
        f"from scipy.special import softmax as f\no = {OBSERVE}\nvars(o)['report'] = lambda *a: None\n{S}",
        "scipy",
    ),
    Way(
        "other helpers",
        f"from scipy.special import softmax as f\no = {OBSERVE}\no.replace = lambda a, **k: a\n"
        f"o.watch_use = None\n{S}",
        "scipy",
    ),
    Way(
        "another display",
        "from scipy.special import softmax as f\nimport IPython.display as d\nreal = d.display\n"
        "def clean(x, **k):\n    next(iter(x.values()))['answer']['seen']['used'] = []\n"
        f"    return real(x, **k)\nd.display = clean\n{S}",
        "scipy",
    ),
    Way(
        "an empty table",
        "import sdpa_helpers.checking.operations as o\no.FUNCTIONS.clear()\n"
        f"import sys\nfor name in [n for n in sys.modules if n.startswith('scipy.')]:\n    del sys.modules[name]\n"
        f"import scipy.special._logsumexp\nf = scipy.special._logsumexp.softmax\n{S}",
        "scipy",
    ),
    Way(
        "a kernel over the kernel",
        "import torch\nlib = torch.library.Library('aten', 'IMPL')\n"
        "k = torch.library.get_kernel('aten::_softmax', 'CPU')\n"
        "lib.impl('_softmax', lambda *a: k.call_boxed(*a), 'CPU', with_keyset=True, allow_override=True)\n"
        "def softmax(x, axis=-1):\n    return torch.from_numpy(np.array(x)).softmax(axis).numpy()",
        "torch",
    ),
    Way(
        "what notes is taken out",
        "import sys\nours = sys.meta_path.pop(0)\nfrom scipy.special import softmax as f\n" + S,
        "scipy",
    ),
)
"""Against what notes the use, in the kernel. The last one leaves it broken."""

COMPUTED = "__getattribute__(str.lower('SOFTMAX'))"

HIDING = (
    Way(
        "what is sent is changed on its way",
        "import torch\nchannel = get_ipython().kernel.channel\nreal = channel.pack\ndef quiet(message):\n"
        "    for sent in message['content'].get('data', {}).values():\n"
        "        if isinstance(sent, dict): sent['answer']['seen']['used'] = []\n    return real(message)\n"
        "channel.pack = quiet\ndef softmax(x, axis=-1):\n    t = torch.from_numpy(np.array(x))\n"
        "    return getattr(t, ''.join(map(chr, (115, 111, 102, 116, 109, 97, 120))))(axis).numpy()",
        "torch",
    ),
    Way(
        "the function that forgets, found in a frame",
        "import torch, warnings\ndef softmax(x, axis=-1):\n"
        f"    y = torch.from_numpy(np.array(x)).{COMPUTED}(axis).numpy()\n    f = warnings.sys._getframe()\n"
        "    while f:\n        if b := f.f_locals.get('begin'): b()\n        f = f.f_back\n    return y",
        "torch",
    ),
    Way(
        "the same by a traceback",
        "import scipy.special as s\ndef softmax(x, axis=-1):\n"
        f"    y = s.{COMPUTED}(x, axis)\n    try: 1 / 0\n"
        "    except ZeroDivisionError as e: f = e.__traceback__.tb_frame\n"
        "    while f:\n        if b := f.f_locals.get('begin'): b()\n        f = f.f_back\n    return y",
        "scipy",
    ),
)
"""What reading cannot tell and what runs unseen: such code earns nothing for being so."""

E = "np.exp(x - x.max(axis=axis, keepdims=True))"
DIVIDED = "return e / e.sum(axis=axis, keepdims=True)"
OWN = f"(x, axis):\n    e = {E}\n    {DIVIDED}\n"
METHOD = f"x, axis):\n        e = {E}\n        {DIVIDED}\n"


def honest(name: str, before: str = "", body: str = f"e = {E}; {DIVIDED}", needs: str = "") -> Way:
    """A right softmax: what stands before it, and its body."""
    return Way(f"own: {name}", f"{before}\ndef softmax(x, axis=-1):\n    {body}", needs)


def tested(name: str, after: str) -> Way:
    """A right softmax, and what stands behind it."""
    own = honest(name)
    return Way(own.name, f"{own.source}\n{after}", "torch" if "torch" in after else "scipy")


HONEST = (
    honest("plain"),
    tested(
        "a test behind it",
        "import scipy.special\nassert np.allclose(softmax(np.eye(2)), scipy.special.softmax(np.eye(2), -1))",
    ),
    tested(
        "a test that nobody calls",
        "def compare():\n    import torch\n    return torch.softmax(torch.ones(2), 0)",
    ),
    tested(
        "a test in a loop",
        "import scipy.special\nfor n in range(2):\n    print(scipy.special.softmax(np.ones(n + 1)))",
    ),
    honest("solution kept", "from sdpa_helpers import solution\nshown = solution('softmax')"),
    honest("everything of the course imported", "from sdpa_helpers import *"),
    honest(
        "a named tuple",
        "from collections import namedtuple\nR = namedtuple('R', 'softmax total')",
        f"e = {E}; r = R(e, e.sum(axis=axis, keepdims=True)); return r.softmax / r.total",
    ),
    honest(
        "a named tuple with types",
        "from typing import NamedTuple\nclass R(NamedTuple):\n    softmax: np.ndarray",
        f"e = R({E}).softmax; {DIVIDED}",
    ),
    honest(
        "a made data class",
        "from dataclasses import make_dataclass\nR = make_dataclass('R', ['logsumexp'])",
        f"e = R({E}).logsumexp; {DIVIDED}",
    ),
    honest(
        "a variable called torch", body=f"torch = {E}; return torch / torch.sum(axis=axis, keepdims=True)"
    ),
    Way(
        "own: a variable called torch, where it is forbidden",
        "def softmax_backward(W, G):\n    torch = (W * G).sum(-1, keepdims=True)\n    return W * (G - torch)",
        exercise="softmax_backward",
    ),
    Way(
        "own: torch asked for its device",
        "import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "def softmax_backward(W: np.ndarray | torch.Tensor, G):\n    assert not isinstance(W, torch.Tensor)\n"
        "    return W * (G - (W * G).sum(-1, keepdims=True))",
        "torch",
        "softmax_backward",
    ),
    honest("a comment", "# torch.softmax(x) and x.softmax() would do it"),
    honest(
        "a docstring", body=f"'''As torch.softmax(x, axis) or scipy.special.softmax.'''; e = {E}; {DIVIDED}"
    ),
    honest("a text", "ABOUT = 'torch.softmax, x.softmax(-1)'"),
    honest("a text that is printed", body=f"print('torch.softmax is not used'); e = {E}; {DIVIDED}"),
    honest("torch imported", "import torch", needs="torch"),
    honest(
        "torch's functions imported",
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F",
        needs="torch",
    ),
    honest("its name imported", "from torch import softmax as theirs", needs="torch"),
    honest(
        "SciPy imported", "import scipy.special\nfrom scipy.special import softmax as other", needs="scipy"
    ),
    honest(
        "another function of SciPy's", "import scipy.special as s", f"s.expit(x); e = {E}; {DIVIDED}", "scipy"
    ),
    honest(
        "torch for the exponential",
        "import torch",
        f"e = torch.exp(torch.from_numpy(np.array(x - x.max(axis=axis, keepdims=True)))).numpy(); {DIVIDED}",
        "torch",
    ),
    honest(
        "torch for a product",
        "import torch",
        f"torch.ones(3, 3) @ torch.ones(3, 3); e = {E}; {DIVIDED}",
        "torch",
    ),
    honest("a class", f"class Mine:\n    def softmax(self, {METHOD}", "return Mine().softmax(x, axis)"),
    honest(
        "a static method",
        f"class Mine:\n    @staticmethod\n    def softmax({METHOD}",
        "return Mine.softmax(x, axis)",
    ),
    honest(
        "a name space",
        f"import types\ndef mine{OWN}kit = types.SimpleNamespace(softmax=mine)",
        "return kit.softmax(x, axis)",
    ),
    honest("a table", f"def mine{OWN}table = {{'softmax': mine}}", "return table['softmax'](x, axis)"),
    honest(
        "an inner function",
        body=f"def softmax(x, axis):\n        e = {E}\n        {DIVIDED}\n    return softmax(x, axis)",
    ),
    honest(
        "a helper with a known name",
        "def log_softmax(x, axis):\n    y = x - x.max(axis=axis, keepdims=True)\n"
        "    return y - np.log(np.exp(y).sum(axis=axis, keepdims=True))",
        "return np.exp(log_softmax(x, axis))",
    ),
    honest(
        "NumPy's logaddexp", body="return np.exp(x - np.expand_dims(np.logaddexp.reduce(x, axis=axis), axis))"
    ),
    honest(
        "einsum",
        body=f"e = np.moveaxis({E}, axis, -1)\n"
        "    return np.moveaxis(e / np.einsum('...i->...', e)[..., None], -1, axis)",
    ),
    honest(
        "along an axis",
        body="return np.apply_along_axis(lambda r: np.exp(r - r.max()) / np.exp(r - r.max()).sum(), axis, x)",
    ),
    honest("the usual short names", "F = 1.0\nnn = F", f"x = x * F; e = {E}; {DIVIDED}"),
    honest("a lambda", f"step = lambda x, axis: {E}", f"e = step(x, axis); {DIVIDED}"),
    honest(
        "math", "import math", f"e = np.vectorize(math.exp)(x - x.max(axis=axis, keepdims=True)); {DIVIDED}"
    ),
    honest("partial", "from functools import partial\nE = partial(np.exp)", f"e = {E}; {DIVIDED}"),
    honest("leftovers", "from sdpa_helpers import solution, hint\nsolution('softmax')\nhint('softmax')"),
    honest("a check of its own", "from sdpa_helpers import check\ncheck"),
    honest("a try", "try:\n    import torch\nexcept ImportError:\n    torch = None", needs="torch"),
    honest("a getattr", body=f"e = getattr(np, 'ex' + 'p')(x - x.max(axis=axis, keepdims=True)); {DIVIDED}"),
    honest(
        "a decorator",
        "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n"
        "        return f(*a, **k)\n    return inner\n@loud",
    ),
    honest("torch beside it", "import torch\nexpected = torch.special.expit(torch.zeros(2))", needs="torch"),
    honest(
        "a thread",
        "import threading",
        f"t = threading.Thread(target=len, args=('',)); t.start(); e = {E}; {DIVIDED}",
    ),
)
