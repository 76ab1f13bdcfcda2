"""The right answer with its arguments, or the parts of its result, in another order: a slip in any exercise."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations

from sdpa_helpers.checking.exercise import Exercise

ARGUMENTS, PARTS = "arguments-in-another-order", "parts-in-another-order"
IN_ANOTHER_ORDER = {
    ARGUMENTS: "Your numbers would be right with the arguments in another order. Look at where each one stands: in "
    "the brackets of `def`, where the prompt's order counts, and in the line that uses them.",
    PARTS: "The parts of your tuple are right, but in another order: the prompt says which comes first.",
}
"""What is said of each."""

MOST_ARGUMENTS = 4
MOST_PARTS = 4


@lru_cache(maxsize=256)
def in_another_order(exercise: Exercise) -> tuple[tuple[tuple[str, ...], Callable], ...]:
    """Every other order of the arguments that have no default, and of the parts of a tuple, by its name."""
    parameters = inspect.signature(exercise.reference).parameters.values()
    needed = sum(p.default is p.empty for p in parameters)
    of_arguments = _orders(needed) if needed <= MOST_ARGUMENTS else []
    of_parts = [order for parts in range(2, MOST_PARTS + 1) for order in _orders(parts)]
    return (
        *(((ARGUMENTS,), _with_arguments(exercise.reference, order)) for order in of_arguments),
        *(((PARTS,), _with_parts(exercise.reference, order)) for order in of_parts),
    )


def _orders(number: int) -> list[tuple[int, ...]]:
    return [order for order in permutations(range(number)) if order != tuple(range(number))]


def _with_arguments(reference: Callable, order: tuple[int, ...]) -> Callable:
    return lambda *given: reference(*(given[n] for n in order), *given[len(order) :])


def _with_parts(reference: Callable, order: tuple[int, ...]) -> Callable:
    def answer(*given):
        parts = reference(*given)
        if not isinstance(parts, tuple) or len(parts) != len(order):
            raise TypeError("no tuple of so many parts")
        return tuple(parts[n] for n in order)

    return answer
