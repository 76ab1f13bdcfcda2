"""The questions of the deck: made from the ledger, the known wrong answers, the lessons' cheat cards, conventions.

No answer here is typed in: verdicts and numbers are those of docs/ledger.json, what a wrong answer returns is computed
from it, shapes are those of the cheat cards, and what a mask means lesson 05's `to_boolean` says.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.exercise import Example, Exercise
from sdpa_helpers.course.articles import article_of
from sdpa_helpers.course.cards import card_of
from sdpa_helpers.course.claim import LedgerRow
from sdpa_helpers.course.ledger_page import VERDICTS, came_out, stored_entries
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS, all_claims, exercises_of

_NEED_THEIR_PAGE = {3, 19, 43, 55, 58, 62, 63, 72, 73, 85, 92, 94, 112, 113, 114, 139}
"""Claims about what an article prints: nobody can answer them without it."""
_SAID_BEFORE = {27, 40, 47, 57, 75, 81, 116, 118, 121, 129, 163}
"""Claims that another one of the deck makes in other words."""
_MISTAKES_OF_ONE_EXERCISE = 3
_LONGEST_VALUE = 70
"""Characters of a result that can be read at a glance."""


@dataclass(frozen=True)
class Choice:
    """One of the answers to choose from, and why it is right or wrong."""

    text: str
    because: str


@dataclass(frozen=True)
class Item:
    """One question of the deck, in the marks of `show.predict.rich`."""

    key: str
    """Its own, for good: what a learner remembers is kept under it."""
    lesson: str
    question: str
    choices: tuple[Choice, ...]
    right: int
    """Which choice is, from 0."""

    def __post_init__(self) -> None:
        texts = {choice.text for choice in self.choices}
        if not (2 <= len(self.choices) <= 4 and len(texts) == len(self.choices) > self.right >= 0):
            raise ValueError(
                f"{self.key} needs two to four different choices, one of them right: {self.choices}"
            )


@cache
def all_items() -> tuple[Item, ...]:
    """The deck, lesson by lesson; in each a claim, a mistake, a shape and a convention in turn."""
    kinds = [list(_claims()), list(_mistakes()), list(_shapes()), list(_conventions())]
    of = {lesson: [[item for item in kind if item.lesson == lesson] for kind in kinds] for lesson in LESSONS}
    turns = (turn for lesson in LESSONS for turn in itertools.zip_longest(*of[lesson]))
    return tuple(item for turn in turns for item in turn if item is not None)


# ---- the ledger --------------------------------------------------------------------------------------------


def _claims() -> Iterator[Item]:
    text = (course_root() / "docs" / "ledger.json").read_text(encoding="utf-8")
    for entry in stored_entries(all_claims(), text):
        number = entry.claim.number
        if number not in _NEED_THEIR_PAGE | _SAID_BEFORE:
            yield _claim(entry)


def _claim(entry: LedgerRow) -> Item:
    claim, names = entry.claim, list(VERDICTS)
    said = f"{article_of(claim.number).what[0].upper()}{article_of(claim.number).what[1:]} says:"
    choices = tuple(Choice(name, _why(entry, name)) for name in names)
    question = f"{marked(said)} “{marked(claim.says)}” What is true of it?"
    return Item(
        f"claim-{claim.number}", claim.where.partition(",")[0], question, choices, names.index(entry.verdict)
    )


def _why(entry: LedgerRow, name: str) -> str:
    if name == entry.verdict:
        return marked(came_out(entry))
    return f"That would mean: {VERDICTS[name]}"


# ---- the known wrong answers -------------------------------------------------------------------------------


def _mistakes() -> Iterator[Item]:
    for lesson in LESSONS:
        for exercise in exercises_of(lesson):
            if not exercise.sealed and exercise.wrong and exercise.examples:
                yield from _mistakes_in(exercise)


def _mistakes_in(exercise: Exercise) -> Iterator[Item]:
    """Wrong answers that can be told apart by what they return for one of the prompt's examples."""
    for example in exercise.examples:
        told = _told_apart(exercise, example)
        if len(told) < 3:
            continue
        call, right = (
            _call_of(exercise, example),
            _written(observe(exercise.reference, _inputs(exercise, example))),
        )
        for at, (name, says, value) in enumerate(told[:_MISTAKES_OF_ONE_EXERCISE]):
            others = [told[(at + 1) % len(told)], told[(at + 2) % len(told)]]
            yield _mistake(
                f"mistake-{exercise.name}-{name}", exercise, f"`{call}` is `{right}`.", value, says, others
            )
        return


def _mistake(
    key: str, exercise: Exercise, truth: str, value: str, says: str, others: Sequence[tuple[str, str, str]]
) -> Item:
    choices = [Choice(marked(says), f"That gives `{value}`.")]
    choices += [Choice(marked(other), f"That would give `{gives}`.") for _, other, gives in others]
    first = sum(map(ord, key)) % len(
        choices
    )  # the right one is not always the first, and always in the same place
    turned = [*choices[len(choices) - first :], *choices[: len(choices) - first]]
    return Item(
        key,
        exercise.lesson,
        f"{truth} An answer returns `{value}`. What is wrong with it?",
        tuple(turned),
        first,
    )


def _told_apart(exercise: Exercise, example: Example) -> list[tuple[str, str, str]]:
    """(name, what it says, what it returns) of wrong answers that all return something else, and can be read."""
    seen = {_written(observe(exercise.reference, _inputs(exercise, example)))}
    if not all(0 < len(value) <= _LONGEST_VALUE for value in seen):
        return []
    told = []
    for wrong in exercise.wrong:
        value = _written(observe(wrong.function, _inputs(exercise, example)))
        if value and len(value) <= _LONGEST_VALUE and value not in seen and len(wrong.says) <= 160:
            seen.add(value)
            told.append((wrong.name, wrong.says, value))
    return told


def _inputs(exercise: Exercise, example: Example) -> tuple[Any, ...]:
    return example.inputs_for(exercise.reference)


def _call_of(exercise: Exercise, example: Example) -> str:
    given = [_number(value) for value in example.inputs]
    given += [f"{name}={_number(value)}" for name, value in example.keywords]
    return f"{exercise.name}({', '.join(given)})"


def _number(value: Any) -> str:
    if isinstance(value, (list, np.ndarray)):
        return _on_one_line(np.asarray(value))
    return repr(value)


def _on_one_line(array: np.ndarray) -> str:
    """As a learner writes it: `[1, 0, -0.5]`, where NumPy has `[ 1. ,  0. , -0.5]`."""
    short: Any = {"float_kind": lambda number: f"{number + 0.0:.4g}", "int": str, "bool": str}
    return re.sub(r"\s+", " ", np.array2string(array, separator=", ", formatter=short))


def _written(answer: Answer) -> str:
    """What came back, on one line; "" for an error and whatever else is no number."""
    if answer.kind == "tuple":
        parts = [_written(part) for part in answer.items]
        return f"({', '.join(parts)})" if all(parts) else ""
    if answer.kind not in ("array", "number") or answer.array is None:
        return ""
    if answer.array.ndim == 0:
        return f"{answer.array.item():.4g}" if answer.array.dtype != bool else str(bool(answer.array))
    array = answer.array
    if array.dtype.kind == "f":
        array = np.where(np.abs(array) < 1e-12, 0, array)  # what rounding left
    return _on_one_line(array)


# ---- the cheat cards ---------------------------------------------------------------------------------------


def _shapes() -> Iterator[Item]:
    for lesson in LESSONS:
        card = card_of(lesson)
        shapes = card.shapes if card else ()
        for symbol, what, shape in shapes:
            others = list(dict.fromkeys(other for _, _, other in shapes if other != shape))[:3]
            if others:
                yield _shape(lesson, symbol, what, shape, others)


def _shape(lesson: str, symbol: str, what: str, shape: str, others: Sequence[str]) -> Item:
    key = f"shape-{lesson[:2]}-" + re.sub(r"[\s*{}_]", "", symbol)
    choices = [
        Choice(shape, f"{symbol}: {what}."),
        *(Choice(other, "Something else on the card has it.") for other in others),
    ]
    first = sum(map(ord, key)) % len(choices)
    turned = [*choices[len(choices) - first :], *choices[: len(choices) - first]]
    return Item(key, lesson, f"{symbol}, {what}: which shape?", tuple(turned), first)


# ---- conventions -------------------------------------------------------------------------------------------

_WRITTEN = (
    ("`F.scaled_dot_product_attention` (torch), a mask of bools", "true-may-attend", True),
    ("`F.scaled_dot_product_attention` (torch), a mask of floats", "additive", 0.0),
    ("`nn.MultiheadAttention` (torch), a mask of bools", "true-blocked", True),
    ("Keras's `MultiHeadAttention`", "keras", True),
    ("JAX's `dot_product_attention`, `mask`", "jax-mask", True),
    ("JAX's `dot_product_attention`, `bias`", "jax-bias", 0.0),
    ("Hugging Face's tokenizers, `attention_mask`", "hugging-face", 1),
    ("TensorFlow's tutorial of 2019", "tensorflow-tutorial", 1),
)
"""(where one meets it, its name in lesson 05's exercise `to_boolean`, a value)."""


def _conventions() -> Iterator[Item]:
    exercise = next(e for e in exercises_of("05_masking") if e.name == "to_boolean")
    if exercise.sealed:
        return
    for where, convention, value in _WRITTEN:
        may_attend = bool(np.all(exercise.reference(np.array([[value]]), convention)))
        truth = (
            f"{_value(value)} stands for a key that {'may be attended to' if may_attend else 'is hidden'}."
        )
        choices = (Choice("may attend", truth), Choice("hidden", truth))
        key = f"convention-{convention}"
        yield Item(
            key, "05_masking", f"{where}: what does {_value(value)} mean?", choices, 0 if may_attend else 1
        )


def _value(value: float) -> str:
    return f"`{value}`" if isinstance(value, bool) else f"`{value:g}`"


def marked(text: str) -> str:
    """A text of the ledger in the marks of `rich`: d_k is d_{k}, a lone asterisk is a multiplication, -2 is −2."""
    text = re.sub(r"(?<![\w`{])([A-Za-z])_([A-Za-z]+|\d+)(?![\w}])", r"\1_{\2}", text)
    text = re.sub(r"(?<![\w\-./])-(?=\d)", "−", text)
    return text.replace("*", "·")
