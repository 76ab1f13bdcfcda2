# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# pyright: reportCallIssue=false, reportOperatorIssue=false, reportGeneralTypeIssues=false
"""FlashAttention-2 in Triton: the programs that run on the GPU. `launch.py` starts them.

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
tiles that are seen in full, and those on the diagonal, at the end of the keys, or under a mask. Each part is compiled
by itself, and only where it is needed.

Matrices are descriptors (triton.tools.tensor_descriptor) of shape (batch, heads, rows, features): the GPU's copy
engine fetches whole blocks by them, and gives zeros where a block reaches past the end of a matrix. What has one
number a row is a plain pointer, and so is the mask, which comes with its steps: (pointer, of batch, of head, of
query, of key).

Exponentials are powers of two, which the GPU has. `to_base_2` = scale · log₂ e, a positive number, turns the
products q · k into scores to base 2.
"""

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
"""Whether TRITON_INTERPRET=1 was set when this file was loaded: then the programs run in NumPy, on the CPU."""

FLOAT32_PRODUCTS = tl.constexpr("tf32x3")
"""Three products of short numbers for each one: on the tensor cores, with errors like float32's own."""

NO_MASK, KEY_MASK, FULL_MASK = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
"""What MASK is: nothing; one row that serves all queries (padding); or a number for each query and key."""

LOWEST = tl.constexpr(-1e30)
"""Where a running maximum starts. Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN."""


# Forward ---------------------------------------------------------------------------------------------------


@triton.jit
def forward(
    query, key, value, output, lse, mask, to_base_2, heads, group, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, RAGGED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of queries: their rows of `output`, and their LSE to base 2, log₂ Σ 2^score, for the backward pass.

    largest is the largest score so far, total = Σ 2^(score − largest) and values = Σ 2^(score − largest) v. When a
    larger score comes, both sums are corrected by 2^(largest before − largest now). The answer is values / total.
    """
    top, head, batch = place(n_q, ROWS, heads)
    rows = top + tl.arange(0, ROWS)
    mask_here = of_head(mask, batch, head)
    q = load(query, batch, head, top)
    largest = tl.full([ROWS], LOWEST, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    values = tl.zeros([ROWS, VALUE_SIZE], tl.float32)

    straight, end = keys_for(top, n_k, IS_CAUSAL, MASK, ROWS, COLUMNS)
    for HIDE in tl.static_range(2):
        if not HIDE or IS_CAUSAL or MASK or RAGGED:
            for left in range(straight if HIDE else 0, end if HIDE else straight, COLUMNS):
                k = load(key, batch, head // group, left)
                scores = product(q, k.T)
                if HIDE:
                    columns = left + tl.arange(0, COLUMNS)
                    seen = may_attend(
                        rows[:, None], columns[None, :], n_q, n_k, mask_here, IS_CAUSAL, MASK, RAGGED
                    )
                    scores = tl.where(seen, scores, float("-inf"))
                before = largest
                largest = tl.maximum(before, tl.max(scores, 1) * to_base_2)
                weights = tl.exp2(scores * to_base_2 - largest[:, None])
                correction = tl.exp2(before - largest)
                total = total * correction + tl.sum(weights, 1)
                v = load(value, batch, head // group, left)
                values = product(weights.to(v.dtype), v, values * correction[:, None])

    empty = total == 0
    total = tl.where(empty, 1.0, total)
    store(output, batch, head, top, values * (1 / total)[:, None])
    # A row that saw nothing gets +∞: in the backward pass its weights, 2^(score − ∞), are 0.
    row_lse = tl.where(empty, float("inf"), largest + tl.log2(total))
    tl.store(lse + (batch * heads + head) * n_q + rows, row_lse, mask=rows < n_q)


# Backward --------------------------------------------------------------------------------------------------
#
#     P = 2^(S − LSE)     dV = Pᵀ dO     dP = dO Vᵀ     dS = P ∘ (dP − D)     dQ = dS K · scale
#                                                                                   dK = dSᵀ Q · scale


@triton.jit
def query_gradient(
    query, key, value, output, grad_output, grad_query, lse, deltas,
    mask, to_base_2, scale, heads, group, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, RAGGED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of queries: their rows of `grad_query`, and D, which `key_gradients` needs."""
    top, head, batch = place(n_q, ROWS, heads)
    rows = top + tl.arange(0, ROWS)
    mask_here = of_head(mask, batch, head)
    first = (batch * heads + head) * n_q
    q = load(query, batch, head, top)
    d_output = load(grad_output, batch, head, top)
    delta = tl.sum(d_output.to(tl.float32) * load(output, batch, head, top).to(tl.float32), 1)
    tl.store(deltas + first + rows, delta, mask=rows < n_q)
    row_lse = tl.load(lse + first + rows, mask=rows < n_q, other=float("inf"))
    d_query = tl.zeros([ROWS, KEY_SIZE], tl.float32)

    straight, end = keys_for(top, n_k, IS_CAUSAL, MASK, ROWS, COLUMNS)
    for HIDE in tl.static_range(2):
        if not HIDE or IS_CAUSAL or MASK or RAGGED:
            for left in range(straight if HIDE else 0, end if HIDE else straight, COLUMNS):
                k = load(key, batch, head // group, left)
                v = load(value, batch, head // group, left)
                weights = tl.exp2(product(q, k.T) * to_base_2 - row_lse[:, None])
                if HIDE:
                    columns = left + tl.arange(0, COLUMNS)
                    seen = may_attend(
                        rows[:, None], columns[None, :], n_q, n_k, mask_here, IS_CAUSAL, MASK, RAGGED
                    )
                    weights = tl.where(seen, weights, 0.0)
                d_scores = weights * (product(d_output, v.T) - delta[:, None])
                d_query = product(d_scores.to(k.dtype), k, d_query)

    store(grad_query, batch, head, top, d_query * scale)


@triton.jit
def key_gradients(
    query, key, value, grad_output, grad_key, grad_value, lse, deltas,
    mask, to_base_2, scale, heads, group, n_q, n_k,
    IS_CAUSAL: tl.constexpr, MASK: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEY_SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr,
):  # fmt: skip
    """One block of keys: their rows of `grad_key` and `grad_value`, from all query heads that they serve.

    Tiles are transposed here, keys down and queries across: then weights and dS are the left factors of the next
    products, which the tensor cores take from registers as they are. What a key past the end gets is never stored;
    the weights of a query past the end are 0.
    """
    left, key_head, batch = place(n_k, COLUMNS, heads // group)
    columns = left + tl.arange(0, COLUMNS)
    k = load(key, batch, key_head, left)
    v = load(value, batch, key_head, left)
    d_key = tl.zeros([COLUMNS, KEY_SIZE], tl.float32)
    d_value = tl.zeros([COLUMNS, VALUE_SIZE], tl.float32)

    for member in range(group):
        head = key_head * group + member
        first = (batch * heads + head) * n_q
        mask_here = of_head(mask, batch, head)
        begin, straight = queries_for(left, n_q, IS_CAUSAL, MASK, ROWS, COLUMNS)
        for HIDE in tl.static_range(2):
            if not HIDE or IS_CAUSAL or MASK:
                for top in range(begin if HIDE else straight, straight if HIDE else n_q, ROWS):
                    rows = top + tl.arange(0, ROWS)
                    q = load(query, batch, head, top)
                    row_lse = tl.load(lse + first + rows, mask=rows < n_q, other=float("inf"))
                    weights = tl.exp2(product(k, q.T) * to_base_2 - row_lse[None, :])
                    if HIDE:
                        seen = may_attend(
                            rows[None, :], columns[:, None], n_q, n_k, mask_here, IS_CAUSAL, MASK, False
                        )
                        weights = tl.where(seen, weights, 0.0)
                    d_output = load(grad_output, batch, head, top)
                    d_value = product(weights.to(d_output.dtype), d_output, d_value)
                    # −D is where the sum dP starts, which frees its registers early.
                    delta = tl.load(deltas + first + rows, mask=rows < n_q, other=0.0)
                    d_weights = product(v, d_output.T, tl.broadcast_to(-delta[None, :], [COLUMNS, ROWS]))
                    d_scores = weights * d_weights
                    d_key = product(d_scores.to(q.dtype), q, d_key)

    store(grad_key, batch, key_head, left, d_key * scale)
    store(grad_value, batch, key_head, left, d_value)


# Where -----------------------------------------------------------------------------------------------------


@triton.jit
def place(n, SIZE: tl.constexpr, heads):
    """Which rows of which head of which sequence this copy of the program has: (first row, head, batch).

    The blocks of a head run side by side, the last first: of causal queries they have most to do.
    """
    blocks = tl.cdiv(n, SIZE)
    number = tl.program_id(0)
    head = number // blocks
    return (blocks - 1 - number % blocks) * SIZE, head % heads, (head // heads).to(tl.int64)


@triton.jit
def keys_for(
    top, n_k, IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """These queries see the keys 0 … straight − 1 in full, and may see some of straight … end − 1."""
    end = n_k
    straight = n_k
    if IS_CAUSAL:
        end = tl.minimum(n_k, top + ROWS)
        straight = tl.minimum(n_k, top)
    straight = straight // COLUMNS * COLUMNS
    if MASK:
        straight = 0
    return straight, end


@triton.jit
def queries_for(
    left, n_q, IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The queries begin … straight − 1 may see some of these keys, all later ones see them in full."""
    tl.static_assert(COLUMNS % ROWS == 0)  # so that the two parts do not overlap
    begin = 0
    straight = 0
    if IS_CAUSAL:
        begin = left
        straight = tl.minimum(n_q, left + COLUMNS)
    if MASK:
        straight = n_q
    return begin, straight


@triton.jit
def of_head(mask, batch, head):
    """(pointer, step of query, step of key) of one head's mask."""
    return mask[0] + batch * mask[1] + head.to(tl.int64) * mask[2], mask[3], mask[4]


@triton.jit
def may_attend(
    rows, columns, n_q, n_k, mask, IS_CAUSAL: tl.constexpr, MASK: tl.constexpr, RAGGED: tl.constexpr
):
    """For each query of `rows` and key of `columns`, whether it may see it."""
    seen = tl.full([1, 1], True, tl.int1)
    if RAGGED:
        seen = seen & (columns < n_k)
    if IS_CAUSAL:
        seen = seen & (columns <= rows)
    if MASK == KEY_MASK:
        places = mask[0] + columns.to(tl.int64) * mask[2]
        seen = seen & (tl.load(places, mask=columns < n_k, other=0) != 0)
    if MASK == FULL_MASK:
        places = mask[0] + rows.to(tl.int64) * mask[1] + columns.to(tl.int64) * mask[2]
        seen = seen & (tl.load(places, mask=(rows < n_q) & (columns < n_k), other=0) != 0)
    return seen


# Blocks ----------------------------------------------------------------------------------------------------


@triton.jit
def load(matrix, batch, head, first):
    """The block of rows from `first` on."""
    block = matrix.load([batch.to(tl.int32), head, first, 0])
    return block.reshape(block.shape[2], block.shape[3])


@triton.jit
def store(matrix, batch, head, first, rows):
    """Likewise, as numbers of the matrix's own kind; rows past its end are dropped."""
    block = rows.to(matrix.dtype).reshape(1, 1, rows.shape[0], rows.shape[1])
    matrix.store([batch.to(tl.int32), head, first, 0], block)


@triton.jit
def product(left, right, onto=None):
    """onto + left right, summed in float32."""
    if (
        INTERPRETED
    ):  # there the product of bfloat16 matrices is wrong, and nothing says so (Triton 3.6 to 3.9)
        left = left.to(tl.float32)
        right = right.to(tl.float32)
    return tl.dot(left, right, onto, input_precision=FLOAT32_PRODUCTS)
