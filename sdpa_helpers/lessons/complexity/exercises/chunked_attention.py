"""Lesson 06, exercise `chunked_attention`: attention, a few queries at a time."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.ready_made import COURSE_SOFTMAX, READY_ATTENTION
from sdpa_helpers.checking.standard_cases import one_of_each

PROMPT = r"""`chunked_attention(Q, K, V, chunk)`: scaled dot-product attention that never holds more than `chunk` × `n_k` scores at once (for each batch entry and head).

- `Q`, shape `(..., n_q, d_k)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`.
- `chunk`: how many queries you take at a time. `n_q` need not be a multiple of it, and `chunk` may be larger than `n_q`.
- Returns shape `(..., n_q, d_v)`: $\mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_k})\,V$, no mask, the same numbers as without chunks.
- Scores can be as large as ±1000: subtract the maximum of each row.

Example: {example:1}. You make two small matrices of scores, one with 2 rows and one with 1.

**The check sees the memory, too.** With 2000 queries, 1000 keys and `chunk` = 5 you may hold 1.6 MB at once: some five times what is needed, and a tenth of the 16 MB that all scores take. To measure it yourself, in a new cell:

```python
from sdpa_helpers.lessons.complexity import peak_bytes

Q, K, V = (np.ones((n, 9)) for n in (2000, 1000, 1000))
print(peak_bytes(chunked_attention, Q, K, V, 5) / 1e6, "MB")
```
"""


def chunked_attention(Q, K, V, chunk):
    """Scaled dot-product attention, `chunk` queries at a time: shape (..., n_q, d_v)."""
    out = np.empty((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for i in range(0, Q.shape[-2], chunk):
        scores = Q[..., i : i + chunk, :] @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[..., i : i + chunk, :] = weights @ V / weights.sum(axis=-1, keepdims=True)
    return out


def _attend(Q, K, V, *, scale=None, axis=-1, row_max=True):
    """Attention with its usual mistakes at hand."""
    scores = Q @ np.swapaxes(K, -1, -2) * (Q.shape[-1] ** -0.5 if scale is None else scale)
    if row_max:
        scores = scores - scores.max(axis=axis, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=axis, keepdims=True) @ V


def _in_chunks(attend):
    """`attend` for a few queries at a time."""

    def chunked(Q, K, V, chunk):
        parts = [attend(Q[..., i : i + chunk, :], K, V) for i in range(0, Q.shape[-2], chunk)]
        return np.concatenate(parts, axis=-2)

    return chunked


def _key_blocks(Q, K, V, chunk):
    return [
        _attend(Q, K[..., j : j + chunk, :], V[..., j : j + chunk, :]) for j in range(0, K.shape[-2], chunk)
    ]


def _sums_not_rescaled(Q, K, V, chunk):
    """Online softmax over blocks of keys, but the old sums keep their old maximum."""
    top = np.full((*Q.shape[:-1], 1), -np.inf)
    total, out = np.zeros_like(top), np.zeros((*Q.shape[:-1], V.shape[-1]))
    for j in range(0, K.shape[-2], chunk):
        scores = Q @ np.swapaxes(K[..., j : j + chunk, :], -1, -2) / np.sqrt(Q.shape[-1])
        top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - top)
        total, out = total + e.sum(axis=-1, keepdims=True), out + e @ V[..., j : j + chunk, :]
    return out / total


def _only_full_chunks(Q, K, V, chunk):
    stops = range(0, Q.shape[-2] - chunk + 1, chunk)
    parts = [_attend(Q[..., i : i + chunk, :], K, V) for i in stops]
    return np.concatenate(parts or [np.zeros((*Q.shape[:-2], 0, V.shape[-1]))], axis=-2)


def _last_rows_left_zero(Q, K, V, chunk):
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for c in range(Q.shape[-2] // chunk):
        rows = slice(c * chunk, (c + 1) * chunk)
        out[..., rows, :] = _attend(Q[..., rows, :], K, V)
    return out


def _padded_and_not_cut(Q, K, V, chunk):
    missing = -Q.shape[-2] % chunk
    padded = np.concatenate([Q, np.zeros((*Q.shape[:-2], missing, Q.shape[-1]))], axis=-2)
    return _in_chunks(_attend)(padded, K, V, chunk)


def _off_by_one(Q, K, V, chunk):
    stops = range(0, Q.shape[-2], chunk)
    return np.concatenate([_attend(Q[..., i : i + chunk + 1, :], K, V) for i in stops], axis=-2)


def _first_axis(Q, K, V, chunk):
    parts = [
        _attend(Q[i : i + chunk], K[i : i + chunk], V[i : i + chunk]) for i in range(0, Q.shape[0], chunk)
    ]
    return np.concatenate(parts, axis=0)


def _queries_on_first_axis(Q, K, V, chunk):
    return np.concatenate([_attend(Q[i : i + chunk], K, V) for i in range(0, Q.shape[0], chunk)], axis=0)


def _joined_on_first_axis(Q, K, V, chunk):
    stops = range(0, Q.shape[-2], chunk)
    return np.concatenate([_attend(Q[..., i : i + chunk, :], K, V) for i in stops], axis=0)


def _own_block_only(Q, K, V, chunk):
    parts = []
    for i in range(0, Q.shape[-2], chunk):
        j = min(i, max(K.shape[-2] - chunk, 0))
        parts.append(_attend(Q[..., i : i + chunk, :], K[..., j : j + chunk, :], V[..., j : j + chunk, :]))
    return np.concatenate(parts, axis=-2)


def _clipped(Q, K, V):
    e = np.exp(np.clip(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), -50, 50))
    return e / e.sum(axis=-1, keepdims=True) @ V


def _unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _causal(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def _softmax_over_chunk(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
    return e / e.sum(axis=(-2, -1), keepdims=True) @ V


def _one_maximum_per_chunk(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True) @ V


def _output_shaped_like_queries(Q, K, V, chunk):
    out = np.empty_like(Q)
    for i in range(0, Q.shape[-2], chunk):
        out[..., i : i + chunk, :] = _attend(Q[..., i : i + chunk, :], K, V)
    return out


def _two_axes_only(Q, K, V, chunk):
    out = np.empty((len(Q), V.shape[1]))
    for i in range(0, len(Q), chunk):
        out[i : i + chunk] = _attend(Q[i : i + chunk], K, V)
    return out


def _scaling_in_place(Q, K, V, chunk):
    Q /= np.sqrt(Q.shape[-1])
    return _in_chunks(lambda q, k, v: _attend(q, k, v, scale=1.0))(Q, K, V, chunk)


def _one_query_at_a_time(Q, K, V, chunk):
    rows = [_attend(Q[..., i : i + 1, :], K, V) for i in range(Q.shape[-2])]
    return np.concatenate(rows, axis=-2)


def _last_chunk_moved_back(Q, K, V, chunk):
    n_q = Q.shape[-2]
    out = np.empty((*Q.shape[:-1], V.shape[-1]))
    for i in range(0, n_q, chunk):
        rows = slice(max(0, min(i, n_q - chunk)), min(i + chunk, n_q))
        out[..., rows, :] = _attend(Q[..., rows, :], K, V)
    return out


def _by_einsum(Q, K, V, chunk):
    parts = []
    for i in range(0, Q.shape[-2], chunk):
        s = np.einsum("...id,...jd->...ij", Q[..., i : i + chunk, :] / np.sqrt(Q.shape[-1]), K)
        e = np.exp(s - s.max(-1, keepdims=True))
        parts.append(np.einsum("...ij,...jv->...iv", e / e.sum(-1, keepdims=True), V))
    return np.concatenate(parts, axis=-2)


def _padded_and_cut(Q, K, V, chunk):
    return _padded_and_not_cut(Q, K, V, chunk)[..., : Q.shape[-2], :]


def _qkv(rng, n_q, n_k, d_k, d_v, *batch):
    Q, K = rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))
    return Q, K, rng.normal(size=(*batch, n_k, d_v))


def _drawn(rng, n_q, n_k, d_k, d_v):
    return *_qkv(rng, n_q, n_k, d_k, d_v), 2


def _rows_far_apart(rng):
    """Scores near ±1000 in some rows and near 0 in others; the row's own maximum is needed."""
    Q, K, V = _qkv(rng, 7, 5, 4, 3)
    Q[[1, 4]] *= 1200.0
    Q[0] = [2000.0, 0, 0, 0]
    Q[2] = [-2000.0, 0, 0, 0]
    K[:, 0] = [1.0, 0.9, 1.1, 0.95, 1.05]
    return Q, K, V, 3


def _strided_batch(rng):
    views = [strided(x) for x in _qkv(rng, 5, 7, 3, 4, 2, 3)]
    for view in views:
        view.flags.writeable = False
    return *views, 2


def _unnormalised(Q, K):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


def _weights(Q, K, scale, axis, maximum, divided):
    scores = Q @ np.swapaxes(K, -1, -2) * scale(Q, K)
    e = np.exp(scores - maximum(scores, axis))
    return e / e.sum(axis=axis, keepdims=True) if divided else e


def _build(scale, axis, maximum, divided, cut):
    def attend(Q, K, V):
        width = (lambda Q, K: V.shape[-1] ** -0.5) if scale is None else scale
        return _weights(Q, K, width, axis, maximum, divided) @ V

    return lambda Q, K, V, chunk: cut(attend, Q, K, V, chunk)


def _parts(attend, Q, K, V, chunk):
    return [attend(Q[..., i : i + chunk, :], K, V) for i in range(0, Q.shape[-2], chunk)]


def _chunks(attend, Q, K, V, chunk):
    return np.concatenate(_parts(attend, Q, K, V, chunk), axis=-2)


def _full_chunks(attend, Q, K, V, chunk):
    full = Q.shape[-2] // chunk * chunk
    parts = _parts(attend, Q[..., :full, :], K, V, chunk)
    return np.concatenate(parts or [np.zeros((*Q.shape[:-2], 0, V.shape[-1]))], axis=-2)


def _full_chunks_in_zeros(attend, Q, K, V, chunk):
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    done = _full_chunks(attend, Q, K, V, chunk)
    out[..., : done.shape[-2], :] = done
    return out


def _blocks(attend, Q, K, V, chunk):
    stops = range(0, K.shape[-2], chunk)
    return [attend(Q, K[..., j : j + chunk, :], V[..., j : j + chunk, :]) for j in stops]


def _like_queries(attend, Q, K, V, chunk):
    out = np.empty_like(Q)
    for i in range(0, Q.shape[-2], chunk):
        out[..., i : i + chunk, :] = attend(Q[..., i : i + chunk, :], K, V)
    return out


def _matrices_only(attend, Q, K, V, chunk):
    out = np.empty((len(Q), V.shape[1]))
    for i in range(0, len(Q), chunk):
        out[i : i + chunk] = attend(Q[i : i + chunk], K, V)
    return out


def _keys_cut_alike(attend, Q, K, V, chunk):
    stops = range(0, Q.shape[-2], chunk)
    rows = [(..., slice(i, i + chunk), slice(None)) for i in stops]
    return np.concatenate([attend(Q[at], K[at], V[at]) for at in rows], axis=-2)


def _reshaped(attend, Q, K, V, chunk):
    parts = Q.reshape(*Q.shape[:-2], -1, chunk, Q.shape[-1])
    out = attend(parts, K[..., None, :, :], V[..., None, :, :])
    return out.reshape(*Q.shape[:-1], V.shape[-1])


LIST_OF_CHUNKS = (
    "You returned the chunks one by one. Join them along the queries: `np.concatenate(parts, axis=-2)`."
)
CUTS = {
    "last-chunk-dropped": _full_chunks,
    "last-rows-left-zero": _full_chunks_in_zeros,
    "blocks-of-keys-averaged": lambda attend, *given: np.mean(_blocks(attend, *given), axis=0),
    "blocks-of-keys-added": lambda attend, *given: np.sum(_blocks(attend, *given), axis=0),
    "last-block-of-keys-only": lambda attend, *given: _blocks(attend, *given)[-1],
    "own-block-only": _keys_cut_alike,
    "joined-on-first-axis": lambda attend, *given: np.concatenate(_parts(attend, *given), axis=0),
    "first-chunk-only": lambda attend, *given: _parts(attend, *given)[0],
    "last-chunk-only": lambda attend, *given: _parts(attend, *given)[-1],
    "output-shaped-like-queries": _like_queries,
    "two-axes-only": _matrices_only,
    "list-of-chunks": _parts,
    "equal-parts-only": _reshaped,
}
MISTAKES = Products(
    (
        Factor(
            "scale",
            lambda Q, K: Q.shape[-1] ** -0.5,
            (
                Option("no-scaling", lambda Q, K: 1.0),
                Option("scaled-by-d-k", lambda Q, K: 1 / Q.shape[-1]),
                Option("multiplied-by-root-d-k", lambda Q, K: Q.shape[-1] ** 0.5),
                Option("scaled-by-d-v", None),
                Option("scaled-by-length", lambda Q, K: K.shape[-2] ** -0.5),
                Option("scaled-by-chunk", lambda Q, K: Q.shape[-2] ** -0.5),
            ),
        ),
        Factor(
            "maximum",
            lambda scores, axis: scores.max(axis=axis, keepdims=True),
            (
                Option("no-maximum-subtracted", lambda scores, axis: 0.0),
                Option("one-maximum-per-chunk", lambda scores, axis: scores.max()),
            ),
        ),
        Factor(
            "cut",
            _chunks,
            tuple(Option(name, cut, LIST_OF_CHUNKS if cut is _parts else "") for name, cut in CUTS.items()),
        ),
        Factor(
            "axis",
            -1,
            (
                Option("softmax-over-queries", -2),
                Option("softmax-over-whole-chunk", (-2, -1)),
                Option("softmax-axis-counted-from-the-front", 1),
            ),
        ),
        Factor("divided", True, (Option("not-normalised", False),)),
    ),
    _build,
)


EXERCISE = Exercise(
    name="chunked_attention",
    lesson="06_complexity",
    title="Attention, a few queries at a time",
    prompt=PROMPT,
    examples=(Example(([[0], [1000], [-1000]], [[1], [-1]], [[1], [3]], 2)),),
    difficulty=3,
    minutes=20,
    reference=chunked_attention,
    section="3. The matrix of scores",
    cases=(
        Case(
            "chunks that fit",
            lambda rng: (*_qkv(rng, 6, 5, 3, 4), 2),
            says="Compare with softmax(QKᵀ/√d_k)V without chunks: is each row the same?",
        ),
        Case(
            "a last chunk that is smaller",
            lambda rng: (*_qkv(rng, 7, 5, 4, 3), 3),
            points=2,
            says="Seven queries in chunks of three: 3, 3 and 1.",
        ),
        Case(
            "one chunk for everything",
            lambda rng: (*_qkv(rng, 5, 9, 6, 2), 20),
            says="A chunk larger than n_q takes all queries at once.",
        ),
        Case("a batch", lambda rng: (*_qkv(rng, 9, 7, 3, 6, 5), 4), points=2),
        Case("batch and heads, strided, read-only", _strided_batch),
        Case(
            "rows far apart",
            _rows_far_apart,
            points=2,
            says="Scores of ±1000: the exponential overflows unless each row's own maximum is subtracted.",
        ),
        Case(
            "many queries",
            lambda rng: (*_qkv(rng, 211, 37, 5, 3), 17),
            says="Twelve full chunks of 17 and a last one of 7.",
        ),
        Case(
            "two thousand queries, five at a time",
            lambda rng: (*_qkv(rng, 2000, 1000, 9, 10), 5),
            points=3,
            says="5 × 1000 scores are enough at once. All scores are 2000 × 1000, and with chunk taken for the NUMBER of "
            "chunks it would be 400 × 1000.",
            peak_bytes=1_600_000,
        ),
        Case(
            "all sizes equal",
            lambda rng: (*_qkv(rng, 3, 3, 3, 3, 3, 3), 1),
            says="Batch, heads, queries, keys and widths are all 3: here no error tells that an axis is not the one it should "
            "be.",
        ),
        *one_of_each(_drawn, only=("n_q", "n_k", "d_k", "d_v"), n_q=5, n_k=4, d_k=3, d_v=6),
        Case(
            "a batch of one",
            lambda rng: (*_qkv(rng, 3, 4, 2, 5, 1), 2),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "too-much-memory",
            lambda Q, K, V, chunk: _attend(Q, K, V),
            "The numbers are right, but far more memory is held at once than chunk × n_k scores need. Usual reasons: "
            "all scores are computed at once (cut later, or never), `chunk` is taken for the number of chunks, or "
            "every chunk's scores or weights are kept.",
        ),
        WrongAnswer(
            "last-chunk-dropped",
            _only_full_chunks,
            "The last, smaller chunk is missing: your output has fewer rows than there are queries.",
            ("How many queries are left after the last full chunk?",),
        ),
        WrongAnswer(
            "last-rows-left-zero",
            _last_rows_left_zero,
            "The rows of the last, smaller chunk were never filled: `n_q // chunk` counts full chunks only.",
        ),
        WrongAnswer(
            "padded-and-not-cut",
            _padded_and_not_cut,
            "You filled the last chunk up with empty queries and left their rows in the output. Cut "
            "them off again.",
        ),
        WrongAnswer(
            "chunks-overlap",
            _off_by_one,
            "Neighbouring chunks share a query: the end of a slice is exclusive, `i + chunk` and not "
            "`i + chunk + 1`.",
        ),
        WrongAnswer(
            "blocks-of-keys-averaged",
            lambda Q, K, V, chunk: np.mean(_key_blocks(Q, K, V, chunk), axis=0),
            "You cut the keys, gave each block its own softmax, and averaged. A row's weights have to share one sum "
            "over ALL keys. Cut the queries instead.",
            ("Which axis can be cut without touching the sum of softmax?",),
        ),
        WrongAnswer(
            "blocks-of-keys-added",
            lambda Q, K, V, chunk: np.sum(_key_blocks(Q, K, V, chunk), axis=0),
            "You cut the keys, gave each block its own softmax, and added the results: the weights of a row then add "
            "up to the number of blocks. Cut the queries instead.",
        ),
        WrongAnswer(
            "last-block-of-keys-only",
            lambda Q, K, V, chunk: _key_blocks(Q, K, V, chunk)[-1],
            "Every block of keys overwrites the result of the one before: only the last block is "
            "left. Cut the queries instead.",
        ),
        WrongAnswer(
            "sum-not-rescaled",
            _sums_not_rescaled,
            "You went through blocks of keys with a running maximum, and did not rescale the earlier sums when it "
            "rose. (And then n_q × chunk scores are held, not chunk × n_k.)",
        ),
        WrongAnswer(
            "own-block-only",
            _own_block_only,
            "Each chunk of queries saw only the keys of its own chunk. Every query has to meet all n_k keys.",
        ),
        WrongAnswer(
            "queries-cut-on-first-axis",
            _queries_on_first_axis,
            "You cut the first axis, which is the batch as soon as there is one. The queries are the second axis "
            "from the end: `Q[..., i : i + chunk, :]`.",
        ),
        WrongAnswer(
            "all-cut-on-first-axis",
            _first_axis,
            "You cut Q, K and V along the first axis. Without a batch that pairs each chunk of queries with a chunk "
            "of keys; cut only Q, along its second axis from the end.",
        ),
        WrongAnswer(
            "joined-on-first-axis",
            _joined_on_first_axis,
            "The chunks are right but joined along the first axis, which is the batch. Join along "
            "the queries, `axis=-2`.",
        ),
        WrongAnswer(
            "two-axes-only",
            _two_axes_only,
            "This works for two axes only: `len(Q)`, `K.T` or `V.shape[1]` are something else when there is a batch "
            "in front.",
        ),
        WrongAnswer(
            "output-shaped-like-queries",
            _output_shaped_like_queries,
            "You made the output in the shape of Q. Its last axis is d_v, the width of the values, not d_k.",
        ),
        WrongAnswer(
            "features-cut",
            lambda Q, K, V, chunk: _attend(Q[..., :chunk], K[..., :chunk], V),
            "You cut the features: part of each query and key is left out. Cut along the queries.",
        ),
        WrongAnswer(
            "no-scaling",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=1.0)),
            "The scale is missing: divide the scores by √d_k.",
        ),
        WrongAnswer(
            "scaled-by-d-k",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=1 / Q.shape[-1])),
            "You divided by d_k; it is its square root.",
        ),
        WrongAnswer(
            "multiplied-by-root-d-k",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=Q.shape[-1] ** 0.5)),
            "You multiplied by √d_k where you have to divide.",
        ),
        WrongAnswer(
            "scaled-by-d-v",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=V.shape[-1] ** -0.5)),
            "You divided by √d_v. The scores are sums over d_k coordinates.",
        ),
        WrongAnswer(
            "scaled-by-length",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=K.shape[-2] ** -0.5)),
            "You divided by √n_k, the number of keys. It is √d_k, the width of a key.",
        ),
        WrongAnswer(
            "scaled-by-chunk",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, scale=Q.shape[-2] ** -0.5)),
            "You divided by the root of the number of queries in the chunk. It is √d_k, the last axis.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, axis=-2)),
            "Softmax runs over the queries of the chunk. It has to run over the keys, the last axis, so that each "
            "query's weights add up to 1.",
        ),
        WrongAnswer(
            "softmax-over-whole-chunk",
            _in_chunks(_softmax_over_chunk),
            "Softmax runs over the whole chunk at once. Each query has its own row, and each row adds up to 1.",
        ),
        WrongAnswer(
            "no-softmax",
            _in_chunks(lambda Q, K, V: Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]) @ V),
            "Softmax is missing: these are scores times values.",
        ),
        WrongAnswer(
            "not-normalised",
            _in_chunks(lambda Q, K, V: _unnormalised(Q, K) @ V),
            "The exponentials were not divided by their sum: the weights of a row do not add up to 1.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, row_max=False)),
            "Scores near 1000 overflow the exponential. Subtract each row's maximum first.",
        ),
        WrongAnswer(
            "one-maximum-per-chunk",
            _in_chunks(_one_maximum_per_chunk),
            "You subtracted one maximum from the whole chunk. A row far below it then has only zeros, and 0/0. "
            "Every row needs its own.",
        ),
        WrongAnswer(
            "hard-lookup",
            _in_chunks(
                lambda Q, K, V: np.take_along_axis(
                    V, (Q @ np.swapaxes(K, -1, -2)).argmax(axis=-1)[..., None], axis=-2
                )
            ),
            "Every query got the one value with the highest score. Attention blends all values.",
        ),
        WrongAnswer(
            "average-of-values",
            _in_chunks(lambda Q, K, V: 0 * Q[..., :1] + V.mean(axis=-2, keepdims=True)),
            "Every query got the plain average of the values: the scores are not used.",
        ),
        WrongAnswer(
            "causal-mask-inside",
            lambda Q, K, V, chunk: _causal(Q, K, V),
            "You hid later keys. There is no mask here: every query sees every key.",
        ),
        WrongAnswer(
            "causal-mask-in-each-chunk",
            _in_chunks(_causal),
            "You hid later keys, and counted them from the start of each chunk. There is no mask here.",
        ),
        WrongAnswer(
            "keys-for-values",
            _in_chunks(lambda Q, K, V: _attend(Q, K, K)),
            "You blended the keys. The weights belong to V.",
        ),
        WrongAnswer(
            "float32-somewhere",
            _in_chunks(
                lambda Q, K, V: _attend(*(x.astype(np.float32) for x in (Q, K, V))).astype(np.float64)
            ),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype "
            "you were given.",
            clue="float32",
        ),
        WrongAnswer(
            "all-axes-transposed",
            _in_chunks(lambda Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[-1])) @ V),
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            _in_chunks(
                lambda Q, K, V: (
                    softmax(Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]) / np.sqrt(Q.shape[-1])) @ V
                )
            ),
            "You reshaped K where it has to be transposed: the rows are then no longer keys.",
        ),
        WrongAnswer(
            "first-chunk-only",
            lambda Q, K, V, chunk: _attend(Q[..., :chunk, :], K, V),
            "Only the first chunk came back: is the `return` inside the loop?",
        ),
        WrongAnswer(
            "last-chunk-only",
            lambda Q, K, V, chunk: _attend(Q[..., (Q.shape[-2] - 1) // chunk * chunk :, :], K, V),
            "Only the last chunk came back: every turn of the loop overwrites the one before.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            lambda Q, K, V, chunk: _in_chunks(_attend)(K, Q, V, chunk),
            "Queries and keys are swapped: you cut the keys, and each row belongs to a key.",
        ),
        WrongAnswer(
            "values-returned",
            lambda Q, K, V, chunk: V + 0.0,
            "You returned the values as they came: nothing was attended to.",
        ),
        WrongAnswer(
            "weights-returned",
            _in_chunks(lambda Q, K, V: softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))),
            "You returned the weights. Multiply them with V.",
        ),
        WrongAnswer(
            "tuple-not-array",
            lambda Q, K, V, chunk: (
                _in_chunks(_attend)(Q, K, V, chunk),
                softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])),
            ),
            "You returned the weights as well: then all scores are in memory after all. Return "
            "only the output.",
        ),
        WrongAnswer(
            "sigmoid-not-softmax",
            _in_chunks(
                lambda Q, K, V: 1 / (1 + np.exp(-Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))) @ V
            ),
            "You used a sigmoid, which weighs each key on its own. Softmax makes a row add up to 1.",
        ),
        WrongAnswer(
            "cosine-not-dot",
            _in_chunks(lambda Q, K, V: _attend(_unit(Q), _unit(K), V, scale=1.0)),
            "You divided the lengths of queries and keys away. The scores are dot products over √d_k.",
        ),
        WrongAnswer(
            "softmax-axis-counted-from-the-front",
            _in_chunks(lambda Q, K, V: _attend(Q, K, V, axis=1)),
            "Softmax runs over axis 1. That is the axis of the keys only when there is no batch: use axis=-1.",
        ),
        WrongAnswer(
            "chunk-axis-counted-from-the-front",
            lambda Q, K, V, chunk: (
                _in_chunks(_attend)(Q, K, V, chunk)
                if Q.ndim == 3
                else np.concatenate(
                    [_attend(Q[:, i : i + chunk], K, V) for i in range(0, Q.shape[1], chunk)], axis=1
                )
            ),
            "You cut axis 1. That is the axis of the queries only when there is exactly one axis in front: use "
            "`Q[..., i : i + chunk, :]`.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            _in_chunks(
                lambda Q, K, V: _attend(*(x.astype(np.float16) for x in (Q, K, V))).astype(np.float64)
            ),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype "
            "you were given.",
        ),
        WrongAnswer(
            "equal-parts-only",
            lambda Q, K, V, chunk: np.concatenate(
                [_attend(q, K, V) for q in np.split(Q, max(1, Q.shape[-2] // chunk), axis=-2)], axis=-2
            ),
            "This works only where the chunks come out equal: np.split and reshape fail when they do not. The last chunk "
            "may be smaller: step through with `range`.",
            errors_tell=True,
        ),
        WrongAnswer(
            "scores-clipped",
            _in_chunks(_clipped),
            "You clipped the scores to keep the exponential from overflowing. That changes the weights; subtract "
            "each row's maximum instead.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scaling_in_place,
            "Your function writes into the caller's array. Make a new array: no `+=`, `/=`, `out=` or `x[...] =` on "
            "an argument.",
        ),
    ),
    also_right=(
        _in_chunks(_attend),
        _last_chunk_moved_back,
        _by_einsum,
        _padded_and_cut,
        _one_query_at_a_time,
        lambda Q, K, V, chunk: _in_chunks(lambda q, k, v: _attend(q, k, v, scale=1.0))(
            Q / np.sqrt(Q.shape[-1]), K, V, chunk
        ),
    ),
    hints=(
        "Softmax needs a whole row of scores, all keys of one query. Which axis can be cut, then?",
        "Go through the queries in steps of chunk. Each slice meets all keys and gives its rows of the output.",
        "`for i in range(0, Q.shape[-2], chunk):` with `Q[..., i : i + chunk, :]`. A slice may run past the end, "
        "which makes the last chunk smaller by itself.",
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
    forbids=(READY_ATTENTION,),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
    spared=(
        (
            "weights = np.exp(scores - scores.max(axis=-1, keepdims=True)) → weights = np.exp(scores - scores.max(axis=-1, keepdims=True) / 2)",
            "the prompt promises scores up to ±1000, and exp(500) is far from overflowing",
        ),
    ),
)
