"""`sdpa new exercise` and `sdpa try`: from nothing to an exercise that says what it lacks."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from sdpa_helpers.checking.pages.page import read
from sdpa_helpers.classroom import answers_as_written
from tests import commands


@pytest.fixture
def sdpa(tmp_path):
    """sdpa(arguments) runs the command in an empty folder: (exit status, what it said)."""

    def go(*arguments):
        done = commands.sdpa(*arguments, cwd=tmp_path)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return go


@pytest.fixture
def page(sdpa, tmp_path):
    assert sdpa("new", "exercise", "halfway", "--folder", ".")[0] == 0
    return tmp_path / "halfway.md"


def test_a_new_page_can_be_tried_and_lacks_nothing(sdpa, page):
    status, said = sdpa("try", page.name)
    assert status == 0, said
    assert "`halfway([2, 6], [4, 0])` gives `[3, 3]`" in said
    assert "✓ not-halved: fails 6 of 6 cases. You did not halve the sum." in said
    assert "6 cases, 1 of them from the prompt." in said
    assert said.endswith("tests/checking tests/classroom -q -k halfway`, then `make notebooks`")
    assert "19 pairs of them are known too" in said
    assert "✗" not in said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("→ `x + y`", "→ `2 * x / 4 + y / 2`", "✗ line 51: not-halved passes every case"),
        (
            "- result: `0.5 * x",
            "- result: `0.6 * x",
            "✗ line 47: right answer 1 fails the case 'a long row': 40 of 40",
        ),
        (
            "→ `x + y`",
            "→ `x + z`",
            "✗ line 51: not-halved: fails 6 of 6 cases, the edit raised NameError: name 'z' is not defined",
        ),
        (
            "- **one number in three axes** `rng.normal(size=(1, 1, 1)), rng.normal(size=(1, 1, 1))`",
            "",
            "raised ValueError - `→ if np.ndim(x) >= 3 and np.shape(x)[-3] == 1: raise ValueError`",
        ),
        (
            "`/ 2` → `/ N`, N = 3, 4",
            "`(x + y) / 2` → `y + x`",
            "✗ not-halved, another-share can't be told apart: all are named not-halved",
        ),
        (
            "- **not-halved** `(x + y) / 2`",
            "- **not-halved** `(x + y) / 4`",
            "line 51: `(x + y) / 4` does not stand in the answer; an edit names a text that stands there once; near is "
            "`(x + y) / 2`",
        ),
        ("{call: [2, 6], [4, 0]}", "{cal: [2, 6]}", "line 15: `{cal: [2, 6]}.` is none of {call: …}"),
        ("{call: [2, 6], [4, 0]}", "{call: [2, 6]", "line 15: `{call: [2, 6].` is none of {call: …}"),
        ("{call: [2, 6], [4, 0]}", "{call: [2, six]}", "line 15: `[2, six]` fails"),
        ("## Cases", "### Cases", "line 31: `### Cases`: a page's headings are written `## Cases`"),
        ("→ `/ N`", "→ `/ 3`", "line 55: numbers are given for N, and no N stands in"),
        (
            "`np.round(result, N)`",
            "`np.round(result,, N)`",
            "line 59: result: `np.round(result,, 0)` is no Python",
        ),
        ("`rng.normal(size=40), ", "`rng.normal(size=), ", "line 33: `rng.normal(size=), "),
        (
            "**not-halved**",
            "**Not halved**",
            "line 51: **Not halved**: such a name is written **not-halved**",
        ),
        ("lesson: my_lesson", "lesson: 03_sofmax", "✗ line 3: lesson: 03_softmax is expected, and this came"),
        (
            "lesson: my_lesson\nsection:",
            "lesson: 03_softmax\nsection: 1. Scores in, weigths out",
            "is no heading of 03_softmax.ipynb; near is `1. Scores in, weights out`",
        ),
        ("difficulty: 1", "difficulty: 9", "line 5: difficulty: a whole number from 1 to 5 is expected"),
        ("minutes: 5", "minutes: 5\nready: numpy.halve", "✗ `numpy.halve`: there is no such function"),
        (
            "# Halfway between two arrays",
            "# A third",
            "✗ line 27: `1. Where to look.` stands there from the example",
        ),
        (
            "`rng.normal(size=40), rng.normal(size=40)`",
            "`np.arange(40.0), np.ones(40)`",
            "✗ line 31: the same for every seed: a long row, the prompt's example. A table of their answers earns 30%",
        ),
    ],
)
def test_what_it_lacks_is_said(sdpa, page, before, after, said):
    text = page.read_text()
    assert before in text
    page.write_text(text.replace(before, after))
    status, shown = sdpa("try", page.name)
    assert (status, said in shown) == (1 if "✗" in shown else 2, True), shown
    assert "All is well" not in shown


def test_survivors_are_printed_once_and_can_be_copied_below_may_live(page, tmp_path):
    """Two branches that no case reaches have the same line, so the same changes survive in both."""
    branch = "    if x.ndim == 4 and (x.shape[0] == 1) == {}:\n        return (x + y) / 2\n"
    answer = f"{branch.format(True)}{branch.format(False)}    return 0.5 * (x + y)\n```"
    text = (
        page.read_text()
        .replace("    return (x + y) / 2\n```", answer)
        .replace("- result: `0.5 *", "- start: `0.5 *")
    )
    begin, end = text.index("## Mistakes"), text.index("- **x-twice")
    text = f"{text[:begin]}## Mistakes\n\n{text[end:]}"
    page.write_text(text)
    said = commands.sdpa("try", page.name, cwd=tmp_path).stdout
    told = [line for line in said.splitlines() if line.startswith(("- `→", "- `return"))]
    assert len(told) == len(set(told)) > 10
    assert "- `return (x + y) / 2` → `return x / 2`" in told
    assert "numbers differ; the largest difference: returned" in " ".join(said.split())
    page.write_text(text + "".join(f"{line}\n  No case has four axes.\n" for line in told))
    assert commands.sdpa("try", page.name, cwd=tmp_path).returncode == 0


def test_answers_that_lie_beside_it_are_tried_too(sdpa, page):
    beside = page.with_name("halfway.answers.txt")
    right = "=== right | by products | own\ndef halfway(x, y):\n    print('XY')\n    return 0.5 * (x + y)\n"
    beside.write_text(f"{right}=== wrong: not-halved | sum | own\ndef halfway(x, y):\n    return y + x\n")
    status, said = sdpa("try", page.name)
    assert (
        status,
        "2 answers that people wrote: 1 of them are wrong, and 1 of these named truly." in said,
        "XY" in said,
    ) == (0, True, False)
    beside.write_text(right.replace("0.5", "0.6"))
    status, said = sdpa("try", page.name)
    assert (status, "✗ 'by products' is right, and fails a case" in said) == (1, True)
    beside.write_text(right.replace("=== right", "=== good"))
    status, said = sdpa("try", page.name)
    assert (status, "the verdict is `right`" in said) == (1, True)
    beside.write_text("\ndef halfway(x, y):\n    return x\n")
    assert "✗ halfway.answers.txt, line 2: `=== right | title | own` or" in sdpa("try", page.name)[1]


def test_what_contributing_shows_can_be_read(page):
    shown = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    entries, answers = map(dedent, re.findall(r"(?s)```(?:markdown|text)\n(.*?)```", shown))
    text = page.read_text()
    page.write_text(text[: text.index("## Cases")] + entries)
    exercise = read(page)
    wrong = {w.name: w for w in exercise.wrong}
    assert [case.weight for case in exercise.cases] == [2, 0, 1]
    assert (wrong["not-halved"].section, wrong["float32"].clue) == ("4. Without the matrix", "float32")
    assert wrong["first-column"].errors_tell
    assert exercise.mistakes.alone == {"float32"}
    assert [name for name, _ in exercise.mistakes.listed].count("not-halved") == 2
    assert exercise.spared[0][0] == "return (x + y) / 2 → return np.squeeze((x + y) / 2)"
    assert [entry.right for entry in answers_as_written.read(answers, page, "03_softmax")] == [True, False]


def test_an_exercise_of_the_course_is_tried_by_its_name(sdpa):
    status, said = sdpa("try", "split_heads")
    assert status == 0, said
    assert sdpa("try", "no_such_exercise")[0] == 2
    assert "'split_head': did you mean split_heads?" in sdpa("try", "split_head")[1]
    assert "there is no page nowhere.md here" in sdpa("try", "nowhere.md")[1]


def test_a_page_is_found_without_its_ending_and_what_is_made_is_tried(sdpa, page):
    assert sdpa("try", "halfway")[0] == 0
    status, said = sdpa("try", "hunt_softmax")
    assert status == 0, said
    assert "✓ does-not-show: fails 1 of 3 cases" in said


def test_what_is_there_is_kept(sdpa, page):
    page.write_text("mine")
    status, said = sdpa("new", "exercise", "halfway", "--folder", ".")
    assert (status, "is there already" in said, page.read_text()) == (2, True, "mine")
    assert "is no name of a function" in sdpa("new", "exercise", "3x")[1]
    assert "where does it go? `--lesson 03_softmax` names" in sdpa("new", "exercise", "a")[1]
    assert (
        "there is no lesson 'softmax'; there are: 01_dot_product"
        in sdpa("new", "exercise", "a", "--lesson", "softmax")[1]
    )
    assert "expected one of: exercise" in sdpa("new", "lesson", "a")[1]
