"""What failing inputs have in common is said where it is true of them and of no others."""

import numpy as np

from sdpa_helpers.checking.card.render import report_text
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find


def test_an_argument_that_is_given_in_all_failing_cases():
    right = find("softmax").reference

    def odd_along_an_axis(x, axis=-1):
        return right(x, axis) + (0.25 * np.sin(x) if axis != -1 else 0)

    result = try_out(find("softmax"), odd_along_an_axis)
    assert not result.mistakes
    assert result.pattern == "It fails in exactly the cases in which `axis` isn't -1."


def test_nothing_is_said_of_one_failing_case_or_of_all():
    right = find("softmax").reference
    assert not try_out(find("softmax"), lambda x, axis=-1: np.cos(right(x, axis))).pattern
    told = report_text(try_out(find("softmax"), lambda x, axis=-1: np.cos(right(x, axis))))
    assert "What was seen: numbers differ in" in told
