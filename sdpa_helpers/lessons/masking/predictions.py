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
                "The weight that is set free must go somewhere, and *the* seems to need it more. It is shared in proportion.",
                "smaller",
            ),
            Option(
                "it stays the same",
                "The ratio of two weights is e^{sᵢ − sⱼ}. It knows nothing of a third key.",
                "same",
            ),
            Option(
                "it gets larger",
                "The strongest key gains most in absolute terms, from 0.44 to 0.68. But *the* grows by the same factor.",
                "larger",
            ),
        ),
        after="The weight of the hidden keys goes to the visible ones **in proportion**. The masked row is a softmax over "
        "the visible keys alone, as if the others had never been there.",
    ),
    Prediction(
        "sum_when_zeroed_after",
        "What does the row of *the*, which sees only itself, add up to then?",
        (
            Option(
                "1",
                "Softmax made the row add up to 1. Then four of its five weights were taken away, and nobody divided again.",
            ),
            Option(
                "0.5",
                "That would be so if its own key had half of the weight. Four other keys share in the denominator, and two score high.",
                (0.45, 0.55),
            ),
            Option(
                "0.2",
                "One key of five: that would be so if all five scores were equal. Its own is one of the lowest.",
                (0.15, 0.25),
            ),
            Option(
                "0.06",
                "It keeps its own weight of the softmax over all five keys, and that is small.",
                (0.055, 0.065),
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="The output of *the* shrinks to a few hundredths of its value. Worse: how much it shrinks is decided by the "
        "keys that it must not see. They still sit in the denominator.",
    ),
    Prediction(
        "pairs_that_may_attend",
        "**Causal** we have. How many of the 25 pairs of our five tokens may attend?",
        (
            Option(
                "10", "That is 5 · 4 / 2, the pairs strictly below the diagonal. Each token sees itself too."
            ),
            Option("13", "Half of 25, rounded up. The diagonal belongs to the visible half as a whole."),
            Option("15", "1 + 2 + 3 + 4 + 5."),
            Option(
                "20",
                "Only the five on the diagonal would be hidden then. The future is hidden, and the diagonal is not.",
            ),
        ),
        after="In general n(n + 1)/2: a little more than half. A kernel that skips what is hidden can save nearly half of the work.",
    ),
    Prediction(
        "one_value_too_few",
        "Three queries, five keys, **four** values. At which step does it fail?",
        (
            Option("the scores", "Scores compare queries with keys. The values are not in them.", "scores"),
            Option(
                "the softmax", "Softmax takes each row of scores as it is, whatever comes later.", "softmax"
            ),
            Option(
                "the mixing", "Each row has five weights, and there are four values to multiply.", "mixing"
            ),
            Option(
                "nowhere",
                "A product that broadcasts might stretch it. A matrix product needs the inner lengths to be equal, and raises an error.",
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
                "A score of 0 has the weight e^{0} = 1 before dividing, and there are three of them.",
                (0.265, 0.275),
            ),
            Option(
                "0.6",
                "Three keys of five, if all weighed the same. The real keys score above 0 and weigh more.",
                (0.55, 0.65),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "future_when_multiplied",
        "*the* may see only itself. How much weight does it put on the **future** when the scores are multiplied by the 0/1 mask?",
        (
            Option(
                "0",
                "A product with 0 is 0, so the key looks gone. But 0 is a score like any other: e^{0} = 1.",
            ),
            Option(
                "0.5",
                "That would need the four hidden keys together to weigh as much as its own. Each of them weighs as much.",
                (0.45, 0.55),
            ),
            Option(
                "0.8",
                "Its own score is 0 as well, so all five keys weigh the same, and four of them lie in the future.",
                (0.795, 0.805),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
        after="**Multiplied**, or a fill of −10^{−9} where −10^{9} was meant: hidden scores become 0, and e^{0} = 1.",
    ),
    Prediction(
        "float_mask_in_the_fused_call",
        "In the fused call, how much weight does the first token put on the future?",
        (
            Option(
                "0",
                "The code by hand reads this mask rightly. The fused call takes floats for numbers to be **added**.",
            ),
            Option(
                "0.15",
                "That is what it keeps for itself: adding 1 to its own score helps it a little.",
                (0.145, 0.155),
            ),
            Option(
                "0.85",
                "0 and 1 are added to the scores. Nothing is hidden, and five keys share the weight.",
                (0.845, 0.855),
            ),
        ),
        measured="{:.3f}",
        how_sure=True,
        after="Now all dtypes in which a mask may come. A number is the weight on the future; a name is the error that was "
        "raised. Below it 200 draws with random inputs and eight tokens.",
    ),
    Prediction(
        "one_query_is_causal",
        "One new query, five keys, `is_causal=True`. What comes out?",
        (
            Option(
                "a mixture of all five values",
                "That is what decoding needs: the newest token sees its whole past. The flag aligns its triangle elsewhere.",
                "all",
            ),
            Option(
                "the last value",
                "The newest query belongs to the newest key. But the flag knows only that it is query 0.",
                "last",
            ),
            Option(
                "the first value",
                "Query 0 sees the keys 0 … 0: the triangle starts at the top left.",
                "first",
            ),
            Option(
                "an error",
                "One query and five keys are no square, but nothing is checked: the triangle is cut off.",
                "error",
            ),
        ),
        measured="the {} value",
        how_sure=True,
        after="The newest token attends to the oldest key and to nothing else. No error, no warning.",
    ),
    Prediction(
        "gradients_beside_an_empty_row",
        "Hand-written attention, `masked_fill(~mask, -inf)` and `softmax`. The loss adds up the **other** rows only. Which gradients are NaN?",
        (
            Option(
                "none",
                "The loss never looks at the empty rows. But it sends them a gradient of 0, and 0 · NaN is NaN.",
            ),
            Option(
                "those of Q and K",
                "NaN sits in the scores' softmax, and Q and K made the scores. `masked_fill` blocks the way back to them.",
            ),
            Option("those of V", "The gradient of V is Wᵀ dO, and W has rows of NaN."),
            Option(
                "all of them",
                "NaN usually spreads to everything. Here `masked_fill` stops it on the way to Q and K.",
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
            Option("0", "A weight of 0 should take it out. But 0 · NaN is NaN, not 0."),
            Option("1", "The last token's own, one would think. Every output is a sum over all values."),
            Option("5", "Each output is Σ_{j} w_{j} v_{j}, with the hidden value in it: 0 · NaN = NaN."),
        ),
        after="A mask is a rule about weights. The mixture includes the hidden value, with weight 0.",
        how_sure=True,
    ),
    Prediction(
        "moving_a_key",
        "The last one, zeroing weights after softmax, looks as clean as the right one. Now move **keys** instead. In how many of the 15 cells of the future does the detector find a leak?",
        (
            Option(
                "0",
                "No value of the future comes through, so it looks safe. The denominator has seen every key.",
            ),
            Option(
                "5",
                "One cell a row, as for the mask that is one step too far. The denominator sums over all keys.",
            ),
            Option("15", "Every future key sits in the denominator and shrinks the row."),
        ),
        after="No value comes through, but information does. (In the right one, output 0 has a single key, with weight 1 "
        "whatever its score: moving that key does nothing.)\n\nAnd the fill of −10 is the other way round: the score is "
        "replaced, so the key has no say, but its value comes through. **Move keys and values both.**",
    ),
)

predict = asker("05_masking", PREDICTIONS)
