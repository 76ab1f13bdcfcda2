"""Lesson 09, exercise `ring_attention_step`: one step of one rank."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each

PROMPT = r"""`ring_attention_step(state, Q, K_block, V_block)`: a block of keys and values has come by. What does the rank know after it?

- `state`, shape `(..., n_q, d_v + 1)`: what it knows before. The first `d_v` columns are the output of each row so far, and the **last column is its LSE**, $\ln \sum_j e^{s_j}$ over all keys that were here. At the beginning the output is 0 and the LSE is −∞.
- `Q`, shape `(..., n_q, d_k)`: the queries of this rank. `K_block`, shape `(..., n_k, d_k)`, and `V_block`, shape `(..., n_k, d_v)`: the block. It may be **empty**, $n_k = 0$, and then nothing changes.
- Returns the new state, with the shape of `state`. Scores are divided by $\sqrt{d_k}$; there is no mask. Scores can be as large as ±20,000: nothing may overflow.

After the last block the first `d_v` columns are attention to all keys.

Example: {inputs:1}. Two keys score 0, and the LSE is ln 2 = 0.693…; the state is {result:1}.
"""


def ring_attention_step(state, Q, K_block, V_block):
    """One step of the ring: state (..., n_q, d_v + 1), Q, K_block, V_block -> the new state."""
    scores = Q @ np.swapaxes(K_block, -1, -2) / np.sqrt(Q.shape[-1])
    lse_before = state[..., -1:]
    highest = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), lse_before)
    highest = np.where(highest == -np.inf, 0, highest)  # no key yet: −∞ − (−∞) would be NaN

    exponentials = np.exp(scores - highest)
    before = np.exp(lse_before - highest)
    total = before + exponentials.sum(axis=-1, keepdims=True)
    empty = total == 0
    divisor = np.where(empty, 1, total)
    out = (before * state[..., :-1] + exponentials @ V_block) / divisor
    lse = np.where(empty, -np.inf, highest + np.log(divisor))
    return np.concatenate([out, lse], axis=-1)


def _scores(Q, K, power=0.5):
    return Q @ np.swapaxes(K, -1, -2) / float(Q.shape[-1]) ** power


def _part(scores, V):
    """A block's own output and LSE."""
    lse = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(lse), lse, 0))
    return weights @ V, lse


def _by_merging(state, Q, K_block, V_block):
    out, lse = _part(_scores(Q, K_block), V_block)
    both = np.logaddexp(state[..., -1:], lse)
    safe = np.where(np.isfinite(both), both, 0)
    a, b = np.exp(state[..., -1:] - safe), np.exp(lse - safe)
    return np.concatenate([a * state[..., :-1] + b * out, both], axis=-1)


def _key_by_key(state, Q, K_block, V_block):
    for j in range(K_block.shape[-2]):
        state = _by_merging(state, Q, K_block[..., j : j + 1, :], V_block[..., j : j + 1, :])
    return np.array(state)


def _scale(power):
    return lambda Q, K: _scores(Q, K, power)


def _share_before(before, both):
    return np.exp(before - both)


def _build(scores, guard, old, new, kept):
    def function(state, Q, K_block, V_block):
        before = state[..., -1:]
        out, lse = _part(scores(Q, K_block), V_block)
        both = np.logaddexp(before, lse)
        safe = guard(both)
        a, b = old(before, lse, safe), new(before, lse, safe)
        mixed = a * np.where(a == 0, 0, state[..., :-1]) + b * out
        return np.concatenate([mixed, kept(before, lse, both)], axis=-1)

    return function


RIGHT = {
    "scores": _scale(0.5),
    "guard": lambda both: np.where(np.isfinite(both), both, 0),
    "old": lambda before, lse, both: np.exp(before - both),
    "new": lambda before, lse, both: np.exp(lse - both),
    "kept": lambda before, lse, both: both,
}


def _wrong(**deviation):
    return _build(**(RIGHT | deviation))


def _largest_of_both(before, lse, both):
    return np.maximum(before, lse)


def _lse_of_the_block(before, lse, both):
    return lse + 0 * both


def _added(before, lse, both):
    """The sum of both LSEs, where both are finite."""
    return np.where(np.isinf(before), lse, np.where(np.isinf(lse), before, before + lse))


MISTAKES = Products(
    (
        Factor(
            "scores",
            RIGHT["scores"],
            (
                Option("no-scaling", _scale(0.0)),
                Option("scaled-by-d-k", _scale(1.0)),
                Option("multiplied-by-root-d-k", _scale(-0.5)),
            ),
        ),
        Factor("guard", RIGHT["guard"], (Option("both-sides-empty", lambda both: both),)),
        Factor(
            "old",
            RIGHT["old"],
            (Option("old-output-not-rescaled", lambda before, lse, both: np.ones_like(both)),),
        ),
        Factor(
            "new",
            RIGHT["new"],
            (Option("new-output-not-rescaled", lambda before, lse, both: np.ones_like(both)),),
        ),
        Factor(
            "kept",
            RIGHT["kept"],
            (
                Option("larger-lse-kept", _largest_of_both),
                Option("lse-of-the-block-only", _lse_of_the_block),
                Option("lses-added", _added),
                Option("old-lse-kept", lambda before, lse, both: before + 0 * both),
            ),
        ),
    ),
    _build,
)


def _averaged(state, Q, K_block, V_block):
    """Half of each, whatever their sums."""
    out, lse = _part(_scores(Q, K_block), V_block)
    both = np.logaddexp(state[..., -1:], lse)
    return np.concatenate([(state[..., :-1] + out) / 2, both], axis=-1)


def _block_only(state, Q, K_block, V_block):
    return np.concatenate(_part(_scores(Q, K_block), V_block), axis=-1)


def _with(part):
    """Merging without any guard of the exponential; part: scores and V to the block's sum and weighted sum."""

    def function(state, Q, K_block, V_block):
        total, weighted = part(_scores(Q, K_block), V_block)
        before = np.exp(state[..., -1:])
        return np.concatenate(
            [(before * state[..., :-1] + weighted) / (before + total), np.log(before + total)], axis=-1
        )

    return function


def _bare(scores, V):
    e = np.exp(scores)
    return e.sum(axis=-1, keepdims=True), e @ V


def _subtracting(of_a_row):
    """Something else of a row subtracted in place of its largest score; the rest is right."""

    def function(state, Q, K_block, V_block):
        scores, lse = _scores(Q, K_block), state[..., -1:]
        if not scores.shape[-1]:
            return np.array(state)
        shift = np.maximum(lse, of_a_row(scores))
        e, before = np.exp(scores - shift), np.exp(lse - shift)
        total = before + e.sum(axis=-1, keepdims=True)
        return np.concatenate(
            [(before * state[..., :-1] + e @ V_block) / total, shift + np.log(total)], axis=-1
        )

    return function


def _nan_without_keys(state, Q, K_block, V_block):
    scores = _scores(Q, K_block)
    highest = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), state[..., -1:])
    e, before = np.exp(scores - highest), np.exp(state[..., -1:] - highest)
    total = before + e.sum(axis=-1, keepdims=True)
    return np.concatenate(
        [(before * state[..., :-1] + e @ V_block) / total, highest + np.log(total)], axis=-1
    )


def _starts_at_zero(state, Q, K_block, V_block):
    """The maximum begins at 0: exponentials of scores near −1,000 vanish."""
    scores = _scores(Q, K_block)
    highest = np.maximum(scores.max(axis=-1, keepdims=True, initial=0.0), 0.0)
    e, before = np.exp(scores - highest), np.exp(state[..., -1:] - highest)
    total = before + e.sum(axis=-1, keepdims=True)
    empty = total == 0
    divisor = np.where(empty, 1, total)
    out = (before * state[..., :-1] + e @ V_block) / divisor
    return np.concatenate([out, np.where(empty, -np.inf, highest + np.log(divisor))], axis=-1)


def _finite_for_infinity(state, Q, K_block, V_block):
    """The LSE held at −2,500 or above, and that read as −∞ at the end."""
    held = np.concatenate([state[..., :-1], np.maximum(state[..., -1:], -2500.0)], axis=-1)
    new = _by_merging(held, Q, K_block, V_block)
    return np.concatenate(
        [new[..., :-1], np.where(new[..., -1:] <= -2500.0, -np.inf, new[..., -1:])], axis=-1
    )


def _not_divided(state, Q, K_block, V_block):
    new = _by_merging(state, Q, K_block, V_block)
    return np.concatenate([new[..., :-1] * np.exp(np.clip(new[..., -1:], -700, 700)), new[..., -1:]], axis=-1)


def _log2(state, Q, K_block, V_block):
    new = _by_merging(state, Q, K_block, V_block)
    return np.concatenate([new[..., :-1], new[..., -1:] / np.log(2)], axis=-1)


def _sum_kept(state, Q, K_block, V_block):
    new = _by_merging(state, Q, K_block, V_block)
    return np.concatenate([new[..., :-1], np.exp(new[..., -1:])], axis=-1)


def _keys_for_values(state, Q, K_block, V_block):
    width = V_block.shape[-1]
    fitting = np.resize(np.zeros(1), (*K_block.shape[:-1], width))
    shared = min(width, K_block.shape[-1])
    fitting[..., :shared] = K_block[..., :shared]
    return _by_merging(state, Q, K_block, fitting)


def _softmax_over_queries(state, Q, K_block, V_block):
    scores = _scores(Q, K_block)
    return _by_merging_scores(state, scores - np.logaddexp.reduce(scores, axis=-2, keepdims=True), V_block)


def _by_merging_scores(state, scores, V):
    out, lse = _part(scores, V)
    both = np.logaddexp(state[..., -1:], lse)
    safe = np.where(np.isfinite(both), both, 0)
    a, b = np.exp(state[..., -1:] - safe), np.exp(lse - safe)
    return np.concatenate([a * state[..., :-1] + b * out, both], axis=-1)


def _changes_the_state(state, Q, K_block, V_block):
    state[...] = _by_merging(state, Q, K_block, V_block)
    return state


def _output_only(state, Q, K_block, V_block):
    return _by_merging(state, Q, K_block, V_block)[..., :-1]


def _two_parts(state, Q, K_block, V_block):
    new = _by_merging(state, Q, K_block, V_block)
    return new[..., :-1], new[..., -1]


def _lse_first(state, Q, K_block, V_block):
    new = _by_merging(state, Q, K_block, V_block)
    return np.concatenate([new[..., -1:], new[..., :-1]], axis=-1)


def _fresh(*lead, n_q, d_v):
    state = np.zeros((*lead, n_q, d_v + 1))
    state[..., -1] = -np.inf
    return state


def _drawn(rng, *lead, n_q, n_k, d_k, d_v, before=4, spread=1.0):
    """A state after `before` other keys, and the next block."""
    shapes = (*lead, n_q, d_k), (*lead, before + n_k, d_k), (*lead, before + n_k, d_v)
    Q, K, V = (rng.normal(size=shape) for shape in shapes)
    Q *= spread
    state = _fresh(*lead, n_q=n_q, d_v=d_v)
    if before:
        state = _by_merging(state, Q, K[..., :before, :], V[..., :before, :])
    return state, Q, K[..., before:, :].copy(), V[..., before:, :].copy()


def _scored(rng, low, high, before, rows=(1, 1, 1)):
    """A block whose scores lie between low and high, after a state with scores around `before`; times `rows`."""
    n_q, n_k, d_v = 3, 4, 2
    Q = 2.0 * np.repeat(np.array(rows, dtype=float)[:, None], 4, axis=-1)
    V = rng.normal(size=(n_k, d_v))
    K = np.repeat(rng.uniform(low, high, size=(n_k, 1)) / 4, 4, axis=-1)  # every score is 4 · 2 · x / √4
    if before is None:
        return _fresh(n_q=n_q, d_v=d_v), Q, K, V
    there = np.repeat(before + rng.uniform(-1, 1, size=(3, 1)), 4, axis=-1) / 4
    state = _by_merging(_fresh(n_q=n_q, d_v=d_v), Q, there, rng.normal(size=(3, d_v)))
    return state, Q, K, V


def _far_apart_in_a_row(rng):
    """Rows of scores that spread over thousands, each with two near its top; the tops differ."""
    size = rng.uniform(8000, 20_000)
    x = np.array([size, size - rng.uniform(0.5, 3), -size, size * rng.uniform(-0.5, 0.5)])
    state, Q, K, V = _scored(rng, 0, 0, None, (1, -1, 0.25))
    K[...] = rng.permutation(x)[:, None] / 4
    return state, Q, K, V


def _strided(inputs):
    return tuple(map(read_only_strided, inputs))


EXERCISE = Exercise(
    name="ring_attention_step",
    lesson="09_many_machines",
    title="One step of the ring",
    prompt=PROMPT,
    examples=(
        Example(
            ([[0, 0, -np.inf]], [[1, 0]], [[0, 1], [0, 2]], [[2, 4], [4, 8]]),
            shows="`[[3, 6, 0.693…]]`",
        ),
    ),
    difficulty=4,
    minutes=20,
    reference=ring_attention_step,
    section="2. The queries stay, the keys and values travel",
    cases=(
        Case("a block after others", lambda rng: _drawn(rng, n_q=5, n_k=3, d_k=6, d_v=2)),
        Case(
            "the first block",
            lambda rng: _drawn(rng, n_q=4, n_k=6, d_k=5, d_v=3, before=0),
            says="The LSE is −∞: nothing of the old output counts.",
        ),
        Case(
            "an empty block",
            lambda rng: _drawn(rng, n_q=3, n_k=0, d_k=4, d_v=2),
            says="Without keys nothing changes.",
        ),
        Case(
            "an empty block at the beginning",
            lambda rng: _drawn(rng, 2, n_q=3, n_k=0, d_k=4, d_v=5, before=0),
            says="Still no key: the output stays 0 and the LSE −∞. A NaN here comes from −∞ − (−∞).",
        ),
        Case(
            "heads and a batch",
            lambda rng: _strided(_drawn(rng, 2, 3, n_q=4, n_k=5, d_k=7, d_v=2)),
            says="Leading axes stay as they are; swap only the last two of K_block.",
        ),
        Case("scores near 1,000", lambda rng: _scored(rng, 990, 1010, 1000.0), 1),
        Case(
            "scores near −1,000 and −19,000 only",
            lambda rng: _scored(rng, -1010, -990, None, (1, 1, 19)),
            says="All scores are far below 0, in the last row near −19,000. Subtract the largest score that there is, not 0.",
        ),
        Case(
            "a block far above the rest",
            lambda rng: _scored(rng, 400, 403, -500.0),
            says="The block's weights take everything, and the old output fades to 0.",
        ),
        Case(
            "a block far below the rest",
            lambda rng: _scored(rng, -503, -500, 400.0),
            says="The block's weights vanish, and the state stays as it was.",
        ),
        Case(
            "rows far apart",
            _far_apart_in_a_row,
            says="Every row has its own largest score, and others that lie thousands below it.",
        ),
        Case(
            "a batch of one",
            lambda rng: _drawn(rng, 1, n_q=3, n_k=4, d_k=2, d_v=5),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "two heads, one query each",
            lambda rng: _drawn(rng, 2, n_q=1, n_k=3, d_k=4, d_v=5),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("more of everything", lambda rng: _drawn(rng, n_q=9, n_k=10, d_k=11, d_v=12)),
        *one_of_each(_drawn, only=("n_q", "n_k", "d_k", "d_v"), n_q=5, n_k=4, d_k=3, d_v=6),
    ),
    wrong=(
        WrongAnswer(
            "old-output-not-rescaled",
            _wrong(old=lambda before, lse, both: np.ones_like(both)),
            "The old output was added as it is. It has to shrink: its share is e to the old LSE minus the new one.",
        ),
        WrongAnswer(
            "new-output-not-rescaled",
            _wrong(new=lambda before, lse, both: np.ones_like(both)),
            "The block's own attention was added as it is. Its share is e to the block's LSE minus the new one.",
        ),
        WrongAnswer(
            "averaged",
            _averaged,
            "You took the average of the old output and the block's. The side with the larger sum of exponentials counts "
            "more.",
        ),
        WrongAnswer(
            "block-only",
            _block_only,
            "The state is that of the block alone: what was known before is lost.",
        ),
        WrongAnswer(
            "larger-lse-kept",
            _wrong(kept=_largest_of_both),
            "The output is right, but the new LSE is the larger of the two. It is ln(e^a + e^b).",
        ),
        WrongAnswer(
            "lse-of-the-block-only",
            _wrong(kept=_lse_of_the_block),
            "The output is right, but the LSE is that of the block alone. It has to cover all keys so far.",
        ),
        WrongAnswer(
            "old-lse-kept",
            _wrong(kept=lambda before, lse, both: before + 0 * both),
            "The output is right, but the LSE was left as it was. It has to cover the block's keys as well.",
        ),
        WrongAnswer(
            "lses-added",
            _wrong(kept=_added),
            "You added the two LSEs. That multiplies the sums of exponentials; the new LSE is ln(e^a + e^b).",
        ),
        WrongAnswer(
            "no-scaling", _wrong(scores=_scale(0.0)), "The scale is missing: divide the scores by √d_k."
        ),
        WrongAnswer(
            "scaled-by-d-k", _wrong(scores=_scale(1.0)), "You divided by d_k; it is its square root."
        ),
        WrongAnswer(
            "multiplied-by-root-d-k",
            _wrong(scores=_scale(-0.5)),
            "You multiplied by √d_k where you have to divide.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _with(_bare),
            "The exponential of a score, or of the LSE, overflows near 1,000 and vanishes near −1,000. Subtract the "
            "largest of the scores and the old LSE before.",
        ),
        WrongAnswer(
            "less-than-the-maximum-subtracted",
            _subtracting(lambda s: s.mean(axis=-1, keepdims=True)),
            "What you subtract of a row is not its largest score: its mean, say, or its smallest or first. In a row that spreads "
            "over thousands the largest still overflows. Subtract the largest of the scores and the old LSE.",
        ),
        WrongAnswer(
            "both-sides-empty",
            _wrong(guard=lambda both: both),
            "An empty block meets a state that has seen no key: both LSEs are −∞ and so is the new one, and −∞ − (−∞) is "
            "NaN. Subtract 0 there.",
        ),
        WrongAnswer(
            "nan-without-keys",
            _nan_without_keys,
            "Before any key has come, and with an empty block, the largest score is −∞, and −∞ − (−∞) is NaN. Take 0 in "
            "its place.",
        ),
        WrongAnswer(
            "maximum-starts-at-zero",
            _starts_at_zero,
            "The maximum starts at 0, so with all scores near −1,000 every exponential vanishes. Start at −∞.",
        ),
        WrongAnswer(
            "finite-number-for-infinity",
            _finite_for_infinity,
            "A finite number stands for the LSE −∞ of a row that has seen no key. A row of scores below it loses its "
            "keys: keep −∞, and guard −∞ − (−∞) alone.",
        ),
        WrongAnswer(
            "output-not-divided",
            _not_divided,
            "The output is still a sum of exponentials times values: divide by the sum of the exponentials.",
        ),
        WrongAnswer(
            "log-to-base-two",
            _log2,
            "The LSE is to base 2. It is the natural logarithm here.",
        ),
        WrongAnswer(
            "sum-in-place-of-its-logarithm",
            _sum_kept,
            "The last column holds the sum of the exponentials. It has to be its logarithm: the sum overflows.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            _softmax_over_queries,
            "The exponentials were divided by sums over the queries. Each query has its own row.",
        ),
        WrongAnswer(
            "lse-in-the-first-column",
            _lse_first,
            "The LSE stands in the first column. It belongs into the last one.",
        ),
        WrongAnswer(
            "output-only",
            _output_only,
            "The LSE is missing: the next step needs it. Join it to the output as the last column.",
        ),
        WrongAnswer(
            "tuple-not-array",
            _two_parts,
            "You returned output and LSE apart. The state is one array, with the LSE in its last column.",
        ),
        WrongAnswer(
            "changes-its-input",
            _changes_the_state,
            "Your function writes into the caller's state. Make a new array.",
        ),
    ),
    also_right=(_by_merging, _key_by_key),
    hints=(
        "Lesson 07's merge of two parts does it: which is the second part, and what are its output and its LSE?",
        "The block has scores, a sum of exponentials and a weighted sum of values. The old state counts as one more key: "
        "its score is the old LSE, and its value the old output.",
        "Take `highest`, the largest of the scores and the old LSE (0 where that is −∞). Then the new sum is "
        "`np.exp(old_lse - highest) + np.exp(scores - highest).sum(...)`, and the LSE is `highest + np.log(...)` of it.",
    ),
    invariants=(
        Invariant(
            "lse-falls",
            "In at least one row the LSE is smaller than before. More keys can only make it larger.",
            lambda inputs, out: bool(
                out.shape != inputs[0].shape
                or np.all(out[..., -1] >= inputs[0][..., -1] - 1e-4 * (1 + np.abs(out[..., -1])))
            ),
        ),
    ),
    mistakes=MISTAKES,
)
