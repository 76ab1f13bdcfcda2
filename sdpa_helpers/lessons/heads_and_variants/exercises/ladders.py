"""Lesson 08: the ladder to multi-head attention."""

from sdpa_helpers.lessons.code_ladder import CodeLadder, WrongLine

LADDERS = (
    CodeLadder(
        "multi_head_attention",
        wrong=(
            WrongLine(
                "Q, K, V =",
                "Q, K, V = ((x @ W).reshape(*x.shape[:-2], num_heads, x.shape[-2], -1) for W in (W_q, W_k, W_v))",
                "heads-cut-by-reshape",
            ),
            WrongLine(
                "scores = Q",
                "scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(x.shape[-1])",
                "scaled-by-the-whole-width",
            ),
            WrongLine("merged =", "merged = heads.reshape(*x.shape[:-1], -1)", "heads-joined-by-reshape"),
            WrongLine("return", "return merged", "output-not-projected"),
        ),
        blanks=("np.swapaxes((x @ W).reshape(cut), -2, -3)", "np.swapaxes(heads, -2, -3)"),
    ),
)
