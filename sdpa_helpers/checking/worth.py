"""What an exercise is worth: points come from its minutes and its difficulty, and its cases share them.

So an exercise with many cases earns no more than one with few that takes as long.
"""

from collections.abc import Sequence


def worth(difficulty: int, minutes: int) -> int:
    """A point a minute and a quarter more for each step of difficulty above 2, rounded to fives; at least 5."""
    quarters = minutes * (4 + max(0, difficulty - 2))
    return max(5, 5 * ((quarters + 10) // 20))


def shares(points: int, weights: Sequence[int]) -> tuple[float, ...]:
    """The points shared out by weight, in quarters of a point; together they are the points, exactly.

    What has any weight gets a quarter at least; where there are too few quarters for that, in halves of them, and so
    on. Whole numbers decide, so that it is the same on every machine.
    """
    together, counted = sum(weights), sum(weight > 0 for weight in weights)
    if not together:
        return (0.0,) * len(weights)
    parts = 4
    while parts * points < counted:
        parts *= 2
    given = [int(weight > 0) for weight in weights]
    while sum(given) < parts * points:
        owed = [weight * parts * points - got * together for weight, got in zip(weights, given, strict=True)]
        given[owed.index(max(owed))] += 1
    return tuple(got / parts for got in given)
