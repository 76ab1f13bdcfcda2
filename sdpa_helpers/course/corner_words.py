"""What rows of numbers are, in words, beside what they should be: "row 130 NaN, the others right".

The words hold on every machine: none depends on the last digits of a result.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

FAINT = 0.1  # smaller right numbers count as that large: what rounding leaves is no error


def output_in_words(came: np.ndarray, expected: np.ndarray, tolerance: float, mean: np.ndarray | None) -> str:
    """What the rows are, beside what they should be: "row 130 NaN, the others right"."""
    if came.size == 0:
        return "empty"
    came, expected = _matrices(came, expected)
    close = _close(came, expected, tolerance)
    means = np.zeros(len(came), bool) if mean is None else (np.abs(expected - mean) < 1e-6).all(-1)
    return _in_words(
        {
            "NaN": np.isnan(came).any(-1),
            "±∞": np.isinf(came).any(-1),
            "zeros": ~came.any(-1),
            "the mean of all values": close & means,
            "right": close,
            "a number": np.isnan(expected).any(-1),
            "**wrong**": np.ones(len(came), bool),
        }
    )


def gradient_in_words(came: np.ndarray, expected: np.ndarray, tolerance: float, n_k: int) -> str:
    """The same of a gradient, which is right where it is 0 and should be; a wrong one is wrong as a whole."""
    if came.size == 0:
        return "right"
    came, expected = _matrices(came, expected)
    close = _close(came, expected, tolerance)
    if np.isfinite(came).all() and np.isfinite(expected).all() and (~close).sum() > len(close) / 2:
        return "**wrong**"
    size, right_size = (np.linalg.norm(x, axis=-1) for x in (came, expected))
    return _in_words(
        {
            "NaN": np.isnan(came).any(-1),
            "±∞": np.isinf(came).any(-1),
            "right": close,
            "a number": np.isnan(expected).any(-1),
            "zeros": ~came.any(-1),
            f"**{n_k} times too large**": np.abs(size - n_k * right_size) < 0.1 * n_k * right_size,
            "**wrong**": np.ones(len(came), bool),
        }
    )


def _matrices(*arrays: np.ndarray) -> list[np.ndarray]:
    return [array.reshape(-1, array.shape[-1]) for array in arrays]


def _close(came: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether a row is what it should be."""
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=FAINT)
    return (np.abs(came - expected) <= tolerance * largest).all(-1)


def _in_words(holds: dict[str, Any]) -> str:
    """Of each row the first word that holds; rows of one word together, those of the commonest as "the others"."""
    kinds = np.select(list(holds.values()), list(holds), "")
    by_kind = {kind: np.flatnonzero(kinds == kind).tolist() for kind in dict.fromkeys(kinds.tolist())}
    if len(by_kind) == 1:
        return str(kinds[0])
    most = max(by_kind, key=lambda kind: len(by_kind[kind]))
    odd = [f"{_rows(rows)} {kind}" for kind, rows in by_kind.items() if kind != most]
    return f"{', '.join(odd)}, the others {most}"


def _rows(rows: list[int]) -> str:
    """Rows in words: "row 3", "rows 3 … 7"; "some rows" where they are in more than two pieces."""
    pieces = [
        [row for _, row in piece] for _, piece in groupby(enumerate(rows), lambda pair: pair[1] - pair[0])
    ]
    if len(pieces) > 2:
        return "some rows"
    said = [str(p[0]) if len(p) == 1 else f"{p[0]} … {p[-1]}" for p in pieces]
    return f"{'row' if len(rows) == 1 else 'rows'} {' and '.join(said)}"
