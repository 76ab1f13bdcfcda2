"""Lesson 02: what a reader looks for."""

from sdpa_helpers.classroom.rubrics import Guide

GUIDES = {
    "proof_in_words": {
        "one-product": Guide(
            "Var(qᵢkᵢ) = E[qᵢ²kᵢ²] − E[qᵢkᵢ]², where both means split into factors because qᵢ is independent of kᵢ. "
            "1 point for the step, 1 for naming the assumption.",
            "“Uncorrelated” in place of “independent”: that splits E[qᵢkᵢ], but not E[qᵢ²kᵢ²].",
        ),
        "sum": Guide(
            "The variance of the sum is the sum of the variances, since different products have covariance 0, since "
            "different coordinates are independent. 1 point for the step, 1 for naming the assumption.",
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
