"""Whatever an answer may be, and whatever exercise it is to: judging it and putting that into words raises no error.

Recorded answers go as they come out of a kernel, packed and unpacked, through all that judges or words. To stay quick,
an exercise is asked with one case of each form that its results have, and mistakes are named for `NAMED` alone, for
that takes twenty times as long as the rest.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from sdpa_helpers.checking import diagnose
from sdpa_helpers.checking.answers.carried import pack_answer, unpack_answer
from sdpa_helpers.checking.answers.observe import Answer, call, describe, describe_made
from sdpa_helpers.checking.diagnose import Result, assess
from sdpa_helpers.checking.exercise import Case, Exercise
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, truths
from sdpa_helpers.classroom.exports.roster import totals_of
from sdpa_helpers.classroom.pages.class_report import class_page, summarise
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.check_report import CheckReport
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of
from sdpa_helpers.grading.fails_alone import judge_alone
from sdpa_helpers.grading.judge import Evidence, Marking, cell_flags, judge_exercise, use_flags
from sdpa_helpers.grading.read import Lifted
from sdpa_helpers.grading.report import report
from sdpa_helpers.grading.result import GradedExercise
from sdpa_helpers.grading.result_json import as_json, from_json
from sdpa_helpers.grading.run import Outcome
from tests.nightly import BRIEFLY_AND_AT_NIGHT
from tests.results import result

# ---- what an answer may be --------------------------------------------------------------------------------


class Own:
    """A class of the learner's, which answers nothing that it is asked."""

    def __array__(self, *_, **__):
        raise RuntimeError("no")

    def __getattr__(self, name):
        raise ValueError(name)


class OwnTuple(tuple):
    """As a named tuple is one."""


class OwnArray(np.ndarray):
    """Arithmetic with it is not NumPy's."""

    def __array_ufunc__(self, *_, **__):
        raise RuntimeError("no")


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def raise_one() -> None:
    raise type("E\n<b>", (Exception,), {})("\ud800 <script> " * 999)


ALIKE: dict[str, Callable[[], object]] = {
    **{f"{n} axes": lambda n=n: drawn(*(2, 3, 2, 3, 2)[:n]) for n in range(6)},
    "empty": lambda: np.zeros(0),
    "empty, three axes": lambda: np.zeros((3, 0, 2)),
    "ragged": lambda: [[1.0], [2.0, 3.0]],
    "ragged, of arrays": lambda: [np.zeros(2), np.zeros(3)],
    "complex": lambda: np.array([1j, 2.0]),
    "object": lambda: np.array([None, 1], dtype=object),
    "text": lambda: "text",
    "texts": lambda: np.array(["a", "b"]),
    "bytes": lambda: b"x",
    "None": lambda: None,
    "ellipsis": lambda: ...,
    "tuple": lambda: (np.zeros(3), np.zeros((2, 2))),
    "tuple of nothing": lambda: (),
    "tuple of None": lambda: (None, None),
    "tuple of stubs": lambda: (NotImplemented, ...),
    "tuple of lists": lambda: ([1.0], [[2.0], [3.0, 4.0]]),
    "nested tuples": lambda: ((1.0, (2.0, ((3.0,),))), np.zeros(2)),
    "nested lists": lambda: [[[[[[[[1.0]]]]]]]],
    "lists of arrays in lists": lambda: [np.zeros(2), [np.zeros(2), [np.zeros(2), [np.zeros(2)]]]],
    "tuple of many": lambda: tuple(range(20)),
    "own tuple": lambda: OwnTuple((1.0, 2.0)),
    "NaN": lambda: float("nan"),
    "NaNs": lambda: np.full((2, 3), np.nan),
    "infinite": lambda: np.full(3, -np.inf),
    "huge integer": lambda: 10**400,
    "huge integers": lambda: [10**400, 1],
    "unsigned 64 bits": lambda: 2**63,
    "huge numbers": lambda: np.full((2, 2), 1e308),
    "fraction": lambda: Fraction(10**400, 3),
    "own class": Own,
    "dict": lambda: {"a": 1},
    "generator": lambda: (n for n in "ab"),
    "function": lambda: drawn,
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "masked number": lambda: np.ma.masked,
    "bool": lambda: True,
    "half precision": lambda: np.ones((2, 2), np.float16),
    "extended precision": lambda: np.longdouble(1),
    "structured": lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    "dates": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "own array": lambda: drawn(3).view(OwnArray),
    "broadcast giant": lambda: np.broadcast_to(0.0, (10**6, 10**6)),
    "pairs": lambda: [((1.0,), 2.0), (1, 2, 3), ()],
    "an error": raise_one,
}
"""The same for whatever it is asked."""


def of_each(change: Callable[[np.ndarray], object]) -> Callable[[Answer], object]:
    """The right result with each of its arrays changed."""

    def changed(right: Answer) -> object:
        return tuple(map(changed, right.items)) if right.kind == "tuple" else change(right.array)

    return changed


FROM_THE_RIGHT: dict[str, Callable[[Answer], object]] = {
    "summed over the first axis": of_each(lambda a: a.sum(0) if a.ndim else a[None]),
    "summed": of_each(lambda a: a.sum()),
    "with an axis more in front": of_each(lambda a: a[None]),
    "with an axis more at the end": of_each(lambda a: a[..., None]),
    "turned": of_each(lambda a: a.T),
    "flat": of_each(np.ravel),
    "twice as long": of_each(lambda a: np.concatenate([a, a]) if a.ndim else np.stack([a, a])),
    "none of it": of_each(lambda a: a[:0] if a.ndim else np.zeros(0)),
    "none of its last axis": of_each(lambda a: a[..., :0] if a.ndim else np.zeros((0, 0))),
    "complex": of_each(lambda a: a * 1j),
    "half precision": of_each(lambda a: a.astype(np.float16)),
    "whole numbers": of_each(lambda a: np.nan_to_num(a).astype(int)),
    "bytes": of_each(lambda a: np.nan_to_num(a).astype(np.uint8)),
    "booleans": of_each(lambda a: a.astype(bool)),
    "objects": of_each(lambda a: a.astype(object)),
    "texts": of_each(lambda a: a.astype(str)),
    "lists": of_each(np.ndarray.tolist),
    "NaN": of_each(lambda a: a * np.nan),
    "inf": of_each(lambda a: a + np.inf),
    "NaN in one place": of_each(lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, np.nan, a)),
    "of the other sign": of_each(lambda a: ~a if a.dtype.kind == "b" else -1.0 * a),
    "twice": of_each(lambda a: a * 2.0),
    "one more": of_each(lambda a: a + 1.0),
    "far too large": of_each(lambda a: a * 1e300),
    "nothing but 0": of_each(np.zeros_like),
    "masked": of_each(lambda a: np.ma.masked_array(a, mask=np.ones(a.shape, bool))),
    "in a tuple": lambda right: (of_each(lambda a: a)(right),),
    "its first part": lambda right: right.items[0].array if right.items else right.array,
    "its parts the other way round": lambda right: tuple(part.array for part in right.items[::-1]),
}  # fmt: skip
"""From the right result of the case."""

NUMBERS = Answer("array", "ndarray", drawn(2, 3))
FORGED = {
    "a tuple of errors": Answer("tuple", "tuple", items=(Answer("error", error="E", message="x"),) * 2),
    "a tuple of what is made": Answer("tuple", "tuple", items=(Answer("made", "int", made="1"), NUMBERS)),
    "a tuple of tuples": Answer("tuple", "tuple", items=(Answer("tuple", "t", items=(NUMBERS,)),) * 2),
    "numbers and parts": Answer("other", "list", drawn(2, 2, 2, 2, 2), items=(NUMBERS,)),
    "made, of no form": Answer("made", "int", made="{"),
    "not attempted in part": Answer("tuple", "tuple", items=(NUMBERS, Answer("not-attempted"))),
    "changed what is not there": replace(NUMBERS, changed=(15,), peak_bytes=1 << 50, differs=True),
    "a complex number": Answer("number", "complex", np.array(1j)),
}
"""As no kernel of ours sends it, and in a form that is taken."""

NAMED = (
    "1 axes", "complex", "nested tuples", "an error", "a tuple of tuples", "right, summed over the first axis",
    "right, NaN in one place", "right, twice",
)  # fmt: skip
"""The answers whose mistakes are looked for: one of each kind, number of axes, and way to be wrong."""


def sent(answer: Answer) -> Answer:
    """As it comes out of a kernel."""
    return unpack_answer(json.loads(json.dumps(pack_answer(answer))))


# ---- whom it is an answer to ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """An exercise with few cases, and an answer for each, by what kind of answer it is."""

    exercise: Exercise
    answers: dict[str, list[Answer]]


def form(answer: Answer) -> tuple:
    array = answer.array
    return answer.kind, array is not None and (array.dtype.str, array.ndim), tuple(map(form, answer.items))


def with_few_cases(exercise: Exercise) -> Exercise:
    if exercise.is_made:
        return exercise
    cases: dict[tuple, Case] = {}
    for truth in truths(exercise, PUBLIC_SEED):
        cases.setdefault(form(truth.expected), truth.case)
    return replace(exercise, cases=tuple(cases.values())[:3])


def made_from(truth: Truth, exercise: Exercise) -> Iterator[tuple[str, Answer]]:
    describes = describe_made if truth.watch.made else describe
    for name, change in FROM_THE_RIGHT.items():
        if truth.watch.made:  # what is made has no arrays to change: its parts, one, and twice
            parts = (exercise.reference(), [exercise.reference()], (exercise.reference(),) * 2)
            value = parts[len(name) % 3]
            yield f"right, {name}", call(lambda value=value: value, (), describes)
        else:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield f"right, {name}", call(change, (truth.expected,), describes)


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    plain = {name: sent(call(make, ())) for name, make in ALIKE.items()} | FORGED
    made = {name: sent(call(make, (), describe_made)) for name, make in ALIKE.items()} | FORGED
    found = []
    for exercise in map(with_few_cases, all_exercises().values()):
        known = truths(exercise, PUBLIC_SEED)
        answers = {name: [a] * len(known) for name, a in (made if exercise.is_made else plain).items()}
        for truth in known:
            for name, answer in made_from(truth, exercise):
                answers.setdefault(name, []).append(sent(answer))
        found.append(Asked(exercise, answers))
    return found


# ---- what judges, and what words --------------------------------------------------------------------------


def evidence_of(exercise: Exercise, answers: list[Answer], *, cell: str = "") -> Evidence:
    keys = [(exercise.name, t.asked_in or t.case.name) for t in truths(exercise, PUBLIC_SEED)]
    errors = {exercise.name: cell} if cell else {}
    came = dict(zip(keys, answers, strict=True))
    return Evidence(Lifted({exercise.name: f"def {exercise.name}(): ..."}, (), {}), Outcome(came, errors), {})


def marked(exercise: Exercise, answers: list[Answer]) -> GradedExercise:
    """As `sdpa grade` judges it, which says nothing of the inputs."""
    evidence = evidence_of(exercise, answers, cell="ValueError: '\ud800' (line 1)")
    cell_flags([exercise], evidence, hidden=True)
    use_flags(exercise, evidence)
    return judge_exercise(exercise, evidence, Marking(PUBLIC_SEED, hidden=True))


def checked(exercise: Exercise, answers: list[Answer]) -> Result:
    """As `check` judges it, and says it in both ways."""
    found = assess(exercise, answers, PUBLIC_SEED)
    card = CheckReport(found, found)
    assert card.text()
    assert card.html()
    return found


@pytest.mark.filterwarnings("error")  # which learners would read
def test_nothing_that_judges_or_words_an_answer_raises_an_error(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(diagnose, "name_mistakes", lambda *_: ())
    by_lesson: dict[str, list[tuple[Exercise, dict[str, GradedExercise]]]] = {}
    for one in asked:
        for answers in one.answers.values():
            checked(one.exercise, answers)
        graded = {name: marked(one.exercise, answers) for name, answers in one.answers.items()}
        by_lesson.setdefault(one.exercise.lesson, []).append((one.exercise, graded))
    results = []
    for lesson in LESSONS:
        for name in [*ALIKE, *FORGED, *(f"right, {name}" for name in FROM_THE_RIGHT)]:
            of_lesson = [graded[name] for _, graded in by_lesson.get(lesson, ())]
            if of_lesson:
                results.append(
                    from_json(
                        json.loads(json.dumps(as_json(result(name, of_lesson, lesson)), allow_nan=False))
                    )
                )
    for each in results:
        assert feedback_page(each)
        assert report(each)
    assert class_page(summarise(results), ResultsFolder(tmp_path))
    assert totals_of(results)
    assert len(results) > 10 * (len(ALIKE) + len(FROM_THE_RIGHT))


@BRIEFLY_AND_AT_NIGHT
def test_nor_does_what_names_mistakes(asked, at_night):
    """In turn, with every fourth exercise: to name the first mistake of one takes a tenth of a second."""
    for number, one in enumerate(asked if at_night else asked[::4]):
        for name in NAMED if at_night else (NAMED[number % 4], NAMED[4 + number % 4]):
            found = checked(one.exercise, one.answers[name])
            assert len(found.cases) == len(one.exercise.cases)
            assert len(found.mistakes) <= 2


def test_an_exercise_that_all_of_this_would_miss_fails_alone(asked):
    """What the tests above would find, seen from the other side: a judge that does raise an error."""
    one = asked[0]
    broken = replace(one.exercise, cases=(*one.exercise.cases, Case("no such inputs", lambda rng: 1 / 0)))
    fine = judge_alone(one.exercise, evidence_of(one.exercise, one.answers["1 axes"]), Marking(PUBLIC_SEED))
    failed = judge_alone(broken, evidence_of(one.exercise, one.answers["1 axes"]), Marking(PUBLIC_SEED))
    assert (fine.graded.failed, failed.graded.failed) == (False, True)
    assert len(failed.graded.cases) == len(broken.cases)
    assert exercises_of(one.exercise.lesson)
