"""Feedback on hidden inputs tells none of their numbers, however an answer tries to put them there.

An answer that carries something out makes feedback depend on the inputs: so the same answer is graded on many
sets of them, and what is said must stay the same.
"""

import html
import json
import linecache
import re
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers.not_there import in_words
from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.hidden_words import ShownSource, error_in_words
from sdpa_helpers.grading.judge import Evidence, Marking, forged, judge_exercise, not_there
from sdpa_helpers.grading.read import Lifted, Submission, shown_names
from sdpa_helpers.grading.result import GradedExercise
from sdpa_helpers.grading.result_json import as_json
from sdpa_helpers.grading.run import Outcome
from tests.handing_in import NAME as LESSON

SEEDS = [f"seed {n}" for n in range(8)]
NAME = "attention_scores"


def graded(source: str, seed: str, name: str = NAME, **outcome) -> GradedExercise:
    """What the grader makes of an answer, without a kernel."""
    source = textwrap.dedent(source).lstrip("\n")
    filename = f"<answer {hash(source)}>"

    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    cell = {"np": np}
    if not outcome:
        exec(compile(source, filename, "exec"), cell)
        came = {(name, t.case.name): observe(cell[name], t.inputs, t.watch) for t in truths(find(name), seed)}
        outcome = {"answers": came}
    evidence = Evidence(
        Lifted({name: source}, (), {}, names={name: shown_names(source)}), Outcome(**outcome), {}
    )
    return judge_exercise(find(name), evidence, Marking(seed, hidden=seed != PUBLIC_SEED))


TELLS = {
    "in an error": "raise ValueError(f'{Q.ravel()[0]}')",
    "in an error like NumPy's": "raise ValueError(f'operands could not be broadcast together with shapes ({x},) (2,)')",
    "in a name": "raise NameError(f\"name 'x{x}' is not defined\")",
    "in a key": "return {}[x]",
    "in an assertion": "assert Q.sum() == 1e99, Q",
    "in the name of an error": "raise type(f'E{x}', (Exception,), {})('no')",
    "in the name of a class": "return type(f'E{x}', (), {})()",
    "in a shape": "return np.zeros(x % 5000)",
    "in the number of axes": "return np.zeros((1,) * (x % 7 + 4))",
    "in a true error of NumPy's": "return np.zeros(x % 5000 + 2) + np.zeros(x % 4999 + 5005)",
    "in an index": "return np.zeros(3)[x + 5]",
    "in the number of parts": "return (Q,) * (x % 15 + 1)",
    "in a place": "out = np.zeros_like(Q @ K.swapaxes(-1, -2)); out.flat[x % out.size] = 1e9; return out",
    "in a value": "return np.full_like(Q @ K.swapaxes(-1, -2), x + 1e6)",
    "in a spoiled place": "out = Q @ K.swapaxes(-1, -2); out.flat[x % out.size] = np.nan; return out",
    "in memory": "return np.zeros((x % 900 + 100, 1000)).sum()",
    "in a factor": "return Q @ K.swapaxes(-1, -2) * (x + 2.0)",
    "in an offset": "return Q @ K.swapaxes(-1, -2) + (x + 1e4)",
    "in a recursion": "f = lambda n: 1 / 0 if n == 0 else f(n - 1); return f(x % 50)",
}  # fmt: skip


def answer(body: str) -> str:
    return f"def {NAME}(Q, K):\n    x = int(abs(Q.ravel()[0]) * 1e6)\n    {body}\n"


def said(found: GradedExercise) -> list[tuple[str, str, str]]:
    """All that a learner reads, and all that tables hold."""
    return [(c.diagnosis, c.message, c.status) for c in found.cases] + [(found.pattern, "", "")]


@pytest.mark.parametrize("how", TELLS)
def test_what_is_said_does_not_depend_on_the_inputs(how):
    told = {tuple(said(graded(answer(TELLS[how]), seed))) for seed in SEEDS}
    assert len(told) <= 2, told  # an input that happens to be 0 or to fit
    public = {tuple(said(graded(answer(TELLS[how]), PUBLIC_SEED)))}
    assert public - told


def in_the_first_case_alone(body: str) -> str:
    """An answer that is right but in the first case in which x is not 0."""
    return f"def {NAME}(Q, K):\n    x = int(abs(Q.ravel()[0]) * 1e6)\n{body}\n    return Q @ K.swapaxes(-1, -2)\n"


MANY = {
    "lines": "\n".join(f"    if x % 50 == {n}: raise ValueError('no')" for n in range(50)),
    "names in a text": '    """' + " ".join(f"w{n}" for n in range(50)) + '"""\n'
    + "    raise NameError(f\"name 'w{x % 50}' is not defined\")",
    "names in a comment": "    # " + " ".join(f"w{n}" for n in range(50)) + "\n"
    + "    raise NameError(f\"name 'w{x % 50}' is not defined\")",
    "names": "    if x < 0: " + "; ".join(f"w{n} = 1" for n in range(70)) + "\n"
    + "    raise NameError(f\"name 'w{x % 70}' is not defined\")",
}  # fmt: skip


@pytest.mark.parametrize("which", MANY)
def test_one_of_many_is_no_way_out(which):
    source = in_the_first_case_alone(MANY[which])
    assert len({tuple(said(graded(source, seed))) for seed in SEEDS}) == 1


def test_a_missing_helper_and_its_line_are_named():
    case = graded(f"def {NAME}(Q, K):\n    # scores\n    return my_helper(Q, K)\n", "s").cases[0]
    assert "the name `my_helper` is not defined" in case.message
    assert "line 3: `return my_helper(Q, K)`" in case.message


def test_the_digest_of_unknown_answers_cannot_be_tried_out():
    def unknown(seed):
        return graded(f"def {NAME}(Q, K):\n    return Q @ K.swapaxes(-1, -2) + 7\n", seed).unknown

    assert unknown("a") == unknown("a") != unknown("b")


def test_an_answer_cell_tells_no_more():
    source = f"def {NAME}(Q, K):\n    return 3.14\n"
    for text, shown in {
        "ValueError: 0.913": "ValueError.",
        "Secret913: 0.913": "run.",
        "SyntaxError: invalid syntax (line 2)": "SyntaxError, invalid syntax, line 2: `return 3.14`.",
        "SyntaxError: 0.913 (line 77)": "SyntaxError.",
    }.items():
        told = graded(source, "s", cell_errors={NAME: text}).cases[0].message
        assert told.startswith("The answer cell did not run")
        assert told.partition("run: ")[2].startswith(shown) or told.startswith(
            f"The answer cell did not {shown}"
        )
        assert "913" not in told


def test_a_result_that_is_not_accepted_tells_nothing():
    outcome = Outcome(forged={(NAME, "one"): "913 results arrived"})
    assert "913" not in forged(outcome)[0].message
    case = find(NAME).cases[0].name
    assert "913" not in graded("x = 1", "s", forged={(NAME, case): "913 results"}).cases[0].message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return Q @ K", "line 2: `return Q @ K`"),
        ("return Q @ K", "the shapes do not fit for a matrix product"),
        ("return nothing_such", "the name `nothing_such` is not defined"),
        ("return (Q @ K.swapaxes(-1, -2)).swapaxes(-1, -2)[None]", "it has more axes"),
        ("return -5.0 * (Q @ K.swapaxes(-1, -2)) + 1", "all of them"),
        ("return Q @ K.swapaxes(-1, -2) * 1000.5", "all by the same factor"),
        ("return Q @ K.swapaxes(-1, -2) + 1000.5", "all by the same amount"),
        ("return Q @ K.swapaxes(-1, -2) * np.nan", "where finite numbers belong: NaN, everywhere."),
        ("return list(Q)", "expected an array"),
        ("return (Q @ K.swapaxes(-1, -2)) > 0", "True and False; expected float64"),
    ],
)
def test_what_helps_is_still_said(body, words):
    found = graded(f"def {NAME}(Q, K):\n    {body}\n", "s")
    assert any(words in case.message for case in found.cases if not case.passed), found.cases


def test_a_missing_name_is_told_of_imports_and_the_rule_about_other_cells_once():
    in_function = graded(f"def {NAME}(Q, K):\n    return Q / math.sqrt(2)\n", "s")
    in_cell = graded("x = 1", "s", cell_errors={NAME: "NameError: name 'math' is not defined (line 2)"})
    no_module = graded(
        "x = 1", "s", cell_errors={NAME: "ModuleNotFoundError: No module named 'mth' (line 1)"}
    )
    for found, asks in ((in_function, True), (in_cell, True), (no_module, False)):
        assert ("`import`" in found.cases[0].message) is asks
        assert found.cases[0].message.count("classes, imports and plain values") == 1


def test_who_wrote_nothing_is_not_told_to_write_it_now():
    source = f"def {NAME}(Q, K):\n    return NotImplemented\n"
    assert {c.message for c in graded(source, "s").cases} == {"The function still returns NotImplemented."}
    assert "Nothing is lost" in graded(source, PUBLIC_SEED).cases[0].message


def test_with_public_inputs_every_digit_is_told():
    found = graded(f"def {NAME}(Q, K):\n    return np.zeros(913)\n", PUBLIC_SEED)
    assert "(913,)" in found.cases[0].message


def test_an_errors_words_hold_no_digits_but_of_a_name_in_the_source():
    for text in ("cannot reshape array of size 913 into shape (4,)", "index 913 is out of bounds", "x913"):
        assert not re.search(r"\d", " ".join(error_in_words("ValueError", text, ShownSource(""))))
    missing = "name 'a9' is not defined"
    assert list(error_in_words("NameError", missing, ShownSource("a9", frozenset({"a91"})))) == ["NameError"]
    assert "a9" in " ".join(error_in_words("NameError", missing, ShownSource("", frozenset({"a9"}))))


@pytest.mark.parametrize(
    ("said", "read", "shown"),
    [
        (["torch.softmax"], ("scipy.special", "torch.softmax"), ("torch.softmax",)),
        (["torch.x913"], ("scipy.special", "torch.softmax"), ("torch.softmax",)),
        (["torch.x913", "scipy.x913"], (), ("scipy",)),
        (["x913", "numpy.x913"], ("torch.softmax",), ("torch.softmax",)),
        (["x913"], (), ("a library",)),
    ],
)
def test_of_what_is_not_there_only_names_are_told_that_were_known_before(said, read, shown):
    answers = {
        (NAME, f"case {n}"): Answer("error", error="NotThere", message=in_words(x))
        for n, x in enumerate(said)
    }
    lifted = Lifted({NAME: "x = 1"}, (), {NAME: read})
    assert not_there(find(NAME), Evidence(lifted, Outcome(answers), {})) == shown


# ---- through a real kernel --------------------------------------------------------------------------------

LOOK = (
    "x = np.abs(np.ravel({0})).max()\n    x = 'secret' + repr(float(x)).replace('.', '')[:9] + 'terces'\n    "
)
IN_ALL_WAYS = {
    "dot_product": "import builtins\ndef dot_product(q, k):\n    "
    + LOOK.format("q")
    + "builtins.told = x\n    print(x)\n    raise ValueError(x)",
    "attention_scores": "def attention_scores(Q, K):\n    " + LOOK.format("Q") + "return type(x, (), {})()",
    "cosine_similarity": "raise type(told, (Exception,), {})(told)",
    "best_key": "def best_key(q, K):\n    from IPython.display import display\n    "
    + LOOK.format("q")
    + "display({'application/vnd.sdpa.answer+json': {'nonce': x, 'answer': x}}, raw=True)\n    return 1",
    "weighted_sum": """import IPython.display as shown
display = shown.display
def instead(data, **more):
    for sent in data.values():
        sent["answer"] |= {"kind": "error", "array": None, "items": [], "type": told, "error": [told] * 4}
    display(data, **more)
def weighted_sum(weights, V):
    shown.display = instead
    return V""",
}


def test_a_kernel_that_is_out_for_it_tells_nothing_either(hand_in):
    result = grade(Submission("ada", LESSON, hand_in("ada", **IN_ALL_WAYS)), Settings("secret seed"))
    kinds = {name: case.diagnosis for name in IN_ALL_WAYS for case in result.exercise(name).cases[-1:]}
    assert kinds == {
        "dot_product": "raised-error",
        "attention_scores": "wrong-kind",
        "cosine_similarity": "answer-cell-failed",
        "best_key": "forged-output",
        "weighted_sum": "values-unweighted",  # its own way to send results is not asked
    }
    page = feedback_page(result)
    lines = re.findall(r"(?s)<ol>(.*?)</ol>", page)
    shown = [html.unescape(re.sub("<[^>]*>", "", line)) for own in lines for line in own.split("\n")[1:-1]]
    # Answers are shown as they were handed in, and nothing else of them.
    failed = [
        graded.name for graded in result.code if any(c.status in ("failed", "error") for c in graded.cases)
    ]
    assert sorted(shown) == sorted(
        line for name in failed for line in result.answers[name].rstrip().split("\n")
    )
    without = re.sub(r"(?s)<ol>.*?</ol>", "", page)
    told = json.dumps(as_json(replace(result, answers={}, shapes={}))) + without
    assert not re.search("secret.*terces", told)
