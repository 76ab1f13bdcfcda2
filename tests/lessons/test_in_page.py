"""The exercises without Jupyter say what `check` says: the same engine, asked by text."""

import json
import subprocess
import sys

import pytest

from sdpa_helpers.course import in_page, page_shell
from sdpa_helpers.course.registry import find

WORTH = find("softmax").max_points

SOFTMAX = """\
def softmax(x, axis=-1):
    e = np.exp(x - x.max({axis}))
    return e / e.sum(axis=axis, keepdims=True)
"""
RIGHT, GLOBAL_MAX = SOFTMAX.format(axis="axis, keepdims=True"), SOFTMAX.format(axis="")


def asked(answers, ask="check", name="softmax", lesson="03_softmax", **more):
    request = {"ask": ask, "lesson": lesson, "name": name, "answers": answers, **more}
    return json.loads(in_page.reply(json.dumps(request)))


def test_a_mistake_is_named_and_a_right_answer_earns_all_points():
    wrong = asked({"softmax": GLOBAL_MAX})
    assert (wrong["mistake"], wrong["of"], wrong["passed"]) == ("global-max-subtracted", WORTH, False)
    assert 0 < wrong["points"] < WORTH
    assert "the largest score of the whole array" in wrong["card"]
    right = asked({"softmax": RIGHT})
    assert (right["mistake"], right["points"], right["passed"]) == ("", WORTH, True)
    assert "test_cases_for_softmax.html" in right["card"]  # the way on is a page, not a notebook


def test_an_answer_without_a_name_has_its_key_and_what_the_room_told_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    odd = {"softmax": "def softmax(x, axis=-1):\n    return x * 1.37 + 0.21\n"}
    first = asked(odd)
    assert (first["mistake"], len(first["answer"])) == ("", 12)
    told = f"version = 1\n[softmax.{first['answer']}]\nsays = 'You <i>scaled</i> it.'\n"
    second = asked(odd, told=told)
    assert "From your instructor</strong>: You &lt;i&gt;scaled&lt;/i&gt; it." in second["card"]
    assert asked({"softmax": GLOBAL_MAX}, told=told)["answer"] == ""


def test_hints_grow_and_a_solution_is_shown():
    first, second = (asked({}, "hint", "entropy")["text"] for _ in range(2))
    assert "hint 1 of" in first
    assert "hint 2 of" in second
    assert "def entropy" in asked({}, "solution", "entropy")["text"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def softmax(x:\n    return x", "SyntaxError"),
        ("1 / 0", "line 2: 1 / 0\nZeroDivisionError"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("def soft(x):\n    return x", "defines no function called `softmax`"),
        ("x = 1\n" * 20_000, "characters; 50,000 are read"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("import torch_is_not_here", "ModuleNotFoundError"),
    ],
)
def test_what_does_not_run_gets_its_own_line_and_no_points(answer, told):
    found = asked({"softmax": answer})
    assert told in found["text"]
    assert (found["card"], found["points"], found["of"]) == ("", 0.0, WORTH)
    assert "sdpa_helpers" not in found["text"]


@pytest.mark.parametrize(
    ("more", "printed", "told"),
    [
        ("softmax(np.array([1.0, 1.0]))", "", "array([0.5, 0.5])"),
        ("print('seen')\nlen('abc')", "seen\n", "3"),
        ("print('seen')", "seen\n", ""),
        ("x = 3", "", "end with a line that has one, such as a call of softmax"),
        ("print('seen')\n1 / 0", "seen\n", "line 6: 1 / 0\nZeroDivisionError: division by zero"),
        ("import torch_is_not_here.nn", "", "no torch_is_not_here here: this page has NumPy"),
        (f"'x' * {page_shell.MOST_PRINTED}", "", "cut after 20,000 characters"),
        (
            "class Bad:\n    def __repr__(self):\n        raise SystemExit('bye')\nBad()",
            "",
            "SystemExit: bye",
        ),
    ],
)
def test_run_gives_what_was_printed_and_the_last_value_and_judges_nothing(more, printed, told):
    found = asked({"softmax": RIGHT + more}, "run")
    assert (found["card"], found["points"], found["mistake"], found["printed"]) == ("", 0.0, "", printed)
    assert told in found["text"]
    assert bool(told) == bool(found["text"])
    assert len(found["text"]) < page_shell.MOST_PRINTED + 100


def test_run_has_the_earlier_answers_and_keeps_what_they_print_to_itself():
    own = "softmax_with_temperature = lambda scores, t: softmax(scores / t)\nsoftmax(np.zeros(2))[0]"
    answers = {"softmax": f"{RIGHT}\nprint('earlier')", "softmax_with_temperature": own}
    found = asked(answers, "run", "softmax_with_temperature")
    assert (found["printed"], found["text"]) == ("", "np.float64(0.5)")


def test_who_has_not_begun_is_told_of_the_editor_not_of_a_cell():
    found = asked({"softmax": "def softmax(x, axis=-1):\n    return NotImplemented"})
    assert "Write your answer in the editor" in found["card"]
    assert "cell above" not in found["card"]


def test_what_is_printed_is_cut():
    found = asked(
        {"softmax": f"print('a' * 10_000_000)\nfor _ in range(1000):\n    print('b' * 1000)\n{RIGHT}"}
    )
    assert len(found["printed"]) == page_shell.MOST_PRINTED
    assert found["passed"]


def test_what_is_not_there_earns_nothing_here_either():
    ready_made = (
        "import sdpa_helpers\ndef softmax(x, axis=-1):\n    return sdpa_helpers.attention.softmax(x, axis)"
    )
    found = asked({"softmax": ready_made})
    assert found["points"] == 0
    assert "`sdpa_helpers.attention.softmax` isn't there" in found["text"]


def test_answers_of_earlier_exercises_are_there_and_one_that_fails_is_no_harm():
    own = "def softmax_with_temperature(scores, temperature):\n    return softmax(scores / temperature)\n"
    found = asked({"softmax": RIGHT, "softmax_with_temperature": own}, name="softmax_with_temperature")
    assert found["points"] > 0
    broken = asked({"softmax": "1 / 0", "softmax_with_temperature": own}, name="softmax_with_temperature")
    assert broken["points"] == 0
    assert "name 'softmax' is not defined" in broken["text"]


def test_no_such_exercise_is_an_error_that_says_so():
    with pytest.raises(LookupError, match="lesson 03_softmax has no exercise 'dot_product'"):
        asked({}, name="dot_product")


EVERY_SOLUTION = """
import sys

import nbformat

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "IPython", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Absent())
from xml.etree import ElementTree
from sdpa_helpers.course import in_page, page_shell
from sdpa_helpers.course.registry import LESSONS, exercises_of

for lesson in LESSONS:
    cells = [c.source for c in nbformat.read(f"solutions/{lesson}.ipynb", 4).cells if c.cell_type == "code"]
    answers = {name: cell for cell in cells for name in in_page.answered_in(cell)}
    for exercise in exercises_of(lesson):
        verdict = in_page.checked(exercise, answers)
        assert verdict.passed and verdict.points == exercise.max_points, (exercise.name, verdict.text)
        assert "<style>" in verdict.card, exercise.name
        ElementTree.fromstring(f"<div>{verdict.card.replace('&nbsp;', ' ')}</div>")  # as a page reads it
    print(lesson, len(answers))
"""


def test_every_solution_earns_all_points_without_torch_ipython_and_matplotlib(course):
    done = subprocess.run(
        [sys.executable, "-c", EVERY_SOLUTION], cwd=course, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == 10
