"""Lesson 10 begins with three questions about lessons 02 to 04: the raw spread, a doubled scale, rows of dS."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def _spread_of_scores() -> float:
    q, k = np.random.default_rng(0).standard_normal((2, 20_000, 256))
    return float(np.einsum("nd,nd->n", q, k).std())


def _what_reads_one_over_d() -> str:
    """The probe: one query e₁, keys e₁ and 0; ln of the ratio of the two weights is the scale that was used."""
    d_k = 64
    used = {
        "no scale": 1.0,
        "a scale of 1/√dₖ": d_k**-0.5,
        "1/√dₖ in the query, and again in the call": d_k**-0.5 * d_k**-0.5,
    }
    read = {name: np.log(np.divide(*softmax(np.array([scale, 0.0])))) for name, scale in used.items()}
    (name,) = [name for name, found in read.items() if np.isclose(found, 1 / d_k)]
    return name


def _when_rows_of_dS_add_up_to_0() -> str:
    rng = np.random.default_rng(1)
    sums = []
    for size in (0.1, 1.0, 30.0):
        A, dA = softmax(size * rng.standard_normal((5, 7))), rng.standard_normal((5, 7))
        sums.append(np.abs((A * (dA - (A * dA).sum(-1, keepdims=True))).sum(-1)).max())
    return "always" if max(sums) < 1e-9 else "sometimes"


QUESTIONS = (
    Recalled(
        Prediction(
            "spread_at_256",
            "Coordinates are independent, with mean 0 and variance 1, and d_{k} = 256. What is the standard deviation "
            "of the raw score q · k?",
            (
                Option("1", "That is what dividing by √d_{k} makes of it.", right=(0.9, 1.1)),
                Option("16", "The variance is 256, and its square root 16 (lesson 02).", right=(15.5, 16.5)),
                Option("256", "That is the variance.", right=(250, 262)),
            ),
            measured="{:.0f}",
        ),
        _spread_of_scores,
    ),
    Recalled(
        Prediction(
            "probe_reads_one_over_d",
            "You probe a colleague's attention at d_{k} = 64 and read a scale of 1/64. Which mistake gives that?",
            (
                Option("no scale", "Then the probe reads 1."),
                Option("a scale of 1/√dₖ", "Then the probe reads 1/8, as it should."),
                Option(
                    "1/√dₖ in the query, and again in the call",
                    "Two factors of 1/8 make 1/64 (lesson 02). Today you see whether a model can learn with it.",
                ),
            ),
        ),
        _what_reads_one_over_d,
    ),
    Recalled(
        Prediction(
            "rows_of_dS",
            "When do the rows of *dS*, the gradient at the scores, add up to 0?",
            (
                Option(
                    "always", "Raising all scores of a row by the same amount changes nothing (lesson 04)."
                ),
                Option(
                    "only without saturation",
                    "Saturated rows have small gradients. They add up to 0 as well.",
                ),
                Option("never", "They do, for any weights: what one key gains, the others lose."),
            ),
        ),
        _when_rows_of_dS_add_up_to_0,
    ),
)

recall = recaller("10_does_scaling_matter", QUESTIONS)
