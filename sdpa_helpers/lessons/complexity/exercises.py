"""Exercises of lesson 06: FLOPs, bytes, the KV cache, a crossover, an exponent, a roofline, attention in chunks."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.lessons.complexity.exercises_chunked import CHUNKED_ATTENTION

LESSON = "06_complexity"


def _one_of(rng, *values):
    return values[int(rng.integers(len(values)))]


# ---- attention_flops ------------------------------------------------------------------------------------


def attention_flops(n_q, n_k, d_k, d_v):
    """FLOPs of the two matrix products of attention, 2 for each multiply-add."""
    return 2.0 * n_q * n_k * (d_k + d_v)


def _flops_counted(n_q, n_k, d_k, d_v):
    scores = sum(2 * d_k for _ in range(n_q)) * n_k
    return scores + n_q * d_v * (2 * n_k)


ATTENTION_FLOPS = Exercise(
    name="attention_flops",
    lesson=LESSON,
    title="FLOPs of attention",
    difficulty=1,
    minutes=5,
    reference=attention_flops,
    section="1. Count what is done",
    cases=(
        Case(
            "four different sizes",
            lambda rng: (int(rng.integers(4, 7)), 11, 3, 2),
            says="Write down both products: how many entries has the result, and how many multiply-adds has an entry?",
        ),
        Case(
            "values wider than keys",
            lambda rng: (5, 7, int(rng.integers(3, 6)), 19),
            says="The first product sums over d_k; the second makes d_v numbers for each query.",
        ),
        Case(
            "one query, many keys",
            lambda rng: (1, int(rng.integers(900, 1100)), 80, 48),
            says="Decoding: one query meets all stored keys.",
        ),
        Case(
            "a long sequence",
            lambda rng: (int(rng.integers(30_000, 40_000)), 50_000, 128, 96),
            says="The count has to be right for large sizes too.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-flop-per-multiply-add",
            lambda n_q, n_k, d_k, d_v: n_q * n_k * (d_k + d_v),
            "You counted multiply-adds. By the convention of this course each is 2 FLOPs, a "
            "multiplication and an addition.",
            ("How many operations is one multiplication together with its addition?",),
        ),
        WrongAnswer(
            "scores-only",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k,
            "You counted QKᵀ only. The product of the weights with V has as many scores to work through.",
        ),
        WrongAnswer(
            "output-only",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_v,
            "You counted A·V only. The scores QKᵀ are a matrix product too.",
        ),
        WrongAnswer(
            "d-k-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * d_k,
            "You used d_k in both products. The second one, A·V, makes d_v numbers for each query.",
        ),
        WrongAnswer(
            "d-v-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * d_v,
            "You used d_v in both products. The first one, QKᵀ, sums over d_k.",
        ),
        WrongAnswer(
            "square-of-queries",
            lambda n_q, n_k, d_k, d_v: 2 * n_q**2 * (d_k + d_v),
            "You used n_q² where it is n_q · n_k: there may be more keys than queries.",
        ),
        WrongAnswer(
            "square-of-keys",
            lambda n_q, n_k, d_k, d_v: 2 * n_k**2 * (d_k + d_v),
            "You used n_k² where it is n_q · n_k: there may be fewer queries than keys.",
        ),
        WrongAnswer(
            "softmax-counted-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v) + 5 * n_q * n_k,
            "You added operations for softmax, 5 per score. Only the two matrix products are asked for.",
        ),
        WrongAnswer(
            "exponentials-counted-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v) + n_q * n_k,
            "You added one operation per score, for the exponential or the scale. Only the two "
            "matrix products are asked for.",
        ),
        WrongAnswer(
            "one-addition-less",
            lambda n_q, n_k, d_k, d_v: n_q * n_k * (2 * d_k - 1) + n_q * d_v * (2 * n_k - 1),
            "You counted d − 1 additions for d products. That is exact, but the convention rounds it "
            "up: 2 FLOPs for each "
            "multiply-add.",
        ),
        WrongAnswer(
            "widths-multiplied",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k * d_v,
            "You multiplied d_k by d_v. The two products are done one after the other: their costs add up.",
        ),
        WrongAnswer(
            "output-squared-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k + 2 * n_q * d_k * d_v,
            "In the second product you summed over d_k. A·V sums over the keys: each of its n_q · "
            "d_v entries takes n_k "
            "multiply-adds.",
        ),
        WrongAnswer(
            "linear-in-length",
            lambda n_q, n_k, d_k, d_v: 2 * (n_q + n_k) * (d_k + d_v),
            "You added n_q and n_k. Every query meets every key: multiply them.",
        ),
        WrongAnswer(
            "projections-counted-too",
            lambda n_q, n_k, d_k, d_v: (
                2 * n_q * n_k * (d_k + d_v) + 2 * n_q * d_k**2 + 2 * n_k * (d_k**2 + d_v**2)
            ),
            "You added the projections that make Q, K and V. Attention itself starts from Q, K and V.",
        ),
        WrongAnswer(
            "larger-width-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * max(d_k, d_v),
            "You used the larger of the two widths in both products. Each product has its own: d_k, then d_v.",
        ),
        WrongAnswer(
            "four-per-multiply-add",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * (d_k + d_v),
            "Twice too many. The 4 in 4n²d holds both products already; with d_k and d_v apart it is 2 for each.",
        ),
    ),
    also_right=(
        lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k + 2 * n_q * n_k * d_v,
        lambda n_q, n_k, d_k, d_v: np.int64(2) * n_q * n_k * (d_k + d_v),
        lambda n_q, n_k, d_k, d_v: float(n_q * n_k) * 2 * d_k + float(n_q * d_v) * 2 * n_k,
        _flops_counted,
    ),
    hints=(
        "Write down the shapes of the two products, QKᵀ and A·V. How many entries has each result?",
        "An entry of QKᵀ is a sum of d_k products; an entry of A·V is a sum of n_k products. 2 FLOPs "
        "for each product.",
        "`2 * n_q * n_k * d_k` for the scores. The second product has n_q · d_v entries with n_k "
        "products each: add it.",
    ),
)


# ---- score_matrix_bytes ---------------------------------------------------------------------------------


def score_matrix_bytes(n, heads=1, layers=1, bytes_per_element=4):
    """Bytes of all (n, n) matrices of scores, when every head of every layer is kept."""
    return float(n**2 * heads * layers * bytes_per_element)


def _scores(formula):
    """A formula as an answer, with the defaults that the exercise states."""
    return lambda n, heads=1, layers=1, bytes_per_element=4: formula(n, heads, layers, bytes_per_element)


SCORE_MATRIX_BYTES = Exercise(
    name="score_matrix_bytes",
    lesson=LESSON,
    title="Bytes of the score matrices",
    difficulty=1,
    minutes=5,
    reference=score_matrix_bytes,
    section="4. Bytes, and the 590 GB",
    cases=(
        Case(
            "one head of one layer",
            lambda rng: (int(rng.integers(1000, 5000)),),
            says="One matrix of n rows and n columns, 4 bytes for each number.",
        ),
        Case(
            "several heads",
            lambda rng: (int(rng.integers(300, 600)), 12),
            says="Each head has a full matrix of its own.",
        ),
        Case(
            "heads and layers, 16 bits",
            lambda rng: (int(rng.integers(1500, 2500)), 20, 36, 2),
            says="Half as many bytes for each number, half as many in all.",
        ),
        Case(
            "the 590 GB example",
            lambda rng: (_one_of(rng, 4096, 8192, 16384), 96, 96, 4),
            says="Bytes, as they are: no MB and no MiB on the way.",
        ),
        Case(
            "4-bit numbers",
            lambda rng: (int(rng.integers(50, 100)) * 2, 3, 5, 0.5),
            says="A 4-bit number takes half a byte.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "length-not-squared",
            _scores(lambda n, heads, layers, size: n * heads * layers * size),
            "You used n where it is n²: every query has a score with every key.",
        ),
        WrongAnswer(
            "heads-forgotten",
            _scores(lambda n, heads, layers, size: n**2 * layers * size),
            "The heads are missing: each head has a matrix of its own.",
        ),
        WrongAnswer(
            "layers-forgotten",
            _scores(lambda n, heads, layers, size: n**2 * heads * size),
            "The layers are missing: here the matrices of all layers are kept.",
        ),
        WrongAnswer(
            "numbers-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers),
            "You counted the numbers. Each of them takes bytes_per_element bytes.",
        ),
        WrongAnswer(
            "always-four-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * 4),
            "You always count 4 bytes. Use bytes_per_element: half precision takes 2.",
        ),
        WrongAnswer(
            "always-two-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * 2),
            "You always count 2 bytes. Use bytes_per_element, which is 4 unless something else is said.",
        ),
        WrongAnswer(
            "bits-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size * 8),
            "These are bits, eight times the bytes.",
        ),
        WrongAnswer(
            "divided-by-eight",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 8),
            "You divided by 8, as if the number were in bits. bytes_per_element is in bytes already.",
        ),
        WrongAnswer(
            "mebibytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 2**20),
            "These are MiB. Bytes are asked for: don't divide by 2²⁰.",
        ),
        WrongAnswer(
            "megabytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 10**6),
            "These are MB. Bytes are asked for: don't divide by 10⁶.",
        ),
        WrongAnswer(
            "gibibytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 2**30),
            "These are GiB. Bytes are asked for: don't divide by 2³⁰.",
        ),
        WrongAnswer(
            "gigabytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 10**9),
            "These are GB. Bytes are asked for: don't divide by 10⁹.",
        ),
        WrongAnswer(
            "mib-taken-for-mb",
            _scores(lambda n, heads, layers, size: n**2 * size / 2**20 * heads * layers * 1e6),
            "You divided by 2²⁰ and multiplied by 10⁶: MiB taken for MB, 4.6 % too little. It is the "
            "mistake behind the "
            "590 GB.",
        ),
        WrongAnswer(
            "scores-and-weights",
            _scores(lambda n, heads, layers, size: 2 * n**2 * heads * layers * size),
            "Twice too many. Scores and weights are two matrices, but one matrix per head and layer is asked for.",
        ),
        WrongAnswer(
            "lower-triangle-only",
            _scores(lambda n, heads, layers, size: n * (n + 1) // 2 * heads * layers * size),
            "You counted the lower triangle. A stored matrix takes all n² places, also those that a mask hides.",
        ),
        WrongAnswer(
            "heads-share-the-length",
            _scores(lambda n, heads, layers, size: (n / heads) ** 2 * heads * layers * size),
            "You divided by the number of heads, or the length among them. Heads share the width "
            "d_model; each sees all n tokens "
            "and has a full matrix: multiply.",
        ),
        WrongAnswer(
            "heads-plus-layers",
            _scores(lambda n, heads, layers, size: n**2 * (heads + layers) * size),
            "You added heads and layers. Every layer has all its heads: multiply them.",
        ),
    ),
    also_right=(
        _scores(lambda n, heads, layers, size: n * n * heads * layers * size),
        _scores(lambda n, heads, layers, size: sum(n * n * heads * size for _ in range(layers))),
        _scores(lambda n, heads, layers, size: np.prod([float(n), n, heads, layers]) * size),
        _scores(lambda n, heads, layers, size: n**2 * heads * layers * (8 * size) / 8),
    ),
    hints=(
        "How many numbers are in one matrix? How many matrices are there?",
        "n² numbers for each head, heads matrices in each layer: multiply everything, then by the "
        "bytes of one number.",
        "`n**2 * heads * layers * ...`, and what is missing is the size of one number in bytes.",
    ),
)


# ---- kv_cache_bytes -------------------------------------------------------------------------------------


def kv_cache_bytes(n, layers, kv_heads, head_dim, bytes_per_element=2):
    """Bytes of the keys and values that are kept for n tokens."""
    return float(2 * n * layers * kv_heads * head_dim * bytes_per_element)


def _cache(formula):
    """A formula as an answer, with the default that the exercise states."""
    return lambda n, layers, kv_heads, head_dim, bytes_per_element=2: formula(
        n, layers, kv_heads, head_dim, bytes_per_element
    )


KV_CACHE_BYTES = Exercise(
    name="kv_cache_bytes",
    lesson=LESSON,
    title="Bytes of the KV cache",
    difficulty=1,
    minutes=5,
    reference=kv_cache_bytes,
    section="4. Bytes, and the 590 GB",
    cases=(
        Case(
            "in 16 bits",
            lambda rng: (int(rng.integers(900, 1500)), 12, 7, 80),
            says="A key and a value for each token, in each head of each layer.",
        ),
        Case(
            "in 32 bits",
            lambda rng: (int(rng.integers(300, 700)), 5, 3, 48, 4),
            says="Numbers of 4 bytes take twice the memory of numbers of 2.",
        ),
        Case(
            "one head of keys",
            lambda rng: (int(rng.integers(2000, 3000)), 30, 1, 96),
            says="Multi-query attention keeps a single head of keys and values.",
        ),
        Case("a long text, 8 bits", lambda rng: (int(rng.integers(100_000, 130_000)), 40, 6, 128, 1)),
    ),
    wrong=(
        WrongAnswer(
            "keys-only",
            _cache(lambda n, layers, heads, width, size: n * layers * heads * width * size),
            "Half of it. Keys and values are both kept.",
        ),
        WrongAnswer(
            "queries-kept-too",
            _cache(lambda n, layers, heads, width, size: 3 * n * layers * heads * width * size),
            "You kept queries as well. A query is used once, when its token is written; nobody asks for it again.",
        ),
        WrongAnswer(
            "length-squared",
            _cache(lambda n, layers, heads, width, size: 2 * n**2 * layers * heads * width * size),
            "You used n². The cache holds one key and one value per token: it grows with n.",
        ),
        WrongAnswer(
            "score-matrix-instead",
            _cache(lambda n, layers, heads, width, size: n**2 * layers * heads * size),
            "These are the matrices of scores. The cache holds keys and values.",
        ),
        WrongAnswer(
            "layers-forgotten",
            _cache(lambda n, layers, heads, width, size: 2 * n * heads * width * size),
            "The layers are missing: each layer has keys and values of its own.",
        ),
        WrongAnswer(
            "heads-forgotten",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * width * size),
            "The heads are missing: each head of keys has head_dim numbers per token.",
        ),
        WrongAnswer(
            "head-dim-forgotten",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * size),
            "head_dim is missing: a key is a vector, not one number.",
        ),
        WrongAnswer(
            "length-forgotten",
            _cache(lambda n, layers, heads, width, size: 2 * layers * heads * width * size),
            "These are the bytes of one token. The cache holds n of them.",
        ),
        WrongAnswer(
            "numbers-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width),
            "You counted the numbers. Each of them takes bytes_per_element bytes.",
        ),
        WrongAnswer(
            "always-two-bytes",
            _cache(lambda n, layers, heads, width, size: 4 * n * layers * heads * width),
            "You always count 2 bytes. Use bytes_per_element.",
        ),
        WrongAnswer(
            "always-four-bytes",
            _cache(lambda n, layers, heads, width, size: 8 * n * layers * heads * width),
            "You always count 4 bytes. Use bytes_per_element, which is 2 unless something else is said.",
        ),
        WrongAnswer(
            "bits-not-bytes",
            _cache(lambda n, layers, heads, width, size: 16 * n * layers * heads * width * size),
            "These are bits, eight times the bytes.",
        ),
        WrongAnswer(
            "mebibytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 2**20),
            "These are MiB. Bytes are asked for.",
        ),
        WrongAnswer(
            "gigabytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 10**9),
            "These are GB. Bytes are asked for.",
        ),
        WrongAnswer(
            "width-divided-by-heads",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * (width // heads) * size),
            "You divided head_dim by the number of heads. It is the width of one head already.",
        ),
    ),
    also_right=(
        _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size),
        _cache(
            lambda n, layers, heads, width, size: sum(
                float(n * heads * width * size) for _ in range(2 * layers)
            )
        ),
        _cache(lambda n, layers, heads, width, size: np.int64(n) * heads * width * 2 * layers * size),
    ),
    hints=(
        "What does one token leave behind in one layer?",
        "A key and a value for each head, head_dim numbers each. Then all layers, all tokens, and "
        "the bytes of a number.",
        "`n * layers * kv_heads * head_dim * bytes_per_element` is the keys. What else is kept?",
    ),
)


# ---- crossover_length -----------------------------------------------------------------------------------


def crossover_length(d_model, mlp_ratio=4):
    """The n at which attention has as many FLOPs as projections and MLP together."""
    projections_and_mlp = 8 * d_model**2 + 4 * mlp_ratio * d_model**2  # per token
    attention = 4 * d_model  # per token, and per token that it looks at
    return projections_and_mlp / attention


CROSSOVER_LENGTH = Exercise(
    name="crossover_length",
    lesson=LESSON,
    title="Where attention overtakes the rest",
    difficulty=2,
    minutes=10,
    reference=crossover_length,
    section="3. The rest of the layer",
    cases=(
        Case(
            "the usual MLP",
            lambda rng: (int(rng.integers(50, 100)) * 10,),
            says="Put your n into both sides: are the FLOPs equal?",
        ),
        Case(
            "a narrow MLP",
            lambda rng: (int(rng.integers(300, 500)), 2),
            says="A cheaper MLP is overtaken earlier.",
        ),
        Case("a wide MLP", lambda rng: (int(rng.integers(1000, 2000)), 7)),
        Case(
            "no MLP",
            lambda rng: (int(rng.integers(500, 900)), 0),
            says="Without an MLP only the four projections are left: 8·n·d_model² FLOPs.",
        ),
        Case("a width that is no multiple", lambda rng: (int(rng.integers(100, 200)) * 2 + 1, 2.5)),
    ),
    wrong=(
        WrongAnswer(
            "mlp-forgotten",
            lambda d_model, mlp_ratio=4: 2.0 * d_model,
            "You compared with the projections only. The MLP counts too.",
        ),
        WrongAnswer(
            "projections-forgotten",
            lambda d_model, mlp_ratio=4: float(mlp_ratio * d_model),
            "You compared with the MLP only. The four projections count too.",
        ),
        WrongAnswer(
            "output-projection-forgotten",
            lambda d_model, mlp_ratio=4: (1.5 + mlp_ratio) * d_model,
            "You counted three projections. There are four: queries, keys, values and the output.",
        ),
        WrongAnswer(
            "one-projection",
            lambda d_model, mlp_ratio=4: (0.5 + mlp_ratio) * d_model,
            "You counted one projection. There are four: queries, keys, values and the output.",
        ),
        WrongAnswer(
            "mlp-of-one-matrix",
            lambda d_model, mlp_ratio=4: (2 + mlp_ratio / 2) * d_model,
            "You counted one matrix in the MLP. It goes up to mlp_ratio · d_model and down again: two.",
        ),
        WrongAnswer(
            "gated-mlp",
            lambda d_model, mlp_ratio=4: (2 + 1.5 * mlp_ratio) * d_model,
            "You counted three matrices in the MLP, as in a gated one. Here there are two.",
        ),
        WrongAnswer(
            "scores-only",
            lambda d_model, mlp_ratio=4: (4 + 2 * mlp_ratio) * d_model,
            "For attention you counted QKᵀ only, so you think it cheaper than it is. A·V costs as much again.",
        ),
        WrongAnswer(
            "multiply-adds-on-one-side",
            lambda d_model, mlp_ratio=4: (1 + mlp_ratio / 2) * d_model,
            "You counted multiply-adds for the projections and the MLP, but FLOPs for attention. Use "
            "the same unit for both.",
        ),
        WrongAnswer(
            "mlp-ratio-ignored",
            lambda d_model, mlp_ratio=4: 6.0 * d_model,
            "6·d_model is right for mlp_ratio = 4 only. Use mlp_ratio.",
        ),
        WrongAnswer(
            "mlp-ratio-squared",
            lambda d_model, mlp_ratio=4: (2 + mlp_ratio**2) * d_model,
            "You squared mlp_ratio. A matrix of the MLP has d_model rows and mlp_ratio · d_model "
            "columns: one factor.",
        ),
        WrongAnswer(
            "just-the-width",
            lambda d_model, mlp_ratio=4: float(d_model),
            "You compared n² · d with n · d² and left the factors out. The factors are what is asked for.",
        ),
        WrongAnswer(
            "not-divided",
            lambda d_model, mlp_ratio=4: (8 + 4 * mlp_ratio) * d_model,
            "You forgot the 4 of attention's 4 · n² · d_model when you divided.",
        ),
        WrongAnswer(
            "flops-not-length",
            lambda d_model, mlp_ratio=4: (8 + 4 * mlp_ratio) * float(d_model) ** 2,
            "These are the FLOPs per token of the rest. Set them equal to attention's, and solve for n.",
        ),
        WrongAnswer(
            "upside-down",
            lambda d_model, mlp_ratio=4: d_model / (2 + mlp_ratio),
            "The factor stands upside down: a dearer MLP makes attention overtake later, not earlier.",
        ),
        WrongAnswer(
            "rounded-to-integer",
            lambda d_model, mlp_ratio=4: int((2 + mlp_ratio) * d_model),
            "You rounded to a whole number. The exact solution is asked for, also when it is not whole.",
        ),
    ),
    also_right=(
        lambda d_model, mlp_ratio=4: (2 + mlp_ratio) * d_model,
        lambda d_model, mlp_ratio=4: float(d_model * (mlp_ratio + 2)),
        lambda d_model, mlp_ratio=4: np.float64((4 + 2 * mlp_ratio) * d_model**2) / (2 * d_model),
        lambda d_model, mlp_ratio=4: (12 + 6 * mlp_ratio) * d_model / 6,
    ),
    hints=(
        "Section 3 has a table of the three parts. Where does mlp_ratio go in it?",
        "Four projections: 8·n·d². Two matrices of the MLP: 4·r·n·d². Attention: 4·n²·d. Set the "
        "last equal to the others.",
        "Divide both sides by 4·n·d: `n = (2 + ...) * d_model`.",
    ),
)


# ---- fit_exponent ---------------------------------------------------------------------------------------


def fit_exponent(sizes, times):
    """The exponent p of times ≈ c · sizes**p: the least-squares slope in logarithms."""
    x, y = np.log(sizes), np.log(times)
    x = x - x.mean()
    return (x @ y) / (x @ x)


def _power_law(rng, sizes, exponent, noise):
    sizes = np.array(sizes, dtype=float)
    return sizes, rng.uniform(1e-6, 1e-5) * sizes**exponent * np.exp(noise * rng.normal(size=len(sizes)))


def _line_through_origin(sizes, times):
    x, y = np.log(sizes), np.log(times)
    return (x @ y) / (x @ x)


def _slope(x, y):
    return np.polyfit(x, y, 1)[0]


def _fit_changing_inputs(sizes, times):
    times /= times[0]
    return _slope(np.log(sizes), np.log(times))


FIT_EXPONENT = Exercise(
    name="fit_exponent",
    lesson=LESSON,
    title="The exponent in measured times",
    difficulty=2,
    minutes=10,
    reference=fit_exponent,
    section="2. Measure the exponents",
    cases=(
        Case(
            "an exact power law",
            lambda rng: _power_law(rng, [100, 150, 400, 1000], rng.uniform(1.6, 1.9), 0.0),
            says="These times follow a power law exactly: every pair of points gives the same exponent.",
        ),
        Case(
            "measured, with noise",
            lambda rng: _power_law(rng, [128, 256, 512, 1024, 2048], rng.uniform(2.1, 2.3), 0.3),
            says="With noise it matters how you fit: least squares, all points, equal weight.",
        ),
        Case(
            "not in order, read-only",
            lambda rng: tuple(
                read_only(x)
                for x in _power_law(rng, [900, 30, 200, 5000, 70, 310], rng.uniform(0.6, 0.8), 0.2)
            ),
        ),
        Case(
            "unevenly spaced sizes",
            lambda rng: _power_law(rng, [10, 11, 12, 13, 700], rng.uniform(1.2, 1.4), 0.4),
        ),
        Case(
            "times that fall",
            lambda rng: _power_law(rng, [3, 5, 9, 21], rng.uniform(-1.4, -1.1), 0.1),
            says="Something that gets faster with size has a negative exponent.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "no-logarithms",
            lambda sizes, times: _slope(sizes, times),
            "You fitted a straight line to the times themselves. A power law is straight only when "
            "both axes are logarithmic.",
            ("What does time = c · n^p become when you take the logarithm of both sides?",),
        ),
        WrongAnswer(
            "logarithm-of-times-only",
            lambda sizes, times: _slope(sizes, np.log(times)),
            "You took the logarithm of the times only: that line fits an exponential, time = c · aⁿ.",
        ),
        WrongAnswer(
            "logarithm-of-sizes-only",
            lambda sizes, times: _slope(np.log(sizes), times),
            "You took the logarithm of the sizes only. Both sides need it.",
        ),
        WrongAnswer(
            "axes-swapped",
            lambda sizes, times: _slope(np.log(times), np.log(sizes)),
            "You fitted the size against the time: that is about 1/p.",
        ),
        WrongAnswer(
            "ends-only",
            lambda sizes, times: np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]),
            "You used the first and the last point only. Two noisy points decide everything then; fit all of them.",
        ),
        WrongAnswer(
            "smallest-and-largest-only",
            lambda sizes, times: (
                np.log(times[np.argmax(sizes)] / times[np.argmin(sizes)])
                / np.log(np.max(sizes) / np.min(sizes))
            ),
            "You used the smallest and the largest size only. Two noisy points decide everything "
            "then; fit all of them.",
        ),
        WrongAnswer(
            "mean-of-local-slopes",
            lambda sizes, times: np.mean(np.diff(np.log(times)) / np.diff(np.log(sizes))),
            "You averaged the slopes between neighbours. Close neighbours with noise then count as "
            "much as distant ones; "
            "least squares weighs them rightly.",
        ),
        WrongAnswer(
            "mean-of-slopes-in-order",
            lambda sizes, times: np.mean(
                np.diff(np.log(times)[np.argsort(sizes)]) / np.diff(np.log(np.sort(sizes)))
            ),
            "You sorted and averaged the slopes between neighbours. Close neighbours with noise then "
            "count as much as "
            "distant ones; least squares weighs them rightly.",
        ),
        WrongAnswer(
            "through-the-origin",
            _line_through_origin,
            "You forced the line through the origin, as if the constant c were 1. Subtract the means "
            "first, or fit a constant.",
        ),
        WrongAnswer(
            "constant-not-slope",
            lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1)[1],
            "This is log c, the height of the line. The slope is asked for.",
        ),
        WrongAnswer(
            "slope-and-constant",
            lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1),
            "You returned the slope together with the constant. The slope alone is asked for.",
        ),
        WrongAnswer(
            "two-different-logarithms",
            lambda sizes, times: _slope(np.log(sizes), np.log2(times)),
            "You used two different logarithms, log2 for the times: the slope is then 1.44 times too "
            "large. Any base will do, but "
            "the same for both.",
        ),
        WrongAnswer(
            "log10-and-natural",
            lambda sizes, times: _slope(np.log(sizes), np.log10(times)),
            "You used two different logarithms, log10 for the times. Any base will do, but the same for both.",
        ),
        WrongAnswer(
            "log10-of-sizes-only",
            lambda sizes, times: _slope(np.log10(sizes), np.log(times)),
            "You used two different logarithms, log10 for the sizes. Any base will do, but the same for both.",
        ),
        WrongAnswer(
            "factor-per-doubling",
            lambda sizes, times: 2 ** _slope(np.log(sizes), np.log(times)),
            "This is the factor that a doubling costs, 2^p. The exponent p itself is asked for.",
        ),
        WrongAnswer(
            "rounded",
            lambda sizes, times: np.round(_slope(np.log(sizes), np.log(times))),
            "You rounded to a whole number. A measured exponent is what it is: 1.8 is a finding.",
        ),
        WrongAnswer(
            "correlation-not-slope",
            lambda sizes, times: np.corrcoef(np.log(sizes), np.log(times))[0, 1],
            "This is the correlation: how straight the points are, not how steep the line is.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda sizes, times: abs(_slope(np.log(sizes), np.log(times))),
            "You dropped the sign: times that fall have a negative exponent.",
        ),
        WrongAnswer(
            "covariance-and-variance-differ",
            lambda sizes, times: np.cov(np.log(sizes), np.log(times))[0, 1] / np.var(np.log(sizes)),
            "You divided a covariance over n − 1 by a variance over n, np.cov's and np.var's "
            "defaults. Use the same for both.",
        ),
        WrongAnswer(
            "changes-its-input",
            _fit_changing_inputs,
            "Your function writes into the caller's array. Make a new one instead of using `/=` on it.",
        ),
    ),
    also_right=(
        lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1)[0],
        lambda sizes, times: np.polyfit(np.log2(sizes), np.log2(times), 1)[0],
        lambda sizes, times: np.cov(np.log(sizes), np.log(times))[0, 1] / np.var(np.log(sizes), ddof=1),
        lambda sizes, times: np.linalg.lstsq(
            np.stack([np.log10(sizes), np.ones(len(sizes))], axis=1), np.log10(times)
        )[0][0],
        lambda sizes, times: float(
            np.corrcoef(np.log(sizes), np.log(times))[0, 1] * np.log(times).std() / np.log(sizes).std()
        ),
    ),
    hints=(
        "Take the logarithm of time = c · n^p. What is the slope of that line?",
        "Take logarithms of both arrays, then fit a straight line by least squares, with a constant. "
        "Return its slope.",
        "`x, y = np.log(sizes), np.log(times)`; `np.polyfit(x, y, 1)` gives slope and constant, in this order.",
    ),
)


# ---- roofline -------------------------------------------------------------------------------------------


def roofline(intensity, peak_flops, bandwidth):
    """The speed in FLOP/s that an operation of this intensity can reach at most."""
    return np.minimum(peak_flops, intensity * bandwidth)


def _roofline_in_place(intensity, peak_flops, bandwidth):
    intensity *= bandwidth
    return np.minimum(intensity, peak_flops)


def _intensities(rng, ridge):
    below, above = ridge * rng.uniform(0.01, 0.9, size=3), ridge * rng.uniform(1.2, 50, size=3)
    return np.concatenate([below, above])


ROOFLINE = Exercise(
    name="roofline",
    lesson=LESSON,
    title="The roof of a machine",
    difficulty=2,
    minutes=10,
    reference=roofline,
    section="6. The roofline",
    cases=(
        Case(
            "below the ridge",
            lambda rng: (rng.uniform(0.3, 0.9), 3e11, 2e10),
            says="Here the memory is slower than the processor.",
        ),
        Case(
            "above the ridge",
            lambda rng: (rng.uniform(300, 900), 3e11, 2e10),
            says="Here the processor is slower than the memory.",
        ),
        Case("many at once", lambda rng: (read_only(_intensities(rng, 12.5)), 1.5e11, 1.2e10)),
        Case(
            "a table of a GPU",
            lambda rng: (_intensities(rng, 295.0).reshape(2, 3), 989e12, 3.35e12),
            says="Arrays of any shape: one speed for each intensity.",
        ),
        Case(
            "nothing computed",
            lambda rng: (np.array([0.0, rng.uniform(1, 2), 1e4]), 5e10, 1e10),
            says="A plain copy has intensity 0, and speed 0 in FLOP/s.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "the-larger-limit",
            lambda intensity, peak_flops, bandwidth: np.maximum(peak_flops, intensity * bandwidth),
            "You took the larger of the two limits. An operation has to wait for the slower one: the "
            "smaller limit counts.",
        ),
        WrongAnswer(
            "limits-added",
            lambda intensity, peak_flops, bandwidth: peak_flops + intensity * bandwidth,
            "You added the limits. Only the smaller one counts.",
        ),
        WrongAnswer(
            "times-added",
            lambda intensity, peak_flops, bandwidth: (
                intensity * bandwidth * peak_flops / (peak_flops + intensity * bandwidth)
            ),
            "You added the time of computing and the time of moving. The roofline lets both happen "
            "at once: the longer one counts.",
        ),
        WrongAnswer(
            "always-the-peak",
            lambda intensity, peak_flops, bandwidth: peak_flops + 0.0 * intensity,
            "You return the peak for every intensity. Below the ridge the memory is slower.",
        ),
        WrongAnswer(
            "always-the-memory",
            lambda intensity, peak_flops, bandwidth: intensity * bandwidth,
            "You return intensity · bandwidth always. Above the ridge that is more than the processor can do.",
        ),
        WrongAnswer(
            "intensity-upside-down",
            lambda intensity, peak_flops, bandwidth: np.minimum(
                peak_flops, bandwidth / np.asarray(intensity, dtype=float)
            ),
            "You divided the bandwidth by the intensity. FLOPs per byte times bytes per second gives "
            "FLOPs per second: multiply.",
        ),
        WrongAnswer(
            "a-truth-value",
            lambda intensity, peak_flops, bandwidth: np.asarray(intensity) * bandwidth < peak_flops,
            "You say which side of the ridge it is. The speed is asked for.",
        ),
        WrongAnswer(
            "the-ridge",
            lambda intensity, peak_flops, bandwidth: peak_flops / bandwidth,
            "This is the ridge, in FLOPs per byte. The speed at the given intensity is asked for.",
        ),
        WrongAnswer(
            "share-of-the-peak",
            lambda intensity, peak_flops, bandwidth: np.minimum(1.0, intensity * bandwidth / peak_flops),
            "This is the share of the peak. FLOP/s are asked for.",
        ),
        WrongAnswer(
            "giga-flops",
            lambda intensity, peak_flops, bandwidth: np.minimum(peak_flops, intensity * bandwidth) / 1e9,
            "These are GFLOP/s. FLOP/s are asked for, as the inputs are.",
        ),
        WrongAnswer(
            "numbers-not-bytes",
            lambda intensity, peak_flops, bandwidth: np.minimum(peak_flops, intensity * bandwidth / 4),
            "You divided by 4, as if the bandwidth counted bytes and the intensity float32 numbers. "
            "Both are in bytes here.",
        ),
        WrongAnswer(
            "the-smallest-of-all",
            lambda intensity, peak_flops, bandwidth: np.min(intensity * bandwidth * 1.0, initial=peak_flops),
            "You took one minimum over the whole array. Each intensity has its own: np.minimum, not np.min.",
        ),
        WrongAnswer(
            "python-min",
            lambda intensity, peak_flops, bandwidth: min(peak_flops, intensity * bandwidth),
            "Python's `min` compares two numbers and cannot choose inside an array. np.minimum does "
            "it for each entry.",
        ),
        WrongAnswer(
            "zero-above-the-ridge",
            lambda intensity, peak_flops, bandwidth: np.where(
                intensity * bandwidth < peak_flops, intensity * bandwidth, 0.0
            )[()],
            "Above the ridge you return 0. There the speed is the peak.",
        ),
        WrongAnswer(
            "changes-its-input",
            _roofline_in_place,
            "Your function writes into the caller's array. Make a new one instead of using `*=` on it.",
        ),
    ),
    also_right=(
        lambda intensity, peak_flops, bandwidth: np.fmin(np.multiply(intensity, bandwidth), peak_flops),
        lambda intensity, peak_flops, bandwidth: np.clip(intensity * bandwidth, None, peak_flops),
        lambda intensity, peak_flops, bandwidth: np.where(
            np.asarray(intensity) < peak_flops / bandwidth, np.asarray(intensity) * bandwidth, peak_flops
        ),
        lambda intensity, peak_flops, bandwidth: (
            1 / np.maximum(1 / peak_flops, 1 / (np.maximum(intensity, 1e-300) * bandwidth))
        ),
    ),
    hints=(
        "Two things limit the speed. Write both down in FLOP/s.",
        "The processor allows peak_flops. The memory allows intensity · bandwidth. The smaller one "
        "decides, entry by entry.",
        "`np.minimum(a, b)` compares entry by entry, for numbers and arrays alike.",
    ),
    invariants=(
        Invariant(
            "above-the-peak",
            "At least one speed lies above the processor's peak.",
            lambda inputs, speed: bool(np.all(speed <= inputs[1] * (1 + 1e-9))),
        ),
    ),
)


EXERCISES = (
    ATTENTION_FLOPS,
    SCORE_MATRIX_BYTES,
    KV_CACHE_BYTES,
    CROSSOVER_LENGTH,
    FIT_EXPONENT,
    ROOFLINE,
    CHUNKED_ATTENTION,
)
