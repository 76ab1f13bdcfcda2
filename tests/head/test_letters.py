"""The head that says the next letter: without a mask it looks at the answer, with the right one it has to guess."""

import time

import numpy as np

from sdpa_helpers import causal_mask, softmax, walk_through
from sdpa_helpers.head.letters import LETTERS, NAME, TEXTS, draw, project, shares
from sdpa_helpers.head.stages import Stages
from sdpa_helpers.lessons import all_exercises


def ran(**functions):
    return walk_through(head=NAME, **functions)


def test_without_a_mask_it_is_nearly_always_right_until_it_has_to_write():
    there, writing = shares(Stages())
    assert there > 0.98
    assert writing < 0.75
    assert ran().answer == "t"
    assert "It cheats" in ran().text()


def test_with_the_right_mask_it_is_as_good_as_when_it_writes():
    run = ran(mask=causal_mask)
    assert run.passed
    assert run.rows["yours"] == run.rows["our mask"]
    assert 0.7 < run.there == run.writing < 0.75
    assert "Honest" in run.html()


def test_wrong_masks_fail_in_it_but_those_that_are_right_for_squares():
    for wrong in all_exercises()["causal_mask"].wrong:
        made = np.asarray(wrong.function(5, 5))
        right = made.dtype == bool and np.array_equal(made, causal_mask(5))
        assert ran(mask=wrong.function).passed == right, wrong.name


def test_a_mask_that_hides_too_much_does_not_cheat_and_is_told():
    run = ran(mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool) & ~np.tri(n_q, n_k, -2, dtype=bool))
    assert run.there == run.writing < 0.5
    assert "something of the past is hidden" in run.text()


def test_what_is_said_of_a_mask_is_true_of_the_function():
    def made(scale, after=False):
        def attention(Q, K, V, mask):
            scores = Q @ K.T * scale(*Q.shape)
            return (softmax(scores) * mask if after else softmax(np.where(mask, scores, -np.inf))) @ V

        return ran(attention=attention, mask=causal_mask)

    def right(n, d):
        return d**-0.5

    assert made(right).passed
    for scale in (lambda n, d: 1, lambda n, d: d**0.5, lambda n, d: n**-0.5):
        assert "It sees what it may and nothing else, but its numbers aren't ours" in made(scale).text()
    assert "It cheats" in made(right, after=True).text()  # what comes later is in the sum below
    assert "its own letter is hidden" in ran(mask=lambda n_q, n_k: np.tri(n_q, n_k, -1, dtype=bool)).text()


def test_what_is_not_written_yet_is_no_error():
    assert "isn't written yet" in ran(mask=lambda n_q, n_k: NotImplemented).text()
    assert "dtype float64" in ran(mask=lambda n_q, n_k: np.tri(n_q, n_k)).text()
    assert "isn't written yet" in ran(weights=lambda scores: sum(NotImplemented)).text()
    assert "isn't written yet" in ran(attention=lambda *given: NotImplemented, mask=causal_mask).text()


def test_it_runs_on_a_whole_attention_within_a_second():
    attention = all_exercises()["attention"]
    began = time.thread_time()
    for function in (attention.reference, *attention.also_right[:2]):
        assert ran(attention=function, mask=causal_mask).passed
    assert time.thread_time() - began < 3


def test_no_answer_hangs_on_the_last_bits():
    """Processors differ there; the two letters with the most votes are far apart."""
    q, k, v = project(draw(np.random.default_rng(2), TEXTS))
    for mask in (np.ones((LETTERS, LETTERS), bool), np.tri(LETTERS, dtype=bool)):
        best = np.sort(Stages()(q, k, v, mask)[0])[..., -2:]
        assert np.diff(best).min() > 1e-6
