"""Lesson 01's panel: dot products, cosines, and who wins, in the page as in Python."""

import itertools

import numpy as np
import pytest

from sdpa_helpers.lessons.dot_product import widget
from sdpa_helpers.show.panels import SCAFFOLD, TOUCH

SCRIPTS = (SCAFFOLD, TOUCH, widget.SCRIPT)
IN_THE_PAGE = """(data.map(([angle, a, b, turn]) => wordsFor({
    q: { angle: turn, length: a }, a: { angle: turn, length: 1 }, b: { angle: turn + angle, length: b } }, "b")))"""


def test_the_page_measures_as_python_does(in_node):
    scenes = list(itertools.product([0, 30, 60, 90, 135, 180], [0, 1, 2], [0, 0.1, 2, 4], [0, 77, 300]))
    for (angle, length_q, length_k, _), words in zip(
        scenes, in_node(SCRIPTS, IN_THE_PAGE, scenes), strict=True
    ):
        found = widget.duel(angle, length_q, length_k)
        page = np.array([[words[key]["dot"], words[key]["cosine"]] for key in "AB"])
        np.testing.assert_allclose(page, np.stack([found.dots, found.cosines], axis=1), atol=1e-12)
        assert (words["byDot"] or "neither", words["byCosine"] or "neither") == (
            found.winner(found.dots),
            found.winner(found.cosines),
        )
        assert words["B"]["shadow"] * length_q == pytest.approx(words["B"]["dot"])
        assert words["score"] == words["score"].replace("-", "")  # a real minus sign


@pytest.mark.parametrize(
    ("angle", "length_k", "length_q", "by_dot", "by_cosine"),
    [
        (60, 2.0, 1.0, "neither key wins", "key A wins"),
        (60, 2.1, 1.0, "key B wins", "key A wins"),
        (60, 1.9, 2.0, "key A wins", "key A wins"),
        (0, 3.0, 0.1, "key B wins", "neither key wins"),
        (90, 4.0, 1.0, "key A wins", "key A wins"),
        (180, 4.0, 0.0, "neither key wins", "neither key wins"),
    ],
)
def test_who_wins(angle, length_k, length_q, by_dot, by_cosine):
    text = widget.sentence(widget.duel(angle, length_q, length_k))
    assert text.endswith(f"By dot product {by_dot}, by cosine {by_cosine}.")
