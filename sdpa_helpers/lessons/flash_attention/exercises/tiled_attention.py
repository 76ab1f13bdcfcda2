"""Lesson 07, exercise `tiled_attention`: attention, one tile of scores at a time."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    Case,
    Example,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only_strided,
    redraw,
)
from sdpa_helpers.checking.standard_cases import one_of_each
from sdpa_helpers.lessons.flash_attention.exercises.tile_factors import (
    MISTAKES,
    attend,
    option,
    parts_of_keys,
    turned,
)

PROMPT = r"""`tiled_attention(Q, K, V, block_q, block_k, is_causal=False)`: scaled dot-product attention that holds one tile of scores at a time, as FlashAttention does.

- `Q`, shape `(..., n_q, d_k)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`.
- A tile has `block_q` queries and `block_k` keys. Neither length need be a multiple of its block, and a block may be larger than the length.
- `is_causal`: query $i$ sees the keys $j \le i$. Both are counted from the first, also where $n_q \ne n_k$ (top-left).
- Returns shape `(..., n_q, d_v)`: the same numbers as $\mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_k})\,V$. Scores can be as large as ±20,000.

Example: {example:1}. There are two tiles. After the first, the output of query 0 is final: a causal kernel never visits the second.

**The check sees the memory, too.** With 420 queries, 500 keys, `block_q` = 35, `block_k` = 50 and `is_causal=True` you may hold 160 kB at once: eleven tiles of scores, and a tenth of all of them. To measure it yourself, in a new cell:

```python
from sdpa_helpers.lessons.complexity import peak_bytes

Q, K, V = np.ones((420, 4)), np.ones((500, 4)), np.ones((500, 3))
print(peak_bytes(tiled_attention, Q, K, V, 35, 50, True) / 1e3, "kB")
```
"""


def tiled_attention(Q, K, V, block_q, block_k, is_causal=False):
    """Scaled dot-product attention, tile by tile: shape (..., n_q, d_v)."""
    out = np.empty((*Q.shape[:-1], V.shape[-1]))
    for top in range(0, Q.shape[-2], block_q):
        q = Q[..., top : top + block_q, :] / np.sqrt(Q.shape[-1])
        largest = np.full((*q.shape[:-1], 1), -np.inf)
        total = summed = 0.0
        for left in range(0, K.shape[-2], block_k):
            if is_causal and left >= top + block_q:
                break
            scores = q @ np.swapaxes(K[..., left : left + block_k, :], -1, -2)
            if is_causal:
                seen = np.tri(*scores.shape[-2:], k=top - left, dtype=bool)
                scores = np.where(seen, scores, -np.inf)
            before = largest
            largest = np.maximum(before, scores.max(axis=-1, keepdims=True))
            shrink = np.exp(before - largest)
            exponentials = np.exp(scores - largest)
            total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
            summed = summed * shrink + exponentials @ V[..., left : left + block_k, :]
        out[..., top : top + block_q, :] = summed / total
    return out


def _no_tiles(Q, K, V, block_q, block_k, is_causal=False):
    return attend(Q, K, V, is_causal)


def _rows_of_tiles(Q, K, V, block_q, block_k, is_causal=False):
    """Some queries, and all keys at once."""
    n_q = Q.shape[-2]
    seen = np.tri(n_q, K.shape[-2], dtype=bool) if is_causal else np.ones((n_q, K.shape[-2]), dtype=bool)
    parts = [
        attend(Q[..., i : i + block_q, :], K, V, seen=seen[i : i + block_q]) for i in range(0, n_q, block_q)
    ]
    return np.concatenate(parts, axis=-2)


def _tiles_averaged(Q, K, V, block_q, block_k, is_causal=False):
    return np.mean(parts_of_keys(Q, K, V, block_k, is_causal), axis=0)


def _tiles_added(Q, K, V, block_q, block_k, is_causal=False):
    return np.sum(parts_of_keys(Q, K, V, block_k, is_causal), axis=0)


def _divided_in_every_tile(Q, K, V, block_q, block_k, is_causal=False):
    """The output so far is rescaled like a sum, though it was divided already."""
    largest = np.full((*Q.shape[:-1], 1), -np.inf)
    total, out = np.zeros(largest.shape), np.zeros((*Q.shape[:-1], V.shape[-1]))
    for left in range(0, K.shape[-2], block_k):
        scores = Q @ turned(K[..., left : left + block_k, :]) / np.sqrt(Q.shape[-1])
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:], k=-left, dtype=bool), scores, -np.inf)
        before = largest
        largest = np.maximum(before, scores.max(axis=-1, keepdims=True))
        shrink, e = np.exp(before - largest), np.exp(scores - largest)
        total = total * shrink + e.sum(axis=-1, keepdims=True)
        out = (out * shrink + e @ V[..., left : left + block_k, :]) / total
    return out


def _blocks_of_the_first_axis(Q, K, V, block_q, block_k, is_causal=False):
    parts = [attend(Q[i : i + block_q], K, V, is_causal) for i in range(0, len(Q), block_q)]
    return np.concatenate(parts, axis=0)


def _like_queries(Q, K, V, block_q, block_k, is_causal=False):
    out = np.empty_like(Q)
    out[...] = attend(Q, K, V, is_causal)
    return out


def _scaled_in_place(Q, K, V, block_q, block_k, is_causal=False):
    Q /= np.sqrt(Q.shape[-1])
    return attend(Q, K, V, is_causal, scores=Q @ turned(K))


def _with_lse(Q, K, V, block_q, block_k, is_causal=False):
    scores = Q @ turned(K) / np.sqrt(Q.shape[-1])
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return attend(Q, K, V, is_causal), np.logaddexp.reduce(scores, axis=-1)


def _two_axes_only(Q, K, V, block_q, block_k, is_causal=False):
    out = np.empty((len(Q), V.shape[1]))
    out[:] = tiled_attention(Q, K, V, block_q, block_k, is_causal)
    return out


# ---- other right answers ------------------------------------------------------------------------------------


def _by_merging(Q, K, V, block_q, block_k, is_causal=False):
    """Each tile by itself, and the parts merged by their LSE; every tile is visited."""
    n_q, n_k = Q.shape[-2], K.shape[-2]
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for top in range(0, n_q, block_q):
        here = slice(top, top + block_q)
        lse = np.full(Q[..., here, 0].shape, -np.inf)
        for left in range(0, n_k, block_k):
            s = np.einsum("...id,...jd->...ij", Q[..., here, :], K[..., left : left + block_k, :])
            s = s / np.sqrt(Q.shape[-1])
            if is_causal:
                i, j = np.arange(n_q)[here, None], np.arange(left, left + s.shape[-1])
                s = np.where(j > i, -np.inf, s)
            tile = np.logaddexp.reduce(s, axis=-1)
            both = np.logaddexp(lse, tile)
            fresh = np.exp(s - both[..., None]) @ V[..., left : left + block_k, :]
            out[..., here, :] = out[..., here, :] * np.exp(lse - both)[..., None] + fresh
            lse = both
    return out


def _keys_outside(Q, K, V, block_q, block_k, is_causal=False):
    """The loops exchanged: the state of all queries is kept, and each block of keys meets them one by one."""
    n_q = Q.shape[-2]
    Q = Q * Q.shape[-1] ** -0.5
    largest = np.full((*Q.shape[:-1], 1), -1e30)
    total, summed = np.zeros(largest.shape), np.zeros((*Q.shape[:-1], V.shape[-1]))
    for left in range(0, K.shape[-2], block_k):
        first = left // block_q * block_q if is_causal else 0
        for top in range(first, n_q, block_q):
            rows = (..., slice(top, top + block_q), slice(None))
            s = Q[rows] @ turned(K[..., left : left + block_k, :])
            if is_causal:
                s += np.where(np.tri(*s.shape[-2:], k=top - left), 0.0, -np.inf)
            now = np.maximum(largest[rows], s.max(axis=-1, keepdims=True))
            shrink, e = np.exp(largest[rows] - now), np.exp(s - now)
            total[rows] = total[rows] * shrink + e.sum(axis=-1, keepdims=True)
            summed[rows] = summed[rows] * shrink + e @ V[..., left : left + block_k, :]
            largest[rows] = now
    return summed / total


# ---- cases --------------------------------------------------------------------------------------------------


def _qkv(rng, n_q, n_k, d_k, d_v, *batch):
    Q, K = 1.5 * rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))
    return Q, K, rng.normal(size=(*batch, n_k, d_v))


def _tiled(rng, sizes, block_q, block_k, *is_causal):
    """Queries, keys and values on which it shows whether sum and output are rescaled."""
    return redraw(rng, lambda rng: (*_qkv(rng, *sizes), block_q, block_k, *is_causal), _rises)


def _rises(Q, K, V, block_q, block_k, is_causal=False):
    """Whether it shows, where there are several tiles of keys."""
    inputs = Q, K, V, block_q, block_k, is_causal
    right = tiled_attention(*inputs)
    return K.shape[-2] <= block_k or all(np.abs(f(*inputs) - right).max() > 0.05 for f in NOT_RESCALED)


NOT_RESCALED = tuple(map(option, ("sum-not-rescaled", "output-not-rescaled", "nothing-rescaled")))


def _tall(rng):
    """Blocks of queries that are more than twice as long as those of keys."""
    block_q, block_k = ((5, 2), (7, 1), (7, 2), (7, 3))[rng.integers(4)]
    return _tiled(rng, (11, 8, 4, 3), block_q, block_k, True)


def _rows_far_apart(rng):
    """Scaled scores near ±1000 in some rows, near 0 in others; they rise and fall by 1900 from tile to tile."""
    Q, K, V = _qkv(rng, 7, 5, 4, 3)
    Q[1] *= 1200.0
    Q[0], Q[2], Q[4] = [2000.0, 0, 0, 0], [-2000.0, 0, 0, 0], [3000.0, 0, 0, 0]
    K[:, 0] = [0.9, 1.0, -0.95, -1.0, 1.1]
    return Q, K, V, 3, 2


def _far_below(rng):
    """All scaled scores of a query near −800, −2000 or −20,000."""

    def draw(rng):
        Q, K, V = _qkv(rng, 5, 7, 4, 3)
        Q[:, 0], K[:, 0] = np.array([-800.0, -2000, -20000, -800, -2000]) * 2, 1.0
        return Q, K, V, 2, 3, True

    return redraw(rng, draw, _rises)


def _drawn(rng, n_q, n_k, d_k, d_v):
    return _tiled(rng, (n_q, n_k, d_k, d_v), 2, 3)


EXERCISE = Exercise(
    name="tiled_attention",
    lesson="07_flash_attention",
    title="Attention, one tile at a time",
    prompt=PROMPT,
    examples=(Example(([[0]], [[1], [2]], [[3], [5]], 1, 1), (("is_causal", True),), shows="[[3]]"),),
    difficulty=4,
    minutes=25,
    reference=tiled_attention,
    section="4. The forward pass in tiles",
    cases=(
        Case(
            "tiles that fit",
            lambda rng: _tiled(rng, (6, 10, 5, 4), 3, 2),
            says="Compare with softmax(QKᵀ/√d_k)V without tiles: is each row the same?",
        ),
        Case(
            "last tiles that are smaller",
            lambda rng: _tiled(rng, (7, 11, 4, 3), 3, 4),
            points=2,
            says="Seven queries by three: 3, 3, 1. Eleven keys by four: 4, 4, 3.",
        ),
        Case(
            "one tile for everything",
            lambda rng: _tiled(rng, (5, 9, 11, 13), 20, 30),
            says="Blocks larger than both lengths: one tile.",
        ),
        Case("one score a tile", lambda rng: _tiled(rng, (3, 5, 4, 2), 1, 1)),
        Case(
            "batch and heads, strided, read-only",
            lambda rng: (*map(read_only_strided, _tiled(rng, (5, 7, 3, 4, 2, 3), 2, 3)[:3]), 2, 3),
        ),
        Case(
            "causal, square tiles",
            lambda rng: _tiled(rng, (9, 9, 5, 4), 3, 3, True),
            points=2,
            says="Query i sees the keys 0 to i, counted from the first query and the first key, not from those of the tile.",
        ),
        Case(
            "causal, more keys than queries",
            lambda rng: _tiled(rng, (5, 11, 4, 3, 2), 2, 3, True),
            says="Top-left: query 0 sees key 0 alone, and the last keys are seen by no query.",
        ),
        Case(
            "causal, more queries than keys, tall tiles",
            _tall,
            points=2,
            says="A block has more than twice as many queries as keys: the diagonal crosses several tiles side by side.",
        ),
        Case(
            "causal, wide tiles",
            lambda rng: _tiled(rng, (10, 13, 3, 4), 2, 5, True),
            says="Tiles of two queries and five keys: the diagonal stays in one for a while.",
        ),
        Case(
            "rows far apart",
            _rows_far_apart,
            points=2,
            says="Scores of ±1000: the exponential overflows unless each row's largest score so far is subtracted.",
        ),
        Case(
            "all scores far below zero",
            _far_below,
            says="Every score of a row is near −800, −2000 or −20,000. Its weights are as ordinary as near 0.",
        ),
        Case(
            "420 queries, 500 keys",
            lambda rng: (*_qkv(rng, 420, 500, 4, 3), 35, 50, True),
            points=3,
            says="A tile is 35 × 50. A row of tiles would be 35 × 500, a column 420 × 50, all scores, or a mask for them, "
            "420 × 500.",
            peak_bytes=160_000,
        ),
        Case(
            "all sizes equal",
            lambda rng: _tiled(rng, (3, 3, 3, 3, 3, 3), 3, 3),
            says="Batch, heads, queries, keys, widths and blocks are all 3: here no error tells that an axis is not the one it should "
            "be.",
        ),
        *one_of_each(_drawn, only=("n_q", "n_k", "d_k", "d_v"), n_q=5, n_k=4, d_k=3, d_v=6),
        Case(
            "a batch of one",
            lambda rng: _tiled(rng, (3, 4, 2, 5, 1), 2, 3),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "too-much-memory",
            _no_tiles,
            "The numbers are right, but far more memory is held than a few tiles need. Usual reasons: all scores at once, a "
            "row of tiles or a column of them, a mask for all scores, or every tile kept until the end.",
        ),
        WrongAnswer(
            "maximum-started-at-zero",
            option("maximum-started-at-zero"),
            "The running maximum starts at 0, so in a row of scores far below 0 it stays there: every exponential "
            "underflows, and 0/0 is left. Start at −∞.",
        ),
        WrongAnswer(
            "sum-not-rescaled",
            option("sum-not-rescaled"),
            "When a tile brings a larger score, the output is rescaled and the sum is not. Both were made with the old "
            "maximum: multiply both by exp(old − new).",
        ),
        WrongAnswer(
            "output-not-rescaled",
            option("output-not-rescaled"),
            "When a tile brings a larger score, the sum is rescaled and the output so far is not. Both were made with the "
            "old maximum: multiply both by exp(old − new).",
        ),
        WrongAnswer(
            "nothing-rescaled",
            option("nothing-rescaled"),
            "When a tile brings a larger score, nothing is rescaled. The sum and the output so far were made with the old "
            "maximum: multiply both by exp(old − new).",
        ),
        WrongAnswer(
            "rescaled-the-wrong-way",
            option("rescaled-the-wrong-way"),
            "You rescale by exp(new − old), which makes sum and output grow. The new maximum is larger, so what was summed "
            "up has to shrink: exp(old − new).",
        ),
        WrongAnswer(
            "sum-rescaled-the-wrong-way",
            option("sum-rescaled-the-wrong-way"),
            "You rescale the sum by exp(new − old). The new maximum is larger, so the sum has to shrink: exp(old − new).",
        ),
        WrongAnswer(
            "output-rescaled-the-wrong-way",
            option("output-rescaled-the-wrong-way"),
            "You rescale the output by exp(new − old). The new maximum is larger, so the output so far has to shrink: "
            "exp(old − new).",
        ),
        WrongAnswer(
            "sum-of-the-last-tile-only",
            option("sum-of-the-last-tile-only"),
            "You divide by the sum of the last tile alone: every tile overwrites the sum of those before it.",
        ),
        WrongAnswer(
            "output-of-the-last-tile-only",
            option("output-of-the-last-tile-only"),
            "The values of the last tile alone are left: every tile overwrites what was summed up before.",
        ),
        WrongAnswer(
            "last-tile-of-keys-only",
            option("last-tile-of-keys-only"),
            "Every tile of keys overwrites the result of the one before: each query has seen the last tile only.",
        ),
        WrongAnswer(
            "divided-in-every-tile",
            _divided_in_every_tile,
            "You divide in every tile, and what was divided is then rescaled and divided again. Keep the sum of "
            "exponential × value undivided, and divide once, after the last tile.",
        ),
        WrongAnswer(
            "not-divided",
            option("not-divided"),
            "The output is not divided by the sum of the exponentials. Divide once, after the last tile of keys.",
        ),
        WrongAnswer(
            "tiles-averaged",
            _tiles_averaged,
            "Each block of keys has a softmax of its own, and you averaged. A block with larger scores has to count for "
            "more: one sum has to run through all of them.",
        ),
        WrongAnswer(
            "tiles-added",
            _tiles_added,
            "Each block of keys has a softmax of its own, and you added: the weights of a row add up to the number of "
            "blocks. One sum has to run through all of them.",
        ),
        WrongAnswer(
            "last-keys-dropped",
            option("last-keys-dropped"),
            "The last, smaller block of keys is left out: `n_k // block_k` counts full blocks only.",
        ),
        WrongAnswer(
            "last-queries-left-zero",
            option("last-queries-left-zero"),
            "The rows of the last, smaller block of queries were never filled: `n_q // block_q` counts full blocks only.",
        ),
        WrongAnswer(
            "last-queries-dropped",
            lambda Q, K, V, block_q, block_k, is_causal=False: tiled_attention(
                Q[..., : Q.shape[-2] // block_q * block_q, :], K, V, block_q, block_k, is_causal
            ),
            "The last, smaller block of queries is missing: your output has fewer rows than there are queries.",
        ),
        WrongAnswer(
            "is-causal-ignored",
            option("is-causal-ignored"),
            "`is_causal` is not used: with it, query i may see the keys 0 to i only.",
        ),
        WrongAnswer(
            "always-causal",
            lambda Q, K, V, block_q, block_k, is_causal=False: tiled_attention(
                Q, K, V, block_q, block_k, True
            ),
            "You hide later keys in any case. Without `is_causal` every query sees every key.",
        ),
        WrongAnswer(
            "mask-forgets-the-tile",
            option("mask-forgets-the-tile"),
            "Every tile gets the same triangle, counted from its own corner. Whether query i sees key j depends on where "
            "the tile lies: compare left + column with top + row.",
        ),
        WrongAnswer(
            "query-offset-forgotten",
            option("query-offset-forgotten"),
            "The mask counts the queries from the first of the tile. Add `top` to the row's number.",
        ),
        WrongAnswer(
            "key-offset-forgotten",
            option("key-offset-forgotten"),
            "The mask counts the keys from the first of the tile. Add `left` to the column's number.",
        ),
        WrongAnswer(
            "own-key-hidden",
            option("own-key-hidden"),
            "Query i may see key i, too: j ≤ i. With j < i query 0 sees nothing, and 0/0 is NaN.",
        ),
        WrongAnswer(
            "one-key-too-many",
            option("one-key-too-many"),
            "Query i sees key i + 1 as well: the condition is j ≤ i.",
        ),
        WrongAnswer(
            "no-mask-in-the-tile",
            option("no-mask-in-the-tile"),
            "You skip the tiles that no query of a block may see, and have no mask in those that the diagonal crosses: there "
            "queries see keys that come after them.",
        ),
        WrongAnswer(
            "mask-inverted",
            option("mask-inverted"),
            "The mask is inverted: with `is_causal` query i sees the keys up to i, and you show it those from i onward.",
        ),
        WrongAnswer(
            "aligned-lower-right",
            option("aligned-lower-right"),
            "Your diagonal ends in the lower right corner. It starts in the upper left one: query i sees the keys 0 to i, "
            "also where there are more keys than queries, or fewer.",
        ),
        WrongAnswer(
            "tile-on-the-diagonal-skipped",
            option("tile-on-the-diagonal-skipped"),
            "You skip tiles that the diagonal crosses: those whose first key comes after the first query of the block. The "
            "last query of the block sees further. A tile may be skipped where its first key comes after that one.",
        ),
        WrongAnswer(
            "tiles-before-the-diagonal-only",
            option("tiles-before-the-diagonal-only"),
            "With `is_causal` you visit only tiles whose keys all come before the first query. The tiles that the diagonal "
            "crosses have to be visited, too, with a mask.",
        ),
        WrongAnswer(
            "queries-counted-by-block-k",
            option("queries-counted-by-block-k"),
            "You stop as if a block of queries were as long as a block of keys. The block ends before `top + block_q`: a tile "
            "may be skipped where its first key is `top + block_q` or later, whatever `block_k` is.",
        ),
        WrongAnswer(
            "mask-left-out-too-early",
            option("mask-left-out-too-early"),
            "You leave the mask out of tiles that the diagonal still crosses. Every query of the block sees the whole tile only "
            "where its last key, `left + block_k - 1`, is `top` or earlier.",
        ),
        WrongAnswer(
            "hidden-scores-zero",
            option("hidden-scores-zero"),
            "You set hidden scores to 0, and a score of 0 has the exponential 1: later keys get weight. Set them to −∞.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            option("no-maximum-subtracted"),
            "Scores near 1000 overflow the exponential. Subtract each row's largest score so far.",
        ),
        WrongAnswer(
            "one-maximum-per-tile",
            option("one-maximum-per-tile"),
            "The whole tile shares one maximum. A row far below it has exponentials of 0 only. Each query needs its own: "
            "`axis=-1, keepdims=True`.",
        ),
        WrongAnswer(
            "maximum-of-this-tile-only",
            option("maximum-of-this-tile-only"),
            "You took the maximum of each tile alone. Where a row is hidden in a tile, or lies far lower than before, what "
            "was summed up is lost or overflows. Keep the larger: `np.maximum(before, …)`.",
        ),
        WrongAnswer("no-scaling", option("no-scaling"), "The scale is missing: divide the scores by √d_k."),
        WrongAnswer("scaled-by-d-k", option("scaled-by-d-k"), "You divided by d_k; it is its square root."),
        WrongAnswer(
            "multiplied-by-root-d-k",
            option("multiplied-by-root-d-k"),
            "You multiplied by √d_k where you have to divide.",
        ),
        WrongAnswer(
            "scaled-by-d-v",
            option("scaled-by-d-v"),
            "You divided by √d_v. The scores are sums over d_k coordinates.",
        ),
        WrongAnswer(
            "scaled-by-block",
            option("scaled-by-block"),
            "You divided by the root of the number of keys in the tile. It is √d_k, the width of a key.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            lambda Q, K, V, block_q, block_k, is_causal=False: attend(Q, K, V, is_causal, axis=-2),
            "Softmax runs over the queries. It has to run over the keys, the last axis, so that each query's weights add up "
            "to 1.",
        ),
        WrongAnswer(
            "keys-for-values",
            lambda Q, K, V, block_q, block_k, is_causal=False: attend(Q, K, K, is_causal),
            "You blended the keys. The weights belong to V.",
        ),
        WrongAnswer(
            "blocks-of-the-first-axis",
            _blocks_of_the_first_axis,
            "You cut the first axis, which is the batch as soon as there is one. The queries are the second axis from the "
            "end: `Q[..., i : i + block_q, :]`.",
        ),
        WrongAnswer(
            "output-shaped-like-queries",
            _like_queries,
            "You made the output in the shape of Q. Its last axis is d_v, the width of the values, not d_k.",
        ),
        WrongAnswer(
            "two-axes-only",
            _two_axes_only,
            "This works for two axes only: `len(Q)`, `K.T` or `V.shape[1]` are something else when there is a batch in "
            "front.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            option("all-axes-transposed"),
            "`.T` reverses all axes, also those of the batch. Swap only the last two.",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            option("reshaped-not-transposed"),
            "You reshaped the keys where they have to be transposed: the rows are then no longer keys.",
        ),
        WrongAnswer(
            "scores-clipped",
            option("scores-clipped"),
            "You clipped the scores to keep the exponential from overflowing. That changes the weights; subtract each row's "
            "largest score instead.",
        ),
        WrongAnswer(
            "tuple-not-array",
            _with_lse,
            "You returned the LSE as well. Kernels do that for the backward pass; here only the output is wanted.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scaled_in_place,
            "Your function writes into the caller's array. Make a new array: no `+=`, `/=`, `out=` or `x[...] =` on an "
            "argument.",
        ),
    ),
    also_right=(_by_merging, _keys_outside),
    hints=(
        "Two loops, queries outside and keys inside. What does a block of queries have to remember from one tile of keys to "
        "the next?",
        "For each query three things: the largest score so far, the sum of the exponentials, and the sum of exponential × "
        "value. When the largest grows, both sums shrink by exp(old − new). Divide after the last tile.",
        "As `online_softmax`, with the axis of the keys kept (`keepdims=True`) and `summed = summed * shrink + exponentials @ V[..., left : left + block_k, :]` beside the "
        "sum. The mask of a tile is `np.tri(rows, columns, k=top - left, dtype=bool)`.",
    ),
    invariants=(
        Invariant(
            "outside-the-values",
            "At least one number lies outside the range of its column of V, which no weighted average can.",
            lambda inputs, out: bool(
                np.all(out <= inputs[2].max(axis=-2, keepdims=True) + 1e-9)
                and np.all(out >= inputs[2].min(axis=-2, keepdims=True) - 1e-9)
            ),
        ),
    ),
    mistakes=MISTAKES,
    spared=(
        (
            "for left in range(0, K.shape[-2], block_k): → for left in range(0, V.shape[-2], block_k):",
            "there is a value for each key: both have the same length",
        ),
    ),
)
