"""Answers that resemble each other, side by side, for a human to read. Resemblance proves nothing.

One answer that two people wrote alike says little, many say more: so pairs of people come first, by how many they are.
Compared is the code without comments and with the names taken out. Left out: what is too short to tell, what
resembles the handed-out solution or a known wrong answer, and what a good part of the class wrote alike.
"""

import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, combinations

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.grading.result import GradedNotebook
from sdpa_helpers.grading.shape import shape_of, source_of

MIN_TOKENS = 40
"""Shorter answers resemble each other by chance: there are few ways to write them."""

THRESHOLD = 0.9
"""difflib's ratio of the two token sequences from which a pair is shown."""

MAX_SHARED = 25
"""A run of tokens that more answers than this contain says nothing about any two of them."""

MAX_PAIRS = 200
"""Pairs of answers that are shown side by side, those of a pair of people together."""

MAX_PEOPLE = 100
"""Pairs of people that are listed."""

_RUN = 6
_COMPARED = 20_000
"""So many pairs of answers to one exercise are compared at most: those with most runs in common."""

_COUNTED = 300_000
"""So many shared runs are counted to find these; rare ones first."""

_BUCKETS = 1 << 22
"""Runs are counted in so many buckets first: most belong to one learner alone, and are never kept."""


@dataclass(frozen=True)
class CodeAnswer:
    """One learner's answer to one exercise, small enough to keep a whole class. tokens: a character for each."""

    student: str
    notebook: str
    exercise: str
    packed: bytes
    tokens: str

    @property
    def text(self) -> str:
        """The answer as it was handed in."""
        return zlib.decompress(self.packed).decode()


@dataclass(frozen=True)
class Pair:
    """Two answers that resemble each other."""

    one: CodeAnswer
    other: CodeAnswer
    ratio: float


@dataclass(frozen=True)
class TwoPeople:
    """Two learners with all answers of theirs that resemble each other, the closest and longest first."""

    one: str
    other: str
    pairs: tuple[Pair, ...]

    @property
    def tokens(self) -> int:
        """How long these answers are together: what tells more about people with as many."""
        return sum(len(pair.one.tokens) for pair in self.pairs)


@dataclass(frozen=True)
class Similar:
    """What was found. alike: (exercise, learners) for answers that too many share to list them in pairs."""

    people: tuple[TwoPeople, ...]
    """Those with most answers in common first."""
    alike: tuple[tuple[str, tuple[str, ...]], ...]
    compared: int

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs of answers, in the order of the people."""
        return tuple(pair for two in self.people for pair in two.pairs)


# ---- code as tokens ---------------------------------------------------------------------------------------


def _body(shape: str) -> tuple[str, ...]:
    """The tokens without those that everybody has: the first line of the function itself."""
    tokens = tuple(shape.split())
    if tokens[:1] == ("def",) and "NEWLINE" in tokens:
        tokens = tokens[tokens.index("NEWLINE") + 1 :]
    return tokens


class Alphabet:
    """Has a character of its own for every token, so that code becomes a short string."""

    def __init__(self) -> None:
        self.characters: dict[str, str] = {}

    def spell(self, tokens: tuple[str, ...]) -> str:
        """The tokens as a string."""
        return "".join(map(self._character, tokens))

    def _character(self, token: str) -> str:
        if token not in self.characters:
            self.characters[token] = chr(min(_FIRST_CHARACTER + len(self.characters), sys.maxunicode))
        return self.characters[token]


_FIRST_CHARACTER = 0xE000  # above the surrogates, which are no characters


@cache
def _known_shapes(exercise: Exercise) -> tuple[tuple[str, ...], ...]:
    """The handed-out answer, other right ones and the known wrong ones, where their source can be read."""
    functions = [exercise.reference, *exercise.also_right, *(w.function for w in exercise.wrong)]
    shapes = set()
    for function in functions:
        source = source_of(function)
        if source.startswith("def "):  # the source of a lambda is the line it happens to stand on
            shapes.add(_body(shape_of(source)))
    return tuple(sorted(shapes))


def resemblance(one: Sequence[str], other: Sequence[str]) -> float:
    """difflib's ratio, or 0 as soon as it is sure to lie below the threshold."""
    least = THRESHOLD * (len(one) + len(other)) / 2
    if min(len(one), len(other)) < least or _longest_in_common(one, other) < least:
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _longest_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How long the longest sequence of tokens is that both have in this order, be there others between them.

    difflib never matches more, and takes fifty times as long. A row of the usual table is the bits of one number,
    in which a token that adds to the sequence is a 0 (Hyyrö 2004, "Bit-parallel LCS-length computation revisited").
    """
    places: dict[str, int] = defaultdict(int)
    for number, token in enumerate(one):
        places[token] |= 1 << number
    everywhere = row = (1 << len(one)) - 1
    for token in other:
        if found := row & places.get(token, 0):
            row = (row + found | row - found) & everywhere
    return len(one) - row.bit_count()


# ---- finding ----------------------------------------------------------------------------------------------


def find_similar(results: Iterable[GradedNotebook]) -> Similar:
    """Answers by different learners that resemble each other, by pairs of people."""
    by_exercise: dict[tuple[str, str], list[CodeAnswer]] = defaultdict(list)
    compared, alphabet = 0, Alphabet()
    for result in results:
        in_words = {words.name for words in result.words}
        for name, text in result.answers.items():
            if name in in_words:
                continue  # prose is no code
            tokens = _body(result.shapes.get(name, ""))
            if len(tokens) >= MIN_TOKENS:
                packed = zlib.compress(text.encode("utf-8", "replace"), 1)
                answer = CodeAnswer(result.student, result.notebook, name, packed, alphabet.spell(tokens))
                by_exercise[result.notebook, name].append(answer)
                compared += 1
    pairs: list[Pair] = []
    alike: list[tuple[str, tuple[str, ...]]] = []
    for (notebook, name), answers in sorted(by_exercise.items()):
        known = [alphabet.spell(shape) for shape in _shapes_of(notebook, name)]
        common = {
            t for t in {a.tokens for a in answers} if any(resemblance(t, k) >= THRESHOLD for k in known)
        }
        telling = [a for a in answers if a.tokens not in common]
        some, many = _pairs(telling)
        pairs += some
        alike += [(name, tuple(sorted(a.student for a in group))) for group in many]
    return Similar(_by_people(pairs), tuple(alike), compared)


def _by_people(pairs: Iterable[Pair]) -> tuple[TwoPeople, ...]:
    found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.one.student > pair.other.student:
            pair = Pair(pair.other, pair.one, pair.ratio)
        found[pair.one.student, pair.other.student].append(pair)
    people = [
        TwoPeople(
            one, other, tuple(sorted(of_two, key=lambda p: (-p.ratio, -len(p.one.tokens), p.one.exercise)))
        )
        for (one, other), of_two in found.items()
    ]
    return tuple(sorted(people, key=lambda two: (-len(two.pairs), -two.tokens, two.one, two.other)))


def _shapes_of(notebook: str, name: str) -> tuple[tuple[str, ...], ...]:
    exercises = exercises_of(notebook) if notebook in LESSONS else ()
    return next((_known_shapes(e) for e in exercises if e.name == name), ())


def _pairs(answers: list[CodeAnswer]) -> tuple[list[Pair], list[list[CodeAnswer]]]:
    """Pairs among the answers to one exercise, and groups of equal ones too large to list in pairs."""
    equal: dict[str, list[CodeAnswer]] = defaultdict(list)
    for answer in answers:
        equal[answer.tokens].append(answer)
    many = [group for group in equal.values() if len(group) > MAX_SHARED]
    few = [group for group in equal.values() if len(group) <= MAX_SHARED]
    pairs = [Pair(a, b, 1.0) for group in few for a, b in combinations(group, 2)]
    for i, j in _candidates([group[0].tokens for group in few]):
        ratio = resemblance(few[i][0].tokens, few[j][0].tokens)
        if ratio >= THRESHOLD:
            pairs += [Pair(a, b, ratio) for a in few[i] for b in few[j]]
    return pairs, many


def _candidates(shapes: list[str]) -> list[tuple[int, int]]:
    """Pairs of shapes that share most short runs of tokens: those worth comparing.

    Time grows with the class only, and memory with the runs that two or more of it share.
    """
    seen = bytearray(_BUCKETS)
    for tokens in shapes:
        for run in _runs(tokens):
            bucket = hash(run) % _BUCKETS
            seen[bucket] = min(seen[bucket] + 1, 2)
    holders: dict[str, list[int]] = {}
    for i, tokens in enumerate(shapes):
        for run in _runs(tokens):
            if seen[hash(run) % _BUCKETS] > 1:
                who = holders.setdefault(run, [])
                if len(who) <= MAX_SHARED:
                    who.append(i)
    shared: Counter[tuple[int, int]] = Counter()
    counted = 0
    for who in sorted((w for w in holders.values() if 1 < len(w) <= MAX_SHARED), key=len):
        shared.update(combinations(who, 2))
        counted += len(who) * (len(who) - 1) // 2
        if counted > _COUNTED:
            break
    return [pair for pair, _ in shared.most_common(_COMPARED)]


def _runs(tokens: str) -> list[str]:
    """The short runs of tokens in a shape, each once, in their order."""
    return list(dict.fromkeys(tokens[k : k + _RUN] for k in range(len(tokens) - _RUN + 1)))


# ---- showing ----------------------------------------------------------------------------------------------


def similar_page(similar: Similar) -> str:
    """The page as HTML; everything that came from a submission is escaped."""
    listed = similar.people[:MAX_PEOPLE]
    # Whole people, as many as fit; of the first all there is.
    many = sum(total <= MAX_PAIRS for total in accumulate(len(two.pairs) for two in listed))
    return (
        environment()
        .get_template("similar.html")
        .render(
            similar=similar,
            listed=listed,
            shown=listed[: max(1, many)],
            percent=lambda pair: int(100 * pair.ratio),
            sides=lambda pair: (_side(pair.one, pair.other), _side(pair.other, pair.one)),
            min_tokens=MIN_TOKENS,
            threshold=int(100 * THRESHOLD),
        )
    )


def _side(answer: CodeAnswer, against: CodeAnswer) -> tuple[str, list[tuple[str, bool]]]:
    """Who wrote an answer, and its lines."""
    return answer.student, _lines(answer.text, against.text)


def _lines(text: str, against: str) -> list[tuple[str, bool]]:
    """The lines of an answer, each with whether the other answer has it too, up to spaces."""
    theirs = {" ".join(line.split()) for line in against.splitlines()}
    return [(line, " ".join(line.split()) in theirs) for line in text.splitlines()]
