"""Going through the written answers of a graded batch: which come when, what is shown, what a reader's act does.

Nothing here knows notebooks or browsers: `ReviewSession.act` takes what a reader did, `view` says what to show.
One question is read for everybody in a row, answers that resemble each other follow each other, and the order says
nothing about who wrote them. Every act that changes a mark is on the disk before the view tells of it.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.classroom.marks.store import AnswerKey, stamp
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.decisions import NOTHING, Decision, load_decisions, save_decision
from sdpa_helpers.course.registry import LESSONS, all_written
from sdpa_helpers.grading.result import GradedNotebook

MAX_COMMENT = 4000
ALIKE = 0.6
"""Two answers resemble each other when they share this part of their runs of four words."""

_RUN, _COMMON = 4, 25


@dataclass(frozen=True)
class WrittenAnswer:
    """One answer in words."""

    key: AnswerKey
    text: str
    alike: int = 0
    """How many answers of other learners resemble it."""


# ---- which answers, in which order --------------------------------------------------------------------------


def answers_of(results: Iterable[GradedNotebook]) -> list[WrittenAnswer]:
    """Every written answer that somebody can read, in the order in which it is read."""
    found: dict[str, list[WrittenAnswer]] = defaultdict(list)
    for result in results:
        for words in result.words:
            if words.digest and words.name in all_written():
                key = AnswerKey(result.student, result.notebook, words.name, words.digest)
                found[words.name].append(WrittenAnswer(key, result.answers.get(words.name, "")))
    ordered = sorted(found, key=lambda name: _position(all_written()[name]))
    return [answer for name in ordered for answer in _shuffled(found[name])]


def _position(exercise: WrittenExercise) -> tuple[int, int]:
    return list(LESSONS).index(exercise.lesson), list(all_written()).index(exercise.name)


def _shuffled(answers: list[WrittenAnswer]) -> list[WrittenAnswer]:
    """By chance, the same whenever one looks; what resembles each other stays together."""
    ranks = {
        a.key: hashlib.sha256("\0".join(("order", *_parts(a.key))).encode()).hexdigest() for a in answers
    }
    groups = _groups([a.text for a in answers])
    first: dict[int, str] = {}
    for answer, group in zip(answers, groups, strict=True):
        first[group] = min(first.get(group, "~"), ranks[answer.key])
    sizes = Counter(groups)
    placed = [
        ((first[group], ranks[answer.key]), replace(answer, alike=sizes[group] - 1))
        for answer, group in zip(answers, groups, strict=True)
    ]
    return [answer for _, answer in sorted(placed, key=lambda pair: pair[0])]


def _parts(key: AnswerKey) -> tuple[str, ...]:
    return key.student, key.notebook, key.exercise  # not the text: a changed answer stays where it was


def _groups(texts: list[str]) -> list[int]:
    """A number for each text; texts that resemble each other have the same. Time grows with the class only."""
    words = [tuple("".join(c if c.isalnum() else " " for c in text.lower()).split()) for text in texts]
    alike: dict[tuple[str, ...], int] = {}
    group = [alike.setdefault(w, i) for i, w in enumerate(words)]  # the same words: the first one's number
    runs = {i: {words[i][k : k + _RUN] for k in range(len(words[i]) - _RUN + 1)} for i in set(group)}
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in sorted(runs):
        for run in runs[i]:
            holders[run].append(i)
    shared: Counter[tuple[int, int]] = Counter()
    for who in holders.values():
        if 1 < len(who) <= _COMMON:  # what many write says nothing about any two of them
            shared.update(combinations(who, 2))
    leader = {i: i for i in runs}
    for (i, j), count in sorted(shared.items()):
        if count >= ALIKE * len(runs[i] | runs[j]):
            one, other = sorted((leader[i], leader[j]))
            leader |= {k: one for k in leader if leader[k] == other} if one != other else {}
    return [leader[i] for i in group]


# ---- what a reader does -------------------------------------------------------------------------------------


class ReviewSession:
    """One reader at work on the --out folder of `sdpa grade`."""

    def __init__(self, folder: ResultsFolder) -> None:
        self.folder, self._marks_db = folder, folder.marks_db
        self.answers = answers_of(folder.read_results())
        self.marks, self._stamp = load_decisions(self._marks_db), stamp(self._marks_db)
        self.at = self._next_unmarked(-1) or 0
        self.names = False
        self.number = 0
        self.says = ""
        self._did = ""
        self._before: list[tuple[int, Decision]] = []
        self._earlier = {_parts(key): mark for key, mark in self.marks.items()}  # the last save of each
        self._acts: dict[str, Callable[[dict[str, Any]], None]] = {
            "go": self._go,
            "unmarked": lambda said: self._to(self._next_unmarked(self.at)),
            "toggle": self._toggle,
            "set": self._set,
            "adjust": self._adjust,
            "comment": self._comment,
            "unmark": lambda said: self._keep(NOTHING),
            "undo": lambda said: self._undo(),
            "names": lambda said: setattr(self, "names", not self.names),
        }

    @property
    def marked(self) -> int:
        """How many answers have their points."""
        return sum(self._mark(answer).points is not None for answer in self.answers)

    def act(self, said: dict[str, Any]) -> None:
        """Do what the reader asked for, e.g. {"do": "toggle", "at": 3, "key": "sum"}.

        `at` is the answer that the reader has before them. ValueError when there is no such act, answer or
        criterion; CannotKeep when a mark could not be saved.
        """
        self.says = ""
        self.number = int(said.get("number", 0))
        if not self.answers:
            return
        if said.get("do") not in self._acts:
            raise ValueError(
                f"{said.get('do')!r} is nothing that can be done; expected {', '.join(self._acts)}"
            )
        if "at" in said:
            self.at = self._checked(said["at"])
        if self._stamp != stamp(self._marks_db):  # somebody else marks the same batch
            self.marks, self._stamp = load_decisions(self._marks_db), stamp(self._marks_db)
        self._acts[said["do"]](said)
        self._did = said["do"]

    # -- moving

    def _checked(self, at: Any) -> int:
        if not isinstance(at, int) or not 0 <= at < len(self.answers):
            raise ValueError(f"there is no answer {at!r}; there are {len(self.answers)}")
        return at

    def _go(self, said: dict[str, Any]) -> None:
        self.at = self._checked(said["to"])

    def _to(self, at: int | None) -> None:
        if at is None:
            self.says = "Every answer is marked."
        else:
            self.at = at

    def _next_unmarked(self, at: int) -> int | None:
        """The next answer without points, from the beginning again after the last one."""
        order = [*range(at + 1, len(self.answers)), *range(at + 1)]
        return next((i for i in order if self._mark(self.answers[i]).points is None), None)

    # -- marking

    def _mark(self, answer: WrittenAnswer) -> Decision:
        return self.marks.get(answer.key, NOTHING)

    def _exercise(self) -> WrittenExercise:
        return all_written()[self.answers[self.at].key.exercise]

    def _toggle(self, said: dict[str, Any]) -> None:
        keys = [c.key for c in self._exercise().criteria]
        if said["key"] not in keys:
            raise ValueError(f"{said['key']!r} is no criterion; there are {', '.join(keys)}")
        mark = self._mark(self.answers[self.at])
        given = set(mark.given) ^ {said["key"]}
        self._give(tuple(k for k in keys if k in given), mark.adjusted)

    def _set(self, said: dict[str, Any]) -> None:
        """All criteria, or none, and nothing on top."""
        self._give(tuple(c.key for c in self._exercise().criteria) if said["all"] else (), 0.0)

    def _adjust(self, said: dict[str, Any]) -> None:
        mark = self._mark(self.answers[self.at])
        most = self._exercise().max_points
        by = float(said["by"]) if "by" in said else float(said["to"]) - mark.adjusted
        if not math.isfinite(by):
            raise ValueError("points must be a number")
        self._give(mark.given, max(-most, min(most, round(mark.adjusted + by, 2))))

    def _give(self, given: tuple[str, ...], adjusted: float) -> None:
        points = points_for(self._exercise(), given, adjusted)
        self._keep(replace(self._mark(self.answers[self.at]), given=given, adjusted=adjusted, points=points))

    def _comment(self, said: dict[str, Any]) -> None:
        text = str(said["text"])[:MAX_COMMENT].encode("utf-8", "replace").decode().replace("\0", "")
        # A comment is saved while it is typed; undo takes back all of it.
        goes_on = self._did == "comment" and bool(self._before) and self._before[-1][0] == self.at
        self._keep(replace(self._mark(self.answers[self.at]), comment=text.strip()), can_undo=not goes_on)

    def _keep(self, mark: Decision, *, can_undo: bool = True) -> None:
        key = self.answers[self.at].key
        before = self.marks.get(key, NOTHING)
        if mark == before:
            return
        save_decision(self._marks_db, key, mark)
        self.marks[key], self._stamp = mark, stamp(self._marks_db)
        if can_undo:
            self._before.append((self.at, before))

    def _undo(self) -> None:
        if not self._before:
            self.says = "There is nothing to undo."
            return
        self.at, mark = self._before.pop()
        self._keep(mark, can_undo=False)
        self.says = "Undone."

    # -- showing

    def view(self) -> dict[str, Any]:
        """What the reader sees now; who wrote an answer is not in it unless the reader asked for names."""
        whole = {"number": self.number, "total": len(self.answers), "marked": self.marked, "says": self.says}
        if not self.answers:
            return whole
        answer = self.answers[self.at]
        mark = self._mark(answer)
        same = [i for i, other in enumerate(self.answers) if other.key.exercise == answer.key.exercise]
        done = sum(self._mark(self.answers[i]).points is not None for i in same)
        return whole | {
            "at": self.at,
            "exercise": answer.key.exercise,
            "text": answer.text,
            "alike": answer.alike,
            "student": answer.key.student if self.names else None,
            "of_exercise": {"place": same.index(self.at) + 1, "total": len(same), "marked": done},
            "mark": _as_view(mark),
            "before": self._changed(answer),
            "can_undo": bool(self._before),
        }

    def _changed(self, answer: WrittenAnswer) -> dict[str, Any] | None:
        """The mark of an earlier text of this learner, when this one has none."""
        earlier = self._earlier.get(_parts(answer.key))
        unread = self._mark(answer) == NOTHING
        return _as_view(earlier) if earlier and unread and earlier.points is not None else None


def points_for(exercise: WrittenExercise, given: Iterable[str], adjusted: float) -> float:
    """The points of criteria that are met, with what a reader put on top: never below 0 or above the maximum."""
    met = set(given)
    points = sum(c.points for c in exercise.criteria if c.key in met) + adjusted
    return round(min(max(points, 0.0), exercise.max_points), 2)


def _as_view(mark: Decision) -> dict[str, Any]:
    return {
        "given": list(mark.given),
        "adjusted": mark.adjusted,
        "points": mark.points,
        "comment": mark.comment,
    }
