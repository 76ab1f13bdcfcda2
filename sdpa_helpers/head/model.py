"""A small head that was trained to look up who drinks what, and the lists that it is asked about.

A list is five people, each with a drink, and a sixth word that asks for one of them. `looks_up.json` holds the head's
matrices, rounded to three decimals; it names the command of lesson 10 that makes it again.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_name("looks_up.json")
SAYING = 5
"""People on a list; the word behind them asks."""


class Lists(NamedTuple):
    """Lists of people with their drinks, and who is asked for: any shape of lists, numbers stand for names."""

    people: np.ndarray
    """(..., SAYING)"""
    drinks: np.ndarray
    """(..., SAYING)"""
    asked: np.ndarray
    """(...): the place on the list."""

    @property
    def right(self) -> np.ndarray:
        """(...): what the one who is asked for drinks."""
        return np.take_along_axis(self.drinks, self.asked[..., None], -1)[..., 0]

    def words(self, head: "Head", number: int) -> list[str]:
        """One of them as words: "Lea tea", …, "Lea?"."""
        people = [head.people[i] for i in self.people[number]]
        drinks = [head.drinks[i] for i in self.drinks[number]]
        says = [f"{person} {drink}" for person, drink in zip(people, drinks, strict=True)]
        return [*says, f"{people[self.asked[number]]}?"]


@dataclass(frozen=True)
class Head:
    """One head of one layer: what it knows of each word, and its three matrices."""

    people: tuple[str, ...]
    drinks: tuple[str, ...]
    vectors: dict[str, np.ndarray]
    """"person", "drink", "question": a row a word, (number, d_model); "W_q", "W_k" (d_model, d_k); "W_v"
    (d_model, number of drinks): a value is a vote for each drink."""

    def draw(self, rng: np.random.Generator, count: int) -> Lists:
        """Random lists; nobody stands on a list twice."""
        people = np.argsort(rng.random((count, len(self.people))), axis=1)[:, :SAYING]
        drinks, asked = (
            rng.integers(len(self.drinks), size=(count, SAYING)),
            rng.integers(SAYING, size=count),
        )
        return Lists(people, drinks, asked)

    def embed(self, lists: Lists) -> np.ndarray:
        """(..., 6, d_model): a vector for each word of each list."""
        says = (self.vectors["person"][lists.people] + self.vectors["drink"][lists.drinks]) * 0.5**0.5
        asker = np.take_along_axis(lists.people, lists.asked[..., None], -1)
        return np.concatenate([says, self.vectors["question"][asker]], axis=-2)

    def project(self, lists: Lists) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q (..., 6, d_k), K (..., 6, d_k), V (..., 6, drinks) of the words of each list."""
        x = self.embed(lists)
        return x @ self.vectors["W_q"], x @ self.vectors["W_k"], x @ self.vectors["W_v"]


@cache
def looks_up() -> Head:
    """The head of the course."""
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    vectors = {name: np.array(rows, dtype=float) for name, rows in data["vectors"].items()}
    return Head(tuple(data["people"]), tuple(data["drinks"]), vectors)
