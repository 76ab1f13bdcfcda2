"""Variants of attention, one line each: what `mask_mod=` and `score_mod=` take.

    mask_mod(b, h, i, j)           may query i of head h of sequence b attend to key j?
    score_mod(score, b, h, i, j)   the score that takes the place of this one

Dong et al. 2024, "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", §3; names and
meanings are those of torch.nn.attention.flex_attention, which takes these functions too. There they are called with
four numbers at a time, here with whole arrays of them that broadcast: b (B, 1, 1, 1), h (H, 1, 1), i (n_q, 1) and
j (n_k,), or those of a tile. So what a mod does, it does to each number apart: with + − * / comparisons & | ~, with
indices into arrays (`ids[b, i]`) and np.where or torch.where, but not with `if`, `and`, `max(i, j)` or `0 < i < j`.

All of these serve NumPy arrays and tensors, whatever kind the arrays are that they were made with.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    MaskMod = Callable[[Any, Any, Any, Any], Any]
    ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]


# Which keys are seen ---------------------------------------------------------------------------------------


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    """Query i sees the keys 0 … i. Vaswani et al. 2017, §3.2.3."""
    return j <= i


def lower_right(n_q: int, n_k: int) -> MaskMod:
    """Causal attention after a cache of n_k − n_q keys: the last query sees all keys, the one before it one less."""
    return lambda b, h, i, j: j <= i + (n_k - n_q)


def sliding_window(size: int) -> MaskMod:
    """Query i sees itself and the size − 1 keys before it. Beltagy et al. 2020 (Longformer); Jiang et al. 2023 (Mistral
    7B), §2."""
    return lambda b, h, i, j: (j <= i) & (j > i - size)


def prefix_lm(length: Any) -> MaskMod:
    """Everyone sees the first `length` keys, a prompt; what follows is causal. Raffel et al. 2020 (T5), §3.2.1.

    length: a number, or (B,), one for each sequence.
    """
    return lambda b, h, i, j: (j < of_sequence(length, b, j)) | (j <= i)


def padding(lengths: Any) -> MaskMod:
    """Only the first lengths[b] keys of sequence b are real. lengths: (B,), or one number for all."""
    return lambda b, h, i, j: j < of_sequence(lengths, b, j)


def documents(ids: Any) -> MaskMod:
    """Several documents packed into one sequence: a query sees the keys of its own document only.

    ids: (n,) or (B, n), the document that each token belongs to.
    """

    def same_document(b, h, i, j):
        here = captured(ids, like=j)
        return here[i] == here[j] if here.ndim == 1 else here[b, i] == here[b, j]

    return same_document


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """A key is seen if each of these lets it."""
    check_callable(mask_mods)

    def all_of_them(b, h, i, j):
        seen = j == j
        for mask_mod in mask_mods:
            seen = seen & mask_mod(b, h, i, j)
        return seen

    return all_of_them


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """A key is seen if one of these lets it."""
    check_callable(mask_mods)

    def one_of_them(b, h, i, j):
        seen = j != j
        for mask_mod in mask_mods:
            seen = seen | mask_mod(b, h, i, j)
        return seen

    return one_of_them


# What becomes of the scores --------------------------------------------------------------------------------


def alibi(heads: int) -> ScoreMod:
    """Attention with linear biases: the further back a key is, the lower its score, in each head at another rate.

    Press et al. 2022, "Train Short, Test Long", §3. It says where a token is, in place of position embeddings.
    """
    slopes = alibi_slopes(heads)

    def with_bias(score, b, h, i, j):  # distances as floats: whole numbers take twice as long
        distance = captured(j, like=score) - captured(i, like=score)
        return score + captured(slopes, like=score)[h] * distance

    return with_bias


def alibi_slopes(heads: int) -> np.ndarray:
    """(heads,): 2⁻⁸ᐟᴴ, 2⁻¹⁶ᐟᴴ, …, 2⁻⁸, for H heads, a power of two. For others, the rest between these, as theirs."""
    power = 2 ** int(math.log2(heads))
    slopes = 2.0 ** (-8 / power * np.arange(1, power + 1))
    between = 2.0 ** (-4 / power * np.arange(1, 2 * power, 2))
    return np.concatenate([slopes, between])[:heads]


def softcap(cap: float) -> ScoreMod:
    """Scores bend towards ±cap and never pass it: cap · tanh(score / cap). Gemma Team 2024 (Gemma 2), §2."""
    return lambda score, b, h, i, j: cap * tanh(score / cap)


def relative_bias(table: Any) -> ScoreMod:
    """A learned number for each head and distance is added. Shaw et al. 2018, §3.2; Raffel et al. 2020 (T5), §2.1.

    table: (H, 2 m + 1), for the distances j − i from −m to m; what is further counts as ±m. A tensor that requires a
    gradient gets one, from backend "torch".
    """
    far = table.shape[-1] // 2
    return lambda score, b, h, i, j: score + captured(table, like=score)[h, (j - i).clip(-far, far) + far]


# For arrays and tensors ------------------------------------------------------------------------------------


OF_NUMPY = (np.ndarray, np.generic)  # said as np.ndarray | np.generic, torch.compile does not follow


def captured(array: Any, like: Any) -> Any:
    """An array that a mod was made with, as the kind and on the device of what it meets; floats of its dtype too."""
    torch = sys.modules.get("torch")
    if isinstance(like, OF_NUMPY):
        if torch is not None and isinstance(array, torch.Tensor):
            array = array.detach().cpu().numpy()
        array = np.asarray(array)
        return array.astype(like.dtype, copy=False) if like.dtype.kind == "f" else array
    assert torch is not None  # since `like` is a tensor
    return torch.as_tensor(array, device=like.device, dtype=like.dtype if like.is_floating_point() else None)


def of_sequence(numbers: Any, b: Any, like: Any) -> Any:
    """The number that belongs to each sequence, or the one for all."""
    numbers = captured(numbers, like)
    return numbers[b] if numbers.ndim else numbers


def tanh(x: Any) -> Any:
    return np.tanh(x) if isinstance(x, OF_NUMPY) else x.tanh()


def check_callable(mask_mods: tuple[Any, ...]) -> None:
    """Raise TypeError unless all can be called: mods, not what they return."""
    for mask_mod in mask_mods:
        if not callable(mask_mod):
            raise TypeError(f"{mask_mod!r} is no mask_mod: pass functions of (b, h, i, j)")
