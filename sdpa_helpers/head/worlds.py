"""Six little worlds in which the head is asked: does a mistake have a consequence that anybody would see?

Each is seeded, so a function gets the same share in every run; the right attention is right in all of them (a test).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from sdpa_helpers.head.model import SAYING, Head, Lists, looks_up
from sdpa_helpers.head.stages import Attention, reference

LISTS = 1000
"""Asked for in the first world, one after the other."""
LOUD = 200
"""How many times as long the queries are in the world of that name."""
SOFT = 0.15
"""How long they are where a soft average is asked for."""


class HeadQuestion(NamedTuple):
    """What the head is asked in a world."""

    lists: Lists
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray | None = None


Ask = Callable[[HeadQuestion, Attention], np.ndarray]
"""For each question whether the answer is right."""


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
    make: Callable[[Head], HeadQuestion]
    ask: Ask


def answered(out: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which drink the word that asks is given; −1 where none has the most votes, or the shape is another."""
    if np.shape(out) != (*q.shape[:-1], v.shape[-1]) or np.iscomplexobj(out):
        return np.full(q.shape[:-2], -1)
    last = np.asarray(out, dtype=float)[..., -1, :]
    clear = np.isfinite(last).all(-1) & ((last == last.max(-1, keepdims=True)).sum(-1) == 1)
    return np.where(clear, last.argmax(-1), -1)


def _votes(asked: HeadQuestion, attention: Attention) -> np.ndarray:
    q, k, v = asked.q, asked.k, asked.v
    return answered(attention(q, k, v, asked.mask)[0], q, v) == asked.lists.right


def _one_after_the_other(asked: HeadQuestion, attention: Attention) -> np.ndarray:
    each = list(zip(asked.q, asked.k, asked.v, strict=True))
    # Copies: a function may return the same array again.
    outs = [np.array(attention(q, k, v, None)[0]) for q, k, v in each]
    if {out.shape for out in outs} == {(*asked.q.shape[1:-1], asked.v.shape[-1])}:
        return answered(np.stack(outs), asked.q, asked.v) == asked.lists.right
    given = [answered(out, q, v) for out, (q, _, v) in zip(outs, each, strict=True)]
    return np.array(given) == asked.lists.right


def _within_a_hundredth(asked: HeadQuestion, attention: Attention) -> np.ndarray:
    right = reference(*asked[1:])[0]
    out = np.asarray(attention(*asked[1:])[0])
    if out.shape != right.shape:
        return np.zeros(len(right), bool)
    return np.abs(out - right).max((-1, -2)) < 0.01 * np.abs(right).max((-1, -2))


def _zeros(asked: HeadQuestion, attention: Attention) -> np.ndarray:
    out = np.asarray(attention(*asked[1:])[0])
    shape = (*asked.q.shape[:-1], asked.v.shape[-1])
    return (out == 0).all((-1, -2)) if out.shape == shape else np.zeros(len(asked.q), bool)


def _find(head: Head) -> HeadQuestion:
    lists = head.draw(np.random.default_rng(1), LISTS)
    return HeadQuestion(lists, *head.project(lists))


def _many(head: Head) -> HeadQuestion:
    drawn = head.draw(np.random.default_rng(2), 30)
    lists = Lists(*(part.reshape(3, 5, 2, *part.shape[1:]) for part in drawn))
    return HeadQuestion(lists, *head.project(lists))


def _hidden(head: Head) -> HeadQuestion:
    rng, count = np.random.default_rng(3), 120
    people, drinks, _ = head.draw(rng, count)
    length = rng.integers(2, SAYING, size=count)  # at least one namesake stands behind the end
    asked = rng.integers(length)
    rows, after = np.arange(count), np.arange(SAYING) >= length[:, None]
    right, asker = drinks[rows, asked], people[rows, asked]
    people = np.where(after, asker[:, None], people)
    drinks = np.where(after, (right[:, None] + 1 + np.arange(SAYING) % 3) % len(head.drinks), drinks)
    lists = Lists(people, drinks, asked)
    mask = np.concatenate([~after, np.ones((count, 1), bool)], axis=1)[:, None, :]
    return HeadQuestion(lists, *head.project(lists), mask)


def _with_queries(head: Head, seed: int, count: int, factor: float) -> HeadQuestion:
    lists = head.draw(np.random.default_rng(seed), count)
    q, k, v = head.project(lists)
    return HeadQuestion(lists, factor * q, k, v)


def _empty(head: Head) -> HeadQuestion:
    return _with_queries(head, 6, 20, 1.0)._replace(mask=np.zeros((20, 1, SAYING + 1), bool))


WORLDS = (
    World(
        "find",
        "One list after the other: who drinks what?",
        "Ask it about one list at a time, and {share} of its answers are right.",
        "on a single list",
        False,
        _find,
        _one_after_the_other,
    ),
    World(
        "many",
        "Several lists at once, with two heads.",
        "Give it several lists at once, with two heads, and {share} of its answers are right.",
        "when it is given several lists at once",
        False,
        _many,
        _votes,
    ),
    World(
        "loud",
        f"The same head, its queries {LOUD} times as long.",
        f"With queries {LOUD} times as long {{share}} of its answers are right.",
        "when the queries are long",
        False,
        lambda head: _with_queries(head, 4, 200, LOUD),
        _votes,
    ),
    World(
        "estimate",
        "Not who, but how sure: every output to one part in a hundred.",
        "Its numbers are within 1% of the right ones for {share} of the lists.",
        "when it is asked how sure it is",
        False,
        lambda head: _with_queries(head, 5, 100, SOFT),
        _within_a_hundredth,
    ),
    World(
        "hidden",
        "A batch with padding: behind each list stands somebody of the same name who isn't on it.",
        "In a batch with padding it answers for people who aren't there: {share} right.",
        "in a batch with padding",
        True,
        _hidden,
        _votes,
    ),
    World(
        "empty",
        "Nobody is on the list, so nothing may be said.",
        "With nobody on the list its output should be zeros, and it isn't.",
        "when nobody is on the list",
        True,
        _empty,
        _zeros,
    ),
)


def right_in(world: World, attention: Attention) -> np.ndarray:
    """For each question whether the answer is right; raises what the function raises."""
    with np.errstate(all="ignore"):
        return world.ask(_made(world), attention)


@cache
def _made(world: World) -> HeadQuestion:
    """What is asked in a world: the same each time, for functions get copies."""
    return world.make(looks_up())


def share(world: World, attention: Attention) -> float:
    """The share of right answers, from 0 to 1; raises what the function raises."""
    return float(right_in(world, attention).mean())


class Compared(NamedTuple):
    """One question that was answered wrongly: what the words look at, or what they get, beside ours."""

    words: list[str]
    yours: np.ndarray
    ours: np.ndarray
    is_weights: bool
    """Weights (6, 6), a row a word that asks; else outputs (6, drinks), where the function gives no weights."""


def first_wrong(world: World, attention: Attention) -> Compared | None:
    """The first question of a world that is answered wrongly; None where all are right, or the shapes are others."""
    right, head = right_in(world, attention), looks_up()
    if right.all():
        return None
    at = tuple(int(i) for i in np.unravel_index(np.flatnonzero(~right.ravel())[0], right.shape))
    lists, q, k, v, mask = _made(world)
    one = Lists(*(part[at][None] for part in lists))
    if world.ask is _one_after_the_other:
        q, k, v, at = q[at], k[at], v[at], ()
    with np.errstate(all="ignore"):
        yours, ours = attention(q, k, v, mask), reference(q, k, v, mask)
    is_weights = yours[1] is not None and np.shape(yours[1]) == np.shape(ours[1])
    came, wanted = (np.asarray(part[is_weights]) for part in (yours, ours))
    if came.shape != wanted.shape:
        return None
    return Compared(one.words(head, 0), came[at], wanted[at], is_weights)
