"""The judge on answers made by hand: each fault, what it says of what came, and where the tolerance ends."""

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import Answer, describe
from sdpa_helpers.checking.judging.difference import close, difference, pattern, tolerances


def fault(expected, came) -> str:
    """The kind of difference between two values as functions return them; "" when the answer is right."""
    return difference(describe(expected), describe(came))[0]


def told(expected, came) -> str:
    """What a learner reads of a difference: what was seen, and against what."""
    return " | ".join(difference(describe(expected), describe(came))[1:])


# ---- dtypes -----------------------------------------------------------------------------------------------

FITS = {
    "the same": (np.float32, np.float32),
    "float64 for float32": (np.float32, np.float64),
    "float32 for float16": (np.float16, np.float32),
    "float64 for float16": (np.float16, np.float64),
    "whole numbers for float64": (np.float64, np.int64),
    "small whole numbers for float64": (np.float64, np.int8),
    "small whole numbers for large ones": (np.int64, np.int32),
    "large whole numbers for small ones": (np.int32, np.int64),
}
DOES_NOT_FIT = {
    "float32 for float64": (np.float64, np.float32),
    "float16 for float64": (np.float64, np.float16),
    "float16 for float32": (np.float32, np.float16),
    "whole numbers for float32": (np.float32, np.int64),
    "whole numbers for float16": (np.float16, np.int8),
    "float64 for whole numbers": (np.int64, np.float64),
    "bool for whole numbers": (np.int64, np.bool_),
    "whole numbers for bool": (np.bool_, np.int64),
    "bool for float64": (np.float64, np.bool_),
    "float64 for bool": (np.bool_, np.float64),
    "unsigned for signed": (np.int64, np.uint8),
    "unsigned for float64": (np.float64, np.uint8),
    "complex for float64": (np.float64, np.complex128),
}


@pytest.mark.parametrize("shape", [(), (2, 3)])
@pytest.mark.parametrize("name", FITS)
def test_a_dtype_that_is_no_less_precise_is_right(name, shape):
    expected, came = FITS[name]
    assert fault(np.ones(shape, expected), np.ones(shape, came)) == ""


@pytest.mark.parametrize("shape", [(), (2, 3)])
@pytest.mark.parametrize("name", DOES_NOT_FIT)
def test_a_less_precise_dtype_is_wrong_although_the_values_are_equal(name, shape):
    expected, came = DOES_NOT_FIT[name]
    assert fault(np.ones(shape, expected), np.ones(shape, came)) == "wrong-dtype"


def test_a_python_number_stands_for_numpys():
    assert fault(2.0, 2) == fault(np.float64(2.0), 2.0) == fault(np.int64(2), 2) == ""
    assert fault(2, 2.0) == fault(1, True) == fault(True, 1) == fault(2.0, True) == "wrong-dtype"


@pytest.mark.parametrize("name", DOES_NOT_FIT)
def test_the_message_names_both_dtypes(name):
    expected, came = (np.dtype(kind) for kind in DOES_NOT_FIT[name])
    seen = told(np.ones(3, expected), np.ones(3, came))
    assert seen.index(came.name) < seen.index("expected") < seen.rindex(expected.name)


def test_the_precision_of_every_part_of_a_tuple_counts():
    weights = np.ones((2, 2))
    assert fault((weights, weights), (weights, weights.astype(np.float32))) == "wrong-dtype"
    seen = told((weights, weights), (weights, weights.astype(np.float32)))
    assert all(part in seen for part in ("part 1", "float32", "float64"))


# ---- kinds and shapes -------------------------------------------------------------------------------------


def test_kinds():
    array = np.ones((2, 3))
    assert fault(array, None) == "returned-nothing"
    assert fault(array, [1.0]) == fault(array, (array,)) == fault((array,), array) == "wrong-kind"
    assert fault((array, array), (array,)) == fault((array,), [array]) == "wrong-kind"
    assert fault(array, array[0]) == fault(1.0, array) == fault(array, 1.0) == "wrong-shape"


@pytest.mark.parametrize(
    ("expected", "came", "parts"),
    [
        (np.ones((2, 3)), [1.0], ["a list", "array of shape (2, 3)"]),
        (1.0, [1.0], ["a list", "one number"]),
        (True, [True], ["a list", "True or False"]),
        ((1.0, 2.0), 1.0, ["returned one number", "tuple of 2"]),
        ((1.0, 2.0), True, ["returned True or False", "tuple of 2"]),
        ((1.0, 2.0), np.ones(2), ["returned a NumPy array of shape (2,)", "tuple of 2"]),
        ((1.0, 2.0), [1.0, 2.0], ["returned a list", "tuple of 2"]),
        ((1.0, 2.0), (1.0, 2.0, 3.0), ["tuple of 3", "expected 2"]),
        (np.ones((2, 3)), np.ones(6), ["shape (6,)", "expected shape (2, 3)"]),
        (np.ones((2, 3)), 1.0, ["returned one number", "expected shape (2, 3)"]),
        (1.0, np.ones(1), ["shape (1,)", "expected one number"]),
        (np.ones((2, 3)), np.ones((3, 2)), ["shape (3, 2)", "shape (2, 3)", "last two axes are swapped"]),
        (np.ones((4, 2, 3)), np.ones((4, 3, 2)), ["shape (4, 3, 2)", "shape (4, 2, 3)", "last two axes are swapped"]),
    ],
)  # fmt: skip
def test_the_message_says_what_came_and_what_was_expected(expected, came, parts):
    seen = told(expected, came)
    places = [seen.find(part) for part in parts]
    assert -1 not in places, seen
    assert places == sorted(places)


@pytest.mark.parametrize("came", [(2, 3, 1), (3, 1), (2, 2), (3,), (6, 2)])
def test_only_what_a_transpose_would_mend_is_called_swapped(came):
    assert "swapped" not in told(np.ones((2, 3)), np.ones(came))


def test_an_error_is_told_with_its_line():
    broken = Answer("error", error="ValueError", message="shapes do not match", line="line 3: return q @ k")
    kind, seen, compare = difference(describe(1.0), broken)
    assert (kind, compare) == ("raised-error", "")
    assert all(part in seen for part in ("ValueError", "shapes do not match", "line 3: return q @ k"))
    assert difference(describe((1.0,)), broken)[0] == "raised-error"
    assert "(" not in difference(describe(1.0), Answer("error", error="ValueError", message="no"))[1]


# ---- values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "relative"), [("float16", 5e-3), ("float32", 2e-5), ("float64", 1e-8)])
def test_the_tolerance_comes_from_the_dtype_and_the_largest_number(dtype, relative):
    expected = np.array([0.0, -200.0, np.inf, np.nan, 100.0], dtype)
    eps = float(np.finfo(dtype).eps)
    assert tolerances(expected) == pytest.approx((relative, 0.05 * relative * 200 + 4 * eps), rel=1e-9)
    assert tolerances(np.array([np.inf], dtype)) == pytest.approx((relative, 4 * eps), rel=1e-9)


def test_whole_numbers_and_bools_have_no_tolerance():
    assert tolerances(np.array([3, 4])) == tolerances(np.array([True])) == (0.0, 0.0)
    assert fault(10**6, 10**6 + 1) == fault(True, False) == "wrong-values"


def test_right_up_to_the_tolerance_and_wrong_beyond():
    expected = np.array([1.0, 100.0])
    assert fault(expected, expected * (1 + 0.9e-8)) == ""
    assert fault(expected, expected * (1 + 6.5e-8)) == "wrong-values"
    assert fault(np.array([0.0, 100.0]), np.array([4e-8, 100.0])) == ""
    assert fault(np.array([0.0, 100.0]), np.array([6e-8, 100.0])) == "wrong-values"


def test_nan_and_infinities_only_where_they_are_expected():
    special = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert close(special, special).all()
    assert close(special, np.array([np.nan, -np.inf, -np.inf, 1.0])).tolist() == [True, False, True, True]
    assert fault(special, special) == ""
    assert fault(special, np.array([0.0, np.inf, -np.inf, 1.0])) == "wrong-values"
    assert fault(np.ones(4), special) == "not-finite"


def test_what_is_not_finite_is_counted_and_placed():
    seen = told(np.ones((2, 3)), np.array([[1.0, 1.0, np.nan], [np.inf, 1.0, 5.0]]))
    assert "2 of 6 numbers are NaN or infinite and should not be; the first: nan at [0, 2]" in seen
    expected = np.array([0.0, -np.inf, -np.inf])
    assert "2 of 3 numbers are NaN and" in told(expected, np.array([np.nan, np.nan, -np.inf]))
    assert "1 of 3 numbers is infinite and should not be: inf at [0]" in told(
        expected, np.array([np.inf, -np.inf, np.inf])
    )
    assert told(1.0, np.inf).rstrip(" |").endswith("inf")  # one number has no place


def test_the_largest_difference_is_shown_where_it_is():
    expected = np.arange(6.0).reshape(2, 3)
    came = expected + np.array([[0.0, 0.5, 0.0], [0.0, -2.0, 0.0]])
    seen = told(expected, came)
    assert "2 of 6 numbers differ;" in seen
    assert "returned 2 at [1, 1], off by 2" in seen
    assert "expected 4" in seen
    assert "1 of 6 numbers differs" in told(expected, np.where(expected == 3, 9.0, expected))
    assert "1.25 at [1], off by 0.25" in told(np.array([0.0, 1.0]), np.array([0.0, 1.25]))
    assert told(1.0, 4.0).split(" | ") == ["returned 4, off by 3", "expected 1"]


def test_a_difference_that_four_digits_hide_is_shown():
    assert told(2.772, 2.772 + 1e-6).split(" | ") == ["returned 2.772001, off by 1e-06", "expected 2.772"]
    assert told(485.0, 550).split(" | ") == ["returned 550", "expected 485"]


def test_a_factor_of_nearly_one_is_no_pattern():
    expected = np.array([1.0, 2.0, 3.0])
    assert pattern(expected, expected * (1 + 1e-7)) == ""
    assert pattern(expected, expected + 1e-9) == ""


def test_a_number_where_nan_is_expected_is_the_largest_difference():
    assert "0 at [1]" in told(np.array([1.0, np.nan, 1.0]), np.array([3.0, 0.0, 1.0]))


def test_bools_and_whole_numbers_are_shown_as_they_are():
    expected = np.array([[True, False], [True, True]])
    seen = told(expected, np.array([[True, True], [False, True]]))
    assert all(part in seen for part in ("2 of 4 entries", "at [0, 1]: True", "expected False"))
    assert told(True, False).split(" | ") == ["returned False", "expected True"]
    assert told(7, 9).split(" | ") == ["returned 9", "expected 7"]
    assert "off by 2" in told(np.array([7, 8]), np.array([9, 8]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: 2.5 * x, "2.5 times"),
        (lambda x: -x, "-1 times"),
        (lambda x: x + 0.5, "+0.5 away"),
        (lambda x: x - 3.0, "-3 away"),
        (lambda x: 1e-5 * x, "1e-05 times"),
        (lambda x: 0 * x, ""),
        (lambda x: x**2, ""),
        (lambda x: np.where(x == 4, np.nan, 2 * x), ""),
        (lambda x: 2 * x + (x == 0), ""),
        (lambda x: 2 * x * (1 + 1e-4 * (x == 4)), ""),
        (lambda x: x + 1 + 1e-3 * (x == 4), ""),
    ],
)
def test_a_simple_pattern_is_named(change, words):
    expected = np.array([0.0, 1.0, -2.0, 4.0])
    found = pattern(expected, change(expected))
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_a_pattern_does_not_depend_on_the_size_of_the_numbers(size):
    expected = size * np.array([1.0, -2.0, 0.5])
    assert "3 times" in pattern(expected, 3 * expected)


def test_rounding_hides_no_pattern():
    assert "2.5 times" in pattern(np.array([1e-12, 0.1, 0.7]), 2.5 * np.array([1.1e-12, 0.1, 0.7]))
    assert "+0.1 away" in pattern(np.array([0.1, 0.7, 1 / 3]), np.array([0.1, 0.7, 1 / 3]) + 0.1)


def test_too_few_numbers_have_no_pattern():
    assert pattern(np.array([2.0]), np.array([4.0])) == ""
    assert pattern(np.array(2.0), np.array(4.0)) == ""
    assert pattern(np.array([0.0, 2.0]), np.array([0.0, 4.0])) == ""  # one number is not 0: no pattern
    assert "2 times" in pattern(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    assert pattern(np.zeros(3), np.ones(3)) == ""
