"""Lesson 00: one question, to show how the lessons ask."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "sum_of_products",
        "What is (1, 2) · (3, 4), the sum of the products of the coordinates?",
        (
            Option(
                "10",
                "1 · 4 + 2 · 3: each number met the *other* coordinate. (Adding all four gives 10 as well.)",
            ),
            Option("11", "1 · 3 + 2 · 4 = 3 + 8."),
            Option("14", "1 · 2 + 3 · 4: the products were taken inside each vector, not between them."),
            Option("21", "(1 + 2) · (3 + 4): first added, then multiplied. The products come first."),
        ),
        after="The lessons work like this: your answer, what was measured, and why. "
        "Often a figure or a table follows that would have given it away.",
    ),
)

predict = asker("00_start_here", PREDICTIONS)
