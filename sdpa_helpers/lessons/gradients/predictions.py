"""Lesson 04's predictions: what is asked before each experiment, and why each answer is tempting or right."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "changes_add_up",
        "We raise the score of *dogs* by 1 and compute the weights again. All five change. What do the five "
        "changes add up to?",
        (
            Option(
                "less than 0",
                "Four weights fall and only one rises, but the one gains as much as the four lose together.",
                right=(-5, -1e-6),
            ),
            Option(
                "0",
                "The weights add up to 1 before and after. What *dogs* gains, the others lose.",
                right=0,
            ),
            Option(
                "0.24",
                "That is what *dogs* gains, and the four others lose just as much.",
                right=(0.235, 0.245),
            ),
            Option(
                "1",
                "The *scores* add up to 1 more than before. The weights still add up to 1.",
                right=1,
            ),
        ),
        measured="{:g}",
    ),
    Prediction(
        "off_the_diagonal",
        "How much is lost if you keep only the diagonal? Measure it by the sum of the squares of all entries. "
        "For **2 equal weights**, which share lies *off* the diagonal?",
        (
            Option(
                "none of it",
                "That would be so if each weight depended on its own score alone. With two keys, one weight's gain is the "
                "other's loss.",
                right=0,
            ),
            Option(
                "a quarter",
                "Every entry is 0.25 or −0.25, and 4 equal weights would have a quarter. "
                "With 2, two of the four entries lie off the diagonal.",
                right=0.25,
            ),
            Option(
                "half",
                "The four entries are 0.25, −0.25, −0.25 and 0.25: all the same size, and two of them lie off the diagonal.",
                right=0.5,
            ),
        ),
        after="For *n* equal weights it is 1/*n*. With many keys the diagonal holds nearly all of this sum, and yet "
        "what it lacks is what makes the rows add up to 0.",
    ),
    Prediction(
        "best_step",
        "In float64, which of these steps *h* gives the smallest error?",
        (
            Option(
                "10^{−2}",
                "A large step keeps the rounding small. But the function bends along the way, and that error grows "
                "with h^{2}.",
                right=1e-2,
            ),
            Option(
                "10^{−5}",
                "Here the two errors are about equal: the curvature's, about h^{2}, and the rounding's, about "
                "10^{−16}/h.",
                right=1e-5,
            ),
            Option(
                "10^{−8}",
                "√10^{−16} is the rule for a step to *one* side. With steps to both sides the curvature's error is "
                "smaller, so the best step is larger.",
                right=1e-8,
            ),
            Option(
                "10^{−12}",
                "A derivative is a limit, h → 0. But floats subtract two nearly equal numbers here, and divide their "
                "rounding errors by a tiny 2h.",
                right=1e-12,
            ),
        ),
        measured="{:.0e}",
        after="On the right of the figure the error is the curvature's, on the left the rounding's. "
        "In float32 no step gets below the dashed line: **check gradients in float64**.",
    ),
    Prediction(
        "equal_wish",
        "Suppose that the loss has the same slope at every weight: *g* = (7, 7, 7, 7, 7). What is the largest gradient at "
        "a score, in absolute value?",
        (
            Option(
                "0",
                "The average of *g* is 7 as well, and 7 − 7 = 0. The weights always add up to 1, so they cannot "
                "all grow: a gradient that is the same for every key changes nothing.",
                right=0,
            ),
            Option(
                "1.4",
                "That is 7 shared among five keys. What a score gets is its own gradient *minus the average*.",
                right=(1.35, 1.45),
            ),
            Option(
                "1.7",
                "That is 7 · s(1 − s) for *dogs*: the diagonal alone, without what the other weights contribute.",
                right=(1.65, 1.75),
            ),
            Option(
                "7",
                "A gradient passes through a sum unchanged. Softmax is more than a sum: it takes the average away.",
                right=7,
            ),
        ),
        measured="{:g}",
        after="Notice that no weight here is near 0 or 1. A score's gradient can vanish **without any saturation**, "
        "for example when all values are equal.",
        how_sure=True,
    ),
    Prediction(
        "who_rises",
        "The loss falls if the output of *alive* moves along −*dO* = (1, 0.5): to the right, and half as far up. One step "
        "against the gradient changes the five scores of this query. Which of them rise?",
        (
            Option(
                "dogs alone",
                "Seen along (1, 0.5) only the value of *dogs* lies beyond the present output. Every other value would hold "
                "the output back.",
                right="dogs",
            ),
            Option(
                "cat and dogs",
                "These two have the largest weights, and lie furthest to the right. But *cat* lies just short of "
                "the output in this direction.",
                right="cat, dogs",
            ),
            Option(
                "all but “the”",
                "All but *the* lie to the right of the origin. What counts is whether they lie beyond the *output*, "
                "which is their weighted average already.",
                right="cat, fears, big, dogs",
            ),
            Option(
                "all five",
                "More of any of these values would lower the loss, but the weights add up to 1: more of one is less of "
                "the others.",
                right="the, cat, fears, big, dogs",
            ),
        ),
        after="The dashed line runs through the output. Beyond it scores rise, before it they fall. *cat* lies almost on "
        "it: its score hardly moves, although its weight is the second largest.",
        how_sure=True,
    ),
    Prediction(
        "nan_in_a_test",
        "A hand-written test compares two gradients and fails `if error > 1e-6`. One entry of ours is NaN. "
        "What does the test do?",
        (
            Option(
                "it fails",
                "A gradient of NaN is as wrong as can be, so the test *should* fail. But it asks whether NaN is "
                "greater than 10^{−6}, and that is False.",
            ),
            Option(
                "it passes",
                "`error` is NaN, and `<`, `>`, `<=`, `>=` and `==` with NaN are all False. So nothing fails.",
            ),
            Option(
                "it stops with an exception",
                "Dividing by 0 raises one in plain Python. NumPy only warns, and comparing with NaN is no error.",
            ),
        ),
        after="This has happened: until September 2024 the helper that compares results in the tests of Liger-Kernel, a library "
        "of Triton kernels, treated a difference of NaN as no difference (its issue 259). Write the condition the other "
        "way round (`assert error < 1e-6`), and check for finite numbers first. The exercise `relative_error` does both.",
    ),
    Prediction(
        "diagonal_article",
        "Softmax of the scores (1, 2, 0.5, −1), and a gradient (0.3, −1, 2, 0.7) that arrives at the weights. "
        "How far off is article B's result, as a share of the right result's length?",
        (
            Option(
                "not at all",
                "Many texts print the formula, and it is right for how a weight responds to its *own* score. "
                "The other weights respond too.",
                right=0,
            ),
            Option(
                "5%",
                "Each entry off the diagonal is small, a product of two weights. But there are twelve of them, and each "
                "has its own gradient to multiply.",
                right=(4.5, 5.5),
            ),
            Option(
                "43%",
                "s_{i}(1 − s_{i}) is only the diagonal. The other entries, −s_{i}s_{j}, carry the competition "
                "between the keys.",
                right=(42.5, 43.5),
            ),
            Option(
                "100%",
                "The formula is wrong, but not that wrong: the signs and the order of the four numbers are right "
                "here.",
                right=(99.5, 100.5),
            ),
        ),
        measured="{:.0f}%",
        after="You can spot this without a reference: the right gradient adds up to 0, because raising all scores by the "
        "same amount changes nothing.",
    ),
    Prediction(
        "which_scores",
        "Take the gradient at the **raw** scores and follow the article. How long is the resulting *dQ*, as a multiple "
        "of the correct one? (Here d_{k} = 3.)",
        (
            Option(
                "0.33",
                "That is 1/d_{k}. The factor 1/√d_{k} does come in twice, but one of the two is correct.",
                right=(0.325, 0.335),
            ),
            Option(
                "0.58",
                "The gradient at the raw scores holds 1/√d_{k} already, and the article divides once more: "
                "1/√3 = 0.58.",
                right=(0.575, 0.585),
            ),
            Option(
                "1",
                "The formula is right if *scores* means the **scaled** scores. Here it is the raw ones.",
                right=(0.995, 1.005),
            ),
            Option(
                "1.73",
                "That is √3: what comes out when the factor is *forgotten*. Here it comes in twice.",
                right=(1.725, 1.735),
            ),
        ),
        measured="{:.2f}",
        after="This is how the factor gets lost or doubled: one name for two things. The mistake has a signature: "
        "your *dQ* and *dK* are off by exactly √d_{k}, and *dV* is right.",
    ),
    Prediction(
        "slope_reaches_zero",
        "On paper the slope never reaches 0. In float32, from which gap on does code that computes s(1 − s) for the "
        "*winner* get exactly 0?",
        (
            Option(
                "7",
                "float32 has about seven digits. But a gap counts powers of e, not of ten: "
                "seven digits are a gap of about 16.",
                right=7,
            ),
            Option(
                "17",
                "Its weight is 1/(1 + e^{−gap}). e^{−17} is less than half a step between float32 numbers above 1, so "
                "the sum rounds to 1. Then s = 1, and 1 − s = 0.",
                right=17,
            ),
            Option(
                "104",
                "That is where the *loser's* weight becomes 0: a small number, which float32 can hold for long. "
                "The winner's is near 1, where floats lie much further apart.",
                right=104,
            ),
            Option(
                "never",
                "True on paper. A float near 1 has a limited number of digits, and what is closer to 1 becomes 1.",
            ),
        ),
        measured="{:.0f}",
        after="In the figure both ways to compute the slope follow the exact line, one of them six times as far.",
    ),
    Prediction(
        "median_at_the_scores",
        "Take d_{k} = 64 and n_{k} = 1024: a head of ordinary size over a thousand keys. Without the scale, the "
        "**median** length of *dS* is …",
        (
            Option(
                "smaller than with it",
                "This is what nearly every text says: no scale, saturated softmax, no gradient. But with a thousand keys "
                "few rows are that saturated.",
                right="smaller",
            ),
            Option(
                "about the same",
                "Two effects pull in opposite directions, saturation and spreading. Here they do not balance.",
            ),
            Option(
                "larger than with it",
                "With the scale, attention spreads over all thousand keys, and each score gets little. Without it "
                "a few keys share the weight, and their slopes are still steep.",
                right="larger",
            ),
        ),
        after="Below 1 (blue) the gradient is smaller without the scale, above 1 (grey) it is larger. The *median* falls "
        "without limit where d_{k} is large and keys are few. There the usual sentence holds for the typical row. With "
        "many keys and moderate d_{k} it is false.\n\n"
        "The *mean* falls too, but slowly: by a factor of about 30 in the worst cell, where the median falls by more "
        "than 10^{15}.",
        how_sure=True,
    ),
    Prediction(
        "mean_at_the_queries",
        "Now d_{k} = 1024 and n_{k} = 16, large vectors and few keys, **at the queries**. Without the scale, the "
        "**mean** length of *dQ* is …",
        (
            Option(
                "smaller than with it",
                "The median is indeed smaller, and in this corner nearly half of the rows get less than 10^{−6} at the scores. "
                "But a few rows get a lot, and they carry the mean.",
                right="smaller",
            ),
            Option(
                "about the same",
                "This is tempting if you think that rare large rows just make up for many tiny ones. They do more: there is a factor "
                "√d_{k} on top.",
            ),
            Option(
                "larger than with it",
                "The chain rule divides by √d_{k} once more on the way to the queries. Without the scale this "
                "factor is missing, and the few rows that still learn receive very large gradients.",
                right="larger",
            ),
        ),
        after="The mean gradient at the queries is **larger without the scale in every cell**. "
        "The median is smaller only where d_{k} is large and keys are few. Section 11 says why.",
        how_sure=True,
    ),
    Prediction(
        "first_gradient",
        "Compare *no scale* with *1/√d*. Which of the two has the larger first gradient at W_{q}, before any step?",
        (
            Option(
                "no scale",
                "As in section 10: the mean gradient is larger without the scale, because 1/√d_{k} is missing from "
                "the chain rule as well.",
            ),
            Option(
                "1/√d",
                "It is the one that learns well, so you might expect its gradient to be larger. But its chain rule divides "
                "by √64.",
            ),
            Option(
                "both the same",
                "Both begin with the same matrices. But they do not compute the same function of them.",
            ),
        ),
        after="*No scale* starts with a gradient several times as large, and learns worst: its curves rise, but slowly. "
        "*No scale, smaller start* begins as the same function as *1/√d*. It has **no division in the formula and a "
        "gradient as large as without the scale**, and it learns fastest here. So the formula does not need √d_{k}. "
        "T5 (Raffel et al., 2020) has no division either; its first W_{q} is smaller by the square root of the head's "
        "width. What hurts here is to *start saturated*, under a loss whose gradient goes back through softmax.",
    ),
)

predict = asker("04_gradients", PREDICTIONS)
