"""Lesson 04, in words, `when_gradients_vanish`: when do gradients vanish?"""

from sdpa_helpers.checking.kinds.written_exercise import Criterion, WrittenExercise

PROMPT = r"""*"Without the division by $\sqrt{d_k}$, large $d_k$ makes the gradients extremely small."* You will read this in many places. Write the footnote that it needs, in four to eight sentences.
"""

ORDER = 140
EXERCISE = WrittenExercise(
    name="when_gradients_vanish",
    lesson="04_gradients",
    title="When do gradients vanish?",
    prompt=PROMPT,
    difficulty=4,
    minutes=15,
    criteria=(
        Criterion("which", "which gradient, at which place"),
        Criterion(
            "condition", "under which condition the sentence is true, for which queries, and why", weight=2
        ),
        Criterion("false", "a case in which it is false"),
        Criterion("instead", "what goes wrong instead"),
    ),
    section="10. The honest measurement",
)
