"""A value that a learner made (test cases, a mask, a line number with a reason), carried out of a kernel as text.

`write` runs next to the learner's code. `read` believes nothing of what comes: both keep the same bounds. Numbers,
True, False, None, texts, NumPy arrays, and lists and tuples of these are carried; nothing is pickled or evaluated.
"""

import json
from typing import Any

import numpy as np

from sdpa_helpers.checking.answers.packed_array import DTYPES, pack_array, unpack_array

MOST_AXES = 4
"""Of an array that a prompt asks for; it may be written as lists."""
MAX_DEPTH = 3 + MOST_AXES
"""Lists and tuples within each other: the cases, a case, its inputs, and an array written as lists."""
MAX_PARTS = 20_000
"""Numbers, texts, lists and tuples, all together."""
MAX_LETTERS = 50_000
MAX_PADDED = 1_000_000
"""Parts times the longest text's letters: NumPy makes every text of a list as long as the longest, 4 bytes a letter."""
MAX_INTEGER = 10**18
MAX_CHARACTERS = 1 << 20
"""Of the written text."""
MAX_AXES = 8

SAYS = {
    "deep": f"lists or tuples are nested more than {MAX_DEPTH} deep",
    "parts": f"there are more than {MAX_PARTS:,} numbers in it",
    "letters": "its texts are too long",
    "integer": "a whole number in it has more than 18 digits",
    "texts": "an array in it holds something else than numbers; return a list or a tuple",
    "kind": "there is something in it that cannot be handed over",
}
"""Why a value is not looked at, by the slug that an `Unfit` has."""


class Unfit(ValueError):
    """A value that is not carried; its text is a slug of `SAYS`."""


def write(value: Any) -> str:
    """A value as text; raises `Unfit` for one that is over the bounds, or of another kind."""
    text = json.dumps(_node(value, _Count()), separators=(",", ":"))
    if len(text) > MAX_CHARACTERS:
        raise Unfit("parts")
    return text


def read(text: str) -> Any:
    """The value again, from untrusted text; raises ValueError for anything that `write` does not write."""
    if len(text) > MAX_CHARACTERS:
        raise Unfit("parts")
    try:
        return _value(json.loads(text), _Count())
    except RecursionError:
        raise Unfit("deep") from None


class _Count:
    """What was met so far."""

    def __init__(self) -> None:
        self.parts = self.letters = self.longest = 0

    def add(self, parts: int = 1, letters: int = 0) -> None:
        """Note some more; `Unfit` when it is too much."""
        self.parts += parts
        self.letters += letters
        if self.parts > MAX_PARTS:
            raise Unfit("parts")
        self.longest = max(self.longest, letters)
        if self.letters > MAX_LETTERS or self.parts * self.longest > MAX_PADDED:
            raise Unfit("letters")


def _node(value: Any, count: _Count, depth: int = 0) -> Any:
    if isinstance(value, list | tuple):
        if depth >= MAX_DEPTH:
            raise Unfit("deep")
        count.add()
        parts = [_node(item, count, depth + 1) for item in value]
        return {"t" if isinstance(value, tuple) else "l": parts}
    if isinstance(value, np.ndarray | np.generic):
        count.add(max(1, value.size))
        array = np.array(value)  # a plain copy: subclasses lose their behaviour here
        if array.dtype.kind in "OUST":
            raise Unfit("texts")
        if array.dtype.name not in DTYPES or array.ndim > MAX_AXES or max(array.shape, default=0) > MAX_PARTS:
            raise Unfit("kind")
        return {"a": pack_array(array)}
    return _plain(value, count)


def _plain(value: Any, count: _Count) -> Any:
    """A text, a number, True, False or None."""
    if isinstance(value, str):
        count.add(letters=len(value))
        return str(value)
    count.add()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        raise Unfit("integer")
    if value is not None and not isinstance(value, bool | int | float):
        raise Unfit("kind")
    return value


def _value(node: Any, count: _Count, depth: int = 0) -> Any:
    if not isinstance(node, dict):
        if isinstance(node, list):
            raise ValueError("a list stands in a node of its own")
        _plain(node, count)
        if isinstance(node, str):
            node.encode()  # ValueError for half a letter
        return node
    if len(node) != 1:
        raise ValueError("a node has one key")
    ((key, held),) = node.items()
    if key == "a":
        return _array(held, count)
    if key not in ("t", "l") or not isinstance(held, list):
        raise ValueError("unknown node")
    if depth >= MAX_DEPTH:
        raise Unfit("deep")
    count.add()
    parts = [_value(item, count, depth + 1) for item in held]
    return tuple(parts) if key == "t" else parts


def _array(held: Any, count: _Count) -> np.ndarray:
    array = unpack_array(held)
    if array.ndim > MAX_AXES or max(array.shape, default=0) > MAX_PARTS:
        raise Unfit("kind")
    count.add(max(1, array.size))
    return array
