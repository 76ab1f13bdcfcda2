"""Generating one token at a time: keys and values are kept, so that a new token costs one row of attention.

A causal model never changes the key and value of an earlier token. So they are computed once and kept (Shazeer 2019,
"Fast Transformer Decoding", §2.4); the new query sees all of them:

    cache = KVCache()
    for ... :                                             # query, key, value: (..., 1, d) of the new token
        keys, values = cache.append(key, value)           # (..., tokens so far, d)
        output = scaled_dot_product_attention(query, keys, values)

The first tokens, the prompt, may come in chunks of any length: then is_causal="lower_right", so that the last query
sees all keys and each one before it one fewer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention import arguments

if TYPE_CHECKING:
    from sdpa_helpers.attention.layout import Shape

FIRST_ROOM = 64  # tokens for which a cache without a capacity makes room at first


class KVCache:
    """The keys (..., n, d_k) and values (..., n, d_v) of all tokens so far: NumPy arrays or torch tensors.

    The first append decides kind, dtype, device and leading dimensions, e.g. (batch, heads); with grouped heads the
    few of key and value. All sequences of a batch are equally long.

    It keeps numbers and not how they came about, so it is no place to train in: where a gradient is being recorded,
    `append` refuses a key or value that requires one.

    Args:
        capacity: room for so many tokens, made at once; a token more is an error. None: room doubles as it is needed,
            so that each token is copied about once on average.
        window: keep the last `window` tokens only, for attention that looks no further back (Jiang et al. 2023,
            "Mistral 7B", §2). Memory is then bounded, and there is no capacity.
    """

    def __init__(self, capacity: int | None = None, *, window: int | None = None) -> None:
        if capacity is not None and window is not None:
            raise ValueError("a cache with a window makes its own room: pass either capacity or window")
        self.capacity = None if capacity is None else _positive(capacity, "capacity")
        self.window = None if window is None else _positive(window, "window")
        self._start = self._end = 0  # the tokens that are held lie in between
        self._room: tuple[Any, Any] | None = None  # (..., room for tokens, d_k), (..., room for tokens, d_v)

    def __len__(self) -> int:
        """How many tokens are held."""
        return self._end - self._start

    @property
    def nbytes(self) -> int:
        """Memory that is held, the room for tokens to come included."""
        return 0 if self._room is None else sum(array.nbytes for array in self._room)

    @property
    def key(self) -> Any:
        """The keys that are held: a view."""
        return self._held(0)

    @property
    def value(self) -> Any:
        """The values that are held: a view."""
        return self._held(1)

    def append(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Add the keys and values of new tokens: (..., m, d_k) and (..., m, d_v), mostly with m = 1.

        Returns:
            the keys and values that the new queries may need, as views: all so far. With a window, the new ones and
            the window − 1 before the first of them, so that for m = 1 nothing needs to be hidden.

        Raises:
            TypeError: not arrays of one kind, or not floats of one dtype, or not those of the first append.
            ValueError: shapes that do not fit each other or the first append, more tokens than the capacity, a key
                or value whose gradient would be lost.
        """
        self._check(key, value)
        new = key.shape[-2]
        if self._room is None:
            self._room = _room_like(key, self.capacity or 0), _room_like(value, self.capacity or 0)
        if self.window is not None and new:
            self._start = max(self._start, self._end - self.window + 1)
        self._make_room(new)
        for room, array in zip(self._room, (key, value), strict=True):
            room[..., self._end : self._end + new, :] = array
        self._end += new
        seen = self.key, self.value
        if self.window is not None:
            self._start = max(self._start, self._end - self.window)
        return seen

    def _held(self, which: int) -> Any:
        if self._room is None:
            raise ValueError("the cache is empty: append(key, value) first")
        return self._room[which][..., self._start : self._end, :]

    def _make_room(self, new: int) -> None:
        """So that `new` tokens fit behind those that are held."""
        assert self._room is not None
        room = self._room[0].shape[-2]
        if self._end + new <= room:
            return
        if self.capacity is not None:
            raise ValueError(
                f"the cache has a capacity of {self.capacity} tokens and holds {len(self)}: {new} more do not fit. "
                "Make it larger, or pass window to forget the oldest"
            )
        held = self.key, self.value
        # Twice what is needed: as many tokens again can come before the next copying. With a window that is all.
        enough = max(FIRST_ROOM, 2 * (len(self) + new))
        larger = tuple(_room_like(array, enough) for array in held)
        for to, array in zip(larger, held, strict=True):
            to[..., : len(self), :] = array
        self._room = larger[0], larger[1]
        self._start, self._end = 0, len(self)

    def _check(self, key: Any, value: Any) -> None:
        for name, array in (("key", key), ("value", value)):
            kind = arguments.kind_of(array, name)
            arguments.check_floating(array, name, kind)
            if array.ndim < 2:
                raise ValueError(
                    f"{name} has shape {tuple(array.shape)}, but must be (..., tokens, features); "
                    f"one token's vector is {name}[None, :]"
                )
            if kind == "torch" and array.requires_grad and sys.modules["torch"].is_grad_enabled():
                raise ValueError(
                    f"{name} requires a gradient, which would be lost: the cache keeps numbers only. Decode under "
                    f"torch.no_grad() or pass {name}.detach(); to train, attend to the whole sequence in one call"
                )
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(
                f"key has shape {tuple(key.shape)} and value {tuple(value.shape)}: their second to last dimension "
                f"must be equal, one of each for a token, got {key.shape[-2]} and {value.shape[-2]}"
            )
        rooms = self._room or (key, key)
        names = ("the first key", "the first value") if self._room else ("key", "key")
        for name, array, other, room in zip(("key", "value"), (key, value), names, rooms, strict=True):
            if _what(array) != _what(room):
                raise TypeError(f"{name} is {_what(array)}, but {other} is {_what(room)}: pass all as one")
            if self._room and _but_tokens(array.shape) != _but_tokens(room.shape):
                raise ValueError(
                    f"{name} has shape {tuple(array.shape)}, but {other} had {_pattern(room.shape)}: all dimensions "
                    "but that of the tokens must stay the same"
                )


def _room_like(array: Any, tokens: int) -> Any:
    """An array of the same kind with room for so many tokens, not written to yet."""
    shape = (*array.shape[:-2], tokens, array.shape[-1])
    return np.empty(shape, array.dtype) if isinstance(array, np.ndarray) else array.detach().new_empty(shape)


def _positive(number: Any, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"{name} is {number!r}, but must be an integer")
    if number < 1:
        raise ValueError(f"{name} is {number}, but must be at least 1")
    return int(number)


def _what(array: Any) -> str:
    kind = "a NumPy array" if isinstance(array, np.ndarray) else f"a tensor on {array.device}"
    return f"{kind} of {arguments.dtype_name(array)}"


def _but_tokens(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1])


def _pattern(shape: Shape) -> str:
    return f"({', '.join(map(str, shape[:-2]))}{', ' if shape[:-2] else ''}tokens, {shape[-1]})"
