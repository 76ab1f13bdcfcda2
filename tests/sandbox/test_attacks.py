"""A hostile answer earns nothing for its exercise, costs the others nothing, and leaves nothing behind."""

from dataclasses import replace

import pytest

from sdpa_helpers.sandbox.start import OFF
from tests.handing_in import POINTS, RIGHT, TOTAL
from tests.nightly import at_night
from tests.sandbox import exhaust, forge
from tests.sandbox.conftest import LIMITS

MEDDLES_WITH_ALL = {"numpy", "transformers", "run_code", "run_cell", "another json", "other builtins"}
"""These spoil the results of their own other exercises too; nobody else's."""

SPEAKS_FOR_THE_KERNEL = (
    "a false reply",
    "threads that publish early",
    "a result of one's own",
    "a kernel of one's own",
    "an older message in place of a newer",
    "a message said twice",
    "no notes",
    "another question",
    "done before it is",
)
"""Who makes up what only the kernel itself says, or stands between it and the grader."""


# What is left out depends on timing: children that work on after their answer has come use up the time of the
# next exercise, or end too late to. Who fills a memory may use up the time first.
STATUSES = {
    **{name: {"timeout"} for name in exhaust.TIME.keys() - {"many children that work"}},
    "shared memory of many processes": {"out-of-memory", "timeout"},
    "memory, little by little": {"out-of-memory", "timeout"},
    "one huge array": {"out-of-memory"},
    "os._exit": {"kernel-died"},
    "kills itself": {"kernel-died"},
    "crashes": {"kernel-died"},
    "calls of another architecture": {"kernel-died"},
}


PROGRAMS = replace(LIMITS, subprocesses=True, seconds=12)  # a bomb uses much between two looks at the clock
LIMITS_OF = {
    **dict.fromkeys(exhaust.STARTS_PROCESSES, PROGRAMS),
    "many children that work": replace(PROGRAMS, seconds=2),  # they use all of it
    "memory, little by little": replace(LIMITS, memory_mb=256),  # in every case anew
}


def check(record, name, others_keep_theirs=True):
    assert record.exercise("dot_product").points == 0, name
    if others_keep_theirs:
        assert record.points == TOTAL - POINTS["dot_product"], (record.status, record.flags)
    else:
        assert record.points <= TOTAL - POINTS["dot_product"]


@pytest.mark.parametrize("name", [name for name in forge.FORGE if name not in SPEAKS_FOR_THE_KERNEL])
def test_forged_results_earn_nothing(graded, warm, name):
    record = graded(warm, forge.source_of(name))
    check(record, name, others_keep_theirs=name not in MEDDLES_WITH_ALL)
    assert "<script" not in str(record).replace("<script>alert(1)</script>", "")


def in_turn(names, levels):
    """Each with one of the levels, and at night with all."""
    every = [(level, n, name) for n, name in enumerate(names) for level in levels]
    return [
        (level, name) if levels[n % len(levels)] == level else at_night(level, name)
        for level, n, name in every
    ]


@pytest.mark.parametrize(
    ("level", "name"),
    [
        *(("warm", name) for name in SPEAKS_FOR_THE_KERNEL),
        *in_turn(SPEAKS_FOR_THE_KERNEL, ["bubblewrap", "landlock", OFF]),
    ],
)
def test_who_speaks_for_the_kernel_is_named_and_earns_nothing(graded, usable, level, name):
    record = graded(level if level == OFF else usable(level), forge.source_of(name))
    check(record, name)
    assert {flag.kind for flag in record.flags} & {"forged-output", "malformed-message"}, record.flags


@pytest.mark.parametrize("name", exhaust.ATTACKS)
def test_a_warm_kernel_wears_nobody_down(graded, warm, name):
    record = graded(warm, exhaust.source_of(name), LIMITS_OF.get(name, LIMITS))
    check(record, name, others_keep_theirs=name != "many children that work")
    assert record.status in STATUSES.get(name, {record.status})


@pytest.mark.parametrize("name", ["a child that works", "a program", "becomes another program", "forks in C"])
def test_a_kernel_that_may_start_nothing_has_nothing_to_end(graded, warm, name):
    record = graded(warm, exhaust.source_of(name))
    check(record, name)
    cases = record.exercise("dot_product").cases
    assert all("PermissionError" in case.message for case in cases), [case.message for case in cases]


@pytest.mark.parametrize(("level", "name"), in_turn(exhaust.ELSEWHERE, ["bubblewrap", "landlock"]))
def test_nor_do_kernels_of_the_other_levels(graded, usable, level, name):
    record = graded(usable(level), exhaust.source_of(name))
    check(record, name)
    assert record.exercise("dot_product").points == 0


def test_the_next_submission_notices_nothing(graded, warm):
    graded(warm, exhaust.source_of("fills every folder"))
    record = graded(warm, RIGHT["dot_product"])
    assert (record.points, record.status, record.flags) == (TOTAL, "graded", ())
