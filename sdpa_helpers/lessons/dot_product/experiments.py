"""Lesson 01, section 9: the two experiments that need more than a line. They return data."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax


def moved_without_each_step(
    Q: Float[Array, "n_q d_k"],
    K: Float[Array, "n_k d_k"],
    V: Float[Array, "n_k d_v"],
    may_see: Bool[Array, "n_q n_k"],
) -> dict[str, float]:
    """Leave out one step of attention at a time: how far does the output move at most?

    Without the comparison all scores are 0, without softmax the scores themselves are the weights, and without
    the average each query takes the value of its heaviest weight.
    """

    def output(without: str = "") -> Float[Array, "n_q d_v"]:
        scores = np.zeros(may_see.shape) if without == "compare" else Q @ K.T
        if without != "scale":
            scores = scores / np.sqrt(K.shape[-1])
        if without != "mask":
            scores = np.where(may_see, scores, -np.inf)
        weights = np.where(scores > -np.inf, scores, 0.0) if without == "softmax" else softmax(scores)
        return V[weights.argmax(axis=-1)] if without == "average" else weights @ V

    steps = ("compare", "scale", "mask", "softmax", "average")
    return {step: float(np.abs(output(without=step) - output()).max()) for step in steps}


def weights_of_random_models(
    n_words: int, asks: int, models: int = 2000, d_model: int = 16, seed: int = 3
) -> Float[Array, "models n_words"]:
    """How one word of a sentence attends to all its words, in models that have learned nothing.

    Each model draws the words' vectors and the two matrices that make queries and keys; scores are scaled.
    """
    rng = np.random.default_rng(seed)
    words = rng.standard_normal((models, n_words, d_model))
    to_query, to_key = rng.standard_normal((2, models, d_model, d_model)) / np.sqrt(d_model)
    query = words[:, asks : asks + 1] @ to_query
    scores = query @ (words @ to_key).swapaxes(-2, -1) / np.sqrt(d_model)
    return softmax(scores)[:, 0]
