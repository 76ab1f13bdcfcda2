"""When a mistake is named and when not: refutation, evidence, forms, products, clues."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.code.clues import Clue, clues
from sdpa_helpers.checking.code.edits import Edit, EditableAnswer, Pairs
from sdpa_helpers.checking.diagnose import Result, try_out
from sdpa_helpers.checking.exercise import Case, Exercise, WrongAnswer
from sdpa_helpers.checking.pages.standard_cases import one_of_each
from sdpa_helpers.course.registry import find
from tests.checking import made_up
from tests.checking.made_up import asking


def scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def _draw(rng, n_q=3, n_k=5, d_k=4, batch=0):
    lead = (batch,) if batch else ()
    return rng.normal(size=(*lead, n_q, d_k)), rng.normal(size=(*lead, n_k, d_k))


SPACE = Pairs(
    EditableAnswer("scores", inspect.getsource(scores), {"np": np}),
    (
        ("no-scaling", (Edit(" / np.sqrt(Q.shape[-1])", ""),)),
        ("by-n_k", (Edit("np.sqrt(Q.shape[-1])", "np.sqrt(K.shape[-2])"),)),
        ("negative", (Edit("return Q", "return -Q"),)),
    ),
)
OF_SPACE = (
    WrongAnswer(
        "by-n_k", lambda Q, K: Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2]), "Of the number of keys."
    ),
    WrongAnswer("negative", lambda Q, K: -scores(Q, K), "The sign is turned."),
)


def exercise(mistakes=None, **changes) -> Exercise:
    cases = (
        Case("matrices", _draw),
        Case("square", lambda rng: _draw(rng, 4, 4, 4)),
        *one_of_each(_draw, only=("n_q",), n_q=3, n_k=5, d_k=4),
        Case("a batch", lambda rng: _draw(rng, batch=2)),
    )
    wrong = (
        WrongAnswer("no-scaling", lambda Q, K: Q @ np.swapaxes(K, -1, -2), "Not divided by √d_k."),
        WrongAnswer(
            "all-axes-transposed", lambda Q, K: Q @ K.T / 2, "`.T` turns all axes.", clue="transpose-all"
        ),
        WrongAnswer("mean", lambda Q, K: scores(Q, K) * 0 + Q.mean(), "The mean."),
        *(OF_SPACE if mistakes else ()),
    )
    return asking(scores, *cases, **({"name": "scores", "wrong": wrong, "mistakes": mistakes} | changes))


def names(result: Result) -> tuple[str, ...]:
    return tuple(m.name for m in result.mistakes)


def written(source: str):
    return made_up.written(source, "scores")


def test_a_known_mistake_is_named_for_every_case_that_it_explains():
    result = try_out(exercise(), lambda Q, K: Q @ np.swapaxes(K, -1, -2))
    assert names(result) == ("no-scaling",)
    assert result.mistakes[0].cases == ("matrices", "square", "one query", "a batch")


def test_a_case_that_failed_otherwise_refutes_a_mistake_and_one_that_passed_does_not():
    def right_for_one_query(Q, K):
        return scores(Q, K) if Q.shape[-2] == 1 else Q @ np.swapaxes(K, -1, -2)

    def otherwise_for_one_query(Q, K):
        return np.cos(Q @ np.swapaxes(K, -1, -2)) if Q.shape[-2] == 1 else Q @ np.swapaxes(K, -1, -2)

    assert names(try_out(exercise(), right_for_one_query)) == ("no-scaling",)
    assert names(try_out(exercise(), otherwise_for_one_query)) == ()


def test_equal_errors_are_no_evidence_and_what_is_said_instead_is_true():
    def two_loops(Q, K):
        return scores(Q, K) if Q.ndim == 2 else np.linalg.inv(Q)

    assert names(try_out(exercise(), two_loops)) == ("two-axes-only",)
    assert names(try_out(exercise(), lambda Q, K: [][0])) == ()


def test_the_source_supports_a_name_that_only_raises_errors():
    answer = written("# exercise: scores\ndef scores(Q, K):\n    turned = K.T\n    return Q @ turned / 2\n")
    result = try_out(exercise(), answer)
    assert names(result) == ("all-axes-transposed",)
    assert result.mistakes[0].line == "line 3: `turned = K.T`"
    verdict = result.cases[-1].verdict
    assert verdict.status == "error"
    assert "`Q` has shape (2, 3, 4)" in verdict.seen
    assert "line 4: return" in verdict.seen  # lines are those of the cell, here and there


def test_an_error_says_what_swapping_the_last_two_axes_would_give():
    result = try_out(exercise(), written("def scores(Q, K):\n    return Q @ K.T / 2\n"))
    assert "`np.swapaxes(K, -1, -2)` has shape (2, 4, 5)" in result.cases[-1].verdict.seen


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (np.squeeze, "squeezed"),
        (lambda s: s[None], "extra-leading-axis"),
        (lambda s: np.swapaxes(s, -1, -2), "swapped-last-axes"),
        (lambda s: s.tolist(), "list-not-array"),
        (lambda s: (s, s), "tuple-not-array"),
    ],
)
def test_what_was_done_on_the_way_out_is_named_alone_and_on_top_of_a_mistake(change, expected):
    assert names(try_out(exercise(), lambda Q, K: change(scores(Q, K)))) == (expected,)
    both = names(try_out(exercise(), lambda Q, K: change(Q @ np.swapaxes(K, -1, -2))))
    assert both == ("no-scaling", expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s.astype(np.float32).astype(float), "float32-somewhere"),
        (lambda s: s.astype(np.float16).astype(float), "half-precision-somewhere"),
        (lambda s: np.round(s, 3), "rounded"),
        (lambda s: np.round(s, 6), "rounded"),
    ],
)
def test_lost_digits_are_named(change, expected):
    assert names(try_out(exercise(), lambda Q, K: change(scores(Q, K)))) == (expected,)


def test_a_wrong_kind_inside_a_tuple_says_which_part_it_is():
    asked = replace(exercise(wrong=()), reference=lambda Q, K: (scores(Q, K), Q * 1.0))
    one = try_out(asked, lambda Q, K: (scores(Q, K).tolist(), Q * 1.0))
    both = try_out(asked, lambda Q, K: (scores(Q, K).tolist(), Q.tolist()))
    assert "As part 0 of your tuple you return a list; return a NumPy array" in one.mistakes[0].says
    assert "As each part of your tuple you return a list" in both.mistakes[0].says


def test_errors_elsewhere_do_not_hide_that_a_list_comes_back():
    result = try_out(exercise(), lambda Q, K: [[float(q @ k / len(q) ** 0.5) for k in K] for q in Q])
    assert {m.name: m.cases for m in result.mistakes} == {
        "two-axes-only": tuple(c.verdict.case for c in result.cases if c.verdict.fault == "raised-error"),
        "list-not-array": tuple(c.verdict.case for c in result.cases if c.verdict.fault == "wrong-kind"),
    }


def test_numbers_in_place_of_booleans_are_named_with_what_else_is_wrong():
    above = asking(
        lambda x: x > 0,
        *(Case(name, lambda rng: (rng.normal(size=9),)) for name in ("one", "two")),
        wrong=(WrongAnswer("inverted", lambda x: x < 0, "The other way round."),),
    )
    assert names(try_out(above, lambda x: (x > 0).astype(int))) == ("numbers-not-booleans",)
    assert names(try_out(above, lambda x: (x < 0).astype(float))) == ("inverted", "numbers-not-booleans")
    assert names(try_out(above, lambda x: x)) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return scores(Q, K) if Q > 0 else Q", "truth-of-an-array"),
        ("return Q @ swapaxes(K, -1, -2)", "name-not-defined"),
        ("b, n, d = Q.shape; return right(Q, K)", "unpacks-a-shape"),
        ("return Q @ K.sum(dim=-1)", "no-such-argument"),
        ("return Q.masked_fill(Q > 0, 0)", "no-such-name-in-numpy"),
        ("return Q.shape / None", "none-for-a-value"),
        ("return 1 / int(0 * Q.size)", "divided-by-zero"),
        ("return Q[..., :0].max(axis=-1)", "largest-of-nothing"),
        ("return np.zeros(Q.size / 2)", "float-for-a-whole-number"),
    ],
)
def test_errors_that_explain_themselves(body, expected):
    answer = written(f"def scores(Q, K):\n    {body}\n")
    answer.__globals__["right"] = scores
    result = try_out(exercise(), answer)
    assert names(result) == (expected,)
    assert result.mistakes[0].line == f"line 2: `{body}`"


def test_a_signature_that_does_not_fit_is_named():
    assert names(try_out(exercise(), lambda Q: Q)) == ("arguments-do-not-fit",)


def test_a_helper_of_the_learners_that_does_not_fit_is_not_the_exercises_signature():
    answer = written("def helper(x, axis):\n    return x\n\ndef scores(Q, K):\n    return helper(Q)\n")
    assert names(try_out(exercise(), answer)) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for row in Q: total += row.sum()\n    return total", "no-first-value"),
        ("return Q @ K.transpose(0, 2, 1) / 2 if Q.ndim != 3 else right(Q, K)", "transpose-wants-all-axes"),
        ("return print(Q)", "returned-nothing"),
        ("if Q.ndim > 9: return Q", "returned-nothing"),
    ],
)
def test_what_beginners_meet(body, expected):
    answer = written(f"def scores(Q, K):\n    {body}\n")
    answer.__globals__["right"] = scores
    assert names(try_out(exercise(), answer)) == (expected,)


def test_an_error_of_the_learners_own_is_not_an_empty_answer():
    def unfinished(Q, K):
        if Q.ndim > 2:
            raise NotImplementedError("only matrices")
        return scores(Q, K)

    *_, last = try_out(exercise(), unfinished).cases
    assert last.verdict.status == "error"
    assert "only matrices" in last.verdict.seen


def test_another_order_of_arguments_or_parts_is_named():
    three = asking(
        lambda Q, K, V: (Q @ K @ V, Q - 2 * K + V),
        *(Case(name, lambda rng: tuple(rng.normal(size=(3, 2, 2)))) for name in ("one", "two")),
    )
    assert names(try_out(three, lambda Q, K, V: (Q @ V @ K, Q - 2 * V + K))) == (
        "arguments-in-another-order",
    )
    assert names(try_out(three, lambda Q, K, V: (Q - 2 * K + V, Q @ K @ V))) == ("parts-in-another-order",)


def test_the_sentence_is_that_of_the_form_that_was_found():
    (mistake,) = try_out(exercise(), lambda Q, K: np.round(scores(Q, K), 6)).mistakes
    assert "rounded to 6 decimals" in mistake.says


def test_a_name_of_a_dtype_that_is_compared_is_no_clue():
    assert clues("def f(dtype):\n    return 1 if dtype == 'float16' else 2\n", "f") == (Clue("read", ""),)
    assert {c.kind for c in clues("def f(x):\n    return x.astype('float16')\n", "f")} == {"read", "float16"}


def test_a_number_added_everywhere_is_no_rounding():
    result = try_out(exercise(), lambda Q, K: scores(Q, K) * (1 + 1e-7))
    assert names(result) == ()
    assert "right to about seven digits" in result.pattern


def test_writing_into_the_inputs_is_named_and_so_is_what_else_is_wrong():
    def in_place(Q, K):
        Q /= 2
        return Q @ np.swapaxes(K, -1, -2)

    result = try_out(exercise(), in_place)
    assert names(result) == ("changes-its-input",)
    assert result.mistakes[0].line.endswith("`Q /= 2`")


def test_nothing_returned_is_named():
    assert names(try_out(exercise(), lambda Q, K: None)) == ("returned-nothing",)


def test_two_deviations_are_two_mistakes_each_with_its_cases():
    result = try_out(exercise(SPACE), lambda Q, K: -Q @ np.swapaxes(K, -1, -2))
    assert names(result) == ("no-scaling", "negative")
    assert [m.says for m in result.mistakes] == ["Not divided by √d_k.", "The sign is turned."]
    by_keys = try_out(exercise(SPACE), lambda Q, K: Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2]))
    assert names(by_keys) == ("by-n_k",)
    assert by_keys.mistakes[0].cases == ("matrices", "one query", "a batch")  # the square hides it


def test_two_mistakes_in_different_cases_stand_side_by_side():
    def answer(Q, K):
        if Q.ndim > 2:
            return scores(Q, K) * 0 + Q.mean()
        return scores(Q, K) if Q.shape[-2] != 1 else Q @ np.swapaxes(K, -1, -2)

    listed = (
        WrongAnswer(
            "one", lambda Q, K: answer(Q, K) if Q.ndim > 2 else scores(Q, K), "Only batches are wrong."
        ),
        WrongAnswer(
            "other", lambda Q, K: answer(Q, K) if Q.ndim == 2 else scores(Q, K), "Only one query is."
        ),
    )
    result = try_out(exercise(wrong=listed), answer)
    assert [(m.name, m.cases) for m in result.mistakes] == [("one", ("a batch",)), ("other", ("one query",))]


def test_a_listed_mistake_that_returns_a_list_needs_no_second_name():
    listed = (
        WrongAnswer("in-rows", lambda Q, K: [row[..., None] for row in scores(Q, K)], "Join the rows."),
    )
    asked = exercise(wrong=listed)
    assert names(try_out(asked, listed[0].function)) == ("in-rows",)
    assert names(try_out(asked, lambda Q, K: scores(Q, K).tolist())) == ("list-not-array",)


def test_whole_numbers_and_floats_are_one_number():
    counts = asking(
        lambda n: n * n,
        *(Case(f"n is about {n}", lambda rng, n=n: (int(rng.integers(n, 2 * n)),)) for n in (10, 100)),
        wrong=(WrongAnswer("triangle", lambda n: n * (n + 1) // 2, "The lower triangle."),),
    )
    assert names(try_out(counts, lambda n: n * (n + 1) / 2)) == ("triangle",)


def positions(counts) -> Exercise:
    """Asks for what `counts` returns: ints."""
    return asking(counts, *(Case(f"{n} of them", lambda rng, n=n: (n,)) for n in (2, 3)))


@pytest.mark.parametrize(
    "counts", [np.arange, lambda n: np.eye(n, dtype=int), lambda n: (np.arange(n), np.arange(0)), lambda n: n]
)
def test_the_right_integers_as_floats_are_named_and_nothing_else(counts):
    def as_floats(n):
        found = counts(n)
        return tuple(1.0 * part for part in found) if isinstance(found, tuple) else 1.0 * found

    result = try_out(positions(counts), as_floats)
    assert names(result) == ("floats-not-integers",)
    assert result.mistakes[0].says.startswith("The numbers are right")


@pytest.mark.parametrize(("factor", "more"), [(1, ()), (2, ("twice",))])
def test_complex_numbers_are_named_as_such(factor, more):
    result = try_out(find("dot_product"), lambda q, k: complex(factor * (q @ k)))
    assert names(result) == (*more, "complex-not-real")


def test_a_number_of_extended_precision_is_one_number():
    assert try_out(find("dot_product"), lambda q, k: np.longdouble(q @ k)).passed


def test_an_empty_list_in_a_tuple_is_a_list_and_no_more():
    answer = positions(lambda n: (np.arange(n), np.arange(0)))
    assert names(try_out(answer, lambda n: (list(range(n)), []))) == ("list-not-array",)


def test_no_form_is_named_that_changes_nothing():
    unsigned = try_out(positions(np.arange), lambda n: np.arange(n).astype(np.uint8))
    assert not unsigned.passed
    assert names(unsigned) == ()


def test_generated_cases():
    sizes = {
        c.name: [x.shape for x in c.make(np.random.default_rng(0))] for c in one_of_each(_draw, n_q=3, d_k=4)
    }
    assert sizes == {"one query": [(1, 4), (5, 4)], "keys of length one": [(3, 1), (5, 1)]}
