"""Five answers to look at before Python is there: the engine checks each when the site is built."""

import json
import re
import warnings
from dataclasses import dataclass

from sdpa_helpers.course.in_page import reply
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.head.consequences import PLACES, seen_in
from sdpa_helpers.head.model import looks_up
from sdpa_helpers.head.run import SHOWN

LESSON, EXERCISE = "01_dot_product", "dot_product"
DEFINED = f"def {EXERCISE}(q, k):\n    "
"""What stands above the one line that may be changed."""
LINES = (
    "return (q * k).sum()",
    "return (q * k)[:-1].sum()",
    "return (q * k).mean()",
    "return np.linalg.norm(q - k)",
    "return q * k",
)
"""The first is right. The others are mistakes of the exercise's page, chosen for what the head answers with them."""


@dataclass(frozen=True)
class Looked:
    """What the head does with a line."""

    answer: str
    """A drink; "" where there is none."""
    weights: tuple[float | None, ...]
    """How much it looks at each word, the asking one last; () where there are none."""

    @property
    def is_right(self) -> bool:
        """Whether it says what the one who is asked for drinks."""
        return self.answer == right_drink()


@dataclass(frozen=True)
class KnownLine:
    """A line, what the head answers with it, and its card."""

    line: str
    mistake: str
    """Its name in words; "" for the right one."""
    looked: Looked
    card: str
    """HTML, without its style."""


def people() -> list[tuple[str, str]]:
    """The five people on the list, and what each drinks."""
    return [tuple(word.split()) for word in SHOWN.words(looks_up(), 0)[:-1]]  # type: ignore[misc]


def question() -> str:
    """Who is asked for, with the question mark."""
    return SHOWN.words(looks_up(), 0)[-1]


def right_drink() -> str:
    """The right answer."""
    return looks_up().drinks[int(SHOWN.right[0])]


def known(line: str) -> KnownLine:
    """What a page would be told of this line."""
    asked = {"lesson": LESSON, "name": EXERCISE, "answers": {EXERCISE: DEFINED + line}}
    verdict, head = (json.loads(reply(json.dumps({"ask": ask, **asked}))) for ask in ("check", "head"))
    told = json.loads(head["text"])
    looked = Looked(told["answer"], tuple(told["weights"]))
    return KnownLine(line, verdict["mistake"].replace("-", " "), looked, from_the_root(verdict["card"]))


def from_the_root(card: str) -> str:
    """A card of a light page as the first page shows it: its style is in a file, its link begins one folder up."""
    card = re.sub(r"<style>.*?</style>", "", card, flags=re.DOTALL)
    return re.sub(r"(<a class='next' href=')(?!\w+:)", r"\1try/", card)


def unnoticed() -> tuple[int, int]:
    """(known wrong attentions, those with which the head answers all lists as if nothing were wrong)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [PLACES["attention"].stages(one.function) for one in all_exercises()["attention"].wrong]
        return len(wrong), sum(world.survives for stages in wrong for world in seen_in(stages, ("find",)))
