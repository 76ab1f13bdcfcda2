"""What docs/grading.md says a determined learner can still do. Where one of these fails, a sentence there can go."""

import pytest

from sdpa_helpers.checking.pages.rules import ready_in
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.sandbox import start
from sdpa_helpers.sandbox.limits import Limits
from tests.handing_in import NAME, RIGHT, TOTAL
from tests.sandbox.conftest import usable

__all__ = ["usable"]

WRITES = """
SPARE = b"a" * 9
class Anywhere:
    __array_interface__ = {"data": (id(SPARE) + 32, False), "shape": (1,), "typestr": "|u1", "version": 3}
def dot_product(q, k):
    np.asarray(Anywhere())[0] = 98
    assert SPARE[:2] == b"ba"
    return (q * k).sum()
"""
READS = f"""
def dot_product(q, k):
    with open({str(course_root() / "sdpa_helpers/attention/numpy_formula.py")!r}) as file:
        assert "softmax" in file.read()
    return (q * k).sum()
"""


@pytest.mark.parametrize(("level", "source"), [("warm", WRITES), ("off", READS)], ids=["writes", "reads"])
def test_it_earns_all_and_nothing_notices(hand_in, usable, level, source):
    path = hand_in("mallory", **{**RIGHT, "dot_product": source})
    level = level if level == "off" else usable(level)
    result = grade(Submission("mallory", NAME, path), Settings("s", Limits(seconds=15), sandbox=level))
    assert (result.points, result.flags) == (TOTAL, ())
    start.end(level)


def test_a_name_put_together_from_pieces_is_not_read_as_what_numpy_has_ready():
    source = "def causal_mask(n_q, n_k):\n    return getattr({}, 't' + 'ri')(n_q, n_k, dtype=bool)"
    assert ready_in(find("causal_mask"), source.format("np")) == ("numpy",)
    assert ready_in(find("causal_mask"), "import sys\n" + source.format("sys.modules['num' + 'py']")) == ()
