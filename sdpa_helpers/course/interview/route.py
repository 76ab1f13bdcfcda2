"""Ninety minutes before an interview: six questions, two timed blanks, a bug, a whiteboard; drawn by a seed."""

import html
import inspect
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.interview.deck import all_asked, name_of
from sdpa_helpers.course.interview.panel import Interview
from sdpa_helpers.course.interview.question import LEVELS, InterviewQuestion
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.show.panels import inlined

SCRIPT = Path(__file__).with_suffix(".js")
NOTE = "Run this cell, and each part gets a clock."
MINUTES = 90
OF_EACH_LEVEL = 2

WHITEBOARDS = ("attention", "multi_head_attention", "online_softmax", "chunked_attention")
BLANKS = (
    *("softmax", "log_softmax", "softmax_backward", "causal_mask_with_cache", "sliding_window_mask"),
    *("masked_softmax", "merge", "split_heads", "grouped_query_attention", "rotate", "attention_scores"),
)
BUGS = (
    *("hunt_softmax", "hunt_masked_softmax", "hunt_multi_head_attention"),
    *("hunt_tiled_attention", "hunt_attention_backward"),
)
"""What interviews ask for; of several, no two parts are of one lesson."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of the route."""

    minutes: int
    title: str
    says: str
    exercise: Exercise | None = None


@dataclass(frozen=True, repr=False)
class Route:
    """All of it, as the result of a cell or as text."""

    seed: int
    asked: tuple[InterviewQuestion, ...]
    blanks: tuple[Exercise, ...]
    bug: Exercise
    whiteboard: Exercise

    @cached_property
    def parts(self) -> tuple[Stretch, ...]:
        """In their order, ninety minutes in all."""
        blanks = (
            Stretch(10, f"Blank {number}", "Write it, then check it. One hint is allowed.", exercise)
            for number, exercise in enumerate(self.blanks, 1)
        )
        return (
            Stretch(
                18, "Six questions", "Three minutes each. Answer aloud, in whole sentences, before you look."
            ),
            *blanks,
            Stretch(12, "A bug", "Say what the line should be before you check.", self.bug),
            Stretch(
                15,
                "Whiteboard",
                "On paper, or in an empty cell: no hints, no notes, no looking up. Say every shape aloud while you "
                "write. Check it when the time is over.",
                self.whiteboard,
            ),
            Stretch(
                25,
                "Look back",
                "What did you not know? Read that lesson's short, and the trap of each question.",
            ),
        )

    def __repr__(self) -> str:
        at, lines = 0, [f"{MINUTES} minutes, seed {self.seed}"]
        for part in self.parts:
            lines.append(f"{at:3} min  {part.title}, {part.minutes} minutes. {part.says}")
            lines += [f"         {_called(part.exercise)}"] if part.exercise else []
            at += part.minutes
        return "\n".join(lines)

    def html(self) -> str:
        """The plan with a clock for each part, and below it the six questions, one at a time."""
        plain = "".join(
            f"<li>{part.title}, {part.minutes} minutes. {part.says} {_link(part.exercise)}</li>"
            for part in self.parts
        )
        still = f'<div style="max-width:46rem"><p>Seed {self.seed}</p><ol>{plain}</ol></div>'
        return inlined(still, NOTE, self.given, (SCRIPT,)) + Interview(self.asked).html()

    @property
    def given(self) -> dict[str, Any]:
        """What the page needs."""
        parts = [
            {
                "minutes": part.minutes,
                "title": part.title,
                "says": part.says,
                "link": _link(part.exercise),
                "code": _stub(self.whiteboard) if part.exercise is self.whiteboard else "",
            }
            for part in self.parts
        ]
        return {"body": "route", "title": f"{MINUTES} minutes", "seed": self.seed, "parts": parts}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def drawn(seed: int | None = None) -> Route:
    """One route; without a seed, one by chance, whose seed it names."""
    seed = random.randrange(1000) if seed is None else seed
    dice, known = random.Random(seed), all_exercises()
    whiteboard = known[dice.choice(WHITEBOARDS)]
    taken, parts = {whiteboard.lesson}, []
    for names in (BUGS, BLANKS, BLANKS):
        left = [known[name] for name in names if known[name].lesson not in taken]
        parts.append(dice.choice(left))
        taken.add(parts[-1].lesson)
    levels = [[asked for asked in all_asked() if asked.level == level] for level in range(len(LEVELS))]
    asked = tuple(one for level in levels for one in dice.sample(level, OF_EACH_LEVEL))
    return Route(seed, asked, tuple(parts[1:]), parts[0], whiteboard)


def _called(exercise: Exercise) -> str:
    return (
        f"{exercise.title}: {exercise.name} in exercises/{exercise.lesson}.ipynb ({name_of(exercise.lesson)})"
    )


def _link(exercise: Exercise | None) -> str:
    if exercise is None:
        return ""
    title = html.escape(exercise.title)
    return f'<a href="../exercises/{exercise.lesson}.ipynb">{title}</a> (<code>{exercise.name}</code>)'


def _stub(exercise: Exercise) -> str:
    names = ", ".join(map(str, inspect.signature(exercise.reference).parameters.values()))
    return f"def {exercise.name}({names}):"
