"""Interview questions on lessons 04 to 06: gradients, masks, cost."""

from collections.abc import Mapping

import numpy as np

from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, TASK, Arm
from sdpa_helpers.lessons.does_scaling_matter.results import accuracies
from sdpa_helpers.lessons.interview.question import Asked, Claimed, Mistaken, Tempted


def _cache() -> Mapping[str, float]:
    """Keys and values of 4,096 tokens in 32 layers of 8 heads of width 128, two bytes a number."""
    return {"mib": 2 * 4096 * 32 * 8 * 128 * 2 / 2**20}


def _without_scale() -> Mapping[str, float]:
    """What the tuned arms of lesson 10 without a scale got right at d_k = 512, and what needs no lookup."""
    pairs, values = TASK.pairs, TASK.values
    shown = np.random.default_rng(0).multinomial(pairs, np.full(values, 1 / values), size=20_000)
    right = {name.lower(): float(accuracies(Arm(512, "1", name)).mean()) / 100 for name in OPTIMIZERS}
    return {**right, "frequent": float(shown.max(axis=1).mean()) / pairs}


QUESTIONS = (
    Asked(
        "jacobian",
        "04_gradients",
        1,
        "What is the derivative of softmax?",
        "A matrix: ∂w_{i}/∂s_{j} = w_{i}(δ_{ij} − w_{j}), because raising one score lowers every other weight. "
        "Applied to a gradient it is the weight times (own gradient − average under the weights). The diagonal "
        "alone is off by <c37.relative_error:.0%> of the gradient's length for our four scores.",
        Claimed(37),
        (37, 101, "softmax_jacobian"),
    ),
    Asked(
        "backward",
        "04_gradients",
        1,
        "Write down the backward pass of attention.",
        "With weights A and c = 1/√d_{k}: dV = A^{T} dO, and dA = dO V^{T}. Through softmax dS = A ∘ (dA − D), "
        "where D is the row sum of O ∘ dO. Then dQ = c dS K, and dK = c dS^{T} Q. Forget the step through softmax, "
        "and dQ is off by <c106.error_without_softmax:.1f> times its length.",
        Claimed(106),
        (103, 106, "attention_backward"),
    ),
    Asked(
        "one-hot-gradients",
        "04_gradients",
        1,
        "A row of weights is one-hot. Which gradients survive?",
        "Those of the values: dV does not pass through softmax, and the chosen value gets all of it. The scores "
        "get next to nothing, about e^{−gap}, and with them queries and keys. In float32 the winner's own slope is "
        "exactly 0 once the gap reaches <c39.winner_zero_from:.0f>. What is small but not zero, Adam rescales.",
        Claimed(39),
        (39, 14, "dead_rows"),
    ),
    Asked(
        "training-without",
        "04_gradients",
        2,
        "“Without √d_{k} training fails.” True?",
        "Worse, yes; whether it fails depends on the task. In lesson 04's lookup, d_{k} = 64, a head without the "
        "scale gets <c109.none:.0%> right, one with it <c109.scaled:.0%>, and one without it but with a first W_{q} "
        "divided by √d_{k} <c109.folded:.0%>. In lesson 10's, tuned and with d_{k} = 512, it gets <sgd:.0%> with SGD "
        "and <adam:.0%> with Adam, where naming the most frequent value of a list gets <frequent:.0%>. What counts is "
        "where training starts, and the factor is one way to start well.",
        Claimed(109),
        (109, "10_does_scaling_matter, What came out"),
        _without_scale,
    ),
    Asked(
        "vanishing",
        "04_gradients",
        2,
        "“Without √d_{k} gradients vanish.” Which gradient, and for which query?",
        "At the queries, unscaled over scaled, with d_{k} = 1,024 and 16 keys: the *median* is "
        "<c115.median_few_keys:.4f>, but the *mean* is <c115.mean_few_keys:.1f>, because a few queries whose best "
        "keys nearly tie get almost everything. With d_{k} = 64 and 1,024 keys even the median is "
        "<c115.median_many_keys:.0f> times as large. So the sentence holds for typical queries, large d_{k} and "
        "few keys.",
        Claimed(115),
        (115, 120, "when_gradients_vanish"),
    ),
    Asked(
        "hide-a-key",
        "05_masking",
        0,
        "How do you hide a key, and why not set its weight to 0 after softmax?",
        "Set its score to −∞ before softmax: its weight is then exactly 0, and the others keep their ratios and "
        "sum to 1. After softmax the hidden key still sits in the denominator, so the row no longer sums to 1, and "
        "the output still depends on the key. Moving masked keys shows the leak.",
        Mistaken("masked_softmax", "masked-after-softmax"),
        (20, 124, "masked_softmax"),
    ),
    Asked(
        "causal",
        "05_masking",
        0,
        "What does a causal mask allow? Does a token see itself?",
        "Query *i* may attend to the keys 0 … *i*, itself included: the lower triangle with its diagonal. Without "
        "the diagonal the first token would see nothing at all. With −∞ strictly above the diagonal "
        "<c144.hidden:.0f> of the 25 scores of five tokens are hidden.",
        Mistaken("attention", "own-position-hidden"),
        (126, 144, "causal_mask"),
    ),
    Asked(
        "padding",
        "05_masking",
        0,
        "In an encoder every position may see every other. Does it need a mask?",
        "As soon as sentences of different lengths share a batch: padding has to be hidden as keys. In our example "
        "three zero vectors of padding take <c146.on_padding:.0%> of the weight and move the output by "
        "<c146.moved:.2f>. A zero key has a score of 0, and a score of 0 is not a weight of 0.",
        Claimed(146),
        (146, 127, "padding_mask"),
    ),
    Asked(
        "empty-row",
        "05_masking",
        1,
        "A query may attend to no key at all. What should come out?",
        "Zeros, forward and backward, and an LSE of −∞. The formula as written computes −∞ − (−∞), which is NaN, "
        "and one such row spoils gradients that do not even belong to it. Torch's fused call gives 0 for it.",
        Mistaken("masked_softmax", "finite-fill-on-an-empty-row"),
        (145, 107, "masked_softmax"),
    ),
    Asked(
        "float-mask",
        "05_masking",
        1,
        "You pass a mask of 0.0 and 1.0 to torch's `scaled_dot_product_attention`. What happens?",
        "A float mask is *added* to the scores: forbidden keys get + 0 and allowed ones + 1, so nothing is hidden. "
        "In our causal example the first of eight tokens puts <c152.future:.0%> of its weight on the future, "
        "without any error. For a boolean mask True means “may attend” there; `nn.MultiheadAttention` means the "
        "opposite.",
        Claimed(152),
        (152, 94, "to_boolean"),
    ),
    Asked(
        "finite-fill",
        "05_masking",
        1,
        "Why −∞, and not just −10,000?",
        "A finite number hides a key only as long as the visible scores lie far above it. It also hides the empty "
        "row: all of its keys tie, and each gets the same weight instead of 0. And what is large enough in one "
        "dtype is out of range in another: float16 ends at <c80.largest_float16:,.0f>.",
        Mistaken("masked_softmax", "fill-of-minus-ten-thousand"),
        ("masked_softmax", "05_masking, Hide the score, not the weight"),
    ),
    Asked(
        "causal-cache",
        "05_masking",
        1,
        "You decode one token with a cache of keys. What does `is_causal=True` do?",
        "It cuts the triangle at the top left: the only query counts as query 0, and sees key 0 alone, the oldest "
        "of all. No error, no warning. The newest token may see its whole past, so it needs no mask; several new "
        "tokens need *j* ≤ n_{cached} + *i*.",
        Mistaken("causal_mask_with_cache", "top-left"),
        ("causal_mask_with_cache", "05_masking, Deeper: when there are more keys than queries"),
    ),
    Asked(
        "leaks",
        "05_masking",
        2,
        "How do you test that nothing leaks through a mask?",
        "Change what must not be seen, and look for outputs that move: first values, then *keys*, since a mask "
        "applied after softmax passes the first test and fails the second. Compare “not within the tolerance”, so "
        "that NaN counts as moved. Look at the gradients of hidden positions as well: they have to be 0.",
        Mistaken("leaking_queries", "nan-in-both-taken-for-equal"),
        (126, "leaking_queries", "mask_that_leaks"),
    ),
    Asked(
        "cost",
        "06_complexity",
        0,
        "What does attention cost for *n* tokens, in time and in memory?",
        "QK^{T} and the product with V each take n_{q} n_{k} multiply-adds for every coordinate, so twice the "
        "tokens are <c22.factor:.0f> times the work. As written, the formula also holds n_{q} × n_{k} matrices. "
        "Tiles get rid of the matrices, not of the work.",
        Claimed(154),
        (95, 155, "attention_flops"),
    ),
    Asked(
        "share",
        "06_complexity",
        1,
        "At what length does attention dominate a transformer layer?",
        "In FLOPs at *n* = 6 d_{model}, for an MLP four times as wide and no causal mask: <c97.crossover:,.0f> "
        "tokens for a model as wide as 12,288. At 4,096 tokens its share is <c97.large:.0%> there, and "
        "<c97.small:.0%> in a model of width 768. Bytes hurt sooner than FLOPs.",
        Claimed(97),
        (97, 125, "crossover_length"),
    ),
    Asked(
        "score-matrix",
        "06_complexity",
        1,
        "How much memory do the scores of 4,096 tokens take in float32?",
        "n² numbers of 4 bytes: <c157.mib:.0f> MiB, or <c157.mb:.1f> MB, for one head. With 96 heads in 96 layers "
        "that is <c158.gb:.1f> GB = <c158.gib:.0f> GiB. Only training that keeps every layer's weights holds all "
        "of it; one layer at a time takes <c160.layer:.1f> GB, and a fused kernel holds tiles.",
        Claimed(158),
        (157, 158, 160, "score_matrix_bytes"),
    ),
    Asked(
        "kv-cache",
        "06_complexity",
        1,
        "What is in a KV cache, and how large is it?",
        "The keys and values of all earlier tokens, in every layer and for every head that has its own: 2 · n · "
        "layers · heads · width · bytes. For 4,096 tokens, 32 layers and 8 heads of width 128 in 16 bits that is "
        "<mib:.0f> MiB for each text. Queries are not kept: a query is used once.",
        Mistaken("kv_cache_bytes", "queries-kept-too"),
        ("kv_cache_bytes", "06_complexity, Decoding and the KV cache"),
        _cache,
    ),
    Asked(
        "decoding",
        "06_complexity",
        2,
        "Why is decoding slow although it does so few FLOPs?",
        "One query reads every key and every value and does about one FLOP for each byte in 16 bits, so the memory "
        "sets the pace and the arithmetic units wait. Batching does not help the cache, since each text brings its "
        "own. Sharing keys and values among heads does: the FLOPs stay, the bytes shrink.",
        Tempted("06_complexity", "decoding_with_shared_heads", "an eighth"),
        ("roofline", "06_complexity, Decoding and the KV cache"),
    ),
)
