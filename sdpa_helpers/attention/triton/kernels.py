# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# pyright: reportCallIssue=false, reportOperatorIssue=false, reportGeneralTypeIssues=false
"""FlashAttention-2 in Triton: the programs that run on the GPU. `programs.py` starts them.

    Attention(Q, K, V) = softmax(Q Kᵀ · scale) V

Dao 2023, "FlashAttention-2", algorithms 1 and 2. Many copies of a program run at once. Each has some rows of one
head to itself, walks over the tiles of scores that they need, and never stores a tile:

    forward           for a block of queries, over the keys      O and LSE, the logarithm of the sum of exponentials
    query_gradient    for a block of queries, over the keys      dQ, and D = rowsum(dO ∘ O)
    key_gradients     for a block of keys, over the queries      dK and dV

Both backward programs make the weights again: 7 products of matrices a tile, where one program for all three
gradients would need 5. But its copies would have to add to the same rows of dQ, in an order that changes from run
to run.

A tile that is seen in full needs no comparison of positions. So each walk has two parts, HIDE = 0 and HIDE = 1: the
tiles that are seen in full, and those that are seen in part: on the diagonal, at the end of the keys, or where a mask
hides some. Each part is compiled by itself, and only where it is needed. A tile that nobody sees is in neither.
Without a mask, both parts are ranges that a program works out for itself. With one, they are lists, which `lists.py`
makes of the mask once a call: the idea of FlexAttention's BlockMask.

With COPY_ENGINE, matrices are descriptors (triton.tools.tensor_descriptor) of shape (batch, heads, rows, features):
the GPU's copy engine fetches whole blocks by them, and gives zeros where a block reaches past the end of a matrix.
Without it they are a `programs.Matrix`, and each thread works out its own addresses. What has one number a row is a
plain pointer.

WARP_SPECIALIZE asks the compiler to share a walk out: some warps only fetch, some only start products.

Exponentials are powers of two, which the GPU has. `to_base_2` = scale · log₂ e, a positive number, turns the
products q · k into scores to base 2.
"""

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
"""Whether TRITON_INTERPRET=1 was set when this file was loaded: then the programs run in NumPy, on the CPU."""

FLOAT32_PRODUCTS = tl.constexpr("tf32x3")
"""Three products of short numbers for each one: on the tensor cores, with errors like float32's own."""

LOWEST = tl.constexpr(-3.4028234663852886e38)
"""Where a running maximum starts: float32's lowest. Not −∞: a row that sees nothing would give −∞ − (−∞), NaN."""


# Forward ---------------------------------------------------------------------------------------------------


@triton.jit
def forward(
    query, key, value, output, lse, lists, to_base_2, heads, group, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, RAGGED: tl.constexpr, WARP_SPECIALIZE: tl.constexpr,
    COPY_ENGINE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of queries: their rows of `output`, and their LSE to base 2, log₂ Σ 2^score, for the backward pass.

    largest is the largest score so far, total = Σ 2^(score − largest) and values = Σ 2^(score − largest) v. When a
    larger score comes, both sums are corrected by 2^(largest before − largest now). The answer is values / total.
    """
    top, head, batch = block_of(n_q, ROWS, heads)
    down, across = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = down[:, None] * COLUMNS + across  # where a tile of the mask has its numbers
    rows = top + down
    q = load(query, batch, head, top, ROWS, KEY_SIZE, COPY_ENGINE)
    largest = tl.full([ROWS], LOWEST, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    values = tl.zeros([ROWS, VALUE_SIZE], tl.float32)

    if MASK:
        walk, order, shown = listed(lists, batch, head, top // ROWS)
    else:
        walk = keys_for(top, n_k, IS_CAUSAL, ROWS, COLUMNS)
    for HIDE in tl.static_range(2):
        if not HIDE or IS_CAUSAL or MASK or RAGGED:
            for step in tl.range(walk[HIDE][0], walk[HIDE][1], warp_specialize=WARP_SPECIALIZE):
                place = tl.load(order + step) if MASK else step
                left = place * COLUMNS
                k = load(key, batch, head // group, left, COLUMNS, KEY_SIZE, COPY_ENGINE)
                scores = product(q, k.T)
                if HIDE:
                    seen = may_attend(rows[:, None], (left + across)[None, :], n_k, IS_CAUSAL, RAGGED)
                    if MASK:
                        seen &= tl.load(shown + place * lists.shown_of_tile + inside) != 0
                    scores = tl.where(seen, scores, float("-inf"))
                before = largest
                largest = tl.maximum(before, tl.max(scores, 1) * to_base_2)
                weights = tl.exp2(scores * to_base_2 - largest[:, None])
                correction = tl.exp2(before - largest)
                total = total * correction + tl.sum(weights, 1)
                v = load(value, batch, head // group, left, COLUMNS, VALUE_SIZE, COPY_ENGINE)
                values = product(weights.to(v.dtype), v, values * correction[:, None])

    empty = total == 0
    total = tl.where(empty, 1.0, total)
    store(output, batch, head, top, values * (1 / total)[:, None], COPY_ENGINE)
    # A row that saw nothing gets +∞: in the backward pass its weights, 2^(score − ∞), are 0.
    row_lse = tl.where(empty, float("inf"), largest + tl.log2(total))
    tl.store(lse + (batch * heads + head) * n_q + rows, row_lse, mask=rows < n_q)


# Backward --------------------------------------------------------------------------------------------------
#
#     P = 2^(S − LSE)     dV = Pᵀ dO     dP = dO Vᵀ     dS = P ∘ (dP − D)     dQ = dS K · scale
#                                                                                   dK = dSᵀ Q · scale


@triton.jit
def query_gradient(
    query, key, value, output, grad_output, grad_query, lse, grad_lse, deltas,
    lists, to_base_2, scale, heads, group, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, RAGGED: tl.constexpr, LSE_GRADIENT: tl.constexpr,
    WARP_SPECIALIZE: tl.constexpr, COPY_ENGINE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of queries: their rows of `grad_query`, and D, which `key_gradients` needs.

    If a gradient of the LSE comes in, it belongs to D: ∂LSE/∂S = P, and so dS = P ∘ (dP − (D − dLSE)).
    """
    top, head, batch = block_of(n_q, ROWS, heads)
    down, across = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = down[:, None] * COLUMNS + across  # where a tile of the mask has its numbers
    rows = top + down
    first = (batch * heads + head) * n_q
    q = load(query, batch, head, top, ROWS, KEY_SIZE, COPY_ENGINE)
    d_output = load(grad_output, batch, head, top, ROWS, VALUE_SIZE, COPY_ENGINE)
    out = load(output, batch, head, top, ROWS, VALUE_SIZE, COPY_ENGINE)
    delta = tl.sum(d_output.to(tl.float32) * out.to(tl.float32), 1)
    if LSE_GRADIENT:
        delta -= tl.load(grad_lse + first + rows, mask=rows < n_q, other=0.0)
    tl.store(deltas + first + rows, delta, mask=rows < n_q)
    row_lse = tl.load(lse + first + rows, mask=rows < n_q, other=float("inf"))
    d_query = tl.zeros([ROWS, KEY_SIZE], tl.float32)

    if MASK:
        walk, order, shown = listed(lists, batch, head, top // ROWS)
    else:
        walk = keys_for(top, n_k, IS_CAUSAL, ROWS, COLUMNS)
    for HIDE in tl.static_range(2):
        if not HIDE or IS_CAUSAL or MASK or RAGGED:
            for step in tl.range(walk[HIDE][0], walk[HIDE][1], warp_specialize=WARP_SPECIALIZE):
                place = tl.load(order + step) if MASK else step
                left = place * COLUMNS
                k = load(key, batch, head // group, left, COLUMNS, KEY_SIZE, COPY_ENGINE)
                v = load(value, batch, head // group, left, COLUMNS, VALUE_SIZE, COPY_ENGINE)
                weights = tl.exp2(product(q, k.T) * to_base_2 - row_lse[:, None])
                if HIDE:
                    seen = may_attend(rows[:, None], (left + across)[None, :], n_k, IS_CAUSAL, RAGGED)
                    if MASK:
                        seen &= tl.load(shown + place * lists.shown_of_tile + inside) != 0
                    weights = tl.where(seen, weights, 0.0)
                d_scores = weights * (product(d_output, v.T) - delta[:, None])
                d_query = product(d_scores.to(k.dtype), k, d_query)

    store(grad_query, batch, head, top, d_query * scale, COPY_ENGINE)


@triton.jit
def key_gradients(
    query, key, value, grad_output, grad_key, grad_value, lse, deltas,
    lists, to_base_2, scale, heads, group, members, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, WARP_SPECIALIZE: tl.constexpr,
    COPY_ENGINE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of keys: their rows of `grad_key` and `grad_value`, from `members` of the query heads they serve.

    If that is not the whole group, the gradients have a head for each part of it, and are summed up afterwards.

    Tiles are transposed here, keys down and queries across: then weights and dS are the left factors of the next
    products, which the tensor cores take from registers as they are. What a key past the end gets is never stored;
    the weights of a query past the end are 0.
    """
    left, part, batch = block_of(n_k, COLUMNS, heads // members)
    key_head = part * members // group
    down, across = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = across[:, None] * ROWS + down
    k = load(key, batch, key_head, left, COLUMNS, KEY_SIZE, COPY_ENGINE)
    v = load(value, batch, key_head, left, COLUMNS, VALUE_SIZE, COPY_ENGINE)
    d_key = tl.zeros([COLUMNS, KEY_SIZE], tl.float32)
    d_value = tl.zeros([COLUMNS, VALUE_SIZE], tl.float32)

    for member in range(members):
        head = part * members + member
        first = (batch * heads + head) * n_q
        if MASK:
            walk, order, shown = listed(lists, batch, head, left // COLUMNS)
        else:
            walk = queries_for(left, n_q, IS_CAUSAL, ROWS, COLUMNS)
        for HIDE in tl.static_range(2):
            if not HIDE or IS_CAUSAL or MASK:
                for step in tl.range(walk[HIDE][0], walk[HIDE][1], warp_specialize=WARP_SPECIALIZE):
                    place = tl.load(order + step) if MASK else step
                    top = place * ROWS
                    rows = top + down
                    q = load(query, batch, head, top, ROWS, KEY_SIZE, COPY_ENGINE)
                    row_lse = tl.load(lse + first + rows, mask=rows < n_q, other=float("inf"))
                    weights = tl.exp2(product(k, q.T) * to_base_2 - row_lse[None, :])
                    if HIDE:
                        seen = may_attend(rows[None, :], (left + across)[:, None], n_k, IS_CAUSAL, False)
                        if MASK:
                            seen &= tl.load(shown + place * lists.shown_of_tile + inside) != 0
                        weights = tl.where(seen, weights, 0.0)
                    d_output = load(grad_output, batch, head, top, ROWS, VALUE_SIZE, COPY_ENGINE)
                    d_value = product(weights.to(d_output.dtype), d_output, d_value)
                    # −D is where the sum dP starts, which frees its registers early.
                    delta = tl.load(deltas + first + rows, mask=rows < n_q, other=0.0)
                    d_weights = product(v, d_output.T, tl.broadcast_to(-delta[None, :], [COLUMNS, ROWS]))
                    d_scores = weights * d_weights
                    d_key = product(d_scores.to(q.dtype), q, d_key)

    store(grad_key, batch, part, left, d_key * scale, COPY_ENGINE)
    store(grad_value, batch, part, left, d_value, COPY_ENGINE)


# Where -----------------------------------------------------------------------------------------------------


@triton.jit
def block_of(n, SIZE: tl.constexpr, heads):
    """Which rows of which head of which sequence this copy of the program has: (first row, head, batch).

    The blocks of a head run side by side, the last first: of causal queries they have most to do.
    """
    blocks = tl.cdiv(n, SIZE)
    number = tl.program_id(0)
    head = number // blocks
    return (blocks - 1 - number % blocks) * SIZE, head % heads, (head // heads).to(tl.int64)


@triton.jit
def keys_for(top, n_k, IS_CAUSAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """These queries' tiles without a mask: (first, last) of those seen in full, of those seen in part."""
    straight = n_k
    end = n_k
    if IS_CAUSAL:
        straight = tl.minimum(n_k, top)
        end = tl.minimum(n_k, top + ROWS)
    straight = straight // COLUMNS
    return (0, straight), (straight, tl.cdiv(end, COLUMNS))


@triton.jit
def queries_for(left, n_q, IS_CAUSAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """These keys' tiles, likewise. The first queries that see any may see some; all later ones see all."""
    tl.static_assert(COLUMNS % ROWS == 0)  # so that the two parts do not overlap
    begin = 0
    straight = 0
    if IS_CAUSAL:
        begin = left // ROWS
        straight = tl.cdiv(tl.minimum(n_q, left + COLUMNS), ROWS)
    return (straight, tl.cdiv(n_q, ROWS)), (begin, straight)


@triton.jit
def listed(lists, batch, head, block):
    """The same for a block of queries or keys with a mask; and pointers to its line of `order` and of `shown`.

    lists: `lists.Lists`.
    """
    line = batch * lists.lines_of_batch + head * lists.lines_of_head + block
    full = tl.load(lists.numbers + line * 2)
    walk = (0, full), (full, tl.load(lists.numbers + line * 2 + 1))
    first = (
        batch * lists.shown_of_batch + head.to(tl.int64) * lists.shown_of_head + block * lists.shown_of_line
    )
    return walk, lists.order + line * lists.tiles_of_line, lists.shown + first


@triton.jit
def may_attend(rows, columns, n_k, IS_CAUSAL: tl.constexpr, RAGGED: tl.constexpr):
    """For each query of `rows` and key of `columns`, whether it may see it, as far as no mask says."""
    seen = tl.full([1, 1], True, tl.int1)
    if RAGGED:
        seen = seen & (columns < n_k)
    if IS_CAUSAL:
        seen = seen & (columns <= rows)
    return seen


# Blocks ----------------------------------------------------------------------------------------------------


@triton.jit
def load(matrix, batch, head, first, SIZE: tl.constexpr, FEATURES: tl.constexpr, COPY_ENGINE: tl.constexpr):
    """The block of SIZE rows from `first` on; 0 for rows and features past the end."""
    if COPY_ENGINE:
        block = matrix.load([batch.to(tl.int32), head, first, 0]).reshape(SIZE, FEATURES)
    else:
        places, inside = addresses(matrix, batch, head, first, SIZE, FEATURES)
        block = tl.load(places, mask=inside, other=0.0)
    return block


@triton.jit
def store(matrix, batch, head, first, rows, COPY_ENGINE: tl.constexpr):
    """Likewise, as numbers of the matrix's own kind; what is past its end is dropped."""
    SIZE: tl.constexpr = rows.shape[0]
    FEATURES: tl.constexpr = rows.shape[1]
    if COPY_ENGINE:
        matrix.store(
            [batch.to(tl.int32), head, first, 0], rows.to(matrix.dtype).reshape(1, 1, SIZE, FEATURES)
        )
    else:
        places, inside = addresses(matrix, batch, head, first, SIZE, FEATURES)
        tl.store(places, rows.to(matrix.pointer.dtype.element_ty), mask=inside)


@triton.jit
def addresses(matrix, batch, head, first, SIZE: tl.constexpr, FEATURES: tl.constexpr):
    """Of each number of a block, and whether it is one of the matrix. Within a block, 32 bits are enough."""
    UNIT: tl.constexpr = 128 // matrix.pointer.dtype.element_ty.primitive_bitwidth  # numbers of 16 bytes
    step = tl.multiple_of(matrix.of_row, UNIT)
    start = batch * matrix.of_batch + head.to(tl.int64) * matrix.of_head + first.to(tl.int64) * step
    down, across = tl.arange(0, SIZE)[:, None], tl.arange(0, FEATURES)[None, :]
    start = tl.multiple_of(start, UNIT)
    return matrix.pointer + start + (down * step + across), (first + down < matrix.rows) & (
        across < matrix.features
    )


@triton.jit
def product(left, right, onto=None):
    """onto + left right, summed in float32."""
    if (
        INTERPRETED
    ):  # there the product of bfloat16 matrices is wrong, and nothing says so (Triton 3.6 to 3.9)
        left = left.to(tl.float32)
        right = right.to(tl.float32)
    return tl.dot(left, right, onto, input_precision=FLOAT32_PRODUCTS)
