"""Lesson 10: what a reader looks for, and a model answer to each question."""

from sdpa_helpers.classroom.rubrics import Guide

GUIDES = {
    "explain_to_a_colleague": {
        "right": Guide(
            "Without any scale the model learns less and less as d_k grows, however it is tuned: with SGD from 80% "
            "right at 16 to 26% at 512, with Adam from 87% to 18%. One such number is enough.",
            "“Nothing is learned”: at d_k = 16 it is 80% and more. (At 512 Adam's 18% is indeed no more than naming the "
            "list's most frequent value earns; SGD's 26% is.)",
        ),
        "not_only": Guide(
            "1/d_k, a learned scale and QK-norm reach 98% or more; QK-norm gets to 90% sooner than 1/√d_k in 12 of 12 "
            "settings. One of them with its number is enough.",
            "“Smaller start” as proof that no factor is needed: it learned, but later than 1/√d_k in all settings.",
        ),
        "gradient": Guide(
            "The gradient at the scores of the median row is small (0.0009 against 0.25 at the start, d_k = 512). The "
            "gradient at W_q is ten times larger without the scale, or: the mean over rows stays at a quarter.",
            "“The gradient”, without saying which; “Adam repairs that”: it ended below SGD.",
        ),
        "limits": Guide(
            "One layer, one task, 200 steps, fixed d_model, no warm-up or normalization between layers: one of these, "
            "or that only seeds vary and no interval covers the choice of the task.",
            "“Only ten seeds” as the whole limit: the seeds are what the intervals do cover.",
        ),
        "test": Guide(
            "Same budget of learning rates for each way to scale, chosen on tuning seeds; other seeds for the report; an "
            "interval, seed by seed. Two of the three are enough.",
            "A comparison at one learning rate for all, or rates chosen by the runs that are reported.",
        ),
    },
}

MODEL_ANSWERS = {
    "explain_to_a_colleague": r"""You are right that some scale is needed: in lesson 10 a model without any got 80% of its lookups right at $d_k = 16$ and 26% at $d_k = 512$ (SGD, tuned; with Adam 87% and 18%). But it need not be $1/\sqrt{d_k}$. With $1/d_k$ 98% or more were right everywhere, and QK-norm got to 90% sooner than $1/\sqrt{d_k}$ in all twelve settings.

“The gradient vanishes” is true of the scores of a typical row: before the first step its median is 0.0009 without a scale and 0.25 with it, at $d_k = 512$. The gradient at $W_q$ is ten times *larger* without the scale, which is why Adam does not help. All of this is one layer, one task and 200 steps, so it settles nothing for our model. I would give each way to scale the same number of learning rates on a few tuning seeds, train the winners with new seeds, and look at the difference seed by seed with its interval.""",
}
