"""Lesson 06, exercise `shape_that_breaks_the_limit`: small inputs whose matrix of scores does not fit."""

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import whole

PROMPT = r"""`shape_that_breaks_the_limit()`: the inputs of attention can be small while its matrix of scores is not. Make an example.

Return `(batch, heads, n)`, three whole numbers from 1 to a million. `Q`, `K` and `V` each have the shape `(batch, heads, n, 128)`, the matrix of scores has `(batch, heads, n, n)`, and every number takes 2 bytes. Your shape earns points for these (a GiB is $2^{30}$ bytes):

1. the matrix of scores takes more than 16 GiB (1 point),
2. it does, and `Q`, `K` and `V` together take at most 1 GiB (1 point),
3. both hold, and for no shorter `n` could they hold, whatever `batch` and `heads` are (1 point).
"""


def shape_that_breaks_the_limit():
    """The shortest n with a matrix over 16 GiB from inputs of at most 1 GiB -> (batch, heads, n)."""
    n = 1
    while True:
        heads = 2**30 // (3 * n * 128 * 2)  # as many as the inputs leave room for
        if heads * n * n * 2 > 2**34:
            return 1, heads, n
        n += 1


_GIB = 2**30
_SHORTEST = shape_that_breaks_the_limit()[2]


def _made(value):
    """(batch · heads, n), or why there are none."""
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Misses("no-shape", "what came back is not three whole numbers (batch, heads, n)")
    try:
        batch, heads, n = (
            whole(m, name, 1, 10**6) for m, name in zip(value, ("batch", "heads", "n"), strict=True)
        )
    except ValueError as error:
        raise Misses(
            "no-shape", "one of the three is not a whole number from 1 to a million", str(error)
        ) from None
    return batch * heads, n


def _matrix_is_too_large(value):
    heads, n = _made(value)
    matrix = 2 * heads * n * n
    if matrix > 16 * _GIB:
        return
    seen = f"it takes {matrix / _GIB:.4g} GiB"
    if matrix > 16e9:
        raise Misses(
            "gigabytes-not-gibibytes", "the matrix takes more than 16 GB, but not more than 16 GiB", seen
        )
    raise Misses("the-matrix-fits", "the matrix of scores takes no more than 16 GiB", seen)


def _inputs_fit(value):
    _matrix_is_too_large(value)
    heads, n = _made(value)
    inputs = 3 * 2 * heads * n * 128
    if inputs > _GIB:
        seen = f"they take {inputs / _GIB:.4g} GiB"
        raise Misses("the-inputs-do-not-fit", "Q, K and V together take more than 1 GiB", seen)


def _shortest(value):
    _inputs_fit(value)
    _, n = _made(value)
    if n > _SHORTEST:
        raise Misses(
            "not-the-shortest", "a shorter n would do, with another number of heads", f"yours is {n:,}"
        )


EXERCISE = Exercise(
    name="shape_that_breaks_the_limit",
    lesson="06_complexity",
    title="Make a shape whose scores do not fit",
    prompt=PROMPT,
    section="3. The matrix of scores",
    difficulty=3,
    minutes=8,
    reference=shape_that_breaks_the_limit,
    cases=(
        criterion(
            "the matrix takes more than 16 GiB",
            _matrix_is_too_large,
            says="It has batch · heads · n² numbers of 2 bytes.",
        ),
        criterion(
            "and the inputs take at most 1 GiB",
            _inputs_fit,
            says="Three arrays of batch · heads · n · 128 numbers.",
        ),
        criterion(
            "and no shorter n would do",
            _shortest,
            says="The matrix is n/(3 · 128) times as large as the inputs, and it has to be more than 16 times as large.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "the-matrix-fits",
            lambda: (1, 8, 4096),
            "Your matrix of scores fits into 16 GiB. It has n² numbers for each head: make n larger first.",
        ),
        WrongAnswer(
            "gigabytes-not-gibibytes",
            lambda: (1, 1, 90_000),
            "You counted in GB of 10⁹ bytes. A GiB has 2³⁰ bytes, about 7% more, and that is what the limit is in.",
        ),
        WrongAnswer(
            "the-inputs-do-not-fit",
            lambda: (64, 32, 4096),
            "Your matrix is too large, and so are your inputs. More heads make both larger alike; a longer n makes the "
            "matrix grow faster than the inputs.",
        ),
        WrongAnswer(
            "not-the-shortest",
            lambda: (1, 8, 32_769),
            "That is one. For the last point look for the shortest n: with n shorter, more heads are needed, and they "
            "make the inputs grow. Let a loop look for it.",
        ),
        WrongAnswer(
            "no-shape",
            lambda: (1, 32, 6200.0),
            "What came back is not `(batch, heads, n)`, three whole numbers from 1 to a million.",
        ),
    ),
    also_right=(
        lambda: (shape_that_breaks_the_limit()[1], 1, _SHORTEST),
        lambda: [1, shape_that_breaks_the_limit()[1], _SHORTEST],
    ),
    hints=(
        "How many times as large as the inputs is the matrix? Only one of the three numbers stands in that ratio.",
        "The ratio is n²·2 to 3·n·128·2, or n/384. It has to exceed 16, so n is more than 6144; then the number of heads "
        "has to be whole.",
        "For each n from 6145 on take as many heads as the inputs leave room for, `2**30 // (3 * n * 128 * 2)`, and look "
        "whether the matrix is over `2**34` bytes.",
    ),
)
