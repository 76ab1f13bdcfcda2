"""my_attention.py grows with what `check` accepts; what it holds works by itself; what the learner adds stays."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from sdpa_helpers.course import mine, my_attention
from sdpa_helpers.course.answer_source import renamed, statements
from sdpa_helpers.course.my_attention import NotPut, body_for, code_of, sections_of, with_answer
from sdpa_helpers.course.progress import ProgressTable
from sdpa_helpers.course.registry import find

MASKED = """# exercise: masked_softmax
import numpy as np
print("not for the file")
def masked_softmax(scores, mask):
    # the empty row first
    return softmax(np.where(mask, scores, LOW))
"""
ATTENTION = """# exercise: attention
def attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, np.ones(scores.shape, bool) if mask is None else mask)
    return weights @ V, weights
"""
HELPER = """LOW = -np.inf
unused = 3
def softmax(x):  # of this notebook
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isinf(top), 0, top))
    return e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-300)"""
SOFTMAX = """# exercise: softmax
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
BY_HAND = "def tokens(text):\n    return text.split()\n"


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """(what each step came to, the file after it), in a learner's desk."""
    folder = tmp_path_factory.mktemp("desk")
    work = folder / "work"
    (work / "exercises").mkdir(parents=True)
    (work / ".laid.json").write_text("{}")
    file = work / "my_attention.py"
    add = f"open({str(file)!r}, 'a').write({BY_HAND!r})"
    change = f"import pathlib\np = pathlib.Path({str(file)!r})\np.write_text(p.read_text().replace('{{}}', '{{}}'))"
    copy = "import pathlib, shutil; shutil.copy({0!r}, {0!r} + '.{1}')".format(str(file), "{}")
    yours = "from sdpa_helpers.course.mine import yours"
    steps = {
        "too early": [HELPER, MASKED, ATTENTION, "check(attention)"],
        "wrong": [HELPER, MASKED.replace("LOW)", "-1e9)"), "check(masked_softmax)"],
        "not kept": [HELPER, MASKED, "check(masked_softmax, keep=False)"],
        "nothing yet": [yours, "yours('softmax', np.zeros(3))"],
        "first": [HELPER, MASKED, "check(masked_softmax)"],
        "again": [HELPER, MASKED, "check(masked_softmax)"],
        "own": [add, copy.format("first"), HELPER, MASKED, ATTENTION, "check(attention)"],
        "other lesson": [SOFTMAX, "check(softmax)"],
        "new": [HELPER, MASKED.replace("first", "last"), "check(masked_softmax)"],
        "star": ["from numpy import *", SOFTMAX.replace("np.exp", "exp"), "check(softmax)"],
        "only here": [SOFTMAX.replace("\ndef", "\nif __name__ == '__main__':\n  def"), "check(softmax)"],
        "our line": [SOFTMAX.replace("    e =", '    """\n# --- end of softmax ---\n"""\n    e ='), "check(softmax)"],
        "progress": ["progress()"],
        "agree": [yours, "yours('attention', np.eye(3), np.eye(3), np.eye(3))"],
        "differ": [copy.format("whole"), change.format("e / e", "2 * e / e"), yours,
                   "yours('softmax', np.zeros(2))"],
        "stops": [change.format("2 * e / e", "e / e"), yours, "yours('softmax', 'abc')"],
        "damaged": [change.format("# --- end of", "# end of"), HELPER, MASKED, "check(masked_softmax)"],
        "damaged, used": [yours, "yours('softmax', np.zeros(3))"],
    }  # fmt: skip
    (folder / "steps.json").write_text(json.dumps(steps))
    env = os.environ | {
        "SDPA_HOME": str(folder / "home"),
        "JPY_SESSION_NAME": str(work / "exercises" / "x.ipynb"),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "tests.lessons.run_cells", folder / "steps.json"],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert not (folder / "home" / "my_attention.py").exists()
    told = {name: came["text"] for name, came in json.loads(ran.stdout.splitlines()[-1]).items()}
    return told, {path.suffix: path.read_text() for path in work.glob("my_attention.py*")}


def test_what_is_accepted_goes_in_with_what_it_needs(grown):
    told, files = grown
    first = files[".first"]
    assert "Note: your `masked_softmax` is in my_attention.py now." in told["first"]
    assert first.startswith('"""My attention:')
    assert first.endswith(BY_HAND)
    for inside in (
        "LOW = -np.inf",
        "import numpy as np",
        "# the empty row first",
        "def softmax_for_masked_softmax(x):",
    ):
        assert first.count(inside) == 1
    assert "unused" not in first
    assert "not for the file" not in first
    assert "# exercise:" not in first


def test_not_before(grown):
    told, _ = grown
    assert "`attention` was not put into my_attention.py: it calls `masked_softmax`" in told["too early"]
    for step in ("wrong", "not kept", "again"):
        assert "my_attention.py" not in told[step]
    assert "replaces the one" in told["new"]


def test_it_is_one_module_in_the_order_of_the_course(grown):
    whole = grown[1][".whole"]
    assert [section.name for section in sections_of(whole)] == ["softmax", "masked_softmax", "attention"]
    assert BY_HAND in whole
    space = {}
    exec(whole, space)
    output, weights = space["attention"](*(np.eye(3),) * 3)
    assert np.allclose(weights.sum(axis=-1), 1)
    assert np.allclose(output, weights)
    assert space["softmax"](np.ones((2, 2)), axis=0).sum() == pytest.approx(
        2
    )  # not the helper of another notebook
    assert "# the empty row last" in whole
    assert space["tokens"]("a b") == ["a", "b"]


def test_what_works_only_in_its_notebook_stays_there(grown):
    assert "does not work without the rest of this notebook" in grown[0]["star"]
    assert " exp(" not in grown[1][".whole"]


def test_what_makes_nothing_elsewhere_or_breaks_the_file_stays_out(grown):
    assert "There it makes no `softmax`" in grown[0]["only here"]
    assert "a line of it looks like those that we write" in grown[0]["our line"]


def test_an_answer_that_changes_its_inputs_changes_nothing_of_the_lesson(monkeypatch, tmp_path):
    file = tmp_path / "my_attention.py"
    file.write_text(with_answer("", find("softmax"), "def softmax(x, axis=-1):\n    x += 1\n    return x"))
    monkeypatch.setattr(mine, "own_file", lambda: file)
    x = np.zeros(2)
    assert "differ here by up to 0.5" in str(mine.yours("softmax", x))
    assert not x.any()


def test_progress_and_lessons_know_of_it(grown):
    told, _ = grown
    assert "my_attention.py holds 3 of your functions." in told["progress"]
    assert "You have no `softmax` of your own yet" in told["nothing yet"]
    assert told["agree"].startswith("Your `attention` and ours agree")
    assert told["agree"].endswith("Both return shape (3, 3) and shape (3, 3).")
    assert told["differ"] == "Your `softmax` and ours differ here by up to 0.5."
    assert "Your `softmax` stops with" in told["stops"]


def test_a_damaged_file_is_left_alone_and_breaks_nothing(grown):
    told, files = grown
    assert "all cases passed" in told["damaged"]
    assert "is missing there, or one too many" in told["damaged"]
    assert files[".py"] == files[".whole"].replace("# --- end of", "# end of")
    assert told["damaged, used"].startswith("Your my_attention.py cannot be used: a line")


def test_without_a_notebook_nothing_is_written_or_used(monkeypatch, tmp_path):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    (tmp_path / "my_attention.py").write_text("raise SystemExit")
    assert my_attention.own_file() is None
    assert "You have no `softmax` of your own yet" in str(mine.yours("softmax", np.zeros(2)))
    assert "sdpa-not-attempted" in mine.yours("softmax", np.zeros(2)).html()
    assert "my_attention" not in ProgressTable([], {}).text()


class TestText:
    def test_answers_are_put_between_our_lines_only(self):
        text = with_answer("", find("attention"), "a = 1")
        text = with_answer("# --- my own heading ---\nx = 0\n" + text, find("softmax"), "b = 2")
        text = with_answer(text + "y = 0\n", find("attention"), "a = 3")
        assert code_of(text) == "b = 2\n\n\na = 3"
        assert text.startswith("# --- my own heading ---\nx = 0\n")
        assert text.endswith("# --- end of attention ---\ny = 0\n")

    @pytest.mark.parametrize(
        "damage",
        [
            ("# --- end of softmax ---\n", ""),
            ("# --- softmax (lesson 03) ---\n", ""),
            ("(lesson 03)", "(lesson)"),
        ],
    )
    def test_damage(self, damage):
        text = with_answer("", find("softmax"), "b = 2").replace(*damage)
        with pytest.raises(NotPut):
            sections_of(text)
        with pytest.raises(NotPut):
            sections_of(2 * with_answer("", find("softmax"), "b = 2"))

    def test_names_are_changed_where_they_mean_a_name(self):
        text = "def f(x, top=1):\n    return top(x.top, top=top) + top"
        assert renamed(text, {"top": "t"}) == "def f(x, top=1):\n    return t(x.top, top=t) + t"

    def test_statements_keep_their_comments(self):
        parts = statements("# exercise: f\n# above\n@g\ndef f():\n    return a\nb = 1; c = b\n")
        assert [part.text for part in parts] == [
            "# above\n@g\ndef f():\n    return a",
            "b = 1; c = b",
            "c = b",
        ]
        assert parts[0].needs == {"g", "a"}

    def test_the_same_helper_twice_is_no_clash(self):
        needed = statements("E = 1\ndef attention():\n    return E")
        others = sections_of(with_answer("", find("softmax"), "E = 1\ndef softmax():\n    return E"))
        assert body_for("attention", needed, others) == "E = 1\n\ndef attention():\n    return E"
        changed = body_for("attention", statements("E = 2\ndef attention():\n    return E"), others)
        assert changed == "E_for_attention = 2\n\ndef attention():\n    return E_for_attention"
