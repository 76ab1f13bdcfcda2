"""A learner's function in the head: all of attention, or one stage of it, with ours for the others."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpa_helpers.attention import softmax

Attention = Callable[..., tuple[np.ndarray, np.ndarray | None]]
"""(Q, K, V, mask) → (output, weights or None where the function gives none)."""


@dataclass(frozen=True)
class Stages:
    """What of attention is the learner's; None is ours."""

    attention: Callable | None = None
    """(Q, K, V) or (Q, K, V, mask) → output, or (output, weights)."""
    scores: Callable | None = None
    """(Q, K) → (..., n_q, n_k), or two vectors (q, k) → one number. Before the scale."""
    weights: Callable | None = None
    """(scores) or (scores, mask) → weights of the same shape."""
    mix: Callable | None = None
    """(weights, V) → output."""
    mask: Callable | None = None
    """(n_q, n_k) → bool, True = may attend: asked for where nothing else hides a key."""

    def __post_init__(self) -> None:
        given = [
            name
            for name in ("attention", "scores", "weights", "mix", "mask")
            if getattr(self, name) is not None
        ]
        for name in given:
            if not callable(getattr(self, name)):
                came = type(getattr(self, name)).__name__
                raise TypeError(
                    f"{name} must be a function that you wrote, without (); this is of type {came}"
                )
        if "attention" in given and {*given} - {"attention", "mask"}:
            raise ValueError(f"give attention, or stages of it, not both: here are {', '.join(given)}")

    @property
    def masks(self) -> bool:
        """Whether hidden keys can be hidden from what the learner wrote."""
        return self.attention is None or _takes(self.attention, 4)

    def __call__(self, Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None) -> Any:
        """(output, weights), with the learner's functions where there are some."""
        if mask is None and self.mask is not None:
            mask = np.asarray(self.mask(Q.shape[-2], K.shape[-2]))
        if self.attention is not None:
            result = self.attention(Q, K, V, mask) if mask is not None else self.attention(Q, K, V)
            pair = isinstance(result, tuple) and len(result) == 2
            return (_array(result[0]), _array(result[1])) if pair else (_array(result), None)
        scores = (_scores if self.scores is None else _in_pairs(self.scores))(Q, K) / np.sqrt(Q.shape[-1])
        if self.weights is None:
            weights = _weights(scores, mask)
        elif mask is None:
            weights = self.weights(scores)
        elif _takes(self.weights, 2):
            weights = self.weights(scores, mask)
        else:  # a softmax: what is hidden has a score of −∞
            weights = self.weights(np.where(mask, scores, -np.inf))
        weights = _array(weights)
        return _array(weights @ V if self.mix is None else self.mix(weights, V)), weights


def reference(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None) -> Any:
    """Attention as the course has it: (output, weights); a row in which everything is hidden gives zeros."""
    return Stages()(Q, K, V, mask)


def _takes(function: Callable, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def _in_pairs(function: Callable) -> Callable:
    """A function of all queries and keys: as it is, or called with one pair of vectors after the other."""

    def matrix(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
        try:
            scores = _array(function(Q, K))
            if scores.shape == (*Q.shape[:-1], K.shape[-2]):
                return scores
        except ValueError:  # shapes that do not fit: it is a function of two vectors
            pass
        Q, K = np.broadcast_arrays(Q[..., :, None, :], K[..., None, :, :])
        pairs = zip(Q.reshape(-1, Q.shape[-1]), K.reshape(-1, K.shape[-1]), strict=True)
        return np.array([_number(function(q, k)) for q, k in pairs]).reshape(Q.shape[:-1])

    return matrix


class NotWritten(Exception):
    """A function returned nothing yet."""


def _array(value: Any) -> np.ndarray:
    if value is None or value is NotImplemented or value is Ellipsis:
        raise NotWritten
    return np.asarray(value)


def _number(value: Any) -> float:
    if np.size(value) != 1:
        raise ValueError(
            f"two vectors need one number as their score; an array of shape {np.shape(value)} came"
        )
    return float(_array(value).reshape(()))


def _scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.einsum("...id,...jd->...ij", Q, K)


def _weights(scores: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf))
