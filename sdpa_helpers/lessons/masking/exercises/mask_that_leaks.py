"""Lesson 05, exercise `mask_that_leaks`: make a mask that hides a token in each layer, and leaks it through two."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import truth_values

PROMPT = r"""`mask_that_leaks()`: a mask may hide one token from another in every layer, and still let it through: a third token passes it on. Make such a mask.

Return a mask for six tokens: a bool array of shape `(6, 6)`, True = may attend. Token 5 should never learn anything about token 0.

We run two layers of attention with your mask in both: what the first layer returns for a token is its query, key and value in the second. Then we change token 0 and see whether the output for token 5 changes. Your mask earns a point for each of these:

1. it looks safe: it is causal, every token sees itself, and token 5 does not see token 0,
2. it leaks anyway: after two layers the output for token 5 has changed,
3. the leak hangs by a thread: exactly one token passes it on, although token 5 sees at least two of the tokens 1 to 4, and at least two of these see token 0.
"""


def mask_that_leaks():
    """A mask that hides token 0 from token 5, and leaks it in two layers -> (6, 6) bool."""
    mask = np.eye(6, dtype=bool)
    mask[[1, 2], 0] = True  # tokens 1 and 2 see token 0
    mask[5, [2, 3]] = True  # token 5 sees tokens 2 and 3: only token 2 passes it on
    return mask


def _made(value):
    """The mask, or why there is none."""
    try:
        mask = truth_values(value, "mask", (2, 2))
    except ValueError as error:
        raise Misses("no-mask", "what came back is not an array of True and False", str(error)) from None
    if mask.shape != (6, 6):
        raise Misses("no-mask", "its shape is not (6, 6)", f"it is {mask.shape}")
    return mask


def _looks_safe(value):
    mask = _made(value)
    if mask[5, 0]:
        raise Misses("seen-directly", "token 5 sees token 0 itself")
    if np.triu(mask, 1).any():
        raise Misses("sees-the-future", "a token sees a later one")
    if not mask.diagonal().all():
        raise Misses("blind-to-itself", "a token does not see itself")


def _two_layers(mask, x):
    for _ in range(2):
        x = softmax(np.where(mask, x @ x.T / x.shape[1] ** 0.5, -np.inf)) @ x
    return x


def _changes(mask):
    """Whether the output for token 5 depends on token 0."""
    x = np.random.default_rng(5).normal(size=(6, 4))
    other = x.copy()
    other[0] += 1.0
    return not np.allclose(_two_layers(mask, x)[5], _two_layers(mask, other)[5], rtol=0, atol=1e-12)


def _leaks(value):
    mask = _made(value)
    if mask[5, 0]:
        raise Misses("seen-directly", "token 5 sees token 0 itself: that needs no second layer")
    if np.triu(mask, 1).any():
        raise Misses("sees-the-future", "a token sees a later one")
    if not _changes(mask):
        raise Misses("nobody-passes-it-on", "the output for token 5 stays the same: nobody passes token 0 on")


def _by_a_thread(value):
    _looks_safe(value)
    _leaks(value)
    mask = _made(value)
    passing = int((mask[5, 1:5] & mask[1:5, 0]).sum())
    if passing != 1:
        raise Misses("more-than-one-way", f"{passing} tokens pass it on; there should be one")
    if mask[5, 1:5].sum() < 2 or mask[1:5, 0].sum() < 2:
        raise Misses(
            "too-bare", "token 5 sees fewer than two of the tokens 1 to 4, or fewer than two see token 0"
        )


def _with(*seen):
    """A mask in which every token sees itself, and these (query, key) besides."""

    def mask():
        made = np.eye(6, dtype=bool)
        made[tuple(zip(*seen, strict=True))] = True
        return made

    return mask


EXERCISE = Exercise(
    name="mask_that_leaks",
    lesson="05_masking",
    title="Make a mask that leaks through two layers",
    prompt=PROMPT,
    section="7. A leak detector",
    difficulty=3,
    minutes=8,
    reference=mask_that_leaks,
    cases=(
        criterion(
            "it looks safe",
            _looks_safe,
            says="One layer with this mask must not show token 0 to token 5, nor a later token to an earlier one.",
        ),
        criterion(
            "it leaks after two layers",
            _leaks,
            says="After the first layer a token carries something of every token that it saw.",
        ),
        criterion(
            "the leak hangs by a thread",
            _by_a_thread,
            says="A token passes something on when it sees token 0 and token 5 sees it.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "seen-directly",
            lambda: np.tri(6, dtype=bool),
            "Token 5 sees token 0 directly in your mask: that is no leak, that is permission. Hide it in row 5.",
        ),
        WrongAnswer(
            "sees-the-future",
            _with((2, 5), (0, 2)),
            "A token of yours sees a later one. In a causal mask row i ends at column i.",
        ),
        WrongAnswer(
            "nobody-passes-it-on",
            _with((1, 0), (2, 0), (5, 3), (5, 4)),
            "No token both sees token 0 and is seen by token 5, so nobody can pass it on in two layers.",
        ),
        WrongAnswer(
            "more-than-one-way",
            _with((1, 0), (2, 0), (5, 1), (5, 2)),
            "Your mask leaks, and more than one token passes token 0 on. Leave one that both sees token 0 and is seen "
            "by token 5.",
        ),
        WrongAnswer(
            "too-bare",
            _with((1, 0), (5, 1)),
            "Your mask leaks through one token, and that is all there is in it. Let token 5 see another token too, one "
            "that knows nothing of token 0, and let a token see token 0 that token 5 does not see.",
        ),
        WrongAnswer(
            "blind-to-itself",
            lambda: (
                _with((1, 0), (2, 0), (5, 2), (5, 3))() & ~np.diag([False, False, False, False, True, False])
            ),
            "A token of yours does not see itself. That is not wrong in general; here the diagonal has to be True.",
        ),
        WrongAnswer(
            "no-mask",
            lambda: np.tri(6),
            "What came back is not an array of True and False of shape `(6, 6)`.",
        ),
    ),
    also_right=(
        _with((1, 0), (2, 0), (3, 0), (5, 3), (5, 4)),
        lambda: _with((3, 0), (4, 0), (4, 3), (4, 2), (5, 4), (5, 1), (2, 1))().tolist(),
    ),
    hints=(
        "After one layer, which tokens know something of token 0? Which tokens does token 5 listen to in the second?",
        "There has to be a token in both groups. Begin with the identity matrix, and add one token to both, one to the "
        "first only, and one to the second only.",
        "`mask = np.eye(6, dtype=bool)`, then column 0 of rows 1 and 2, and columns 2 and 3 of row 5: token 2 passes "
        "it on.",
    ),
)
