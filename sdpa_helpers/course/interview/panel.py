"""The interview in a notebook: one question at a time, and its answer when you ask for it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sdpa_helpers.course.interview.deck import answer_to, name_of, places_of, trap_in
from sdpa_helpers.course.interview.question import LEVELS, InterviewQuestion
from sdpa_helpers.show.panels import inlined
from sdpa_helpers.show.predict import plain, rich

SCRIPT = Path(__file__).with_suffix(".js")
NOTE = "Run this cell, and the questions come one at a time."


@dataclass(frozen=True)
class Interview:
    """Questions as the result of a cell."""

    asked: tuple[InterviewQuestion, ...]

    @cached_property
    def given(self) -> dict[str, Any]:
        """What the page needs: it shows everything by itself, without a kernel."""
        return {
            "body": "interview",
            "title": "Interview",
            "questions": [
                {
                    "about": f"{LEVELS[asked.level]} · {name_of(asked.lesson)}",
                    "question": rich(asked.question),
                    "answer": rich(answer_to(asked)),
                    "trap": rich(trap_in(asked)),
                    "seen": [[rich(place.says), f"../{place.file}"] for place in places_of(asked)],
                }
                for asked in self.asked
            ],
        }

    def html(self) -> str:
        """The questions with folded answers, and a script that puts one at a time in their place."""
        folded = "".join(
            f"<details><summary>{question['question']}</summary><p>{question['answer']}</p></details>"
            for question in self.given["questions"]
        )
        return inlined(f'<div style="max-width:46rem">{folded}</div>', NOTE, self.given, (SCRIPT,))

    def __repr__(self) -> str:
        return "\n".join(f"{number}. {plain(asked.question)}" for number, asked in enumerate(self.asked, 1))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}
