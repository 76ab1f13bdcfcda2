"""Lesson 01, the dot product: what it asks before it shows, and what each answer is told."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "one_score",
        "The query *small and alive* is (1, 0, −1), the key *cat* is (1, 0, −0.5). What is their dot product?",
        (
            Option("0.5", "It takes the sizes off: 1 − 0.5. But minus times minus is plus."),
            Option(
                "1", "It counts what both have, *alive*. But the sizes match as well, and add their part."
            ),
            Option("1.5", "1 · 1 + 0 · 0 + (−1) · (−0.5) = 1 + 0 + 0.5."),
            Option("2", "That is the query with itself. The cat matches it well, but is only half as small."),
        ),
        after="The size adds a *positive* amount: the query asks for small (negative), and the cat *is* small "
        "(negative).",
    ),
    Prediction(
        "at_100_degrees",
        "Two vectors of length 1, with 100° between them. What is their dot product?",
        (
            Option("−1", "Negative is right. But −1 needs two *opposed* vectors, at 180°."),
            Option(
                "−0.17",
                "cos 100° = −0.17: a little more than perpendicular, so a little less than 0.",
                right=(-0.175, -0.165),
            ),
            Option("0", "100° looks nearly perpendicular, and it is. Exactly 0 is for exactly 90°."),
            Option("0.17", "That is cos 80°: the right size. Beyond 90° the sign turns."),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "long_key_at_60_degrees",
        "A query of length 1 meets two keys. The first has length 1 and points the same way: score 1. "
        "The second has length 5 and is 60° off. What is *its* score?",
        (
            Option("0.5", "That is cos 60°: the angle is in it, the length 5 is not."),
            Option("1", "As if no key could beat one that points the same way. A longer one can."),
            Option("2.5", "1 · 5 · cos 60° = 5 · 0.5. The long key wins, 60° off.", right=(2.495, 2.505)),
            Option("5", "That is the product of the lengths: right if the key pointed the same way."),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "length_that_wins",
        "Key A has length 1 and points along the query. Key B is 65° off. "
        "From which length on does B have the larger score?",
        (
            Option("1.1", "That is 65° in radians: the angle itself. What counts is its cosine, 0.42."),
            Option("2", "That is the length for 60°, where the cosine is a half. At 65° it is only 0.42."),
            Option(
                "2.4", "B scores its length times cos 65° = 0.42, and 1 / 0.42 = 2.4.", right=(2.35, 2.45)
            ),
            Option("never", "So it is from 90° on. Below 90°, enough length makes up for any angle."),
        ),
        measured="{:.1f}",
    ),
    Prediction(
        "query_length",
        "Now change the length of the *query*: ten times as long, then a hundredth. Which word has the largest score?",
        (
            Option(
                "*dogs* both times",
                "Every score is multiplied by the same number: the order stays.",
                "dogs, dogs",
            ),
            Option(
                "*cat* both times",
                "The cat is better aligned, so it wins by *cosine*. Scores count length.",
                "cat, cat",
            ),
            Option(
                "first *dogs*, then *cat*",
                "As if a short query looked at directions only. It shrinks all scores alike.",
                "dogs, cat",
            ),
            Option(
                "first *cat*, then *dogs*",
                "As if a long query insisted on direction. It stretches all scores alike.",
                "cat, dogs",
            ),
        ),
        after="The query's length multiplies all its scores by the same number, so it cannot change their order. "
        "A key's length multiplies only that key's scores, so it can.",
    ),
    Prediction(
        "shape_of_scores",
        "`Q` has shape (4, 3) and `K` has shape (5, 3). What is the shape of `Q @ K.T`?",
        (
            Option("(4, 5)", "One row for each query, one column for each key."),
            Option("(5, 4)", "That is `K @ Q.T`: the same twenty numbers, one row for each *key*."),
            Option(
                "(3, 3)", "As if queries and keys were summed away. The axis that goes is the shared d_{k}."
            ),
            Option("(4, 3)", "As if each query stayed a vector. Against a key it becomes one number."),
        ),
        after="(n_{q}, d_{k}) × (d_{k}, n_{k}) → (n_{q}, n_{k}): the inner d_{k} is summed away, and nothing else "
        "has to match. Row *i* belongs to query *i*, column *j* to key *j*. "
        "The matrix is square only when there are as many queries as keys.",
    ),
    Prediction(
        "twice_the_score",
        "*cat* has score 1 and *dogs* has score 2. How many times as much weight does *dogs* get?",
        (
            Option(
                "the same",
                "One point more sounds like little. But each point multiplies the weight by *e*.",
                right=1.0,
            ),
            Option(
                "2 times", "In proportion to the scores. But softmax raises *e* to them first.", right=2.0
            ),
            Option(
                "2.72 times", "e² / e¹ = e: the sum below the fraction line cancels.", right=(2.715, 2.725)
            ),
            Option("7.39 times", "That is e², before it is divided by the cat's e¹.", right=(7.385, 7.395)),
        ),
        measured="{:.2f} times",
        how_sure=True,
    ),
    Prediction(
        "zero_scores",
        "*the*, *fears* and *big* have score 0. How much weight do the three get *together*?",
        (
            Option("0", "No score, no weight? But e⁰ = 1, and every key gets a part.", right=0.0),
            Option("0.08", "That is what *one* of them gets.", right=(0.075, 0.085)),
            Option(
                "0.23",
                "3 · e⁰ / (3 · e⁰ + e¹ + e²) = 3 / 13.1: nearly a quarter, for three scores of 0.",
                right=(0.225, 0.235),
            ),
            Option(
                "0.6", "Three of five keys. So it would be if all five shared evenly.", right=(0.595, 0.605)
            ),
        ),
        after="A score of 0 is not a weight of 0. Even *the*, whose key is the zero vector, gets its part. "
        "Softmax never says “nothing”: to leave a key out you need a mask (lesson 05).",
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "negative_score",
        "The second query, *small and alive*, gives *big* the score −2. How much weight does *big* get?",
        (
            Option(
                "less than 0",
                "A negative score, a negative share? *e* to any power is positive.",
                right=(-9, -1e-9),
            ),
            Option("0", "As if what is below 0 were cut off. e⁻² = 0.14 is small, and not 0.", right=0.0),
            Option("0.02", "e⁻² = 0.14, divided by the sum 7.6.", right=(0.015, 0.025)),
            Option(
                "0.13, like a score of 0",
                "As if 0 were the bottom. Two points less make the weight e² = 7.4 times smaller.",
                right=(0.125, 0.135),
            ),
        ),
        after="Compare the second row below with its scores: a negative score, and still a positive weight.",
        measured="{:.2f}",
    ),
    Prediction(
        "outside_the_hull",
        "Where can an output be? We try 600 random queries of lengths from 0 to 8. "
        "How many of the 600 outputs lie *outside* the hull?",
        (
            Option("0", "An average with positive weights that add up to 1 cannot leave the hull."),
            Option(
                "about 30",
                "Extreme queries should give extreme outputs? They only get closer to *one* value.",
                right=(1, 150),
            ),
            Option(
                "about 300",
                "Random queries, random places? Whatever the query asks, only the five values are mixed.",
                right=(151, 600),
            ),
        ),
        after="Attention mixes what the values offer; it adds nothing of its own. Where do the points gather? "
        "Near a word when the query is long and one score wins, near the plain average when the query is short.",
        measured="{} of 600",
    ),
    Prediction(
        "article_a",
        "The article's last sentence, on the scores 3 and 6. How many times as much weight does the larger one get?",
        (
            Option(
                "2 times",
                "That is what the article says. It is so when the *difference* is ln 2 = 0.69.",
                right=2.0,
            ),
            Option(
                "2.72 times",
                "That is e, as for 1 and 2. There the difference was 1; here it is 3.",
                right=(2.715, 2.725),
            ),
            Option("7.39 times", "That is e², with the *ratio* 6 / 3 in the exponent.", right=(7.385, 7.395)),
            Option("20.09 times", "e⁶ / e³ = e³: the difference counts.", right=(20.085, 20.095)),
        ),
        after="More pairs: shifted, negative, three times as large. "
        "Which column follows the *difference* of the scores?",
        measured="{:.2f} times",
    ),
)

predict = asker("01_dot_product", PREDICTIONS)
