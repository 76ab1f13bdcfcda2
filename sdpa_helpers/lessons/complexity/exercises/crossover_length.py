"""Lesson 06, exercise `crossover_length`: where attention overtakes the rest."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`crossover_length(d_model, mlp_ratio=4)`: for how many tokens does attention cost as many FLOPs as the rest of the layer?

- The rest is four projections (queries, keys, values, output), each a `d_model` × `d_model` matrix, and an MLP of **two** matrices, from `d_model` up to `mlp_ratio * d_model` and down again.
- Attention is $QK^{\mathsf T}$ and $AV$, all heads together `d_model` wide, each token with each of the `n` tokens (no causal mask).
- Returns the `n` at which both sides are equal: one number, not rounded.

Example: {inputs:1} is {result:1}. Without an MLP, {inputs:2} is {result:2}.
"""


def crossover_length(d_model, mlp_ratio=4):
    """The n at which attention has as many FLOPs as projections and MLP together: one number."""
    projections_and_mlp = 8 * d_model**2 + 4 * mlp_ratio * d_model**2  # per token
    attention = 4 * d_model  # per token, and per token that it looks at
    return projections_and_mlp / attention


def _needs_float64(*given):
    """Whether float32 would show in the result, and rounding up is another number than cutting off."""
    n = crossover_length(*given)
    return abs(float(np.float32(n)) / n - 1) > 2e-8


def _build(projections, mlp, attention, ratio):
    def crossover_length(d_model, mlp_ratio=4):
        return (projections + mlp * ratio(mlp_ratio)) * d_model / attention

    return crossover_length


MISTAKES = Products(
    (
        Factor(
            "mlp", 4, (Option("mlp-forgotten", 0), Option("mlp-of-one-matrix", 2), Option("gated-mlp", 6))
        ),
        Factor(
            "attention",
            4,
            (
                Option("scores-only", 2),
                Option("multiply-adds-on-one-side", 8),
                Option("not-divided", 1),
            ),
        ),
        Factor(
            "projections",
            8,
            (
                Option("projections-forgotten", 0),
                Option("output-projection-forgotten", 6),
                Option("one-projection", 2),
            ),
        ),
        Factor(
            "ratio",
            lambda ratio: ratio,
            (
                Option("mlp-ratio-ignored", lambda ratio: 4),
                Option("mlp-ratio-squared", lambda ratio: ratio**2),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="crossover_length",
    lesson="06_complexity",
    title="Where attention overtakes the rest",
    prompt=PROMPT,
    examples=(
        Example((768,), form="call"),
        Example((768,), (("mlp_ratio", 0),), form="call", points=0.0),
    ),
    difficulty=2,
    minutes=10,
    reference=crossover_length,
    section="2. The rest of the layer",
    cases=(
        Case(
            "the usual MLP",
            lambda rng: (int(rng.integers(50, 100)) * 10,),
            points=2,
            says="Put your n into both sides: are the FLOPs equal?",
        ),
        Case(
            "a narrow MLP",
            lambda rng: (int(rng.integers(300, 500)), 2),
            says="A cheaper MLP is overtaken earlier.",
        ),
        Case("a wide MLP", lambda rng: (int(rng.integers(1000, 2000)), 7)),
        Case(
            "no MLP",
            lambda rng: (int(rng.integers(500, 900)), 0),
            says="Without an MLP only the four projections are left: 8·n·d_model² FLOPs.",
        ),
        Case("a width that is no multiple", lambda rng: (int(rng.integers(100, 200)) * 2 + 1, 2.5)),
        Case(
            "an MLP 8/3 as wide",
            lambda rng: redraw(rng, lambda rng: (int(rng.integers(300, 600)) * 3 + 1, 8 / 3), _needs_float64),
            says="The ratio need not be whole, and the result is not rounded.",
        ),
        Case(
            "a width of one",
            lambda rng: (1, float(rng.uniform(5, 9))),
            says="The same rule, for d_model = 1.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "mlp-forgotten",
            lambda d_model, mlp_ratio=4: 2.0 * d_model,
            "You compared with the projections only. The MLP counts too.",
        ),
        WrongAnswer(
            "projections-forgotten",
            lambda d_model, mlp_ratio=4: float(mlp_ratio * d_model),
            "You compared with the MLP only. The four projections count too.",
        ),
        WrongAnswer(
            "output-projection-forgotten",
            lambda d_model, mlp_ratio=4: (1.5 + mlp_ratio) * d_model,
            "You counted three projections. There are four: queries, keys, values and the output.",
        ),
        WrongAnswer(
            "one-projection",
            lambda d_model, mlp_ratio=4: (0.5 + mlp_ratio) * d_model,
            "You counted one projection. There are four: queries, keys, values and the output.",
        ),
        WrongAnswer(
            "mlp-of-one-matrix",
            lambda d_model, mlp_ratio=4: (2 + mlp_ratio / 2) * d_model,
            "You counted one matrix in the MLP. It goes up to mlp_ratio · d_model and down again: two.",
        ),
        WrongAnswer(
            "gated-mlp",
            lambda d_model, mlp_ratio=4: (2 + 1.5 * mlp_ratio) * d_model,
            "You counted three matrices in the MLP, as in a gated one. Here there are two.",
        ),
        WrongAnswer(
            "scores-only",
            lambda d_model, mlp_ratio=4: (4 + 2 * mlp_ratio) * d_model,
            "For attention you counted QKᵀ only, so you think it cheaper than it is. A·V costs as much again.",
        ),
        WrongAnswer(
            "multiply-adds-on-one-side",
            lambda d_model, mlp_ratio=4: (1 + mlp_ratio / 2) * d_model,
            "You counted multiply-adds for the projections and the MLP, but FLOPs for attention. Use "
            "the same unit for both.",
        ),
        WrongAnswer(
            "mlp-ratio-ignored",
            lambda d_model, mlp_ratio=4: 6.0 * d_model,
            "6·d_model is right for mlp_ratio = 4 only. Use mlp_ratio.",
        ),
        WrongAnswer(
            "mlp-ratio-squared",
            lambda d_model, mlp_ratio=4: (2 + mlp_ratio**2) * d_model,
            "You squared mlp_ratio. A matrix of the MLP has d_model rows and mlp_ratio · d_model "
            "columns: one factor.",
        ),
        WrongAnswer(
            "just-the-width",
            lambda d_model, mlp_ratio=4: float(d_model),
            "You compared n² · d with n · d² and left the factors out. The factors are the point here.",
        ),
        WrongAnswer(
            "not-divided",
            lambda d_model, mlp_ratio=4: (8 + 4 * mlp_ratio) * d_model,
            "You forgot the 4 of attention's 4 · n² · d_model when you divided.",
        ),
        WrongAnswer(
            "flops-not-length",
            lambda d_model, mlp_ratio=4: (8 + 4 * mlp_ratio) * float(d_model) ** 2,
            "These are the FLOPs per token of the rest. Set them equal to attention's, and solve for n.",
        ),
        WrongAnswer(
            "upside-down",
            lambda d_model, mlp_ratio=4: d_model / (2 + mlp_ratio),
            "The factor stands upside down: a dearer MLP makes attention overtake later, not earlier.",
        ),
        WrongAnswer(
            "rounded-up",
            lambda d_model, mlp_ratio=4: float(np.ceil((2 + mlp_ratio) * d_model - 1e-9)),
            "You rounded up to the first whole number. Return the exact solution, even when it is not whole.",
        ),
        WrongAnswer(
            "rounded-to-integer",
            lambda d_model, mlp_ratio=4: int((2 + mlp_ratio) * d_model),
            "You rounded to a whole number. Return the exact solution, even when it is not whole.",
        ),
    ),
    also_right=(
        lambda d_model, mlp_ratio=4: (2 + mlp_ratio) * d_model,
        lambda d_model, mlp_ratio=4: float(d_model * (mlp_ratio + 2)),
        lambda d_model, mlp_ratio=4: np.float64((4 + 2 * mlp_ratio) * d_model**2) / (2 * d_model),
        lambda d_model, mlp_ratio=4: (12 + 6 * mlp_ratio) * d_model / 6,
    ),
    hints=(
        "Section 2 of the lesson counts the three parts. Where does mlp_ratio go in them?",
        "Four projections: 8·n·d². Two matrices of the MLP: 4·r·n·d². Attention: 4·n²·d. Set the "
        "last equal to the others.",
        "Divide both sides by 4·n·d: `n = (2 + ...) * d_model`.",
    ),
    mistakes=MISTAKES,
)
