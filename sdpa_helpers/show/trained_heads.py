"""Heads that were trained to do something, for the walk-through: `trained_heads.json`, made by lesson 10.

The file says which command makes it again. Each is one small head of one small model, its numbers rounded to three
decimals.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_FILE = Path(__file__).with_name("trained_heads.json")
_TASK = "It is given a name, and should answer with what that person drinks."
_LIMIT = "Only the last word asks; the other rows were never used. One small head of one layer, not a language model."


@dataclass(frozen=True)
class TrainedHead:
    """Queries, keys and values of one head for one list of words, and what it was trained to do."""

    name: str
    about: str
    tokens: list[str]
    columns: list[str]
    """What the coordinates of a value stand for."""
    Q: np.ndarray = field(repr=False)
    K: np.ndarray = field(repr=False)
    V: np.ndarray = field(repr=False)
    scale: str
    """As the walk-through names it: none, 1/√d or 1/d."""
    mask: str
    query: int
    """The word that asks."""

    @property
    def says(self) -> str:
        """What stands under the picture."""
        return f"The head “{self.name}”. {_TASK} {self.about} {_LIMIT}"

    def given(self) -> dict[str, Any]:
        """What the page needs."""
        vectors = {name: array.tolist() for name, array in (("Q", self.Q), ("K", self.K), ("V", self.V))}
        about = {"name": self.name, "says": self.says, "tokens": self.tokens, "columns": self.columns}
        return about | vectors | {"scale": self.scale, "mask": self.mask, "query": self.query}


@cache
def trained_heads() -> tuple[TrainedHead, ...]:
    """All heads, in the order of the file."""
    return tuple(map(_read, json.loads(_FILE.read_text(encoding="utf-8"))["heads"]))


def head_called(name: str) -> TrainedHead:
    """One of them; ValueError names those that there are."""
    for head in trained_heads():
        if head.name == name:
            return head
    raise ValueError(f"there is no head {name!r}; there are: {', '.join(h.name for h in trained_heads())}")


def _read(head: dict[str, Any]) -> TrainedHead:
    Q, K, V = (np.array(head[name], dtype=float) for name in ("queries", "keys", "values"))
    d = Q.shape[1]
    scales = {"none": 1.0, "1/√d": d**-0.5, "1/d": 1 / d}
    scale = next(name for name, factor in scales.items() if abs(factor - head["scale"]) < 1e-3)
    mask = "causal" if head["is_causal"] else "none"
    return TrainedHead(
        head["name"],
        head["about"],
        head["words"],
        head.get("columns", []),
        Q,
        K,
        V,
        scale,
        mask,
        head["query"],
    )
