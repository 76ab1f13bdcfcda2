"""What each kind of flag means, in one sentence for the instructor; docs/grading.md has the same table."""

FLAG_KINDS = {
    "answer-cell-error": "An answer cell ended with an error after its function was defined; the function was graded.",
    "answer-line-missing": (
        "The first line that names the exercise is gone, or stands over something else; the answer was found in "
        "another way."
    ),
    "answer-too-long": "An answer is longer than what is read; one in code is then not graded.",
    "could-not-be-read": "An answer took too long to read, or too much memory: what it uses is not known. Look at it.",
    "definitions-stopped": "The learner's own definitions beside the answers ended the run; it was made without them.",
    "doubled-answer": "An exercise has several cells with its line; the last one that defines the function was graded.",
    "dynamic-code": (
        "While the answer ran, it did what answers have no need of (ran a text, looked into frames, …). It costs "
        "nothing; look at it."
    ),
    "edited-check": "A check cell was changed; the original one was used, so it had no effect.",
    "forbidden-call": "The answer used what isn't there when it is graded; `--forbidden` says what that costs.",
    "forged-output": "A result did not come as a check sends it, and earned nothing: somebody tried, or printed a lot.",
    "kept-under-another-name": "The name on the file cannot be kept everywhere, so this learner is called otherwise.",
    "late": "The file came after the deadline; `--late` says what that costs.",
    "malformed-message": "The code wrote into the grader's own connection, which ended the run.",
    "no-time": "Time ran out on the clock, maybe on a busy machine; too many others did too for a second try.",
    "not-a-code-cell": "An answer's cell is one of text, as pressing the key m makes it; the code in it was graded.",
    "odd-file": "The file was damaged, doubled or packed in an odd way.",
    "passed-over": "Another file comes first and holds no answer that can be graded, so this one was.",
    "ready-made": "NumPy has this answer ready: whether it was understood can't be told. It costs nothing.",
    "several-files": "There are several files for this notebook; one of them was graded.",
    "slept": "An answer waited without computing until it was ended; the machine was not busy.",
    "test-marker": "A comment that would steer the test runner stands in an answer; it had no effect.",
    "too-many-definitions": "Cells beside the answers hold more definitions than are taken; some were left out.",
}


def meaning_of(kind: str) -> str:
    """The sentence, or "" for a kind that an older version wrote."""
    return FLAG_KINDS.get(kind, "")
