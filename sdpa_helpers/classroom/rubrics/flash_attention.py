"""Lesson 07: what a reader looks for, and a model answer to each question."""

from sdpa_helpers.classroom.rubrics import Guide

GUIDES = {
    "explain_flash_attention": {
        "same-result": Guide(
            "The same function: exact attention, up to rounding, with the same softmax over all keys.",
            "“An approximation”, “sparse” or “linear attention”. Also “softmax block by block”, as if each block had a "
            "softmax of its own.",
        ),
        "running-state": Guide(
            "Per query a running maximum, a running sum of exponentials and a running weighted sum of values, all of a "
            "size that does not depend on the number of keys.",
            "“It keeps the scores of all blocks”, or “it processes blocks” without saying what is carried from one to "
            "the next. Maximum and sum without the output earn nothing: then the values would need a second pass.",
        ),
        "rescaling": Guide(
            "Sum and output so far are multiplied by e to the (old maximum − new maximum). That is exact because it "
            "only changes the common factor of numerator and denominator, which cancels in the final division.",
            "Only the sum is rescaled; or the outputs of the blocks are averaged. “Numerically stable” alone says that "
            "something is subtracted, not what happens when it changes.",
        ),
        "saving": Guide(
            "The n × n matrix is never written to memory: what is held grows like n, and far fewer bytes move. The "
            "products stay: as many FLOPs forward, and a few more backward, where scores are computed again.",
            "“Fewer operations” or “linear time”: the time still grows like n². “Needs no memory” is wrong as well.",
        ),
    },
}

MODEL_ANSWERS = {
    "explain_flash_attention": r"""FlashAttention computes exactly the same function, the softmax over *all* keys times the values, and differs from the formula by rounding only. It walks through keys and values in blocks, and for each query it carries three things from block to block: the largest score so far, the sum of the exponentials relative to it, and the sum of the values weighted by these exponentials. When a block brings a larger score, it multiplies the sum and the output so far by $e^{m_{\text{old}} - m_{\text{new}}}$, a factor that numerator and denominator share and that cancels in the one division at the end. So the $n \times n$ matrix is never stored: memory grows like $n$ instead of $n^2$ and far fewer bytes travel, which is where the speed comes from, while the two matrix products cost as many operations as before, and still grow like $n^2$.""",
}
