"""What an answer may use, in words, and what reading it tells."""

import inspect
import time
from pathlib import Path

import pytest

from sdpa_helpers.checking.code.clues import clues
from sdpa_helpers.checking.code.own_definitions import own_definitions
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX
from sdpa_helpers.checking.pages.page import as_module
from sdpa_helpers.checking.pages.rules import in_words, not_allowed, not_there_in, ready_in
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of, find

MASK = find("causal_mask")
ANSWER = "def causal_mask(n_q, n_k):\n    return {}(n_q, n_k)"


@pytest.mark.parametrize(
    "source",
    [
        ANSWER.format("np.tri"),
        "import numpy\n" + ANSWER.format("numpy.tri"),
        "import numpy as jnp\n" + ANSWER.format("jnp.tri"),
        "from numpy import tri as triangle\n" + ANSWER.format("triangle"),
        "from numpy import *\n" + ANSWER.format("tri"),
        "%matplotlib inline\nt = np.tri\n" + ANSWER.format("t"),
        ANSWER.format("(lambda *n: np.tri(*n))"),
    ],
)
def test_what_numpy_has_ready_is_found_by_its_name(source):
    assert ready_in(MASK, source) == ("numpy.tri",)


@pytest.mark.parametrize(
    "source",
    [
        ANSWER.format("own.tri"),
        "tri = 3\n" + ANSWER.format("tri"),
        "np.tri?\n??np.tri\n# np.tri\nx = 'np.tri'\nfrom numpy import tri",
        "def broken(: np.tri",
        "x = " + "(" * 100_000,
    ],
)
def test_what_is_not_used_is_not_found(source):
    assert ready_in(MASK, source) == ()
    assert ready_in(find("sliding_window_mask"), ANSWER.format("np.tri")) == ()  # a step there


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ny = torch.softmax(x, -1)", "torch.softmax"),
        ("import torch.nn.functional as F\ny = F.softmax(x)", "torch.nn.functional.softmax"),
        ("import torch.nn.functional\ny = torch.nn.functional.softmax(x)", "torch.nn.functional.softmax"),
        ("from scipy.special import softmax as sm\ny = sm(x)", "scipy.special.softmax"),
        ("def f(x):\n    import torch\n    t = torch\n    return t.exp(x)", "torch.exp"),
        ("import sdpa_helpers as sdpa\ny = sdpa.causal_mask(3)", "sdpa_helpers.causal_mask"),
        ("import nunpy as np\ny = np.exp(x)", "nunpy.exp"),
        ("import torch\n@torch.no_grad()\ndef f(x): return x", "torch.no_grad"),
    ],
)
def test_what_is_not_there_is_named(source, found):
    assert found in not_there_in(source)
    answer, helper = "def f(x):\n    return g(x)", "def g(x):\n    " + source.replace("\n", "\n    ")
    assert found in not_there_in(answer, [helper])


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom torch import nn\nx = 1",
        "import torch\ndef f(x: torch.Tensor | None, *, y: torch.Tensor = 1) -> torch.Tensor:\n    z: torch.Tensor = x",
        "import torch\ny = x if isinstance(x, (torch.Tensor, list)) else 0",
        "import math, collections.abc\nfrom numpy.linalg import norm\ny = math.exp(norm(np.exp(x)))",
        "from sdpa_helpers import check, hint\ncheck(f)\nhint(f)",
        "def f(torch): return torch.exp(1)",
    ],
)
def test_an_import_and_an_annotation_use_nothing(source):
    assert not_there_in(source) == ()


def test_every_prompt_ends_with_what_is_there():
    assert in_words(find("softmax")) == "Write it in NumPy; nothing else is there when it's graded."
    assert in_words(find("attention_backward")) == (
        "Write it in NumPy and `sdpa_helpers.softmax`; nothing else is there when it's graded."
    )
    assert in_words(find("covariance_proof")) == "Nothing but NumPy is there when it's graded."
    assert in_words(MASK) == (
        "Write it in NumPy; nothing else is there when it's graded. "
        "`np.tri`, `np.tril` and `np.triu` would be the answer: do without. Using them costs no points, but a grader's "
        "report says so."
    )


def test_the_sentence_counts_what_was_right():
    says = "9 of 10 cases right, 0 points: `torch.softmax` isn't there when it's graded: write it in NumPy"
    assert not_allowed(9, 10, ["torch.softmax"]) == says
    says = "0 points: `a`, `b.c` and a library aren't there when it's graded: write it in NumPy"
    assert not_allowed(0, 1, ["a", "b.c", "a library"]) == says
    assert not_allowed(1, 1, ["a"]).startswith("1 of 1 case right, 0 points")


def test_no_lesson_mixes_exercises_that_allow_softmax_with_those_that_are_about_it():
    """A notebook's kernel has it, or has it not: where it is there, no other answer may have use for it."""
    allow = {e.name for e in all_exercises().values() if COURSE_SOFTMAX in e.allows}
    assert {"softmax_jacobian", "attention_backward", "chunked_attention", "try_scales"} <= allow
    for lesson in LESSONS:
        here = exercises_of(lesson)
        others = [e for e in here if e.name not in allow and not e.is_made]
        if len(others) < len([e for e in here if not e.is_made]):
            assert [e.name for e in others if "exp(" in inspect.getsource(e.reference)] == []


def test_no_answer_of_the_course_needs_more_than_numpy():
    """Nor does what NumPy has ready name anything that NumPy has not."""
    for exercise in all_exercises().values():
        path = Path(inspect.getfile(exercise.reference))
        file = as_module(path) if path.suffix == ".md" else path.read_text()
        assert [n for n in not_there_in(file) if not n.startswith("sdpa_helpers.")] == [], exercise.name
        assert all(ready_in(exercise, f"y = {name.replace('numpy', 'np')}") for name in exercise.ready)


def test_reading_is_linear_in_what_is_read():
    """Ten times the statements, as many as one answer may have, take ten times as long and not a hundred times."""

    def seconds(lines: int, line: str) -> float:
        text = f"import torch  # {time.perf_counter_ns()}\n"  # nothing of it was read before
        text += "def causal_mask(n_q, n_k):\n" + f"    {line}\n" * lines + f"{line}\n" * lines
        started = time.process_time()
        not_there_in(text, [text])
        ready_in(MASK, text)
        clues(text, "causal_mask")
        own_definitions([text], ())
        return time.process_time() - started

    for line in ("x = 1", "x = x.a.b.c", "x = torch"):
        small = min(seconds(300, line) for _ in range(3))
        assert seconds(3000, line) < 30 * small
