"""docs/semantic-corners.md: every corner computed again, and the words that it is said in."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sdpa_helpers.course.corner_words import gradient_in_words, output_in_words

PAGE = Path(__file__).parents[2] / "docs" / "semantic-corners.md"


@cache
def found():
    from sdpa_helpers.course import semantic_corners

    return semantic_corners.computed()


@pytest.fixture
def all_installed(needs):
    for module in ("torch", "numba", "scipy"):
        needs(module)


def test_the_page_comes_out_again(all_installed):
    from sdpa_helpers.course.semantic_corners import page

    assert page(found()) == PAGE.read_text(encoding="utf-8"), "run `make corners`"


def test_ours_are_wrong_nowhere_and_torchs_own_is_where_the_page_warns(all_installed):
    lines = [line for lines in found().values() for line in lines]
    wrong = {(name, line.corner.says) for line in lines for name, said in line.said.items() if "**" in said}
    assert {name for name, _ in wrong} == {"F.sdpa"}, "mended in torch? Then see torch_fused.cannot too"
    assert any("finfo.min for every key" in says for _, says in wrong)


# The words -------------------------------------------------------------------------------------------------------

RIGHT = np.arange(1.0, 41).reshape(10, 4)


def test_right_and_wrong_rows():
    came = RIGHT.copy()
    mean = RIGHT.mean(0)
    assert output_in_words(came, RIGHT, 1e-3, mean) == "right"
    came[0] += 1e-3  # of 40
    assert output_in_words(came, RIGHT, 1e-3, mean) == "right"
    came[0] += 1
    came[3:5], came[7, 2] = 0, np.nan
    came[9, 1] = -np.inf
    said = output_in_words(came, RIGHT, 1e-3, mean)
    assert said == "row 0 **wrong**, rows 3 … 4 zeros, row 7 NaN, row 9 ±∞, the others right"
    came = RIGHT.copy()
    came[[0, 4, 8]] = 0
    assert output_in_words(came, RIGHT, 1e-3, mean) == "some rows zeros, the others right"


def test_a_number_in_place_of_nan_and_the_mean():
    expected = RIGHT.copy()
    expected[1] = np.nan
    assert output_in_words(RIGHT, expected, 1e-3, None) == "row 1 a number, the others right"
    expected[1] = RIGHT.mean(0)
    came = expected.copy()
    assert (
        output_in_words(came, expected, 1e-3, RIGHT.mean(0))
        == "row 1 the mean of all values, the others right"
    )
    assert output_in_words(np.zeros((0, 4)), np.zeros((0, 4)), 1e-3, None) == "empty"


def test_gradients_that_are_too_large():
    came = RIGHT.copy()
    came[2] *= 10
    assert gradient_in_words(came, RIGHT, 1e-3, n_k=10) == "row 2 **10 times too large**, the others right"
    assert gradient_in_words(came, RIGHT, 1e-3, n_k=50) == "row 2 **wrong**, the others right"
    assert gradient_in_words(came + 1, RIGHT, 1e-3, n_k=10) == "**wrong**"
    zeros = np.zeros((3, 4))
    assert gradient_in_words(zeros + 1e-6, zeros, 1e-3, n_k=10) == "right"  # what rounding leaves
