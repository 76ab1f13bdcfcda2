"""Several hundred answers that lie beside the pages of exercises: see `classroom.answers_as_written`."""

from functools import cache
from pathlib import Path

from sdpa_helpers.checking.naming.as_if import AS_IF
from sdpa_helpers.classroom.answers_as_written import CorpusAnswer, all_answers, function_of, read

__all__ = ["GENERAL", "HERE", "CorpusAnswer", "entries", "function_of", "read"]

HERE = Path(__file__).parent

GENERAL = AS_IF | frozenset(
    {
        "list-not-array",
        "transpose-wants-all-axes",
        "no-first-value",
        "arguments-in-another-order",
        "parts-in-another-order",
        "tensor-not-array",
        "tuple-not-array",
        "list-not-tuple",
        "array-not-tuple",
        "one-element-array",
        "numbers-not-booleans",
        "floats-not-integers",
        "changes-its-input",
        "differs-each-call",
        "returned-nothing",
        "too-much-memory",
        "truth-of-an-array",
        "name-not-defined",
        "arguments-do-not-fit",
        "unpacks-a-shape",
        "where-without-out",
        "no-such-argument",
        "no-such-name-in-numpy",
        "none-for-a-value",
        "divided-by-zero",
        "largest-of-nothing",
        "float-for-a-whole-number",
        "float32-somewhere",
        "half-precision-somewhere",
        "rounded",
        "squeezed",
        "extra-leading-axis",
        "swapped-last-axes",
        "two-axes-only",
    }
)
"""Names that can be true of an answer to any exercise: the forms, kinds and conduct that the checks know."""


@cache
def entries() -> tuple[CorpusAnswer, ...]:
    """All answers of all lessons, in the order of their files; ValueError names a malformed file and its header."""
    return all_answers()
