"""Lesson 02, the variance of a score: what it asks before it shows, and what each answer is told."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "sixteen_scores",
        "The mean of the 16 scores is 0. What is their variance, the mean of their squares?",
        (
            Option("1", "Each *product* has variance 1. A score adds two of them."),
            Option("2", "Eight scores have the square 4, eight have 0: 8 · 4 / 16."),
            Option("4", "That is the square of the largest scores. Half of the scores are 0."),
            Option("16", "There are 16 scores. A mean divides by how many there are."),
        ),
        after="The same count for more coordinates. With dₖ = 6 there are 4⁶ = 4096 pairs, still few enough to look at "
        "all of them. The variance is exactly dₖ, from the very first row on. The largest score is dₖ too, "
        "but for that all coins must agree, and this gets rare.",
        measured="{:.0f}",
    ),
    Prediction(
        "spread_at_64",
        "With dₖ = 64 there are 4^{64} pairs: too many to count. If the variance goes on like this, "
        "what is the *standard deviation* of the score?",
        (
            Option("8", "The root of the variance 64.", right=(7.5, 8.5)),
            Option(
                "16", "Within ±16 lie nearly all scores: that is two standard deviations.", right=(15.5, 16.5)
            ),
            Option(
                "32", "About 32 coins agree. But the other 32 disagree, and take it back.", right=(31.5, 32.5)
            ),
            Option("64", "That is the variance. The standard deviation is its root.", right=(63.5, 64.5)),
        ),
        after="Measured on 20 000 pairs drawn at random. Think of a walk: each coordinate adds one step, up or down. "
        "Steps cancel each other in part, so the walk does not get *d* far. It gets about √d far.",
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "shared_queries",
        "300 queries and 300 keys make 90 000 scores. How much does their standard deviation move from demo to demo, "
        "compared with 90 000 *independent* scores?",
        (
            Option(
                "as much",
                "90 000 numbers are 90 000 numbers? They come from only 600 vectors.",
                right=(0.8, 1.25),
            ),
            Option(
                "about 3 times as much",
                "Scores in a row share a query: one long query stretches 300 of them.",
                right=(2.3, 3.7),
            ),
            Option(
                "about 17 times as much",
                "√300: as if a row were a single number. Its scores do differ.",
                right=(14, 20),
            ),
            Option(
                "about 300 times as much",
                "90 000 / 300. But precision goes with the root of how many there are.",
                right=(250, 350),
            ),
        ),
        after="The demo's answer is right. Its precision is not what the number of scores suggests: "
        "there are only 600 independent vectors in it.",
        measured="{:.1f} times as much",
    ),
    Prediction(
        "largest_variance",
        "At dₖ = 64, which of the three gives the largest variance of the score?",
        (
            Option(
                "normal",
                "A normal component can be 3 or 4, which no coin can. But its variance is 1 all the same.",
            ),
            Option(
                "uniform", "It spreads evenly up to ±√3 and looks wide. But its variance is 1 all the same."
            ),
            Option("coins", "A coin is never small. But its variance is 1 all the same."),
            Option(
                "none: all the same",
                "The proof uses means, variances and independence. No shape.",
                "the same",
            ),
        ),
        after="Each measured variance comes with its 95 % interval. The intervals overlap.",
    ),
    Prediction(
        "one_coin",
        "All four pairs of coins at dₖ = 1, nothing sampled. What is the variance of their score?",
        (
            Option("0", "A single term has nothing to add up. But it is +1 or −1, and these differ."),
            Option("exactly 1", "Two scores are +1, two are −1: mean 0, mean square 1.", right=1.0),
            Option(
                "only roughly 1",
                "So it would be if the theorem were the reason: a limit, not yet reached at 1 term.",
                right=(0.5, 0.9999),
            ),
            Option("2", "That is for dₖ = 2. One coordinate less, one product less."),
        ),
        measured="{:g}",
    ),
    Prediction(
        "mean_1",
        "dₖ = 64, and every component of q and of k has the mean 1 and the variance 1. "
        "The article says 64. What is the variance of the score?",
        (
            Option("64", "The article's formula. It leaves out what the means pass on.", right=(55, 73)),
            Option(
                "128",
                "64 · (1 + 1): one vector's mean is in it. The other one counts as well.",
                right=(115, 141),
            ),
            Option("192", "Step 6: 64 · (1·1 + 1·1² + 1·1²).", right=(180, 204)),
            Option(
                "256",
                "64 · 2 · 2 are the mean *squares* of step 3: the squared means are not yet off.",
                right=(240, 272),
            ),
        ),
        measured="{:.0f}",
        how_sure=True,
    ),
    Prediction(
        "unharmed",
        "Mean 0.5 you know already. One of the other four leaves mean *and* variance as they were. Which?",
        (
            Option(
                "alike in q only",
                "Each covariance of two products is a covariance in q times one in k, and in k they are all 0.",
            ),
            Option(
                "alike in q and k",
                "q and k are still independent of each other, and the mean stays 0. The variance does not stay.",
            ),
            Option(
                "q = k",
                "Every component is as the proof wants it. But qᵢ and kᵢ are not independent: they are one number.",
            ),
            Option(
                "q goes with k",
                "Only pairs qᵢ, kᵢ are related, coordinates are not. The mean moves all the same.",
            ),
        ),
        after="**Alike in q and k** is the worst: the covariances of step 5 are no longer 0, and there are d(d−1) of them. "
        "The variance is d + d(d−1) ρ_{q} ρ_{k}, so the spread grows like d, not like √d. "
        "If one of the two vectors keeps independent coordinates (and the means are 0), all of these terms vanish."
        "\n\n**q = k** happens in every self-attention where a token meets itself and the two matrices agree. "
        "q · q is a squared length: its mean is d."
        "\n\n**q goes with k** is what training is for: a query should find its key. "
        "Each product then has mean ρ, so the score has mean ρ d.",
    ),
    Prediction(
        "one_over_d",
        "Independent components, dₖ = 4096, scale 1/dₖ. How large is the *largest* of the 16 weights, on average?",
        (
            Option(
                "about 0.06", "1/16 = 0.0625: scaled scores of ±1/64 are nearly equal.", right=(0.055, 0.075)
            ),
            Option("about 0.25", "That is what 1/√dₖ gives. 1/dₖ is 64 times smaller.", right=(0.2, 0.3)),
            Option(
                "about 0.5",
                "It sounds as if it lay in between. Scores of ±1/64 can't move softmax so far.",
                right=(0.45, 0.55),
            ),
            Option(
                "about 1",
                "That is what scale 1 gives: raw scores spread by 64, one key takes it all.",
                right=(0.9, 1.0),
            ),
        ),
        after="**Left, independent vectors**, as they are before training. Only 1/√dₖ treats every dₖ alike. "
        "With 1 the weights collapse onto one key, with 1/dₖ they all become 1/16."
        "\n\n**Right, one key goes with the query**, with ρ = 0.5, a number that we chose. Its raw score has mean ρ dₖ. "
        "Now only 1/dₖ treats every dₖ alike; with 1/√dₖ the score of the match still grows, like ρ √dₖ."
        "\n\n“1/dₖ makes attention too flat” is true at the start, as the left picture shows. It need not stay true: "
        "a model can make its queries longer.",
        measured="{:.2f}",
    ),
    Prediction(
        "coins_together",
        "When each qᵢ goes with its kᵢ, the variance of the score goes up, from dₖ to dₖ(1 + ρ²). That was for *normal* "
        "components. Now they are *coins*, and qᵢ has correlation 0.9 with kᵢ. "
        "Compared with independent coins, the variance of the score is …",
        (
            Option(
                "larger",
                "As for normal components. But those have products of any size; a coin's are ±1.",
                right=(1.001, 99),
            ),
            Option(
                "the same",
                "As if only means, variances and ρ counted. That needs independence.",
                right=(0.999, 1.0009),
            ),
            Option(
                "smaller",
                "19 of 20 products are +1 now. What is nearly always the same hardly varies.",
                right=(0, 0.9989),
            ),
        ),
        after="For coins the variance is dₖ(1 − ρ²): once qᵢ and kᵢ depend on each other, "
        "the fourth moment of the components counts. "
        "In the picture below choose coins and move ρ to 1: the histogram becomes a single bar, since a vector of coins "
        "has q · q = dₖ, always.",
        measured="{:.2f} times as large",
        how_sure=True,
    ),
    Prediction(
        "learned_scale",
        "In the second world, which power of dₖ does the learned scale follow?",
        (
            Option(
                "0: it does not depend on dₖ",
                "One number is learned. But for each dₖ another one.",
                right=(-0.2, 0.2),
            ),
            Option(
                "−0.5: like 1/√dₖ",
                "The match scores 2√dₖ, the others spread by √dₖ: both grow alike.",
                right=(-0.7, -0.3),
            ),
            Option(
                "−1: like 1/dₖ", "That is the first world, where the match scores dₖ / 2.", right=(-1.2, -0.8)
            ),
        ),
        after="**The exponent is a property of the data, not of the formula.** Where the evidence per coordinate stays the "
        "same, the learned scale falls like 1/d. Where it thins out, like 1/√d. Below the figure: the exponents of three "
        "fresh draws, from dₖ = 64 on.",
        measured="{:.2f}",
    ),
    Prediction(
        "divided_by_the_maximum",
        "A query has the scores (−1, −2, −4). We divide by their maximum and apply softmax. "
        "Which key gets the most weight?",
        (
            Option(
                "key 0, score −1",
                "It has the best score. But divided by −1, the best becomes the smallest.",
                right=0,
            ),
            Option(
                "key 1, score −2",
                "In the middle before, and in the middle after: its order does not change.",
                right=1,
            ),
            Option("key 2, score −4", "The maximum is −1. Divided by it the scores are 1, 2 and 4.", right=2),
        ),
        after="A negative maximum turns the order round: the worst key wins. A maximum of 0 gives no weights at all.",
        measured="key {}",
    ),
    Prediction(
        "probe_at_16",
        "What does the probe read from the package's own function at dₖ = 16?",
        (
            Option("0.0625", "That is 1/16: divided by dₖ, or by √dₖ twice.", right=(0.062, 0.063)),
            Option("0.25", "1/√16.", right=(0.2499, 0.2501)),
            Option("1", "That is no scale at all. The default is to scale.", right=(0.999, 1.001)),
            Option("4", "√16 is what one divides *by*.", right=(3.99, 4.01)),
        ),
        after="Six suspects. All run without an error and return weights that add up to 1. Two of them are right.",
        measured="{:.4f}",
    ),
)

predict = asker("02_variance_proof", PREDICTIONS)
