"""Lesson 06, exercise `test_cases_for_attention_flops`: one test case that catches all its known wrong versions."""

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import so_many, whole
from sdpa_helpers.lessons.complexity.exercises.attention_flops import EXERCISE as ATTENTION_FLOPS

MOST = 1
PROMPT = prompt_of_hunt(
    "attention_flops",
    MOST,
    "`(n_q, n_k, d_k, d_v)`, four whole numbers from 1 to a million. There is one test case only: choose it well.",
    "((3, 4, 5, 5), 240)",
)


def test_cases_for_attention_flops():
    """One test case that catches every known wrong version -> [((n_q, n_k, d_k, d_v), expected)]."""
    return [
        ((3000, 5000, 70, 110), 2 * 3000 * 5000 * (70 + 110))
    ]  # all different, and more than 32 bits hold


def _promised(inputs):
    so_many(inputs, 4)
    return tuple(
        whole(n, name, 1, 10**6) for n, name in zip(inputs, ("n_q", "n_k", "d_k", "d_v"), strict=True)
    )


HUNT = Hunt(
    of=ATTENTION_FLOPS,
    promised=_promised,
    model=test_cases_for_attention_flops,
    most=MOST,
    blind=(
        BlindSpot("two-lengths-alike", lambda cases: all(n_q == n_k for n_q, n_k, *_ in cases)),
        BlindSpot("two-widths-alike", lambda cases: all(d_k == d_v for *_, d_k, d_v in cases)),
        BlindSpot("a-length-of-one", lambda cases: all(1 in (n_q, n_k) for n_q, n_k, *_ in cases)),
        BlindSpot("few-flops", lambda cases: all(2 * a * b * (c + d) < 2**31 for a, b, c, d in cases)),
    ),
)


def _of(n_q, n_k, d_k, d_v):
    return lambda: [((n_q, n_k, d_k, d_v), 2 * n_q * n_k * (d_k + d_v))]


EXERCISE = Exercise(
    name="test_cases_for_attention_flops",
    lesson="06_complexity",
    title="Catch every wrong count of FLOPs with one case",
    prompt=PROMPT,
    section=ATTENTION_FLOPS.section,
    difficulty=2,
    minutes=6,
    reference=test_cases_for_attention_flops,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "two-lengths-alike",
            _of(4096, 4096, 70, 110),
            "You have as many queries as keys, so a version that squares one of them gets away. Let them differ.",
        ),
        WrongAnswer(
            "two-widths-alike",
            _of(3000, 5000, 64, 64),
            "Your keys and values have the same width, so a version that uses one for both gets away. Let them differ.",
        ),
        WrongAnswer(
            "few-flops",
            _of(3, 5, 7, 11),
            "Your four numbers differ, and they are small. Real counts are large: a version that counts in 32 bits is "
            "right up to 2,147,483,647.",
        ),
        WrongAnswer(
            "a-length-of-one",
            _of(1, 10**6, 2000, 3000),
            "One of your lengths is 1, and a factor of 1 may be left out without anybody noticing.",
        ),
        *usual_mistakes(test_cases_for_attention_flops, (0, 1, 1, 1)),
    ),
    also_right=(
        _of(100_001, 70_003, 3, 5),
        lambda: (((7000, 3000, 110, 70), 2.0 * 7000 * 3000 * 180),),
    ),
    hints=(
        "A version that confuses two of the four numbers is right whenever these two are equal.",
        "Four different numbers, none of them 1 or 2, whose count of FLOPs is large: some versions count in 32 bits.",
        "Lengths of some thousands and widths of about a hundred give more than 2³¹ FLOPs: `(3000, 5000, 70, 110)`.",
    ),
)
