"""The worlds that a learner wins one by one: each with the exercise whose answer makes their attention survive it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Prize:
    """A world to be won."""

    name: str
    exercise: str
    """Wins it, solved in full."""
    about: str
    """What the world asks for."""
    can: str
    """What one's own attention can do who has won it, behind "it can"."""


PRIZES = (
    Prize("find", "attention_scores", "who drinks what, one list at a time", "find who is asked for"),
    Prize("estimate", "scaled_scores", "not who, but how sure", "say how sure it is"),
    Prize("loud", "softmax", "queries 200 times as long", "stand queries of any size"),
    Prize("training", "attention_backward", "learn from its own gradients", "learn by its own gradients"),
    Prize("hidden", "masked_softmax", "a batch with padding", "pass over people who aren't there"),
    Prize("empty", "attention", "nobody is on the list", "say nothing where nobody is"),
    Prize(
        "many", "multi_head_attention", "many lists at once, with several heads", "answer many lists at once"
    ),
)
"""In the order of the lessons."""


def can_now(won: tuple[Prize, ...]) -> str:
    """What one's own attention can do now, in a sentence; "" where nothing is won yet."""
    abilities = [prize.can for prize in won]
    if len(abilities) < 2:
        return f"Your attention can {abilities[0]}." if abilities else ""
    return f"Your attention can {', '.join(abilities[:-1])} and {abilities[-1]}."
