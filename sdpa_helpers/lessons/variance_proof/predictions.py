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
            Option("16", "There are 16 scores, but a mean divides by how many there are."),
        ),
        after="The same count for more coordinates: with dₖ = 6 there are 4⁶ = 4,096 pairs, still few enough to look at "
        "all of them. The variance is exactly dₖ, from the very first row on. The largest score is dₖ too, "
        "but only when every coin agrees, which becomes rare.",
        measured="{:.0f}",
    ),
    Prediction(
        "spread_at_64",
        "With dₖ = 64 there are 4^{64} pairs, too many to count. If the variance goes on like this, "
        "what is the *standard deviation* of the score?",
        (
            Option("8", "The root of the variance, 64.", right=(7.5, 8.5)),
            Option(
                "16",
                "Nearly all scores lie within ±16, but that is two standard deviations.",
                right=(15.5, 16.5),
            ),
            Option(
                "32",
                "About 32 products are +1, but the other 32 are −1 and cancel them.",
                right=(31.5, 32.5),
            ),
            Option("64", "That is the variance. The standard deviation is its root.", right=(63.5, 64.5)),
        ),
        after="Measured on 20,000 pairs drawn at random. Think of a walk: each coordinate adds one step, up or down. "
        "The steps partly cancel, so after *d* of them the walk is not *d* away from where it began. It is about √d away.",
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "shared_queries",
        "300 queries and 300 keys make 90,000 scores. How much does their standard deviation move from demo to demo, "
        "compared with that of 90,000 *independent* scores?",
        (
            Option(
                "as much",
                "It would, if 90,000 numbers were 90,000 pieces of evidence. They come from only 600 vectors.",
                right=(0.8, 1.25),
            ),
            Option(
                "about 3 times as much",
                "Scores in a row share a query: one long query stretches 300 of them.",
                right=(2.3, 3.7),
            ),
            Option(
                "about 17 times as much",
                "√300, as if a row were a single number. But the scores within a row do differ.",
                right=(14, 20),
            ),
            Option(
                "about 300 times as much",
                "90,000 / 300. But precision goes with the root of the number of samples.",
                right=(250, 350),
            ),
        ),
        after="The demo's answer is right. Its precision is not what the number of scores suggests: "
        "there are only 600 independent vectors behind it.",
        measured="{:.1f} times as much",
    ),
    Prediction(
        "largest_variance",
        "At dₖ = 64, which of the three gives the largest variance of the score?",
        (
            Option(
                "normal",
                "A normal coordinate can be 3 or 4, which no coin can, yet its variance is still 1.",
            ),
            Option("uniform", "It spreads evenly up to ±√3 and looks wide, but its variance is also 1."),
            Option("coins", "A coin is never close to 0, but its variance is 1 like the others."),
            Option(
                "none: all the same",
                "The proof uses means, variances and independence. It never mentions a shape.",
                "the same",
            ),
        ),
        after="Each measured variance comes with its 95% interval. The intervals overlap.",
    ),
    Prediction(
        "one_coin",
        "Take all four pairs of coins at dₖ = 1; nothing is sampled. What is the variance of their score?",
        (
            Option("0", "A single term has nothing to add up, but it is sometimes +1 and sometimes −1."),
            Option("exactly 1", "Two scores are +1, two are −1: mean 0, mean square 1.", right=1.0),
            Option(
                "only roughly 1",
                "It would be, if the theorem were the reason: one term is far from its limit.",
                right=(0.5, 0.9999),
            ),
            Option("2", "That is for dₖ = 2. Here there is one product, not two."),
        ),
        measured="{:g}",
    ),
    Prediction(
        "mean_1",
        "dₖ = 64, and every coordinate of q and of k has mean 1 and variance 1. "
        "The article says 64. What is the variance of the score?",
        (
            Option(
                "64", "This is the article's formula, which leaves out what the means add.", right=(55, 73)
            ),
            Option(
                "128",
                "64 · (1 + 1): this counts the mean of one vector and forgets the other's.",
                right=(115, 141),
            ),
            Option("192", "64 times step 3: 64 · (1·1 + 1·1² + 1·1²).", right=(180, 204)),
            Option(
                "256",
                "64 · 2 · 2 adds up the mean *squares* of step 2. The squared means are still to be subtracted.",
                right=(240, 272),
            ),
        ),
        after="Three times the article's number. Its formula needs both means to be 0. The mean of the score is not 0 "
        "either: it is dₖ m_{q} m_{k} = 64.",
        measured="{:.0f}",
        how_sure=True,
    ),
    Prediction(
        "unharmed",
        "You have seen what a mean does. Only one of the other four changes leaves the mean *and* the variance of the "
        "score as they were. Which?",
        (
            Option(
                "correlated within q",
                "E[q₁k₁q₂k₂] = E[q₁q₂] E[k₁] E[k₂]. The keys still have independent coordinates with mean 0, "
                "so this is 0 whatever E[q₁q₂] is.",
            ),
            Option(
                "correlated within both",
                "q and k are still independent of each other, and the mean stays 0. The variance does not.",
            ),
            Option(
                "q = k",
                "Each coordinate on its own is as the proof assumes, but qᵢ and kᵢ are the same number.",
            ),
            Option(
                "kᵢ correlated with qᵢ",
                "Different coordinates are still independent, but step 1 no longer holds, and the mean moves.",
            ),
        ),
        after="**Correlated within both** is the worst: the covariances of step 5 are no longer 0, and there are "
        "dₖ(dₖ − 1) of them. The spread now grows like dₖ, not like √dₖ."
        "\n\n**q = k** happens in self-attention when a token meets itself and W_{q} = W_{k}. "
        "q · q is a squared length: its mean is dₖ."
        "\n\n**kᵢ correlated with qᵢ** is what training is for: a query should find its key. "
        "Each product then has mean 0.5, and the score has mean dₖ/2.",
    ),
    Prediction(
        "both_at_once",
        "Two changes at once: all means are 0.5, which alone gives the variance 96, and the coordinates of q are correlated by 0.5. "
        "dₖ = 64, all variances are 1. What is the variance of the score?",
        (
            Option(
                "about 64",
                "The correlation would have to undo what the means did, and no term of the sum is negative.",
                right=(55, 73),
            ),
            Option(
                "about 96",
                "This adds the two effects separately: 32 from the means, 0 from the correlation.",
                right=(85, 107),
            ),
            Option(
                "about 600",
                "The covariance is c_{q} m_{k}^{2} = 0.5 · 0.5², once for each of 64 · 63 pairs of products.",
                right=(560, 640),
            ),
            Option(
                "about 1,072",
                "That is 64 + 64 · 63 · 0.5², for correlation within both and means 0.",
                right=(1000, 1150),
            ),
        ),
        after="Exactly, it is 64 · 1.5 + 64 · 63 · 0.125 = 96 + 504 = 600. Correlation within q alone adds nothing, "
        "as long as m_{k} and c_{k} are 0.",
        measured="{:.0f}",
        how_sure=True,
    ),
    Prediction(
        "normalized",
        "q and k are drawn independently, then each is divided by its root mean square, so that Σᵢ qᵢ² = dₖ, always. "
        "With dₖ = 8, what is the variance of the score?",
        (
            Option(
                "clearly smaller than 8",
                "The lengths no longer vary. But the score varies with the angle, and that is enough.",
                right=(0, 7.7),
            ),
            Option(
                "8",
                "The coordinates are dependent but uncorrelated, and the formula needs no more than that.",
                right=(7.7, 8.3),
            ),
            Option(
                "clearly larger than 8",
                "Dependence often adds covariance, but here each covariance is 0.",
                right=(8.3, 99),
            ),
        ),
        after="The middle row is LayerNorm without its learned gain: it also subtracts the mean, so that Σᵢ qᵢ = 0. "
        "Two coordinates then have correlation −1/(dₖ − 1): nearly uncorrelated, not quite. If both vectors are "
        "normalized like this, the variance is dₖ + dₖ/(dₖ − 1) = 9.14; if only one is, it is 8 again. "
        "At dₖ = 64 the difference is small: 65.02, not 64.",
        measured="{:.2f}",
    ),
    Prediction(
        "one_over_d",
        "All vectors are independent, dₖ = 4096, and the scale is 1/dₖ. How large is the *largest* of the 16 weights, "
        "on average?",
        (
            Option(
                "about 0.06", "1/16 = 0.0625: scaled scores of ±1/64 are nearly equal.", right=(0.055, 0.075)
            ),
            Option("about 0.25", "That is what 1/√dₖ gives. 1/dₖ is 64 times smaller.", right=(0.2, 0.3)),
            Option(
                "about 0.5",
                "It sounds like a safe middle, but scores of ±1/64 can't move softmax that far.",
                right=(0.45, 0.55),
            ),
            Option(
                "about 1",
                "That is what scale 1 gives: raw scores spread by 64, and one key takes it all.",
                right=(0.9, 1.0),
            ),
        ),
        after="**Left, unrelated vectors**, as they are before training. Only 1/√dₖ treats every dₖ alike. "
        "With scale 1 the weights collapse onto one key; with 1/dₖ they all become 1/16."
        "\n\n**Right, key 0 matches its query**, with a correlation of 0.5 that we chose. Its raw score has mean dₖ/2. "
        "Now only 1/dₖ treats every dₖ alike; with 1/√dₖ the score of the match still grows, like √dₖ/2."
        "\n\n“1/dₖ makes attention too flat” is true at the start, as the left picture shows. It need not stay true: "
        "a model can make its queries longer.",
        measured="{:.2f}",
    ),
    Prediction(
        "coins_together",
        "When each kᵢ is correlated with its qᵢ by ρ, the variance of the score goes up, from dₖ to dₖ(1 + ρ²). That is "
        "for *normal* coordinates. Now they are *coins*, and ρ = 0.9. Compared with independent coins, the variance of "
        "the score is …",
        (
            Option(
                "larger",
                "It would be for normal coordinates, whose products can have any size. A coin's are ±1.",
                right=(1.001, 99),
            ),
            Option(
                "the same",
                "If q and k were independent, means and variances would be enough. Here they are not.",
                right=(0.999, 1.0009),
            ),
            Option(
                "smaller",
                "19 of 20 products are +1 now, and what is nearly always the same hardly varies.",
                right=(0, 0.9989),
            ),
        ),
        after="For coins the variance is dₖ(1 − ρ²): once qᵢ and kᵢ depend on each other, "
        "the fourth moment of the coordinates counts. "
        "In the picture below choose coins and move ρ to 1: the histogram becomes a single bar, since a vector of coins "
        "has q · q = dₖ, always.",
        measured="{:.2f} times as large",
    ),
    Prediction(
        "learned_scale",
        "In the second world, which power of dₖ does the learned scale follow?",
        (
            Option(
                "0: it does not depend on dₖ",
                "There is only one number to learn, but it comes out different for each dₖ.",
                right=(-0.2, 0.2),
            ),
            Option(
                "−0.5: like 1/√dₖ",
                "The match scores 2√dₖ, the others spread by √dₖ: both grow alike.",
                right=(-0.7, -0.3),
            ),
            Option(
                "−1: like 1/dₖ", "That is the first world, where the match scores dₖ/2.", right=(-1.2, -0.8)
            ),
        ),
        after="**The exponent is a property of the data, not of the formula.** Where the evidence per coordinate stays the "
        "same, the learned scale falls like 1/dₖ. Where it thins out, it falls like 1/√dₖ. Below the figure: the "
        "exponents of three fresh draws, from dₖ = 64 on.",
        measured="{:.2f}",
    ),
    Prediction(
        "divided_by_the_maximum",
        "A query has the scores (−1, −2, −4). We divide by their maximum and apply softmax. "
        "Which key gets the most weight?",
        (
            Option(
                "key 0, score −1",
                "It has the best score, but divided by −1 the best becomes the smallest.",
                right=0,
            ),
            Option(
                "key 1, score −2",
                "It is in the middle before, and in the middle after.",
                right=1,
            ),
            Option(
                "key 2, score −4", "The maximum is −1. Divided by it, the scores are 1, 2 and 4.", right=2
            ),
        ),
        after="A negative maximum reverses the order: the worst key wins. A maximum of 0 gives no weights at all.",
        measured="key {}",
    ),
    Prediction(
        "probe_at_16",
        "What does the probe read from the package's own function at dₖ = 16?",
        (
            Option("0.0625", "That is 1/16: divided by dₖ, or by √dₖ twice.", right=(0.062, 0.063)),
            Option("0.25", "1/√16.", right=(0.2499, 0.2501)),
            Option("1", "That is no scale at all. The default is to scale.", right=(0.999, 1.001)),
            Option("4", "√16 is what you divide *by*.", right=(3.99, 4.01)),
        ),
        after="Six suspects. All run without an error and return weights that add up to 1. Two of them are right.",
        measured="{:.4f}",
    ),
)

predict = asker("02_variance_proof", PREDICTIONS)
