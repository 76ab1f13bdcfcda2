"""Write docs/semantic-corners.md: what each CPU backend, and torch itself, does in the corners (`make corners`).

Nothing on the page about a result is written by hand: `outcome` puts what came out into words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as of_torch

from sdpa_helpers.attention import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.course.corner_words import gradient_in_words, output_in_words
from sdpa_helpers.course.corners import ROW, Corner, D, N, Right, call, corners, right, rounded, upstream
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.places import course_root

ARRAYS, TENSORS = "arrays", "tensors"
TOLERANCE = {"float32": 2e-3, "float64": 2e-3, "float16": 1e-2, "bfloat16": 5e-2}  # of the largest number
FAINT = (
    0.1  # where all that is right is smaller, it counts as that large: what is left of rounding is no error
)
MATH = "F.sdpa (math)"


def _introduction() -> str:
    """What stands above the lines; the words are in the page beside this file."""
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    version = torch.__version__.split("+")[0]
    return text.format(queries=N, features=D, row=ROW, torch=version, math=MATH)


class Way(NamedTuple):
    """An implementation."""

    takes: str  # ARRAYS or TENSORS
    attend: Callable[..., Any]  # with torch's arguments


def _ours(backend: str, takes: str) -> Way:
    return Way(takes, partial(scaled_dot_product_attention, backend=backend))


def _math(*arguments: Any, **options: Any) -> Any:
    with sdpa_kernel(SDPBackend.MATH):
        return of_torch(*arguments, **options)


def _ways() -> dict[str, Way]:
    """Every backend of a CPU, auto, and torch's own function."""
    here = {name: b for name, b in BACKENDS.items() if not b.needs_gpu and not b.needs_group}
    arrays = [name for name, backend in here.items() if backend.kind == "numpy"]
    tensors = [name for name, backend in here.items() if backend.kind == "torch"]
    return {
        **{name: _ours(name, ARRAYS) for name in arrays},
        "auto (arrays)": _ours("auto", ARRAYS),
        **{name: _ours(name, TENSORS) for name in tensors},
        "auto (tensors)": _ours("auto", TENSORS),
        "F.sdpa": Way(TENSORS, of_torch),
        MATH: Way(TENSORS, _math),
    }


WAYS = _ways()
"""The formula first of each kind: with it the others are compared."""


def answers(corner: Corner, way: Way, gradients: bool) -> list[Any]:
    """The output as it comes, then, if asked for, the three gradients; raises what the way raises."""
    if way.takes == ARRAYS:
        arrays = [x.astype(corner.dtype) for x in (corner.query, corner.key, corner.value)]
        mask = corner.mask
        if mask is not None and mask.dtype != bool:
            mask = mask.astype(corner.mask_dtype or corner.dtype)
        return [way.attend(*arrays, mask, is_causal=corner.is_causal, scale=corner.scale)]
    dtype = getattr(torch, corner.dtype)
    tensors = [
        torch.tensor(x, dtype=dtype, requires_grad=gradients)
        for x in (corner.query, corner.key, corner.value)
    ]
    mask = None if corner.mask is None else torch.tensor(corner.mask)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(getattr(torch, corner.mask_dtype or corner.dtype))
    autocast = getattr(torch, corner.autocast or "bfloat16")
    with torch.autocast("cpu", dtype=autocast, enabled=bool(corner.autocast)):
        output = way.attend(*tensors, mask, is_causal=corner.is_causal, scale=corner.scale)
    if not gradients:
        return [output]
    output.backward(torch.tensor(upstream(corner), dtype=output.dtype))
    return [output, *(x.grad for x in tensors)]


def outcome(corner: Corner, way: Way, gradients: bool, expected: Right) -> str:
    """In words what the way makes of the corner: its output, or the gradients."""
    try:
        came = answers(corner, way, gradients)
    except (TypeError, ValueError, RuntimeError) as error:
        return f"raises {type(error).__name__}"
    tolerance = TOLERANCE[corner.computed_in]
    unit = corner.unit
    if gradients:
        pairs = zip(came[1:], expected[1:], strict=True)
        said = [
            gradient_in_words(_float64(a) * unit, b * unit, tolerance, corner.key.shape[-2]) for a, b in pairs
        ]
        return _together(said)
    mean = _mean_of_values(corner)
    mean = None if mean is None else mean * unit
    words = output_in_words(_float64(came[0]) * unit, expected.output * unit, tolerance, mean)
    return f"{words}, in {str(came[0].dtype).removeprefix('torch.')}" if corner.autocast else words


def _together(said: list[str]) -> str:
    """What is said of the three gradients, once where it is the same."""
    by_words: dict[str, list[str]] = {}
    for name, words in zip(("dQ", "dK", "dV"), said, strict=True):
        by_words.setdefault(words, []).append(name)
    if len(by_words) == 1:
        return said[0]
    return "; ".join(f"{', '.join(names)} {words}" for words, names in by_words.items())


def _mean_of_values(corner: Corner) -> np.ndarray | None:
    """What a row gives that finds all keys alike; None where there is no such thing."""
    if corner.is_causal or not corner.value.size:
        return None
    return rounded(corner.value, corner.computed_in).mean(-2).ravel()


def _float64(array: Any) -> np.ndarray:
    return array.detach().double().numpy() if isinstance(array, torch.Tensor) else array.astype(np.float64)


# The page ------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """What came out for one corner."""

    corner: Corner
    gradients: bool  # whether this is about them
    said: dict[str, str]  # the words for each way; the first is the formula

    @property
    def formula(self) -> str:
        return next(iter(self.said.values()))

    @property
    def others(self) -> dict[str, list[str]]:
        """Who does otherwise, by what they do."""
        found: dict[str, list[str]] = {}
        for name, words in self.said.items():
            if words != self.formula:
                found.setdefault(words, []).append(name)
        return found


def lines_of(found: Iterable[Corner]) -> list[Line]:
    """Every corner computed in every way: all the outputs first, then the gradients."""
    outputs, gradients = [], []
    for corner in found:
        expected = right(corner)
        for into, wanted in ((outputs, False), (gradients, True))[: 1 + corner.gradients]:
            arrays_too = not (wanted or corner.tensors_only)
            ways = {name: way for name, way in WAYS.items() if arrays_too or way.takes == TENSORS}
            said = {name: outcome(corner, way, wanted, expected) for name, way in ways.items()}
            into.append(Line(corner, wanted, said))
    return outputs + gradients


def computed() -> dict[str, list[Line]]:
    """All corners in all ways, under the headings of the page."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for arrays this small several only wait for one another
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return {heading: lines_of(found) for heading, found in corners().items()}
    finally:
        torch.set_num_threads(threads)


def page(found: dict[str, list[Line]]) -> str:
    """The page as Markdown."""
    text = [_introduction(), *_counts([line for lines in found.values() for line in lines])]
    for heading, lines in found.items():
        for title, wanted in ((heading, False), (f"{heading}: gradients", True)):
            if table := [line for line in lines if line.gradients == wanted]:
                text += ["", f"## {title}", "", *_table(table)]
    return "\n".join(text) + "\n"


def _counts(lines: list[Line]) -> list[str]:
    """What auto chooses, and how often each way does something else than the formula."""
    plain = call("")
    query, key, value = plain.query, plain.key, plain.value
    of_arrays = explain_backend(query, key, value).backend
    of_tensors = explain_backend(torch.tensor(query), torch.tensor(key), torch.tensor(value)).backend
    alike = sum(not line.others for line in lines)
    rows = [
        f"*auto* takes, where nothing is odd, `{of_arrays}` for arrays of this size and `{of_tensors}` for tensors.",
        "",
        f"In {alike} of {len(lines)} lines all do the same. How often each does something else than the formula, for "
        "better or worse:",
        "",
        "| | outputs | gradients |",
        "|:--|--:|--:|",
    ]
    for name in WAYS:
        cells = []
        for wanted in (False, True):
            asked = [line for line in lines if line.gradients == wanted and name in line.said]
            differs = sum(line.said[name] != line.formula for line in asked)
            cells.append(f"{differs} of {len(asked)}" if asked else "")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def _table(lines: list[Line]) -> list[str]:
    rows = ["| corner | the formula | which differ |", "|:--|:--|:--|"]
    for line in lines:
        others = "<br>".join(f"**{', '.join(names)}**: {words}" for words, names in line.others.items())
        rows.append(f"| {line.corner.says} | {line.formula} | {others} |")
    return rows


def write(root: Path) -> None:
    """Compute every corner and write the page."""
    keep(root, "docs/semantic-corners.md", page(computed()))


if __name__ == "__main__":
    write(course_root())
