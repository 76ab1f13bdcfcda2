"""Mistakes as products: an answer is made of parts, and each part can be wrong in ways of its own.

Two wrong parts give an answer that no list of single mistakes holds. Here a wrong answer is a choice for every
part, of which at most two deviate.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class Option:
    """One way in which a part can be wrong."""

    name: str
    """The diagnosis: the name of one of the exercise's wrong answers, or a name of its own."""
    value: Any
    says: str = ""
    """One or two sentences for the learner; those of the exercise's wrong answer of that name when empty."""
    rare: bool = False
    """Combined only with options that are not rare."""


@dataclass(frozen=True)
class Factor:
    """One part of an answer."""

    name: str
    right: Any
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Deviant:
    """A wrong answer, with what is wrong about it."""

    names: tuple[str, ...]
    function: Callable
    alone: tuple[Callable, ...] = ()
    """For each name the function that deviates in nothing but that."""


@dataclass(frozen=True)
class Products:
    """All wrong answers that differ from the right one in one or two parts."""

    factors: tuple[Factor, ...]
    build: Callable[..., Callable]
    """Makes the answer from a value for every factor, by their names."""

    def deviants(self, deviations: int) -> Iterator[Deviant]:
        """Those that differ in exactly so many parts, in the order of the factors."""
        return iter(_deviants(self, deviations))

    @property
    def names(self) -> frozenset[str]:
        """Of all options."""
        return frozenset(o.name for factor in self.factors for o in factor.options)

    def says(self, name: str) -> str:
        """What an option says of itself, or ""."""
        return next((o.says for f in self.factors for o in f.options if o.name == name), "")


@lru_cache(maxsize=64)
def _deviants(products: Products, deviations: int) -> tuple[Deviant, ...]:
    right = {factor.name: factor.right for factor in products.factors}
    found = []
    for chosen in combinations(products.factors, deviations):
        for options in _choices(chosen):
            if sum(option.rare for option in options) > 1:
                continue
            values = {factor.name: option.value for factor, option in zip(chosen, options, strict=True)}
            function = products.build(**(right | values))
            alone = tuple(products.build(**(right | {name: value})) for name, value in values.items())
            found.append(Deviant(tuple(option.name for option in options), function, alone))
    return tuple(found)


def _choices(factors: tuple[Factor, ...]) -> Iterator[tuple[Option, ...]]:
    if not factors:
        yield ()
        return
    for option in factors[0].options:
        for rest in _choices(factors[1:]):
            yield (option, *rest)
