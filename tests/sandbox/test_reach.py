"""Attacks that reach for what lies outside the sandbox, at every level.

All of them run in one kernel per level; each is a test of its own that looks at what it achieved.
"""

import pytest

from sdpa_helpers.sandbox.limits import Limits
from tests.sandbox.reach import ALLOWED, REACH, source_of

LIMITS = Limits(seconds=30, cell_seconds=15, memory_mb=768)


@pytest.fixture(scope="module")
def reached(pristine, course, targets, usable):
    """reached(level, names): which of these attacks succeed."""
    done: dict[tuple, list[str]] = {}

    def go(level, names):
        if (level, *names) not in done:
            done[level, *names] = _run(pristine, {**targets, "checkout": str(course)}, level, names)
        return done[level, *names]

    return go


def _run(pristine, targets, level, names):
    from sdpa_helpers.grading.assemble import assemble
    from sdpa_helpers.grading.run import run
    from tests.sandbox.conftest import TRUTHS

    answers = {"dot_product": source_of(names, targets)}
    outcome = run(assemble(pristine, answers, TRUTHS, list(answers)), LIMITS, level)
    assert (outcome.stopped, outcome.cell_errors) == ("", {})
    found = next(iter(outcome.answers.values())).array
    assert found.shape == (len(names),)
    return [name for name, success in zip(names, found, strict=True) if success]


@pytest.mark.parametrize("name", REACH)
@pytest.mark.parametrize("level", ["warm", "bubblewrap", "landlock"])
def test_nothing_is_reached(reached, usable, level, name):
    assert name not in reached(usable(level), tuple(REACH))


@pytest.mark.parametrize("level", ["warm", "bubblewrap", "landlock"])
def test_what_a_notebook_may_use_is_there(reached, usable, level):
    """NumPy, IPython, the standard library."""
    assert reached(usable(level), tuple(ALLOWED)) == list(ALLOWED)


def test_the_attacks_succeed_where_nothing_holds_them(reached, targets):
    """Otherwise the test above would prove nothing."""
    names = (
        "solution in the checkout",
        "another submission",
        "find another library",
        "read another library",
        "list the other libraries",
        "see the grader",
        "signal the grader",
        "limits of the grader",
        "connect to this machine",
        "memory files",
        "pages in a pipe",
        "files into a pipe",
        "one pipe twice",
        "a thread with descriptors of its own",
        "descriptors no longer shared",
        "watches on files",
        "a lock on a file that all see",
        "a lock on a part of it",
        "whether another holds one",
        "a lock of a description",
        "socket file",
        "netlink",
        "any other family",
    )
    assert set(reached("off", names)) == set(names)
    targets["connected"].clear()
