"""Lesson 02, in words, `not_the_limit_theorem`: not the central limit theorem."""

from sdpa_helpers.checking.kinds.written_exercise import Criterion, WrittenExercise

PROMPT = """An article says: *"A score is a sum of many terms. Therefore, by the central limit theorem, its variance is about $d_k$."* Tell its author, in three to six sentences, why the theorem is not the reason. Support it with two examples of your own, with numbers.
"""

ORDER = 120
EXERCISE = WrittenExercise(
    name="not_the_limit_theorem",
    lesson="02_variance_proof",
    title="Not the central limit theorem",
    prompt=PROMPT,
    difficulty=3,
    minutes=10,
    criteria=(
        Criterion("about", "what the theorem says about a score, and what it does not"),
        Criterion("few-terms", "a score to which the theorem says nothing, and whose variance is `d_k`"),
        Criterion("other-variance", "a score that looks like a bell, and whose variance is not `d_k`"),
    ),
    section="4. Other shapes",
)
