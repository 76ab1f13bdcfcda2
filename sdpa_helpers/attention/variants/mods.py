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
import operator
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
    check_count("sliding_window", "size", size)
    return lambda b, h, i, j: (j <= i) & (j > i - size)


def prefix_lm(length: Any) -> MaskMod:
    """Everyone sees the first `length` keys, a prompt; what follows is causal. Raffel et al. 2020 (T5), §3.2.1.

    length: a number, or (B,), one for each sequence.
    """
    return made_for_sequences(
        lambda b, h, i, j: (j < of_sequence(length, b, j)) | (j <= i), "prefix_lm", length
    )


def padding(lengths: Any) -> MaskMod:
    """Only the first lengths[b] keys of sequence b are real. lengths: (B,), or one number for all."""
    return made_for_sequences(lambda b, h, i, j: j < of_sequence(lengths, b, j), "padding", lengths)


def documents(ids: Any) -> MaskMod:
    """Several documents packed into one sequence: a query sees the keys of its own document only.

    ids: (n,) or (B, n), the document that each token belongs to.
    """

    def same_document(b, h, i, j):
        here = captured(ids, like=j)
        return here[i] == here[j] if here.ndim == 1 else here[b, i] == here[b, j]

    shape = np.shape(ids)
    if len(shape) not in (1, 2):
        raise ValueError(f"documents: ids have shape {tuple(shape)}, but must be (n,) or (B, n)")
    return made_for(same_document, "sequences", shape[0] if len(shape) == 2 else None)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """A key is seen if each of these lets it."""
    check_callable(mask_mods)

    def all_of_them(b, h, i, j):
        seen = j == j
        for mask_mod in mask_mods:
            seen = seen & mask_mod(b, h, i, j)
        return seen

    return made_for_as(all_of_them, mask_mods)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """A key is seen if one of these lets it."""
    check_callable(mask_mods)

    def one_of_them(b, h, i, j):
        seen = j != j
        for mask_mod in mask_mods:
            seen = seen | mask_mod(b, h, i, j)
        return seen

    return made_for_as(one_of_them, mask_mods)


# How scores are changed ------------------------------------------------------------------------------------


def alibi(heads: int) -> ScoreMod:
    """Attention with linear biases: the further back a key is, the lower its score, in each head at another rate.

    Press et al. 2022, "Train Short, Test Long", §3. It says where a token is, in place of position embeddings.
    """
    check_count("alibi", "heads", heads)
    slopes = alibi_slopes(heads)

    def with_bias(score, b, h, i, j):  # distances as floats: whole numbers take twice as long
        distance = captured(j, like=score) - captured(i, like=score)
        return score + captured(slopes, like=score)[h] * distance

    return made_for(with_bias, "heads", heads)


def alibi_slopes(heads: int) -> np.ndarray:
    """(heads,): 2⁻⁸ᐟᴴ, 2⁻¹⁶ᐟᴴ, …, 2⁻⁸, for H heads, a power of two. For others, the rest between these, as theirs."""
    power = 2 ** int(math.log2(heads))
    slopes = 2.0 ** (-8 / power * np.arange(1, power + 1))
    between = 2.0 ** (-4 / power * np.arange(1, 2 * power, 2))
    return np.concatenate([slopes, between])[:heads]


def softcap(cap: float) -> ScoreMod:
    """Scores bend towards ±cap and never pass it: cap · tanh(score / cap). Gemma Team 2024 (Gemma 2), §2."""
    if not 0 < cap < math.inf:
        raise ValueError(f"softcap: cap is {cap}, but must be a finite number greater than 0")
    return lambda score, b, h, i, j: cap * tanh(score / cap)


def relative_bias(table: Any) -> ScoreMod:
    """A learned number for each head and distance is added. Shaw et al. 2018, §3.2; Raffel et al. 2020 (T5), §2.1.

    table: (H, 2 m + 1), for the distances j − i from −m to m; what is further counts as ±m. A tensor that requires a
    gradient gets one, from backend "torch".
    """
    shape = tuple(np.shape(table))
    if len(shape) != 2 or shape[1] % 2 == 0:
        raise ValueError(
            f"relative_bias: table has shape {shape}, but must be (H, 2 m + 1): an odd number of distances"
        )
    far = shape[1] // 2
    return made_for(
        lambda score, b, h, i, j: score + captured(table, like=score)[h, (j - i).clip(-far, far) + far],
        "heads",
        shape[0],
    )


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
    """Of an array or of a tensor."""
    return np.tanh(x) if isinstance(x, OF_NUMPY) else x.tanh()


def check_callable(mask_mods: tuple[Any, ...]) -> None:
    """Raise TypeError unless all can be called: mods, not what they return."""
    for mask_mod in mask_mods:
        if not callable(mask_mod):
            raise TypeError(f"{mask_mod!r} is no mask_mod: pass functions of (b, h, i, j)")


def check_count(maker: str, name: str, count: Any) -> None:
    """Raise TypeError or ValueError unless it is an integer from 1 on."""
    try:
        operator.index(count)
    except TypeError:
        raise TypeError(f"{maker}: {name} is {count!r}, but must be an integer") from None
    if count < 1:
        raise ValueError(f"{maker}: {name} is {count}, but must be at least 1")


def made_for(mod: Any, what: str, count: int | None) -> Any:
    """The mod, which remembers how many "sequences" or "heads" it looks up: a call with others is refused."""
    if count is not None:
        mod.made_for = {what: count}
    return mod


def made_for_sequences(mod: MaskMod, maker: str, numbers: Any) -> MaskMod:
    """The same for a mod with one number for each sequence, or one for all."""
    shape = tuple(np.shape(numbers))
    if len(shape) > 1:
        raise ValueError(f"{maker}: what it is made with has shape {shape}, but must be a number or (B,)")
    return made_for(mod, "sequences", shape[0] if shape else None)


def made_for_as(mod: Any, parts: tuple[Any, ...]) -> Any:
    """A mod made of others serves what they serve."""
    for part in parts:
        mod.made_for = getattr(mod, "made_for", {}) | getattr(part, "made_for", {})
    return mod
