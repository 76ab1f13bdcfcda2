"""What an answer uses, told by reading it: forbidden things by every name, and nothing that is the learner's own."""

import dataclasses
import re
import sys

import pytest

from sdpa_helpers.checking import operations, watch_use
from sdpa_helpers.checking.observe import Answer, observe, pack_answer, unpack_answer
from sdpa_helpers.checking.operations import KNOWN, UNDONE
from sdpa_helpers.checking.ready_made import AUTOGRAD, COURSE_SOFTMAX, READY_ATTENTION, READY_SOFTMAX
from sdpa_helpers.checking.rules import (
    dynamic_calls,
    forbidden_in,
    hidden_in,
    in_words,
    leftovers_in,
    not_allowed,
    ran_forbidden,
)
from sdpa_helpers.lessons.registry import all_exercises, find

SOFTMAX = find("softmax")
BACKWARD = find("attention_backward")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ny = torch.softmax(x, -1)", "torch.softmax"),
        ("import torch.nn.functional as G\ny = G.log_softmax(x, -1)", "torch.nn.functional.log_softmax"),
        ("import torch\nG = torch.nn.functional\nH = G\ny = H.softmax(x, -1)", "torch.nn.functional.softmax"),
        ("f = F.softmax\ny = f(x)", "torch.nn.functional.softmax"),
        ("from scipy.special import softmax as sm\ny = sm(x)", "scipy.special.softmax"),
        ("from scipy.special import *\ndef softmax(x):\n    return logsumexp(x)", "scipy.special.logsumexp"),
        ("from scipy.special import *", "scipy.special.softmax"),
        ("from scipy.special import softmax", "scipy.special.softmax"),
        ("import torch\nt, u = torch, 1\ny = t.softmax(x)", "torch.softmax"),
        ("import torch\nif (t := torch):\n    y = t.softmax(x)", "torch.softmax"),
        ("import torch\ndef f(x, t=torch):\n    return t.softmax(x)", "torch.softmax"),
        ("import torch\ndef f(x, *, t=torch):\n    return t.softmax(x)", "torch.softmax"),
        ("import torch\ny = [t.softmax(x) for t in [torch]]", "torch.softmax"),
        ("import torch\nwith contextlib.nullcontext(torch) as t:\n    y = t.softmax(x)", "torch.softmax"),
        ("import torch\nmatch torch:\n    case t:\n        y = t.softmax(x)", "torch.softmax"),
        ("import torch\nt = torch if x else None\ny = t.softmax(x)", "torch.softmax"),
        ("import torch\ny = globals()['to' + 'rch'].softmax(x)", "torch.softmax"),
        ("import sys, torch\ny = sys.modules['torch'].softmax(x)", "torch.softmax"),
        ("import torch\ny = getattr(torch, 'soft' + 'max')(x)", "torch.softmax"),
        ("import torch\ny = getattr(torch, ''.join(['soft', 'max']))(x)", "torch.softmax"),
        ("import importlib\ny = importlib.import_module('tor' 'ch').softmax(x)", "torch.softmax"),
        ("import torch\nclass Kit:\n    t = torch\ny = Kit.t.softmax(x)", ".softmax()"),
        ("import torch\n%time t = torch\ny = t.softmax(x)", "torch.softmax"),
        ("import torch\n@torch.softmax\ndef f(x):\n    return x", "torch.softmax"),
        ("import scipy\ny = scipy.special.log_softmax(x)", "scipy.special.log_softmax"),
        ("import torch\ny = torch.tensor(x).softmax(-1)", ".softmax()"),
        ("def softmax(x, axis=-1):\n    t = g(x)\n    return t.double().softmax(axis)", ".softmax()"),
        ("import torch\ny = getattr(torch.tensor(x), 'logsumexp')(-1)", ".logsumexp()"),
        ("import torch\ny = torch.Tensor.softmax(x, -1)", "torch.Tensor.softmax"),
        ("import sdpa_helpers as sdpa\ny = sdpa.softmax(x)", "sdpa_helpers.softmax"),
        ("import operator\ny = operator.methodcaller('softmax', -1)(t)", ".softmax()"),
        (
            "import torch\ny = vars(torch)['softmax'](x, -1) + torch.__dict__['softmax'](x, -1)",
            "torch.softmax",
        ),
        ("y = vars(thing())['softmax'](x)", ".softmax()"),
        ("y = __import__('scipy.special').special.logsumexp(x)", "scipy.special.logsumexp"),
    ],
)
def test_a_ready_made_softmax_is_found_by_every_name(source, found):
    assert forbidden_in(SOFTMAX, source) == (found,)


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum(axis)\n\n\ny = softmax(x)",
        "class Mine:\n    def softmax(self, x):\n        return np.exp(x)\n\n\ny = Mine().softmax(x)",
        "# torch.softmax would do it\ny = 'torch.softmax'",
        "import scipy.special\ny = scipy.special.expit(x)",
        "import torch\ny = torch.exp(torch.tensor(x)).numpy()",
        "from sdpa_helpers import check\ncheck(softmax)",
        "y = np.logaddexp.reduce(x)",
        "def broken(:",
        "import torch\nfrom torch import softmax as theirs\ndef softmax(x):\n    return x",
        "from types import SimpleNamespace\nkit = SimpleNamespace(softmax=f)\ny = kit.softmax(x)",
        "from sdpa_helpers import solution\nsolution(softmax)",
    ],
)
def test_what_is_the_learners_own_is_not_found(source):
    assert forbidden_in(SOFTMAX, source) == ()


def test_what_does_nothing_is_named_and_costs_nothing():
    source = (
        "import torch\nimport math\nfrom scipy.special import softmax as other\nimport sdpa_helpers as sdpa\n"
        "sdpa.solution(softmax)\nsolution('softmax')\nhint(softmax)\nimport torch.nn.functional as F\n"
        "def softmax(x):\n    return np.exp(x)"
    )
    assert forbidden_in(SOFTMAX, source) == ()
    assert sorted(leftovers_in(SOFTMAX, source)) == [
        "softmax: `from scipy.special import softmax as other` stands in the answer cell; nothing uses it",
        "softmax: `hint(softmax)` stands in the answer cell; it did nothing",
        "softmax: `sdpa.solution(softmax)` stands in the answer cell; it did nothing",
        "softmax: `solution('softmax')` stands in the answer cell; it did nothing",
    ]
    assert leftovers_in(BACKWARD, "import torch\nimport numpy as np") == [
        "attention_backward: `import torch` stands in the answer cell; nothing uses it"
    ]
    assert leftovers_in(SOFTMAX, "from torch import softmax") == []  # that is the answer


def test_what_is_made_of_a_solution_is_no_leftover():
    for source in ("s = solution(softmax)", "exec(solution(softmax).body)", "print(solution(softmax))"):
        assert forbidden_in(SOFTMAX, source) == ("sdpa_helpers.solution",)
        assert leftovers_in(SOFTMAX, source) == []


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("exec('f = torch.softmax')", ["exec"]),
        ("import torch\ny = getattr(torch, name)(x)", ["getattr"]),
        ("import torch\ny = getattr(torch, 'exp')(x)", []),
        ("import pickle\nf = pickle.loads(text)", ["pickle", "pickle.loads"]),
        ("np.exp = f", ["numpy.exp = …"]),
        (
            "import sdpa_helpers.checking.observe as o\no.observe = f",
            ["sdpa_helpers.checking.observe.observe = …"],
        ),
        ("from math import *\nexec('f = torch.softmax')", ["exec"]),
        ("f = theirs.__code__.co_consts", ["__code__"]),
        ("class Mine:\n    pass\nMine.exp = f\nmine = Mine()\nmine.exp = f", []),
        ("np.sum?\n?np.sum\nnp.tri??\n??np.tri\nif True:\n    np.exp?", []),
    ],
)
def test_what_cannot_be_told_by_reading_is_named(source, what):
    assert dynamic_calls(source) == what


JOINED = "with a name that is put together"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("y = getattr(t, name)(x)", [f"`getattr` {JOINED}"]),
        ("g = getattr\ny = g(t, 'shape')", [f"`getattr` {JOINED}"]),
        ("import operator\ny = operator.attrgetter(name)(t)", [f"`attrgetter` {JOINED}"]),
        ("from operator import methodcaller as m\ny = m(name, -1)(t)", [f"`methodcaller` {JOINED}"]),
        ("y = t.__getattribute__(name)(x)", [f"`__getattribute__` {JOINED}"]),
        ("y = globals()[name](x)", ["`globals()`"]),
        ("y = t.__dict__[name](x)", ["`__dict__`"]),
        ("import warnings\ny = warnings.sys.modules[name]", ["`sys.modules`"]),
        ("import torch\ny = __import__(name)", [f"`__import__` {JOINED}"]),
        ("import importlib\ny = importlib.import_module(name)", [f"`import_module` {JOINED}"]),
        ("eval(text)", ["`eval`"]),
        ("import numpy\nnumpy.exp = f", ["assigning to `numpy.exp`"]),
        ("setattr(np, 'exp', f)", ["`setattr`"]),
        ("import gc\ny = [gc][0]", ["`gc`"]),
        ("y = f.__code__", ["`__code__`"]),
        ("get_ipython().kernel.channel.pack = f", ["`get_ipython`"]),
        ("%run other.py\ny = 1", ["`%run`"]),
        ("def f(exec):\n    return exec(1)\nexec(text)", ["`exec`"]),
        ("%matplotlib inline\n%timeit f(x)\n%time f(x)\n%load_ext autoreload\n%precision 3", []),
        ("get_ipython().run_line_magic('matplotlib', 'inline')", []),
        ("t = %timeit -o -n 3 f(x)", []),
        ("x = (7\n    % 3)", []),
        ("import re, operator, functools, types\ny = re.compile('x'), operator.add, functools.reduce", []),
        ("y = getattr(x, 'shape'), hasattr(x, n), isinstance(x, type(y)), x.__class__, np.vectorize(f)", []),
        ("y = globals()['f'](x) if 'f' in globals() else vars()['g']", []),
        ("import importlib\nm = importlib.import_module('math')", []),
        ("class A:\n    def __init__(self, n):\n        setattr(self, n, 1)", []),
        ("def f(code, eval, gc):\n    vars = eval + 1\n    return code.x + vars + gc.y", []),
    ],
)
def test_what_hides_its_use_is_named_and_what_is_written_out_is_not(source, what):
    assert list(hidden_in(SOFTMAX, source)) == what
    assert hidden_in(find("dot_product"), source) == ()


def test_what_an_answer_takes_from_other_cells_counts_and_what_it_does_not_take_does_not():
    answer = "def softmax(x, axis=-1):\n    return help_me(x, axis)"
    assert hidden_in(SOFTMAX, answer, others=["def help_me(x, a):\n    return eval('x')"]) == ("`eval`",)
    assert hidden_in(SOFTMAX, answer, others=["def other(x, a):\n    return eval('x')"]) == ()


def test_a_variable_of_a_function_is_no_module():
    own = (
        "def softmax_backward(w, g):\n    torch = (w * g).sum(-1, keepdims=True)\n    return w * (g - torch)"
    )
    assert forbidden_in(find("softmax_backward"), own) == ()
    assert forbidden_in(find("softmax_backward"), f"{own} + y\ny = torch.ones(3)") == ("torch",)


OWN = "import torch, scipy.special\ndef softmax(x, axis=-1):\n    return own(x)\ndef own(x):\n    return kit(x)\n"


@pytest.mark.parametrize(
    "used",
    [
        "kit = torch.softmax",
        "def kit(x, f=torch.softmax):\n    return f(x)",
        "class kit:\n    do = torch.softmax",
        "class Base:\n    do = torch.softmax\nclass kit(Base): pass",
        "def wrap(f):\n    return torch.softmax\n@wrap\ndef kit(x): pass",
        "kit = {}\nkit['f'] = torch.softmax",
        "kit = []\ndef add(f):\n    kit.append(f)\nadd(torch.softmax)",
        "def prepare():\n    global kit\n    kit = torch.softmax\nprepare()",
        "try:\n    kit = torch.softmax\nexcept NameError: pass",
        "own.f = torch.softmax",
        "np.exp = torch.softmax",
        "exec('kit = f', {'f': torch.softmax})",
        "def other(torch): pass\nkit = torch.softmax",
        "softmax = torch.softmax",
    ],
)
def test_what_a_function_reaches_counts_wherever_it_stands_in_its_cell(used):
    assert forbidden_in(SOFTMAX, OWN + used) == ("torch.softmax",)
    helpers = ["import torch\n" + OWN.replace("def softmax", "def mine") + used]
    if "exec" not in used and "np.exp" not in used and "own.f" not in used and "softmax =" not in used:
        answer = "def softmax(x):\n    return mine(x)"
        assert forbidden_in(SOFTMAX, answer, others=helpers) == ("torch.softmax",)


@pytest.mark.parametrize(
    "unused",
    [
        "assert np.allclose(softmax(np.eye(2)), torch.softmax(torch.eye(2), -1))",
        "def compare():\n    return torch.softmax(torch.ones(2), 0)\nprint(compare())",
        "def kit(x):\n    return x\nfor n in range(2):\n    print(kit(n), scipy.special.softmax(np.ones(n)))",
        "STEP = 1e-3\ntorch.softmax(torch.ones(2) * STEP, 0)",
        "theirs = torch.softmax",
        "x = torch.softmax(torch.ones(2), 0)\nprint(x.softmax(-1))",
    ],
)
def test_a_test_beside_the_function_is_a_leftover(unused):
    assert forbidden_in(SOFTMAX, OWN + unused) == ()
    (text, *_) = leftovers_in(SOFTMAX, OWN + unused)
    assert text.endswith("stands in the answer cell; the answer does not use it")


def test_a_name_for_something_that_is_not_called_is_said_without_brackets():
    assert forbidden_in(SOFTMAX, "f = x.softmax") == (".softmax",)


def test_everything_imported_from_the_course_gives_what_the_course_offers():
    answer = "def softmax(x):\n    return np.exp(x)"
    assert forbidden_in(SOFTMAX, answer, others=["from sdpa_helpers import *"]) == ()
    assert forbidden_in(SOFTMAX, "from sdpa_helpers import *\n" + answer) == ()
    masked = "def masked_softmax(x):\n    return softmax(x)"
    found = forbidden_in(find("masked_softmax"), masked, others=["from sdpa_helpers import *"])
    assert found == ("sdpa_helpers.softmax",)


def test_names_that_go_in_circles_or_branch_out_cost_little():
    many = "\n".join(f"a{n + 1} = a{n}\na{n + 1} = a{n}" for n in range(60))
    assert forbidden_in(SOFTMAX, f"import torch\na0 = torch\n{many}\ny = a60.softmax(x)") == (
        "torch.softmax",
    )
    assert forbidden_in(SOFTMAX, "a = b\nb = a\ny = a.exp(x)") == ()


def test_names_are_followed_into_other_cells():
    answer = "def softmax(x, axis=-1):\n    return help_me(x, axis)"
    assert forbidden_in(
        SOFTMAX, answer, others=["import torch as t\ndef help_me(x, a):\n    return t.softmax(x, a)"]
    ) == ("torch.softmax",)
    assert forbidden_in(SOFTMAX, answer, others=["from torch import softmax as help_me"]) == (
        "torch.softmax",
    )
    unused = [
        "def help_me(x, a):\n    return x",
        "import torch\ndef other(x):\n    return torch.softmax(x, -1)",
    ]
    assert forbidden_in(SOFTMAX, answer, others=unused) == ()
    in_a_circle = ["def help_me(x, a):\n    return softmax(x, a)", "softmax = help_me\nhelp_me = softmax"]
    assert forbidden_in(SOFTMAX, answer, others=in_a_circle) == ()


def test_the_first_of_the_other_cells_says_what_a_name_is():
    own = "def softmax(x):\n    return np.exp(x)"
    answer = "def log_softmax(x, axis=-1):\n    return np.log(softmax(x))"
    assert forbidden_in(find("log_softmax"), answer, others=[own, "from torch import softmax"]) == ()


def test_a_local_name_is_no_module():
    answer = "def softmax_backward(weights, F):\n    nn = weights * F\n    return nn - weights * nn.sum(-1) + F.size"
    assert forbidden_in(find("softmax_backward"), answer) == ()
    assert forbidden_in(find("softmax_backward"), "y = F.relu(x)") == ("torch.nn.functional",)
    assert forbidden_in(find("softmax_backward"), "import torch\ny = torch.nn.functional.relu(x)") == (
        "torch",
    )


def test_what_names_mean_outside_of_the_answer():
    scipy = pytest.importorskip("scipy.special")
    given = {"sm": scipy.softmax, "special": scipy, "own": lambda x: x}
    assert forbidden_in(SOFTMAX, "y = sm(x)", given) == ("scipy.special.softmax",)
    assert forbidden_in(SOFTMAX, "y = special.softmax(own(x))", given) == ("scipy.special.softmax",)


def test_the_courses_softmax_is_a_step_in_some_exercises_and_the_subject_of_others():
    source = (
        "import sdpa_helpers as sdpa\ny = sdpa.softmax(x)\nz = sdpa.scaled_dot_product_attention(x, x, x)"
    )
    assert forbidden_in(BACKWARD, source) == ("sdpa_helpers.scaled_dot_product_attention",)
    allow = [e.name for e in all_exercises().values() if COURSE_SOFTMAX in e.allows]
    assert {"softmax_jacobian", "attention_backward", "chunked_attention", "try_scales"} <= set(allow)
    assert not {"softmax", "log_softmax", "masked_softmax", "attention"} & set(allow)


def test_what_groups_forbid_can_be_noted_and_said():
    groups = {group for e in all_exercises().values() for group in e.forbids}
    forbidden = {name for group in groups for name in group.operations}
    assert forbidden <= KNOWN
    assert all(operations.in_words(name).endswith("(seen while it ran)") for name in forbidden)
    assert ran_forbidden(SOFTMAX, ["aten::mm", "aten::exp", "scipy.special.entr"]) == ()
    assert ran_forbidden(BACKWARD, ["aten::mm", "aten::exp"]) == ("PyTorch (seen while it ran)",)
    assert ran_forbidden(BACKWARD, ["sdpa_helpers.softmax"]) == ()
    assert ran_forbidden(SOFTMAX, [UNDONE]) == ("taking out what notes the use of ready-made functions",)


def test_what_was_noted_is_read_strictly():
    answer = Answer("none", used=("aten::_softmax", "scipy.special.softmax"))
    assert unpack_answer(pack_answer(answer)) == answer
    for used in ("aten::_softmax", ["no such thing"], [7], ["aten::mm"] * 1000, None):
        packed = pack_answer(answer)
        packed["seen"]["used"] = used
        with pytest.raises(ValueError, match="used"):
            unpack_answer(packed)


def test_nothing_is_noted_where_nobody_watches():
    torch = pytest.importorskip("torch")
    before = list(sys.meta_path)
    for _ in range(2):
        with watch_use.watching():
            assert observe(lambda x: torch.zeros(2).softmax(-1).numpy(), (1,)).used == ("aten::_softmax",)
            assert observe(lambda x: x, (1,)).used == ()
        assert observe(lambda x: torch.zeros(2).softmax(-1).numpy(), (1,)).used == ()
    assert sys.meta_path == before


def test_every_prompt_ends_with_what_is_allowed():
    assert in_words(SOFTMAX) == (
        "Allowed: NumPy and what you write yourself. Not allowed: a ready-made softmax (PyTorch's, SciPy's, the "
        "course's) and a ready-made attention."
    )
    assert in_words(find("dot_product")) == "Allowed: NumPy and what you write yourself."
    assert in_words(BACKWARD).startswith(
        "Allowed: NumPy, `sdpa_helpers.softmax` and what you write yourself. Not"
    )
    three = dataclasses.replace(SOFTMAX, forbids=(READY_SOFTMAX, READY_ATTENTION, AUTOGRAD))
    assert f"{READY_SOFTMAX.says}, {READY_ATTENTION.says} and {AUTOGRAD.says}." in in_words(three)


def test_the_sentence_counts_what_was_right():
    assert (
        not_allowed(10, 10, ["torch.softmax"])
        == "10 of 10 cases right, 0 points: torch.softmax isn't allowed here"
    )
    assert not_allowed(1, 1, ["a", "b", "c"]) == "1 of 1 case right, 0 points: a, b and c aren't allowed here"


def test_the_sentence_says_what_to_do_where_code_hides_its_use():
    says = f"10 of 10 cases right, 0 points: `getattr` {JOINED} here can't be read: write the name out"
    assert not_allowed(10, 10, [f"`getattr` {JOINED}"]) == says
    says = "2 of 2 cases right, 0 points: `eval` and assigning to `math.exp` here can't be read: write the steps out"
    assert not_allowed(2, 2, ["`eval`", "assigning to `math.exp`"]) == says


def test_what_cannot_be_counted_in_a_grader_is_not_counted_anywhere():
    assert not_allowed(0, 7, ["torch.softmax"]) == "0 points: torch.softmax isn't allowed here"
    assert (
        not_allowed(4, 4, ["sdpa_helpers.causal_mask"])
        == "0 points: sdpa_helpers.causal_mask isn't allowed here"
    )
    assert not_allowed(7, 7, [COURSE_SOFTMAX]).startswith(
        "7 of 7 cases right, 0 points: sdpa_helpers.softmax"
    )


def test_every_variant_of_pytorchs_operators_is_watched():
    torch = pytest.importorskip("torch")
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    about = re.compile("softmax|logsumexp|logcumsumexp|attention|entr(?!y)|cross_entropy")
    found = {
        name
        for name in torch._C._dispatch_get_all_op_names()
        if about.search(name) and "backward" not in name
    }
    found -= {"aten::softmax.int_out", "aten::log_softmax.int_out"}  # they call the others
    keys = ("CPU", "SparseCPU", "CompositeExplicitAutograd")
    work = {
        name
        for name in found
        if name.startswith("aten::")
        and any(has(name, key) for key in keys)
        and any(has(name.partition(".")[0], key) for key in keys)
    }
    watched = {
        f"{name}.{overload}" if overload else name
        for name in operations.OF_TORCH
        for overload in operations.OVERLOADS.get(name, ("",))
    }
    assert len(work) > 20
    assert work <= watched
