"""Running answers in a real kernel: what comes back, what is refused, what it may cost."""

import json
import textwrap

import pytest

from sdpa_helpers.checking.answers.carried import bytes_of, pack_answer
from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading import run as run_module
from sdpa_helpers.grading.assemble import assemble
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox.bounded_kernel import RESULT
from sdpa_helpers.sandbox.limits import Limits

EXERCISES = {e.name: e for e in exercises_of("01_dot_product")}
TRUTHS = {name: truths(exercise, "runner tests") for name, exercise in EXERCISES.items()}


@pytest.fixture
def run_answer(pristine):
    """Run one answer to dot_product, and a right one to weighted_sum after it."""

    def go(source, **limits):
        answers = {
            "dot_product": textwrap.dedent(source),
            "weighted_sum": "def weighted_sum(weights, V):\n    return weights @ V",
        }
        notebook = assemble(pristine, answers, TRUTHS, list(answers))
        return run(notebook, Limits(**{"seconds": 20.0, "cell_seconds": 2.0, **limits}))

    return go


def came(outcome, exercise):
    return [key for key in outcome.answers if key[0] == exercise]


def test_answers_come_back_one_per_case(run_answer):
    outcome = run_answer("def dot_product(q, k):\n    print('noise')\n    return (q * k).sum()")
    assert len(came(outcome, "dot_product")) == len(TRUTHS["dot_product"])
    assert len(came(outcome, "weighted_sum")) == len(TRUTHS["weighted_sum"])
    assert outcome.stopped == ""
    assert not outcome.forged
    assert {a.kind for k, a in outcome.answers.items() if k[0] == "dot_product"} == {"number"}


def test_the_notebook_in_the_kernel_holds_no_expected_value_and_no_reference(pristine):
    notebook = assemble(pristine, {"dot_product": "x"}, TRUTHS, ["dot_product"])
    text = str(notebook)
    assert "expected" not in text
    assert "reference" not in text
    checks = [c for c in notebook.cells if c.metadata.sdpa.role == "check"]
    assert len(checks) == len(TRUTHS["dot_product"])
    assert all(set(json.loads(c.source)) == {"function", "inputs", "watched"} for c in checks)


def test_the_kernel_finds_no_definitions_and_no_notebook(run_answer):
    outcome = run_answer("""
        import os, pathlib, importlib.util
        found = [n for n in ("dot_product", "judge", "diagnose", "definition")
                 if importlib.util.find_spec(f"sdpa_helpers.lessons.{n}").origin]
        here = [p.name for folder in (".", "..") for p in pathlib.Path(folder).iterdir()]
        assert not found and "submission.ipynb" not in here, (found, here)
        assert not any("SDPA" in name for name in os.environ)
        def dot_product(q, k):
            return 1.0
    """)
    assert outcome.cell_errors == {}
    assert len(came(outcome, "dot_product")) == len(TRUTHS["dot_product"])


def test_a_syntax_error_stops_only_its_own_exercise(run_answer):
    outcome = run_answer("def dot_product(q, k)\n    return 1")
    assert outcome.cell_errors["dot_product"].startswith("SyntaxError")
    assert len(came(outcome, "weighted_sum")) == len(TRUTHS["weighted_sum"])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "kernel-died"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "kernel-died"),
        ("[print('x' * 100_000) for _ in range(500)]", "output-limit"),
        ("[print(i, flush=True) for i in range(3_000)]", "output-limit"),
        ("display({'a/b': json.loads('[' * 900 + ']' * 900)}, raw=True)", "malformed-message"),
        ("get_ipython().kernel.writer.connection.sendall(bytes(4))", "malformed-message"),
    ],
)
def test_what_ends_a_run_is_named_with_its_exercise(run_answer, body, why):
    outcome = run_answer(f"import json\ndef dot_product(q, k):\n    {body}", messages=1000)
    assert set(outcome.malformed) == ({"dot_product"} if why == "malformed-message" else set())
    assert (outcome.stopped, outcome.stopped_in) == (why, "dot_product")
    assert came(outcome, "weighted_sum") == []


def test_a_loop_in_the_answer_cell_itself_is_a_timeout(run_answer):
    outcome = run_answer("while True:\n    pass")
    assert (outcome.stopped, outcome.stopped_in) == ("timeout", "dot_product")


NOTHING = repr(pack_answer(Answer("none")))
SHOWN = f"""
    from IPython.display import display
    def dot_product(q, k):
        display({{{RESULT!r}: {{"answer": {NOTHING}, "held": 0}}}}, raw=True)
        return 1.0
"""


def test_a_result_that_a_notebook_displays_spoils_its_case(run_answer):
    outcome = run_answer(SHOWN)
    assert set(outcome.forged) == {("dot_product", t.case.name) for t in TRUTHS["dot_product"]}
    assert (came(outcome, "dot_product"), outcome.stopped) == ([], "")
    assert len(came(outcome, "weighted_sum")) == len(TRUTHS["weighted_sum"])


MADE_UP = """
    import json, struct
    def dot_product(q, k):
        {}
        get_ipython().kernel.writer.connection.sendall(struct.pack(">I", len(made_up)) + made_up)
        return 1.0
"""


@pytest.mark.parametrize(
    "made_up",
    [
        'made_up = b"D" + bytes(16)',
        'made_up = b"D" + bytes(16) + b\'{"kind": "none"}\'',
        'made_up = b"N" + bytes(16) + b"0"',
        'made_up = json.dumps({"asked": get_ipython().kernel.asked, "kind": "done", "content": {}}).encode()',
    ],
    ids=["done", "a result", "a note", "done as it was"],
)
def test_a_message_of_the_kernels_own_that_is_made_up_ends_the_run(run_answer, made_up):
    outcome = run_answer(MADE_UP.format(made_up))
    assert list(outcome.forged) == [("dot_product", TRUTHS["dot_product"][0].case.name)]
    assert (outcome.stopped, outcome.stopped_in) == ("forged-output", "dot_product")
    assert outcome.answers == {}


def test_memory_is_limited(run_answer):
    outcome = run_answer("def dot_product(q, k):\n    return np.ones((60_000, 60_000)).sum()", memory_mb=2048)
    errors = {a.error for key, a in outcome.answers.items() if key[0] == "dot_product"}
    assert errors == {"_ArrayMemoryError"} or errors == {"MemoryError"}
    assert len(came(outcome, "weighted_sum")) == len(TRUTHS["weighted_sum"])


def test_comments_that_steer_nbval_have_no_effect(run_answer):
    outcome = run_answer("#NBVAL_SKIP\n# NBVAL_RAISES_EXCEPTION\ndef dot_product(q, k):\n    return 1.0")
    assert len(came(outcome, "dot_product")) == len(TRUTHS["dot_product"])


SWAPPED = """
    import base64, sys
    def swapped(answer, before):
        zeros = base64.b64encode(bytes({size})).decode()
        large = {{"dtype": "float64", "shape": [{size} // 8], "data": zeros}}
        return before(answer) | {{"kind": "array", "array": large, "items": []}}
    def dot_product(q, k):
        caller = sys._getframe()
        while caller.f_code.co_name != "answer":
            caller = caller.f_back
        names = caller.f_globals
        before = names.setdefault("before", names["pack_answer"])
        names["pack_answer"] = lambda answer: swapped(answer, before)
        return 1.0
"""
"""Spoils what packs answers, in the observer's own frame."""


@pytest.mark.parametrize(("size", "why"), [(1 << 18, ""), (2 << 20, ""), (4 << 20, "output-limit")])
def test_an_answer_has_a_budget(run_answer, size, why):
    outcome = run_answer(SWAPPED.format(size=size))
    assert (outcome.stopped, outcome.malformed) == (why, {})
    assert sum(bytes_of(answer) for answer in outcome.answers.values()) <= len(outcome.answers) << 20
    kept = size <= 1 << 20
    assert bool(came(outcome, "dot_product")) == kept
    assert bool(outcome.forged) == (not kept and not why)
    assert outcome.noticed == {"dot_product": ("looked at the interpreter's frames",)}


def test_all_answers_of_an_exercise_have_one(run_answer, monkeypatch):
    monkeypatch.setattr(run_module, "MAX_EXERCISE_BYTES", 2 << 20)
    outcome = run_answer(SWAPPED.format(size=1 << 20))
    assert (outcome.stopped, outcome.stopped_in) == ("output-limit", "dot_product")
    assert len(came(outcome, "dot_product")) == 2


def test_what_the_grader_has_no_memory_for_is_too_much(run_answer, monkeypatch):
    def without_memory(sent):
        raise MemoryError

    monkeypatch.setattr(run_module, "_read", without_memory)
    outcome = run_answer("def dot_product(q, k):\n    return 1.0")
    assert (outcome.stopped, outcome.malformed) == ("output-limit", {})
