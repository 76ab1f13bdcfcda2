"""Interview questions on lessons 07 to 10: tiles, variants, several machines, the experiment."""

from collections.abc import Mapping

from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, WIDTHS, Arm
from sdpa_helpers.lessons.does_scaling_matter.results import accuracies, clearly, interval, sooner
from sdpa_helpers.lessons.interview.question import Asked, Claimed, Mistaken, Tempted
from sdpa_helpers.lessons.many_machines.experiments import work_of_steps


def _ring_times() -> Mapping[str, float]:
    """Causal attention on four ranks, as a share of its time without a mask."""
    n, ranks = 4096, 4
    whole = n * n / ranks
    return {
        name: float(work_of_steps(n, ranks, zigzag=zigzag).sum()) / whole
        for name, zigzag in (("contiguous", False), ("zigzag", True))
    }


def _experiment() -> Mapping[str, float]:
    """What the tuned arms of lesson 10 got right at d_k = 512, and how often QK-norm was clearly sooner."""
    right = {scale: interval(accuracies(Arm(512, scale, "SGD"))).value / 100 for scale in ("1", "1/√dₖ")}
    won = [
        clearly(sooner(Arm(d_k, "QK-norm", optimizer), Arm(d_k, "1/√dₖ", optimizer))) == "sooner"
        for optimizer in OPTIMIZERS
        for d_k in WIDTHS
    ]
    return {"none": right["1"], "root": right["1/√dₖ"], "won": sum(won), "settings": len(won)}


QUESTIONS = (
    Asked(
        "flash-saves",
        "07_flash_attention",
        1,
        "What does FlashAttention save, and what doesn't it?",
        "It computes the same function, up to rounding, and never stores the n × n matrix: measured, the memory of "
        "its algorithm grows with n to the power <c161.tiled_exponent:.2f>, the formula's with "
        "<c161.textbook_exponent:.2f>. The products stay, so the time still grows like n². What makes it fast is "
        "traffic: with tiles of 128 queries, n = 4,096 and d = 64 it moves <c162.tile_128:.1f> times fewer bytes.",
        Claimed(162),
        (161, 162, "07_flash_attention, The ladder, measured"),
    ),
    Asked(
        "online-softmax",
        "07_flash_attention",
        1,
        "Scores arrive block by block. How can softmax be exact before the last one is known?",
        "Keep three things for each query: the largest score so far, the sum of exponentials relative to it, and "
        "the weighted sum of values. When a block brings a larger score, multiply sum and output so far by exp(old "
        "maximum − new maximum). That changes numerator and denominator alike, so the one division at the end is "
        "right.",
        Mistaken("online_softmax", "sum-not-rescaled"),
        ("online_softmax", "07_flash_attention, Why it is right: an invariant"),
    ),
    Asked(
        "merge",
        "07_flash_attention",
        2,
        "Two kernels have each attended to half of the keys. How do you join their outputs?",
        "Each half has to hand over its LSE, the logarithm of its sum of exponentials. Part a gets the share "
        "exp(LSE_{a} − LSE), part b the share exp(LSE_{b} − LSE), where LSE is the logarithm of both sums "
        "together. A plain average would be off by <c132.keys_averaged:.2f> in our example. An empty half has an LSE "
        "of −∞, and so no share.",
        Mistaken("merge", "plain-average"),
        ("merge", "07_flash_attention, One number: the LSE", 132),
    ),
    Asked(
        "shared-heads",
        "08_heads_and_variants",
        1,
        "What do multi-query and grouped-query attention change?",
        "Several heads of queries share one head of keys and values. Scores, scale and softmax are computed as "
        "before; what shrinks is the KV cache, <c25.cache_ratio:.0f> times in our example, and with it the bytes "
        "that each new token has to read. Heads of one group can then only differ in what they ask.",
        Claimed(25),
        (25, "grouped_query_attention", "kv_cache_bytes"),
    ),
    Asked(
        "rope",
        "08_heads_and_variants",
        2,
        "Why do scores under RoPE depend on relative positions only?",
        "RoPE turns each pair of coordinates by an angle: of a query at position *m* by *m*θ, of a key at *n* by "
        "*n*θ. A dot product of two turned vectors sees only the difference of the angles: *R*(*m*)*q* · "
        "*R*(*n*)*k* = *q* · *R*(*n* − *m*)*k*. Values are not turned, and lengths do not change.",
        Tempted("08_heads_and_variants", "both_later_in_the_text", "it falls to almost 0"),
        ("rotate", "08_heads_and_variants, RoPE: position as a rotation"),
    ),
    Asked(
        "linear",
        "08_heads_and_variants",
        2,
        "What does linear attention gain, and what does it lose?",
        "Without the exponential, φ(Q)(φ(K)^{T}V) can be computed from the right: twice the tokens are "
        "<c24.linear:.0f> times the multiplications, not <c24.quadratic:.0f>, and decoding keeps a state of fixed "
        "size. But it is another function: its outputs differ from those of softmax by up to <c24.difference:.2f> "
        "in our example. And a state of fixed size fills up: with enough pairs in it, lookups fail that softmax "
        "still gets right.",
        Mistaken("linear_attention", "normalizer-left-out"),
        (24, "linear_attention", "08_heads_and_variants, Linear attention: leave out the softmax"),
    ),
    Asked(
        "zigzag",
        "09_many_machines",
        2,
        "Four machines share one causal sequence in a ring. Why not give each of them one contiguous piece?",
        "A step of the ring lasts as long as its busiest machine, and the one with the last piece never has less "
        "to do. Causal attention then takes <contiguous:.0%> of the time without a mask, although half of the "
        "pairs are hidden. In zigzag each machine has an early chunk and a late one: <zigzag:.0%>.",
        Mistaken("zigzag_partition", "contiguous-pieces"),
        ("causal_work", "zigzag_partition", "09_many_machines, Causal attention: who waits?"),
        _ring_times,
    ),
    Asked(
        "fair-comparison",
        "10_does_scaling_matter",
        2,
        "You want to know whether the scale matters in training. How do you make the comparison fair?",
        "Tune the learning rate of every arm with the same budget, on seeds that you do not report: a scale "
        "changes which rate fits. Write down beforehand what would count as a result, and give intervals. In our "
        "lookup, tuned, SGD at d_{k} = 512 gets <root:.0%> right with 1/√d_{k} and <none:.0%> without a scale; and "
        "QK-norm gets there clearly sooner than 1/√d_{k} in <won:.0f> of <settings:.0f> settings.",
        Tempted("10_does_scaling_matter", "another_rate", "1/√dₖ"),
        ("10_does_scaling_matter, One learning rate for all?", "10_does_scaling_matter, What came out", 109),
        _experiment,
    ),
)
