"""Lesson 07: what it asks before it computes or measures."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "when_a_larger_score_comes",
        "You have added up exponentials of the scores 1, 3 and 2, each minus the largest, 3. Now the score 5 arrives, so 5 has to be subtracted from all of them. What do you multiply your sum by?",
        (
            Option(
                "about 0.14",
                "e^{−3} in every term has to become e^{−5}: one factor e^{3 − 5} for the whole sum.",
                (0.13, 0.14),
            ),
            Option(
                "about 7.4",
                "That is e^{5 − 3}, the factor for the other direction. Subtracting more makes each exponential smaller.",
                (7.3, 7.5),
            ),
            Option(
                "0.6",
                "That is 3 / 5. But the maximum is subtracted in the exponent, so it acts as a factor of e.",
                0.6,
            ),
            Option(
                "no single factor will do",
                "Each term changes by its own amount, but all by the same factor.",
                "no factor",
            ),
        ),
        measured="{:.4f}",
    ),
    Prediction(
        "where_the_maximum_is_used",
        "Which part of the proof needs m to be the *largest* score so far?",
        (
            Option(
                "the base case",
                "After one score the maximum is that score. But the claim also holds if you subtract something else.",
            ),
            Option(
                "the step",
                "The step moves from m to a new m. Look at its two lines: they never ask how the new one was chosen.",
            ),
            Option(
                "nowhere",
                "Any number can be subtracted, and a different one each time. In exact arithmetic the result is the same.",
            ),
        ),
        how_sure=True,
        after="The maximum is there for the *floats*: with it no exponential exceeds 1, and at least one is 1. Section 7 shows what happens without it.",
    ),
    Prediction(
        "share_of_the_second_half",
        "One query attended to two halves of the keys separately. The first half has LSE = 2, the second LSE = 2 + ln 3. What share of the merged output does the second half get?",
        (
            Option("0.5", "Half of the keys, but not half of the sum of exponentials."),
            Option(
                "0.61",
                "That is 3.1 / 5.1, the share of the LSE itself. Shares come from the sums, and the LSE is their logarithm.",
                (0.6, 0.62),
            ),
            Option(
                "0.75",
                "The sums are e² and 3e². The second is three quarters of the total.",
                (0.7499, 0.7501),
            ),
            Option("1", "The larger LSE does not win everything: it is a softmax over two parts."),
        ),
        measured="{:.2f}",
        after="Merging is softmax over the parts, and their LSEs are its scores.",
    ),
    Prediction(
        "tiles_with_a_mask_inside",
        "16 tokens with a causal mask, cut into tiles of 4 × 4. In how many of the 16 tiles must the kernel look at individual pairs?",
        (
            Option(
                "4",
                "Only the diagonal cuts through tiles. Those below it are whole, and those above it are skipped.",
            ),
            Option("6", "That is how many are skipped, and also how many are whole."),
            Option("10", "That is how many are computed. But most of these need no mask."),
            Option(
                "16",
                "A kernel that compares positions everywhere would be right, but slower than it has to be.",
            ),
        ),
        after="With n / B tiles on a side, n / B are on the diagonal, and twice as many tokens mean four times as many tiles: soon nearly all that are computed are whole.",
    ),
    Prediction(
        "time_of_tiled_numpy",
        "One core, 4,096 tokens. Tiled NumPy does every FLOP of the formula, and it rescales in addition. How many times as fast is it?",
        (
            Option(
                "less than 1: slower",
                "It does more arithmetic in more calls. But the formula waits for memory.",
                (0.0, 0.9),
            ),
            Option("about 1", "The FLOPs are nearly the same. The bytes are not.", (0.9000001, 1.25)),
            Option(
                "clearly more than 1",
                "The same FLOPs, but no score goes to memory and back.",
                (1.2500001, 1000.0),
            ),
        ),
        measured="{:.1f} times",
        after="Times are processor time of one thread. In brackets: the range over five repeats.",
    ),
    Prediction(
        "scores_that_expose_a_start_at_0",
        "The running maximum starts at 0 instead of −∞, in float32. Which row of scores comes out wrong?",
        (
            Option("all near −2", "Then 0 is subtracted, not −2. By the invariant any number will do."),
            Option("all near −200", "e^{−200} is 0 in float32, and 0/0 is NaN."),
            Option(
                "all near +200", "Here the maximum passes 0 with the first score, and all is as it should be."
            ),
            Option(
                "half −200, half +200",
                "The first scores vanish, but so they should: the others outweigh them by e^{400}.",
            ),
        ),
        how_sure=True,
    ),
    Prediction(
        "numbers_kept_for_the_way_back",
        "Training with 100,000 tokens and d_{v} = 64. How many numbers per query, beside Q, K and V, must the forward pass keep so that the backward pass can recompute every weight?",
        (
            Option(
                "1",
                "One number, the LSE, gives back the weights. But D = rowsum(dO ∘ O) also needs the output.",
            ),
            Option("65", "The 64 numbers of its output, and one LSE."),
            Option("128", "Two vectors would be its query and its key, and those are there anyway."),
            Option("100,000", "That is its row of weights, and exactly what need not be kept.", 100_000),
        ),
        measured="{:,.0f}",
    ),
    Prediction(
        "share_of_the_peak",
        "H100, d = 128. Suppose the matrix products run at their peak, the exponentials at theirs, and they take turns. What share of the peak can attention reach?",
        (
            Option(
                "about 99%",
                "One exponential to 512 FLOPs sounds like nothing. But the two are done by different units, and the one for exp is about 250 times as slow.",
                (95.0, 100.0),
            ),
            Option("about 80%", "That would take an exp unit twice as fast.", (78.0, 82.0)),
            Option(
                "about 67%", "A tile's exponentials take half as long as its products: 1 / 1.5.", (65.0, 69.0)
            ),
            Option(
                "about 50%",
                "That would be right if both took equally long, as they do at d = 64.",
                (48.0, 52.0),
            ),
        ),
        measured="{:.0f}%",
        after="Overlapped, the exponentials cost nothing in this model, as long as they take less time than the products.",
    ),
)

predict = asker("07_flash_attention", PREDICTIONS)
