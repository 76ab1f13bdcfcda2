"""names.toml: an instructor's sentences for answers that the course has no name for.

A table is an answer, `[exercise.key]`; the key is the same for all answers that return the same, in every run and every
term. The file is made to be edited: sorted, one version number, and what can't be read is told with its line.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.sentences.wordings import FILE as REGISTERED
from sdpa_helpers.classroom.sentences.wordings import Registered, digest_of, read_plans, reads_second
from sdpa_helpers.classroom.term.reading import line_of
from sdpa_helpers.course.attempts import KEY
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.course.told import LONGEST
from sdpa_helpers.grading.refusal import Refusal

VERSION = 1
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_SLUG = 60
_WORDS = 5
"""Of a sentence, that its name is made of."""
_HEAD = f"""\
# What you tell everybody who gave the same answer, one that the course has no name for. Each table is such an answer,
# [exercise.key]. Edit it as you like: `sdpa names` says what can't be read, and puts it in order.
# Comments are not kept.
version = {VERSION}
"""


class BadNames(Refusal):
    """What stands in names.toml can't be read; the text says in which line."""


@dataclass(frozen=True, order=True)
class Sentence:
    """What is told to everybody who gave one answer."""

    exercise: str
    key: str
    """`unknown` in their results, `answer` in their logs."""
    says: str
    points: float = 0.0
    """A change of their points for the exercise."""
    named: str = ""
    """What the mistake is called in tables; "" makes a name of the first words."""
    second: str = ""
    """Another wording, to compare with the first; nobody reads it before that is registered."""
    seed: str = ""
    """Of the comparison: who reads which wording is drawn from it. "" where none of these two is registered."""

    def told_to(self, who: str) -> str:
        """What somebody reads, by the name under which they are known."""
        return (
            self.second
            if self.seed and reads_second(self.seed, (self.exercise, self.key), who)
            else self.says
        )

    @property
    def name(self) -> str:
        """What the mistake is called in tables."""
        words = "-".join(re.findall(r"[a-z0-9]+", self.says.lower())[:_WORDS])
        return self.named or words[:_LONGEST_SLUG].strip("-") or f"answer-{self.key}"


Sentences = Mapping[tuple[str, str], Sentence]
"""(exercise, key) → what is told."""


def read_sentences(path: Path) -> dict[tuple[str, str], Sentence]:
    """All that stand in a file, sorted; {} where there is none. BadNames says which line can't be read, and why."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadNames(f"{path} cannot be read: {error}") from None
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadNames(_of_toml(path, text, str(error))) from None
    version = tables.pop("version", None)
    if version != VERSION:
        where = line_of(text, ("version",))
        raise BadNames(f"{path}, line {where}: `version = {VERSION}` is expected, and this came: {version}")
    found = []
    for exercise, answers in tables.items():
        if not isinstance(answers, dict):
            raise BadNames(f"{path}, line {line_of(text, (exercise,))}: a table [exercise.key] is expected")
        for key, table in answers.items():
            try:
                found.append(_sentence(exercise, key, table))
            except ValueError as error:
                where = line_of(text, (exercise, key, *error.args[1:]))
                raise BadNames(f"{path}, line {where}: {error.args[0]}") from None
    plans = read_plans(path.with_name(REGISTERED))
    return by_answer(_with_its_lot(one, plans.get((one.exercise, one.key))) for one in found)


def _with_its_lot(one: Sentence, plan: Registered | None) -> Sentence:
    holds = plan is not None and plan.wordings == digest_of(one.says, one.second)
    return replace(one, seed=plan.seed) if holds and plan else one


def write_sentences(path: Path, sentences: Sentences) -> None:
    """Write the file, sorted, whole or not at all."""
    write_text(path, as_toml(sentences))


def as_toml(sentences: Sentences) -> str:
    """The text of the file."""
    return _HEAD + "".join(f"\n{_table(one)}" for one in sorted(sentences.values()))


def for_learners(sentences: Sentences) -> str:
    """The text of a file to hand out: without points, which stand in the feedback, and names, which are for tables.

    Answers of which two wordings are compared are left out: who should read the other one would read both.
    """
    told = (one for one in sentences.values() if not one.seed)
    return as_toml(by_answer(replace(one, points=0.0, named="", second="") for one in told))


def tell(path: Path, sentence: Sentence) -> dict[tuple[str, str], Sentence]:
    """Keep a sentence in a file, under the name that it had; one without words takes back what was told of its answer.

    Returns all that are told now. BadNames for the file, ValueError for the sentence, and then nothing is written.
    """
    kept = read_sentences(path)  # somebody may have edited it
    before = kept.pop((sentence.exercise, sentence.key), None)
    if sentence.says.strip():
        named = sentence.named or (before.named if before else "")
        second = sentence.second or (before.second if before else "")
        kept = by_answer((*kept.values(), checked(replace(sentence, named=named, second=second))))
    write_sentences(path, kept)
    return read_sentences(path)


def by_answer(sentences: Iterable[Sentence]) -> dict[tuple[str, str], Sentence]:
    """The same by exercise and key, sorted; of two for one answer the later one."""
    found = {(one.exercise, one.key): one for one in sentences}
    return dict(sorted(found.items()))


def checked(sentence: Sentence) -> Sentence:
    """The same with its spaces in order; ValueError for what no file may hold: (what is wrong, the field)."""
    known = all_exercises().get(sentence.exercise)
    if known is None:
        raise ValueError(f"the course has no exercise {sentence.exercise[:60]!r} that is answered in code")
    if not KEY.fullmatch(sentence.key):
        raise ValueError(
            "an answer's key is twelve letters from 0–9 and a–f, or the first of one in this run"
        )
    says, second = (" ".join(text.split()) for text in (sentence.says, sentence.second))
    if not says or len(says) > LONGEST or not says.isprintable():
        raise ValueError(f"a sentence is expected, of at most {LONGEST} characters", "says")
    if len(second) > LONGEST or not second.isprintable():
        raise ValueError(f"a sentence is expected, of at most {LONGEST} characters", "second")
    points = sentence.points
    if not math.isfinite(points) or abs(points) > known.max_points:
        raise ValueError(f"points from −{known.max_points:g} to {known.max_points:g} are expected", "points")
    if sentence.named and (len(sentence.named) > _LONGEST_SLUG or not _SLUG.fullmatch(sentence.named)):
        raise ValueError("a name is made of small letters and digits, with - between words", "name")
    return Sentence(sentence.exercise, sentence.key, says, float(points), sentence.named, second)


def _sentence(exercise: str, key: str, table: object) -> Sentence:
    if not isinstance(table, dict):
        raise ValueError("a table [exercise.key] is expected")
    kinds = {"says": str, "points": (int, float), "name": str, "second": str}
    for field, value in table.items():
        if field not in kinds:
            raise ValueError(f"{field} is unknown; expected: says, points, name, second", field)
        if not isinstance(value, kinds[field]) or isinstance(value, bool):
            raise ValueError(f"{field} is {'a number' if field == 'points' else 'a text'}", field)
    if "says" not in table:
        raise ValueError('`says = "…"` is missing')
    points = float(table.get("points", 0))
    return checked(
        Sentence(exercise, key, table["says"], points, table.get("name", ""), table.get("second", ""))
    )


def _table(one: Sentence) -> str:
    lines = [f"[{one.exercise}.{one.key}]", f"says = {json.dumps(one.says, ensure_ascii=False)}"]
    if one.second:
        lines.append(f"second = {json.dumps(one.second, ensure_ascii=False)}")
    if one.points:
        lines.append(f"points = {one.points:g}")
    if one.named:
        lines.append(f'name = "{one.named}"')
    return "\n".join(lines) + "\n"


def _of_toml(path: Path, text: str, error: str) -> str:
    """What Python says of a file that is no TOML, with the line in front: at its end it names none."""
    why, _, place = error.partition(" (at ")
    line = re.match(r"line (\d+)", place)
    return f"{path}, line {line[1] if line else len(text.splitlines())}: {why}"
