"""Lesson 01: numbers laid out as tables of plain text."""

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.show.figures import write


def paper_table(
    tokens: Sequence[str],
    scores: Float[Array, "n_q n_k"],
    weights: Float[Array, "n_q n_k"],
    outputs: Float[Array, "n_q d_v"],
) -> str:
    """Scores, weights and output of each token, a line for each."""
    columns = [["who asks", *tokens]]
    for name, rows, digits in (("scores", scores, 0), ("weights", weights, 2), ("output", outputs, 2)):
        columns.append([name, *(", ".join(write(x, digits) for x in row) for row in rows)])
    return _side_by_side(columns)


def nearness_table(
    words: Sequence[str],
    distances: Float[Array, "n_k"],
    by_distance: Float[Array, "n_k"],
    by_product: Float[Array, "n_k"],
) -> str:
    """How far each key is from the query, and its weight by distance and by dot product, a line for each."""
    columns = [["key", *words]]
    for name, numbers in (
        ("distance", distances),
        ("weight by distance", by_distance),
        ("weight by dot product", by_product),
    ):
        columns.append([name, *(write(x, 2) for x in numbers)])
    return _side_by_side(columns)


def _side_by_side(columns: Sequence[Sequence[str]]) -> str:
    padded = [[f"{text:{max(map(len, column))}}" for text in column] for column in columns]
    return "\n".join("   ".join(row).rstrip() for row in zip(*padded, strict=True))
