"""A call that does not end is ended, whatever it catches; nothing is left of the limit afterwards."""

import itertools
import signal
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from sdpa_helpers.checking.answers import observe as observe_module
from sdpa_helpers.checking.answers import time_limit
from sdpa_helpers.checking.answers.observe import NOTHING_ELSE, Answer
from sdpa_helpers.checking.answers.time_limit import NOT_RUN, observe_all, observe_within
from sdpa_helpers.checking.judging.judge import judge, truths
from sdpa_helpers.course.registry import find

SHORT = 0.2


def endless(x):
    while True:
        pass


def catches_everything(x):
    while True:
        try:
            time.sleep(0.001)
        except:  # noqa: E722
            x += 1


def catches_twice(x):
    while True:
        try:
            try:
                sum(range(100))
            except BaseException:
                sum(range(100))
        except BaseException:
            continue


def ends_badly(x):
    try:
        endless(x)
    finally:
        endless(x)


def test_the_limit_is_told_and_not_what_a_busy_machine_took(monkeypatch):
    hours = itertools.count(0, 3600)
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: float(next(hours))))
    assert observe_within(endless, (1,), 1.0).message == "after 1 s"


def in_another_thread(call):
    result = []
    thread = threading.Thread(target=lambda: result.append(call()))
    thread.start()
    thread.join(30)
    assert result, "the call did not end"
    return result[0]


@pytest.mark.parametrize("function", [endless, catches_everything, catches_twice, ends_badly])
@pytest.mark.parametrize(
    "where", [lambda call: call(), in_another_thread], ids=["main thread", "another thread"]
)
def test_what_does_not_end_is_ended(function, where):
    answer = where(lambda: observe_within(function, (1,), SHORT))
    assert answer.kind == "stopped"
    assert answer.line.startswith("line ")


def test_the_verdict_says_where_it_stood_and_the_rest_is_not_run():
    exercise = find("dot_product")
    known = truths(exercise, "public")
    first, second = observe_all(endless, [((1,), NOTHING_ELSE), ((2,), NOTHING_ELSE)], SHORT)
    assert second is NOT_RUN
    stopped = judge(exercise, known[0], Answer("stopped", message="after 8 s", line="line 2: while True:"))
    assert stopped.status == "timeout"
    assert stopped.seen == "stopped after 8 s, line 2: while True:"
    assert judge(exercise, known[0], first).points == judge(exercise, known[1], second).points == 0
    assert judge(exercise, known[1], second).status == "not-run"


@pytest.mark.parametrize(
    "where", [lambda call: call(), in_another_thread], ids=["main thread", "another thread"]
)
def test_the_time_begins_with_the_call(where, monkeypatch):
    """What we do before it takes longer than the limit here, as on a machine that stands still for a moment."""
    ours = observe_module._called
    monkeypatch.setattr(observe_module, "_called", lambda *a: (time.sleep(3.5 * SHORT), ours(*a))[1])
    assert where(lambda: observe_within(lambda x: x, (3.0,), SHORT)).array == 3
    assert where(lambda: observe_within(endless, (3.0,), SHORT)).kind == "stopped"


def test_an_interrupt_is_an_answer():
    def interrupted(x):
        raise KeyboardInterrupt

    answer = observe_within(interrupted, (1,))
    assert (answer.kind, answer.message) == ("stopped", "by you, within a second")
    assert "raise KeyboardInterrupt" in answer.line


def test_nothing_is_left_of_the_limit():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *a: rang.append(1))
    filters = list(warnings.filters)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000)
        assert observe_within(endless, (1,), SHORT).kind == "stopped"
        assert observe_within(lambda x: x, (3.0,), 60).array == 3
        left, again = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 900 < left <= 1000
        assert again == 0
        assert signal.getsignal(signal.SIGALRM).__name__ == "<lambda>"
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (rang, warnings.filters) == ([], filters)


def test_errors_keep_their_line_and_right_answers_come_through():
    assert observe_within(lambda x: 1 / x, (0,)).error == "ZeroDivisionError"
    assert "lambda x: 1 / x" in observe_within(lambda x: 1 / x, (0,)).line
    assert observe_within(lambda x: NotImplemented, (0,)).kind == "not-attempted"


def test_a_huge_result_is_not_copied():
    answer = observe_within(lambda: np.broadcast_to(1.0, (10**5, 10**5)), ())
    assert answer.array is None
    assert "shape (100000, 100000)" in answer.type_name
    exercise = find("dot_product")
    seen = judge(exercise, truths(exercise, "public")[0], answer).seen
    assert (
        seen == "returned a NumPy array of shape (100000, 100000), too large to look at; expected one number"
    )
