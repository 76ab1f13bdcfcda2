"""Lesson 02, exercise `data_that_see_the_scale`: make inputs on which a wrong scale shows in the output."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import finite

PROMPT = r"""`data_that_see_the_scale()`: somebody's attention might divide by $d_k$, or by nothing at all. Make an input that would show it. Many inputs don't: with equal scores, or equal values, every scale gives the same output.

Return `(Q, K, V)`:

- `Q`, shape `(n_q, d_k)`, `K`, shape `(n_k, d_k)`, `V`, shape `(n_k, d_v)`, each with at most 60 numbers.
- The entries of `Q` and `K` lie between −10 and 10, those of `V` between −1 and 1.

The output $\mathrm{softmax}(c\,QK^{\mathsf T})\,V$ is computed with $c = 1/\sqrt{d_k}$, with $c = 1$ and with $c = 1/d_k$. Two outputs count as different when one of their entries differs by at least 0.1. Your input earns a point for each of these:

1. the right scale and no scale give different outputs,
2. the right scale and $1/d_k$ give different outputs,
3. nobody can miss it: in one and the same entry, all three outputs are at least 0.3 apart.
"""


def data_that_see_the_scale():
    """Inputs on which a wrong scale shows -> Q (n_q, d_k), K (n_k, d_k), V (n_k, d_v)."""
    d_k = 16
    Q = np.full((1, d_k), 0.5)
    K = np.stack([np.full(d_k, 0.5), np.zeros(d_k)])  # the scores are 4 and 0 before they are scaled
    V = np.array([[1.0], [-1.0]])
    return Q, K, V


_LARGEST = {"Q": 10.0, "K": 10.0, "V": 1.0}


def _made(value):
    """(Q, K, V), or why they are none."""
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Misses("no-inputs", "what came back is not three arrays: Q, K and V")
    try:
        Q, K, V = (
            finite(array, name, (2, 2), _LARGEST[name]).astype(np.float64)
            for name, array in zip("QKV", value, strict=True)
        )
    except ValueError as error:
        raise Misses(
            "no-inputs", "one of the three is not an array as the prompt describes it", str(error)
        ) from None
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0]:
        shapes = f"the shapes are {Q.shape}, {K.shape} and {V.shape}"
        raise Misses("no-inputs", "the shapes do not go together", shapes)
    return Q, K, V


def _outputs(Q, K, V):
    """The outputs with the right scale, without one, and with 1/d_k."""
    d_k = Q.shape[1]
    return [softmax(c * (Q @ K.T)) @ V for c in (d_k**-0.5, 1.0, 1 / d_k)]


def _why_blind(Q, K, V):
    """What makes every scale, or nearly every one, give the same here."""
    scores = Q @ K.T
    if Q.shape[1] == 1:
        return "width-of-one", "with dₖ = 1 all three scales are the same number"
    if np.ptp(V, axis=0).max() < 1e-9:
        return "equal-values", "all values are the same here, so any weights give the same output"
    if np.ptp(scores, axis=1).max() < 1e-9:
        return "equal-scores", "every query scores all keys alike here, so the weights are equal at any scale"
    if np.ptp(scores, axis=1).max() / Q.shape[1] ** 0.5 > 8:
        return "scores-far-apart", "the scores are so far apart that one key gets everything, scaled or not"
    return "too-little-to-see", "the scale changes the output, but by too little"


def _tells(wrong, value):
    """Whether the output with a wrong scale differs by 0.1."""
    made = _made(value)
    outputs = _outputs(*made)
    off = float(np.abs(outputs[0] - outputs[wrong]).max())
    if off < 0.1:
        raise Misses(*_why_blind(*made), f"the outputs differ by {off:.3g}")


def _nobody_can_miss(value):
    made = _made(value)
    right, unscaled, by_d = _outputs(*made)
    gaps = np.minimum(np.minimum(abs(right - unscaled), abs(right - by_d)), abs(unscaled - by_d))
    if (gap := float(gaps.max())) >= 0.3:
        return
    why, seen = _why_blind(*made)
    raise Misses(why, seen, f"in the best entry two of the three are {gap:.3g} apart")


def _pair(scores, d_k, values=(1, -1)):
    """A query that scores two keys so."""
    return lambda: (
        np.ones((1, d_k)),
        np.outer(scores, np.ones(d_k)) / d_k,
        np.array(values, dtype=float)[:, None],
    )


EXERCISE = Exercise(
    name="data_that_see_the_scale",
    lesson="02_variance_proof",
    title="Make data that see the scale",
    prompt=PROMPT,
    section="8. Which scale did the code use?",
    difficulty=3,
    minutes=8,
    reference=data_that_see_the_scale,
    cases=(
        criterion(
            "no scale at all shows",
            lambda value: _tells(1, value),
            says="Scores that are twice as far apart give sharper weights; the values have to show that.",
        ),
        criterion(
            "a scale of 1/dₖ shows",
            lambda value: _tells(2, value),
            says="Between 1/√dₖ and 1/dₖ lies a factor of √dₖ: it is large where dₖ is.",
        ),
        criterion(
            "nobody can miss it",
            _nobody_can_miss,
            says="All three outputs have to be apart in one entry: wide vectors, values far apart, and scores that are "
            "neither close nor far apart.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "equal-scores",
            _pair((4, 4), 16),
            "Every query scores all keys alike. The weights are equal then, whatever the scores are multiplied by. Let "
            "one key score higher.",
        ),
        WrongAnswer(
            "equal-values",
            _pair((4, 0), 16, (1, 1)),
            "All values are the same, so every mixture of them is, too: the output says nothing about the weights.",
        ),
        WrongAnswer(
            "width-of-one",
            _pair((4, 0), 1),
            "With dₖ = 1 there is nothing to tell: 1, 1/√1 and 1/1 are one number. Take wider vectors.",
        ),
        WrongAnswer(
            "scores-far-apart",
            _pair((150, 0), 16),
            "Your scores are so far apart that softmax gives one key everything, with any of the three scales. Bring "
            "them together.",
        ),
        WrongAnswer(
            "too-little-to-see",
            _pair((0.1, 0), 16),
            "The scale changes your output, but hardly. Scores that differ by about √dₖ before they are scaled, and "
            "values of 1 and −1, show it best.",
        ),
        WrongAnswer(
            "no-inputs",
            lambda: (np.ones((1, 4)), np.ones((3, 5)), np.ones((3, 1))),
            "What came back is not `(Q, K, V)` with matching shapes, entries of `Q` and `K` up to 10 and of `V` up to 1.",
        ),
    ),
    also_right=(
        _pair((5, 0), 30),
        lambda: [[[1, 2, 0, 0, 0, 0, 0, 0, 0] * 2], [[1, 1, 0, 0, 0, 0, 0, 0, 0] * 2, [0] * 18], [[1], [-1]]],
    ),
    hints=(
        "Take one query and two keys. What may the two scores not be, and what may the two values not be?",
        "Let the second key score 0. The first key's weight is then 1/(1 + e⁻ˢ) with s the scaled score: choose the "
        "score so that s, s√dₖ and s/√dₖ give three quite different weights.",
        "With dₖ = 16, scores of 4 and 0 become 4, 1 and 1/4 under the three scales, and values of 1 and −1 spread "
        "the three weights of 0.98, 0.73 and 0.56 apart.",
    ),
)
