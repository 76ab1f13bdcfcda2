"""Predictions of a lesson: asked in its notebook, the reader's first answer kept."""

import functools
from collections.abc import Callable
from typing import Any

from sdpa_helpers.lessons import saved
from sdpa_helpers.show.predict import Chosen, Prediction, Question


def asker(lesson: str, predictions: tuple[Prediction, ...]) -> Callable[..., Question]:
    """The function `predict` of a lesson's notebook."""
    known = {prediction.name: prediction for prediction in predictions}

    def predict(name: str, measured: Any, *shown: Any) -> Question:
        """Ask what the reader expects; their choice is put beside `measured`, and `shown` appears then.

        Args:
            name: of the prediction, in the lesson's `predictions.py`.
            measured: what came out, a number or a word.
            shown: what belongs to the answer: figures, or text.

        Raises:
            LookupError: the lesson has no prediction of this name.
        """
        if name not in known:
            raise LookupError(f"lesson {lesson} has no prediction {name!r}; it has {', '.join(known)}")
        value = measured.item() if hasattr(measured, "item") else measured
        before = saved.load_predictions().get((lesson, name))
        keep = functools.partial(_keep, lesson, known[name], value)
        chosen = Chosen(before.option, before.sure) if before else None
        return Question(lesson, known[name], value, shown, keep, chosen)

    return predict


def _keep(lesson: str, prediction: Prediction, measured: str | float, chosen: Chosen) -> None:
    right = chosen.option >= 0 and chosen.option == prediction.right_for(measured)
    saved.keep_prediction(lesson, prediction.name, saved.Predicted(chosen.option, right, chosen.sure))
