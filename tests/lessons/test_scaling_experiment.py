"""Lesson 10's experiment: a stack of models is the same as plain ones, and what is shipped says what it should."""

import json

import numpy as np
import pytest

from sdpa_helpers.attention import softmax

torch = pytest.importorskip("torch")

from sdpa_helpers.lessons.does_scaling_matter import arms, heads, training  # noqa: E402


def _by_hand(weights, scale, names, values, asked, normed):
    """One list, as the formula stands."""
    X = (weights["name"][names] + weights["value"][values]) / np.sqrt(2)
    Q, K, V = weights["question"][names[asked]] @ weights["W_q"], X @ weights["W_k"], X @ weights["W_v"]
    if normed:
        Q, K = (M / np.linalg.norm(M, axis=-1, keepdims=True) for M in (Q, K))
    return softmax(Q @ K.T * scale) @ V


@pytest.mark.parametrize("scale", arms.SCALES)
def test_a_stack_of_models_answers_as_the_plain_formula(scale):
    task, arm = arms.Task(names=7, values=3, pairs=5, asked=2, d_model=6), arms.Arm(9, scale, "SGD")
    weights = training.start(task, arm, seeds=(4, 5))
    lists = training.draw(task, [np.random.default_rng(seed) for seed in (0, 1)], lists=3)
    A = training.scaled_scores(arm, weights, lists).softmax(-1)
    out = training.logits(weights, A, lists).numpy()
    factor = np.broadcast_to(np.ravel(training.factor(arm, weights)), 2)
    for model, one in np.ndindex(2, 3):
        own = {key: W[model].numpy() for key, W in weights.items()}
        names, values, asked = (part[model, one].numpy() for part in lists)
        expected = _by_hand(own, factor[model], names, values, asked, scale == "QK-norm")
        np.testing.assert_allclose(out[model, one], expected, atol=1e-5)


def test_scores_start_with_the_spread_that_each_arm_promises():
    promised = {"1": 16.0, "1/√dₖ": 1.0, "1/dₖ": 1 / 16, "learned": 1.0, "smaller start": 1.0}
    lists = training.draw(arms.TASK, [np.random.default_rng(0)] * 8, lists=16)
    for scale, spread in promised.items():
        arm = arms.Arm(256, scale, "SGD")
        S = training.scaled_scores(arm, training.start(arms.TASK, arm, range(8)), lists)
        assert float(S.std()) == pytest.approx(spread, rel=0.15), scale


def test_shipped_heads_look_up_or_do_not():
    """What their sentences say is true of their numbers."""
    outputs = {}
    for head in json.loads(heads.FILE.read_text(encoding="utf-8"))["heads"]:
        Q, K, V = (np.array(head[part]) for part in ("queries", "keys", "values"))
        assert len(head["words"]) == len(Q) == len(K) == len(V)
        A = softmax(Q @ K.T * head["scale"])[head["query"]]
        person = head["words"][head["query"]].rstrip("?")
        (place,) = [i for i, word in enumerate(head["words"]) if word.startswith(f"{person} ")]
        drink = head["columns"].index(head["words"][place].split()[1])
        outputs[head["name"]] = (A.argmax() == place, A.max() > 0.9, int((A @ V).argmax()) == drink)
    assert outputs == {
        "looks up": (True, True, True),
        "before training": (False, False, False),
        "sure and wrong": (False, True, False),
    }
