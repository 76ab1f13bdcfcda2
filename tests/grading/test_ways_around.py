"""Whoever has the work done by a ready-made function earns nothing, however it was reached; whoever does it, all.

In a real kernel, and through `check`: there with functions whose source nobody keeps, so that only what ran can tell.
"""

import importlib.util
import sys
import types

import nbformat
import pytest

from sdpa_helpers.checking.judge import PUBLIC_SEED, judge, truths
from sdpa_helpers.checking.ready_made import COURSE_SOFTMAX
from sdpa_helpers.checking.rules import forbidden_in, hidden_in, ran_forbidden
from sdpa_helpers.grading.assemble import ROLE
from sdpa_helpers.grading.judge import Evidence, Marking, judge_exercise
from sdpa_helpers.grading.read import Lifted, Taken, analyse
from sdpa_helpers.grading.run import Outcome, run
from sdpa_helpers.lessons import session
from sdpa_helpers.lessons.registry import find
from sdpa_helpers.sandbox.limits import Limits
from tests.grading.ways_around import ATTACKS, HIDING, HONEST, WAYS, Way

CLEAR = "for name in set(globals()) - {'np', 'In', 'Out', 'get_ipython'}:\n    if name[:1] != '_': del globals()[name]"
"""Each answer begins with a notebook of its own, nearly."""


def there(ways: tuple[Way, ...]) -> list[Way]:
    return [way for way in ways if not way.needs or importlib.util.find_spec(way.needs)]


def cases_of(way: Way, most: int):
    return truths(find(way.exercise), PUBLIC_SEED)[:most]


def cell(source: str, **role: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={ROLE: role})


def in_a_kernel(ways: list[tuple[Way, int]]) -> Outcome:
    """One notebook with all of them, one after the other, each an exercise of its own with so many cases at most."""
    cells = [cell("import numpy as np\nfrom sdpa_helpers import check", role="setup")]
    for way, most in ways:
        cells += [cell(CLEAR, role="setup"), cell(way.source, role="answer", exercise=way.name)]
        for truth in cases_of(way, most):
            nonce = f"nonce-{len(cells)}"
            source = (
                "import sdpa_helpers.checking.observe\nsdpa_helpers.checking.observe.report("
                f"globals().get({way.exercise!r}), {nonce!r}, {truth.packed!r}, {truth.watched!r})"
            )
            role = {"role": "check", "exercise": way.name, "case": truth.case.name, "nonce": nonce}
            cells.append(cell(source, **role))
    return run(nbformat.v4.new_notebook(cells=cells), Limits(seconds=120.0, cell_seconds=20.0))


def ran_in(outcome: Outcome, way: Way) -> tuple[str, ...]:
    answers = (a for (name, _), a in outcome.answers.items() if name == way.name)
    return ran_forbidden(find(way.exercise), {name for a in answers for name in a.used})


@pytest.fixture(scope="module")
def outcome():
    return in_a_kernel(
        [(way, most) for ways, most in ((HONEST, 100), (WAYS, 2), (ATTACKS, 2)) for way in there(ways)]
    )


@pytest.mark.parametrize("way", there((*WAYS, *ATTACKS)), ids=lambda way: way.name)
def test_what_is_ready_made_is_seen_in_the_kernel(outcome, way):
    assert way.name not in outcome.cell_errors
    assert ran_in(outcome, way)


SLOW = ("traced", "the references", "the decompositions", "masked", "an entropy")
"""What they import takes seconds: once is enough."""
IN_CHECK = [way for way in there(WAYS) if way.name not in SLOW and "%" not in way.source]


@pytest.mark.parametrize("way", IN_CHECK, ids=lambda way: way.name)
def test_what_is_ready_made_is_seen_by_check(way, monkeypatch):
    notebook = types.ModuleType("a_notebook")
    monkeypatch.setitem(sys.modules, "a_notebook", notebook)
    exec("import numpy as np\n" + way.source, vars(notebook))
    function = getattr(notebook, way.exercise)
    report = session.check(function, exercise=way.exercise, keep=False)
    assert (report.passed, report.points) == (False, 0.0)
    assert report.forbidden


@pytest.mark.parametrize("way", there(HONEST), ids=lambda way: way.name)
def test_what_is_the_learners_own_earns_all(outcome, way):
    exercise = find(way.exercise)
    assert forbidden_in(exercise, way.source) == hidden_in(exercise, way.source) == ()
    assert ran_in(outcome, way) == ()
    for truth in cases_of(way, 100):
        assert judge(exercise, truth, outcome.answers[way.name, truth.case.name]).passed, truth.case.name


@pytest.mark.parametrize("way", HIDING, ids=lambda way: way.name)
def test_what_hides_its_use_earns_nothing(way):
    exercise = find(way.exercise)
    taken = Taken({exercise.name: way.source}, ())
    seen = analyse(exercise, taken)
    lifted = Lifted(taken.answers, (), {}, hidden={exercise.name: seen.hidden})
    right = {(exercise.name, t.case.name): t.expected for t in truths(exercise, PUBLIC_SEED)}
    evidence = Evidence(lifted, Outcome(answers=right), {})
    graded = judge_exercise(exercise, evidence, Marking(PUBLIC_SEED))
    assert [flag.kind for flag in seen.flags] == ["dynamic-code"]
    assert (graded.points, "can't be read: write the" in graded.cases[0].message) == (0.0, True)
    flagged = judge_exercise(exercise, evidence, Marking(PUBLIC_SEED, refuse=False))
    assert flagged.points == graded.max_points


def test_the_courses_softmax_may_be_used_where_it_is_allowed():
    assert ran_forbidden(find("softmax_jacobian"), [COURSE_SOFTMAX]) == ()
    assert ran_forbidden(find("softmax"), [COURSE_SOFTMAX]) == ("sdpa_helpers.softmax (seen while it ran)",)
