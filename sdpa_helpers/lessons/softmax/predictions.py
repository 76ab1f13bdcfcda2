"""Lesson 03's predictions: what is asked before each experiment, and why each answer is tempting or right."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "one_score_rises",
        "The score of *dogs* rises from 2 to 3, the others stay. How many of the five weights change?",
        (
            Option(
                "1, that of *dogs*",
                "Its numerator is the only one that changes. But every weight is divided by the same sum, "
                "and that sum changes too.",
                right=1,
            ),
            Option(
                "2, those of *dogs* and *cat*",
                "*cat* is the strongest rival, and it does lose the most. The three small weights lose "
                "the same share of what they had.",
                right=2,
            ),
            Option(
                "4, all but *dogs*",
                "The others have to make room, but the room is for *dogs*, which changes most of all.",
                right=4,
            ),
            Option(
                "all 5",
                "All weights share one sum. What *dogs* gains, the four others lose.",
                right=5,
            ),
        ),
        after="So the slopes of softmax form a whole matrix, with entries off the diagonal too. Lesson 04 needs them.",
    ),
    Prediction(
        "proof_breaks",
        "For which of these rows of five scores does the last step of the proof break down?",
        (
            Option(
                "all 0",
                "Scores of 0 suggest dividing by 0, but e^{0} is 1: the sum is 5, and each weight is 1/5.",
            ),
            Option(
                "all −1,000,000",
                "Such an exponential looks like 0. As a real number it is not: it is positive, however small, "
                "and 5 of them divided by their sum still give 1/5 each.",
            ),
            Option(
                "all −∞",
                "Now every exponential is exactly 0, the sum Z is 0, and the weights are 0/0.",
            ),
            Option(
                "none of them",
                "The proof looks as if it held for any input. It divides by Z, so it needs Z > 0.",
            ),
        ),
        after="With one score at +∞ it breaks as well: Z = ∞, and ∞/∞. So “for any input” is too much to claim: "
        "**for any finite input**. Section 6 says what is done about the rest.\n\n"
        "All this is about real numbers. Computers come next.",
    ),
    Prediction(
        "add_a_hundred",
        "Add 100 to all five scores. What becomes of the weight of *dogs*, 0.56 until now?",
        (
            Option(
                "it grows, towards 1",
                "e^{102} is enormous. So are the four others: each exponential grew by the same factor, e^{100}.",
                right="larger",
            ),
            Option(
                "it falls, towards 0.2",
                "102 and 100 are nearly equal if you compare them by division. Softmax compares by "
                "*difference*, and 102 − 100 is still 2.",
                right="smaller",
            ),
            Option(
                "it stays what it was",
                "Every exponential grows by the factor e^{100}, and so does their sum: the factor cancels.",
                right="the same",
            ),
            Option(
                "it is no longer a number",
                "e^{102} is more than float32 can hold, and the plain formula in float32 does give NaN. These are "
                "float64 numbers, and `sdpa.softmax` has a remedy that section 3 explains.",
                right="NaN",
            ),
        ),
        after="Only gaps count, and a shift leaves every gap as it is. A factor does not: it multiplies each of them.",
    ),
    Prediction(
        "gap_of_ten",
        "Now one score is far ahead. What is the largest weight of softmax([0, 0, 10])?",
        (
            Option(
                "0.83",
                "That is 10/12: e^{0} = 1 for both zeros, but the 10 taken as it is, without its exponential.",
                right=(0.825, 0.835),
            ),
            Option(
                "0.91",
                "That is 10/11, one rival and again no exponential. A gap of 10 is not a ratio of 10.",
                right=(0.905, 0.915),
            ),
            Option(
                "0.9999",
                "A gap of 10 is a ratio of e^{10}, about 22,000 to 1. Each of the two others keeps 0.000045.",
                right=(0.99985, 0.99995),
            ),
            Option(
                "exactly 1",
                "Rounded to three digits it prints as 1. But the exponential of a finite score is never 0, "
                "so on paper the others never get exactly nothing.",
                right=1.0,
            ),
        ),
        measured="{:.6f}",
        after="In the table, compare the last rows with the first: the larger the gaps, the nearer to all or nothing. "
        "Equal scores stay equal.",
    ),
    Prediction(
        "positive_in_float32",
        "The row (0, 200), in float32. How many of its two weights are greater than 0?",
        (
            Option(
                "0",
                "By the plain formula e^{200} is infinite in float32, and ∞/∞ is NaN, which is not greater than 0. "
                "The package subtracts the row's maximum first (section 3), and then nothing overflows.",
                right=0,
            ),
            Option(
                "1",
                "e^{−200} is about 10^{−87}. The smallest float32 is about 10^{−45}, so the weight is stored as 0.",
                right=1,
            ),
            Option(
                "2",
                "On paper e^{x} > 0 for every x. A float has an end: what is smaller than its smallest "
                "number becomes 0.",
                right=2,
            ),
        ),
        after="So *positive* becomes *not negative*.",
    ),
    Prediction(
        "sum_of_ones",
        "A softmax over 4096 equal scores needs the sum of 4096 ones. Add them one after the other into a "
        "**bfloat16** number. What comes out?",
        (
            Option(
                "4096",
                "4096 is a bfloat16 number, a power of two. But the sum has to get there one step at a time.",
                right=4096,
            ),
            Option(
                "2048",
                "That is where **float16** gets stuck: it keeps 11 significant bits. bfloat16 keeps fewer.",
                right=2048,
            ),
            Option(
                "256",
                "bfloat16 keeps 8 significant bits. After 256 its next number is 258; 256 + 1 rounds back to 256, "
                "and the sum is stuck.",
                right=256,
            ),
            Option(
                "∞",
                "Half precision is known for overflow. But bfloat16 has the range of float32; it lacks digits.",
                right=float("inf"),
            ),
        ),
        measured="{:.0f}",
        after="The 4096 weights would be 1/256 each, and add up to 16. This is why good softmax code "
        "**keeps the sum in float32** even when scores and weights are 16-bit. (The package does.)",
    ),
    Prediction(
        "plain_formula_fails",
        "Compute the plain formula for [100, 200, 300] in float16, bfloat16, float32 and float64. In how many of the four does it fail?",
        (
            Option(
                "in none",
                "A library's softmax gets through such a row, because it does not compute the formula as it "
                "stands. The plain formula needs e^{300}.",
                right=0,
            ),
            Option(
                "in 2: float16, bfloat16",
                "Both have 16 bits. But the limit of bfloat16 is that of float32, 88.72, and 300 is far "
                "beyond it.",
                right=2,
            ),
            Option(
                "in 3: all but float64",
                "300 is beyond 11.09 and beyond 88.72. float64 goes to 709.78: e^{300} is about 2 · 10^{130}, "
                "and fits.",
                right=3,
            ),
            Option(
                "in all 4",
                "That is what the article says: it overflows, whatever the dtype. But float64 ends only at scores of 709.78.",
                right=4,
            ),
        ),
        after="So whether it overflows depends on the dtype. And rows far *below* zero fail as well: in the last line "
        "of the table all exponentials are 0.\n\nDividing by √d_{k} makes overflow rarer but does not rule "
        "it out: even divided by √64 the row is (12.5, 25, 37.5), beyond the 11.09 at which float16 ends.",
    ),
    Prediction(
        "global_maximum",
        "Two rows, (0, 1) and (200, 201), in float32. You subtract 201, the largest score of all, from both. "
        "What are the weights of the first row?",
        (
            Option(
                "`[0.269 0.731]`, as they should be",
                "On paper every shift is as good as any other. In float32 this one moves the row to (−201, −200), "
                "where exponentials are 0.",
                right="[0.269 0.731]",
            ),
            Option(
                "`[0. 0.]`",
                "Both exponentials do underflow to 0. So does their sum, and 0 divided by 0 is not 0.",
                right="[0. 0.]",
            ),
            Option(
                "`[0.5 0.5]`",
                "Both exponentials end at 0, a tie. But to share equally, there has to be something to share.",
                right="[0.5 0.5]",
            ),
            Option(
                "`[nan nan]`",
                "Both exponentials underflow to 0, their sum is 0, and 0/0 is not a number.",
                right="[nan nan]",
            ),
        ),
        measured="`{}`",
        after="The row of *another* query, with far larger scores, has destroyed this one. In float64 the same two rows come out "
        "right, since e^{−201} is still a number there; it takes a distance of about 745. "
        "So a test with small scores, or in float64, does not find this mistake.",
        how_sure=True,
    ),
    Prediction(
        "worst_shift",
        "Which choice of what to subtract is right on the *smallest* part of the map?",
        (
            Option(
                "nothing",
                "It has no protection at all, and yet a whole window around 0 works. Another choice does harm even there.",
            ),
            Option(
                "the row's minimum",
                "It makes no exponent negative, so every gap above 88 overflows, even where the plain formula works.",
                right="row minimum",
            ),
            Option(
                "the row's mean",
                "It is neither end of the row, so a wide gap still overflows. But half of the gap lies below the mean, "
                "so it takes twice as wide a gap.",
                right="row mean",
            ),
            Option(
                "the global maximum",
                "It loses all rows far below the largest score. It saves the high ones, though.",
                right="global maximum",
            ),
        ),
        after="On this map, subtracting nothing is hardly better. **The row's own maximum** is right everywhere.",
    ),
    Prediction(
        "tie_when_cold",
        "The row (2, 2, 0) has a tie at the top. Cool it to a temperature of 0.01. What is the first weight?",
        (
            Option(
                "0",
                "That would need a loser among two equals, but equal scores always have equal weights.",
                right=0,
            ),
            Option(
                "0.33",
                "Equal shares for all three keys are the other end, a very *high* temperature.",
                right=(0.33, 0.34),
            ),
            Option(
                "0.5",
                "The two largest scores are tied: their gap is 0, and 0/T stays 0 however small T is. "
                "They share everything.",
                right=0.5,
            ),
            Option(
                "1",
                "Cold softmax is called argmax, and `argmax` picks the first of two equals. Softmax keeps ties.",
                right=1,
            ),
        ),
        after="So softmax at T → 0 is argmax only when there is a **single** largest score. "
        "Several largest scores share everything equally, even if they are giants.",
    ),
    Prediction(
        "larger_divisor",
        "Take ten times our scores and divide them by √16, then by √64. With the larger divisor, the largest weight is …",
        (
            Option(
                "larger",
                "That is the article's sentence, if scaling means dividing by more. But a larger divisor closes "
                "every gap.",
            ),
            Option(
                "smaller",
                "√d_{k} is what the scores are divided by, so √d_{k} **is** the temperature, and 1/√d_{k} is the inverse "
                "temperature. Hotter is flatter.",
            ),
            Option(
                "the same",
                "The order stays the same, and so would all weights under a *shift*. A factor changes every gap.",
            ),
        ),
        after="“A lower temperature is sharper” is right. “More scaling is sharper” has it backwards.",
        how_sure=True,
    ),
    Prediction(
        "second_page",
        "What is the most that page 3 can get, at any temperature?",
        (
            Option(
                "29%",
                "That is what it gets at T = 1. Cool a little: at first pages 2 and 4 lose more than page 1 takes "
                "away.",
                right=(28.5, 29.49),
            ),
            Option(
                "33%",
                "It rises while the two weak pages lose, and falls once page 1 takes everything. "
                "The top of that curve is 32.8%.",
                right=(32.5, 33.49),
            ),
            Option(
                "35%, as printed",
                "The four numbers look like softmax: positive, in the right order, adding up to 100%. "
                "That is not enough to be one.",
                right=(34.5, 35.49),
            ),
            Option(
                "50%",
                "Half is what two pages in a tie for first would get. Page 1 is 0.14 ahead, and by the time pages 2 and "
                "4 are gone this gap has been stretched too.",
                right=(49.5, 50.49),
            ),
        ),
        measured="{:.1f}%",
    ),
    Prediction(
        "rows_near_one_hot",
        "In which share of the 20,000 rows is the largest weight above 0.99?",
        (
            Option(
                "about 16%",
                "One row in six. In most rows some rival lies close enough to the best key to keep a share.",
                right=(14, 18),
            ),
            Option(
                "about 57%",
                "That is about what comes out at d_{k} = 512, where scores spread almost three times as far.",
                right=(55, 59),
            ),
            Option(
                "about 90%",
                "Scores have a standard deviation of 8, and a lead of about 5 over the second best is enough. "
                "But the best of 128 scores leads by only about 2, in the median row.",
                right=(88, 92),
            ),
            Option(
                "100%",
                "That is what the article says: everywhere. But rows differ a lot, and many have two keys near the top.",
                right=100,
            ),
        ),
        measured="{:.1f}%",
        after="Some rows are like that, not all of them. More keys mean more rivals near the top, so the share *falls* as n grows. "
        "“Often nearly one-hot, the more so the larger d_{k} and the fewer the keys” is what the numbers support.",
        how_sure=True,
    ),
    Prediction(
        "three_times_larger",
        "Make the coordinates of queries and keys three times as large: d_{k} = 64, n = 128, **scaled**. "
        "What is the median of the largest weight?",
        (
            Option(
                "about 0.06, as before",
                "The scale is on, and the scaled line was flat. But it was flat over d_{k}; the scale does nothing about the size of the "
                "coordinates.",
                right=(0.05, 0.07),
            ),
            Option(
                "about 0.37",
                "That is what scores three times as large would give. Here both queries and keys grow, and scores are "
                "their products.",
                right=(0.33, 0.41),
            ),
            Option(
                "about 0.86",
                "Scores are products: three times as large on both sides is nine times as large in the score. "
                "That is sharper than d_{k} = 64 with no scale at all, where the factor is 8.",
                right=(0.85, 0.87),
            ),
        ),
        measured="{:.2f}",
        after="So the scale does not *prevent* sharp rows: a model that needs to look at one key can still do it. "
        "The scale only sets where training *starts*.",
    ),
    Prediction(
        "temperature_for_scale",
        "d_{k} = 64, *not* scaled. Which temperature gives exactly the weights of the scaled row?",
        (
            Option(
                "1/8",
                "The scale *multiplies* by 1/√d_{k} = 1/8. A temperature *divides*, so 1/8 sharpens the row further.",
                right=0.125,
            ),
            Option(
                "8", "Dividing by T = 8 is dividing by √64: the same product, under another name.", right=8
            ),
            Option(
                "64",
                "64 is the *variance* of the raw scores. Their spread is its root, and the spread is what you divide "
                "by.",
                right=64,
            ),
            Option(
                "none",
                "One is a design rule, the other a dial, but in the formula each is a number that divides all "
                "scores.",
            ),
        ),
    ),
)

predict = asker("03_softmax", PREDICTIONS)
