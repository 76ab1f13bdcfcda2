"""Checks of what came in. Every message says what came, what was expected, and what to do about it."""

from __future__ import annotations

import functools
import math
import numbers
import operator
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from typing import TypeVar

    import torch

    Array = TypeVar("Array", np.ndarray, torch.Tensor)

Kind = Literal["numpy", "torch"]
Shape = tuple[int, ...]

FLOATING = {
    "numpy": ("float16", "float32", "float64", "bfloat16"),  # the last is one of the package ml_dtypes
    "torch": ("float16", "bfloat16", "float32", "float64"),
}


# What an array is.


def kind_of(array: Any, name: str) -> Kind:
    """ "numpy" or "torch". torch is not imported for this: whoever has a tensor has imported it."""
    if isinstance(array, np.ndarray):
        if "numpy.ma" in sys.modules and isinstance(array, np.ma.MaskedArray):  # importing it takes 10 ms
            raise TypeError(
                f"{name} is a masked array, whose mask would be lost: pass {name}.data, and attn_mask"
            )
        return "numpy"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if array.layout is not torch.strided or array.is_nested:
            raise TypeError(_not_dense(array, name))
        return "torch"
    raise TypeError(_no_array(array, name))


def _no_array(array: Any, name: str) -> str:
    came = type(array).__name__
    if name == "attn_mask" and (callable(array) or came == "BlockMask"):  # torch's own cannot be called
        return f"attn_mask is of type {came}: a function or BlockMask is passed as mask_mod= (score_mod= for scores)"
    message = f"{name} is of type {came}, but must be a NumPy array or a torch tensor"
    if isinstance(array, list | tuple):
        dtype = "bool" if name == "attn_mask" else "np.float64"
        return f"{message}: np.array({name}, dtype={dtype}) makes an array of nested lists"
    if hasattr(array, "__array__"):
        return f"{message}: np.asarray({name}) makes a NumPy array of it"
    return message


def _not_dense(tensor: Any, name: str) -> str:
    if tensor.is_nested:
        return (
            f"{name} is a nested tensor, but must be a dense one: pass torch.nested.to_padded_tensor({name}, 0.0), "
            "and an attn_mask that hides the padding"
        )
    return f"{name} is of layout {tensor.layout}, but must be a dense tensor: pass {name}.to_dense()"


def common_kind(query: Any, key: Any, value: Any, attn_mask: Any) -> Kind:
    """The kind that all arrays of a call have; TypeError where arrays and tensors are mixed, or one is neither."""
    kinds: dict[str, Kind] = {
        name: kind_of(array, name) for name, array in _by_name(query, key, value, attn_mask).items()
    }
    if len(set(kinds.values())) > 1:
        torch_ones = [name for name, kind in kinds.items() if kind == "torch"]
        numpy_ones = [name for name, kind in kinds.items() if kind == "numpy"]
        raise TypeError(
            f"NumPy arrays ({', '.join(numpy_ones)}) are mixed with torch tensors ({', '.join(torch_ones)}); "
            f"pass one kind, e.g. torch.from_numpy({numpy_ones[0]})"
        )
    return kinds["query"]


def dtype_name(array: Any) -> str:
    """E.g. "float32", of an array or of a tensor."""
    if isinstance(array, np.ndarray):
        return _numpys_name(array.dtype)
    return str(array.dtype).removeprefix("torch.")


@functools.cache  # NumPy composes it anew each time, which takes as long as a small product
def _numpys_name(dtype: np.dtype) -> str:
    return dtype.name


def check_floating(array: Any, name: str, kind: Kind) -> None:
    """Raise TypeError unless the array holds floats of a dtype that its kind can be computed with."""
    came = dtype_name(array)
    if came in FLOATING[kind]:
        return
    expected = f"but must be one of {', '.join(FLOATING[kind])}"
    if "complex" in came:
        raise TypeError(
            f"{name} is {came}, {expected}: softmax has no meaning for complex scores; pass {name}.real"
        )
    convert = f"{name}.astype(np.float64)" if kind == "numpy" else f"{name}.double()"
    raise TypeError(f"{name} is {came}, {expected}: pass {convert}")


def check_dtypes(query: Any, key: Any, value: Any, kind: Kind) -> None:
    """Raise TypeError unless query, key and value hold floats of one dtype."""
    if query.dtype == key.dtype == value.dtype and dtype_name(query) in FLOATING[kind]:
        return
    for name, array in _by_name(query, key, value).items():
        check_floating(array, name, kind)
        if dtype_name(array) != dtype_name(query):
            convert = f"{name}.astype(query.dtype)" if kind == "numpy" else f"{name}.to(query.dtype)"
            raise TypeError(
                f"query is {dtype_name(query)} and {name} {dtype_name(array)}: their dtypes must be equal; "
                f"pass {convert}"
            )


def check_devices(query: Any, key: Any, value: Any, attn_mask: Any) -> None:
    """Tensors only."""
    if query.device == key.device == value.device and (attn_mask is None or attn_mask.device == query.device):
        return
    for name, tensor in _by_name(query, key, value, attn_mask).items():
        if tensor.device != query.device:
            raise ValueError(
                f"query is on device {query.device} and {name} on {tensor.device}: their devices must be "
                f"equal; pass {name}.to(query.device)"
            )


def _by_name(query: Any, key: Any, value: Any, attn_mask: Any = None) -> dict[str, Any]:
    named = {"query": query, "key": key, "value": value}
    return named if attn_mask is None else {**named, "attn_mask": attn_mask}


# Shapes.


def check_shapes(query: Shape, key: Shape, value: Shape, enable_gqa: bool) -> Shape:
    """The leading dimensions of the answer: those of query, key and value, broadcast."""
    for name, shape in (("query", query), ("key", key), ("value", value)):
        if len(shape) < 2:
            raise ValueError(
                f"{name} has shape {shape}, but must have at least 2 dimensions: (..., length, features); "
                f"a single vector is {name}[None, :]"
            )
    if query[-1] != key[-1]:
        raise ValueError(
            f"query has shape {query} and key {key}: their last dimension d_k must be equal, "
            f"got {query[-1]} and {key[-1]}"
        )
    if key[-2] != value[-2]:
        raise ValueError(
            f"key has shape {key} and value {value}: their second to last dimension n_k must be equal, "
            f"got {key[-2]} and {value[-2]}"
        )
    lead = query[:-2]
    if lead == key[:-2] == value[:-2] and not enable_gqa:
        return lead
    for name, shape in (("key", key), ("value", value)):
        other = _after_gqa(query, name, shape) if enable_gqa else shape[:-2]
        try:
            lead = np.broadcast_shapes(lead, other)
        except ValueError:
            raise ValueError(_no_broadcast(query, name, shape, lead, other, enable_gqa)) from None
    return lead


def _after_gqa(query: Shape, name: str, shape: Shape) -> Shape:
    """The leading dimensions of key or value once its heads are repeated for those of the query."""
    for which, checked in (("query", query), (name, shape)):
        if len(checked) < 3:
            raise ValueError(
                f"{which} has shape {checked}, but with enable_gqa=True it must have at least 3 dimensions: "
                "(..., heads, length, features)"
            )
    heads_q, heads = query[-3], shape[-3]
    if heads == 0 or heads_q % heads:
        raise ValueError(
            f"query has shape {query} and {name} {shape}: with enable_gqa=True the heads (dimension -3) of "
            f"{name} must divide those of query, got {heads} and {heads_q}"
        )
    return (*shape[:-3], heads_q)


def _no_broadcast(query: Shape, name: str, shape: Shape, lead: Shape, other: Shape, enable_gqa: bool) -> str:
    """`lead` is the query's, broadcast with the key's where the value is at fault."""
    pairs = zip(reversed(lead), reversed(other), strict=False)
    clashes = [(-3 - i, a, b) for i, (a, b) in enumerate(pairs) if a != b and 1 not in (a, b)]
    where = " and ".join(f"dimension {axis} is {a} against {b}" for axis, a, b in clashes)
    so_far = "query" if lead == query[:-2] else "query broadcast with key"
    message = (
        f"query has shape {query} and {name} {shape}: their leading dimensions must broadcast, "
        f"but {where} (leading dimensions of {so_far}: {lead}, of {name}: {other})"
    )
    axis, heads_q, heads = clashes[0]
    if not enable_gqa and len(clashes) == 1 and axis == -3 and heads and heads_q % heads == 0:
        message += (
            f". If these are {heads_q} query heads that share {heads} heads of {name}, pass enable_gqa=True"
        )
    return message


# Mask and numbers.


def check_mask(attn_mask: Any, expected: Shape, kind: Kind) -> None:
    """`expected` is (..., n_q, n_k), to which the mask must broadcast."""
    _check_mask_dtype(attn_mask, kind)
    shape = tuple(attn_mask.shape)
    if broadcasts_to(shape, expected):
        return
    message = f"attn_mask has shape {shape}, but must broadcast to (..., n_q, n_k) = {expected}"
    if len(shape) == 2 and len(expected) > 2 and shape == (expected[0], expected[-1]):
        nones = "None, " * (len(expected) - 2)
        message += f". For a padding mask (batch, n_k) pass attn_mask[:, {nones}:]"
    elif len(shape) >= 2 and broadcasts_to((*shape[:-2], shape[-1], shape[-2]), expected):
        message += ". It would fit transposed: queries are rows, keys are columns"
    raise ValueError(message)


def _check_mask_dtype(attn_mask: Any, kind: Kind) -> None:
    came = dtype_name(attn_mask)
    if came == "bool" or came in FLOATING[kind]:
        return
    if "int" not in came:
        raise TypeError(
            f"attn_mask is {came}, but must be bool or one of {', '.join(FLOATING[kind])}: "
            "True = may attend, or numbers that are added to the scaled scores"
        )
    as_bool, as_float = ("astype(bool)", "astype(float)") if kind == "numpy" else ("bool()", "float()")
    raise TypeError(
        f"attn_mask is {came}, which could mean two things. Pass attn_mask.{as_bool} if 1 means 'may "
        f"attend', or attn_mask.{as_float} if the numbers are to be added to the scaled scores. Beware of "
        "the second with a mask of 0 and 1: torch silently ADDS such a float mask, which then hides nothing"
    )


def broadcasts_to(shape: Shape, expected: Shape) -> bool:
    """Whether an array of this shape serves where `expected` is wanted, without making that any larger."""
    try:
        return np.broadcast_shapes(shape, expected) == expected
    except ValueError:
        return False


def checked_scale(scale: Any, d_k: int) -> float:
    """The scale, 1/√d_k for None; TypeError for what is no number, ValueError for inf, NaN, and None where d_k is 0."""
    if scale is None:
        if d_k == 0:
            raise ValueError("query and key have d_k = 0, so that 1/sqrt(d_k) has no value: pass scale")
        return 1 / math.sqrt(d_k)
    if not _is_number(scale):
        raise TypeError(f"scale is {scale!r}, but must be a number, or None for 1/sqrt(d_k)")
    if not math.isfinite(scale):
        raise ValueError(f"scale is {scale}, but must be finite")
    return float(scale)


def checked_dropout(dropout_p: Any) -> float:
    """The probability as a number; TypeError for what is none, ValueError outside of 0 to 1."""
    if not _is_number(dropout_p):
        raise TypeError(f"dropout_p is {dropout_p!r}, but must be a number: a probability from 0 to 1")
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p is {dropout_p}, but must be a probability from 0 to 1")
    return float(dropout_p)


def check_flag(flag: Any, name: str) -> None:
    """Raise TypeError unless it is True or False."""
    if not isinstance(flag, bool | np.bool_):
        raise TypeError(f"{name} is {flag!r}, but must be True or False")


def check_causality(is_causal: Any) -> None:
    """Raise TypeError unless is_causal is True, False or "lower_right"."""
    if not isinstance(is_causal, bool | np.bool_) and not (
        isinstance(is_causal, str) and is_causal == "lower_right"
    ):
        raise TypeError(f"is_causal is {is_causal!r}, but must be True or False, or 'lower_right'")


def check_axis(axis: Any, shape: Shape) -> None:
    """Raise an error that names the axes there are, unless `axis` is one of an array of this shape."""
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}, but must be an integer") from None
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis is {axis}, but x has shape {tuple(shape)}: {len(shape)} dimensions")


def _is_number(x: Any) -> bool:
    return type(x) is float or (isinstance(x, numbers.Real) and not isinstance(x, bool))
