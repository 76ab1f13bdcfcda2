"""Lesson 10: what was predicted before the experiment was run. Committed before `results.json`, and not changed since.

Each prediction turns a sentence into a number that the experiment can contradict. The articles give reasons rather than
numbers, so the numbers are ours: the mildest that their sentences seem to promise.
"""

from typing import NamedTuple

WIDEST = 512


class Registered(NamedTuple):
    """A prediction."""

    name: str
    who: str
    claims: tuple[int, ...]
    """Their numbers in the ledger; none where the sentence is not an article's."""
    says: str
    """The sentence, in our words."""
    predicts: str
    """What it predicts here, in numbers."""


REGISTERED = (
    Registered(
        "stops",
        "A",
        (15,),
        "With saturated softmax next to no signal comes back, and training comes to a stop.",
        "Scale 1, d_k = 512: at most 20% right after 200 steps, with SGD and with Adam "
        "(guessing among the values shown: about 12%).",
    ),
    Registered(
        "wider_is_worse",
        "B",
        (45,),
        "Without the division attention breaks more and more as models get wider.",
        "Scale 1: with each optimizer fewer right answers at d_k = 512 than at 16, by at least 20 points.",
    ),
    Registered(
        "not_learned_better",
        "B",
        (48,),
        "A learned scale costs parameters and can start badly.",
        "Learned from 1/√d_k on: at no d_k and with neither optimizer clearly faster to 90% than the fixed 1/√d_k.",
    ),
    Registered(
        "one_over_d",
        "B",
        (46,),
        "1/d_k shrinks the scores too much: no weight can be sharp.",
        "1/d_k, d_k = 512: after training the entropy share is above 0.9, "
        "and at least 10 points fewer are right than with 1/√d_k.",
    ),
    Registered(
        "optimum",
        "B",
        (42, 49),
        "√d_k is no setting that one could choose; it is the optimum.",
        "At no d_k and with neither optimizer does another arm reach 90% clearly sooner than 1/√d_k.",
    ),
    Registered(
        "fails",
        "C",
        (109,),
        "Without √d_k training fails for large d_k.",
        "Scale 1, d_k = 512: below 50% right after 200 steps, with SGD and with Adam.",
    ),
    Registered(
        "stable",
        "C",
        (84,),
        "The factor makes gradients stable whatever the dimension is.",
        "1/√d_k: the median gradient at the scores, at the start, differs by less "
        "than a factor of 1.5 between d_k = 16 and 512.",
    ),
    Registered(
        "vanishes",
        "D",
        (115, 120),
        "Without the scale gradients vanish for large d_k.",
        "Before the first step, d_k = 512: the gradient at W_q is smaller at scale 1 than at 1/√d_k.",
    ),
    Registered(
        "prevents",
        "E",
        (163,),
        "Dividing by √d_k prevents the saturation of softmax.",
        "1/√d_k, d_k = 512: the entropy share stays above 0.5 until the end of training, with SGD and with Adam.",
    ),
    Registered(
        "start_is_enough",
        "lesson 04",
        (109,),
        "The formula does not need √d_k; what hurts is to start saturated.",
        "“Smaller start” reaches 90% no later than 1/√d_k, at every d_k and with both optimizers.",
    ),
    Registered(
        "adam_forgives",
        "this lesson",
        (39,),
        "Adam divides by the size of the gradient, so a small one is no obstacle.",
        "Scale 1, d_k = 512: Adam ends at least 20 points above SGD.",
    ),
    Registered(
        "transfer",
        "muP",
        (),
        "With 1/d_k the best learning rate stays the same as models get wider (Yang and others 2022).",
        "Adam, 1/d_k: one rate is best at d_k = 64, 128, 256 and 512.",
    ),
)
