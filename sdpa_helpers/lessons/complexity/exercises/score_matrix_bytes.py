"""Lesson 06, exercise `score_matrix_bytes`: bytes of the score matrices."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`score_matrix_bytes(n, heads=1, layers=1, bytes_per_element=4)`: how many bytes do the matrices of scores take, if every head of every layer is kept?

- `n`: the number of tokens. Each head has one matrix of shape `(n, n)`, stored in full.
- `heads` in each layer, `layers` in the model.
- `bytes_per_element`: 4 for float32, 2 for half precision, 0.5 for 4-bit numbers.
- Returns the number of **bytes**. Not bits, not MB, not MiB.

Example: {inputs:1} is {result:1}: six matrices of 100 numbers with 4 bytes each.
"""


def score_matrix_bytes(n, heads=1, layers=1, bytes_per_element=4):
    """Bytes of one (n, n) matrix for each head of each layer: one number."""
    return float(n**2 * heads * layers * bytes_per_element)


def _one_of(rng, *values):
    return values[int(rng.integers(len(values)))]


def _scores(formula):
    """A formula as an answer, with the defaults that the exercise states."""
    return lambda n, heads=1, layers=1, bytes_per_element=4: formula(n, heads, layers, bytes_per_element)


def _odd(rng):
    return (2 * int(rng.integers(2500, 4500)) + 1,)


def _needs_float64(n):
    """Whether float32 would show in the result."""
    return abs(float(np.float32(4 * n**2)) / (4 * n**2) - 1) > 2e-8


def _build(length, heads, layers, size, unit):
    def score_matrix_bytes(n, h=1, m=1, bytes_per_element=None):
        return length(n) * heads(h) * (m if layers else 1) * size(bytes_per_element) / unit

    return score_matrix_bytes


MISTAKES = Products(
    (
        Factor(
            "length",
            lambda n: n**2,
            (
                Option("length-not-squared", lambda n: n),
                Option("lower-triangle-only", lambda n: n * (n + 1) / 2),
                Option("scores-and-weights", lambda n: 2 * n**2),
            ),
        ),
        Factor(
            "heads",
            lambda heads: heads,
            (
                Option("heads-forgotten", lambda heads: 1),
                Option("heads-share-the-length", lambda heads: 1 / heads),
            ),
        ),
        Factor("layers", True, (Option("layers-forgotten", False),)),
        Factor(
            "size",
            lambda size: 4 if size is None else size,
            (
                Option("numbers-not-bytes", lambda size: 1),
                Option("always-four-bytes", lambda size: 4),
                Option("always-two-bytes", lambda size: 2),
                Option("default-of-two-bytes", lambda size: 2 if size is None else size),
                Option("default-of-two-bytes", lambda size: 1 if size is None else size),
                Option("bits-not-bytes", lambda size: 8 * (4 if size is None else size)),
                Option("divided-by-eight", lambda size: (4 if size is None else size) / 8),
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
    name="score_matrix_bytes",
    lesson="06_complexity",
    title="Bytes of the score matrices",
    prompt=PROMPT,
    examples=(Example((10,), (("heads", 3), ("layers", 2)), form="call"),),
    difficulty=1,
    minutes=5,
    reference=score_matrix_bytes,
    section="3. The matrix of scores",
    cases=(
        Case(
            "one head of one layer",
            lambda rng: redraw(rng, _odd, _needs_float64),
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
            lambda rng: (1024 * int(rng.integers(4, 40)), 96, 96, 4),
            says="Bytes, as they are: no MB and no MiB on the way.",
        ),
        Case(
            "4-bit numbers",
            lambda rng: (int(rng.integers(50, 100)) * 2 + 1, 3, 5, 0.5),
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
            "These are MiB. Return bytes: don't divide by 2²⁰.",
        ),
        WrongAnswer(
            "megabytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 10**6),
            "These are MB. Return bytes: don't divide by 10⁶.",
        ),
        WrongAnswer(
            "gibibytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 2**30),
            "These are GiB. Return bytes: don't divide by 2³⁰.",
        ),
        WrongAnswer(
            "kibibytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 2**10),
            "These are KiB. Return bytes: don't divide by 2¹⁰.",
        ),
        WrongAnswer(
            "kilobytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 10**3),
            "These are kB. Return bytes: don't divide by 10³.",
        ),
        WrongAnswer(
            "default-of-two-bytes",
            lambda n, heads=1, layers=1, bytes_per_element=2: n**2 * heads * layers * bytes_per_element,
            "Where nothing is said, a number takes 4 bytes here: `bytes_per_element=4`. You took another default.",
        ),
        WrongAnswer(
            "rounded-to-whole-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * int(size)),
            "You made bytes_per_element a whole number. A 4-bit number takes half a byte, and int(0.5) is 0.",
        ),
        WrongAnswer(
            "each-matrix-rounded-up",
            _scores(lambda n, heads, layers, size: np.ceil(n**2 * size) * heads * layers),
            "You rounded the bytes of each matrix up. Nothing is rounded here: two 4-bit numbers share a byte, also where "
            "one matrix ends and the next begins.",
        ),
        WrongAnswer(
            "gigabytes-not-bytes",
            _scores(lambda n, heads, layers, size: n**2 * heads * layers * size / 10**9),
            "These are GB. Return bytes: don't divide by 10⁹.",
        ),
        WrongAnswer(
            "mib-taken-for-mb",
            _scores(lambda n, heads, layers, size: n**2 * size / 2**20 * heads * layers * 1e6),
            "You divided by 2²⁰ and multiplied by 10⁶: MiB taken for MB, 4.6 % too little. It is the mistake behind "
            "the 590 GB.",
        ),
        WrongAnswer(
            "scores-and-weights",
            _scores(lambda n, heads, layers, size: 2 * n**2 * heads * layers * size),
            "You counted two matrices, scores and weights. Count one matrix per head and layer.",
        ),
        WrongAnswer(
            "lower-triangle-only",
            _scores(lambda n, heads, layers, size: n * (n + 1) // 2 * heads * layers * size),
            "You counted the lower triangle. A stored matrix takes all n² places, also those that a mask hides.",
        ),
        WrongAnswer(
            "heads-share-the-length",
            _scores(lambda n, heads, layers, size: (n / heads) ** 2 * heads * layers * size),
            "You divided by the number of heads, or the length among them. Heads share the width d_model; each sees "
            "all n tokens and has a full matrix: multiply.",
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
    mistakes=MISTAKES,
)
