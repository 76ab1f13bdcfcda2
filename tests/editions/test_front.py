"""The front page's moving part: its numbers are the package's, and its still is what the script begins with."""

import re

import numpy as np

from editions.live import front
from sdpa_helpers.attention import softmax


def test_the_still_shows_weights_and_the_output_of_the_package():
    weights = softmax(front.K @ front.Q[front.FIRST] / np.sqrt(3))
    page = front.as_html()
    assert [float(x) for x in re.findall(r"<output>([\d.]+)</output>", page)] == weights.round(2).tolist()
    (shown,) = re.findall(r'class="vector out">(.*?)</span></div>', page)
    assert [float(x) for x in re.findall(r"[\d.]+", shown)] == (weights @ front.V).round(2).tolist()


def test_without_a_script_nothing_promises_to_move():
    page = front.as_html()
    assert '<div class="steers" hidden>' in page
    assert 'data-step="5"' in page
