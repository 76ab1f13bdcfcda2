"""Lesson 06: what it asks before it counts or measures."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "multiplications_of_the_scores",
        "How many multiplications does `Q @ K.T` need, with 4 queries, 5 keys and d_{k} = 3?",
        (
            Option("20", "That is 4 · 5, the number of scores. But each score is a sum of d_{k} products."),
            Option("40", "Those are the additions: three products in a sum take two of them."),
            Option("60", "There are 4 · 5 scores, and each takes 3 multiplications."),
            Option(
                "180",
                "That is 12 · 15, every number of Q with every number of K. But the first number of a query meets only the first of a key.",
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
                "So it is wherever each token is treated alone, as in an MLP. Here every token meets every other.",
            ),
            Option("4", "Twice the queries, and each of them meets twice the keys."),
            Option(
                "8",
                "There are two products, and each grows fourfold. But then their sum grows fourfold too.",
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "heads_twice_as_wide",
        "And heads twice as wide, d_{k} and d_{v} doubled, with as many tokens as before?",
        (
            Option(
                "1",
                "The number of scores stays, and so does that of the weights. But each score is a sum over d_{k}.",
            ),
            Option(
                "1.4",
                "In the formula d_{k} stands under a root. But that is one division for each score; the products need all of d_{k}.",
                (1.41, 1.42),
            ),
            Option("2", "Each of the two products has one factor of width: d_{k} in QKᵀ, d_{v} in AV."),
            Option("4", "Doubling the tokens did that. But the width stands in each product only once."),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "exponent_in_n",
        "Time = c · n^{p}, with d = 64 and n from 256 to 4,096. What exponent p does the clock give?",
        (
            Option(
                "about 1",
                "A matrix product is one call, and twice the input for twice the time sounds fair. But the work grows with n².",
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
        "And time = c · d^{p}, with n = 1,024 and d from 16 to 512?",
        (
            Option(
                "clearly below 1",
                "Softmax and the passes over n² scores take as long for every d, and they are a good part of the time.",
                (-9.0, 0.85),
            ),
            Option(
                "near 1",
                "The FLOPs of both products grow like d, so it would be 1 if the products were all. Softmax does not grow with d.",
                (0.8500001, 1.15),
            ),
            Option(
                "clearly above 1",
                "The clock is often worse than the count. But no step here grows faster than d.",
                (1.1500001, 9.0),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "where_attention_costs_more",
        "For d_{model} = 768: from how many tokens on does attention cost more FLOPs than projections and MLP together?",
        (
            Option(
                "768",
                "At n = d_{model} both n² d and n d² are the same. But the factors before them are 4 and 24.",
            ),
            Option(
                "1,536",
                "That is 2 · d_{model}, where attention passes the projections alone. The MLP costs twice as much as they.",
                1536,
            ),
            Option("4,608", "4 n² d = 24 n d² gives n = 6 · d_{model}.", 4608),
            Option(
                "55,296",
                "So it would be with a single head of width 64. But all twelve together have the width d_{model}.",
                55296,
            ),
        ),
        measured="{:,.0f}",
        how_sure=True,
        after="Attention passes the projections alone at n = 2 d_{model}, and projections and MLP together at n = 6 d_{model}.",
    ),
    Prediction(
        "attentions_share_of_a_layer",
        "With d_{model} = 12,288 and 4,096 tokens: what part of a layer's FLOPs is attention?",
        (
            Option(
                "about 5 %",
                "4,096 is an eighteenth of 6 · d_{model} = 73,728. So attention costs an eighteenth of the rest.",
                (4.0, 6.5),
            ),
            Option(
                "about 25 %",
                "Attention is one part of three, and a quarter sounds careful. But n² d is small beside n d² when n is so far below d.",
                (20.0, 30.0),
            ),
            Option(
                "about 50 %",
                "Attention and the rest in balance: that sounds like good design. They are, but at 73,728 tokens.",
                (45.0, 55.0),
            ),
            Option(
                "about 90 %",
                "Sixteen million and O(n²) sound like nearly everything. But the rest grows with d_{model}², and d_{model} is three times n.",
                (85.0, 95.0),
            ),
        ),
        measured="{:.1f} %",
        how_sure=True,
    ),
    Prediction(
        "how_many_gigabytes",
        "How many GB (10^{9} bytes) is it really?",
        (
            Option(
                "6",
                "That is one layer, and a model that only writes needs no more at a time. But the article adds up 96 layers.",
                (6.0, 7.0),
            ),
            Option(
                "576", "That is right in GiB, of 2^{30} bytes each: 64 · 96 · 96 / 1,024.", (575.5, 576.5)
            ),
            Option(
                "590",
                "That is 64 · 96 · 96 / 1,000. But the 64 is a number of MiB, not of MB.",
                (589.5, 590.5),
            ),
            Option("618", "4,096² · 4 · 96 · 96 bytes are 618.5 · 10^{9}.", (618.0, 619.0)),
        ),
        measured="{:.1f} GB",
        after="Besides, the sentence can be read in many ways. Six of them differ by more than five orders of magnitude. "
        "The last bar is what this course does in section 5: never hold the matrix at all.",
    ),
    Prediction(
        "matrices_at_the_peak",
        "How many n × n matrices does our four-line `textbook` hold at its worst moment?",
        (
            Option(
                "1",
                "One would be enough if each step wrote over the one before. But each step here makes a new array.",
            ),
            Option(
                "2",
                "There are two names, `scores` and `weights`. But a third matrix is made that has no name.",
            ),
            Option("3", "`weights / weights.sum(...)` makes a new one while both others still have names."),
            Option(
                "4",
                "`scores - maximum`, its exponential, the quotient: there are more results than names. But not all live at the same time.",
            ),
        ),
        after="With care one matrix is enough. In chunks of queries there is not even one.",
    ),
    Prediction(
        "closest_to_the_peak",
        "Which of these runs closest to the processor's peak?",
        (
            Option(
                "decoding",
                "It has the least to do, one query. But it reads every key and value for that one query.",
            ),
            Option("fused", "It does the most work for each byte that comes from memory."),
            Option(
                "softmax",
                "It is simple work on numbers that lie side by side. But it does next to nothing with each byte.",
            ),
            Option(
                "step by step",
                "Two large matrix products are in it, and they are fast. But between them n² numbers go to memory and back several times.",
            ),
        ),
        after="The roof is measured too: the peak is the best large matrix product, the bandwidth is that of a copy too large "
        "for the caches. A point can lie a little above the sloping part, because a cache helped.",
    ),
    Prediction(
        "flops_of_the_fused_call",
        "A fused call works on a few queries at a time. We do the same by hand, three queries at a time, and count: how many operations, compared with step by step?",
        (
            Option(
                "more",
                "Cutting work into pieces usually costs something. Blocks of keys would, because sums must be rescaled. Chunks of queries need nothing.",
                (1.001, 100.0),
            ),
            Option(
                "as many",
                "Every score, every exponential and every product is there. Only their order has changed.",
                1.0,
            ),
            Option(
                "a few fewer",
                "Merging steps saves passes over the scores. But a pass moves bytes; the operations are the same.",
                (0.9, 0.999),
            ),
            Option(
                "far fewer",
                "It is several times as fast, so something seems to be left out. But what it saves is traffic, not arithmetic.",
                (0.0, 0.8999),
            ),
        ),
        measured="{:.2f} times as many",
        how_sure=True,
        after="The counter cannot look into PyTorch's kernel. It counts our chunks, which use the same idea: every score is still computed.",
    ),
    Prediction(
        "is_it_an_approximation",
        "And the result of PyTorch's fused call, in float32: how far is it from that of the steps?",
        (
            Option(
                "equal to the last bit",
                "The same operations in the same order would give the same bits. But a kernel is free to add in another order.",
                0.0,
            ),
            Option(
                "the same up to rounding",
                "The same numbers are added, in another order: less than 10^{−6} apart.",
                (1e-12, 1e-6),
            ),
            Option(
                "an approximation",
                "Some fast attentions are: they skip keys, or group them. But this one computes every score.",
                (1.0000001e-6, 1e9),
            ),
        ),
        measured="largest difference {:.0e}",
    ),
    Prediction(
        "which_has_more_parameters",
        "**Parameters.** With d_{model} = 512 and a hidden layer of 512: which has more learned numbers, W_{q}, W_{k}, W_{v} of the dot product, or W, U, v of additive attention?",
        (
            Option(
                "the dot product",
                "Three matrices of 512 × 512 are more than two such matrices and a vector.",
            ),
            Option(
                "additive attention",
                "A small network sounds like more than a product. But its last layer, v, is a single vector.",
            ),
            Option(
                "both the same",
                "With matching lists they nearly are. But only one of these two has a W_{v}.",
            ),
        ),
        after="Who reads *additive has more* off these two lists makes two errors. The three matrices are more than two matrices "
        "and a vector. And the lists do not match: both kinds need values, so both may have a W_{v}.",
    ),
    Prediction(
        "how_much_slower_is_additive",
        "Per score 2h − 1 operations against 4h − 1: about twice as many. And the ratio of the times?",
        (
            Option(
                "more than 10",
                "What it adds is no matrix product, and n² h numbers ask for fresh memory.",
                (10.0000001, 1e9),
            ),
            Option(
                "about 5",
                "A tanh costs as much as several multiplications. But it also keeps the processor from its matrix product.",
                (3.0000001, 10.0),
            ),
            Option(
                "about 2",
                "That is the ratio of the operations. But the clock also counts of what kind they are, and what memory they ask for.",
                (0.0, 3.0),
            ),
        ),
        measured="{:.0f} times as slow",
        how_sure=True,
    ),
)

predict = asker("06_complexity", PREDICTIONS)
