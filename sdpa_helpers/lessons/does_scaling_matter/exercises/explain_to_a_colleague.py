"""Lesson 10, in words, `explain_to_a_colleague`: does attention need √d_k?"""

from sdpa_helpers.checking.kinds.written_exercise import Criterion, WrittenExercise

PROMPT = r"""A colleague says: *"We have to divide by $\sqrt{d_k}$, otherwise the gradient vanishes and nothing is learned."* Explain, in five to eight sentences and with numbers from lesson 10, what is right about that, what is not, and what you would try before you believed either of you for your own model.
"""

ORDER = 70
EXERCISE = WrittenExercise(
    name="explain_to_a_colleague",
    lesson="10_does_scaling_matter",
    title="Explain it to a colleague",
    prompt=PROMPT,
    difficulty=3,
    minutes=12,
    criteria=(
        Criterion("right", "what is right about it, with a number"),
        Criterion("not_only", "that other ways to scale learned as well or sooner, with a number"),
        Criterion("gradient", "which gradient is small without a scale, and which is not"),
        Criterion("limits", "why this experiment does not settle it for another model"),
        Criterion("test", "a fair comparison for your own model: tuning, seeds, interval"),
    ),
    section="9. Each sentence against the numbers",
)
