"""The folder of a test: two forms to print, the key, and the table that answers go into."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from sdpa_helpers.checking.exercise import stream
from sdpa_helpers.classroom.files import as_text, read_filled_in, typed, write_text, write_to_fill_in
from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.classroom.study.forms import Pair
from sdpa_helpers.classroom.study.gain import FORMS, TIMES, Sat
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.show.predict import rich

KEY, ANSWERS = "key.csv", "answers.csv"
_LETTERS = "abcd"
_HEAD = ["learner", "time", "form"]


def write_test(folder: Path, pairs: Sequence[Pair], learners: Sequence[str], seed: str) -> None:
    """Write it; Refusal where there are answers already. Half of the learners begin with A, by seed."""
    if (folder / ANSWERS).exists():
        raise Refusal(f"{folder / ANSWERS} is there already: name another folder")
    for form in FORMS:
        write_text(folder / f"form-{form}.html", _page(form, pairs, with_key=False))
    write_text(folder / "key.html", _page("".join(FORMS), pairs, with_key=True))
    key = [
        [str(number), form, _LETTERS[pair[place].right], pair[place].lesson, pair[place].prediction.name]
        for place, form in enumerate(FORMS)
        for number, pair in enumerate(pairs, 1)
    ]
    write_to_fill_in(folder / KEY, ["number", "form", "right", "lesson", "question"], key)
    blank = [""] * len(pairs)
    rows = [
        [as_text(learner), time, form, *blank]
        for learner, first in zip(sorted(learners), _orders(len(learners), seed), strict=True)
        for time, form in zip(TIMES, (FORMS[first], FORMS[1 - first]), strict=True)
    ]
    numbers = (str(number) for number in range(1, len(pairs) + 1))
    write_to_fill_in(folder / ANSWERS, [*_HEAD, *numbers], rows)


def _orders(learners: int, seed: str) -> list[int]:
    """Which form each begins with: as many with either, or one more."""
    halves = [number % len(FORMS) for number in range(learners)]
    return [halves[place] for place in stream(seed, "test", "who begins with which").permutation(learners)]


def learners_in(path: Path) -> list[str]:
    """The first column of a list or a table; a head such as "student" is none."""
    rows = [name for row in _rows(path) if row and (name := typed(row[0]))]
    if rows and rows[0].lower() in ("learner", "student", "name"):
        del rows[0]
    if len(set(rows)) != len(rows) or not rows:
        raise Refusal(f"{path}: a learner in each line is expected, nobody twice")
    return rows


def read_sat(folder: Path) -> list[Sat]:
    """Who sat which form, from the table; an empty line is nobody. Refusal says which line can't be read."""
    key: dict[str, list[str]] = {form: [] for form in FORMS}
    for row in _rows(folder / KEY)[1:]:
        key[row[1]].append(row[2])
    found: dict[tuple[str, str], Sat] = {}
    for line, row in enumerate(_rows(folder / ANSWERS)[1:], 2):
        if not any(cell.strip() for cell in row[len(_HEAD) :]):
            continue
        try:
            sat = _sat(row, key)
        except ValueError as error:
            raise Refusal(f"{folder / ANSWERS}, line {line}: {error}") from None
        if (sat.learner, sat.time) in found:
            raise Refusal(
                f"{folder / ANSWERS}, line {line}: {sat.learner} sat it {sat.time} in a line above too"
            )
        found[sat.learner, sat.time] = sat
    return list(found.values())


def questions_in(folder: Path) -> Iterator[tuple[str, str]]:
    """(lesson, name) of all, form by form."""
    yield from ((row[3], row[4]) for row in _rows(folder / KEY)[1:])


def _sat(row: Sequence[str], key: dict[str, list[str]]) -> Sat:
    learner, time, form, *answers = map(typed, row)
    if not learner or time not in TIMES or form not in key:
        raise ValueError("a learner, before or after, and A or B are expected")
    letters = [answer.lower() for answer in answers]
    right = key[form]
    if len(letters) != len(right) or not all(letter in ("", *_LETTERS) for letter in letters):
        raise ValueError(f"{len(right)} cells are expected, each one of {', '.join(_LETTERS)} or empty")
    return Sat(learner, time, form, tuple(a == b for a, b in zip(letters, right, strict=True)))


def _page(names: str, pairs: Sequence[Pair], *, with_key: bool) -> str:
    forms = [(name, [pair[FORMS.index(name)] for pair in pairs]) for name in names]
    page = environment().get_template("test_form.html")
    return page.render(forms=forms, rich=lambda text: Markup(rich(text)), with_key=with_key)


def _rows(path: Path) -> list[list[str]]:
    try:
        return list(read_filled_in(path, Refusal).reader)
    except csv.Error as error:
        raise Refusal(f"{path} cannot be read as a table: {error}") from None
