"""What a function does in the head: in how many answers a mistake shows, told in a sentence or two.

Of the known wrong attentions most answer every list as if nothing were wrong. That is why such bugs live for years.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.card.side_by_side import matrices_html
from sdpa_helpers.head.learning import NEW, share_after_training, through_softmax
from sdpa_helpers.head.model import looks_up
from sdpa_helpers.head.stages import Stages, each_pair
from sdpa_helpers.head.worlds import LISTS, WORLDS, Compared, World, first_wrong, share

SECONDS = 2.0
"""For one world."""
_SHOW_ALL = tuple(world.name for world in WORLDS)
_OPEN = ("find", "many", "loud", "estimate")


@dataclass(frozen=True)
class HeadSlot:
    """How an exercise's function is put into the head, and the worlds in which it has a say."""

    stages: Callable[[Callable], Stages]
    worlds: tuple[str, ...]


PLACES = {
    "dot_product": HeadSlot(lambda f: Stages(scores=each_pair(f)), ("find",)),
    "attention_scores": HeadSlot(lambda f: Stages(scores=f), ("find", "many", "estimate")),
    "scaled_scores": HeadSlot(lambda f: Stages(scaled=f), ("find", "many", "estimate")),
    "weighted_sum": HeadSlot(lambda f: Stages(mix=f), ("find", "many", "estimate")),
    "softmax": HeadSlot(lambda f: Stages(weights=lambda scores: f(scores)), (*_OPEN, "hidden")),
    "masked_softmax": HeadSlot(
        lambda f: Stages(weights=lambda s, mask=None: f(s, np.ones(s.shape, bool) if mask is None else mask)),
        _SHOW_ALL,
    ),
    "attention": HeadSlot(lambda f: Stages(attention=f), _SHOW_ALL),
    "chunked_attention": HeadSlot(lambda f: Stages(attention=lambda Q, K, V: f(Q, K, V, 2)), _OPEN),
    "tiled_attention": HeadSlot(lambda f: Stages(attention=lambda Q, K, V: f(Q, K, V, 2, 2)), _OPEN),
}
"""By the exercise."""
BACKWARD: dict[str, Callable[[Callable], Callable]] = {
    "attention_backward": lambda f: f,
    "softmax_backward": through_softmax,
}
"""How an exercise's function trains a head."""


@dataclass(frozen=True)
class Seen:
    """What came of one world."""

    world: World
    share: float
    """Of right answers; NaN where the function ended with an error, or did not end."""

    @property
    def survives(self) -> bool:
        """Whether nothing is wrong there."""
        return self.share == 1


def seen_in(stages: Stages, worlds: tuple[str, ...] = _SHOW_ALL) -> tuple[Seen, ...]:
    """What comes of these worlds, up to the first in which the function has to be stopped."""
    found = []
    for world in WORLDS:
        if world.name in worlds and (stages.masks or not world.masks):
            answer = _within(share, world, stages)
            found.append(Seen(world, _number(answer)))
            if answer.kind == "stopped":
                break
    return tuple(found)


@dataclass(frozen=True)
class Consequence:
    """What comes of a function in the head."""

    says: str = ""
    """In a sentence or two; "" where it has no place there, or does not run."""
    more: str = ""
    """What else goes wrong."""
    compared: Compared | None = None
    """A wrong answer beside the right one, from the first world that is lost."""
    seen: tuple[Seen, ...] = ()
    """What came of each world."""


def consequence(exercise: str, function: Callable, passed: bool) -> Consequence:
    """What the function of an exercise does in the head."""
    if exercise in BACKWARD:
        after = _number(_within(share_after_training, BACKWARD[exercise](function)))
        return Consequence() if np.isnan(after) else Consequence(_learned(after, passed))
    if exercise not in PLACES:
        return Consequence()
    stages = PLACES[exercise].stages(function)
    seen = seen_in(stages, PLACES[exercise].worlds)
    if np.isnan(seen[0].share):
        return Consequence()
    lost = [one for one in seen if not one.survives]
    more = " ".join(map(_sentence, lost[1:])) if seen[0].survives else ""
    compared = _compared(lost, stages) if lost and not passed else None
    return Consequence(_told(seen, passed), more, compared, seen)


def _compared(lost: list[Seen], stages: Stages) -> Compared | None:
    found: list[Compared | None] = []
    if not np.isnan(lost[0].share):
        _within(lambda: found.append(first_wrong(lost[0].world, stages)))
    return found[0] if found else None


def shown(one: Consequence) -> str:
    """What else goes wrong, and the matrices of the first wrong answer, as HTML."""
    parts = [f"<p>{html.escape(one.more)}</p>"] if one.more else []
    if (pair := one.compared) is not None:
        asks = f"One list: {', '.join(pair.words)}."
        rows = "A row for each word, a vote for each drink"
        if pair.is_weights:
            rows = "Rows ask, columns are looked at"
        yours, ours = pair.yours, pair.ours
        called = tuple(pair.words), tuple(pair.words) if pair.is_weights else looks_up().drinks
        matrices = matrices_html(yours.round(2), ours.round(2), *called) or matrices_html(
            yours, ours, *called
        )
        parts += [f"<p>{html.escape(asks)} {rows}; what differs is framed.</p>{matrices}"] if matrices else []
    return "".join(parts)


def _told(seen: tuple[Seen, ...], passed: bool) -> str:
    find, *others = seen
    if not find.survives:
        return f"With your function the trained head gets {percent(find.share)} of {LISTS:,} lists right."
    lost = [one for one in others if not one.survives]
    everybody = f"finds everybody, on all {LISTS:,} lists"
    if passed:
        holds = sum(one.survives for one in others)
        also = f", and holds in {holds} other world{'s' if holds > 1 else ''}" if holds else ""
        return f"The trained head runs on it: it {everybody}{also}."
    if lost:
        return f"The trained head still finds everybody. {_sentence(lost[0])}"
    return f"The trained head still {everybody}: whoever used this would see a model that works."


def percent(part: float) -> str:
    """ "55%", or "none"; never 100% where something is missing, "an error" where there is no number."""
    if np.isnan(part):
        return "an error"
    if part == 0:
        return "none"
    return f"{min(max(round(100 * part), 1), 100 if part == 1 else 99)}%"


def _sentence(one: Seen) -> str:
    if np.isnan(one.share):
        return f"It ends with an error {one.world.where}."
    return one.world.fails.format(share=percent(one.share))


def _learned(after: float, passed: bool) -> str:
    result = f"gets {percent(after)} of {NEW:,} new lists right"
    if passed:
        return f"A head that was trained with your gradients {result}."
    if after == 1:
        return (
            f"A head that is trained with these gradients {result} all the same: whoever used them would see a model "
            "that learns."
        )
    return f"A head that is trained with these gradients {result}."


def _within(function: Callable, *arguments: object) -> Answer:
    """What it returns, or how the learner's function in it fails; what that prints goes nowhere."""
    with kept(0):
        return observe_within(lambda: function(*arguments), (), SECONDS)


def _number(answer: Answer) -> float:
    return float(answer.array) if answer.kind == "number" and answer.array is not None else float("nan")
