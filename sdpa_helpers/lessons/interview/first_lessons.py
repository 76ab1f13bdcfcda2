"""Interview questions on lessons 01 to 03: scores, their scale, softmax."""

from collections.abc import Mapping

import numpy as np

from sdpa_helpers.lessons.interview.question import Asked, Claimed, Mistaken


def _largest_exponents() -> Mapping[str, float]:
    """The largest x whose exponential is a number."""
    return {name: float(np.log(np.finfo(name).max)) for name in ("float16", "float32")}


QUESTIONS = (
    Asked(
        "steps",
        "01_dot_product",
        0,
        "Walk me through scaled dot-product attention, step by step.",
        "Every query meets every key in a dot product; these scores are divided by √d_{k}, and where a mask hides "
        "a key the score becomes −∞. Softmax turns each query's row of scores into weights that sum to 1. The "
        "output is the average of the values under these weights.",
        Claimed(55),
        (124, "attention"),
    ),
    Asked(
        "three-roles",
        "01_dot_product",
        0,
        "Why does it take queries, keys *and* values?",
        "A query says what a position looks for, a key what it is found by, and a value what it hands over. With "
        "separate projections a model can match on one thing and pass on another. Queries and keys have to be "
        "equally wide, and there are as many keys as values; the width of the values is free.",
        Mistaken("attention", "keys-used-as-values"),
        (65, 67),
    ),
    Asked(
        "shapes",
        "01_dot_product",
        0,
        "Q is (n_{q}, d_{k}), K is (n_{k}, d_{k}), V is (n_{k}, d_{v}). What shape does everything else have?",
        "Scores and weights are (n_{q}, n_{k}), one row for each query. The output is (n_{q}, d_{v}): as many rows "
        "as there are queries, as wide as a value. Leading axes such as batch and heads are carried along.",
        Claimed(116),
        (71, 67, "attention_scores"),
    ),
    Asked(
        "zero-score",
        "01_dot_product",
        0,
        "A key has a score of 0. Does it get any weight?",
        "Yes: weights are proportional to e^{score}, and e^{0} is 1. Among the scores 1, 0 and −3 the zero gets "
        "<c5.of_zero:.2f>, and even the −3 gets <c5.of_minus_3:.3f>. Only a score of −∞ gives a weight of 0.",
        Claimed(5),
        (5, 7),
    ),
    Asked(
        "large-score",
        "01_dot_product",
        0,
        "A score q·k is large. What do you know about q and k?",
        "That they are aligned, or long, or both: the score is the product of both lengths and the cosine between "
        "them. A key of length 1 in the direction of the query scores <c6.same_way:.1f> in our example, and a key "
        "of length 5 that is 60° off scores <c6.long_at_60:.1f>. So a longer key can overtake a better aligned one.",
        Claimed(6),
        (6, "keys_where_the_long_one_wins"),
    ),
    Asked(
        "explanations",
        "01_dot_product",
        2,
        "Do attention weights tell you which token mattered?",
        "Not by themselves: what a token contributes is its weight times its *value*. In our example, taking away "
        "a token of weight <c59.weight:.2f> moves the output by <c59.moved:.2f>; give it another value, keep the "
        "weight, and taking it away moves nothing. How far weights explain a model is debated, so remove the token "
        "and measure.",
        Claimed(59),
        (59, "01_dot_product, What this does not tell you"),
    ),
    Asked(
        "why-root",
        "02_variance_proof",
        0,
        "Why are the scores divided by √d_{k}?",
        "A score adds up d_{k} products. If coordinates are independent with mean 0 and variance 1, its variance "
        "is d_{k}: we measure a spread of <c31.std_64:.1f> at 64 and <c31.std_512:.1f> at 512. Divided by √d_{k} "
        "the spread is 1 for every width, so softmax starts equally sharp whatever d_{k} is.",
        Claimed(141),
        (31, 16, "proof_in_words"),
    ),
    Asked(
        "assumptions",
        "02_variance_proof",
        1,
        "What does the argument for √d_{k} assume, and what if it does not hold?",
        "Independent coordinates with mean 0 and variance 1; the variance is then exactly d_{k}, whatever the "
        "distribution, even for small d_{k}. At d_{k} = 64 the variance is 1,072 if coordinates correlate by 0.5 "
        "(measured: <c75.alike:,.0f>), and 192 if all means are 1 (<c122.means_1:.0f>). Trained "
        "queries and keys keep none of these promises, so the argument is about the start of training.",
        Claimed(74),
        (74, 75, 122, "not_the_limit_theorem"),
    ),
    Asked(
        "one-over-d",
        "02_variance_proof",
        2,
        "Why not divide by d_{k} instead of √d_{k}?",
        "For unrelated keys 1/d_{k} flattens the weights: the entropy share at d_{k} = 512 is <c46.even_by_d:.3f>, "
        "where 1/√d_{k} gives <c46.even_by_root:.3f>. For a key that matches the query, with a correlation of 0.5, "
        "it is the other way around: 1/d_{k} keeps its score at <c46.match_by_d_4096:.1f>, and with 1/√d_{k} it is "
        "<c46.match_by_root_4096:.0f> at 4,096. So √d_{k} keeps the *spread* of unrelated scores steady, 1/d_{k} "
        "the *mean* of matching ones.",
        Claimed(49),
        (46, 49, "02_variance_proof, What this does not tell you"),
    ),
    Asked(
        "folded",
        "02_variance_proof",
        1,
        "Does the division have to stand in the formula?",
        "No. Put the factor into the query, or into W_{q} before training starts: the scores are the same. Scaling "
        "128 queries of width 64 takes <c52.in_query:,.0f> multiplications, scaling their scores with 128 keys "
        "<c52.on_scores:,.0f>. That a model has no scale in its formula therefore says nothing about its scores.",
        Mistaken("scaled_scores", "divided-by-d"),
        (52, 51, "scale_folded_into_query"),
    ),
    Asked(
        "softmax-axis",
        "03_softmax",
        0,
        "Along which axis does softmax run, and how would you notice a mistake?",
        "Along the keys, the last axis: each query has one unit of attention to give away. Add up the weights of a "
        "row: along the wrong axis some row misses 1 by <c21.over_queries:.2f> in our test. A square matrix hides "
        "the mistake from every check of shapes.",
        Mistaken("attention", "softmax-over-queries"),
        (21, "softmax"),
    ),
    Asked(
        "subtract-maximum",
        "03_softmax",
        0,
        "Why does every softmax subtract the maximum, and why may it?",
        "The exponential overflows: above <float16:.2f> in float16 and above <float32:.2f> in float32. Subtracting "
        "one number from all scores of a row divides numerator and denominator by the same factor, which cancels. "
        "It has to be the *row's own* maximum; with that of the whole matrix a row far below it becomes 0/0.",
        Mistaken("softmax", "global-max-subtracted"),
        (130, 78, "softmax"),
        _largest_exponents,
    ),
    Asked(
        "temperature",
        "03_softmax",
        0,
        "What does a temperature do, and which way around is √d_{k}?",
        "Scores are divided by it, so a lower temperature stretches all gaps and is sharper: the largest weight of "
        "our row is <c90.low_temperature:.2f> at T = 0.5 and <c90.high_temperature:.2f> at T = 2. √d_{k} is what "
        "the scores are divided by: it *is* a temperature.",
        Claimed(89),
        (89, 90, "temperature_for_ratio"),
    ),
    Asked(
        "unscaled-rows",
        "03_softmax",
        1,
        "Without the scale, are softmax's rows one-hot?",
        "Some are. At d_{k} = 64 with 128 keys the largest weight exceeds 0.99 in <c13.d64_n128:.0%> of the rows, "
        "at 512 in <c13.d512_n128:.0%>; the median largest weight is <c64.unscaled_64:.2f>, against "
        "<c64.scaled_64:.2f> with the scale. And the scale does not prevent it: with coordinates three times as "
        "large the median is <c64.scaled_three_times_as_large:.2f>.",
        Claimed(27),
        (13, 64),
    ),
)
