"""Six little worlds in which the head is asked: does a mistake have a consequence that anybody would see?

Each is seeded, so a function gets the same share in every run; the right attention is right in all of them (a test).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdpa_helpers.head.model import SAYING, Head, Lists, looks_up
from sdpa_helpers.head.stages import Attention, reference

LISTS = 1000
"""Asked for in the first world, one after the other."""
LOUD = 200
"""How many times as long the queries are in the world of that name."""
SOFT = 0.15
"""How long they are where a soft average is asked for."""


@dataclass(frozen=True)
class World:
    """A situation, and how many answers are right in it."""

    name: str
    about: str
    """What it is, for somebody who has not been there."""
    fails: str
    """What one would see where answers are wrong; {share} stands for the share that is right."""
    where: str
    """The same behind "it ends with an error"."""
    masks: bool
    """Whether something is hidden in it."""
    ask: Callable[[Head, Attention], np.ndarray]
    """For each question whether the answer is right."""


def answered(out: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which drink the word that asks is given; −1 where none has the most votes, or the shape is another."""
    if np.shape(out) != (*q.shape[:-1], v.shape[-1]) or np.iscomplexobj(out):
        return np.full(q.shape[:-2], -1)
    last = np.asarray(out, dtype=float)[..., -1, :]
    clear = np.isfinite(last).all(-1) & ((last == last.max(-1, keepdims=True)).sum(-1) == 1)
    return np.where(clear, last.argmax(-1), -1)


def _find(head: Head, attention: Attention) -> np.ndarray:
    lists = head.draw(np.random.default_rng(1), LISTS)
    q, k, v = head.project(lists)
    given = [answered(attention(*one, None)[0], one[0], one[2]) for one in zip(q, k, v, strict=True)]
    return np.array(given) == lists.right


def _many(head: Head, attention: Attention) -> np.ndarray:
    lists = Lists(
        *(part.reshape(3, 5, 2, *part.shape[1:]) for part in head.draw(np.random.default_rng(2), 30))
    )
    q, k, v = head.project(lists)
    return answered(attention(q, k, v, None)[0], q, v) == lists.right


def _hidden(head: Head, attention: Attention) -> np.ndarray:
    rng, count = np.random.default_rng(3), 120
    people, drinks, _ = head.draw(rng, count)
    length = rng.integers(2, SAYING, size=count)  # at least one namesake stands behind the end
    asked = rng.integers(length)
    rows, after = np.arange(count), np.arange(SAYING) >= length[:, None]
    right, asker = drinks[rows, asked], people[rows, asked]
    people = np.where(after, asker[:, None], people)
    drinks = np.where(after, (right[:, None] + 1 + np.arange(SAYING) % 3) % len(head.drinks), drinks)
    q, k, v = head.project(Lists(people, drinks, asked))
    mask = np.concatenate([~after, np.ones((count, 1), bool)], axis=1)[:, None, :]
    return answered(attention(q, k, v, mask)[0], q, v) == right


def _loud(head: Head, attention: Attention) -> np.ndarray:
    lists = head.draw(np.random.default_rng(4), 200)
    q, k, v = head.project(lists)
    return answered(attention(LOUD * q, k, v, None)[0], q, v) == lists.right


def _estimate(head: Head, attention: Attention) -> np.ndarray:
    q, k, v = head.project(head.draw(np.random.default_rng(5), 100))
    right = reference(SOFT * q, k, v, None)[0]
    out = np.asarray(attention(SOFT * q, k, v, None)[0])
    if out.shape != right.shape:
        return np.zeros(len(q), bool)
    return np.abs(out - right).max((-1, -2)) < 0.01 * np.abs(right).max((-1, -2))


def _empty(head: Head, attention: Attention) -> np.ndarray:
    q, k, v = head.project(head.draw(np.random.default_rng(6), 20))
    out = np.asarray(attention(q, k, v, np.zeros((20, 1, SAYING + 1), bool))[0])
    return (out == 0).all((-1, -2)) if out.shape == (*q.shape[:-1], v.shape[-1]) else np.zeros(len(q), bool)


WORLDS = (
    World(
        "find",
        "One list after the other: who drinks what?",
        "Ask it about one list at a time, and {share} of its answers are right.",
        "on a single list",
        False,
        _find,
    ),
    World(
        "many",
        "Several lists at once, with two heads.",
        "Give it several lists at once, with two heads, and {share} of its answers are right.",
        "when it is given several lists at once",
        False,
        _many,
    ),
    World(
        "loud",
        f"The same head, its queries {LOUD} times as long.",
        f"With queries {LOUD} times as long {{share}} of its answers are right.",
        "when the queries are long",
        False,
        _loud,
    ),
    World(
        "estimate",
        "Not who, but how sure: every output to one part in a hundred.",
        "Its numbers are within 1% of the right ones for {share} of the lists.",
        "when it is asked how sure it is",
        False,
        _estimate,
    ),
    World(
        "hidden",
        "A batch with padding: behind each list stands somebody of the same name who isn't on it.",
        "In a batch with padding it answers for people who aren't there: {share} right.",
        "in a batch with padding",
        True,
        _hidden,
    ),
    World(
        "empty",
        "Nobody is on the list, so nothing may be said.",
        "With nobody on the list its output should be zeros, and it isn't.",
        "when nobody is on the list",
        True,
        _empty,
    ),
)


def share(world: World, attention: Attention) -> float:
    """The share of right answers, from 0 to 1; raises what the function raises."""
    with np.errstate(all="ignore"):
        return float(world.ask(looks_up(), attention).mean())
