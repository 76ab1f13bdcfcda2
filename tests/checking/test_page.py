"""An exercise is a page: what is written is what is checked, and what can't be read is said by page and line."""

import inspect
import traceback
from itertools import combinations

import numpy as np
import pytest

from sdpa_helpers.checking.diagnose import passes, try_out
from sdpa_helpers.checking.pages.page import as_module, read
from sdpa_helpers.checking.pages.page_text import PageError
from sdpa_helpers.checking.pages.prompt import with_examples
from sdpa_helpers.checking.worth import worth

PAGE = """\
---
name: centred
lesson: 03_softmax
section: 1. Rows
difficulty: 2
minutes: 10
allows: sdpa_helpers.softmax
ready: numpy.mean, numpy.average
uses: beside
---
# Each row without its mean

`centred(x, axis=-1)`: subtract the mean along an axis.

Example: {call: [[1, 3]]}, and {values: [[1, 3]], axis=0} for columns.

## Answer

```python
def centred(x, axis=-1):
    \"\"\"Subtract the mean: x (any shape) -> the same shape.\"\"\"
    total = np.sum(x, axis=axis, keepdims=True)
    return x - total / x.shape[axis]
```

## Hints

1. What is a mean?
2. A sum,
   divided.
3. `x.sum(axis, keepdims=True)`.

## Cases

- **a table** `rng.normal(size=(3, 4)) + 1`
- **columns** (weight 2) `rng.normal(size=(3, 4)), 0`
  The axis is 0 here.
- **a cube** `offset(rng.normal(size=(2, 3, 5)))`
- and `[Case("a square", lambda rng: (spread(rng),), 0)]`

## Always true

- **does-not-add-up** `np.allclose(w.sum(axis=axis), 0) and inputs[0] is x`
  The numbers along the axis do not add up to 0.

## Right too

- result: `x - x.mean(axis, keepdims=True)`
- `np.sum(x, axis=axis, keepdims=True)` → `np.expand_dims(np.sum(x, axis), axis)`

## Mistakes

- **keepdims-lost** `, keepdims=True` → ``
  The sum lost its axis.
  > Print its shape.
- **another-axis** start: `axis = N`, N = 0, -1
  or start: `axis = -2`
  You do not use `axis`.
- **added** `x - total` → `x + total` · see 4. By hand
  You added the mean.
- **rounded** result: `np.round(result, N)`, N = 1, 2 · shown by rounding
  You rounded.
- **wrong-divisor** `x.shape[axis]` → `x.size` · shown by whole-array · errors tell
  You divided by the number of all entries.
- **by-rows** result: `row_by_row(x)` · alone
  or result: `row_by_row(x) + 0`
  A loop over rows forgets the axis.

## May live

- `x - total / x.shape[axis]` → `(x - total / x.shape[axis]) * 1`
  It is the same.

## Helpers

```python
def spread(rng):
    return rng.normal(size=(4, 4)) * 3


def row_by_row(x):
    return np.stack([row - row.mean() for row in x]) if x.ndim == 2 else x
```
"""
BESIDE = "SHIFT = 5.0\n\n\ndef offset(x):\n    return x + SHIFT\n"


@pytest.fixture
def write(tmp_path):
    """write(text) puts a page and the file beside it into a folder, and gives its path."""

    def go(text=PAGE, name="centred"):
        (tmp_path / "beside.py").write_text(BESIDE)
        path = tmp_path / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        read.cache_clear()
        return path

    return go


def test_all_that_is_written_is_in_the_exercise(write):
    exercise = read(write())
    assert (exercise.name, exercise.lesson, exercise.section) == ("centred", "03_softmax", "1. Rows")
    assert (exercise.difficulty, exercise.minutes, exercise.title) == (2, 10, "Each row without its mean")
    assert (exercise.allows, exercise.ready) == (("sdpa_helpers.softmax",), ("numpy.mean", "numpy.average"))
    assert exercise.hints == ("What is a mean?", "A sum, divided.", "`x.sum(axis, keepdims=True)`.")
    assert [(case.name, case.weight) for case in exercise.cases[:4]] == [
        ("a table", 1),
        ("columns", 2),
        ("a cube", 1),
        ("a square", 0),
    ]
    assert exercise.cases[1].says == "The axis is 0 here."
    assert "`centred([[1, 3]])` gives `[[-1, 1]]`" in with_examples(exercise)
    wrong = {w.name: w for w in exercise.wrong}
    assert list(wrong) == ["keepdims-lost", "another-axis", "added", "rounded", "wrong-divisor", "by-rows"]
    assert wrong["keepdims-lost"].hints == ("Print its shape.",)
    assert (wrong["wrong-divisor"].clue, wrong["wrong-divisor"].errors_tell) == ("whole-array", True)
    assert (wrong["added"].section, wrong["rounded"].section) == ("4. By hand", "")
    assert exercise.spared[0][1] == "It is the same."


def test_what_is_right_passes_and_each_mistake_is_named(write):
    exercise = read(write())
    assert all(passes(exercise, right) for right in (exercise.reference, *exercise.also_right))
    for wrong in exercise.wrong:
        assert [m.name for m in try_out(exercise, wrong.function).mistakes] == [wrong.name]
    for deviant in exercise.mistakes.deviants(1):
        assert not passes(exercise, deviant.function)


def test_edits_in_different_places_are_two_mistakes_at_once(write):
    exercise = read(write())
    pairs = {deviant.names for deviant in exercise.mistakes.deviants(2)}
    places = {"keepdims-lost", "another-axis", "added", "rounded", "wrong-divisor"}
    assert {frozenset(names) for names in pairs} == set(map(frozenset, combinations(places, 2)))
    assert [d.names for d in exercise.mistakes.deviants(1)][-1] == ("by-rows",)  # its second way
    both = next(d for d in exercise.mistakes.deviants(2) if d.names == ("added", "rounded"))
    assert both.function(np.array([1.0, 2.04])).tolist() == [2.5, 3.6]
    assert {m.name for m in try_out(exercise, both.function).mistakes} == {"added", "rounded"}


def test_what_is_always_true_sees_arguments_by_name_with_their_defaults(write):
    (always,) = read(write()).invariants
    x = np.eye(2)
    assert not always.holds((x,), x)
    assert always.holds((x,), x - 0.5)
    assert always.holds((x, 0), x - 0.5)


def test_the_source_and_the_lines_are_those_of_the_page(write):
    exercise = read(path := write())
    assert inspect.getsource(exercise.reference) in PAGE
    with pytest.raises(AttributeError) as raised:
        exercise.reference([1, 2])
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert last.filename == str(path)
    assert last.line == PAGE.split("\n")[last.lineno - 1].strip()


def test_another_edition_reads_it_as_python(write, tmp_path):
    text = as_module(write())
    code = text.replace(f"sdpa_helpers.lessons.{tmp_path.parent.name}.{tmp_path.name}.beside", "beside")
    compile(code, "page", "exec")
    assert "import offset" in text
    assert "SHIFT" not in text.split("def ")[0]


BROKEN = {
    "no head": (PAGE.removeprefix("---\n"), "line 1: a page begins with a head"),
    "no entry": (PAGE.replace("minutes:", "hours:"), "line 6: `hours: 10` is no entry of the head"),
    "lacks": (PAGE.replace("minutes: 10\n", ""), "line 1: the head lacks minutes"),
    "another name": (PAGE.replace("name: centred", "name: other"), "`other` is another name than the file's"),
    "no number": (
        PAGE.replace("minutes: 10", "minutes: ten"),
        "a whole number from 1 to 120 is expected, and this came: ten",
    ),
    "no title": (PAGE.replace("# Each row", "Each row"), "line 11: behind the head a line `# Title`"),
    "no heading": (PAGE.replace("## Hints", "## Clues"), "the heading `Clues` is none of Answer, Hints"),
    "no cases": (PAGE.replace("## Cases", "## May live", 1), "`May live` stands twice"),
    "missing": (PAGE.split("## Mistakes")[0], "the heading `## Mistakes` is missing"),
    "two hints": (PAGE.replace("3. `x.sum", "`x.sum"), "three hints are expected"),
    "no file": (PAGE.replace("uses: beside", "uses: nothing"), "there is no nothing.md and no nothing.py in"),
    "no fence": (
        PAGE.replace("```python\ndef centred", "def centred"),
        "code is expected between ```python and ```",
    ),
    "no Python": (PAGE.replace("return x - total", "return x -- - / total"), "line 23: this is no Python"),
    "two functions": (
        PAGE.replace("def centred", "import os\n\n\ndef centred"),
        "the answer is one function",
    ),
    "not there": (
        PAGE.replace("`x - total` → ", "`x - sum` → "),
        "line 59: `x - sum` does not stand in the answer",
    ),
    "twice": (
        PAGE.replace("`x - total` → ", "`x` → "),
        "times in the answer; an edit names a text that stands there once",
    ),
    "no edit": (PAGE.replace("`x - total` → `x + total`", "x + total"), "line 59: no edit here"),
    "spoiled": (PAGE.replace("→ `x + total`", "→ `x +`"), "with this edit the answer is no Python"),
    "no words": (PAGE.replace("  You added the mean.\n", ""), "line 59: a mistake has a name"),
    "no case": (PAGE.replace("`offset(rng.normal(size=(2, 3, 5)))`", ""), "a case needs the code"),
    "helpers": (
        PAGE.replace("def spread", "1 / 0\n\n\ndef spread"),
        "the code of `## Helpers` fails: ZeroDivisionError",
    ),
    "star": (PAGE.replace("- **added**", "* **added**"), "line 59: `* **added**"),
    "indented": (
        PAGE.replace("- **added**", "  - **added**"),
        "an entry begins with `- ` in the first column",
    ),
    "N alone": (PAGE.replace(", N = 1, 2", ""), "N stands for numbers, and none are given"),
    "flag": (PAGE.replace("· alone", "· allone"), "`· allone` is none of `· alone`"),
    "points": (PAGE.replace("(weight 2)", "(2 points)"), "`(2 points)` is none of `(weight 2)`"),
    "name twice": (PAGE.replace("**rounded**", "**added**"), "**added** stands twice"),
    "no reason": (PAGE.replace("  It is the same.\n", ""), "and below it the reason are expected"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_said_by_page_and_line(write, name):
    text, said = BROKEN[name]
    assert text != PAGE
    with pytest.raises(PageError) as raised:
        read(write(text))
    assert str(raised.value).startswith("centred.md, line ")
    assert said in str(raised.value)


def test_another_encoding_is_said_and_a_mark_of_its_order_is_nothing(write):
    path = write()
    path.write_bytes("---\nname: é\n".encode("latin-1"))
    with pytest.raises(PageError, match="line 1: this is not UTF-8"):
        read(path)
    path.write_text(PAGE, encoding="utf-8-sig")
    assert read(path).name == "centred"


def test_a_mutant_is_spared_by_its_name_as_it_was_printed(write):
    printed = PAGE.replace("- `x - total / x.shape[axis]` → `(x", "- `x - total / x.shape[axis] → (x")
    assert read(write(printed)).spared == read(write()).spared
    at_the_start = read(write(PAGE.replace("- `x - total / x.shape[axis]` → `(x", "- `→ x = (x")))
    assert at_the_start.spared[0][0].startswith("→ x = (x")


MENDS = """\
---
name: mend_centred
lesson: 03_softmax
difficulty: 1
minutes: 3
mends: centred
---
# Fix it

Fix `mend_centred`.

## Answer

```python
def mend_centred(x, axis=-1):
    \"\"\"Subtract the mean.\"\"\"
    mean = np.mean(x, axis=axis, keepdims=True)
    return x - mean
```

## Planted

- `axis=axis` → `axis=-1`

## Hints

1. Which axis?
2. Look at the mean.
3. `axis=axis`.
"""


def test_a_page_that_mends_has_the_cases_and_mistakes_of_the_other_and_a_bug_to_find(write):
    parent = write()
    page = parent.with_name("mend_centred.md")
    page.write_text(MENDS, encoding="utf-8")
    mends, of = read(page), read(parent)
    assert mends.starter is not None
    assert mends.whole
    assert "np.mean(x, axis=-1, keepdims=True)" in inspect.getsource(mends.starter)
    assert mends.max_points == worth(1, 3)
    assert [case.name for case in mends.cases] == [case.name for case in of.cases]
    assert mends.wrong == of.wrong
    assert try_out(mends, mends.reference).passed
    assert not try_out(mends, mends.starter).passed
    assert "from sdpa_helpers.lessons" in as_module(page)


MADE = """\
---
name: two_that_differ
lesson: 03_softmax
difficulty: 1
minutes: 3
uses: centred
---
# Make two numbers

Two numbers that differ, {text: "and " + "no more"}.

## Answer

```python
def two_that_differ():
    \"\"\"Two numbers.\"\"\"
    return 1, 2
```

## Hints

1. One.
2. Two.
3. `1, 2`.

## Criteria

- **they differ** (weight 2) `differ`
  Look at both.
- and `[criterion("they are small", small)]`

## Right too

- result: `[3, 4]`

## Mistakes

- **the-same** result: `(5, 5)`
  or result: `(6, 6)`
  Both are one number.
- and `[WrongAnswer("too-large", lambda: (1, 200), "Too large.")]`

## Helpers

```python
from sdpa_helpers.checking.exercise import Misses, WrongAnswer, criterion

def differ(value):
    if value[0] == value[1]:
        raise Misses("the-same", "both are one number")

def small(value):
    if max(value) > 100 or centred(np.ones((2, 3))).any():
        raise Misses("too-large", "one is large")
```
"""


def test_what_the_learner_makes_is_judged_by_criteria(write):
    page = write().with_name("two_that_differ.md")
    page.write_text(MADE, encoding="utf-8")
    made = read(page)
    assert made.is_made
    assert made.mistakes is None
    assert made.prompt == "Two numbers that differ, and no more.\n"
    assert [(case.name, case.weight, case.says) for case in made.cases] == [
        ("they differ", 2, "Look at both."),
        ("they are small", 1, ""),
    ]
    assert try_out(made, made.also_right[0]).passed
    assert [w.name for w in made.wrong] == ["the-same", "the-same", "too-large"]
    for wrong in made.wrong:
        assert {m.name for m in try_out(made, wrong.function).mistakes} == {wrong.name}
