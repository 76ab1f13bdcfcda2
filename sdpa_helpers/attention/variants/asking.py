"""A mod is asked, and what goes wrong is said in words: what came, and what to write instead."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from sdpa_helpers.attention.arguments import broadcasts_to, dtype_name
from sdpa_helpers.attention.variants import mods

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind, Shape

OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for (?:axis|dimension) \d+ with size (\d+)")
NO_TENSOR = re.compile(
    r"must be Tensor, not|invalid combination of arguments|'numpy\.\w+' object has no attribute"
)


def ask_mask(mask_mod: Any, arguments: tuple[Any, ...], shape: Shape, kind: Kind | None) -> Any:
    """What a mask_mod answers: booleans that broadcast to this shape. kind: of the answer; None: of either."""
    seen = ask("mask_mod", mask_mod, arguments, shape, kind)
    if dtype_name(seen) != "bool":
        raise TypeError(
            f"mask_mod gave {dtype_name(seen)}, but must give booleans: True = this query may attend to this key. "
            "Compare: (…) != 0"
        )
    return seen


def ask(name: str, mod: Any, arguments: tuple[Any, ...], shape: Shape, kind: Kind | None) -> Any:
    """What the mod answers, which is an array that broadcasts to this shape, or an error that says why it is none."""
    check_function(name, mod)
    try:
        answer: Any = mod(*arguments)
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        if (in_words := explained(error, name, mod, arguments)) is not None:
            raise in_words from error
        raise
    if kind_of_answer(answer) not in (("numpy", "torch") if kind is None else (kind,)):
        raise TypeError(f"{name} gave {described(answer)}{instead(answer, kind)}")
    came = tuple(answer.shape)
    if not broadcasts_to(came, shape):
        raise ValueError(
            f"{name} gave shape {came} when asked about {shape[-2]} queries and {shape[-1]} keys, but "
            f"must give what broadcasts to {shape}: one answer for each i and j that it is called with. An array of "
            "all answers is looked up, as table[i, j]"
        )
    return answer


def check_function(name: str, mod: Any) -> None:
    """Raise TypeError unless it can be called."""
    if callable(mod):
        return
    as_mask = (
        ": pass it as attn_mask" if kind_of_answer(mod) else f", but must be a function of {taken_by(name)}"
    )
    raise TypeError(f"{name} is {described(mod)}{as_mask}")


def kind_of_answer(answer: Any) -> Kind | None:
    """None for what is no array."""
    if isinstance(answer, mods.OF_NUMPY):
        return "numpy"
    torch = sys.modules.get("torch")
    return "torch" if torch is not None and isinstance(answer, torch.Tensor) else None


def described(x: Any) -> str:
    """An array by its shape, anything else as it prints."""
    kind = kind_of_answer(x)
    if kind is None:
        return f"{x!r} of type {type(x).__name__}"
    return f"{'an array' if kind == 'numpy' else 'a tensor'} of shape {tuple(x.shape)}"


def instead(answer: Any, kind: Kind | None) -> str:
    """What to give instead of something that is no array, or not of the kind that the mod was called with."""
    if kind_of_answer(answer) is None:
        return (
            ": it is called with arrays b, h, i, j, so it must give an array (j == j lets everything through)"
        )
    if kind == "torch":
        return ", but is called with tensors and must give one: write torch.where, not np.where"
    return ", but is called with NumPy arrays and must give one: write np.where, not torch.where"


def explained(error: Exception, name: str, mod: Any, arguments: tuple[Any, ...]) -> Exception | None:
    """An error that says what to do about the one that a mod raised; None where that is not known."""
    text = str(error)
    if "ambiguous" in text or "data-dependent control flow" in text:
        return ValueError(
            f"{name} asks an array for one truth value: it is called with many i and j at once, so it cannot use if, "
            "and, or, not, min, max or 0 < i < j. Write & | ~ with brackets around each comparison, and np.where or "
            "torch.where in place of if"
        )
    if isinstance(error, IndexError) and (found := OUT_OF_BOUNDS.search(text)):
        index, length = map(int, found.groups())
        named = zip("bhij", arguments[-4:], strict=True)
        which = [letter for letter, x in named if 0 not in x.shape and int(x.max()) == index]
        looked_up = f"{which[0]} = {index}" if len(which) == 1 else f"index {index}"
        return IndexError(f"{name} looked up {looked_up} in an array of length {length}: out of bounds")
    try:
        inspect.signature(mod).bind(*arguments)
    except TypeError as misfit:
        return TypeError(f"{name} must be a function of {taken_by(name)}: {misfit}{did_you_mean(mod)}")
    except ValueError:  # what is written in C may have no signature
        pass
    if isinstance(arguments[-1], mods.OF_NUMPY) and NO_TENSOR.search(text):
        first_line = text.splitlines()[0].rstrip(":")
        return TypeError(
            f"{name} is called with NumPy arrays, but is written for tensors: {first_line}. Write np.where for "
            "torch.where, or pass tensors, or device='cpu' to create_block_mask"
        )
    return None


def did_you_mean(mod: Any) -> str:
    """Of a function that makes a ready-made mod, but was not called."""
    if getattr(mod, "__module__", "") != mods.__name__ or not hasattr(mods, getattr(mod, "__name__", "")):
        return ""
    parameters = [*inspect.signature(mod).parameters]
    return "" if "b" in parameters else f". Did you mean {mod.__name__}({', '.join(parameters)})?"


def taken_by(name: str) -> str:
    """The arguments of a mod, as a message writes them."""
    return "(b, h, i, j)" if name == "mask_mod" else "(score, b, h, i, j)"


def check_made_for(name: str, mod: Any, batch: int | None, heads: int | None) -> None:
    """Raise ValueError where a ready-made mod looks up another number of sequences or heads. None: there are none."""
    for what, here in (("sequences", batch), ("heads", heads)):
        made_for = getattr(mod, "made_for", {}).get(what)
        if made_for is not None and here is not None and made_for != here:
            raise ValueError(f"{name} was made for {made_for} {what}, but here are {here}")
