"""Questions of a lesson, asked in its notebook.

Predictions come before an experiment, and the reader's first answer is kept. Questions to recall come at a lesson's
beginning, about earlier lessons; nothing of them is kept.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sdpa_helpers.course import attempts, saved
from sdpa_helpers.course.joined import tell
from sdpa_helpers.show.predict import Chosen, Prediction, PredictionShown, Series


def asker(lesson: str, predictions: tuple[Prediction, ...]) -> Callable[..., PredictionShown]:
    """The function `predict` of a lesson's notebook."""
    known = {prediction.name: prediction for prediction in predictions}

    def predict(name: str, measured: Any, *shown: Any) -> PredictionShown:
        """Ask what the reader expects; their choice is put beside `measured`, and `shown` appears then.

        Args:
            name: of the prediction, in the lesson's `predictions.md`.
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
        return PredictionShown(lesson, known[name], value, shown, keep, chosen)

    return predict


def _keep(lesson: str, prediction: Prediction, measured: str | float, chosen: Chosen) -> None:
    right = chosen.option >= 0 and chosen.option == prediction.right_for(measured)
    if (lesson, prediction.name) not in saved.load_predictions():
        tell(attempts.log(f"{lesson}/{prediction.name}", float(right), 1.0, option=chosen.option))
    saved.keep_prediction(lesson, prediction.name, saved.Predicted(chosen.option, right, chosen.sure))


@dataclass(frozen=True)
class Recalled:
    """A question about an earlier lesson, and what computes the answer."""

    prediction: Prediction
    measure: Callable[[], str | float]


def recaller(lesson: str, questions: tuple[Recalled, ...]) -> Callable[[], Series]:
    """The function `recall` of a lesson's notebook."""

    def recall() -> Series:
        """Three questions about earlier lessons, one after the other. Nothing is graded, and nothing is kept."""
        asked: list[PredictionShown] = []
        for number, question in enumerate(questions, 1):
            title = f"Remember · {number} of {len(questions)}"
            waits_for = asked[-1].given()["key"] if asked else ""
            found = question.measure()
            asked.append(
                PredictionShown(
                    lesson, question.prediction, found, title=title, waits_for=waits_for, found="Answer"
                )
            )
        return Series(tuple(asked))

    return recall
