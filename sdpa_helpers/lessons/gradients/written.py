"""Lesson 04, in words: what has to be added to "without the scale the gradients vanish"."""

from sdpa_helpers.checking.written_exercise import Criterion, WrittenExercise

WRITTEN = (
    WrittenExercise(
        name="when_gradients_vanish",
        lesson="04_gradients",
        title="When do gradients vanish?",
        difficulty=4,
        minutes=15,
        criteria=(
            Criterion("which", 1.0, "which gradient, at which place"),
            Criterion(
                "condition", 2.0, "under which condition the sentence is true, for which queries, and why"
            ),
            Criterion("false", 1.0, "a case in which it is false"),
            Criterion("instead", 1.0, "what goes wrong instead"),
        ),
        section="10. The honest measurement",
    ),
)
