"""Who sleeps does not wait for a processor."""

import subprocess
import time

import pytest

from sdpa_helpers.grading import busy


def test_who_sleeps_does_not_wait_for_a_processor():
    sleeper = subprocess.Popen(["sleep", "100"])
    try:
        time.sleep(0.05)
        if not busy._waits(sleeper.pid):
            pytest.skip("this system does not count how long a process waits")
        assert not busy.was_busy(sleeper.pid, 100.0)
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize(
    ("waits", "so"), [([0.1, 6.0], True), ([4.0, 4.0, 4.0], False), ([], True)], ids=["yes", "no", "unknown"]
)
def test_it_is_the_thread_that_waited_longest_which_counts(monkeypatch, waits, so):
    monkeypatch.setattr(busy, "tree", lambda pid: [pid])
    monkeypatch.setattr(busy, "_waits", lambda pid: waits)
    assert busy.was_busy(1, 10.0) is so
