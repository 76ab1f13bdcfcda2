"""Lesson 07: the ladder to attention in tiles."""

from sdpa_helpers.lessons.code_ladder import CodeLadder, WrongLine

LADDERS = (
    CodeLadder(
        "tiled_attention",
        wrong=(
            WrongLine(
                "largest = np.full", "largest = np.zeros((*q.shape[:-1], 1))", "maximum-started-at-zero"
            ),
            WrongLine("seen =", "seen = np.tri(*scores.shape[-2:], dtype=bool)", "mask-forgets-the-tile"),
            WrongLine(
                "total = total",
                "total = total + exponentials.sum(axis=-1, keepdims=True)",
                "sum-not-rescaled",
            ),
            WrongLine("out[", "out[..., top : top + block_q, :] = summed", "not-divided"),
        ),
        blanks=("np.exp(before - largest)", "np.maximum(before, scores.max(axis=-1, keepdims=True))"),
    ),
)
