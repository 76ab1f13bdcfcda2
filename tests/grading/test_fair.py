"""What a learner's notebook does in Jupyter counts in the grader: cells beside the answers, and errors behind them."""

import json

import pytest

from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.sandbox.limits import Limits
from tests.handing_in import NAME, POINTS, RIGHT, TOTAL


@pytest.fixture
def graded(hand_in):
    """Grades right answers with some in their place, and other cells before them."""

    def run(*cells, seed="fair", **answers):
        path = hand_in("ada", **RIGHT | answers)
        notebook = json.loads(path.read_text())
        code = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in cells]
        notebook["cells"][2:2] = code
        path.write_text(json.dumps(notebook))
        return grade(Submission("ada", NAME, path), Settings(seed, Limits(seconds=15, cell_seconds=2)))

    return run


def statuses(result, name):
    return {(case.status, case.diagnosis) for case in result.exercise(name).cases}


def kinds(result):
    return sorted(flag.kind for flag in result.flags)


def test_errors_behind_a_function_cost_nothing_and_those_before_it_do(graded):
    result = graded(
        "def helper(q, k):\n    return (q * k).sum()\n\n\nimport not_here\nfrom no_such import thing",
        "@not_here.cached\ndef spoiled():\n    pass",
        "x = 1 / 0\ndef total(x):\n    return x.sum()",
        dot_product="def dot_product(q, k):\n    return helper(q, k)\n\n\n"
        "assert check(dot_product).points == 99, 'secret'",
        attention_scores="1 / 0\ndef attention_scores(Q, K):\n    return Q @ K.swapaxes(-1, -2)",
        best_key="def best_key(q, K):\n    return int(input('which? '))",
        weighted_sum="def weighted_sum(weights, V):\n    total(V)\n    return weights @ V\n"
        "check(weighted_sum), hint(weighted_sum)\nassert check(weighted_sum).passed and not check(weighted_sum).cases",
    )
    assert result.status == "graded"
    assert result.points == TOTAL - POINTS["attention_scores"] - POINTS["best_key"]
    assert statuses(result, "attention_scores") == {("error", "answer-cell-failed")}
    assert {status for status, _ in statuses(result, "best_key")} == {"error"}
    assert kinds(result) == ["answer-cell-error"]
    (flag,) = result.flags
    assert flag.message.startswith(
        "dot_product: the function was graded; behind it, its cell ended with an error: "
    )
    assert "AssertionError" in flag.message
    assert "secret" not in flag.message  # it may come from a hidden input


def test_a_line_that_starts_a_program_costs_only_itself(graded):
    result = graded(
        "!ls\nSTEPS = 1",
        dot_product="!echo hi\nfiles = !ls\n%pip install -q numpy\n%conda list\nassert not files\n"
        "def dot_product(q, k):\n    return q @ k * STEPS",
        attention_scores="import os, subprocess\nout = subprocess.run(['git', '--version'], capture_output=True)\n"
        "print(out.stdout)\ndef attention_scores(Q, K):\n    return Q @ K.swapaxes(-1, -2)\n",
        best_key="import os\n\ndef best_key(q, K):\n    os.system('ls')",
        weighted_sum="1 / 0\ndef weighted_sum(weights, V):\n    return weights @ V",
    )
    assert result.points == TOTAL - POINTS["best_key"] - POINTS["weighted_sum"]
    messages = {e.name: e.cases[0].message for e in result.exercises}
    says = "PermissionError, a graded notebook cannot start other programs, line 5: `os.system('ls')`"
    assert says in messages["best_key"]
    assert "ZeroDivisionError, division by zero, line 2: `1 / 0`" in messages["weighted_sum"]
    (told,) = [flag.message for flag in result.flags if flag.kind == "answer-cell-error"]
    assert told == (
        "attention_scores: the function was graded; a line of its cell did not run: PermissionError, "
        "a graded notebook cannot start other programs"
    )


def test_code_in_the_line_of_a_magic_is_not_run(graded):
    kept = "kept = []\n{}\ndef {}(*a):\n    return kept[0](*a)"
    result = graded(
        dot_product=kept.format("%pwd {kept.append(lambda q, k: q @ k)}", "dot_product"),
        weighted_sum=kept.format("%config Application.x = kept.append(lambda w, V: w @ V)", "weighted_sum"),
        best_key="%matplotlib widget\n%config InlineBackend.figure_format = 'retina'\n" + RIGHT["best_key"],
    )
    assert result.points == TOTAL - POINTS["dot_product"] - POINTS["weighted_sum"]


def test_definitions_that_never_end_cost_nobody_an_answer(graded):
    result = graded("class Endless:\n    while True:\n        pass", seed="public")
    assert (result.status, result.points) == ("graded", TOTAL)
    assert kinds(result) == ["definitions-stopped"]
    assert "(timeout)" in result.flags[0].message


def test_a_forbidden_function_from_another_cell_is_found(graded):
    result = graded(
        "from sdpa_helpers.attention.numpy_formula import attention as mine",
        weighted_sum="def weighted_sum(weights, V):\n    return mine(weights, V)",
    )
    assert statuses(result, "weighted_sum") == {("failed", "forbidden-call")}
    assert kinds(result) == ["forbidden-call"]


@pytest.mark.parametrize(
    ("cell", "flagged"),
    [
        ("def f(x, text='1'):\n    return eval(text)\ny = 3\n@f\ndef g(): pass", ["dynamic-code"]),
        ("def f(x):\n    return exec(x)", []),  # nobody calls it
        ("import torch\nfrom sdpa_helpers import softmax\n%precision 3\nn = 3\nD = torch.float64", []),
        ("exec('this is not run')\nx = 3", []),
    ],
)
def test_what_runs_beside_the_answers_is_noticed_too(graded, cell, flagged):
    result = graded(cell)
    assert (result.points, kinds(result)) == (TOTAL, flagged)
