"""Lesson 01, the dot product: what it asks before it shows, and what each answer is told."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "one_score",
        "The query *small and alive* is (1, 0, −1), the key *cat* is (1, 0, −0.5). What is their dot product?",
        (
            Option("0.5", "It subtracts the sizes: 1 − 0.5. But a negative times a negative is positive."),
            Option(
                "1", "It counts what both have, *alive*. But the sizes match as well, and add their share."
            ),
            Option("1.5", "1 · 1 + 0 · 0 + (−1) · (−0.5) = 1 + 0 + 0.5."),
            Option("2", "That is the query with itself. The cat matches it well, but is only half as small."),
        ),
        after="The size adds a *positive* amount: the query asks for something small (negative), and the cat *is* "
        "small (negative). Each coordinate adds a term, so scores tend to grow with d_{k}. Lesson 02 measures by how "
        "much.",
    ),
    Prediction(
        "at_100_degrees",
        "Two vectors of length 1, with 100° between them. What is their dot product?",
        (
            Option("−1", "Negative is right. But −1 needs two *opposed* vectors, at 180°."),
            Option(
                "−0.17",
                "cos 100° = −0.17: a little beyond perpendicular, so a little below 0.",
                right=(-0.175, -0.165),
            ),
            Option("0", "100° is nearly perpendicular. But only exactly 90° gives exactly 0."),
            Option("0.17", "That is cos 80°: the right size, but beyond 90° the sign is negative."),
        ),
        measured="{:.2f}",
    ),
    Prediction(
        "long_key_at_60_degrees",
        "A query of length 1 meets two keys. The first has length 1 and points the same way: score 1. "
        "The second has length 5 and is 60° off. What is *its* score?",
        (
            Option("0.5", "That is cos 60°: the angle is in it, the length 5 is not."),
            Option("1", "This assumes that no key can beat one that points the same way. A long one can."),
            Option("2.5", "1 · 5 · cos 60° = 5 · 0.5. The long key wins, 60° off.", right=(2.495, 2.505)),
            Option("5", "That is the product of the lengths: right if the key pointed the same way."),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "length_that_wins",
        "Key A has length 1 and points along the query. Key B is 65° off. "
        "How long must B be to have the larger score?",
        (
            Option("more than 1.1", "That is the angle, 65°, in radians. What counts is its cosine, 0.42."),
            Option(
                "more than 2", "That is right at 60°, where the cosine is a half. At 65° it is only 0.42."
            ),
            Option(
                "more than 2.4",
                "B scores its length times cos 65° = 0.42, and 1 / 0.42 = 2.4.",
                right=(2.35, 2.45),
            ),
            Option(
                "no length is enough", "True from 90° on. Below 90°, enough length makes up for any angle."
            ),
        ),
        measured="{:.1f}",
    ),
    Prediction(
        "query_length",
        "Now change the length of the query *alive*: ten times as long, then a hundredth. "
        "Which word has the largest score?",
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
                "A short query does not look at directions alone. It shrinks all scores alike.",
                "dogs, cat",
            ),
            Option(
                "first *cat*, then *dogs*",
                "A long query does not insist on direction. It stretches all scores alike.",
                "cat, dogs",
            ),
        ),
        after="The query's length multiplies all its scores by the same number, so it cannot change their order. "
        "A key's length multiplies only that key's scores, so it can.",
    ),
    Prediction(
        "shape_of_scores",
        "`Q` has shape (4, 3) and `K` has shape (5, 3). What is the shape of S = QK^{T}?",
        (
            Option("(4, 5)", "One row for each query, one column for each key."),
            Option("(5, 4)", "That is KQ^{T}: the same twenty numbers, with one row for each *key*."),
            Option(
                "(3, 3)",
                "Queries and keys are not summed over. The axis that disappears is the shared d_{k}.",
            ),
            Option("(4, 3)", "A query does not stay a vector: with each key it gives one number."),
        ),
        after="(n_{q}, d_{k}) × (d_{k}, n_{k}) → (n_{q}, n_{k}): d_{k} is summed over, and nothing else "
        "has to match. Row *i* belongs to query *i*, column *j* to key *j*. "
        "The matrix is square only when there are as many queries as keys. In practice there are more axes in front, "
        "for sentences and heads: (…, n_{q}, n_{k}).",
    ),
    Prediction(
        "twice_the_score",
        "*cat* has score 1 and *dogs* has score 2. How many times as much weight does *dogs* get?",
        (
            Option(
                "the same",
                "One point more doesn’t sound like much. But each point multiplies the weight by *e*.",
                right=1.0,
            ),
            Option(
                "2 times", "In proportion to the scores. But softmax first raises *e* to them.", right=2.0
            ),
            Option("2.72 times", "e² / e¹ = e: the sum in the denominator cancels.", right=(2.715, 2.725)),
            Option("7.39 times", "That is e², before it is divided by the cat's e¹.", right=(7.385, 7.395)),
        ),
        after="Any two weights have the ratio e^{difference of their scores}: only differences count.",
        measured="{:.2f} times",
    ),
    Prediction(
        "zero_scores",
        "*the*, *fears* and *big* have score 0. How much weight do the three get *together*?",
        (
            Option("0", "No score, no weight? But e⁰ = 1, and every key gets a share.", right=0.0),
            Option("0.08", "That is what *one* of them gets.", right=(0.075, 0.085)),
            Option(
                "0.23",
                "3 · e⁰ / (3 · e⁰ + e¹ + e²) = 3 / 13.1: nearly a quarter, for three scores of 0.",
                right=(0.225, 0.235),
            ),
            Option("0.6", "Three of five keys: right if all five had the same score.", right=(0.595, 0.605)),
        ),
        after="A score of 0 is not a weight of 0. Even *the*, whose key is the zero vector, gets its share. "
        "Softmax leaves nothing out: to hide a key you need a mask (lesson 05).",
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
            Option("0", "Nothing is cut off below 0: e⁻² = 0.14 is small, but not 0.", right=0.0),
            Option("0.02", "e⁻² = 0.14, divided by the sum 7.6.", right=(0.015, 0.025)),
            Option(
                "0.13, like a score of 0",
                "A score can go below 0: two points less divide the weight by e² = 7.4.",
                right=(0.125, 0.135),
            ),
        ),
        after="Compare the second row below with its scores: a negative score, and still a positive weight.",
        measured="{:.2f}",
    ),
    Prediction(
        "outside_the_hull",
        "Where can an output be? Stretch a rubber band around the five values: what it encloses is their "
        "*convex hull*. We try 600 random queries, short ones and long ones. How many outputs lie *outside* the hull?",
        (
            Option("0", "An average with positive weights that add up to 1 cannot leave the hull."),
            Option(
                "about 30",
                "Extreme queries, extreme outputs? They only come closer to *one* of the values.",
                right=(1, 150),
            ),
            Option(
                "about 300",
                "Random queries, random places? Whatever the query, only the five values are mixed.",
                right=(151, 600),
            ),
        ),
        after="Attention mixes what the values offer; it adds nothing of its own. Where do the points gather? "
        "Near one word when the query is long and one score wins, near the plain average when the query is short.",
        measured="{} of 600",
    ),
    Prediction(
        "nearest_key",
        "By dot product *dogs* wins for the query *alive*. By distance, which key is *nearest* to that query?",
        (
            Option(
                "dogs", "The largest score, but (2, 0, 2) is far away from (1, 0, 0). Length helps a score."
            ),
            Option("cat", "(1, 0, −0.5) differs in size alone, and only by a half."),
            Option(
                "the", "A zero vector is near to everything short. Its distance is the query’s length, 1."
            ),
            Option("fears", "It shares nothing with *alive*: its action of 2 only adds to the distance."),
        ),
        after="Softmax of −½‖q − k‖² is softmax of q · k − ½‖k‖²: by distance, every key pays for its length. "
        "By dot product length is free, and often pays.",
        how_sure=True,
    ),
    Prediction(
        "what_big_finds",
        "Each word now asks with its own query. The query of *big* is (2, 0, 0). "
        "Which word gets most of its weight?",
        (
            Option("big", "A word need not ask for what it is. *big* is not alive, so its score is 0."),
            Option("cat", "Alive, yes: a score of 2. But *dogs* are twice as alive."),
            Option("dogs", "2 · 2 = 4, the highest score: *big* has found the word that it describes."),
            Option("fears", "An action. That is what living things ask for, not what sizes ask for."),
        ),
        after="When queries and keys come from the same words, this is **self-attention**; with queries from elsewhere, "
        "like our four questions, it is **cross-attention**. Compare *cat* → *fears* with *fears* → *cat*: asking goes "
        "both ways, but not equally. Were W_{q} and W_{k} the same matrix, the scores would be symmetric.",
    ),
    Prediction(
        "by_hand",
        "What is the output of *likes*? (Its two numbers are equal.)",
        (
            Option("0.50", "That takes weights in proportion to the scores: ½, ½, 0.", right=(0.495, 0.505)),
            Option(
                "0.58",
                "Scores 1, 1, 0; exponentials 2.72, 2.72, 1; weights 0.42, 0.42, 0.16; and 0.42 + 0.16 = 0.58.",
                right=(0.575, 0.585),
            ),
            Option(
                "0.67", "That is the plain average of the values: the scores have no say.", right=(0.66, 0.67)
            ),
            Option("3.72", "The exponentials are not divided by their sum, 6.44.", right=(3.71, 3.73)),
        ),
        after="Compare your whole table. If a digit differs, it is rounding.",
        measured="{:.2f}",
    ),
    Prediction(
        "article_a",
        "Apply the article’s second sentence to the scores 3 and 6. "
        "How many times as much weight does the larger one really get?",
        (
            Option(
                "2 times",
                "That is what the article says. It would be right for a *difference* of ln 2 = 0.69.",
                right=2.0,
            ),
            Option(
                "2.72 times",
                "That is e: right for the scores 1 and 2, whose difference is 1. Here it is 3.",
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
