"""Lesson 09, exercise `bytes_sent`: what each rank sends, in a ring and with Ulysses."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`bytes_sent(n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2)`: how many bytes does *each rank* send for one layer, forward only?

- `n` tokens are spread evenly over `ranks`. There are `heads` query heads, which share `kv_heads` heads of keys and values. `ranks` divides both numbers of heads; where it does not divide `n`, calculate with the fraction.
- **ring**: each block of keys and values goes once around, to every other rank. Queries and outputs stay.
- **Ulysses**: a rank has a share of the rows of Q, K and V, keeps the part that belongs to its own heads, and sends the rest to the other ranks. After attention the outputs go back in the same way.
- Returns a tuple of two numbers, `(ring, ulysses)`.

Example: {example:1}. A block has 5 rows, 5 · 2 · (3 + 4) numbers, and makes one hop. With Ulysses a rank sends half of its share of Q, K, V and of the output.
"""


def bytes_sent(n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2):
    """Bytes that each rank sends: -> (ring, ulysses)."""
    ring = (ranks - 1) * (n / ranks) * kv_heads * (d_k + d_v)
    share = (n / ranks) * (heads + kv_heads) * (d_k + d_v)  # of Q and the output, of K and V
    ulysses = share * (ranks - 1) / ranks
    return ring * bytes_per_number, ulysses * bytes_per_number


def _build(hops, groups, carried, kept, size):
    def function(n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2):
        each = size(bytes_per_number)
        ring = hops(ranks) * n / ranks * groups(heads, kv_heads) * (d_k + d_v)
        swapped = n / ranks * carried(heads, kv_heads, d_k, d_v) * kept(ranks)
        return ring * each, swapped * each

    return function


MISTAKES = Products(
    (
        Factor(
            "hops",
            lambda ranks: ranks - 1,
            (
                Option("one-hop-too-many", lambda ranks: ranks),
                Option("one-hop-only", lambda ranks: 1),
                Option("all-ranks-together", lambda ranks: ranks * (ranks - 1)),
            ),
        ),
        Factor(
            "groups",
            lambda heads, kv_heads: kv_heads,
            (Option("query-heads-in-the-ring", lambda heads, kv_heads: heads),),
        ),
        Factor(
            "carried",
            lambda heads, kv_heads, d_k, d_v: (heads + kv_heads) * (d_k + d_v),
            (
                Option("output-not-sent-back", lambda h, g, d_k, d_v: h * d_k + g * (d_k + d_v)),
                Option("queries-not-sent", lambda h, g, d_k, d_v: g * (d_k + d_v) + h * d_v),
                Option("keys-and-values-only", lambda h, g, d_k, d_v: g * (d_k + d_v)),
                Option("keys-and-values-twice", lambda h, g, d_k, d_v: (h + 2 * g) * (d_k + d_v)),
                Option("all-heads-of-queries", lambda h, g, d_k, d_v: 2 * h * (d_k + d_v)),
            ),
        ),
        Factor(
            "kept",
            lambda ranks: (ranks - 1) / ranks,
            (
                Option("own-part-sent-too", lambda ranks: 1.0),
                Option("sent-to-everyone", lambda ranks: ranks - 1),
            ),
        ),
        Factor(
            "size",
            lambda size: size,
            (
                Option("numbers-not-bytes", lambda size: 1),
                Option("always-two-bytes", lambda size: 2),
                Option("bits-not-bytes", lambda size: 8 * size),
            ),
        ),
    ),
    _build,
)

RIGHT = {factor.name: factor.right for factor in MISTAKES.factors}


def _wrong(**deviation):
    return _build(**(RIGHT | deviation))


def _counted(n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2):
    """Message by message."""
    rows = n / ranks
    ring = sum(rows * kv_heads * d * bytes_per_number for d in (d_k, d_v) for _ in range(ranks - 1))
    ulysses = 0
    for _ in range(ranks - 1):
        for count, d in ((heads, d_k), (kv_heads, d_k), (kv_heads, d_v), (heads, d_v)):
            ulysses += rows * (count // ranks) * d * bytes_per_number
    return ring, ulysses


def _sizes(rng, ranks, groups, heads):
    rows = int(rng.integers(5, 12)) * 2 + 1
    return rows * ranks, ranks, heads, groups, int(rng.integers(5, 8)), int(rng.integers(9, 14))


def _large(rng):
    return 2**17 + int(rng.integers(1, 9999)), 8, 128, 8, 128, 97, 2


def _needs_float64(*sizes):
    """Whether float32 would show in both results."""
    return all(abs(float(np.float32(one)) / one - 1) > 2e-8 for one in bytes_sent(*sizes))


EXERCISE = Exercise(
    name="bytes_sent",
    lesson="09_many_machines",
    title="What each rank sends",
    prompt=PROMPT,
    examples=(Example((10, 2, 6, 2, 3, 4), (("bytes_per_number", 4),), form="call"),),
    difficulty=3,
    minutes=12,
    reference=bytes_sent,
    section="5. Three ways, and what they send",
    cases=(
        Case("as many heads of keys as of queries", lambda rng: (*_sizes(rng, 3, 12, 12), 2)),
        Case(
            "shared keys and values",
            lambda rng: (*_sizes(rng, 4, 4, 20), 2),
            says="The ring sends heads of keys and values; queries and outputs have more heads, and only Ulysses sends "
            "those.",
        ),
        Case("float32", lambda rng: (*_sizes(rng, 5, 10, 30), 4), says="Four bytes a number."),
        Case("two bytes when nothing is said", lambda rng: _sizes(rng, 2, 6, 18)),
        Case(
            "one rank",
            lambda rng: (*_sizes(rng, 1, 3, 9), 4),
            says="It has everything: nothing is sent.",
        ),
        Case(
            "a length that does not divide",
            lambda rng: (7 * int(rng.integers(1, 60)) + 3, 7, 7, 7, 1, 2, 2),
            says="A rank has n/ranks rows on average, and that need not be a whole number.",
        ),
        Case(
            "a large model",
            lambda rng: redraw(rng, _large, _needs_float64),
            says="Large numbers; float32 would lose digits.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-hop-too-many",
            _wrong(hops=lambda ranks: ranks),
            "In the ring you counted as many hops as ranks. A block begins at home: after ranks − 1 hops it has been "
            "everywhere.",
        ),
        WrongAnswer(
            "one-hop-only",
            _wrong(hops=lambda ranks: 1),
            "In the ring you counted a rank's own block once. It also passes on the blocks that come by: ranks − 1 in all.",
        ),
        WrongAnswer(
            "all-ranks-together",
            _wrong(hops=lambda ranks: ranks * (ranks - 1)),
            "In the ring you added up all ranks. The question is what one of them sends.",
        ),
        WrongAnswer(
            "query-heads-in-the-ring",
            _wrong(groups=lambda heads, kv_heads: heads),
            "In the ring you used the number of query heads. Keys and values have kv_heads, and the queries stay.",
        ),
        WrongAnswer(
            "output-not-sent-back",
            _wrong(carried=lambda h, g, d_k, d_v: h * d_k + g * (d_k + d_v)),
            "With Ulysses the outputs are missing: they are swapped back, heads · d_v numbers a row.",
        ),
        WrongAnswer(
            "queries-not-sent",
            _wrong(carried=lambda h, g, d_k, d_v: g * (d_k + d_v) + h * d_v),
            "With Ulysses the queries are missing: they are swapped too, heads · d_k numbers a row.",
        ),
        WrongAnswer(
            "keys-and-values-only",
            _wrong(carried=lambda h, g, d_k, d_v: g * (d_k + d_v)),
            "With Ulysses you counted keys and values only. Queries and outputs are swapped as well.",
        ),
        WrongAnswer(
            "all-heads-of-queries",
            _wrong(carried=lambda h, g, d_k, d_v: 2 * h * (d_k + d_v)),
            "With Ulysses you counted as many heads of keys and values as of queries. They have kv_heads.",
        ),
        WrongAnswer(
            "keys-and-values-twice",
            _wrong(carried=lambda h, g, d_k, d_v: (h + 2 * g) * (d_k + d_v)),
            "With Ulysses you counted keys and values twice: d_k + d_v already stands for a key and a value.",
        ),
        WrongAnswer(
            "own-part-sent-too",
            _wrong(kept=lambda ranks: 1.0),
            "With Ulysses you counted all that a rank has. It keeps the part of its own heads: (ranks − 1)/ranks leave.",
        ),
        WrongAnswer(
            "sent-to-everyone",
            _wrong(kept=lambda ranks: ranks - 1),
            "With Ulysses you sent all of a rank's share to every other rank. Each of them gets only the part that belongs "
            "to its heads.",
        ),
        WrongAnswer(
            "numbers-not-bytes",
            _wrong(size=lambda size: 1),
            "You counted numbers. Each of them takes bytes_per_number bytes.",
        ),
        WrongAnswer(
            "always-two-bytes",
            _wrong(size=lambda size: 2),
            "You always count two bytes. Use bytes_per_number: float32 takes four.",
        ),
        WrongAnswer(
            "bits-not-bytes", _wrong(size=lambda size: 8 * size), "These are bits, eight times the bytes."
        ),
        WrongAnswer(
            "swapped",
            lambda *sizes: bytes_sent(*sizes)[::-1],
            "The two numbers are in each other's place: the ring comes first.",
        ),
        WrongAnswer(
            "values-as-wide-as-keys",
            lambda n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2: bytes_sent(
                n, ranks, heads, kv_heads, d_k, d_k, bytes_per_number
            ),
            "You used d_k for the values and outputs, too. Their width is d_v.",
        ),
    ),
    also_right=(
        _counted,
        lambda n, ranks, heads, kv_heads, d_k, d_v, bytes_per_number=2: tuple(
            np.array([(ranks - 1) / ranks * kv_heads, (ranks - 1) / ranks**2 * (heads + kv_heads)])
            * n
            * (d_k + d_v)
            * bytes_per_number
        ),
    ),
    hints=(
        "How many numbers are in a block of keys and values? How many hops does each block make, and how many blocks "
        "does a rank send on?",
        "Ring: ranks − 1 blocks of n/ranks rows. Ulysses: a rank's share of Q, K, V and of the output, of which 1/ranks "
        "stays.",
        "`ring = (ranks - 1) * n / ranks * kv_heads * (d_k + d_v) * bytes_per_number`; for Ulysses a row has "
        "`heads + kv_heads` in place of `kv_heads`, and what is the factor in front?",
    ),
    mistakes=MISTAKES,
    spared=(
        (
            "return (ring * bytes_per_number, ulysses * bytes_per_number) → "
            "return (np.round(ring * bytes_per_number, 4), ulysses * bytes_per_number)",
            "what the ring sends is a whole number where ranks divides kv_heads",
        ),
    ),
)
