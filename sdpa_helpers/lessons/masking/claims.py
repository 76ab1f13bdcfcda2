"""The claims that lesson 05 runs: where a mask goes, what it means, and what the fused call does with it."""

from typing import Any

import numpy as np

from sdpa_helpers.attention import causal_mask, padding_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.masking import experiments as lesson

# The input of the lesson: five words that attend to each other.
_K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]], dtype=float)
_V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
_Q = np.array([[1, 0, 1], [0, 1, 0], [2, 0, -1], [2, 0, 0], [0, 1, 1]], dtype=float)
_S = _Q @ _K.T / np.sqrt(3)
_CAUSAL = causal_mask(5)


def _fused(Q: Any, K: Any, V: Any, attn_mask: Any) -> Any:
    import torch
    import torch.nn.functional as F

    tensors = (torch.from_numpy(x) for x in (Q, K, V))
    return F.scaled_dot_product_attention(*tensors, attn_mask=torch.from_numpy(attn_mask)).numpy()


def _by_hand(Q: Any, K: Any, V: Any, mask: Any) -> Any:
    """The usual hand-written code: 0 or False is hidden, plain softmax."""
    import torch

    q, k, v = (torch.from_numpy(x) for x in (Q, K, V))
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(torch.from_numpy(mask) == 0, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ v).numpy()


def _random(*lead: int, n: int = 6, d: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    Q, K, V = (rng.normal(size=(*lead, n, d)) for _ in range(3))
    return Q, K, V


def _same(a: Any, b: Any) -> float:
    return float(np.allclose(a, b, rtol=1e-6, atol=1e-9))


def _minus_infinity() -> Numbers:
    weights = softmax(np.where(_CAUSAL, _S, -np.inf))
    return {
        "as_fused": _same(weights @ _V, _fused(_Q, _K, _V, _CAUSAL)),
        "hidden": (~_CAUSAL).sum(),
        "exactly_zero": (weights[~_CAUSAL] == 0).sum(),
    }


def _pseudocode() -> Numbers:
    Q, K, V = _random()
    may, left = causal_mask(6), lesson.left_padding_mask(6, 2)
    values = np.eye(6)  # unit vectors: the output shows the weights
    inverted = _by_hand(Q, K, values, ~may)
    return {
        "as_fused": _same(_by_hand(Q, K, V, may), _fused(Q, K, V, may)),
        "future_if_true_means_blocked": lesson.future_weight(inverted),
        "nan_rows": np.isnan(_by_hand(Q, K, V, left)).any(axis=-1).sum(),
    }


def _added_mask() -> Numbers:
    scores, mask = np.array([2.0, 1.0, 3.0]), np.array([1, 1, 0])
    added, hidden = softmax(scores + mask), softmax(np.where(mask == 0, -np.inf, scores))
    additive = softmax(scores + np.where(mask == 0, -np.inf, 0.0))
    return {
        "added": added[2],
        "hidden": hidden[2],
        "first_added": added[0],
        "first_hidden": hidden[0],
        "additive_form_agrees": _same(additive, hidden),
    }


def _order() -> Numbers:
    right = scaled_dot_product_attention(_Q, _K, _V, attn_mask=_CAUSAL)
    raw = _Q @ _K.T
    swapped = softmax(np.where(_CAUSAL, raw, -np.inf) / np.sqrt(3)) @ _V
    late_mask = (softmax(raw / np.sqrt(3)) * _CAUSAL) @ _V
    late_scale = softmax(np.where(_CAUSAL, raw, -np.inf)) / np.sqrt(3) @ _V
    return {
        "in_order": _same(softmax(np.where(_CAUSAL, raw / np.sqrt(3), -np.inf)) @ _V, right),
        "mask_before_scale": _same(swapped, right),
        "mask_after_softmax": float(np.abs(late_mask - right).max()),
        "scale_after_softmax": float(np.abs(late_scale - right).max()),
    }


def _future_rule() -> Numbers:
    n = 7
    rule = np.array([[j <= i for j in range(n)] for i in range(n)])
    Q, K, V = _random(n=n)
    output = scaled_dot_product_attention(Q, K, V, attn_mask=rule)
    moved = 0
    for j in range(n):
        K2, V2 = K.copy(), V.copy()
        K2[j] += 1
        V2[j] += 1
        after = scaled_dot_product_attention(Q, K2, V2, attn_mask=rule)
        moved += int((np.abs(after - output)[:j] > 1e-12).any(axis=-1).sum())
    return {
        "as_tril": float(np.array_equal(rule, np.tri(n, dtype=bool))),
        "sees_itself": np.diag(rule).sum(),
        "earlier_outputs_that_moved": moved,
    }


def _padding_columns() -> Numbers:
    padded = lesson.pad_and_compare(_Q[3:], _K[3:], _V[3:], extra=3)
    with_empty = _by_hand(_Q, _K, _V, lesson.left_padding_mask(5, 2))
    rows = np.tile(padding_mask([3], 5)[0][:, None], (1, 5))  # hides queries instead of keys
    return {
        "masked_as_alone": _same(padded.masked, padded.alone),
        "rows_hidden_nan": np.isnan(_by_hand(_Q, _K, _V, rows)).any(axis=-1).sum(),
        "left_padding_nan": np.isnan(with_empty).any(axis=-1).sum(),
    }


def _upper_triangle() -> Numbers:
    strictly, with_diagonal = (np.triu(np.full((5, 5), -np.inf), k=k) for k in (1, 0))
    masked = np.where(_CAUSAL, _S, -np.inf)
    return {
        "strict_agrees": float(np.array_equal(_S + strictly, masked)),
        "hidden": np.isneginf(strictly).sum(),
        "with_diagonal_agrees": float(np.array_equal(_S + with_diagonal, masked)),
    }


def _after_softmax() -> Numbers:
    import torch

    hidden = torch.from_numpy(np.where(_CAUSAL, _S, -np.inf))
    empty = torch.full((3,), -torch.inf, dtype=torch.float64)
    seen = np.ones((1, 5), dtype=bool)
    return {
        "not_zero": int((torch.softmax(hidden, dim=-1).numpy()[~_CAUSAL] != 0).sum()),
        "empty_row_is_nan": float(torch.softmax(empty, dim=-1).isnan().all()),
        "fused_empty_row": float(np.abs(_fused(_Q, _K, _V, np.repeat(~seen, 5, axis=0))).max()),
    }


def _encoder() -> Numbers:
    padded, alike = (lesson.pad_and_compare(_Q[3:], _K[3:], _V[3:], extra=extra) for extra in (3, 0))
    return {
        "moved_without_padding": float(np.abs(alike.unmasked - alike.alone).max()),
        "on_padding": padded.weight_on_padding,
        "moved": float(np.abs(padded.unmasked - padded.alone).max()),
        "moved_when_masked": float(np.abs(padded.masked - padded.alone).max()) > 1e-9,
    }


def _cross_attention() -> Numbers:
    rng = np.random.default_rng(4)
    target, K, V = rng.normal(size=(4, 3)), *_random(n=6, d=3)[1:]
    before = scaled_dot_product_attention(target, K, V)
    moved = 0
    for j in range(len(target)):
        changed = target.copy()
        changed[j] += 1
        moved += int((scaled_dot_product_attention(changed, K, V) != before).any(axis=-1)[:j].sum())
    return {
        "earlier_outputs_that_moved": moved,
        "hidden_by_causal": float((~causal_mask(4, 6)).mean()),
        "on_padding": lesson.pad_and_compare(_Q[3:], _K[3:], _V[3:], extra=3).weight_on_padding,
    }


def _complete_code() -> Numbers:
    Q, K, V = _random(2, 3)
    masks = (causal_mask(6), np.ones((2, 1, 6, 6), dtype=bool), padding_mask([6, 3], 6)[:, None, None, :])
    agree = sum(_same(_by_hand(Q, K, V, mask), _fused(Q, K, V, mask)) for mask in masks)
    empty = np.isnan(_by_hand(_Q, _K, _V, lesson.left_padding_mask(5, 2))).any(axis=-1).sum()
    return {"masks": len(masks), "agree": agree, "empty_rows_nan": empty}


def _mask_shape() -> Numbers:
    Q, K, V = _random(2, 3)
    mask = causal_mask(6) & padding_mask([6, 3], 6)[:, None, None, :]
    whole = scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    heads = [scaled_dot_product_attention(Q[:, h], K[:, h], V[:, h], attn_mask=mask[:, 0]) for h in range(3)]
    return {
        "ndim": mask.ndim,
        "heads_of_mask": mask.shape[1],
        "heads": 3,
        "agree": sum(_same(whole[:, h], heads[h]) for h in range(3)),
    }


def _same_result() -> Numbers:
    same = lesson.fused_against_manual()
    dtypes = lesson.what_the_fused_call_does(_Q, _K, _CAUSAL)
    left = lesson.left_padding_mask(5, 2)
    return {
        "boolean_agrees": float(same.boolean < 1e-5),
        "float_difference": round(same.float_mask, 2),
        "future": same.future,
        "raised": sum(isinstance(outcome, str) for outcome in dtypes.values()),
        "fused_nan_rows": np.isnan(_fused(_Q, _K, _V, left)).any(axis=-1).sum(),
        "by_hand_nan_rows": np.isnan(_by_hand(_Q, _K, _V, left)).any(axis=-1).sum(),
    }


CLAIMS = claims_of(
    "05_masking",
    {
        20: _minus_infinity,
        93: _pseudocode,
        94: _added_mask,
        124: _order,
        126: _future_rule,
        127: _padding_columns,
        144: _upper_triangle,
        145: _after_softmax,
        146: _encoder,
        147: _cross_attention,
        150: _complete_code,
        151: _mask_shape,
        152: _same_result,
    },
)
