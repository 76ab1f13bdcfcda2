"""Lesson 05, exercise `to_boolean`: one convention for all."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    Case,
    Example,
    Exercise,
    WrongAnswer,
    read_only,
    read_only_strided,
    strided,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.masking.exercises.shared import additive

PROMPT = """`to_boolean(mask, convention)`: read a mask in its own convention, return it in ours.

- `mask`: an array.
- `convention`: one of these nine names.
- Returns dtype bool, True = may attend, in a shape that broadcasts to (batch, heads, n_q, n_k).

| convention | what the array holds | shape, and the shape to return |
|---|---|---|
| `"true-may-attend"` | bool, True = may attend | any; the same |
| `"true-blocked"` | bool, True = blocked | any; the same |
| `"additive"` | floats that are added to the scores. **−10,000 or less hides**: −∞, −1e9, the lowest float32. Anything above is a bias, and the key stays visible | any; the same |
| `"one-may-attend"` | 1 = may attend, 0 = hidden; ints or floats | any; the same |
| `"jax-mask"` | as `"true-may-attend"` | any; the same |
| `"jax-bias"` | as `"additive"` | any; the same |
| `"tensorflow-tutorial"` | 1 = **hidden**, 0 = may attend; floats that the tutorial multiplies by −1e9 | any; the same |
| `"keras"` | bool, True = may attend | (batch, n_q, n_k); (batch, 1, n_q, n_k) |
| `"hugging-face"` | 1 = may attend, 0 = padding; ints | (batch, n_k); (batch, 1, 1, n_k) |

Examples: {example:1}. {example:2}.
"""


def to_boolean(mask, convention):
    """A mask of any convention -> bool, True = may attend, ready for (batch, heads, n_q, n_k)."""
    if convention in ("true-may-attend", "jax-mask"):
        return mask
    if convention == "true-blocked":
        return ~mask
    if convention in ("additive", "jax-bias"):
        return mask > -1e4
    if convention == "tensorflow-tutorial":
        return mask == 0
    if convention == "keras":
        return mask[:, None]
    if convention == "hugging-face":
        return mask[:, None, None] != 0
    return mask != 0  # "one-may-attend"


def _to_boolean_table(mask, convention):
    rules = {
        "true-may-attend": lambda m: np.array(m),
        "true-blocked": np.logical_not,
        "additive": lambda m: np.logical_not(m <= -10_000),
        "one-may-attend": lambda m: m == 1,
        "jax-mask": lambda m: np.logical_not(np.logical_not(m)),
        "jax-bias": lambda m: np.greater(m, -10_000.0),
        "tensorflow-tutorial": lambda m: np.logical_not(m.astype(bool)),
        "keras": lambda m: m.reshape(len(m), 1, *m.shape[1:]),
        "hugging-face": lambda m: np.expand_dims(m, (1, 2)).astype(bool),
    }
    return rules[convention](mask)


def _converter(**changed):
    """The right converter with some rules exchanged (names with _ for -)."""
    rules = {
        "true_may_attend": lambda m: m,
        "true_blocked": lambda m: ~m,
        "additive": lambda m: m > -1e4,
        "one_may_attend": lambda m: m != 0,
        "tensorflow_tutorial": lambda m: m == 0,
        "keras": lambda m: m[:, None],
        "hugging_face": lambda m: m[:, None, None] != 0,
        **changed,
    }
    rules = {"jax_mask": rules["true_may_attend"], "jax_bias": rules["additive"], **rules}
    return lambda mask, convention: rules[convention.replace("-", "_")](mask)


def _allowed(rng, *shape):
    """A random mask with both kinds in every row."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return mask


def _biased(rng):
    """Small biases where the query may attend; four ways to write 'hidden' elsewhere, one in each row."""
    mask = _allowed(rng, 4, 5)
    hidden = np.array([[-np.inf], [-1e9], [-20_000.0], [-10_000.0]])
    bias = rng.uniform(-30.0, 2.0, size=(4, 5))
    bias[:, 0] = [-8.0, 0.0, 1.5, -30.0]
    return np.where(mask, bias, hidden), "additive"


def _of_jax(rng):
    """As an additive mask: biases where the query may attend, the lowest float32 and others where it may not."""
    mask = _allowed(rng, 2, 1, 4, 6)
    hidden = rng.choice([float(np.finfo(np.float32).min), -1e9, -20_000.0, -10_000.0], size=mask.shape)
    bias = rng.choice([0.0, -0.5, -8.0, -300.0, -9_000.0, 1.5], size=mask.shape)
    bias[..., 0], hidden[..., -1] = (
        [-8.0, -9_000.0, 0.0, -0.5],
        [-10_000.0, -20_000.0, -1e9, hidden[0, 0, 0, 0]],
    )
    return np.where(mask, bias, hidden), "jax-bias"


def _positive(rng):
    """Biases above 0, also large ones: they make a key more visible."""
    row = np.array([150.0, 20_000.0, rng.uniform(2.0, 9.0), 0.0, -1e9, -np.inf])
    return np.stack([rng.permutation(row) for _ in range(4)]), "additive"


def _close_to_the_threshold(rng):
    """On both sides of −10,000, down to the last digit, and on the way there. Rounded to half precision, −9,997 is
    −10,000 and −9,990 is not: that is told from another threshold."""
    near = [-1e4, np.nextafter(-1e4, 0), np.nextafter(-1e4, -np.inf), -9999.0, -10001.0, -9997.0, -9990.0]
    row = np.array([*near, -5000.0, -100.0, -0.5])
    return np.stack([rng.permutation(row) for _ in range(10)]), "additive"


_ABOVE = (
    "A positive number hides the key, at least a large one: `abs(mask)` does that, and so does a limit from above. Only "
    "−10,000 or less hides. A positive bias makes a key more visible."
)


_KERAS = (
    "The shape (batch, n_q, n_k) of Keras has no axis for the heads. As it is, the batch is read as heads: put an axis of "
    "length 1 after the first."
)
_PADDING = (
    "A padding mask (batch, n_k) that is returned as it is will be read as (n_q, n_k), and no error tells you when the batch "
    "is as long as the text. It needs axes for heads and queries: (batch, 1, 1, n_k)."
)
_ONE_AXIS = "(batch, 1, n_k) has one axis too few: beside heads it is read as (heads, n_q, n_k). Put in two axes: (batch, 1, 1, n_k)."
_TUTORIAL = "In TensorFlow's tutorial 1 means hidden, since it is multiplied by −1e9 and added. You read it as visible."


def _build(may, blocked, added, jax, ones, tutorial, keras, padding, form):
    rule = _converter(
        true_may_attend=may,
        true_blocked=blocked,
        additive=added,
        jax_bias=jax(added),
        one_may_attend=ones,
        tensorflow_tutorial=tutorial,
        keras=keras,
        hugging_face=padding,
    )
    return lambda mask, convention: form(rule(mask, convention))


MISTAKES = Products(
    (
        Factor(
            "blocked",
            lambda m: ~m,
            (
                Option("blocked-not-turned-round", lambda m: m),
                Option("tilde-on-integers", lambda m: ~m.astype(int)),
            ),
        ),
        Factor(
            "added",
            lambda m: m > -1e4,
            (
                Option("additive-inverted", lambda m: m <= -1e4),
                Option("additive-nonzero-is-true", lambda m: m != 0),
                Option("only-infinity-hides", lambda m: m != -np.inf),
                Option("only-zero-is-visible", lambda m: m == 0),
                Option("any-negative-hides", lambda m: m >= 0),
                Option("threshold-below-1e9", lambda m: m > -1e9),
                Option("threshold-itself-is-visible", lambda m: m >= -1e4),
                *(
                    Option(
                        "another-threshold",
                        lambda m, at=at: m > at,
                        "Your threshold for additive masks is another one: −10,000 or less hides, and everything above "
                        "it is a bias.",
                    )
                    for at in (-1.0, -10.0, -100.0, -1000.0, -5000.0, -9999.0, -1e5, -1e6)
                ),
                # Others between these return the same: the positive biases that occur are below 9, 150 and 20,000.
                *(
                    Option("positive-bias-hides", lambda m, most=most: (m > -1e4) & (m <= most), _ABOVE)
                    for most in (0.0, 100.0, 1e4)
                ),
            ),
        ),
        Factor(
            "jax",
            lambda added: added,
            tuple(
                Option("jax-bias-is-not-additive", lambda added, rule=rule: rule)
                for rule in (
                    lambda m: m == 0,
                    lambda m: m >= 0,
                    lambda m: m > -1.0,
                    lambda m: m > -10.0,
                    lambda m: m > -1000.0,
                    lambda m: m >= -1e4,
                    lambda m: m > -1e9,
                    lambda m: m != -np.inf,
                )
            ),
        ),
        Factor(
            "ones",
            lambda m: m != 0,
            (
                Option("ones-turned-round", lambda m: m == 0),
                Option("ones-taken-for-additive", lambda m: m > -1e4),
            ),
        ),
        Factor("tutorial", lambda m: m == 0, (Option("tutorial-not-turned-round", lambda m: m != 0),)),
        Factor("keras", lambda m: m[:, None], (Option("keras-without-heads", lambda m: m),)),
        Factor(
            "padding",
            lambda m: m[:, None, None] != 0,
            (
                Option("padding-without-axes", lambda m: m != 0),
                Option("padding-with-one-axis", lambda m: m[:, None] != 0),
                Option("padding-axes-in-front", lambda m: (m != 0)[None, None]),
            ),
        ),
        Factor("may", lambda m: m, (Option("both-booleans-turned-round", lambda m: ~m),)),
        Factor("form", lambda m: m, (Option("numbers-not-booleans", lambda m: m * 1),)),
    ),
    _build,
)


EXERCISE = Exercise(
    name="to_boolean",
    lesson="05_masking",
    title="One convention for all",
    prompt=PROMPT,
    examples=(
        Example(([0, -8, -1e9], "additive"), form="values"),
        Example((np.array([[1, 1], [1, 0]]), "hugging-face"), form="values"),
    ),
    difficulty=2,
    minutes=15,
    reference=to_boolean,
    cases=(
        Case("True = may attend", lambda rng: (_allowed(rng, 3, 1, 5), "true-may-attend")),
        Case("True = blocked", lambda rng: (read_only(_allowed(rng, 16)), "true-blocked")),
        Case("0 and −∞, added", lambda rng: (additive(_allowed(rng, 4, 6)), "additive")),
        Case(
            "the lowest float32, a bias of JAX",
            _of_jax,
            says="A bias of JAX is read as an additive mask is: −10,000 or less hides, anything above is a bias.",
        ),
        Case(
            "small biases as well",
            _biased,
            says="An additive mask may carry small numbers too, like a bonus for near keys. Those keys stay visible.",
        ),
        Case(
            "positive biases, also large ones",
            _positive,
            says="A positive bias makes a key more visible, however large it is.",
        ),
        Case(
            "biases close to −10,000",
            _close_to_the_threshold,
            says="−10,000 or less hides; anything above it is a bias, also −9,999, and the key stays visible.",
        ),
        Case(
            "whole numbers 0 and 1",
            lambda rng: (strided(_allowed(rng, 3, 5).astype(int)), "one-may-attend"),
        ),
        Case("floats 0 and 1", lambda rng: (_allowed(rng, 17) * 1.0, "one-may-attend")),
        Case(
            "bytes 0 and 1",
            lambda rng: (_allowed(rng, 1, 11, 9).astype(np.uint8), "one-may-attend"),
            says="Masks often come as uint8, one byte each. The axis of length 1 stays.",
        ),
        Case(
            "a mask of JAX, for one text",
            lambda rng: (_allowed(rng, 12), "jax-mask"),
            says="One axis of twelve keys: any shape comes back as it was.",
        ),
        Case(
            "True = blocked, for one key",
            lambda rng: (read_only_strided(~rng.permutation(_allowed(rng, 19))[:, None]), "true-blocked"),
            says="Nineteen queries and one key: any shape comes back as it was.",
        ),
        Case(
            "TensorFlow's tutorial, padding and future",
            lambda rng: (1.0 - _allowed(rng, 3, 1, 5, 6), "tensorflow-tutorial"),
            says="1 marks what is hidden: the tutorial multiplies it by −1e9 and adds it.",
        ),
        Case(
            "Keras, a batch of masks",
            lambda rng: (_allowed(rng, 3, 4, 5), "keras"),
            says="(batch, n_q, n_k) has no axis for the heads: ours is (batch, 1, n_q, n_k).",
        ),
        Case(
            "Hugging Face, padding",
            lambda rng: (strided(_allowed(rng, 4, 6).astype(int)), "hugging-face"),
            says="One row for each sentence: it becomes (batch, 1, 1, n_k), or the batch is read as queries.",
        ),
        Case(
            "Hugging Face, as many sentences as tokens",
            lambda rng: (_allowed(rng, 5, 5).astype(int), "hugging-face"),
            says="Five sentences of five tokens: no shape will warn you if the two axes are missing.",
        ),
        Case(
            "one number",
            lambda rng: (np.array([[-rng.uniform(1, 30)]]), "additive"),
            says="A mask of shape (1, 1) with a small bias: any shape comes back as it was.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "returned-as-it-came",
            lambda mask, convention: mask,
            "The mask comes back as it came: nothing was converted.",
        ),
        WrongAnswer(
            "nonzero-is-true-for-all",
            lambda mask, convention: mask.astype(bool),
            "You turned every mask into bool alike: nonzero is True. For 'blocked' and for additive masks that is the "
            "wrong way round.",
        ),
        WrongAnswer(
            "blocked-not-turned-round",
            _converter(true_blocked=lambda m: m),
            "With 'true-blocked' True means hidden: it has to be turned round.",
        ),
        WrongAnswer(
            "tilde-on-integers",
            _converter(true_blocked=lambda m: ~m.astype(int)),
            "`~` turns the bits of a whole number round: ~0 is −1 and ~1 is −2, both of them true. Use it on dtype bool.",
        ),
        WrongAnswer(
            "both-booleans-turned-round",
            _converter(true_may_attend=lambda m: ~m),
            "'true-may-attend' is our convention already: leave it as it is.",
        ),
        WrongAnswer(
            "booleans-exchanged",
            _converter(true_may_attend=lambda m: ~m, true_blocked=lambda m: m),
            "You exchanged the two boolean conventions.",
        ),
        WrongAnswer(
            "all-inverted",
            lambda mask, convention: ~to_boolean(mask, convention),
            "Everything is the wrong way round: True has to mean that the query MAY attend.",
        ),
        WrongAnswer(
            "additive-inverted",
            _converter(additive=lambda m: m <= -1e4),
            "For additive masks you return where keys are HIDDEN. A very low number hides; True means visible.",
        ),
        WrongAnswer(
            "additive-nonzero-is-true",
            _converter(additive=lambda m: m != 0),
            "In an additive mask 0 changes nothing: the key is visible. You made it False.",
        ),
        WrongAnswer(
            "only-infinity-hides",
            _converter(additive=lambda m: m != -np.inf),
            "You let only −∞ hide. Large finite numbers are used as well: −1e9, −10,000, the lowest float32.",
        ),
        WrongAnswer(
            "only-zero-is-visible",
            _converter(additive=lambda m: m == 0),
            "You let only 0 be visible. A small bias, say −8 or 1.5, leaves the key visible.",
        ),
        WrongAnswer(
            "any-negative-hides",
            _converter(additive=lambda m: m >= 0),
            "You let every negative number hide. A small bias, say −8, leaves the key visible.",
        ),
        WrongAnswer(
            "threshold-below-1e9",
            _converter(additive=lambda m: m > -1e9),
            "−10,000 hides too, by the rule of this exercise: everything at or below it.",
        ),
        WrongAnswer(
            "threshold-itself-is-visible",
            _converter(additive=lambda m: m >= -1e4),
            "Exactly −10,000 hides as well: at or below it.",
        ),
        WrongAnswer(
            "jax-bias-is-not-additive",
            _converter(jax_bias=lambda m: m == 0),
            "A mask of 'jax-bias' is read by another rule than an additive one. It is the same thing: −10,000 or less hides, and "
            "a bias above that, say −8, leaves the key visible.",
        ),
        WrongAnswer(
            "ones-turned-round",
            _converter(one_may_attend=lambda m: m == 0),
            "For 0 and 1 you return where keys are HIDDEN. In 'one-may-attend' the 1 means visible.",
        ),
        WrongAnswer(
            "ones-taken-for-additive",
            _converter(one_may_attend=lambda m: m > -1e4),
            "You treated 0 and 1 as an additive mask: everything is visible then. That is how a 0/1 mask fails when "
            "it is added.",
        ),
        WrongAnswer(
            "tutorial-not-turned-round",
            _converter(tensorflow_tutorial=lambda m: m != 0),
            _TUTORIAL,
        ),
        WrongAnswer("keras-without-heads", _converter(keras=lambda m: m), _KERAS),
        WrongAnswer("padding-without-axes", _converter(hugging_face=lambda m: m != 0), _PADDING),
        WrongAnswer("padding-with-one-axis", _converter(hugging_face=lambda m: m[:, None] != 0), _ONE_AXIS),
        WrongAnswer(
            "padding-axes-in-front",
            _converter(hugging_face=lambda m: (m != 0)[None, None]),
            "Two axes in front give (1, 1, batch, n_k): the batch stands where the queries belong. The new axes go between "
            "batch and keys.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda mask, convention: to_boolean(mask, convention) * 1,
            "You return the numbers 0 and 1: compare them, so that the result is of dtype bool.",
        ),
    ),
    also_right=(
        _to_boolean_table,
        _converter(additive=lambda m: ~(m <= -1e4), one_may_attend=lambda m: m.astype(bool)),
        _converter(true_blocked=lambda m: m == False),  # noqa: E712
    ),
    hints=(
        "Take a key that may be seen. What does each convention write for it? And for a hidden one?",
        "Two of the nine need nothing, one a `~`, four a comparison, and two need new axes. For 'additive' ask how low a number "
        "has to be to hide.",
        "`~mask`, `mask > -1e4`, `mask != 0`, `mask == 0`, and `mask[:, None]` for an axis after the first.",
    ),
    mistakes=MISTAKES,
)
