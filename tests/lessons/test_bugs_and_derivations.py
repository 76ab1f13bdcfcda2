"""Code with a bug, found and mended; derivations, line by line. What every exercise is held to is tested elsewhere."""

import inspect
import json
import re
from fractions import Fraction

import numpy as np
import pytest

from sdpa_helpers.checking.card.render import card, report_text
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.exercise import Misses
from sdpa_helpers.checking.judging.as_it_came import CHANGED, SEEN
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.checking.kinds.formula import HIGHEST, read, same
from sdpa_helpers.course.content import PageError
from sdpa_helpers.course.derivation_page import steps_of
from sdpa_helpers.course.exercise_notebook import answer_cell, exercise_notebook
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of, find
from sdpa_helpers.desk.copy_text import as_saved, has_answers
from sdpa_helpers.lessons.flash_attention.exercises.merge_proof import DERIVATION as MERGE
from sdpa_helpers.lessons.gradients.exercises.score_gradient_proof import DERIVATION as SCORE_GRADIENT
from sdpa_helpers.lessons.variance_proof.exercises.covariance_proof import DERIVATION as COVARIANCE

MENDS = [e for e in all_exercises().values() if e.whole]
EVERY_MEND = pytest.mark.parametrize("mend", MENDS, ids=lambda e: e.name)

BUGS = {
    "softmax": "max-over-last-axis",
    "softmax_backward": "mean-not-sum",
    "attention_backward": "scale-missing-in-queries",
    "masked_softmax": "hidden-key-sets-the-maximum",
    "chunked_attention": "sum-not-rescaled",
    "tiled_attention": "tile-on-the-diagonal-skipped",
    "multi_head_attention": "heads-joined-by-reshape",
}
"""The exercise → its wrong answer that is the bug."""


def original(exercise):
    return find(exercise.name.partition("_")[2])


# ---- mend ---------------------------------------------------------------------------------------------------


def test_each_bug_is_found_before_it_is_mended():
    assert [e.name for e in MENDS] == [f"mend_{name}" for name in BUGS]
    for mend in MENDS:
        names = [e.name for e in exercises_of(mend.lesson)]
        assert names[names.index(mend.name) - 1] == f"hunt_{original(mend).name}"
        assert names.index(original(mend).name) < names.index(mend.name)


@EVERY_MEND
def test_the_bug_is_a_wrong_answer_of_the_bank(mend):
    assert {m.name for m in try_out(original(mend), mend.starter).mistakes} == {BUGS[original(mend).name]}


@EVERY_MEND
def test_it_is_tried_with_the_cases_of_the_exercise_it_comes_from(mend):
    theirs = original(mend)
    assert [(c.name, c.make) for c in mend.cases] == [(c.name, c.make) for c in theirs.cases]
    assert (mend.wrong, mend.also_right, mend.mistakes) == (theirs.wrong, theirs.also_right, theirs.mistakes)
    assert mend.whole
    assert not try_out(theirs, mend.starter).passed


@EVERY_MEND
def test_code_that_is_as_it_came_is_not_attempted_and_hears_nothing_of_its_bug(mend):
    bug = next(w for w in mend.wrong if w.name == BUGS[original(mend).name])
    result = try_out(mend, mend.starter)
    assert (result.attempted, result.points, result.mistakes) == (False, 0, ())
    assert {(c.verdict.status, c.diagnosis) for c in result.cases} == {("not-attempted", "as-it-came")}
    text = report_text(result)
    assert f"{SEEN[1:]}." in text
    assert bug.says[:40] not in text + card(result)
    assert "Change the code in the cell above" in text
    assert "Change the code in the cell above" in card(result)


def test_a_change_that_alters_no_result_hears_so():
    mend = find("mend_softmax")

    def mend_softmax(x, axis=-1):
        return mend.starter(x, axis)

    result = try_out(mend, mend_softmax)
    assert {c.means for c in result.cases} == {CHANGED}
    assert CHANGED in report_text(result)
    assert "changed, and not mended yet" in report_text(result)
    assert CHANGED not in report_text(try_out(mend, mend.starter))


@EVERY_MEND
def test_its_cell_holds_the_code_that_the_prompt_before_it_shows(mend):
    cell = answer_cell(mend)
    assert cell.startswith(f"# exercise: {mend.name}\ndef {mend.name}(")
    hunt = find(mend.name.replace("mend", "hunt"))
    shown = [
        line.lstrip("0123456789 ")
        for line in hunt.prompt.partition("```python\n")[2].split("\n```")[0].split("\n")
    ]
    assert [line.strip() for line in cell.split("\n")[2:]] == shown[1:]
    assert shown[0] == cell.split("\n")[1].replace(mend.name, original(mend).name)
    scope = {"np": np}
    exec(cell, scope)
    assert not try_out(mend, scope[mend.name]).attempted


def test_a_mend_that_breaks_something_earns_nothing():
    mend = find("mend_softmax")

    def only_columns(x, axis=-1):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True) if np.abs(x).max() < 100 else e

    result = try_out(mend, only_columns)
    assert sum(c.verdict.passed for c in result.cases) > len(mend.cases) / 2
    assert (result.attempted, result.points) == (True, 0)
    assert "The points come when every case passes" in report_text(result)
    assert "The points come when every case passes" in card(result)
    assert "every case passes" not in report_text(try_out(mend, mend.reference))
    assert try_out(mend, original(mend).reference).points == mend.max_points


def test_another_bug_in_its_place_is_named_and_earns_nothing():
    mend = find("mend_softmax")
    wrong = next(w for w in mend.wrong if w.name == "mean-subtracted")
    result = try_out(mend, wrong.function)
    assert ([m.name for m in result.mistakes], result.points) == (["mean-subtracted"], 0)


def test_a_copy_with_code_in_it_is_answered_only_once_that_is_changed():
    """Else a new edition would lie beside it, not in its place."""
    begun = {lesson: json.loads(as_saved(exercise_notebook(lesson))) for lesson in LESSONS}
    assert not [lesson for lesson, notebook in begun.items() if has_answers(notebook)]
    for exercise in (e for e in all_exercises().values() if e.starter):
        notebook = json.loads(as_saved(exercise_notebook(exercise.lesson)))
        cell = next(c for c in notebook["cells"] if c["id"] == f"{exercise.name.replace('_', '-')}-answer")
        cell["source"] += "\n# mine"
        assert has_answers(notebook), exercise.name


# ---- hunt ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line", "inputs"),
    [
        ("softmax", 3, (np.array([[0.0, 1.0], [800.0, 0.0]]), 0)),
        ("softmax_backward", 4, (np.array([[1.0, 0.0]]), np.array([[3.0, 0.0]]))),
        ("attention_backward", 9, (np.zeros((1, 4)), np.eye(4), np.eye(4), np.ones((1, 4)) * [1, 0, 0, 0])),
        ("masked_softmax", 3, (np.array([[1.0, 900.0]]), np.array([[True, False]]))),
        ("chunked_attention", 11, (np.ones((1, 1)), np.array([[0.0], [2.0]]), np.array([[1.0], [0.0]]), 1)),
        ("chunked_attention", 12, (np.ones((1, 1)), np.array([[0.0], [2.0]]), np.array([[1.0], [0.0]]), 1)),
        ("tiled_attention", 9, (np.zeros((3, 1)), np.zeros((3, 1)), np.eye(3), 3, 1, True)),
    ],
)
def test_what_is_found_by_hand_is_accepted(name, line, inputs):
    hunt, mend = find(f"hunt_{name}"), find(f"mend_{name}")
    assert try_out(hunt, lambda: (line, inputs)).points == hunt.max_points
    assert mend.starter is not mend.reference
    given = [[np.array(x) if isinstance(x, np.ndarray) else x for x in inputs] for _ in range(2)]
    with np.errstate(all="ignore"):
        ours, right = mend.starter(*given[0]), mend.reference(*given[1])
    first = (ours[0], right[0]) if isinstance(ours, tuple) else (ours, right)
    assert not np.allclose(*first)


@pytest.mark.parametrize("name", BUGS)
def test_the_line_and_the_input_are_worth_half_each(name):
    hunt = find(f"hunt_{name}")
    line, inputs = hunt.reference()
    half = hunt.max_points / 2
    assert [case.points for case in hunt.cases] == [half, 0, half]
    assert try_out(hunt, lambda: (2, inputs)).points == half
    assert try_out(hunt, lambda: (line, ())).points == half
    assert try_out(hunt, lambda: (99, ())).points == 0
    lines = inspect.getsource(find(f"mend_{name}").starter).rstrip().split("\n")
    mended = inspect.getsource(find(f"mend_{name}").reference).rstrip().split("\n")
    assert lines[line - 1] not in mended


def test_an_input_on_which_nothing_shows_is_shown_what_comes_back():
    same = report_text(try_out(find("hunt_softmax"), lambda: (3, (np.zeros((2, 2)),))))
    assert "the code is right on this input (both return [[0.5, 0.5], [0.5, 0.5]])" in same


HOSTILE = [
    (np.zeros((0, 20_000)), np.zeros((20_000, 0))),
    (np.zeros((1, 1, 1, 1, 1)), 0),
    (np.array([np.nan, 1.0]), 0),
    (np.array([np.inf, 1.0]), 0),
    (np.ones(101), 0),
    ([[1.0], [1.0, 2.0]], 0),
    (["a"], 0),
    ([[]], 0),
    (np.ones((2, 2)), 10**18),
    (np.ones((2, 2)), True),
    (np.ones((2, 2)), 0.5),
    (np.ones((2, 2)), None),
    (None, None),
    (np.ones((2, 2)), np.ones((2, 2))),
    (np.array([[True]]), 0),
    ((),),
    (1, 2, 3, 4, 5),
]


@pytest.mark.parametrize("name", ["softmax", "masked_softmax", "chunked_attention"])
def test_any_other_input_is_refused_in_words(name):
    hunt = find(f"hunt_{name}")
    for inputs in HOSTILE:
        result = try_out(hunt, lambda inputs=inputs: (hunt.reference()[0], inputs))
        assert result.points == hunt.cases[0].points, inputs
        assert {m.name for m in result.mistakes} <= {"not-an-input", "does-not-show", "too-large"}, (
            inputs,
            report_text(result),
        )
    for value in (3, (3,), (3, 4), ("3", (1,)), (True, (1,)), [[3], [1]], (3, {"a": 1}), ((3, ()), ())):
        assert try_out(hunt, lambda value=value: value).points <= hunt.cases[0].points * (value == (3, ())), (
            value
        )


def test_a_hunt_takes_only_what_the_prompt_promises():
    weights, none, grad = np.array([[0.5, 0.9]]), np.zeros((1, 2)), np.array([[1.0, 3.0]])
    for name, inputs in {
        "softmax_backward": (weights, grad),
        "softmax": (np.array([[1.0, np.nan], [3.0, 1.0]]), 0),
    }.items():
        hunt = find(f"hunt_{name}")
        result = try_out(hunt, lambda hunt=hunt, inputs=inputs: (hunt.reference()[0], inputs))
        assert [m.name for m in result.mistakes] == ["not-an-input"]
    masked = try_out(find("hunt_softmax_backward"), lambda: (4, (none, grad)))
    assert [m.name for m in masked.mistakes] == ["does-not-show"]


def test_an_input_that_is_only_too_large_is_told_so():
    """It is one that the function has to answer: what is wrong is its size alone."""
    x, projections = np.ones((5, 16)), [np.eye(16)] * 4
    result = try_out(find("hunt_multi_head_attention"), lambda: (11, (x, *projections, 2)))
    assert [mistake.name for mistake in result.mistakes] == ["too-large"]
    assert result.cases[1].verdict.seen == "at most 100 numbers are allowed; your input has 1105"
    assert "none that" not in report_text(result)


# ---- derive -------------------------------------------------------------------------------------------------

DERIVATIONS = {"score_gradient_proof": SCORE_GRADIENT, "covariance_proof": COVARIANCE, "merge_proof": MERGE}
EVERY_LINE = [
    (name, n) for name, derivation in DERIVATIONS.items() for n in range(1, len(derivation.steps) + 1)
]


def drawn(name, seed, number=1):
    """The points that a seed draws for a line."""
    return truths(find(name), seed)[number - 1].drawn


def missed(name, number, text):
    """What is said of one line; () of a right one."""
    try:
        DERIVATIONS[name].check_step(number, text, *drawn(name, PUBLIC_SEED, number))
    except Misses as misses:
        return misses.fault, misses.seen, misses.compare
    return ()


@pytest.mark.parametrize(("name", "number"), EVERY_LINE)
def test_every_slip_is_named_and_refuted_by_numbers(name, number):
    for slip in DERIVATIONS[name].steps[number - 1].slips:
        fault, seen, compare = missed(name, number, slip.text)
        assert f"ine {number}" in slip.says
        if slip.name == "average-written-out":  # which is true, and not what the line asks for
            assert (fault, seen, compare) == (slip.name, "D is not in this line", "")
            continue
        assert (fault, seen) == (slip.name, "this line is not right")
        assert "yours gives" in compare


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("score_gradient_proof", 1, "a₁ − a₁²"),
        ("score_gradient_proof", 1, "a1*(1-a1)"),
        ("score_gradient_proof", 1, "a_1 (a_2 + a_3)"),
        ("score_gradient_proof", 2, "− a₁ · a₂"),
        ("score_gradient_proof", 3, "a1 g1 - a1 (a1 g1 + a2 g2 + a3 g3)"),
        ("score_gradient_proof", 4, "g₁a₁ + g₂a₂ + g₃a₃"),
        ("score_gradient_proof", 5, "a1g1 - a1D"),
        ("score_gradient_proof", 5, r"\frac{g1 - D}{1/a1}"),
        ("score_gradient_proof", 5, "(g1 - D)(1/a1)^-1"),
        ("score_gradient_proof", 6, "c dS₁ k₁ + c dS₂ k₂ + c dS₃ k₃"),
        ("score_gradient_proof", 7, "c a1 (g1 - D) q"),
        ("covariance_proof", 1, "μ_q^2 + c_q"),
        ("covariance_proof", 2, "c_q c_k + c_q m_k² + c_k m_q² + m_q² m_k²"),
        ("covariance_proof", 4, "(c_q + m_q**2)*(c_k + m_k**2) - m_q**2*m_k**2"),
        ("covariance_proof", 7, "d v_q v_k + (d² − d) c_q c_k"),
        ("merge_proof", 1, "l_A·f_A"),
        ("merge_proof", 4, "(fA lA oA + fB lB oB)/(lA fA + lB fB)"),
        ("merge_proof", 6, "o_B + a (o_A − o_B)/(a + b)"),
        ("merge_proof", 7, "((a + b) (a o_A + b o_B)/(a + b) + c o_C)/(a + b + c)"),
    ],
)
def test_a_right_line_may_have_any_form(name, number, text):
    assert missed(name, number, text) == ()


@pytest.mark.parametrize(
    ("name", "number", "text", "fault", "says"),
    [
        ("score_gradient_proof", 1, "a1 + 1", "differs", "at a1 = 0.5: yours gives 1.5, it is 0.25"),
        ("score_gradient_proof", 3, "7", "differs", "yours gives 7, it is 0.05"),
        ("score_gradient_proof", 4, "D", "unreadable", "'d' does not belong here"),
        ("score_gradient_proof", 5, "dS1", "unreadable", "does not belong here"),
        ("score_gradient_proof", 5, "a1 g1/(D - D)", "differs", "yours gives a division by 0, it is 0.05"),
        ("score_gradient_proof", 1, "", "step-open", ""),
        ("score_gradient_proof", 1, None, "unreadable", "in quotes"),
        ("score_gradient_proof", 1, True, "unreadable", "in quotes"),
        ("score_gradient_proof", 1, np.ones(3), "unreadable", "in quotes"),
        ("score_gradient_proof", 2, 0, "weights-taken-as-independent", "yours gives 0, it is −0.15"),
        ("score_gradient_proof", 2, float("nan"), "unreadable", "'nan' does not belong"),
        ("covariance_proof", 4, "d", "unreadable", "'d' does not belong"),
        ("covariance_proof", 4, "10^12^12", "unreadable", "whole number"),
        ("covariance_proof", 4, "1/(0." + "0" * 180 + "1)^11", "differs", "yours gives more than 10¹⁵"),
    ],
)
def test_what_is_said_of_any_other_line(name, number, text, fault, says):
    found, _, compare = missed(name, number, text)
    assert found == fault
    assert says in compare


@pytest.mark.parametrize("name", DERIVATIONS)
def test_points_fit_what_is_derived_from_them(name):
    assert len(drawn(name, "another")) > HIGHEST
    for point in (*DERIVATIONS[name].shown, *drawn(name, PUBLIC_SEED)):
        assert set(point) == set(DERIVATIONS[name].names.spellings)
        if name == "score_gradient_proof":
            assert sum(point[f"a{i}"] for i in (1, 2, 3)) == 1
            assert sum(point[f"dS{i}"] for i in (1, 2, 3)) == 0


@pytest.mark.parametrize(("name", "number"), EVERY_LINE)
def test_a_line_that_is_right_at_points_that_are_known_earns_nothing_under_any_other_seed(name, number):
    derivation, lines = DERIVATIONS[name], list(find(name).reference())
    used = derivation.steps[number - 1].names[0]
    known = (*derivation.shown, *drawn(name, PUBLIC_SEED, number))
    aimed = [f"({used} - {point[used]})" for point in known[:6]]
    line = lines[number - 1] = f"{lines[number - 1]} + {' '.join(aimed)}".replace("- -", "+ ")
    right = read(derivation.steps[number - 1].right, derivation.names)
    assert same(read(line, derivation.names), right, known[:6])
    for seed in (PUBLIC_SEED, "another"):
        verdict = try_out(find(name), lambda: tuple(lines), seed).cases[number - 1].verdict
        assert (verdict.fault, verdict.points) == ("differs", 0)


def numbers_of(derivation, names):
    """The right lines at a point."""
    point = {name: Fraction(float(number)) for name, number in names.items()}
    return [float(read(step.right, derivation.names).at(point)) for step in derivation.steps]


def test_the_score_gradient_is_what_differences_say():
    """The right lines at one point, against the loss itself moved up and down."""
    rng = np.random.default_rng(4)
    q, keys, g, c = rng.normal(), rng.normal(size=3), rng.normal(size=3), 0.5

    def weights(s):
        return np.exp(s) / np.exp(s).sum()

    def loss(s):
        return g @ weights(s)

    s, step = c * q * keys, 1e-6
    move = np.eye(3) * step
    numeric = [(loss(s + m) - loss(s - m)) / (2 * step) for m in move]
    a = weights(s)
    names = {f"a{i + 1}": a[i] for i in range(3)} | {f"g{i + 1}": g[i] for i in range(3)}
    names |= {f"k{i + 1}": keys[i] for i in range(3)} | {"c": c, "q": q, "D": a @ g}
    names |= {f"dS{i + 1}": numeric[i] for i in range(3)}
    value = numbers_of(SCORE_GRADIENT, names)
    slope = [(weights(s + move[0])[i] - weights(s - move[0])[i]) / (2 * step) for i in (0, 1)]
    by_q = (loss(c * (q + step) * keys) - loss(c * (q - step) * keys)) / (2 * step)
    first = np.array([1, 0, 0])
    by_k = (loss(c * q * (keys + step * first)) - loss(c * q * (keys - step * first))) / (2 * step)
    assert np.allclose(value, [*slope, numeric[0], a @ g, numeric[0], by_q, by_k], atol=1e-8)


def test_the_covariance_is_what_moments_say():
    """Counted over a small distribution: three coins, of which the coordinates share one."""
    values = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    q, k = values[:, :2] + values[:, 2:] + 2, 0.5 * (values[:, :2] - 2 * values[:, 2:]) - 1
    products = np.array([a * b for a in q for b in k])
    m_q, m_k, v_q, v_k = q.mean(), k.mean(), q[:, 0].var(), k[:, 0].var()
    c_q, c_k = (np.cov(x.T, ddof=0)[0, 1] for x in (q, k))
    names = {"m_q": m_q, "v_q": v_q, "c_q": c_q, "m_k": m_k, "v_k": v_k, "c_k": c_k, "d": 2}
    value = numbers_of(COVARIANCE, names)
    both = products.prod(axis=1).mean()
    counted = [(q[:, 0] * q[:, 1]).mean(), both, products[:, 0].mean() ** 2, np.cov(products.T, ddof=0)[0, 1]]
    assert np.allclose(value[:4], counted)
    centred = np.array([(a - m_q) @ (b - m_k) for a in q for b in k])
    assert np.isclose(value[6], centred.var())


def test_lines_of_another_number_are_no_answer():
    exercise = find("score_gradient_proof")
    for value in ("a1", ("a1",) * 6, {"a": 1}, [["a1"] * 7], 3):
        result = try_out(exercise, lambda value=value: value)
        assert result.points == 0
        assert all(c.message for c in result.cases)
    assert try_out(exercise, lambda: list(exercise.reference())).passed


@pytest.mark.parametrize("name", DERIVATIONS)
def test_lines_that_are_still_empty_are_not_attempted(name):
    exercise = find(name)
    result = try_out(exercise, exercise.starter)
    assert (result.attempted, result.points) == (False, 0)
    assert "Write your answer in the cell above" in report_text(result)
    assert SEEN[1:] not in report_text(result)
    first = (exercise.reference()[0], *[""] * (len(exercise.cases) - 1))
    result = try_out(exercise, lambda: first)
    assert (result.attempted, result.points) == (True, exercise.cases[0].points)
    assert "this line is still empty" in report_text(result)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("## a + b\n\nThe sum.\n", "line 5: what is right is expected first"),
        ("## a + b\n\n`a + b` in a b\n\n- forgotten\n", "line 7: a slip is written as"),
    ],
)
def test_the_page_of_a_derivation_names_the_line_that_is_wrong(page, says, tmp_path, monkeypatch):
    (tmp_path / "sum_proof.md").write_text(f"# Lines\n\n{page}", encoding="utf-8")
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    with pytest.raises(PageError, match=re.escape(says)):
        steps_of("02_variance_proof", "sum_proof")
