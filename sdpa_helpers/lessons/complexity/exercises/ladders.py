"""Lesson 06: the ladder to attention in chunks."""

from sdpa_helpers.lessons.code_ladder import CodeLadder, WrongLine

LADDERS = (
    CodeLadder(
        "chunked_attention",
        wrong=(
            WrongLine("out =", "out = np.empty(Q.shape, dtype=Q.dtype)", "output-shaped-like-queries"),
            WrongLine(
                "scores =",
                "scores = Q[..., i : i + chunk, :] @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])",
                "scaled-by-d-v",
            ),
            WrongLine("weights =", "weights = np.exp(scores - scores.max())", "one-maximum-per-chunk"),
            WrongLine("out[", "out[..., i : i + chunk, :] = weights @ V", "not-normalised"),
        ),
        blanks=("Q[..., i : i + chunk, :]", "weights.sum(axis=-1, keepdims=True)"),
    ),
)
