"""Lesson 07, in words, `explain_flash_attention`: explain it to a colleague in four sentences."""

from sdpa_helpers.checking.kinds.written_exercise import Criterion, WrittenExercise

PROMPT = r"""A colleague knows the formula $\mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_k})\,V$ and asks: *"What does FlashAttention do differently?"* Explain it in four sentences, without code. Your colleague should be able to tell afterwards what changes, what does not, and why anybody bothers.
"""

ORDER = 100
EXERCISE = WrittenExercise(
    name="explain_flash_attention",
    lesson="07_flash_attention",
    title="Explain it to a colleague in four sentences",
    prompt=PROMPT,
    difficulty=3,
    minutes=10,
    criteria=(
        Criterion("same-result", "what it computes, compared with the formula"),
        Criterion("running-state", "what each query keeps while its keys come by, block after block"),
        Criterion("rescaling", "what happens when a later block has a larger score, and why that is exact"),
        Criterion("saving", "what is saved, and what costs as much as before"),
    ),
    section="1. A sum that can be carried along",
)
