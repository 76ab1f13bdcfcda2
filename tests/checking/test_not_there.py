"""What isn't there: named it costs nothing, used it is refused; in a kernel for good, in `check` for a while."""

import builtins
import copy
import functools
import inspect
import json
import subprocess
import sys
import types
import typing
from typing import Any

import numpy as np
import pytest

from sdpa_helpers.checking.answers.not_there import NotThere, in_words, is_placeholder, name_in, placeholder
from sdpa_helpers.checking.answers.taken_away import space_of, taken_away
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX
from sdpa_helpers.course import session
from sdpa_helpers.course.registry import find

HARMLESS = [
    "np.ones(2) if isinstance(1, (torch.Tensor, torch.nn.Module)) else 1",
    "isinstance(None, torch.Tensor | None) and isinstance(np.ones(2), np.ndarray | torch.Tensor)",
    "not isinstance(1, torch.Tensor | F.Kind)",
    "type(1) != torch.Tensor and torch.Tensor == torch.Tensor.__class__ or hash(torch) or 1",
    "not torch and not (torch.cuda and torch.cuda.is_available)",
    "torch.Tensor['n d'] | None",
    "torch.Tensor | list[int], list[int] | torch.Tensor, torch.Tensor | typing.Any, typing.Optional[torch.Tensor]",
    "torch.Tensor | typing.Optional[int] | int | None, dict[str, torch.Tensor], list[torch.Tensor | int]",
    "f'{torch.nn} {torch!r} {torch.__version__}'",
    "repr(copy.deepcopy(copy.copy(torch)).nn)",
    "inspect.unwrap(torch), inspect.isclass(torch), inspect.getdoc(torch), dir(torch)",
    "issubclass(int, torch.Tensor) or 1",
]
WRITTEN = r"""
torch() ;; torch.softmax(1) ;; [*torch] ;; torch + 1 ;; 1 + torch ;; a + torch ;; torch + a
a @ torch ;; -torch ;; torch < 1 ;; a < torch ;; len(torch) ;; 1 in torch ;; float(torch)
range(torch) ;; abs(torch) ;; torch['x']() ;; next(torch) ;; reversed(torch) ;; round(torch)
open(torch) ;; sum([torch]) ;; [1] * torch ;; np.asarray(torch) ;; np.array([torch])
np.add(a, torch) ;; np.exp(torch) ;; np.dot(a, torch) ;; a[torch] ;; np.sum(torch)
np.stack([torch, torch]) ;; a.sum(axis=torch) ;; torch | 1 ;; 1 | torch ;; a | torch ;; a[torch.x]
max(torch, 1) ;; pickle.loads(b'ctorch\nexp\n(tR.') ;; np.vectorize(F)(1)
"""
USED = [one for line in WRITTEN.split("\n")[1:-1] for one in line.split(" ;; ")]
STATEMENTS = [
    "class A(torch.nn.Module): pass",
    "with torch.no_grad(): pass",
    "with torch.inference_mode: pass",
    "@torch.compile\ndef f(): pass",
    "for x in torch.arange: pass",
    "a, b = torch",
    "torch['x'] = 1",
    "x = 1\nx += torch.one",
    "async def f():\n    await torch.x\nf().send(None)",
    "async def f():\n    async with torch.x: pass\nf().send(None)",
]


def named(**more: Any) -> dict[str, Any]:
    """What names mean where PyTorch is not there."""
    torch = placeholder("torch")
    import pickle

    seen = {"copy": copy, "inspect": inspect, "typing": typing, "np": np, "pickle": pickle, "a": np.ones(3)}
    return {**seen, "torch": torch, "F": torch.nn.functional, **more}


@pytest.mark.parametrize("expression", HARMLESS)
def test_it_can_be_named(expression):
    assert eval(expression, named())


@pytest.mark.parametrize("code", [*(u for u in USED if "pickle" not in u), *STATEMENTS])
def test_whatever_uses_it_raises(code):
    with pytest.raises(NotThere, match=r"^`torch[\w.]*` isn't there when your answer is graded"):
        exec(code, named())


def test_the_error_names_what_was_used():
    with pytest.raises(ImportError) as raised:
        placeholder("torch").nn.functional.softmax(1)
    assert raised.value.name == name_in(str(raised.value)) == "torch.nn.functional.softmax"
    assert (name_in("something else"), name_in(in_words("a.b"))) == ("", "a.b")


IN_A_KERNEL = """
import importlib, json, sys
sys.path.insert(0, {course!r})
import numpy as np, pickle
from sdpa_helpers.checking.answers import not_there
not_there.keep(frozenset({{"numpy"}}))
del sys.modules["sdpa_helpers.checking.answers"]
told = {{}}
def tried(code):
    try:
        exec(code, {{"__name__": "__main__", "np": np, "a": np.ones(3), "pickle": pickle}})
        return ""
    except BaseException as error:
        return f"{{type(error).__name__}}: {{error}}"
print(json.dumps([tried(code) for code in json.loads(sys.argv[1])]))
"""


def in_a_kernel(course, codes: list[str]) -> list[str]:
    """What each comes to in a new process that keeps to what is there; "" where it runs."""
    command = [sys.executable, "-c", IN_A_KERNEL.format(course=str(course)), json.dumps(codes)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout)


def test_a_kernel_has_placeholders_for_what_is_not_there_and_all_else_as_it_is(course):
    fine = [
        "import torch",
        "import torch.nn.functional as F, scipy.special, a_module_of_mine as b\nassert not F and not b",
        "from torch import nn, softmax\nfrom torch import *\nassert not nn",
        "import torch\ndef f(x: torch.Tensor | None) -> list[torch.Tensor]: return x",
        "import importlib\nassert not importlib.import_module('jax.numpy')",
        "import math, json, numpy.linalg, xml.dom.minidom\nassert math.sqrt(4) == 2",
        "import sdpa_helpers.checking.answers.where\n"
        "import sdpa_helpers.no_such_file\nassert not sdpa_helpers.no_such_file",
        "import matplotlib.pyplot as plt\nplt.style",
    ]
    assert in_a_kernel(course, fine) == [""] * len(fine)
    refused = {
        "import nunpy\nnunpy.exp(1)": "NotThere: `nunpy.exp` isn't there when your answer is graded",
        "from torch.nn.functional import softmax as s\ns(1)": "NotThere: `torch.nn.functional.softmax` isn't there",
        "import importlib\nimportlib.import_module('scipy.special').softmax(1)": "NotThere: `scipy.special.softmax`",
        "__import__('jax').numpy.exp(1)": "NotThere: `jax.numpy.exp`",
        "pickle.loads(b'ctorch\\nexp\\n(tR.')": "NotThere: `torch.exp`",
        "import sys, torch\nsys.modules['torch'].exp(1)": "NotThere: `torch.exp`",
        "import sdpa_helpers.attention_of_ours as f\nf(1)": "NotThere: `sdpa_helpers.attention_of_ours`",
        "import math.torch": "ModuleNotFoundError: No module named 'math.torch'",
        "import numpy.no_such_module": "ModuleNotFoundError: No module named 'numpy.no_such_module'",
        "import runpy\nrunpy.run_module('torch')": "ImportError: ",
    }
    for said, wanted in zip(in_a_kernel(course, list(refused)), refused.values(), strict=True):
        assert said.startswith(wanted)


# ---- for a while ------------------------------------------------------------------------------------------

LIBRARY = pytest.importorskip("scipy.special")


def written(code: str) -> dict[str, Any]:
    """The names of a notebook in which this ran."""
    space: dict[str, Any] = {"__name__": "__main__", "np": np, "special": LIBRARY}
    exec("import scipy.special, functools\nfrom scipy.special import expit, softmax\n" + code, space)
    return space


TAKEN = {
    "def f(x): return special.softmax(x)": "scipy.special.softmax",
    "def f(x): return scipy.special.softmax(x)": "scipy.special.softmax",
    "def f(x): return softmax(x)": "scipy.special.softmax",
    "def f(x): return expit(x)": "scipy.special.expit",
    "def f(x):\n    import scipy.special as s\n    return s.softmax(x)": "scipy.special.softmax",
    "def f(x):\n    from scipy import special as s\n    return s.softmax(x)": "scipy.special.softmax",
    "def f(x): return exec('import scipy.special as s; s.softmax(1)', {})": "scipy.special.softmax",
    "t = {'a': [expit]}\ndef f(x): return t['a'][0](x)": "scipy.special.expit",
    "def f(x, g=softmax): return g(x)": "scipy.special.softmax",
    "def f(x, *, g=softmax): return g(x)": "scipy.special.softmax",
    "def make(g):\n    def f(x): return g(x)\n    return f\nf = make(softmax)": "scipy.special.softmax",
    "class K:\n    do = staticmethod(softmax)\n    def __call__(self, x): return self.do(x)\nf = K()": (
        "scipy.special.softmax"
    ),
    "class K:\n    def __init__(self): self.do = softmax\n    def g(self, x): return self.do(x)\nf = K().g": (
        "scipy.special.softmax"
    ),
    "@functools.lru_cache\ndef g(x): return softmax(x)\ndef f(x): return g(x)": "scipy.special.softmax",
    "def g(x): return softmax(x)\ng.own = softmax\ndef f(x): return g.own(x)": "scipy.special.softmax",
    "f = functools.partial(softmax, axis=-1)": "scipy.special.softmax",
    "def g(h, x): return h(x)\nf = functools.partial(g, softmax)": "scipy.special.softmax",
    "f = softmax": "scipy.special.softmax",
    "f = np.vectorize(expit)": "scipy.special.expit",
    "import sdpa_helpers as sdpa\ndef f(x): return sdpa.causal_mask(3)": "sdpa_helpers.causal_mask",
    "from sdpa_helpers import softmax as s\ndef f(x): return s(np.ones(3))": "sdpa_helpers.softmax",
    "def f(x):\n    from sdpa_helpers.course import mine\n    return mine.yours(x)": "sdpa_helpers.course.mine.yours",
    "from sdpa_helpers import scaled_dot_product_attention as f": "sdpa_helpers.scaled_dot_product_attention",
}


@pytest.mark.parametrize(("code", "name"), TAKEN.items())
def test_an_answer_is_tried_without_it_and_all_is_put_back(code, name):
    space = written(code)
    before, imports = dict(space), builtins.__import__
    with taken_away(space["f"], space, ()) as function, pytest.raises(NotThere) as raised:
        function(1.0)
    assert raised.value.name == name
    assert builtins.__import__ is imports
    assert all(space[each] is value for each, value in before.items())
    assert LIBRARY.softmax(np.zeros(2)).tolist() == [0.5, 0.5]
    assert not is_placeholder(getattr(space["f"], "__defaults__", None))


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return np.logaddexp.reduce([x])",
        "def f(x: scipy.special, y=None) -> expit: return x if not isinstance(x, scipy.Tensor) else softmax(x)",
        "def f(x):\n    try:\n        return softmax(x)\n    except Exception:\n        return x",
        "from numpy import exp\nimport math\ndef f(x): return exp(math.log(x))",
        "import sdpa_helpers as sdpa\ndef f(x): return sdpa.softmax(np.ones(1))[0]",
        "def f(x):\n    from sdpa_helpers import softmax\n    return softmax(np.ones(1))[0]",
        "def plot(): return scipy.special.expit(1)\ndef f(x): return x",
    ],
)
def test_what_does_without_it_is_right(code):
    space = written(code)
    with taken_away(space["f"], space, (COURSE_SOFTMAX,)) as function:
        assert function(1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("also_known_as", ["__mp_main__", "a"])
def test_what_is_allowed_stays_whoever_else_has_it_by_a_shorter_name(also_known_as, monkeypatch):
    space = written("from sdpa_helpers import softmax as s\ndef f(x): return s(np.ones(1))[0]")
    other = types.ModuleType(also_known_as)  # as multiprocessing names a program's main module
    other.softmax = space["s"]
    monkeypatch.setitem(sys.modules, also_known_as, other)
    with taken_away(space["f"], space, (COURSE_SOFTMAX,)) as function:
        assert function(1.0) == 1.0


def test_code_of_others_goes_on_as_always():
    space = written("def f(x): return x()")
    from tests.checking import a_library

    with taken_away(space["f"], space, ()) as function:
        assert function(a_library.imports_late) == 0.5


def test_what_the_answer_itself_puts_there_stays():
    space = written("def f(x):\n    global softmax, new\n    softmax, new = 3, 4")
    with taken_away(space["f"], space, ()) as function:
        function(1)
    assert (space["softmax"], space["new"]) == (3, 4)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_it_is_put_back_whatever_happens_and_one_may_stand_in_another(stop):
    space, imports = written("def f(x, g=expit): return g(x)"), builtins.__import__
    before = dict(space)

    def interrupted() -> None:
        with taken_away(space["f"], space, ()) as outer, taken_away(outer, space, ()):
            assert is_placeholder(space["softmax"])
            raise stop

    with pytest.raises(stop):
        interrupted()
    assert (space, builtins.__import__) == (before, imports)
    assert space["f"](0.0) == 0.5


def test_an_endless_loop_puts_it_back_too(monkeypatch):
    endless = functools.partial(session.observe_all, seconds=0.2)
    monkeypatch.setattr(session, "observe_all", endless)
    space = written("def dot_product(q, k):\n    while softmax is not None: pass")
    report = session.report_on(find("dot_product"), space["dot_product"], None)
    assert "stopped" in report.text()
    assert space["softmax"] is LIBRARY.softmax


def test_the_space_of_what_is_called_is_that_of_who_wrote_it():
    space = written("def f(x): pass\ng = functools.lru_cache(f)\nh = functools.partial(g, 1)")
    assert all(space_of(space[name]) is space for name in "fgh")
    assert space_of(NotThere) is not space_of(space["f"])


def test_the_verdict_says_what_is_not_there():
    space = written(
        "def softmax(x, axis=-1):\n    if x.ndim > 1:\n        return scipy.special.softmax(x, axis)\n"
        "    e = np.exp(x - x.max())\n    return e / e.sum()"
    )
    report = session.report_on(find("softmax"), space["softmax"], None)
    says = "1 of 12 cases right, 0 points: `scipy.special.softmax` isn't there when it's graded: write it in NumPy"
    assert report.text().split("\n")[0] == f"softmax: {says}"
    assert (report.passed, report.points, report.forbidden) == (False, 0.0, ("scipy.special.softmax",))
    assert {case.diagnosis for case in report.cases} == {"forbidden-call"}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import torch\nf = functools.partial(torch.softmax, dim=-1)", "torch.softmax"),
        ("import torch\n@torch.no_grad()\ndef f(x): return x", "torch.utils"),
        (
            "import torch\nclass M(torch.nn.Module):\n    def forward(self, x): return x\nf = M()",
            "torch.nn.Module",
        ),
        ("import torch\nW = torch.ones(2)\ndef f(x): return W * x", "torch.Tensor"),
        ("import torch\nd = torch.ones(2).softmax\ndef f(x): return d(-1)", "torch.Tensor"),
        ("import numba\n@numba.njit\ndef f(x): return x", "numba.core.registry.CPUDispatcher"),
    ],
)
def test_what_a_library_has_made_is_refused_by_its_name(code, name):
    pytest.importorskip(name.partition(".")[0])
    space = written(code)
    with taken_away(space["f"], space, ()) as function, pytest.raises(NotThere) as raised:
        function(1.0)
    assert raised.value.name == name
    if name == "torch.Tensor":
        assert space.get("W", np.ones(2)).sum() == 2
