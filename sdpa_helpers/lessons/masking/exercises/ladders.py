"""Lesson 05: the ladder to attention with a mask."""

from sdpa_helpers.lessons.code_ladder import CodeLadder, WrongLine

LADDERS = (
    CodeLadder(
        "attention",
        wrong=(
            WrongLine("scores = Q", "scores = Q @ np.swapaxes(K, -1, -2)", "no-scaling"),
            WrongLine("scores = np.where", "scores = np.where(mask, -np.inf, scores)", "mask-inverted"),
            WrongLine(
                "largest = scores.max", "largest = scores.max()", "maximum-of-the-whole-array-but-guarded"
            ),
            WrongLine("return", "return weights @ V", "weights-not-returned"),
        ),
        blanks=("np.where(mask, scores, -np.inf)", "np.where(total == 0, 1.0, total)"),
    ),
)
