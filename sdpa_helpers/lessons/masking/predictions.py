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
                "If the freed weight were shared out evenly, the smaller key would gain more. But it is shared out in proportion.",
                "smaller",
            ),
            Option(
                "it stays the same",
                "The ratio of two weights is e^{sᵢ − sⱼ}. It does not depend on any third key.",
                "same",
            ),
            Option(
                "it gets larger",
                "The strongest key does gain most, from 0.44 to 0.68, but *the* grows by the same factor.",
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
                "It keeps the weight it had in the softmax over all five keys, and that was small.",
                (0.055, 0.065),
            ),
            Option(
                "0.2",
                "One key of five would get this if all five scores were equal. But *dogs* scores far above the others and takes most.",
                (0.195, 0.205),
            ),
            Option(
                "1",
                "Rows of a softmax add up to 1, and this one did. Then four of its five weights were set to zero, and nothing was divided again.",
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="The output of *the* shrinks to 6% of its value. Worse, how far it shrinks depends on the very keys that it must "
        "not see: they are still in the denominator.",
    ),
    Prediction(
        "pairs_that_may_attend",
        "We have the causal mask. How many of the 25 pairs of our five tokens may attend?",
        (
            Option(
                "10",
                "That is 5 · 4 / 2, each token with those before it, but a token sees itself too.",
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
                "Most shape errors show up here, in the first product, but no values take part in it.",
                "scores",
            ),
            Option(
                "at the softmax",
                "It makes five weights, one for each key, and there are only four values. But softmax never looks at the values.",
                "softmax",
            ),
            Option(
                "at the mixing",
                "Each row has five weights, and there are four values to multiply.",
                "mixing",
            ),
            Option(
                "nowhere",
                "NumPy stretches some arrays that do not fit, but never in a matrix product: there the inner lengths must be equal.",
                "nowhere",
            ),
        ),
        after="Row i of the weights has one number for each **key**, and each of these numbers multiplies one **value**: "
        "oᵢ = Σ_{j} w_{ij} v_{j}. The same j counts both. A key without a value would point at nothing.",
    ),
    Prediction(
        "weight_on_zero_vectors",
        "How much weight, on average, do the tokens *big* and *dogs* give to the three zero vectors?",
        (
            Option(
                "0",
                "A score of 0 sounds like no weight, but e^{0} is 1.",
            ),
            Option(
                "0.27",
                "A score of 0 counts e^{0} = 1 before dividing, and there are three of them.",
                (0.265, 0.275),
            ),
            Option(
                "0.6",
                "Three keys of five would get this if all scored the same. But most of the real keys score above 0.",
                (0.595, 0.605),
            ),
        ),
        measured="{:.2f}",
        after="A zero value adds nothing, but its weight is missing elsewhere, and both outputs shrink. So the answer for *big dogs* "
        "depends on how much padding stands beside it, that is, on the other sentences in the batch. An encoder needs no "
        "**causal** mask. It does need a padding mask as soon as lengths differ, and so does cross-attention.",
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
                "Itself on one side, everything hidden on the other: that sounds like a half. But each of the four hidden keys counts by itself.",
                (0.495, 0.505),
            ),
            Option(
                "0.8",
                "Its own score is 0 as well, so all five keys weigh the same, and four of them lie in the future.",
                (0.795, 0.805),
            ),
        ),
        measured="{:.2f}",
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
                "The hand-written code reads this mask as intended, and the article promises the same result. But the fused call takes floats as numbers to **add**.",
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="Adding 0 and 1 raises the visible scores by one and hides nothing. The table has every dtype a mask may come in: "
        "a number is the weight on the future, a name is the error that was raised. Below it are 200 random draws with eight "
        "tokens.\n\nInteger masks are refused, which is the kinder failure. A silent leak gives you a model that looks "
        "brilliant in training and is useless afterwards. The fix is one call: `mask.bool()`.",
    ),
    Prediction(
        "padding_read_as_rows",
        "The padding mask has shape (5, 5): five sentences, five keys. You hand it to the fused call as it is. How much weight "
        "does the only real token of sentence 1 put on its four padding tokens?",
        (
            Option(
                "0",
                "The mask says which keys are real, and its shape looks right. But the call takes its rows for queries, not for "
                "sentences.",
                0.0,
            ),
            Option(
                "0.8",
                "It is query 0, so it gets row 0 of the mask. That row belongs to the longest sentence, and hides nothing.",
                (0.795, 0.805),
            ),
            Option(
                "none: there is an error",
                "With four sentences of five tokens there would be one. Here both numbers are five, and the shape fits.",
                "error",
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
        after="Row i was used for query i of **every** sentence. Real tokens lose keys as well: in the longest sentence, token 1 "
        "sees one key of five.\n\nWrite `mask[:, None, None, :]`, and the mask is read as (batch, heads, queries, keys). (For "
        "queries with three axes, write `mask[:, None, :]`.) Below is the weight on padding, averaged over the real tokens of "
        "each sentence:",
    ),
    Prediction(
        "one_query_is_causal",
        "One new query, five keys, and the fused call with `is_causal=True`. What comes out?",
        (
            Option(
                "the last value",
                "The newest query belongs to the newest key, but the flag counts the only query as query 0.",
            ),
            Option(
                "the first value",
                "The flag starts its triangle at the top left: the new query counts as query 0 and sees key 0 only.",
            ),
            Option(
                "a mixture of all five",
                "That is what decoding needs: the newest token sees its whole past. But that triangle starts at the bottom right, and the flag starts at the top left.",
            ),
            Option(
                "an error",
                "You might want an error where the mask is not square, but nothing is checked: the triangle is simply cut off.",
            ),
        ),
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
                "NaN usually spreads to everything, but `masked_fill` stops it on the way to Q and K.",
            ),
        ),
        after="The loss ignores the empty rows, so their dO is zero. But their weights are NaN, and 0 · NaN = NaN: one empty row "
        "spoils the gradient of **every** value.\n\nHere are seven ways to mask. The second column says what comes out of the "
        "empty rows, the others whether all gradients are finite:",
    ),
    Prediction(
        "nan_value_behind_a_mask",
        "The last **value** is NaN, and a padding mask hides it from every query: its weight is exactly 0. How many of the five outputs are NaN?",
        (
            Option("none", "A weight of 0 should remove it, but 0 · NaN is NaN, not 0.", 0),
            Option(
                "one",
                "You might think of the last token's own row. But row j of V goes into every output, not only into output j.",
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
        "*Zeroed after softmax* looks as clean as the right one. Now move the **keys** instead. In how many of the 15 cells of the future does the detector find a leak?",
        (
            Option(
                "in all 15",
                "Every future key sits in the denominator: when it moves, the row shrinks or grows.",
                15,
            ),
            Option(
                "in 5",
                "That is the count for the mask that reaches one step too far. Here the denominator sums over all keys.",
                5,
            ),
            Option(
                "in none",
                "No value of the future comes through, so it looks safe, but the denominator has seen every key.",
                0,
            ),
        ),
        measured="{} of 15",
        after="No value comes through, but information does. (In the right one, output 0 has a single key, with weight 1 "
        "whatever its score: moving that key does nothing.)\n\nThe fill of −10 is the other way around: the score is "
        "replaced, so the key has no say, but its value comes through. **Move both keys and values.**",
    ),
)

predict = asker("05_masking", PREDICTIONS)
