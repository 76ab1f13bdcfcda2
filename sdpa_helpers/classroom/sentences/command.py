"""`sdpa name` and `sdpa names` without their options: who gave which answer, and what they are told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.sentences.as_mistakes import as_mistake
from sdpa_helpers.classroom.sentences.store import (
    Sentence,
    Sentences,
    read_sentences,
    tell,
    write_sentences,
)
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook

Given = tuple[str, str]
"""(exercise, key of an answer)."""


@dataclass
class Givers:
    """Who gave an answer that the course has no name for."""

    learners: list[str] = field(default_factory=list)
    answer: str = ""
    """The shortest of theirs."""


def givers(results: Iterable[GradedNotebook]) -> dict[Given, Givers]:
    """All answers without a name of the course."""
    found: dict[Given, Givers] = {}
    for result in results:
        for graded in result.code:
            if graded.unknown:
                one = found.setdefault((graded.name, graded.unknown), Givers())
                one.learners.append(result.student)
                texts = [text for text in (one.answer, result.answers.get(graded.name, "")) if text.strip()]
                one.answer = min(texts, key=len, default="")
    return found


def name_answer(folder: ResultsFolder, sentence: Sentence) -> Sentence | None:
    """Keep a sentence; one without words takes back what was told of this answer, and gives None.

    Its key may be only the first letters, where these are enough to tell which answer is meant.
    """
    kept = read_sentences(folder.names_toml)
    known = {
        key for exercise, key in (*givers(folder.read_results()), *kept) if exercise == sentence.exercise
    }
    meant = [key for key in sorted(known) if key.startswith(sentence.key)] or [sentence.key]
    if len(meant) > 1:
        raise Refusal(f"{sentence.key} begins several answers to {sentence.exercise}: {', '.join(meant)}")
    whole = Sentence(sentence.exercise, meant[0], sentence.says, sentence.points, sentence.named)
    if not sentence.says.strip() and (whole.exercise, whole.key) not in kept:
        raise Refusal(f"nothing is told of the answer {whole.key} to {whole.exercise}")
    try:
        return tell(folder.names_toml, whole).get((whole.exercise, whole.key))
    except ValueError as error:
        raise Refusal(str(error.args[0])) from None


def take_over(target: Path, earlier: Path) -> int:
    """Bring the sentences of an earlier term in; those that are there already stay. Returns how many are new.

    earlier: a names.toml, or the folder with it.
    """
    source = earlier / target.name if earlier.is_dir() else earlier
    if not source.is_file():
        raise Refusal(f"there is no {source}")
    kept = read_sentences(target)
    both = read_sentences(source) | kept
    if both != kept:
        write_sentences(target, both)
    return len(both) - len(kept)


def listed(folder: ResultsFolder) -> Iterator[str]:
    """A line for each sentence, then one for each answer that several gave and nobody has named."""
    sentences, found = read_sentences(folder.names_toml), givers(folder.read_results())
    for given, one in sentences.items():
        points = f" ({one.points:+g})" if one.points else ""
        yield f"{one.exercise} {one.key}, {_learners(found.get(given))}{points}: {one.says}"
    without = [
        (given, who) for given, who in found.items() if given not in sentences and len(who.learners) > 1
    ]
    for (exercise, key), who in sorted(without, key=lambda pair: (-len(pair[1].learners), pair[0])):
        yield f"{exercise} {key}, {_learners(who)}: no name yet"


def as_mistakes(folder: ResultsFolder) -> Iterator[str]:
    """Each sentence as an entry for its exercise's page."""
    found = givers(folder.read_results())
    for given, one in read_sentences(folder.names_toml).items():
        exercise = all_exercises()[one.exercise]
        answer = found[given].answer if given in found else ""
        yield f"<!-- {exercise.lesson}, {exercise.name}, below ## Mistakes -->\n{as_mistake(exercise, one, answer)}\n"


def put_in_order(path: Path) -> Sentences:
    """Read a file, and write it again where it isn't sorted."""
    kept = read_sentences(path)
    if path.is_file():
        write_sentences(path, kept)
    return kept


def _learners(who: Givers | None) -> str:
    number = len(who.learners) if who else 0
    return f"{number} learner{'' if number == 1 else 's'}"
