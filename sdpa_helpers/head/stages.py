"""A learner's function in the head: all of attention, or one stage of it, with ours for the others."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpa_helpers.attention import softmax

Attention = Callable[..., tuple[np.ndarray, np.ndarray | None]]
"""(Q, K, V, mask) → (output, weights or None where the function gives none)."""


class NotWritten(Exception):
    """A function returned nothing yet."""


class NotFitting(ValueError):
    """What a function returned can't go into the head; the text says what came and what is needed."""


@dataclass(frozen=True)
class Stages:
    """What of attention is the learner's; None is ours."""

    attention: Callable | None = None
    """(Q, K, V) or (Q, K, V, mask) → output, or (output, weights)."""
    scores: Callable | None = None
    """(Q, K) → (..., n_q, n_k), before the scale. See `each_pair` and `pair_or_matrix` for functions of two vectors."""
    scaled: Callable | None = None
    """(Q, K) → scores of the same shape, with the scale: in the place of `scores` and of ours."""
    weights: Callable | None = None
    """(scores) or (scores, mask) → weights of the same shape."""
    mix: Callable | None = None
    """(weights, V) → output."""
    mask: Callable | None = None
    """(n_q, n_k) → bool, True = may attend: asked for where nothing else hides a key."""

    def __post_init__(self) -> None:
        given = [name for name in self.__dataclass_fields__ if getattr(self, name) is not None]
        for name in given:
            if not callable(getattr(self, name)):
                came = type(getattr(self, name)).__name__
                raise TypeError(
                    f"{name} must be a function that you wrote, without (); this is of type {came}"
                )
        if "attention" in given and {*given} - {"attention", "mask"}:
            raise ValueError(f"give attention, or stages of it, not both: here are {', '.join(given)}")

    @property
    def own(self) -> list[Callable]:
        """The learner's functions."""
        parts = (self.attention, self.scores, self.weights, self.mix, self.mask)
        return [getattr(part, "__wrapped__", part) for part in parts if part is not None]

    @property
    def masks(self) -> bool:
        """Whether hidden keys can be hidden from what the learner wrote."""
        return self.attention is None or _takes(self.attention, 4)

    def __call__(self, Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None) -> Any:
        """(output, weights), with the learner's functions where there are some; they get copies."""
        if mask is None and self.mask is not None:
            mask = _as_mask(self.mask(Q.shape[-2], K.shape[-2]), (Q.shape[-2], K.shape[-2]))
        if self.attention is not None:
            given = (Q.copy(), K.copy(), V.copy())
            result = self.attention(*given) if mask is None else self.attention(*given, mask.copy())
            pair = isinstance(result, tuple) and len(result) == 2
            return (_array(result[0]), _array(result[1])) if pair else (_array(result), None)
        shape = (*Q.shape[:-1], K.shape[-2])
        if self.scaled is not None:
            scores = _of_shape("scores", self.scaled(Q.copy(), K.copy()), shape)
        else:
            raw = (self.scores or _scores)(Q.copy(), K.copy())
            scores = _of_shape("scores", raw, shape) / np.sqrt(Q.shape[-1])
        if self.weights is None:
            weights = _weights(scores, mask)
        elif mask is None:
            weights = self.weights(scores)
        elif _takes(self.weights, 2):
            weights = self.weights(scores, mask.copy())
        else:  # a softmax: what is hidden has a score of −∞
            weights = self.weights(np.where(mask, scores, -np.inf))
        weights = _of_shape("weights", weights, shape)
        return _array(weights @ V if self.mix is None else self.mix(weights, V.copy())), weights


def reference(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None) -> Any:
    """Attention as the course has it: (output, weights); a row in which everything is hidden gives zeros."""
    return Stages()(Q, K, V, mask)


def each_pair(function: Callable) -> Callable:
    """A function of all queries and keys from one of two vectors."""

    @_of(function)
    def matrix(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
        Q, K = map(
            np.array, np.broadcast_arrays(Q[..., :, None, :], K[..., None, :, :])
        )  # a copy for each pair
        pairs = zip(Q.reshape(-1, Q.shape[-1]), K.reshape(-1, K.shape[-1]), strict=True)
        return np.array([_number(function(q, k)) for q, k in pairs]).reshape(Q.shape[:-1])

    return matrix


def pair_or_matrix(function: Callable) -> Callable:
    """A function of all queries and keys, from one of two vectors or from one that takes them all at once."""

    @_of(function)
    def matrix(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
        q, k = (part.reshape(-1, part.shape[-1])[0].copy() for part in (Q, K))
        try:
            _number(function(q, k))
        except Exception as of_two_vectors:
            try:
                return _of_shape("scores", function(Q, K), (*Q.shape[:-1], K.shape[-2]))
            except Exception:
                raise of_two_vectors from None
        return each_pair(function)(Q, K)

    return matrix


def _of(function: Callable) -> Callable[[Callable], Callable]:
    """Lets what is made of a learner's function say which one it is."""

    def keep(made: Callable) -> Callable:
        made.__wrapped__ = function  # type: ignore[attr-defined]
        return made

    return keep


def _takes(function: Callable, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def _array(value: Any) -> np.ndarray:
    if value is None or value is NotImplemented or value is Ellipsis:
        raise NotWritten
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise NotFitting(
            f"your function returned something of type {type(value).__name__}, and numbers are needed"
        )
    return array


def _of_shape(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = _array(value)
    if array.shape != shape:
        raise NotFitting(
            f"{what} of shape {shape} are needed, but your function returned shape {array.shape}"
        )
    return array


def _as_mask(value: Any, shape: tuple[int, int]) -> np.ndarray:
    array = _array(value)
    if array.dtype != bool or array.shape != shape:
        raise NotFitting(
            f"a mask of shape {shape} is needed, True where a query may attend; yours has shape {array.shape} and "
            f"dtype {array.dtype}"
        )
    return array


def _number(value: Any) -> float:
    array = _array(value)
    if array.size != 1:
        raise NotFitting(f"a score is one number, but your function returned an array of shape {array.shape}")
    return float(array.reshape(()))


def _scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.einsum("...id,...jd->...ij", Q, K)


def _weights(scores: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf))
