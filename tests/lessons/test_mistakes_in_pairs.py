"""Lessons 05 and 06: two mistakes at once, as first drafts have them."""

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import observe
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.course.registry import find

UNGUARDED = "minus-infinity-minus-minus-infinity"
FINITE = "finite-fill-on-an-empty-row"


def names(exercise, function, seed="public"):
    return {m.name for m in try_out(exercise, function, seed).mistakes}


def pair(exercise, *wanted):
    """The product with just these two mistakes."""
    return next(d.function for d in exercise.mistakes.deviants(2) if d.names == wanted)


@pytest.mark.parametrize("wanted", [UNGUARDED, FINITE])
@pytest.mark.parametrize(
    "other",
    [
        "no-scaling",
        "divided-by-d_k",
        "scaled-by-d_v",
        "mask-inverted",
        "softmax-over-queries",
        "softmax-over-axis-1",
        "reshaped-not-transposed",
        "weights-before-output",
        "keys-used-as-values",
    ],
)
def test_a_first_draft_of_attention_is_told_both_mistakes(wanted, other):
    exercise = find("attention")
    draft = pair(exercise, wanted, other)
    assert names(exercise, draft, "public" if wanted == FINITE else "another") == {wanted, other}


def test_the_commonest_first_draft_of_all():
    def attention(Q, K, V, mask=None):
        scores = np.matmul(Q, np.swapaxes(K, -1, -2))
        if mask is not None:
            scores = np.where(mask == 0, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return np.matmul(weights, V), weights

    assert names(find("attention"), attention) == {"no-scaling", UNGUARDED}


def test_polarity_turned_round_and_a_finite_fill():
    def attention(Q, K, V, mask=None):
        scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
        if mask is not None:
            scores = np.where(mask, -1e9, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return weights @ V, weights

    assert names(find("attention"), attention) == {"mask-inverted", FINITE}


@pytest.mark.parametrize("how", ["ignored", "a count", "cut afterwards"])
def test_chunked_attention_is_about_chunks(how):
    exercise = find("chunked_attention")

    def chunked_attention(Q, K, V, chunk):
        def attend(Q):
            scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
            e = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True) @ V

        if how == "ignored":
            return attend(Q)
        if how == "a count":
            parts = np.array_split(Q, min(chunk, Q.shape[-2]), axis=-2)
            return np.concatenate([attend(part) for part in parts], axis=-2)
        done = attend(Q)
        return np.concatenate([done[..., i : i + chunk, :] for i in range(0, Q.shape[-2], chunk)], axis=-2)

    result = try_out(exercise, chunked_attention)
    assert [c.verdict.case for c in result.cases if not c.verdict.passed] == [
        "two thousand queries, five at a time"
    ]
    assert [m.name for m in result.mistakes] == ["too-much-memory"]


def test_honest_chunks_need_half_of_what_is_allowed():
    exercise = find("chunked_attention")

    truth = next(t for t in truths(exercise, "public") if t.case.peak_bytes)
    held = [
        observe(f, truth.inputs, truth.watch).peak_bytes for f in (exercise.reference, *exercise.also_right)
    ]
    assert max(held) < truth.case.peak_bytes / 2
