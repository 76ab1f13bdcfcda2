"""Lesson 08, exercise `multi_head_attention`: project, cut, attend in every head, join, project."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only, strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.heads_and_variants.exercises.shared import (
    CHANGED,
    HALF,
    SINGLE,
    cut,
    cut_by_reshape,
    cut_in_turns,
    half,
    joined,
    joined_by_reshape,
    joined_in_turns,
    single,
    turned,
)
from sdpa_helpers.lessons.masking.exercises.mask_factors import (
    HIDING,
    MEANING,
    NUMERICS,
    SAYS,
    TOO_NEAR,
    Sums,
    weigh,
)
from sdpa_helpers.lessons.masking.exercises.masked_softmax import masked_softmax
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import LEVELS, some_empty_rows

PROMPT = r"""`multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None)`: self-attention with heads, all of it.

- `x`, shape `(..., n, d_model)`. `W_q`, `W_k` and `W_v`, each `(d_model, d_model)`, make queries, keys and values: `x @ W_q` and so on. `W_o`, shape `(d_model, d_out)`, is applied to the joined heads.
- Head `h` has coordinates `h·d_head` to `(h+1)·d_head − 1` of queries, keys and values, with `d_head = d_model // num_heads`. In each head this is $\mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_{\text{head}}})\,V$; the heads' outputs are laid side by side in the same order.
- `mask`: None, or dtype bool with True = may attend. It broadcasts to `(..., num_heads, n, n)`: shape `(n, n)` serves all heads, shape `(num_heads, n, n)` has one for each.
- Returns shape `(..., n, d_out)`. A query that may attend to nothing gets 0 from its head. Scores of ±1000 must not overflow.

Example: two heads of width 1, and 1.0986… is ln 3. {inputs:1}. Token 0 puts weight 1/2 on each token in head 0, where all queries are 0, and weight 3/4 on itself in head 1; token 1 puts 1/2 on each in both: {result:1}.

You may call what you wrote above.
"""

_LN3 = float(np.log(3))


def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Self-attention with heads: x (..., n, d_model), four matrices, bool mask -> (..., n, d_out)."""
    cut = (*x.shape[:-1], num_heads, -1)
    Q, K, V = (np.swapaxes((x @ W).reshape(cut), -2, -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    heads = exponentials / np.where(total == 0, 1.0, total) @ V
    merged = np.swapaxes(heads, -2, -3).reshape(*x.shape[:-1], -1)
    return merged @ W_o


@dataclass(frozen=True)
class _Projection:
    """How queries, keys and values come from x, and what comes after the heads."""

    into: Callable = lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_v)
    out: Callable = lambda merged, W_o: merged @ W_o


def _only_for_matrices(x, num_heads):
    return x.reshape(x.shape[0], num_heads, -1).transpose(1, 0, 2)


def _one_head(x, num_heads):
    return x[..., None, :, :]


def _build(convert, project, cut, scale, meaning, hiding, numerics, sums, merge, loop) -> Callable:
    """Multi-head attention whose parts can be wrong."""

    def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
        x, W_q, W_k, W_v, W_o = (convert(array) for array in (x, W_q, W_k, W_v, W_o))
        Q, K, V = (cut(y, num_heads) for y in project.into(x, W_q, W_k, W_v))
        scores = Q @ turned(K) * scale(Q, num_heads)
        mask = None if mask is None else meaning(mask)
        if loop:
            each = (
                weigh(scores[..., h, :, :], mask, hiding, numerics, sums) for h in range(scores.shape[-3])
            )
            outputs = [weights @ V[..., h, :, :] for h, weights in enumerate(each)]
            return project.out(np.concatenate(outputs, axis=-1), W_o)
        weights = weigh(scores, mask, hiding, numerics, sums)
        return project.out(merge(weights @ V), W_o)

    return multi_head_attention


_SCALE = Factor(
    "scale",
    lambda Q, h: Q.shape[-1] ** -0.5,
    (
        Option("no-scaling", lambda Q, h: 1.0),
        Option("scaled-by-the-whole-width", lambda Q, h: (Q.shape[-1] * Q.shape[-3]) ** -0.5),
        Option("scaled-by-the-number-of-heads", lambda Q, h: h**-0.5),
        Option("divided-by-d_head", lambda Q, h: 1 / Q.shape[-1]),
        Option("scaled-by-n", lambda Q, h: Q.shape[-2] ** -0.5),
        Option("multiplied-by-the-root", lambda Q, h: Q.shape[-1] ** 0.5),
    ),
)
_PROJECT = Factor(
    "project",
    _Projection(),
    (
        Option(
            "projections-transposed", _Projection(lambda x, W_q, W_k, W_v: (x @ W_q.T, x @ W_k.T, x @ W_v.T))
        ),
        Option(
            "projections-transposed",
            _Projection(
                lambda x, W_q, W_k, W_v: (x @ W_q.T, x @ W_k.T, x @ W_v.T), lambda merged, W_o: merged @ W_o.T
            ),
        ),
        Option("projections-not-used", _Projection(lambda x, W_q, W_k, W_v: (x, x, x))),
        Option("values-not-projected", _Projection(lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x))),
        Option("keys-used-as-values", _Projection(lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_k))),
        Option("queries-and-keys-swapped", _Projection(lambda x, W_q, W_k, W_v: (x @ W_k, x @ W_q, x @ W_v))),
        Option("output-not-projected", _Projection(out=lambda merged, W_o: merged)),
    ),
)
_CUT = Factor(
    "cut",
    cut,
    (
        Option("heads-cut-by-reshape", cut_by_reshape),
        Option("heads-interleaved", cut_in_turns),
        Option("heads-ignored", _one_head),
        Option(
            "two-axes-only",
            _only_for_matrices,
            "This works for two axes only, one sequence. Any number of axes may stand in front: count from the end.",
        ),
    ),
)
_MERGE = Factor(
    "merge",
    joined,
    (
        Option("heads-joined-by-reshape", joined_by_reshape),
        Option("heads-joined-in-turns", joined_in_turns),
    ),
)
_SUMS = Factor(
    "sums",
    Sums(),
    (
        Option("softmax-over-queries", Sums(-2)),
        Option("softmax-over-heads", Sums(-3)),
        Option("softmax-over-axis-1", Sums(1)),
        Option("softmax-over-axis-2", Sums(2)),
        Option("softmax-over-the-matrix", Sums((-2, -1))),
    ),
)
_LOOP = Factor("loop", False, (Option("mask-not-indexed-by-head", True),))
_CONVERT = Factor(
    "convert",
    lambda array: array,
    (Option("float32-somewhere", single, rare=True), Option("half-precision-somewhere", half, rare=True)),
)
MISTAKES = Products(
    (_PROJECT, _CUT, _SCALE, MEANING, HIDING, NUMERICS, _SUMS, _MERGE, _LOOP, _CONVERT), _build
)


def _without(factor: Factor, name: str, number: int = 0) -> Any:
    """One of the options of that name."""
    return [option.value for option in factor.options if option.name == name][number]


def _with(**parts) -> Callable:
    """The answer with these parts in place of the right ones."""
    return _build(**{factor.name: factor.right for factor in MISTAKES.factors} | parts)


def _wrong(factor: Factor, name: str, says: str = "", **more: Any) -> WrongAnswer:
    """A wrong answer out of a factor's options."""
    return WrongAnswer(name, _with(**{factor.name: _without(factor, name)}), says or SAYS[name], **more)


def _always_causal(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    triangle = np.tri(x.shape[-2], dtype=bool)
    mask = triangle if mask is None else triangle & mask
    return multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask)


def _same_weights_for_all(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = (cut(x @ W, num_heads) for W in (W_q, W_k, W_v))
    scores = Q @ turned(K) / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, True if mask is None else mask)
    return joined(weights.mean(axis=-3, keepdims=True) @ V) @ W_o


def _nan_to_zero_at_the_end(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    unguarded = _with(numerics=_without(NUMERICS, "minus-infinity-minus-minus-infinity"))
    return np.nan_to_num(unguarded(x, W_q, W_k, W_v, W_o, num_heads, mask))


def _mask_of_the_first_head(mask):
    return mask[..., :1, :, :] if mask.ndim > 2 else mask


def _in_place(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    W_q /= np.sqrt(x.shape[-1] // num_heads)
    return _with(scale=lambda Q, h: 1.0)(x, W_q, W_k, W_v, W_o, num_heads, mask)


def _with_loop(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    width = x.shape[-1] // num_heads
    n = x.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*x.shape[:-2], num_heads, n, n))
    outputs = []
    for h in range(num_heads):
        part = slice(h * width, (h + 1) * width)
        Q, K, V = x @ W_q[:, part], x @ W_k[:, part], x @ W_v[:, part]
        outputs.append(masked_softmax(Q @ turned(K) * width**-0.5, allowed[..., h, :, :]) @ V)
    return np.concatenate(outputs, axis=-1) @ W_o


def _with_einsum(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = ((x @ W).reshape(*x.shape[:-1], num_heads, -1) for W in (W_q, W_k, W_v))
    scores = np.einsum("...qhd,...khd->...hqk", Q, K) / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, True if mask is None else mask)
    return np.einsum("...hqk,...khd->...qhd", weights, V).reshape(x.shape) @ W_o


def _heads_summed_by_their_rows_of_the_output_matrix(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = (cut(x @ W, num_heads) for W in (W_q, W_k, W_v))
    scores = Q / np.sqrt(Q.shape[-1]) @ turned(K)
    scores = scores if mask is None else scores + np.where(mask, 0.0, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
    return (weights @ V @ W_o.reshape(num_heads, -1, W_o.shape[-1])).sum(axis=-3)


def _finite_fill_and_zeros(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = (cut(x @ W, num_heads) for W in (W_q, W_k, W_v))
    scores = Q @ turned(K) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -1e9)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return joined((weights if mask is None else weights * mask) @ V) @ W_o


def _draw(rng, n, heads, d_head, d_out, *batch):
    width = heads * d_head
    x = rng.normal(size=(*batch, n, width))
    matrices = (rng.normal(size=(width, width)) / np.sqrt(width) for _ in range(3))
    return x, *matrices, rng.normal(size=(width, d_out)), heads


def _at_levels(rng, levels, key_signs, heads, d_head, d_out):
    """Scaled scores around levels[i] · key_signs[j] in every head, row i and column j."""
    x, W_q, W_k, W_v, W_o, heads = _draw(rng, len(levels), heads, d_head, d_out, 2)
    x[..., 0], x[..., 1] = np.array(levels) * np.sqrt(d_head), key_signs
    for W in (W_q, W_k, W_v):
        W[:2] = 0.0
    W_q[:, ::d_head], W_k[:, ::d_head] = 0.0, 0.0
    W_q[0, ::d_head], W_k[1, ::d_head] = 1.0, 1.0
    return x, W_q, W_k, W_v, W_o, heads


def _giants(rng):
    """Scaled scores far below zero where the mask allows, far above where it hides."""
    visible = np.arange(4) % 2 == rng.integers(2)
    inputs = _at_levels(rng, LEVELS, np.where(visible, -1.0, 1.0), 3, 5, 2)
    return *inputs, np.broadcast_to(visible, (2, 1, 4, 4)).copy()


def _causal(rng):
    inputs = (*_draw(rng, 6, 2, 5, 3), np.tri(6, dtype=bool))
    return tuple(read_only(part) if isinstance(part, np.ndarray) else part for part in inputs)


def _padded(rng):
    x, *matrices, heads = _draw(rng, 11, 3, 4, 7, 2)
    visible = np.arange(11) < rng.permutation([3, 10])[:, None]
    return strided(x), *matrices, heads, visible[:, None, None, :]


def _one_mask_a_head(rng):
    apart = np.arange(5)[:, None] - np.arange(5)
    reach = rng.permutation([0, 1, 3])
    return *_draw(rng, 5, 3, 2, 4, 2), (apart >= 0) & (apart <= reach[:, None, None])


def _empty_rows(rng):
    """In the first text two queries see nothing in either head, in the second one sees nothing in its first head only."""
    mask = some_empty_rows(rng, 2, 2, 5, 5)
    mask[1, 0, 2] = False
    return *_draw(rng, 5, 2, 3, 7, 2), mask


EXERCISE = Exercise(
    name="multi_head_attention",
    lesson="08_heads_and_variants",
    title="Multi-head attention",
    prompt=PROMPT,
    examples=(
        Example(
            (
                [[0, 1], [0, 0]],
                [[1, 0], [0, _LN3]],
                [[1, 0], [0, 1]],
                [[0, 0], [6, 8]],
                [[1, 0], [0, 1]],
                2,
            ),
        ),
    ),
    section="1. Heads",
    difficulty=4,
    minutes=20,
    reference=multi_head_attention,
    cases=(
        Case("five tokens, three heads", lambda rng: _draw(rng, 5, 3, 2, 7)),
        Case("two leading axes", lambda rng: _draw(rng, 4, 2, 5, 3, 2, 3), 2),
        Case(
            "scores of ±1000 and ±200",
            lambda rng: _at_levels(rng, [1000.0, -1000.0, 200.0, -200.0], 1.0, 2, 3, 5),
            says="Every row of every head needs its own maximum: the rows lie far apart.",
        ),
        Case("a causal mask, read-only", _causal, says="The mask has shape (n, n) and serves both heads."),
        Case(
            "padding, for a batch",
            _padded,
            says="The mask has shape (batch, 1, 1, n) and broadcasts over heads and queries.",
        ),
        Case(
            "a mask for each head",
            _one_mask_a_head,
            2,
            says="The mask has shape (num_heads, n, n): each head has its own window.",
        ),
        Case(
            "some rows see nothing",
            _empty_rows,
            2,
            says="Where a query may attend to nothing its head contributes 0; all else is as always, the other head too.",
        ),
        Case(
            "hidden keys that would win by far",
            _giants,
            says="What is hidden has no say, neither in the maximum nor in the sum.",
        ),
        Case(
            "all sizes equal",
            lambda rng: (*_draw(rng, 3, 3, 3, 9, 3), np.tri(3, dtype=bool)),
            says="Batch, heads, tokens and width of a head are all 3: no shape can warn you here.",
        ),
        Case("one head", lambda rng: _draw(rng, 4, 1, 6, 5, 2), says="With one head nothing is cut."),
        Case(
            "one token, one number out",
            lambda rng: _draw(rng, 1, 3, 4, 1, 1),
            says="One token sees itself alone. An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("heads of width one", lambda rng: _draw(rng, 4, 6, 1, 3, 2)),
    ),
    wrong=(
        _wrong(NUMERICS, "minus-infinity-minus-minus-infinity"),
        WrongAnswer(
            "nan-to-zero-at-the-end",
            _nan_to_zero_at_the_end,
            "You replaced NaN by 0 in the result. By then W_o has mixed the heads: a query that sees nothing in one head "
            "loses what its other heads found. Make the weights 0 where a row is hidden throughout.",
        ),
        _wrong(NUMERICS, "finite-fill-on-an-empty-row"),
        _wrong(NUMERICS, "finite-number-added-on-an-empty-row"),
        _wrong(
            _CUT,
            "heads-cut-by-reshape",
            "Queries, keys and values were cut into heads by `reshape` alone. The shape is right, and each head holds "
            "pieces of a few tokens: tokens mix. Cut the width first, (..., n, num_heads, d_head), then swap axes.",
            hints=("Compare head 0 of your queries with the first d_head columns of x @ W_q.",),
        ),
        _wrong(
            _MERGE,
            "heads-joined-by-reshape",
            "The heads' outputs were joined by `reshape` alone. The shape is right, and a row holds several tokens of "
            "one head: tokens mix. Swap tokens and heads first.",
            hints=("Row 0 should begin with head 0 of token 0. What comes next in it?",),
        ),
        _wrong(
            _CUT,
            "heads-interleaved",
            "Your heads take the coordinates in turns: head 0 has coordinates 0, num_heads, 2·num_heads. A head gets "
            "neighboring coordinates.",
        ),
        _wrong(
            _MERGE,
            "heads-joined-in-turns",
            "Your rows take one coordinate from each head in turn. Whole heads lie side by side.",
        ),
        _wrong(
            _CUT,
            "heads-ignored",
            "These are the numbers of a single head as wide as the model: num_heads is not used.",
        ),
        WrongAnswer(
            "heads-share-their-weights",
            _same_weights_for_all,
            "The heads' weights were averaged, so all heads look at the same tokens. Each head keeps its own: that is "
            "what heads are for.",
        ),
        _wrong(
            _SCALE,
            "no-scaling",
            "The scores are not scaled: divide them by √d_head before softmax.",
        ),
        _wrong(
            _SCALE,
            "scaled-by-the-whole-width",
            "You divided by √d_model. A score is a sum over the d_head products of one head: divide by √d_head.",
        ),
        _wrong(
            _SCALE,
            "scaled-by-the-number-of-heads",
            "You divided by the root of the number of heads. d_head is how many coordinates one head has.",
        ),
        _wrong(
            _SCALE,
            "divided-by-d_head",
            "The scores are divided by d_head: the square root is missing, or the scale came in twice.",
        ),
        _wrong(
            _SCALE,
            "scaled-by-n",
            "You divided by the root of the number of tokens. d_head is the width of one head.",
        ),
        _wrong(_SCALE, "multiplied-by-the-root", "You multiplied by √d_head. It divides."),
        _wrong(
            _PROJECT,
            "projections-transposed",
            "You multiplied by the transposed matrices, as `nn.Linear` stores them. Here it is `x @ W`.",
        ),
        _wrong(
            _PROJECT,
            "projections-not-used",
            "Queries, keys and values are x itself, cut into heads: W_q, W_k and W_v are not used.",
        ),
        _wrong(_PROJECT, "values-not-projected", "The values are x itself: W_v is not used."),
        _wrong(
            _PROJECT,
            "keys-used-as-values",
            "You mixed the keys. The output is a mixture of the values, x @ W_v.",
        ),
        _wrong(
            _PROJECT,
            "queries-and-keys-swapped",
            "Queries and keys are swapped: rows of the scores belong to queries, columns to keys.",
        ),
        _wrong(
            _PROJECT,
            "output-not-projected",
            "W_o is not used: the joined heads have to be multiplied by it.",
        ),
        _wrong(
            _SUMS,
            "softmax-over-queries",
            "The columns of your weights add up to 1, not the rows: softmax went over the queries. It goes over the "
            "keys, axis −1.",
        ),
        _wrong(
            _SUMS,
            "softmax-over-heads",
            "Softmax went over the heads, so the heads compete with each other. It goes over the keys, axis −1.",
        ),
        _wrong(
            _SUMS,
            "softmax-over-axis-1",
            "Softmax went over axis 1. Counted from the front an axis changes its meaning with every leading axis: "
            "the keys are axis −1.",
        ),
        _wrong(
            _SUMS,
            "softmax-over-axis-2",
            "Softmax went over axis 2. That is right without a batch only: the keys are axis −1.",
        ),
        _wrong(
            _SUMS,
            "softmax-over-the-matrix",
            "Each head's matrix of weights adds up to 1 as a whole. Every row, one query, has to do so on its own.",
        ),
        _wrong(NUMERICS, "no-maximum-subtracted"),
        _wrong(NUMERICS, "no-maximum-subtracted-but-guarded"),
        _wrong(NUMERICS, "no-maximum-and-nan-to-zero"),
        _wrong(NUMERICS, "maximum-of-the-whole-array"),
        _wrong(NUMERICS, "maximum-of-the-whole-array-but-guarded"),
        _wrong(
            MEANING,
            "mask-inverted",
            "The mask is the wrong way around: here True means that this query MAY attend to "
            "this key, as in torch's fused call. `nn.MultiheadAttention` means the opposite.",
        ),
        _wrong(MEANING, "mask-ignored"),
        _wrong(MEANING, "mask-transposed"),
        _wrong(MEANING, "empty-rows-opened"),
        _wrong(
            _LOOP,
            "mask-not-indexed-by-head",
            "You go through the heads in a loop and give each the whole mask. A mask has an axis of heads too, in front of "
            "queries and keys: broadcast it to (..., num_heads, n, n), and take the part of head h.",
        ),
        WrongAnswer(
            "mask-of-the-first-head",
            _with(meaning=_mask_of_the_first_head),
            "Every head was given the mask of head 0. A mask of shape (num_heads, n, n) has one for each: let it "
            "broadcast as it is.",
        ),
        _wrong(
            MEANING,
            "first-mask-of-the-batch",
            "One mask, the first, was used for all heads and batch entries. Let the mask broadcast as it is.",
        ),
        _wrong(
            HIDING,
            "mask-multiplied-into-scores",
            "Hidden scores became 0. A score of 0 still has weight e⁰ = 1 before the division; −∞ has none.",
        ),
        _wrong(HIDING, "mask-added-as-0-and-1"),
        _wrong(HIDING, "masked-after-softmax"),
        _wrong(HIDING, "hidden-key-sets-the-maximum"),
        _wrong(HIDING, "infinity-times-zero"),
        _wrong(HIDING, "query-rows-hidden"),
        _wrong(HIDING, "mask-not-broadcast"),
        _wrong(HIDING, "finite-fill-too-near", TOO_NEAR),
        _wrong(HIDING, "finite-number-added-too-small"),
        _wrong(NUMERICS, "epsilon-in-the-denominator"),
        WrongAnswer(
            "always-causal",
            _always_causal,
            "You apply a causal mask of your own. Only the mask that is passed in counts.",
        ),
        WrongAnswer("changes-its-input", _in_place, CHANGED),
        _wrong(_CONVERT, "float32-somewhere", SINGLE, clue="float32"),
        _wrong(_CONVERT, "half-precision-somewhere", HALF),
    ),
    also_right=(
        _with(),
        _with_loop,
        _with_einsum,
        _heads_summed_by_their_rows_of_the_output_matrix,
        _finite_fill_and_zeros,
    ),
    hints=(
        "Write the shape beside each line: (..., n, d_model), (..., num_heads, n, d_head), (..., num_heads, n, n), and "
        "back. In which line do the heads appear, and where do they go?",
        "Five steps: three products with x; cut each into heads; attention as in lesson 05, which takes the axis of heads "
        "for one more leading axis; join; times W_o.",
        "`np.swapaxes((x @ W_q).reshape(*x.shape[:-1], num_heads, -1), -2, -3)` makes the queries, and the same the keys "
        "and values. After `weights @ V` swap the same two axes again, `.reshape(x.shape)`, and multiply by W_o.",
    ),
    mistakes=MISTAKES,
)
