"""Lesson 06: what it asks before it counts or measures."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "multiplications_of_the_scores",
        "How many multiplications does `Q @ K.T` need, with 4 queries, 5 keys and d_{k} = 3?",
        (
            Option("20", "That is 4 · 5, the number of scores. But each score is a sum of d_{k} products."),
            Option("40", "That is the number of additions: summing three products takes two."),
            Option("60", "There are 4 · 5 scores, and each takes 3 multiplications."),
            Option(
                "180",
                "That is 12 · 15, every number in Q times every number in K. But the first coordinate of a query is multiplied only by the first coordinate of a key.",
            ),
        ),
        after="Each of the n_{q} n_{k} = 20 scores takes d_{k} = 3 multiplications and d_{k} − 1 = 2 additions.",
    ),
    Prediction(
        "twice_as_many_tokens",
        "Twice as many tokens, so twice as many queries, keys and values: how many times the multiplications?",
        (
            Option(
                "2",
                "That is what happens wherever each token is treated alone, as in an MLP. Here every token meets every other.",
            ),
            Option("4", "There are twice as many queries, and each meets twice as many keys."),
            Option(
                "8",
                "There are two products, and each grows fourfold. But then their sum also grows fourfold.",
            ),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "heads_twice_as_wide",
        "Now make the heads twice as wide, d_{k} and d_{v} doubled, and leave the tokens as they are. How many times the multiplications?",
        (
            Option(
                "1",
                "The numbers of scores and weights stay the same, but each score is a sum over d_{k}.",
            ),
            Option(
                "1.4",
                "In the formula d_{k} stands under a root. But that is one division per score; the products run over all of d_{k}.",
                (1.41, 1.42),
            ),
            Option("2", "Each of the two products has one factor of width: d_{k} in QKᵀ, d_{v} in AV."),
            Option("4", "Doubling the tokens does that. But each product contains the width only once."),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "exponent_in_n",
        "Suppose time = c · n^{p}, with d = 64 and n from 256 to 4,096. Which exponent p does the clock give?",
        (
            Option(
                "about 1",
                "A matrix product is one call, and twice the time for twice the input sounds fair. But the work grows with n².",
                (-9.0, 1.5),
            ),
            Option(
                "2, or a little more",
                "There are n² scores, and nearly all the work is done on them.",
                (1.5000001, 2.75),
            ),
            Option(
                "about 3",
                "A product of two n × n matrices takes n³. But in both products here one of the three lengths is d.",
                (2.7500001, 9.0),
            ),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "exponent_in_d",
        "And for time = c · d^{p}, with n = 1,024 and d from 16 to 512?",
        (
            Option(
                "clearly below 1",
                "Softmax and the passes over n² scores take the same time for every d, and they are a good part of the total.",
                (-9.0, 0.85),
            ),
            Option(
                "near 1",
                "The FLOPs of both products grow like d, so the exponent would be 1 if there were nothing else. But softmax does not grow with d.",
                (0.8500001, 1.15),
            ),
            Option(
                "clearly above 1",
                "The clock is often worse than the count. But no step here grows faster than d.",
                (1.1500001, 9.0),
            ),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "where_attention_costs_more",
        "Take d_{model} = 768. From how many tokens on does attention cost at least as many FLOPs as the projections and the MLP together?",
        (
            Option(
                "768",
                "At n = d_{model} the terms n² d and n d² are equal. But the factors in front of them are 4 and 24.",
            ),
            Option(
                "1,536",
                "That is 2 · d_{model}, where attention passes the projections alone. The MLP costs twice as much as the projections do.",
                1536,
            ),
            Option("4,608", "4 n² d = 24 n d² gives n = 6 · d_{model}.", 4608),
            Option(
                "55,296",
                "That would be right for a single head of width 64. But the twelve heads together have the width d_{model}.",
                55296,
            ),
        ),
        measured="{:,.0f}",
        how_sure=True,
        after="Attention passes the projections alone at n = 2 d_{model}, and projections and MLP together at n = 6 d_{model}.",
    ),
    Prediction(
        "where_causal_attention_costs_more",
        "With a causal mask a query meets only the keys up to its own position. Where is the crossover for d_{model} = 768 now? Without the mask it was at 4,608 tokens.",
        (
            Option(
                "about 2,300",
                "Half the work sounds like half the length. But cheaper attention needs a longer text to catch up with the rest.",
                (2300, 2310),
            ),
            Option(
                "4,608, as before",
                "The matrix still has n² entries. But a kernel that skips what the mask hides computes only half of them.",
                4608,
            ),
            Option(
                "about 6,500",
                "That is √2 times as far, which would be right if the rest did not depend on n. But it grows with n, too.",
                (6500, 6530),
            ),
            Option(
                "about 9,200",
                "Half the n² term: 2 n² d = 24 n d² gives n = 12 · d_{model}.",
                (9200, 9220),
            ),
        ),
        measured="{:,.0f}",
        after="Exactly, there are n(n + 1)/2 pairs, so both sides are equal at n = 12 d_{model} − 1.",
    ),
    Prediction(
        "attentions_share_of_a_layer",
        "With d_{model} = 12,288 and 4,096 tokens, what share of a layer's FLOPs is attention?",
        (
            Option(
                "about 5%",
                "The crossover is at 6 · d_{model} = 73,728, and 4,096 is an eighteenth of that. So attention costs an eighteenth of the rest.",
                (4.0, 6.5),
            ),
            Option(
                "about 25%",
                "Attention is one part of three, and a quarter sounds like a safe guess. But n² d is small beside n d² when n is so far below d_{model}.",
                (20.0, 30.0),
            ),
            Option(
                "about 50%",
                "An even balance sounds like good design, but it is reached only at 73,728 tokens.",
                (45.0, 55.0),
            ),
            Option(
                "about 90%",
                "Sixteen million and O(n²) sound like nearly everything. But the rest grows with d_{model}², and d_{model} is three times as large as n.",
                (85.0, 95.0),
            ),
        ),
        measured="{:.1f}%",
    ),
    Prediction(
        "how_many_gigabytes",
        "How many GB (10^{9} bytes) is it really?",
        (
            Option(
                "6",
                "That is a single layer, and a model that only writes needs no more at a time. But the article adds up 96 layers.",
                (6.0, 7.0),
            ),
            Option("576", "That is right in GiB, 2^{30} bytes each: 64 · 96 · 96 / 1,024.", (575.5, 576.5)),
            Option(
                "590",
                "That is 64 · 96 · 96 / 1,000. But the 64 is a number of MiB, not of MB.",
                (589.5, 590.5),
            ),
            Option("618", "4,096² · 4 · 96 · 96 bytes are 618.5 · 10^{9}.", (618.0, 619.0)),
        ),
        measured="{:.1f} GB",
        after="The sentence can also be read in many ways. The six in the figure span more than five orders of magnitude; "
        "the last one never holds the matrix at all.",
    ),
    Prediction(
        "matrices_at_the_peak",
        "How many n × n matrices does `textbook` hold at its worst moment?",
        (
            Option(
                "1",
                "One would be enough if each step overwrote the one before. But here each step makes a new array.",
            ),
            Option(
                "2",
                "There are two names, `scores` and `weights`, but a third matrix is made without a name.",
            ),
            Option(
                "3", "`weights / weights.sum(...)` makes a new matrix while the other two still have names."
            ),
            Option(
                "4",
                "`scores - maximum`, its exponential, the quotient: there are more results than names. But they do not all live at the same time.",
            ),
        ),
        after="With care, one matrix is enough. In chunks of queries not even one is needed.",
    ),
    Prediction(
        "closest_to_the_peak",
        "Which of these runs closest to the processor's peak?",
        (
            Option(
                "decoding",
                "It has the least to do, but it reads every key and every value for its one query.",
            ),
            Option("fused", "It does the most work for each byte it moves."),
            Option(
                "softmax",
                "It is simple work on neighboring numbers, but it does very little with each byte.",
            ),
            Option(
                "step by step",
                "It contains two large matrix products, and those are fast. But between them n² numbers travel to memory and back several times.",
            ),
        ),
        after="The roof is measured too. Its peak is the best large matrix product, its bandwidth that of a copy too large "
        "for the caches. A point can lie a little above the slope, because a cache helped.",
    ),
    Prediction(
        "intensity_of_a_tile",
        "float16, d = 64, a long text of 524,288 tokens, and tiles of 128 query rows. How many FLOPs does attention do for each byte it moves?",
        (
            Option(
                "about 33",
                "That is what you get step by step, where every score goes to memory. Here no score does.",
                (32.0, 34.0),
            ),
            Option(
                "about 130",
                "Each key and value that is read serves the 128 queries of one tile, and then it is read again for the next.",
                (125.0, 135.0),
            ),
            Option(
                "about 4,100",
                "That is the number of tiles, and so how often K and V are read. More reads mean fewer FLOPs per byte, not more.",
                (4000.0, 4200.0),
            ),
            Option(
                "about 268,000",
                "That is the minimum: K and V read once. It would take one tile with all queries, and fast memory is far too small for it.",
                (260000.0, 270000.0),
            ),
        ),
        measured="{:,.0f}",
        how_sure=True,
        after="Tiled, each curve levels off near the number of its rows (in float32, at half of it). Only the minimum rises forever.",
    ),
    Prediction(
        "flops_of_the_fused_call",
        "A fused call works on a few queries at a time. We do the same by hand, three queries at a time, and count. How many operations are there, compared with step by step?",
        (
            Option(
                "more",
                "Cutting work into pieces usually costs something. Blocks of keys do, because sums must be rescaled. Chunks of queries cost nothing extra.",
                (1.001, 100.0),
            ),
            Option(
                "as many",
                "Every score, every exponential and every product is still there. Only their order has changed.",
                1.0,
            ),
            Option(
                "a few fewer",
                "Merging steps saves passes over the scores. But a pass moves bytes; the operations are the same.",
                (0.9, 0.999),
            ),
            Option(
                "far fewer",
                "It is several times as fast, so something seems to have been left out. But what it saves is traffic, not arithmetic.",
                (0.0, 0.8999),
            ),
        ),
        measured="{:.2f} times as many",
        after="The counter cannot look into PyTorch's kernel. It counts our chunks, which rest on the same idea: every score is still computed.",
    ),
    Prediction(
        "is_it_an_approximation",
        "And PyTorch's fused call itself, in float32: how far is its result from that of the steps?",
        (
            Option(
                "equal to the last bit",
                "The same operations in the same order would give the same bits, but a kernel may add in another order.",
                0.0,
            ),
            Option(
                "the same up to rounding",
                "The same numbers are added, in another order: less than 10^{−6} apart.",
                (1e-12, 1e-6),
            ),
            Option(
                "an approximation",
                "Some fast forms of attention are: they skip keys, or group them. This one computes every score.",
                (1.0000001e-6, 1e9),
            ),
        ),
        measured="largest difference {:.0e}",
    ),
    Prediction(
        "flops_of_the_backward_pass",
        "The forward pass has two products of 2 n² d FLOPs each. How many times its FLOPs does the backward pass take, if the weights were not kept?",
        (
            Option(
                "as many",
                "The backward pass mirrors the forward pass. But each product has two factors, and both need a gradient.",
                1.0,
            ),
            Option(
                "twice as many",
                "Two products with two gradients each are four products. But the weights are gone, and QK^{T} has to be computed again.",
                2.0,
            ),
            Option(
                "2.5 times",
                "Five products against two: the four gradients, and QK^{T} once more.",
                2.5,
            ),
            Option(
                "three times",
                "Six products would mean that both are computed again. But the output AV is not needed twice: it was kept.",
                3.0,
            ),
        ),
        measured="{:g} times",
    ),
    Prediction(
        "decoding_with_shared_heads",
        "Eight query heads share one head of keys and values. How many FLOPs does decoding now do per byte, compared with eight heads that each have their own?",
        (
            Option(
                "an eighth",
                "The cache shrinks to an eighth. But bytes are the denominator, so the intensity rises.",
                (0.1, 0.2),
            ),
            Option(
                "the same",
                "Fewer heads often mean less of everything, but here all the queries remain, and so do their FLOPs.",
                1.0,
            ),
            Option(
                "nearly 8 times as many",
                "The FLOPs stay, while only an eighth of the keys and values is read. Queries and outputs are as many as before.",
                (7.0, 8.0),
            ),
        ),
        measured="{:.2f} times as many",
    ),
)

predict = asker("06_complexity", PREDICTIONS)
