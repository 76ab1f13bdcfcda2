"""Which text a mark belongs to."""

from sdpa_helpers.grading.lift_words import digest
from sdpa_helpers.grading.result import Graded, GradedNotebook, GradedWords


def digest_of(result: GradedNotebook, graded: Graded) -> str:
    """Of an answer's text, in code or in words; "" where there is none."""
    if isinstance(graded, GradedWords):
        return graded.digest
    text = result.answers.get(graded.name, "")
    return digest(text) if text else ""
