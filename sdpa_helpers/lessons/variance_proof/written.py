"""Lesson 02, in words: the proof for a reader, and what the central limit theorem has to do with it."""

from sdpa_helpers.checking.written_exercise import Criterion, WrittenExercise

LESSON = "02_variance_proof"

WRITTEN = (
    WrittenExercise(
        name="proof_in_words",
        lesson=LESSON,
        title="The proof in words",
        difficulty=3,
        minutes=10,
        criteria=(
            Criterion("one-product", 2.0, "the variance of one product, and which assumption that step uses"),
            Criterion("sum", 2.0, "why the variances of the products add up, and which assumption that uses"),
            Criterion("moments", 1.0, "where mean 0 and variance 1 come in"),
        ),
        section="2. The proof, in seven steps",
    ),
    WrittenExercise(
        name="not_the_limit_theorem",
        lesson=LESSON,
        title="Not the central limit theorem",
        difficulty=3,
        minutes=10,
        criteria=(
            Criterion("about", 1.0, "what the theorem says about a score, and what it does not"),
            Criterion(
                "few-terms", 1.0, "a score to which the theorem says nothing, and whose variance is `d_k`"
            ),
            Criterion(
                "other-variance", 1.0, "a score that looks like a bell, and whose variance is not `d_k`"
            ),
        ),
        section="4. No bell curve needed",
    ),
)
