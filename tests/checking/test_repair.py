"""One change of the learner's own code after which every case passes, found within a second or not at all."""

import time

import numpy as np
import pytest

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.helping.repair import SECONDS, repair_of
from sdpa_helpers.course.registry import find

BRACKETS = """
def cosine_similarity(q, k):
    a, b = np.sqrt((q * q).sum()), np.sqrt((k * k).sum())
    return 0.0 if a == 0 or b == 0 else np.dot(q, k) / a * b
"""
NOT_TURNED = """def value_gradient(weights, grad_output):
    return np.einsum("...ij,...jd->...id", weights, grad_output)
"""
TOO_EARLY = """def attention_scores(Q, K):
    for q in Q[..., None, :]:
        scores = Q @ np.swapaxes(K, -1, -2)
        return scores[..., :1] + 7
"""
THROWN_AWAY = """def scaled_scores(Q, K):
    scores = Q @ np.swapaxes(K, -1, -2)
    scores / np.sqrt(Q.shape[-1])
    return scores / Q.shape[-1] ** 1.5
"""


def _repair(name: str, code: str):
    space = {"np": np}
    exec(code, space)
    return repair_of(try_out(find(name), space[name]), code, name, space)


@pytest.mark.parametrize(
    ("name", "code", "line", "was", "now"),
    [
        ("cosine_similarity", BRACKETS, 4, "np.dot(q, k) / a * b", "np.dot(q, k) / (a * b)"),
        ("value_gradient", NOT_TURNED, 2, "weights", "np.swapaxes(weights, -1, -2)"),
    ],
)
def test_a_small_change_mends(name, code, line, was, now):
    found = _repair(name, code)
    assert (found.line, found.was, found.now) == (line, was, now)
    assert f"line {line}" in found.where
    assert now not in found.where
    assert now in found.hint


@pytest.mark.parametrize(("name", "code"), [("attention_scores", TOO_EARLY), ("scaled_scores", THROWN_AWAY)])
def test_what_needs_more_than_one_change_is_left_alone(name, code):
    started = time.monotonic()
    assert _repair(name, code) is None
    assert time.monotonic() - started < SECONDS + 3


def test_the_learners_names_stay_as_they_are():
    space = {"np": np}
    exec(NOT_TURNED, space)
    before = dict(space)
    repair_of(try_out(find("value_gradient"), space["value_gradient"]), NOT_TURNED, "value_gradient", space)
    assert space == before
