"""Lesson 07, exercise `merge`: two partial results of attention become one."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each

PROMPT = r"""`merge(out_a, lse_a, out_b, lse_b)`: the same queries met some of the keys in part a and the others in part b. Make one result of the two, as if all keys had been there at once.

- `out_a`, `out_b`, shape `(..., n_q, d_v)`: the output of each part, divided by the part's own sum.
- `lse_a`, `lse_b`, shape `(..., n_q)`: the logarithm of that sum, $\mathrm{LSE} = \ln\sum_j e^{s_j}$, with scores from −20,000 to 20,000.
- A part in which a query saw no key has LSE −∞ and output 0.
- Returns a tuple `(out, lse)` with the shapes of `out_a` and `lse_a`. Where both parts are empty: output 0 and LSE −∞.

Example: {inputs:1}. The sums are 1 and 2, so b counts twice as much, and the sum of both is 3: {result:1}.
"""


def merge(out_a, lse_a, out_b, lse_b):
    """Output and LSE of two parts -> (out, lse) of both together."""
    lse = np.logaddexp(lse_a, lse_b)
    finite = np.where(lse == -np.inf, 0.0, lse)  # −∞ − (−∞) would be NaN
    share_a, share_b = np.exp(lse_a - finite), np.exp(lse_b - finite)
    return share_a[..., None] * out_a + share_b[..., None] * out_b, lse


# ---- mistakes, as products ----------------------------------------------------------------------------------


def _finite(x):
    return np.where(np.isneginf(x), 0.0, x)


def _larger(a, b):
    return _finite(np.maximum(a, b))


def _exponentials(a, b, shift):
    return np.exp(a - shift), np.exp(b - shift)


def _build(shift, parts, line_up, out, lse, empty):
    """A merge whose steps can be wrong."""

    def merge(out_a, lse_a, out_b, lse_b):
        top = shift(lse_a, lse_b)
        a, b = parts(lse_a, lse_b, top)
        total = a + b
        safe = empty(total)
        joined = out(line_up(a / safe), out_a, line_up(b / safe), out_b, line_up(total))
        return joined, lse(lse_a, lse_b, top)

    return merge


def _log_of_sum(a, b, shift):
    return shift + np.log(np.exp(a - shift) + np.exp(b - shift))


MISTAKES = Products(
    (
        Factor(
            "shift",
            _larger,
            (
                Option("no-maximum-subtracted", lambda a, b: np.zeros(a.shape)),
                Option(
                    "one-maximum-for-all-rows",
                    lambda a, b: np.full(a.shape, _finite(np.maximum(a, b).max())),
                ),
                Option("maximum-of-one-part-only", lambda a, b: _finite(a)),
                Option("minus-infinity-minus-minus-infinity", lambda a, b: np.maximum(a, b)),
                Option(
                    "no-maximum-beside-an-empty-part",
                    lambda a, b: np.where(np.isinf(a) | np.isinf(b), 0.0, np.maximum(a, b)),
                ),
            ),
        ),
        Factor(
            "parts",
            _exponentials,
            (
                Option("parts-exchanged", lambda a, b, shift: _exponentials(b, a, shift)),
                Option("plain-average", lambda a, b, shift: (np.ones(a.shape), np.ones(b.shape))),
                Option("lse-as-weights", lambda a, b, shift: (_finite(a), _finite(b))),
                Option("lse-as-weights", lambda a, b, shift: (a / (a + b), b / (a + b))),
                Option("lse-as-weights", lambda a, b, shift: (a / (a + b), 1 - a / (a + b)), rare=True),
                Option("larger-part-wins", lambda a, b, shift: ((a > b) + 0.0, (a <= b) + 0.0)),
                Option(
                    "exp2-for-exp",
                    lambda a, b, shift: (np.exp2(a - shift), np.exp2(b - shift)),
                ),
            ),
        ),
        Factor(
            "line_up",
            lambda x: x[..., None],
            (
                Option("shares-not-lined-up", lambda x: x),
                Option("one-axis-in-front-only", lambda x: x[:, None]),
            ),
        ),
        Factor(
            "out",
            lambda a, out_a, b, out_b, total: a * out_a + b * out_b,
            (
                Option(
                    "output-not-divided",
                    lambda a, out_a, b, out_b, total: (a * out_a + b * out_b) * total,
                ),
                Option("outputs-added", lambda a, out_a, b, out_b, total: out_a + out_b),
            ),
        ),
        Factor(
            "lse",
            _log_of_sum,
            (
                Option(
                    "maximum-not-added-back",
                    lambda a, b, shift: np.log(np.exp(a - shift) + np.exp(b - shift)),
                ),
                Option("lse-is-the-larger", lambda a, b, shift: np.maximum(a, b)),
                Option("lse-added", lambda a, b, shift: a + b),
                Option("lse-averaged", lambda a, b, shift: (a + b) / 2),
                Option(
                    "sum-for-its-logarithm",
                    lambda a, b, shift: np.exp(a - shift) + np.exp(b - shift),
                ),
                Option("empty-lse-zero", lambda a, b, shift: _finite(_log_of_sum(a, b, shift))),
                Option(
                    "empty-lse-finite",
                    lambda a, b, shift: (
                        shift + np.log(np.maximum(np.exp(a - shift) + np.exp(b - shift), 1e-30))
                    ),
                ),
            ),
        ),
        Factor(
            "empty",
            lambda total: np.where(total == 0, 1.0, total),
            (
                Option("empty-row-is-nan", lambda total: total),
                Option("small-number-in-the-denominator", lambda total: total + 1e-6),
            ),
        ),
    ),
    _build,
)
_RIGHT = {factor.name: factor.right for factor in MISTAKES.factors}


def _with(**parts):
    return _build(**(_RIGHT | parts))


def _option(name):
    """The answer that deviates in this option alone."""
    return next(d.function for d in MISTAKES.deviants(1) if d.names == (name,))


# ---- mistakes of other kinds, and other right answers -------------------------------------------------------


def _without_maximum(out_a, lse_a, out_b, lse_b):
    a, b = np.exp(lse_a), np.exp(lse_b)
    return (a[..., None] * out_a + b[..., None] * out_b) / (a + b)[..., None], np.log(a + b)


def _lse_without_maximum(out_a, lse_a, out_b, lse_b):
    return merge(out_a, lse_a, out_b, lse_b)[0], np.log(np.exp(lse_a) + np.exp(lse_b))


def _all_from_an_lse_without_maximum(out_a, lse_a, out_b, lse_b):
    lse = np.log(np.exp(lse_a) + np.exp(lse_b))
    return np.exp(lse_a - lse)[..., None] * out_a + np.exp(lse_b - lse)[..., None] * out_b, lse


def _nan_hidden(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    out = np.exp(lse_a - lse)[..., None] * out_a + np.exp(lse_b - lse)[..., None] * out_b
    return np.nan_to_num(out), np.nan_to_num(lse)


def _guarded_at_the_end(out_a, lse_a, out_b, lse_b):
    lse = np.logaddexp(lse_a, lse_b)
    out = np.exp(lse_a - lse)[..., None] * out_a + np.exp(lse_b - lse)[..., None] * out_b
    return np.where((lse == -np.inf)[..., None], 0.0, out), lse


def _by_sigmoid(out_a, lse_a, out_b, lse_b):
    empty = np.isneginf(lse_a) & np.isneginf(lse_b)
    gap = np.where(empty, 0.0, lse_b - np.where(empty, 0.0, lse_a))
    share = 1 / (1 + np.exp(gap))
    out = out_a + (1 - share)[..., None] * (out_b - out_a)
    return out, np.logaddexp(lse_a, lse_b)


def _one_by_one(out_a, lse_a, out_b, lse_b):
    out, lse = np.zeros(out_a.shape), np.full(lse_a.shape, -np.inf)
    for at in np.ndindex(*lse_a.shape):
        top = max(lse_a[at], lse_b[at])
        if top > -np.inf:
            a, b = np.exp(lse_a[at] - top), np.exp(lse_b[at] - top)
            out[at], lse[at] = (a * out_a[at] + b * out_b[at]) / (a + b), top + np.log(a + b)
    return out, lse


# ---- cases --------------------------------------------------------------------------------------------------


def _part(rng, n_q, n_k, d_v, *batch):
    """A real partial result: its output and LSE."""
    scores, V = 2 * rng.normal(size=(*batch, n_q, n_k)), 3 * rng.normal(size=(*batch, n_k, d_v))
    e = np.exp(scores)
    return e @ V / e.sum(axis=-1, keepdims=True), np.log(e.sum(axis=-1))


def _two(rng, n_q, d_v, *batch):
    return *_part(rng, n_q, 5, d_v, *batch), *_part(rng, n_q, 3, d_v, *batch)


def _moved(rng, by_a, by_b, d_v):
    """Two parts whose scores lie so far from 0."""
    out_a, lse_a, out_b, lse_b = _two(rng, len(by_a), d_v)
    return out_a, lse_a + np.array(by_a), out_b, lse_b + np.array(by_b)


def _emptied(parts, in_a, in_b):
    out_a, lse_a, out_b, lse_b = parts
    for rows, out, lse in ((in_a, out_a, lse_a), (in_b, out_b, lse_b)):
        out[..., rows, :], lse[..., rows] = 0.0, -np.inf
    return out_a, lse_a, out_b, lse_b


def _one_empty(rng):
    """A part without keys beside one whose scores are high, low, ordinary."""
    far = [*(rng.uniform(2000.0, 20_000.0, size=2) * [1.0, -1.0]), 0.0]
    by_a, by_b = np.zeros(5), np.zeros(5)
    by_b[[0, 2, 4]], by_a[[1, 3]] = rng.permutation(far), rng.permutation(far[:2])
    return _emptied(_moved(rng, by_a, by_b, 3), [0, 2, 4], [1, 3])


def _equal_sums(rng):
    out_a, lse_a, out_b, _ = _two(rng, 4, 2)
    return out_a, lse_a, out_b, lse_a.copy()


def _drawn(rng, n_q, d_v):
    return _two(rng, n_q, d_v)


EXERCISE = Exercise(
    name="merge",
    lesson="07_flash_attention",
    title="Merge two partial results",
    prompt=PROMPT,
    examples=(Example(([[1]], [0], [[4]], [np.log(2)]), shows="([[3]], [ln 3])"),),
    difficulty=3,
    minutes=10,
    reference=merge,
    section="3. One number: the LSE",
    cases=(
        Case(
            "five keys and three more",
            lambda rng: _two(rng, 4, 3),
            points=2,
            says="Two parts of one attention. All eight keys at once give what the merged parts have to give.",
        ),
        Case("both sums equal", _equal_sums, says="Only here is the plain average right."),
        Case(
            "batch and heads, strided, read-only",
            lambda rng: tuple(map(read_only_strided, _two(rng, 4, 5, 2, 3))),
        ),
        Case(
            "scores near ±1000",
            lambda rng: _moved(rng, [1000, -1000, 1000, -1000, 3], [1000, -1000, -1000, 1000, 2], 2),
            points=2,
            says="exp(LSE) overflows near 1000, and is 0 near −1000. Only differences of LSEs may go into exp.",
        ),
        Case(
            "scores near −20,000",
            lambda rng: _moved(rng, [-20_000] * 3, [-20_000] * 3, 4),
            says="Low scores are no empty part: with the maximum subtracted they are as ordinary as any.",
        ),
        Case(
            "a part without keys",
            _one_empty,
            points=2,
            says="LSE −∞ in one part: the result is the other part, however large or small its LSE.",
        ),
        Case(
            "no keys in either part",
            lambda rng: _emptied(_two(rng, 4, 3, 2), [1, 2], [1, 3]),
            says="Row 1 saw no key at all: output 0, LSE −∞, and its neighbours are not touched.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _two(rng, 3, 3, 3),
            says="Three axes of length 3: no error tells that LSE and output are lined up the wrong way.",
        ),
        *one_of_each(_drawn, n_q=5, d_v=4),
        Case(
            "a batch of one",
            lambda rng: _two(rng, 3, 2, 1, 2),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "one head",
            lambda rng: _two(rng, 4, 5, 3, 1),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("more queries, wider values", lambda rng: _two(rng, 11, 13)),
    ),
    wrong=(
        WrongAnswer(
            "plain-average",
            _option("plain-average"),
            "You took the plain average of the two outputs. A part with larger scores, or with more keys, counts for more: "
            "its share is exp(its LSE) out of the sum of both.",
        ),
        WrongAnswer(
            "outputs-added",
            _option("outputs-added"),
            "You added the outputs. Each was divided by its own sum already; each has to be weighted with its share of the "
            "sum of both.",
        ),
        WrongAnswer(
            "parts-exchanged",
            _option("parts-exchanged"),
            "The shares are exchanged: part a is weighted with the sum of part b, and the other way around.",
        ),
        WrongAnswer(
            "lse-as-weights",
            _option("lse-as-weights"),
            "You weighted with the LSEs themselves. They are logarithms, and may be 0 or negative: the sums are exp(LSE).",
        ),
        WrongAnswer(
            "larger-part-wins",
            _option("larger-part-wins"),
            "Every query got the output of the part with the larger LSE. Both parts have their share.",
        ),
        WrongAnswer(
            "exp2-for-exp",
            _option("exp2-for-exp"),
            "You raised 2, not e, to the LSEs: the shares come out too even.",
        ),
        WrongAnswer(
            "output-not-divided",
            _option("output-not-divided"),
            "The output is not divided by the sum of both parts: the shares of a and b have to add up to 1.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _option("no-maximum-subtracted"),
            "You took exp(LSE) as it is, which overflows near 1000 and is 0 near −1000. Subtract the larger LSE of each row "
            "first: it cancels in the shares, and comes back in the logarithm.",
        ),
        WrongAnswer(
            "no-maximum-and-no-empty-row",
            _without_maximum,
            "You took exp(LSE) as it is: it overflows near 1000, and near −1000, as for a row without keys, 0/0 is left. "
            "Subtract the larger LSE of each row first, and divide by 1 where there is no key.",
        ),
        WrongAnswer(
            "lse-without-the-maximum",
            _lse_without_maximum,
            "The outputs are right, and the new LSE is made of exp(LSE) as it is, which overflows near 1000. Use "
            "`np.logaddexp`, or subtract the larger LSE and add it back after the logarithm.",
        ),
        WrongAnswer(
            "shares-from-an-lse-without-the-maximum",
            _all_from_an_lse_without_maximum,
            "Your new LSE is the logarithm of exp(LSE) as it is: infinite near 1000, −∞ near −1000, and the shares that you "
            "make from it are no better. Use `np.logaddexp`, and where both parts are empty subtract 0.",
        ),
        WrongAnswer(
            "one-maximum-for-all-rows",
            _option("one-maximum-for-all-rows"),
            "All rows share one maximum. A row far below it is left with 0 + 0. Each row needs its own: "
            "`np.maximum(lse_a, lse_b)`.",
        ),
        WrongAnswer(
            "maximum-of-one-part-only",
            _option("maximum-of-one-part-only"),
            "You subtract the LSE of part a, even where that of part b is far larger and its exponential overflows. Take "
            "the larger of the two.",
        ),
        WrongAnswer(
            "no-maximum-beside-an-empty-part",
            _option("no-maximum-beside-an-empty-part"),
            "Where one part is empty you subtract 0, and the exponential of the other part's LSE overflows, or is 0. Subtract 0 "
            "only where both are empty; else the larger LSE, which is then the other part's.",
        ),
        WrongAnswer(
            "minus-infinity-minus-minus-infinity",
            _option("minus-infinity-minus-minus-infinity"),
            "Where both parts are empty you compute −∞ − (−∞), which is NaN. Subtract 0 there.",
        ),
        WrongAnswer(
            "empty-row-is-nan",
            _option("empty-row-is-nan"),
            "Where both parts are empty the output is NaN: their sum is 0 and its logarithm −∞, so you compute 0/0, or "
            "−∞ − (−∞). The output should be 0: divide by 1 there, or subtract 0.",
        ),
        WrongAnswer(
            "small-number-in-the-denominator",
            _option("small-number-in-the-denominator"),
            "A small number in the denominator makes the shares add up to less than 1. With the maximum subtracted the sum "
            "is at least 1; only where both parts are empty another denominator is needed.",
        ),
        WrongAnswer(
            "nan-hidden",
            _nan_hidden,
            "You replaced what is not finite at the end. That turns an LSE of −∞, which says that there was no key, "
            "into a finite number, and the next merge will believe it.",
        ),
        WrongAnswer(
            "empty-lse-zero",
            _option("empty-lse-zero"),
            "Where both parts are empty you return LSE 0. That says that the exponentials add up to 1, and in the next "
            "merge this row of zeros gets a share. It is −∞: the logarithm of 0.",
        ),
        WrongAnswer(
            "empty-lse-finite",
            _option("empty-lse-finite"),
            "Where both parts are empty you return a finite LSE. Scores may be lower than that, and then a row without keys "
            "outweighs them. It is −∞: the logarithm of 0.",
        ),
        WrongAnswer(
            "maximum-not-added-back",
            _option("maximum-not-added-back"),
            "The new LSE lacks the maximum that you subtracted. Add it again: largest + log(sum).",
        ),
        WrongAnswer(
            "lse-is-the-larger",
            _option("lse-is-the-larger"),
            "The new LSE is the larger of the two. The sums add up, so it is larger than both: log(exp(a) + exp(b)).",
        ),
        WrongAnswer(
            "lse-added",
            _option("lse-added"),
            "You added the LSEs, which multiplies the sums. The sums add up: log(exp(a) + exp(b)).",
        ),
        WrongAnswer(
            "lse-averaged",
            _option("lse-averaged"),
            "You averaged the LSEs. The sums add up: log(exp(a) + exp(b)).",
        ),
        WrongAnswer(
            "sum-for-its-logarithm",
            _option("sum-for-its-logarithm"),
            "In place of the new LSE stands the sum itself. Take the logarithm, and add the maximum again.",
        ),
        WrongAnswer(
            "shares-not-lined-up",
            _option("shares-not-lined-up"),
            "The shares, one for each query, met the last axis of the output, its coordinates. Give them an axis of length 1 "
            "at the end: `share[..., None]`.",
        ),
        WrongAnswer(
            "one-axis-in-front-only",
            _option("one-axis-in-front-only"),
            "You lined the shares up with `[:, None]`. That is right without a batch; `[..., None]` puts the axis at the end "
            "whatever is in front.",
        ),
        WrongAnswer(
            "second-part-lost",
            lambda out_a, lse_a, out_b, lse_b: (out_a + 0.0, lse_a + 0.0),
            "You returned part a as it came. Part b has its share, too.",
        ),
    ),
    also_right=(_with(), _guarded_at_the_end, _by_sigmoid, _one_by_one),
    hints=(
        "What was each output divided by? LSE is the logarithm of that number.",
        "Multiply each output by its sum again, add, and divide by the sum of both. The sums are exp(LSE): too large for "
        "exp, so subtract the larger LSE from both first.",
        "`lse = np.logaddexp(lse_a, lse_b)` is the new LSE, and `np.exp(lse_a - lse)[..., None]` the share of part a. Where "
        "`lse` is −∞, subtract 0.",
    ),
    mistakes=MISTAKES,
)
