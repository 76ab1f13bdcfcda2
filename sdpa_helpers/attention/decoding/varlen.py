"""Sequences of different lengths packed into one array, instead of padded to the longest.

    padded  (3, 5):  a a a · ·        packed  (9,):  a a a b b b b b c
                     b b b b b        offsets        0     3         8 9
                     c · · · ·

Nothing is computed for padding, because there is none. The arguments that it shares with torch.nn.attention.varlen
(torch 2.13) mean the same; paged caches (seqused_k, block_table) and num_splits are left out. torch's kernels need an
NVIDIA GPU, and have their names from flash-attn's flash_attn_varlen_func.
Here each sequence is one call of scaled_dot_product_attention, for NumPy arrays and tensors, on any device.
"""

from __future__ import annotations

import operator
import sys
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sdpa_helpers.attention import arguments
from sdpa_helpers.attention.call import scaled_dot_product_attention


class AuxRequest(NamedTuple):
    """What varlen_attn is to return besides the output: as torch.nn.attention.varlen.AuxRequest, which serves too."""

    lse: bool = False


def varlen_attn(
    query: Any,
    key: Any,
    value: Any,
    cu_seq_q: Any,
    cu_seq_k: Any,
    max_q: int | None = None,
    max_k: int | None = None,
    *,
    return_aux: Any = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    backend: str = "auto",
) -> Any:
    """Attention within each of N packed sequences. In torch gradients flow.

    Args:
        query: (T_q, heads, d_k), the queries of all sequences one after the other.
        key: (T_k, heads, d_k), the keys likewise; each sequence may have more or fewer of them than queries.
        value: (T_k, heads, d_v).
        cu_seq_q: (N + 1,) integers, "cumulative": sequence s has the queries cu_seq_q[s] … cu_seq_q[s + 1] − 1. The
            first is 0, the last T_q. In torch's kernels of dtype int32.
        cu_seq_k: (N + 1,) likewise for keys and values.
        max_q, max_k: the longest sequence. torch's kernels need them; here they are only compared, if passed.
        return_aux: AuxRequest(lse=True), ours or torch's, to get the LSE too.
        scale: factor of the scores; 1/√d_k when left out.
        window_size: (left, right), how many keys before and after its own place a query sees; -1: all. Its place is
            counted from the end, j = i + n_k − n_q, as "lower_right" does. So (-1, 0) is causal attention, (W, 0)
            causal attention that looks back W keys.
        enable_gqa: whether fewer heads of key and value serve those of query.
        backend: as in scaled_dot_product_attention.

    Returns:
        output (T_q, heads, d_v); with return_aux.lse a tuple of it and the LSE (T_q, heads). A query that sees no key
        has output 0 and LSE −∞.

    Raises:
        TypeError, ValueError: as scaled_dot_product_attention; arrays that are not three-dimensional; offsets that do
            not start with 0, that decrease, or do not end with T; a longest sequence that is not the longest; a
            return_aux without `lse`.
    """
    kind = arguments.common_kind(query, key, value, None)
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.ndim != 3:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}, but packed sequences are (tokens of all, heads, features)"
            )
    if len(key) != len(value):
        raise ValueError(
            f"key has shape {tuple(key.shape)} and value {tuple(value.shape)}: each token has one of both, "
            f"got {len(key)} and {len(value)}"
        )
    rows = _slices(cu_seq_q, "cu_seq_q", query.shape[0], max_q)
    columns = _slices(cu_seq_k, "cu_seq_k", key.shape[0], max_k)
    if len(rows) != len(columns):
        raise ValueError(
            f"cu_seq_q is of {len(rows)} sequences and cu_seq_k of {len(columns)}: both must list the same "
            "sequences; some sequences may have none, and then the same offset twice"
        )
    if return_aux is not None and not hasattr(return_aux, "lse"):
        raise TypeError(
            f"return_aux is {return_aux!r}, but must be AuxRequest(lse=True), ours or torch's, or None"
        )
    wants_lse = return_aux is not None and bool(return_aux.lse)
    options = {"scale": scale, "enable_gqa": enable_gqa, "backend": backend, "return_lse": wants_lse}
    window = _window_checked(window_size)
    answers = []
    for some, seen in zip(rows, columns, strict=True):
        sequence = [array.swapaxes(0, 1) for array in (query[some], key[seen], value[seen])]  # (heads, n, d)
        shift = (seen.stop - seen.start) - (some.stop - some.start)
        answer = scaled_dot_product_attention(*sequence, **_hiding(window, shift), **options)
        answers.append([part.swapaxes(0, 1) for part in (answer if wants_lse else (answer,))])
    concatenate = np.concatenate if kind == "numpy" else sys.modules["torch"].cat
    output, *lse = (concatenate(parts) for parts in zip(*answers, strict=True))
    return (output, *lse) if wants_lse else output


def _hiding(window: tuple[int, int], shift: int) -> dict[str, Any]:
    """The arguments that hide what is outside of the window; query i has its place at key i + shift."""
    left, right = window
    hiding: dict[str, Any] = {"is_causal": "lower_right"} if right == 0 else {}
    if left >= 0 and right > 0:
        hiding["mask_mod"] = lambda b, h, i, j: (j >= i + shift - left) & (j <= i + shift + right)
    elif left >= 0:
        hiding["mask_mod"] = lambda b, h, i, j: j >= i + shift - left
    elif right > 0:
        hiding["mask_mod"] = lambda b, h, i, j: j <= i + shift + right
    return hiding


def _slices(offsets: Any, name: str, total: int, longest: int | None) -> list[slice]:
    """Where each sequence lies, from its checked offsets."""
    if not hasattr(offsets, "tolist") or "int" not in str(offsets.dtype):
        what = type(offsets).__name__ if not hasattr(offsets, "dtype") else f"of dtype {offsets.dtype}"
        raise TypeError(f"{name} is {what}, but must be an array of integers, best int32")
    if offsets.ndim != 1 or len(offsets) < 2:
        raise ValueError(f"{name} has shape {tuple(offsets.shape)}, but must be (sequences + 1,)")
    numbers = offsets.tolist()
    slices = [slice(*pair) for pair in pairwise(numbers)]
    if numbers[0] != 0:
        raise ValueError(f"{name} starts with {numbers[0]}, but the first sequence starts at 0")
    for s, sequence in enumerate(slices):
        if sequence.stop < sequence.start:
            raise ValueError(
                f"{name} decreases from {sequence.start} to {sequence.stop} at sequence {s}: pass where "
                "each starts, and the total at the end; of lengths that is np.cumsum([0, *lengths])"
            )
    if numbers[-1] != total:
        array = "query" if name == "cu_seq_q" else "key"
        raise ValueError(
            f"{name} ends with {numbers[-1]}, but there are {total} tokens ({array} is (tokens, heads, features))"
        )
    lengths = [sequence.stop - sequence.start for sequence in slices]
    which = f"max_{name[-1]}"
    if longest is not None and not hasattr(longest, "__index__"):
        raise TypeError(f"{which} is {longest!r}, but must be an integer, the length of the longest sequence")
    if longest is not None and longest < max(lengths):
        raise ValueError(
            f"{which} is {longest}, but sequence {lengths.index(max(lengths))} is {max(lengths)} long"
        )
    return slices


def _window_checked(window_size: Any) -> tuple[int, int]:
    try:
        left, right = map(operator.index, window_size)
    except (TypeError, ValueError):
        left = right = -2
    if min(left, right) < -1:
        raise ValueError(
            f"window_size is {window_size!r}, but must be two integers (left, right), how many keys are seen on "
            "either side, -1 for all"
        )
    return left, right
