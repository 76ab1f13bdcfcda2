"""Lesson 05: what it asks before it measures."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "ratio_of_two_that_stay",
        "The query *fears* loses the keys *big* and *dogs*. What happens to the ratio of its weights on *cat* and on *the*?",
        (
            Option(
                "it gets smaller",
                "One may think of sharing evenly: equal gifts help the smaller of two more. But the weight that is set free is shared in proportion.",
                "smaller",
            ),
            Option(
                "it stays the same",
                "The ratio of two weights is e^{sᵢ − sⱼ}. It knows nothing of a third key.",
                "same",
            ),
            Option(
                "it gets larger",
                "The strongest key does gain most, from 0.44 to 0.68. But *the* grows by the same factor.",
                "larger",
            ),
        ),
        after="The weight of the hidden keys goes to the visible ones **in proportion**. The masked row is a softmax over "
        "the visible keys alone, as if the others had never been there.",
    ),
    Prediction(
        "sum_when_zeroed_after",
        "Softmax over all keys, and only then zeros for the hidden ones: what does the row of *the*, which sees only itself, add up to?",
        (
            Option(
                "0.06",
                "It keeps its own weight of the softmax over all five keys, and that is small.",
                (0.055, 0.065),
            ),
            Option(
                "0.2",
                "One key of five: so it would be if all five scores were equal. But *dogs* scores far above the others and takes most.",
                (0.195, 0.205),
            ),
            Option(
                "1",
                "Rows of a softmax add up to 1, and this one did. Then four of its five weights were taken away, and nobody divided again.",
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="The output of *the* shrinks to 6 % of its value. Worse: how much it shrinks is decided by the "
        "keys that it must not see. They still sit in the denominator.",
    ),
    Prediction(
        "pairs_that_may_attend",
        "**Causal** we have. How many of the 25 pairs of our five tokens may attend?",
        (
            Option(
                "10",
                "That is 5 · 4 / 2, each token with those before it. But a token sees itself too.",
            ),
            Option(
                "13",
                "That is half of 25, rounded up, and the mask looks like half a square. But all of the diagonal is visible.",
            ),
            Option("15", "The first token sees 1 key, the next 2, and so on: 1 + 2 + 3 + 4 + 5."),
        ),
        after="In general n(n + 1)/2: a little more than half. A kernel that skips what is hidden can save nearly half of the work.",
    ),
    Prediction(
        "one_value_too_few",
        "Three queries, five keys, **four** values. At which step does it fail?",
        (
            Option(
                "at the scores",
                "It is the first product, where most mistakes of shape show. But it takes queries and keys, and no values.",
                "scores",
            ),
            Option(
                "at the softmax",
                "It makes one weight for each key, and there are not that many values. But it looks at the scores only.",
                "softmax",
            ),
            Option(
                "at the mixing",
                "Each row has five weights, and there are four values to multiply.",
                "mixing",
            ),
            Option(
                "nowhere",
                "NumPy stretches some arrays that do not fit. But never in a matrix product: there the inner lengths must be equal.",
                "nowhere",
            ),
        ),
        after="Row i of the weights has one number for each **key**, and each of these numbers multiplies one **value**: "
        "oᵢ = Σ_{j} w_{ij} v_{j}. The same j counts both. A key without a value would find something that has no content.",
    ),
    Prediction(
        "weight_on_zero_vectors",
        "How much weight, on average, do the tokens *big* and *dogs* give to the three zero vectors?",
        (
            Option(
                "0",
                "A zero vector scores 0, and that sounds like no weight. But e^{0} is 1.",
            ),
            Option(
                "0.27",
                "A score of 0 counts e^{0} = 1 before dividing, and there are three of them.",
                (0.265, 0.275),
            ),
            Option(
                "0.6",
                "Three keys of five: so it would be if all scored the same. But most of the real ones score above 0.",
                (0.595, 0.605),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
        after="A zero value adds nothing, but its weight is missing elsewhere: both outputs shrink. With a padding mask they are what they are alone.",
    ),
    Prediction(
        "future_when_multiplied",
        "*the* may see only itself. How much weight does it put on the **future** when the scores are multiplied by the 0/1 mask?",
        (
            Option(
                "0",
                "A product with 0 is 0, so the hidden keys look gone. But 0 is a score like any other: e^{0} = 1.",
            ),
            Option(
                "0.5",
                "Itself on one side, the hidden rest on the other: that sounds like a half. But each of the four hidden keys counts by itself.",
                (0.495, 0.505),
            ),
            Option(
                "0.8",
                "Its own score is 0 as well, so all five keys weigh the same, and four of them lie in the future.",
                (0.795, 0.805),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
        after="**Multiplied**, or a fill of −10^{−9} where −10^{9} was meant: hidden scores become 0, or next to it, and e^{0} = 1.",
    ),
    Prediction(
        "float_mask_in_the_fused_call",
        "In the fused call, how much weight does the first token put on the future?",
        (
            Option(
                "0.85",
                "The fused call **adds** a float mask to the scores. Nothing is hidden, and five keys share the weight.",
                (0.845, 0.855),
            ),
            Option(
                "0.15",
                "A 1 on its own key and 0 on the others should leave them little. It is the other way round: 0.15 is what its own key gets.",
                (0.145, 0.155),
            ),
            Option(
                "0",
                "The code by hand reads this mask rightly, and the article says *the same result*. But the fused call takes floats as numbers to **add**.",
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="An **added** mask of 0 and 1 raises the visible scores by one and hides nothing. Now all dtypes in which a mask may come. A number is the weight on the future; a name is the error that was "
        "raised. Below it are 200 draws with random inputs and eight tokens.",
    ),
    Prediction(
        "one_query_is_causal",
        "One new query, five keys, and the fused call with `is_causal=True`. What comes out?",
        (
            Option(
                "the last value",
                "The newest query belongs to the newest key. But the flag counts the only query as query 0.",
            ),
            Option(
                "the first value",
                "The flag starts its triangle at the top left: the new query counts as query 0 and sees key 0 only.",
            ),
            Option(
                "a mixture of all five",
                "That is what decoding needs: the newest token sees its whole past. It is the triangle at the bottom right, and the flag has the other.",
            ),
            Option(
                "an error",
                "A triangle wants a square, and an error would be kind. But nothing is checked: the triangle is cut off.",
            ),
        ),
        how_sure=True,
        after="The newest token attends to the oldest key and to nothing else. No error, no warning. Torch's `is_causal=True` "
        "and our `sdpa.causal_mask` both start at the **top left**.",
    ),
    Prediction(
        "gradients_beside_an_empty_row",
        "Hand-written attention, `masked_fill(~mask, -inf)` and `softmax`. The loss adds up the **other** rows only. Which gradients are NaN?",
        (
            Option(
                "none",
                "The loss never looks at the empty rows. But on the way back they get a gradient of 0, and 0 · NaN is NaN.",
            ),
            Option(
                "those of Q and K",
                "The NaN arises in the softmax of scores, and Q and K made the scores. But `masked_fill` blocks the way back to them.",
            ),
            Option("those of V", "The gradient of V is Wᵀ dO, and W has rows of NaN."),
            Option(
                "all of them",
                "NaN usually spreads to everything. But `masked_fill` stops it on the way to Q and K.",
            ),
        ),
        after="The loss put a zero into dO for the empty rows, but their weights are NaN, and 0 · NaN = NaN. One empty row "
        "spoils the gradient of **every** value.\n\nHere are seven ways to mask. The second column says what the empty rows' "
        "output is, the others whether all gradients are finite:",
    ),
    Prediction(
        "nan_value_behind_a_mask",
        "The last **value** is NaN, and a padding mask hides it from every query: its weight is exactly 0. How many of the five outputs are NaN?",
        (
            Option("none", "A weight of 0 should take it out. But 0 · NaN is NaN, not 0.", 0),
            Option(
                "one",
                "The last token's own row, one would think. But row j of V goes into every output, not only into output j.",
                1,
            ),
            Option(
                "all five", "Each output is Σ_{j} w_{j} v_{j}, with the hidden value in it: 0 · NaN = NaN.", 5
            ),
        ),
        measured="{} of 5",
        how_sure=True,
    ),
    Prediction(
        "moving_a_key",
        "The last one, zeroing weights after softmax, looks as clean as the right one. Now move **keys** instead. In how many of the 15 cells of the future does the detector find a leak?",
        (
            Option(
                "in all 15",
                "Every future key sits in the denominator: when it moves, the row shrinks or grows.",
                15,
            ),
            Option(
                "in 5",
                "As with the mask that is one step too far: one key ahead. But the denominator sums over all keys.",
                5,
            ),
            Option(
                "in none",
                "No value of the future comes through, so it looks safe. But the denominator has seen every key.",
                0,
            ),
        ),
        measured="{} of 15",
        after="No value comes through, but information does. (In the right one, output 0 has a single key, with weight 1 "
        "whatever its score: moving that key does nothing.)\n\nAnd the fill of −10 is the other way round: the score is "
        "replaced, so the key has no say, but its value comes through. **Move keys and values both.**",
    ),
)

predict = asker("05_masking", PREDICTIONS)
