"""Which of the head's worlds a learner's attention survives: each is won by an exercise that is solved in full."""

from sdpa_helpers.checking.card.render import World
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.head.won import PRIZES, Prize


def worlds(points: dict[str, float]) -> tuple[World, ...]:
    """All worlds, won or not yet, by the best points of the exercises. Without those of an edition that lacks some."""
    known = all_exercises()
    return tuple(
        World(prize.name, prize.about, points.get(prize.exercise, 0) >= known[prize.exercise].max_points)
        for prize in PRIZES
        if prize.exercise in known
    )


def won_of(all_worlds: tuple[World, ...]) -> tuple[Prize, ...]:
    """Those that are won, with what one can do for it."""
    names = {world.name for world in all_worlds if world.is_won}
    return tuple(prize for prize in PRIZES if prize.name in names)


def prize_of(exercise: str) -> Prize | None:
    """What an exercise wins."""
    return next((prize for prize in PRIZES if prize.exercise == exercise), None)
