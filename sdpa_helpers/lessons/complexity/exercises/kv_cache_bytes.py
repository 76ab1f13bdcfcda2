"""Lesson 06, exercise `kv_cache_bytes`: bytes of the KV cache."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`kv_cache_bytes(n, layers, kv_heads, head_dim, bytes_per_element=2)`: the bytes of keys and values that a model keeps in memory while it writes.

- For each of `n` tokens, each layer keeps the **keys and the values** of `kv_heads` heads, vectors of `head_dim` numbers.
- `bytes_per_element`: 2 for half precision, 0.5 for 4-bit numbers.
- Returns the number of bytes for one text. (A batch of 8 texts takes 8 times as much: each brings its own cache.)

Example: {inputs:1} is {result:1}: 300 numbers of keys, as many of values, 2 bytes each.
"""


def kv_cache_bytes(n, layers, kv_heads, head_dim, bytes_per_element=2):
    """Bytes of the keys and values of n tokens, all layers: one number."""
    return float(2 * n * layers * kv_heads * head_dim * bytes_per_element)


def _cache(formula):
    """A formula as an answer, with the default that the exercise states."""
    return lambda n, layers, kv_heads, head_dim, bytes_per_element=2: formula(
        n, layers, kv_heads, head_dim, bytes_per_element
    )


def _long(rng):
    return 2 * int(rng.integers(50_000, 65_000)) + 1, 41, 5, 127, 1


def _needs_float64(*given):
    """Whether float32 would show in the result."""
    count = kv_cache_bytes(*given)
    return abs(float(np.float32(count)) / count - 1) > 2e-8


def _build(kept, length, layers, heads, width, size, unit):
    def kv_cache_bytes(n, m, h, w, bytes_per_element=None):
        numbers = kept * length(n) * (m if layers else 1) * (h if heads else 1) * width(w, h)
        return numbers * size(bytes_per_element) / unit

    return kv_cache_bytes


MISTAKES = Products(
    (
        Factor("kept", 2, (Option("keys-only", 1), Option("queries-kept-too", 3))),
        Factor(
            "length",
            lambda n: n,
            (Option("length-squared", lambda n: n**2), Option("length-forgotten", lambda n: 1)),
        ),
        Factor("layers", True, (Option("layers-forgotten", False),)),
        Factor("heads", True, (Option("heads-forgotten", False),)),
        Factor(
            "width",
            lambda width, heads: width,
            (
                Option("head-dim-forgotten", lambda width, heads: 1),
                Option("width-divided-by-heads", lambda width, heads: width // heads),
            ),
        ),
        Factor(
            "size",
            lambda size: 2 if size is None else size,
            (
                Option("numbers-not-bytes", lambda size: 1),
                Option("always-four-bytes", lambda size: 4),
                Option("always-two-bytes", lambda size: 2),
                Option("default-of-four-bytes", lambda size: 4 if size is None else size),
                Option("default-of-four-bytes", lambda size: 1 if size is None else size),
                Option("bits-not-bytes", lambda size: 8 * (2 if size is None else size)),
            ),
        ),
        Factor(
            "unit",
            1,
            (
                Option("mebibytes-not-bytes", 2**20),
                Option("megabytes-not-bytes", 10**6),
                Option("gibibytes-not-bytes", 2**30),
                Option("gigabytes-not-bytes", 10**9),
                Option("kibibytes-not-bytes", 2**10),
                Option("kilobytes-not-bytes", 10**3),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="kv_cache_bytes",
    lesson="06_complexity",
    title="Bytes of the KV cache",
    prompt=PROMPT,
    examples=(Example((10,), (("layers", 3), ("kv_heads", 2), ("head_dim", 5)), form="call"),),
    difficulty=1,
    minutes=5,
    reference=kv_cache_bytes,
    section="7. Decoding and the KV cache",
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
        Case("a long text, 8 bits", lambda rng: redraw(rng, _long, _needs_float64)),
        Case(
            "4-bit numbers",
            lambda rng: (2 * int(rng.integers(50, 100)) + 1, 3, 5, 15, 0.5),  # odd: no part of it is whole
            says="A 4-bit number takes half a byte.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "keys-only",
            _cache(lambda n, layers, heads, width, size: n * layers * heads * width * size),
            "Keys and values are both kept: a factor of 2 is missing.",
        ),
        WrongAnswer(
            "queries-kept-too",
            _cache(lambda n, layers, heads, width, size: 3 * n * layers * heads * width * size),
            "You kept queries as well. A query is used once, when its token is written, and never again.",
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
            "The heads are missing, or divided out again: each head of keys has head_dim numbers per token.",
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
            "These are MiB. Return bytes.",
        ),
        WrongAnswer(
            "kibibytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 2**10),
            "These are KiB. Return bytes: don't divide by 2¹⁰.",
        ),
        WrongAnswer(
            "kilobytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 10**3),
            "These are kB. Return bytes: don't divide by 10³.",
        ),
        WrongAnswer(
            "gibibytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 2**30),
            "These are GiB. Return bytes.",
        ),
        WrongAnswer(
            "megabytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 10**6),
            "These are MB. Return bytes.",
        ),
        WrongAnswer(
            "default-of-four-bytes",
            lambda n, layers, heads, width, bytes_per_element=4: (
                2 * n * layers * heads * width * bytes_per_element
            ),
            "Where nothing is said, a number takes 2 bytes here: `bytes_per_element=2`. You took another default.",
        ),
        WrongAnswer(
            "rounded-to-whole-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * int(size)),
            "You made bytes_per_element a whole number. A 4-bit number takes half a byte, and int(0.5) is 0.",
        ),
        WrongAnswer(
            "each-vector-rounded-up",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * np.ceil(width * size)),
            "You rounded the bytes of each vector up. Nothing is rounded here: two 4-bit numbers share a byte, also where "
            "one vector ends and the next begins.",
        ),
        WrongAnswer(
            "gigabytes-not-bytes",
            _cache(lambda n, layers, heads, width, size: 2 * n * layers * heads * width * size / 10**9),
            "These are GB. Return bytes.",
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
    mistakes=MISTAKES,
)
