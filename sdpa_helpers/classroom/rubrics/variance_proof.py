"""Lesson 02: what a reader looks for, and a model answer to each question."""

from sdpa_helpers.classroom.rubrics import Guide

GUIDES = {
    "proof_in_words": {
        "one-product": Guide(
            "Var(qᵢkᵢ) = E[qᵢ²kᵢ²] − E[qᵢkᵢ]², where both means split into factors because qᵢ is independent of kᵢ. "
            "Half of its points for the step, half for naming the assumption.",
            "“Uncorrelated” in place of “independent”: that splits E[qᵢkᵢ], but not E[qᵢ²kᵢ²].",
        ),
        "sum": Guide(
            "The variance of the sum is the sum of the variances, because different products have covariance 0, because "
            "the pairs (qᵢ, kᵢ) they are made of are independent. An induction that adds one product at a time is as good; so is the weaker "
            "assumption that q is independent of k and one of them has uncorrelated coordinates. Half of its points for the "
            "step, half for naming the assumption.",
            "“Variances add up”, as if they always did; or the independence of q from k is named here.",
        ),
        "moments": Guide(
            "Mean 0: E[qᵢkᵢ] = 0, and the mean square is the variance. Variance 1: each product contributes 1 · 1.",
            "Mean 0 is used for E[q·k] = 0 only. Without it the variance is another too: 3 d_k for means and variances "
            "of 1.",
        ),
    },
    "not_the_limit_theorem": {
        "about": Guide(
            "The theorem is about the shape, for many terms. Mean and variance follow from the assumptions, exactly, "
            "for every d_k.",
            "“Nearly d_k, and the better the more terms there are”: nothing here is approximate.",
        ),
        "few-terms": Guide(
            "For example d_k = 1 and coins: four pairs, scores ±1, variance exactly 1. Any d_k that is small will do.",
            "An example with many terms; or a sample where a computation is meant.",
        ),
        "other-variance": Guide(
            "For example means and variances 1 at d_k = 64: nearly a bell, variance 192. Or variances 4 and 1: 4 d_k.",
            "All coordinates equal, or one of them enormous: the variance is another, but the score is no bell.",
        ),
    },
}

MODEL_ANSWERS = {
    "proof_in_words": r"""The score is the sum of the $d_k$ products $q_ik_i$. Take one of them. Because $q_i$ and $k_i$ are independent, the mean of the product is the product of the means, $E[q_ik_i] = 0 \cdot 0 = 0$: this uses mean 0. So its variance is its mean square. The squares are independent as well, since functions of independent numbers are, hence $E[q_i^2k_i^2] = E[q_i^2]\,E[k_i^2]$. With mean 0 a mean square is a variance, so this is $1 \cdot 1 = 1$: here mean 0 comes in again, and variance 1.

Now the sum. The variance of a sum is the sum of all variances plus twice the covariance of every two of them. Different products are made of different pairs $(q_i, k_i)$, which are independent, so each of these covariances is 0. There remain $d_k$ variances of 1 each: $\mathrm{Var}(q\cdot k) = d_k$. Nowhere did the shape of the distributions matter.""",
    "not_the_limit_theorem": r"""The central limit theorem is about the *shape*: with more and more terms the distribution of the score gets closer to a bell. It does not say how wide the bell is. The variance follows from independence, mean 0 and variance 1, and it is $d_k$ exactly, for every $d_k$.

Toss one coin for the query and one for the key, so $d_k = 1$. The four pairs give the scores $1, -1, -1, 1$: mean 0, variance 1 $= d_k$, and nothing like a bell. On the other hand take $d_k = 64$ independent normal coordinates with mean 1 and variance 1. The score looks almost like a bell, and its variance is $64 \cdot (1 + 1 + 1) = 192$.""",
}
