"""Lesson 06, exercise `kv_cache_bytes`: bytes of the KV cache."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer

PROMPT = """`kv_cache_bytes(n, layers, kv_heads, head_dim, bytes_per_element=2)`: what a model keeps in memory while it writes.

- For each of `n` tokens, each layer keeps the **keys and the values** of `kv_heads` heads, vectors of `head_dim` numbers.
- Returns the number of bytes.

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


EXERCISE = Exercise(
    name="kv_cache_bytes",
    lesson="06_complexity",
    title="Bytes of the KV cache",
    prompt=PROMPT,
    examples=(Example((10,), (("layers", 3), ("kv_heads", 2), ("head_dim", 5)), form="call"),),
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
