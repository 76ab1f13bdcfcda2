"""What several exercises of lesson 05 use: sizes to draw, what holds for every causal mask, and forms that are not bool."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Invariant
from sdpa_helpers.checking.products import Factor, Option, Products

FUTURE = "Some query sees a key that comes after it."


def some_size(rng, low, high):
    """A plain int from low to high, both included."""
    return int(rng.integers(low, high + 1))


def additive(mask, hidden=-np.inf):
    return np.where(mask, 0.0, hidden)


def nobody_is_blind(inputs, mask):
    return bool(mask.any(axis=-1).all())


def no_future(offset=lambda inputs: 0):
    """Query i sees no key after i + offset."""
    return lambda inputs, mask: not np.triu(mask, k=1 + offset(inputs)).any()


BLIND = Invariant("a-query-sees-nothing", "At least one query sees no key at all.", nobody_is_blind)

NUMBERS = (
    "The mask holds the numbers 0 and 1. A mask of numbers is added to the scores, or refused; make it bool."
)
ADDITIVE = "This is the additive form, 0 and −∞. Return the boolean form."
ADDITIVE_FINITE = "This is the additive form, 0 and a number far below. Return the boolean form."

SENSE = Factor(
    "sense",
    lambda mask: mask,
    (
        Option(
            "inverted",
            lambda mask: ~mask,
            "The mask is the wrong way round: True means that the query MAY attend to the key.",
        ),
    ),
)
FORM = Factor(
    "form",
    lambda mask: mask,
    (
        Option("additive", additive, ADDITIVE),
        *(
            Option("additive-finite", lambda mask, hidden=hidden: additive(mask, hidden), ADDITIVE_FINITE)
            for hidden in (-1e9, -1e4, float(np.finfo(np.float32).min), float(np.finfo(float).min), -1e10)
        ),
        Option("extra-leading-axis", lambda mask: mask[None]),
        Option(
            "extra-axes",
            lambda mask: mask[None, None],
            "There are two axes too many in front, each of length 1. A mask broadcasts by itself.",
        ),
    ),
)


def masks(rule: Factor) -> Products:
    """Mistakes of a function that makes a mask: in its rule, in what True means, in the form."""

    def build(rule: Callable, sense: Callable, form: Callable) -> Callable:
        return lambda *inputs: form(sense(rule(*inputs)))

    return Products((rule, SENSE, FORM), build)


def rules(right: Callable, **wrong: Callable) -> Factor:
    """The factor `rule` of `masks`; names with _ for - at will. What they say stands in the exercise's list."""
    named = {name if "-" in name else name.replace("_", "-"): rule for name, rule in wrong.items()}
    return Factor("rule", right, tuple(Option(name, rule) for name, rule in named.items()))
