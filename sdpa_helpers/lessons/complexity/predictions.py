"""Lesson 06: what it asks before it counts or measures."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "multiplications_of_the_scores",
        "How many multiplications does `Q @ K.T` need, with 4 queries, 5 keys and d_{k} = 3?",
        (
            Option("12", "That is 4 · 3, the numbers in Q. Each of them meets every key."),
            Option("20", "That is 4 · 5, the number of scores. Each score takes d_{k} multiplications."),
            Option("60", "4 · 5 scores, and 3 multiplications for each."),
            Option(
                "100",
                "That is 4 · 5 · 5, as if the scores were mixed with something 5 wide. The sum runs over d_{k} = 3.",
            ),
        ),
    ),
    Prediction(
        "twice_as_many_tokens",
        "Twice as many tokens, so twice as many queries, keys and values: how many times the multiplications?",
        (
            Option("1", "The width did not change, but there are more pairs to compare."),
            Option(
                "2",
                "That would hold for a step that treats each token alone. Here every token meets every other.",
            ),
            Option("4", "Twice the queries, and each of them meets twice the keys.", (3.9, 4.0)),
            Option("8", "Three factors are in n · n · d, but only two of them double."),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "heads_twice_as_wide",
        "And heads twice as wide, d_{k} and d_{v} doubled, with as many tokens as before?",
        (
            Option("1", "The number of scores stays. But each score is a sum over d_{k} products."),
            Option("2", "Both products have one factor of width: d_{k} in QKᵀ, d_{v} in AV.", (1.9, 2.1)),
            Option("4", "Doubling the tokens did that. The width stands in each product once."),
            Option("8", "Two factors n and one d make three, but only d doubles."),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "exponent_in_n",
        "Time = c · n^{p}, n from 256 to 4096. What exponent p does the clock give?",
        (
            Option(
                "near 1",
                "Each of the two products is one fast call. But its work grows with both lengths.",
                (-9.0, 1.5),
            ),
            Option("near 2", "There are n² scores, and all the work is done on them.", (1.5000001, 2.5)),
            Option(
                "near 3",
                "A product of two n × n matrices takes n³. Here one side of each matrix is d.",
                (2.5000001, 9.0),
            ),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "exponent_in_d",
        "And time = c · d^{p}, with n = 1024 and d from 16 to 512?",
        (
            Option(
                "clearly below 1",
                "Softmax and the passes over n² scores cost the same for every d, and wide products run faster.",
                (-9.0, 0.85),
            ),
            Option(
                "1",
                "The FLOPs of the products grow like d. But a part of the time does not depend on d at all.",
                (0.8500001, 1.15),
            ),
            Option(
                "clearly above 1",
                "Something that grows faster than the width would be needed, such as a projection.",
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
            Option("768", "That is d_{model}: there attention's 4 n² d is a sixth of the others' 24 n d²."),
            Option(
                "1536",
                "That is 2 · d_{model}, where it passes the projections alone. The MLP costs twice as much as they.",
            ),
            Option("4608", "4 n² d = 24 n d² gives n = 6 · d_{model}."),
            Option("49152", "That is 64 · d_{model}, as if one head's width had been taken for the model's."),
        ),
        how_sure=True,
        after="Set the two equal: 4 n² d = 24 n d² gives n = 6 d_{model}. Against the projections alone it is n = 2 d_{model}.",
    ),
    Prediction(
        "attentions_share_of_a_layer",
        "What part of a layer's FLOPs is attention there?",
        (
            Option("about 5 %", "4096 tokens are far fewer than 6 · d_{model} = 73,728.", (4.0, 6.5)),
            Option(
                "about 25 %",
                "One of a few parts sounds like a quarter. But the others grow with d_{model}², and d_{model} is 12288.",
                (20.0, 30.0),
            ),
            Option("about 50 %", "That is so at 6 · d_{model}, at 73,728 tokens.", (45.0, 55.0)),
            Option(
                "about 90 %",
                "Sixteen million sounds like everything. It counts scores of one head, and n² is not large beside n · d_{model}.",
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
            Option("576", "That is right in GiB, 2^{30} bytes each.", (575.5, 576.5)),
            Option("590", "The 64 is a number of MiB, multiplied on as if it were MB.", (589.5, 590.5)),
            Option("618", "4096² · 4 · 96 · 96 bytes are 618.5 · 10^{9}.", (618.0, 619.0)),
            Option("6.4", "That is 96 layers of one head. There are 96 heads in each.", (6.3, 6.6)),
        ),
        measured="{:.1f} GB",
    ),
    Prediction(
        "matrices_at_the_peak",
        "How many n × n matrices does our four-line `textbook` hold at its worst moment?",
        (
            Option(
                "1",
                "One name at a time would be enough. But nothing is thrown away while its name is in use.",
            ),
            Option("2", "There are two names, `scores` and `weights`. A third matrix has no name yet."),
            Option("3", "`weights / weights.sum(...)` makes a new one while both others still have names."),
            Option(
                "4",
                "The maximum and the sums are intermediate results too. They are single columns, not matrices.",
            ),
        ),
    ),
    Prediction(
        "closest_to_the_peak",
        "Which of these runs closest to the processor's peak?",
        (
            Option(
                "softmax",
                "It is simple work on numbers that lie side by side. But it does next to nothing with each byte.",
            ),
            Option(
                "step by step",
                "Two large matrix products are in it, and between them n² numbers go to memory and back several times.",
            ),
            Option("fused", "It does most work for each byte that comes from memory."),
            Option(
                "decoding",
                "It has the least to do, one query. But it reads every key and value for that one query.",
            ),
        ),
        after="The roof is measured too: the peak is the best large matrix product, the bandwidth is that of a copy too large "
        "for the caches. A point can lie a little above the sloping part, because a cache helped.",
    ),
    Prediction(
        "flops_of_the_fused_call",
        "Compared with step by step, in chunks of three queries: does it need fewer operations?",
        (
            Option(
                "far fewer",
                "It is several times faster, so something seems to be left out. What it saves is traffic, not arithmetic.",
                (0.0, 0.9),
            ),
            Option(
                "a few fewer",
                "Merging steps may save a pass over the scores. A pass moves bytes; the operations are the same.",
                (0.9, 0.999),
            ),
            Option(
                "as many",
                "Every score, every exponential and every product is there: chunks change the order alone.",
                1.0,
            ),
            Option(
                "more",
                "Chunks of keys would need some more, to rescale what was summed. Chunks of queries need none.",
                (1.001, 100.0),
            ),
        ),
        measured="{:.2f} times as many",
        how_sure=True,
    ),
    Prediction(
        "is_it_an_approximation",
        "And its result, in float32: how far is it from that of the steps?",
        (
            Option(
                "equal to the last bit",
                "The same operations would give the same bits in the same order. The order of the sums differs.",
                0.0,
            ),
            Option(
                "up to rounding",
                "The same numbers are summed in another order: below 10^{−6} here.",
                (1e-12, 1e-6),
            ),
            Option(
                "an approximation",
                "Some fast attentions are: they skip or cluster keys. This one computes every score.",
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
                "the dot product's", "Three matrices are more than two matrices and a vector.", "dot product"
            ),
            Option(
                "the additive one's",
                "A small network sounds like more than a product. Its output layer is a single vector.",
                "additive",
            ),
            Option(
                "both the same",
                "With matched lists they nearly are. These lists do not match: only one of them has a W_{v}.",
                "same",
            ),
        ),
        measured="{}",
        after="The comparison has two errors. The three matrices are more than two matrices and a vector. And the lists do not "
        "match: both kinds need values, so both may have a W_{v}.",
    ),
    Prediction(
        "how_much_slower_is_additive",
        "2h − 1 operations against 4h − 1: about twice as many. And the ratio of the times?",
        (
            Option(
                "about 2",
                "That is the ratio of the operations. The clock also counts what kind they are, and the memory they ask for.",
                (0.0, 3.0),
            ),
            Option(
                "about 5",
                "A tanh costs several multiplications. It also keeps the processor from its matrix product.",
                (3.0000001, 10.0),
            ),
            Option(
                "more than 10",
                "No matrix product can do it, and n² h numbers want fresh memory.",
                (10.0000001, 1e9),
            ),
        ),
        measured="{:.0f} times as slow",
        how_sure=True,
    ),
)

predict = asker("06_complexity", PREDICTIONS)
