"""What an answer uses, told by reading it: forbidden things by every name, and nothing that is the learner's own."""

import dataclasses

import pytest

from sdpa_helpers.checking.ready_made import AUTOGRAD, COURSE_SOFTMAX, READY_ATTENTION, READY_SOFTMAX
from sdpa_helpers.checking.rules import forbidden_in, in_words, not_allowed
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
        ("from scipy.special import *\ny = logsumexp(x)", "scipy.special.logsumexp"),
        ("import scipy\ny = scipy.special.log_softmax(x)", "scipy.special.log_softmax"),
        ("import torch\ny = torch.tensor(x).softmax(-1)", ".softmax()"),
        ("def softmax(x, axis=-1):\n    t = g(x)\n    return t.double().softmax(axis)", ".softmax()"),
        ("import torch\ny = getattr(torch.tensor(x), 'logsumexp')(-1)", ".logsumexp()"),
        ("import torch\ny = torch.Tensor.softmax(x, -1)", "torch.Tensor.softmax"),
        ("import sdpa_helpers as sdpa\ny = sdpa.softmax(x)", "sdpa_helpers.softmax"),
        ("import operator\ny = operator.methodcaller('softmax', -1)(t)", ".softmax()"),
        ("import torch\ny = vars(torch)['softmax'](x, -1) + torch.__dict__['softmax'](x, -1)", ".softmax()"),
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
    ],
)
def test_what_is_the_learners_own_is_not_found(source):
    assert forbidden_in(SOFTMAX, source) == ()


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


def test_what_cannot_be_counted_in_a_grader_is_not_counted_anywhere():
    assert not_allowed(0, 7, ["torch.softmax"]) == "0 points: torch.softmax isn't allowed here"
    assert (
        not_allowed(4, 4, ["sdpa_helpers.causal_mask"])
        == "0 points: sdpa_helpers.causal_mask isn't allowed here"
    )
    assert not_allowed(7, 7, [COURSE_SOFTMAX]).startswith(
        "7 of 7 cases right, 0 points: sdpa_helpers.softmax"
    )
