"""Simulated classes for `classroom.teaching`, with a fault planted in them or none. Where none is, what an exercise or
a sentence does is drawn for each anew, within what is usual: it tells apart a little better or worse, and so on."""

from dataclasses import dataclass

import numpy as np

from sdpa_helpers.classroom.teaching.findings import Heard, Told
from sdpa_helpers.classroom.teaching.material import Made, Marks
from sdpa_helpers.course.attempts import Attempt

STATED = 10.0
QUESTIONS = 8


@dataclass(frozen=True)
class Planted:
    """What is wrong with a class; nothing, where nothing is said."""

    useless_exercise: bool = False
    """Its points are drawn without regard to ability."""
    useless_sentence: bool = False
    """Four of five make the mistake again."""
    trap: bool = False
    """The strongest make a mistake that others don't."""
    slow: bool = False
    """It takes three times the stated minutes."""
    bad_talk: bool = False
    """A discussion leads away from the right answer."""


NOTHING = Planted()


def name_of(number):
    return f"exercise_{number:02}"


def planted_class(seed, learners=80, exercises=20, planted=NOTHING):
    """(marks, what was heard, what is known of the course); faults are in exercise 3, mistake "first"."""
    rng = np.random.default_rng(seed)
    ability, hardness = rng.normal(size=learners), rng.normal(0, 0.8, exercises)
    slope = rng.uniform(1.0, 1.6, exercises)
    passes = 1 / (1 + np.exp(-slope * (ability[:, None] - hardness)))
    if planted.useless_exercise:
        passes[:, 3] = 0.5
    right = rng.random(passes.shape) < passes
    kind = rng.integers(3, size=passes.shape)
    shares = np.where(right, 1.0, np.array([0.25, 0.5, 0.75])[kind])
    made = [
        _made(
            number, name, {int(who) for who in np.flatnonzero(~right[:, number] & (kind[:, number] == place))}
        )
        for number in range(exercises)
        for place, name in enumerate(("first", "second", "third"))
    ]
    if planted.trap:
        strongest = np.argsort(ability)[-learners // 4 :]
        made.append(_made(3, "trap", {int(who) for who in strongest if rng.random() < 0.8}))
    marks = Marks(
        tuple(f"s{n:03}" for n in range(learners)), tuple(map(name_of, range(exercises))), shares, tuple(made)
    )
    told = Told(dict.fromkeys(marks.exercises, STATED), {f"question {n}": 0 for n in range(QUESTIONS)})
    return marks, Heard(_logs(rng, passes, planted), _rounds(rng, learners, planted)), told


def _made(number, name, who):
    return Made(name_of(number), name, f"You made the {name} mistake.", frozenset(who))


def _logs(rng, passes, planted):
    """Each tries until it's green, at most six times; how long that takes has nothing to do with how often."""
    survives = rng.uniform(0.2, 0.35, (passes.shape[1], 3))
    if planted.useless_sentence:
        survives[3, 0] = 0.8
    times = STATED * np.exp(rng.normal(0, 0.5, passes.shape))
    if planted.slow:
        times[:, 3] *= 3
    luck, kinds = rng.random((*passes.shape, 6, 2)), rng.integers(3, size=(*passes.shape, 6))
    return tuple(_log(*of) for of in zip(passes, times, luck, kinds, [survives] * len(passes), strict=True))


def _log(passes, times, luck, kinds, survives):
    lines, clock = [], 1.7e9
    for number, chance in enumerate(passes):
        tries, kind = [], None
        for (again, fails), new in zip(luck[number], kinds[number], strict=True):
            if kind is None or again >= survives[number, kind]:
                kind = None if fails < max(chance, 0.3) else int(new)
            tries.append(kind)
            if kind is None:
                break
        for count, each in enumerate(tries, 1):
            minutes = float(times[number]) / len(tries)
            clock += 60 * minutes
            names = () if each is None else (("first", "second", "third")[each],)
            lines.append(
                Attempt(clock, name_of(number), 4.0 if each is None else 1.0, 4.0, names, count, minutes)
            )
    return tuple(lines)


def _rounds(rng, learners, planted):
    """In each question half vote right, and one in five changes to something else, or to the right answer."""
    found = {}
    for number in range(QUESTIONS):
        first = rng.random(learners) < 0.5
        moved = rng.random(learners) < 0.2
        if planted.bad_talk and number == 3:
            moved = first & (rng.random(learners) < 0.8)
        second = first ^ moved
        found[f"question {number}"] = tuple(
            {f"s{who}": 0 if yes else 1 for who, yes in enumerate(votes)} for votes in (first, second)
        )
    return found
