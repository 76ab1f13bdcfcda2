"""Lesson 10's predictions: what is asked before each result, and why each answer is tempting or right."""

from sdpa_helpers.lessons.predicting import asker
from sdpa_helpers.show.predict import Option, Prediction

PREDICTIONS = (
    Prediction(
        "guessing",
        "A model that cannot find the right pair may still answer with a value that the list shows: that of a pair "
        "picked at random. How often is it right? (16 pairs, and each pair's value is one of 16.)",
        (
            Option(
                "6%",
                "That is 1/16, the chance of picking the right pair. A wrong pair can hold the right value as well.",
                right=(6.2, 6.3),
            ),
            Option(
                "12%",
                "1/16 for the right pair, and in the other 15/16 of cases the wrong pair holds the same value with "
                "probability 1/16. Together that is 0.121.",
                right=(12, 12.3),
            ),
            Option(
                "25%",
                "That would be right for four different values. There are sixteen.",
                right=(24, 26),
            ),
        ),
        measured="{:.1f}%",
        after="Keep both numbers. Always naming the value that stands in the list most often needs no looking up either, "
        "and is right more often. An arm that ends near 12% or 19% has not learned to find a pair.",
    ),
    Prediction(
        "another_rate",
        "SGD, d_{k} = 512. At a learning rate of 1, the model with 1/√d_{k} gets nearly everything right and the one "
        "with 1/d_{k} about 20%. Which is ahead at a learning rate of 10?",
        (
            Option(
                "1/√dₖ",
                "This would be so if the scale decided by itself. It also decides how far a step moves the scores, and "
                "so which learning rate fits.",
            ),
            Option(
                "about the same",
                "Both would have to have failed, or both learned. One of them is at its best here.",
            ),
            Option(
                "1/dₖ",
                "A smaller scale makes smaller gradients, and needs a larger step. At 10, 1/√d_{k} has long diverged.",
            ),
        ),
        after="Whoever compares the two at one learning rate can get either result. Dots are single seeds. Note how wide "
        "each plateau is: 1/√d_{k} works from 0.56 to 3.2, 1/d_{k} only at 5.6 and 10. At 1 it is right about as often as "
        "somebody who always names the list's most frequent value.",
    ),
    Prediction(
        "no_scale_at_512",
        "Now everything is tuned. SGD, d_{k} = 512, **no scale**: how many of the held-out questions does the model get "
        "right after 200 steps?",
        (
            Option(
                "about 12%, as by guessing",
                "This is what “training comes to a stop” promises. It comes close, but the model has learned something.",
                right=(8, 16),
            ),
            Option(
                "about a quarter",
                "Twice as many as by guessing a pair, and more than the 19% of the most frequent value: some rows are "
                "not saturated, and they learn.",
                right=(20, 32),
            ),
            Option(
                "more than 90%",
                "A good learning rate makes up for much, and lesson 04 found that the average gradient is large without "
                "a scale. It does not make up for this.",
                right=(90, 100),
            ),
        ),
        measured="{:.0f}%",
        after="Each cell holds a mean over ten seeds that tuning never saw, and its 95% interval.\n\n"
        "The first row of each table is what the articles warn of: **without a scale the model learns less and less as "
        "d_{k} grows**, however well its learning rate is tuned. So scaling does matter. The other rows are full, or "
        "nearly: whatever keeps the scores small *at the start* lets the model learn.",
        how_sure=True,
    ),
    Prediction(
        "does_adam_help",
        "Adam divides every step by the size of the gradient, so a tiny gradient moves a weight as far as a large one. "
        "Without a scale, at d_{k} = 512, which of the two ends higher?",
        (
            Option(
                "Adam",
                "We expected so too, and registered it. A likely reason why it fails, not tested here: all weights move "
                "equally far, so scores that are too large already grow faster still.",
            ),
            Option(
                "no clear difference", "The interval of the difference, seed by seed, does not contain 0."
            ),
            Option(
                "SGD",
                "Against what we registered: SGD ends a few points higher. Neither is any good.",
            ),
        ),
        after="At d_{k} = 16 it is the other way around: there Adam is ahead.",
    ),
    Prediction(
        "can_it_be_sharp",
        "Article B says that 1/d_{k} makes scores so small that no weight can be sharp. Adam, d_{k} = 512, after training "
        "with 1/d_{k}: how large is the entropy share of the weights? (1: all equal; 0: one-hot.)",
        (
            Option(
                "above 0.9",
                "This is where it *starts*: with random vectors the scores are tiny. But queries and keys learn.",
                right=(0.9, 1),
            ),
            Option(
                "about a half",
                "Halfway would be enough to look up, badly. The model goes much further.",
                right=(0.3, 0.7),
            ),
            Option(
                "below 0.1",
                "The model makes its queries and keys longer and turns them toward each other, until the scores are "
                "as large as it needs.",
                right=(0, 0.1),
            ),
        ),
        measured="{:.2f}",
        how_sure=True,
    ),
    Prediction(
        "how_often_beaten",
        "There are 12 settings: six widths, two optimizers. In how many of them does **some** other way to scale reach "
        "90% clearly sooner than 1/√d_{k}?",
        (
            Option("0", "That is what “the optimum” means.", right=0),
            Option(
                "about half",
                "It depends on the rival: 1/d_{k} is sooner in 8 of the 12.",
                right=(3, 9),
            ),
            Option(
                "12",
                "QK-norm alone is sooner in every one.",
                right=12,
            ),
        ),
        measured="{:.0f}",
        after="Lower is sooner. Bars are 95% intervals; a run that never gets to 90% counts as 205. “Clearly” means that "
        "the interval of the difference, seed by seed, leaves out 0.\n\n"
        "**Nothing singles out √d_{k}.** QK-norm is sooner everywhere, a learned scale in 10 of 12 settings, 1/d_{k} in "
        "8.",
    ),
    Prediction(
        "sharper_or_softer",
        "Without a scale, at d_{k} = 512, weights start nearly one-hot. What do the first 20 steps of Adam do to them?",
        (
            Option(
                "softer",
                "That would help: a softer row has a gradient again. But the rows that are stuck have none to soften "
                "them with.",
            ),
            Option(
                "nothing", "The rows that are alive do move the shared matrices, and with them every row."
            ),
            Option(
                "sharper still",
                "The entropy share falls to a quarter, and the median gradient at the scores by a factor of more than "
                "10^{8}.",
            ),
        ),
    ),
    Prediction(
        "where_it_goes",
        "The learned scale starts at 1/√d_{k}. In how many of the 12 settings is it **smaller** after 20 steps?",
        (
            Option(
                "0", "A lookup has to be sharp in the end. But not yet: first it has to be found.", right=0
            ),
            Option("about half", "It depends on nothing that varies between the settings.", right=(3, 9)),
            Option(
                "12",
                "At the start every sharp weight is sharp by accident, and mostly wrong. A smaller scale takes "
                "that back until queries and keys have learned to match.",
                right=12,
            ),
        ),
        measured="{:.0f}",
        after="In some settings it comes up again later.",
    ),
)

predict = asker("10_does_scaling_matter", PREDICTIONS)
