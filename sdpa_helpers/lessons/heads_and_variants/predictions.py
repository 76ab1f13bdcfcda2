"""Lesson 08: what it asks before it computes, and why each answer is tempting or right."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "tokens_in_head_zero",
        "Six tokens of width 6, two heads. `x.reshape(2, 6, 3)` has the shape of 2 heads with 6 rows of width 3. "
        "How many of the six tokens have numbers in head 0?",
        (
            Option(
                "6",
                "That is what the shape promises: six rows. But reshape only renames places in memory.",
                6,
            ),
            Option(
                "3",
                "The first half of memory is head 0, and that is the first half of the *tokens*, whole.",
                3,
            ),
            Option("2", "There are two heads, but each takes half of the tokens: three, not two.", 2),
        ),
        after="(In the tables, 4b is coordinate b of token 4.) Each token fills two rows of head 0, so its halves attend to "
        "each other as if they were two tokens. Tokens 4 to 6 sit in the other head, and never meet tokens 1 to 3. "
        "No error is raised.",
    ),
    Prediction(
        "groups_for_the_same_cache",
        "DeepSeek-V2 has 128 heads of width 128. For each token and layer, MLA caches 512 + 64 numbers. "
        "How many key-value heads could grouped-query attention afford with a cache of that size?",
        (
            Option(
                "2.25",
                "A key and a value of width 128 are 256 numbers, and 576 / 256 = 2.25.",
                2.25,
            ),
            Option("4.5", "That is 576 / 128. But each head caches a key *and* a value.", 4.5),
            Option(
                "9",
                "That would be 64 numbers for each head, and a head has a width of 128.",
                9,
            ),
            Option(
                "64",
                "Half of the heads: that is a cache of 64 · 256 = 16,384 numbers, 28 times as large.",
                64,
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "reach_of_three_windows",
        "A window of 4: each token sees itself and the 3 before it. With three such layers stacked, "
        "how many tokens can influence the last output?",
        (
            Option(
                "4",
                "That is the reach of a single layer. The second one reads what the first has gathered.",
                4,
            ),
            Option("10", "Each layer looks 3 tokens farther back: 3 · 3, and the token itself.", 10),
            Option("12", "That is 3 · 4. But each window shares a token with the one below.", 12),
            Option(
                "64",
                "That is 4³, as if the windows did not overlap. Neighbors see nearly the same tokens.",
                64,
            ),
        ),
    ),
    Prediction(
        "both_later_in_the_text",
        "The query stands at position 5, the key at position 2. Both move 1,000 positions to the right. What happens to "
        "their score?",
        (
            Option(
                "it falls to almost 0",
                "Far away sounds weak. But the two are as near to each other as before.",
                "smaller",
            ),
            Option(
                "it stays the same",
                "In each plane both vectors turn by the same angle, and the angle between them is what counts.",
                "the same",
            ),
            Option(
                "it becomes some other number",
                "Each of the two vectors does change. Their dot product does not.",
                "another",
            ),
        ),
        how_sure=True,
    ),
    Prediction(
        "tokens_until_the_state_is_smaller",
        "A head of width 64. At how many tokens does a cache of keys and values become larger than the state of linear "
        "attention, *S* and *z*?",
        (
            Option(
                "33", "The state has 64 · 64 + 64 = 4,160 numbers, and each token adds 128 to a cache.", 33
            ),
            Option("66", "That counts keys only. Each token caches a key and a value.", 66),
            Option("4,161", "The state has 4,160 numbers, but each token costs 128 of them.", 4161),
        ),
        measured="{:,}",
    ),
    Prediction(
        "memory_that_overwrites",
        "Sixteen keys of width 64 are stored with a value each, then all of them again with *another* value. "
        "Which memory answers with the new ones, at least nine times out of ten?",
        (
            Option(
                "softmax attention",
                "It has both pairs. Their keys are equal, so their scores are, and it returns the mean of old and new.",
                "softmax",
            ),
            Option(
                "the sum Σ *k* *v*ᵀ",
                "Adding never takes anything away: the old value stays in the state.",
                "sum",
            ),
            Option(
                "the delta rule",
                "It first subtracts what the key gives at the moment, then adds the new value.",
                "delta rule",
            ),
            Option(
                "all three", "All three have been told the new value. Only one has let go of the old.", "all"
            ),
        ),
    ),
    Prediction(
        "intensity_of_mla",
        "With keys and values of its own, each of 128 heads does about 1 FLOP for each byte that it reads from a long "
        "cache (16 bits). What about MLA with absorbed weights, where all 128 heads read the same 576 numbers?",
        (
            Option("about 1", "That is MHA: each number is read for one query only.", (0.5, 1.5)),
            Option(
                "about 128",
                "That is MQA, where one key and one value serve 128 heads. MLA's vector is both at once.",
                (120.0, 136.0),
            ),
            Option(
                "about 240",
                "It serves 128 heads, and 512 of its 576 numbers serve twice: as key and as value.",
                (230.0, 250.0),
            ),
        ),
        measured="{:.0f}",
    ),
    Prediction(
        "parameters_of_additive_attention",
        "Queries and keys of width 512. Additive attention scores with *W*, *U* and *v*, hidden width 512. The dot "
        "product has *W*_{q}, *W*_{k} and *W*_{v}. How many parameters does additive attention have in comparison?",
        (
            Option(
                "more",
                "It looks heavier, with a network and a tanh. But only *v* is added to two matrices, and the other "
                "side was given three.",
                "more",
            ),
            Option(
                "equally many",
                "Three symbols on each side. But *v* is a vector.",
                "equal",
            ),
            Option(
                "fewer",
                "Two matrices and a vector against three matrices. With a *W*_{v} on both sides it has 512 more.",
                "fewer",
            ),
        ),
    ),
)

predict = asker("08_heads_and_variants", PREDICTIONS)
