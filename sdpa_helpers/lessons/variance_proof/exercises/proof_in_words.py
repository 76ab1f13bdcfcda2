"""Lesson 02, in words, `proof_in_words`: the proof in words."""

from sdpa_helpers.checking.kinds.written_exercise import Criterion, WrittenExercise

PROMPT = r"""Prove in words that $\mathrm{Var}(q\cdot k) = d_k$, for someone who knows what a mean, a variance and *independent* are. Four to eight sentences will do; formulas between dollar signs are welcome.

You may assume that all coordinates have mean 0 and variance 1, that $q_i$ is independent of $k_i$, and that the pairs $(q_i, k_i)$ are independent of one another. Say at every step which of these it uses.
"""

ORDER = 110
EXERCISE = WrittenExercise(
    name="proof_in_words",
    lesson="02_variance_proof",
    title="The proof in words",
    prompt=PROMPT,
    difficulty=3,
    minutes=10,
    criteria=(
        Criterion(
            "one-product", "the variance of one product, and which assumption that step uses", weight=2
        ),
        Criterion(
            "sum", "why the variances of the products add up, and which assumption that uses", weight=2
        ),
        Criterion("moments", "where mean 0 and variance 1 come in"),
    ),
    section="2. The proof, in seven steps",
    ladder=True,
)
