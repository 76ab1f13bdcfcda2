"""The key of an answer that nobody has named: the same in `check`, in every run and for every learner."""

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.diagnose import answer_key, try_out
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.sandbox.limits import Limits
from tests.handing_in import NAME, RIGHT

LIMITS = Limits(seconds=15, cell_seconds=2)
ODD = "def dot_product(q, k):\n    return sum(a * b for a, b in zip(q, k)) * 1.37 + 0.21"
SAME = """def dot_product(q, k):
    total = 0.21
    for i in range(len(q)):
        total += 1.37 * q[i] * k[i]
    return total"""
OTHER = ODD.replace("1.37", "1.38")


def as_checked(source):
    space = {}
    exec(source, space)
    return try_out(find("dot_product"), space["dot_product"]).unknown


@pytest.fixture
def key(hand_in):
    def graded(student, source, seed, **more):
        path = hand_in(student, **{**RIGHT, "dot_product": source})
        return (
            grade(Submission(student, NAME, path), Settings(seed, LIMITS, **more))
            .exercise("dot_product")
            .unknown
        )

    return graded


def test_the_key_of_an_answer_is_that_of_check_whatever_the_seed(key):
    first = key("ada", ODD, "one term")
    assert first == as_checked(ODD)
    assert len(first) == 12
    assert key("ben", SAME, "the next term") == first
    assert key("cleo", OTHER, "one term") != first
    assert key("dora", ODD, "one term", variants=10) == first


def test_an_answer_that_only_runs_on_hidden_inputs_keeps_the_key_of_its_run(key):
    first = float(truths(find("dot_product"), PUBLIC_SEED)[0].inputs[0][0])
    stops = f"import os\ndef dot_product(q, k):\n    if q[0] == {first}: os._exit(1)\n    return 7.125"
    mine = key("ada", stops, "a")
    assert mine
    assert mine not in (as_checked(ODD), key("ben", stops, "b"))


def test_noise_beside_large_numbers_is_no_difference():
    def of(*numbers):
        return answer_key([observe(lambda: np.array(numbers), ())])

    assert of(1.0, 1e-17) == of(1.0, -3e-17) == of(1.0, 0.0)
    assert of(1e-17) != of(3e-17)
    assert of(1.0, float("inf"), float("nan")) != of(1.0, float("-inf"), float("nan"))
    assert answer_key([Answer("other", "nothing")]) != answer_key([None])
