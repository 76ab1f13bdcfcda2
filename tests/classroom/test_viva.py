"""Questions on a learner's own answer: computed from their code, in walls, and the key only on the key."""

import re

import numpy as np
import pytest

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.viva.asking import sheet_of
from sdpa_helpers.classroom.viva.edits import MOST, edits_of
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.result import GradedExercise
from sdpa_helpers.sandbox.limits import Limits
from tests.commands import sdpa
from tests.results import case, result

WHERE = Limits(seconds=20, cell_seconds=2, memory_mb=1024), "off"
RIGHT = """\
# exercise: softmax
def softmax(x, axis=-1):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)
"""
LOOPS = """\
def softmax(x, axis=-1):
    n = 0
    while n < 3:
        n = n + 1
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
"""Many a small edit of it never ends."""


def asked(code, seed="a"):
    return sheet_of("ada", find("softmax"), code, WHERE, seed)


def scope(code):
    space = {"np": np}
    exec(code, space)
    return space["softmax"]


def numbers(text):
    return [float(n.rstrip("….")) for n in re.findall(r"-?\d[\d.]*", text.partition(";")[0])]


def with_edit(code, question):
    line, now, was = re.search(r"line (\d+) said `(.*?)` where it says `(.*?)`", question).groups()
    lines = code.split("\n")
    lines[int(line) - 1] = lines[int(line) - 1].replace(was, now, 1)
    return "\n".join(lines)


# ---- the edits --------------------------------------------------------------------------------------------


def test_edits_are_a_few_each_another_program_and_the_same_again():
    edits = edits_of(RIGHT, "softmax", "a")
    assert 5 < len(edits) <= MOST
    assert len({edit.source for edit in edits}) == len(edits)
    assert edits == edits_of(RIGHT, "softmax", "a") != edits_of(RIGHT, "softmax", "b")
    for edit in edits:
        compile(edit.source, "edit", "exec")
        assert edit.was.replace(" ", "") in RIGHT.split("\n")[edit.line - 1].replace(" ", "")


@pytest.mark.parametrize(
    "code", ["", "def softmax(", "x = 1", "(" * 5_000, "x" * 7_000, "def softmax(x):\n  return '\\ud800'"]
)
def test_what_cannot_be_asked_about_is_left_alone(code):
    assert asked(code) is None


# ---- the questions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["a", "b", "c"])
@pytest.mark.parametrize("code", [RIGHT, RIGHT.replace("np.exp(", "np.exp2(")])
def test_the_key_is_what_the_learners_code_returns_also_where_it_is_wrong(code, seed):
    first, second, third = asked(code, seed).questions
    call = re.search(r"`softmax\((.*)\)`", first.asks)[1]
    assert numbers(first.answer) == pytest.approx(scope(code)(np.array(eval(call), float)).ravel(), abs=1e-3)
    call = re.search(r"`softmax\((.*?)\)` give then", second.asks)[1]
    if "error" not in second.answer:
        given = scope(with_edit(code, second.asks))(np.array(eval(call), float))
        assert numbers(second.answer) == pytest.approx(np.ravel(given), abs=1e-3)
    loud, quiet = re.fullmatch(r"In (.*)\. Not in (.*)\.", third.answer).groups()
    names = {case.name for case in find("softmax").cases}
    assert {*loud.split("; ")} <= names
    assert {*quiet.split("; ")} <= names
    assert not {*loud.split("; ")} & {*quiet.split("; ")}
    assert third.asks.partition(" In which")[0] != second.asks.partition(" What would")[0]


def test_an_edit_that_never_ends_costs_only_itself():
    sheet = asked(LOOPS)
    assert sheet is not None
    assert len(sheet.questions) == 3


HOSTILE = (
    "def softmax(x, axis=-1):\n    while True:\n        x = x + 1\n    return x\n",
    "import os\ndef softmax(x, axis=-1):\n    os._exit(0)\n    return x + 1\n",
    "def softmax(x, axis=-1):\n    return np.zeros((10**6, 10**6)) + x\n",
    "def softmax(x, axis=-1):\n    raise ValueError('<script>' * 1000)\n    return x + 1\n",
)


@pytest.mark.parametrize("code", HOSTILE)
def test_hostile_code_gets_no_sheet_and_harms_nobody(code):
    assert asked(code) is None


# ---- the command ------------------------------------------------------------------------------------------

MARKUP = RIGHT + "# <script>alert(1)</script> `x`\n"


@pytest.fixture
def folder(tmp_path):
    made = ResultsFolder(tmp_path / "run")
    for who, code, points in (("ada", MARKUP, 15.0), ("ben", HOSTILE[1], 3.0), ("cleo", RIGHT, 0.0)):
        graded = GradedExercise("softmax", "Softmax", 15.0, (case(points, 15.0),))
        made.write_result(result(who, [graded], "03_softmax", answers={"softmax": code}))
    return made


def test_the_command_writes_a_page_to_print_and_a_key(folder):
    said = sdpa("viva", folder.path, "--seed", "a", "--sandbox", "off")
    assert said.returncode == 0, said.stderr
    assert "No sheet for ben, cleo" in said.stdout
    page, key = folder.viva_page.read_text(), folder.viva_key.read_text()
    assert page.count("<section>") == key.count("<section>") == 1
    assert page.count("<li>") == key.count("<li>") == key.count('class="key"') == 3
    assert 'class="key"' not in page
    assert "<script>" not in page + key
    assert "&lt;script&gt;" in page
    before = page, key
    assert sdpa("viva", folder.path, "--seed", "a", "--sandbox", "off").returncode == 0
    assert (folder.viva_page.read_text(), folder.viva_key.read_text()) == before


def test_the_command_refuses_what_is_not_there(folder):
    assert "no exercise nothing" in sdpa("viva", folder.path, "--exercise", "nothing").stderr
    assert "nothing was graded of dora" in sdpa("viva", folder.path, "--learner", "dora").stderr
