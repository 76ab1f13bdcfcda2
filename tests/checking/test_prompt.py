"""Prompts show their examples from data: what a learner reads is what the reference returns."""

import dataclasses
import inspect
import math
import re
from typing import NamedTuple

import numpy as np
import pytest

from sdpa_helpers.checking.exercise import Example, Exercise
from sdpa_helpers.checking.pages.prompt import (
    in_words,
    inputs_in_words,
    prompt_of,
    result_in_words,
    result_of,
    written,
)
from sdpa_helpers.checking.pages.rules import in_words as rules_in_words
from sdpa_helpers.course.registry import all_exercises

EXERCISES = list(all_exercises().values())
EVERY_EXERCISE = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
EVERY_EXAMPLE = pytest.mark.parametrize(
    ("exercise", "example"),
    [pytest.param(e, x, id=f"{e.name}-{i}") for e in EXERCISES for i, x in enumerate(e.examples, 1)],
)


class Cut(NamedTuple):
    """A number that was written with … for its further digits."""

    shown: float
    unit: float


def cut(mantissa, exponent):
    power = int(exponent or 0)
    return Cut(float(f"{mantissa}e{power}"), 10.0 ** (power - len(mantissa.partition(".")[2])))


def read_back(text):
    """The value of a text as it stands in a prompt."""
    text = re.sub(r"(-?[\d.]+)…(?:e(-?\d+))?", r"cut('\1', '\2')", text)
    text = re.sub(r"\bln (\d+)", r"log(\1)", text).replace("·", "*")
    return eval(text, {"cut": cut, "log": math.log, "inf": math.inf, "nan": math.nan})


def same(shown, value):
    """Whether the value is what was read back, to every digit that was shown."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(shown, Cut):
        rest = abs(value) - abs(shown.shown)
        return math.copysign(1, shown.shown) == math.copysign(1, value) and 0 <= rest < shown.unit
    if isinstance(shown, list | tuple):
        return type(value) is type(shown) and len(value) == len(shown) and all(map(same, shown, value))
    if isinstance(shown, bool | str) or shown is None:
        return value is shown or (isinstance(shown, str) and value == shown)
    if math.isnan(shown):
        return math.isnan(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isclose(shown, value, rel_tol=1e-12)


@EVERY_EXERCISE
def test_every_exercise_shows_each_of_its_examples_once(exercise):
    without = (
        exercise.is_made or exercise.whole
    )  # an example would be the answer, or stands in another prompt
    assert bool(exercise.examples) is not without
    for number in range(1, len(exercise.examples) + 1):
        whole, inputs, result = (
            exercise.prompt.count(f"{{{part}:{number}}}") for part in ("example", "inputs", "result")
        )
        assert whole + result == 1
        assert whole + inputs <= 1
    assert not re.search(r"\{\w+:\d", prompt_of(exercise))


@EVERY_EXAMPLE
def test_what_is_shown_is_what_the_reference_returns(exercise, example):
    shown = result_in_words(exercise, example)
    assert shown in prompt_of(exercise)
    computed = result_of(exercise, example)
    for side in shown.strip("`").split(" = "):
        assert same(read_back(side), computed), (side, computed)


@EVERY_EXAMPLE
def test_the_arguments_are_shown_as_they_are_given(exercise, example):
    for value in (*example.arguments, *(value for _, value in example.keywords)):
        assert same(read_back(written(value)), value)


@EVERY_EXAMPLE
def test_an_argument_that_an_example_leaves_out_stands_in_the_text_before(exercise, example):
    assert not example.writes or (example.form == "named" and not example.keywords)
    before = prompt_of(exercise).split(inputs_in_words(exercise, example))[0]
    for name, value in zip(inspect.signature(exercise.reference).parameters, example.inputs, strict=False):
        if example.writes and name not in example.writes:
            assert f"`{name} = {written(value)}`" in before


@EVERY_EXAMPLE
def test_arrays_of_examples_have_the_dtypes_that_the_exercises_promise(exercise, example):
    for given, value in zip(example.inputs, example.arguments, strict=True):
        if isinstance(given, list):
            assert value.dtype in (np.float64, bool)
        else:
            assert value is given


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (-2000.0, "-2000"),
        (-0.0, "0"),
        (0.25, "0.25"),
        (1.5, "1.5"),
        (0.1 + 0.2, "0.3"),
        (3 - 1e-15, "3"),
        (1e-4, "0.0001"),
        (1e-6, "0.000001"),
        (2**0.5 / 2, "0.7071…"),
        (-(2**0.5) / 2, "-0.7071…"),
        (3**0.5, "1.7320…"),
        (0.99999999, "0.9999…"),
        (0.09003057, "0.0900…"),
        (0.00123456, "0.0012…"),
        (4.5397868702434395e-05, "0.000045…"),
        (9.9e-7, "9.9e-7"),
        (1e-9, "1e-9"),
        (-1.23456e-12, "-1.2345…e-12"),
        (float(np.finfo(np.float64).tiny), "2.2250…e-308"),
        (65504.0, "65504"),
        (999999.0, "999999"),
        (1e6, "1e6"),
        (-1e9, "-1e9"),
        (1234567.0, "1234567"),
        (1234567.25, "1234567.25"),
        (1e6 / 7, "142857.1428…"),
        (5.9e11, "5.9e11"),
        (123456789012345.0, "123456789012345"),
        (float(np.finfo(np.float32).min), "-3.4028…e38"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (7, "7"),
        (10**12, "1000000000000"),
        (True, "True"),
        (None, "None"),
        ("additive", '"additive"'),
        (np.float32(0.5), "0.5"),
        (np.True_, "True"),
        (np.array([1, 3]), "[1, 3]"),
        (np.array([[True], [False]]), "[[True], [False]]"),
        ((np.array([1.0]), False), "([1], False)"),
        (np.zeros((2, 0)), "[[], []]"),
    ],
    ids=repr,
)
def test_values_are_written_as_a_learner_would(value, text):
    assert written(value) == text
    assert same(read_back(text), value)


FIRST = EXERCISES[0]


def scaled(x, factor=1.0):
    """An exercise that needs no lesson."""
    return factor * x


def asking(prompt: str, *examples: Example) -> Exercise:
    return dataclasses.replace(
        FIRST, name="scaled", reference=scaled, prompt=prompt, examples=tuple(examples)
    )


def test_an_example_is_written_in_each_of_its_forms():
    exercise = asking("")
    half = (("factor", 0.5),)
    assert in_words(exercise, Example(([2, 4],))) == "`x = [2, 4]` gives `[2, 4]`"
    assert in_words(exercise, Example(([2, 4], 3))) == "`x = [2, 4]` and `factor = 3` give `[6, 12]`"
    assert in_words(exercise, Example(([2, 4],), half)) == "`x = [2, 4]` and `factor = 0.5` give `[1, 2]`"
    assert in_words(exercise, Example((2, 3), writes=("factor",))) == "`factor = 3` gives `6`"
    assert in_words(exercise, Example((2, 3), form="values")) == "`2` and `3` give `6`"
    assert in_words(exercise, Example((2,), half, form="call")) == "`scaled(2, factor=0.5)` gives `1`"
    assert (
        in_words(exercise, Example((2, 3), form="call", shows="2·3 = 6")) == "`scaled(2, 3)` gives `2·3 = 6`"
    )


def test_an_example_can_be_shown_in_two_halves():
    prompt = asking(r"Of $x^{2}$: {inputs:1} is {result:1}; {example:2}.", *[Example((2,), form="call")] * 2)
    shown = prompt_of(prompt).split("\n\n")
    assert shown == [r"Of $x^{2}$: `scaled(2)` is `2`; `scaled(2)` gives `2`.", rules_in_words(prompt)]


@pytest.mark.parametrize(
    "prompt",
    ["", "{inputs:1}", "{example:1} {example:1}", "{example:1} {result:1}", "{example:2}", "{example:0}"],
)
def test_an_example_that_is_not_shown_or_shown_twice_or_not_there_is_refused(prompt):
    with pytest.raises(ValueError, match="'scaled'"):
        prompt_of(asking(prompt, Example((2,))))
