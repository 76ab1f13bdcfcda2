"""Lesson 04: what a reader looks for, and a model answer to each question."""

from sdpa_helpers.classroom.rubrics import Guide

GUIDES = {
    "when_gradients_vanish": {
        "which": Guide(
            "Tells the gradient at the scores (dS) from the one at the queries (dQ) or at the values (dV).",
            "“The gradient”, as if there were one. dV does not pass softmax at all.",
        ),
        "condition": Guide(
            "True of the typical (median) query, at the scores, when d_k is large and keys are few (half of the points): the "
            "best two scores lie far apart, and the slope falls like e to the minus gap (the other half).",
            "“Large d_k” as the whole condition. With d_k = 64 and 1024 keys the unscaled median is the larger one.",
        ),
        "false": Guide(
            "One of: many keys at ordinary d_k; the mean at the queries, larger without the scale in every cell that "
            "was measured; the values.",
            "“The mean falls too” taken for “vanishes”: at the scores it falls like 1/√d_k only, at the queries not "
            "at all.",
        ),
        "instead": Guide(
            "The gradient is spread unfairly: a few queries, whose best keys nearly tie, get almost all of it. Or: "
            "training starts saturated.",
            "“Nothing learns”: nearly tied rows do, the values do, and Adam rescales what is small.",
        ),
    },
}

MODEL_ANSWERS = {
    "when_gradients_vanish": r"""Three gradients have to be told apart: at the scores, at the queries and keys, and at the values. The sentence is true *at the scores*, for the *typical* (median) query, when $d_k$ is large and the keys are few. Then the best two scores lie many units apart, and the slope of softmax falls like $e^{-\text{gap}}$.

It is false with many keys: at $d_k = 64$ and 1024 keys the unscaled median is larger than the scaled one. It is false for the mean at the queries, which is larger without the scale in every cell of the lesson's grid, because the missing factor $1/\sqrt{d_k}$ is missing from the chain rule too. The values' gradient does not pass softmax at all. What does go wrong is the distribution: a few queries, those whose best keys nearly tie, get almost all of the gradient, and most get next to nothing.""",
}
