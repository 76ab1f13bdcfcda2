"""What a verdict says of an answer: points, what was seen, conduct, and what is always true."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import describe, observe
from sdpa_helpers.checking.exercise import EXAMPLE, Case, Example, Exercise, Invariant
from sdpa_helpers.checking.judging.judge import Truth, Verdict, judge, truths, values_of
from tests.checking.made_up import asking


def doubled(x):
    return 2.0 * x


def exercise(reference=doubled, **changes) -> Exercise:
    """A small exercise with one case, or with what `changes` says."""
    case = Case("three numbers", lambda rng: (rng.uniform(1, 2, size=3),))
    return asking(reference, **({"name": "doubled", "cases": (case,)} | changes))


def verdict_on(made: Exercise, function) -> Verdict:
    (truth,) = truths(made, "a seed")
    return judge(made, truth, observe(function, truth.inputs))


def test_a_verdict_earns_all_points_or_none():
    assert verdict_on(exercise(), doubled) == Verdict("three numbers", "passed", 5.0, 5.0)
    wrong = verdict_on(exercise(), lambda x: 3 * x)
    assert (wrong.status, wrong.points, wrong.max_points, wrong.passed) == ("failed", 0.0, 5.0, False)
    assert (wrong.fault, wrong.case) == ("wrong-values", "three numbers")
    assert "1.5 times" in wrong.compare
    assert verdict_on(exercise(), lambda x: x.absent).status == "error"
    stub = verdict_on(exercise(), lambda x: NotImplemented)
    assert (stub.status, stub.fault, stub.points, stub.max_points) == (
        "not-attempted",
        "not-attempted",
        0.0,
        5.0,
    )
    assert "NotImplemented" in stub.seen


def test_what_is_seen_holds_nothing_of_the_expected_values():
    wrong = verdict_on(exercise(), lambda x: 0 * x)
    (truth,) = truths(exercise(), "a seed")
    largest = f"{np.abs(values_of(truth.expected)).max():.4g}"
    assert largest in wrong.compare
    assert largest not in wrong.seen.partition("off by")[0]


def two_cases(**changes) -> Exercise:
    """Two cases of three numbers each, which differ in whether they can be written."""
    cases = tuple(Case(name, lambda rng: (rng.uniform(1, 2, size=3),)) for name in ("one", "two"))
    return exercise(cases=cases, **changes)


def verdicts_on(made: Exercise, function) -> list[Verdict]:
    return [judge(made, t, observe(function, t.inputs, t.watch)) for t in truths(made, "a seed")]


def test_an_answer_that_changes_its_inputs_fails_everywhere():
    def in_place(x):
        x *= 2
        return x

    first, second = verdicts_on(two_cases(), in_place)
    assert (first.status, first.fault) == ("failed", "changed-input")
    assert (second.status, second.fault) == ("error", "raised-error")
    assert "read-only" in second.seen
    assert "argument 1" in first.seen


def test_an_answer_that_differs_from_call_to_call_fails():
    calls = []

    def moody(x):
        calls.append(x)
        return 2 * x + (len(calls) == 2)

    first, second = verdicts_on(two_cases(), moody)
    assert (first.fault, first.passed, second.passed) == ("differs-each-call", False, True)


def test_memory_is_counted_where_a_case_asks_for_it():
    case = Case("large", lambda rng: (rng.uniform(1, 2, size=10_000),), peak_bytes=200_000)
    made = exercise(cases=(case,))
    assert verdicts_on(made, doubled)[0].passed
    (greedy,) = verdicts_on(made, lambda x: np.stack([2 * x] * 10)[0])
    assert (greedy.fault, greedy.points) == ("too-much-memory", 0.0)
    assert "MB at once" in greedy.seen


def test_memory_that_was_never_written_holds_no_zeros():
    def unwritten(x):
        out = np.empty_like(x)
        return np.multiply(x, 2, out=out, where=x > 1.5)

    assert not verdict_on(exercise(), unwritten).passed


def test_the_examples_of_the_prompt_are_cases():
    examples = (Example(([1.0, 2.0],)), Example(([3.0],), keywords=(("by", 3.0),)))
    made = exercise(lambda x, by=2.0: by * x, examples=examples)
    assert [case.name for case in made.cases] == ["three numbers", f"{EXAMPLE} 1", f"{EXAMPLE} 2"]
    assert [case.points for case in made.cases] == [1.75, 1.75, 1.5]
    _, first, second = truths(made, "a seed")
    assert first.inputs[0].tolist() == [1.0, 2.0]
    assert second.inputs[1] == 3.0
    assert second.expected.array is not None
    assert second.expected.array.tolist() == [9.0]
    assert replace(made, title="again").cases == made.cases
    assert exercise(examples=examples[:1]).cases[-1].name == EXAMPLE


def even(name: str) -> Invariant:
    return Invariant(name, "…", lambda inputs, values: bool(np.allclose(np.asarray(values) % 2, 0)))


def whole_case(values) -> Case:
    return Case("whole", lambda rng: (np.array(values),))


def test_a_broken_invariant_is_named_only_where_the_values_alone_are_wrong():
    made = exercise(cases=(whole_case([1.0, 2.0]),), invariants=(even("even"), even("even too")))
    assert verdict_on(made, lambda x: 3 * x).broken == "even"
    assert verdict_on(made, lambda x: 4 * x).broken == ""  # wrong, and even
    assert verdict_on(made, lambda x: 3 * x[:1]).broken == ""
    assert verdict_on(made, doubled).broken == ""


def test_an_invariant_sees_a_tuple_only_when_every_part_has_its_shape():
    def positive(inputs, values):
        return all(part.min() > 0 for part in values)

    made = exercise(
        lambda x: (x, 2 * x), cases=(whole_case([1.0, 2.0]),), invariants=(Invariant("positive", "", positive),)
    )  # fmt: skip
    assert verdict_on(made, lambda x: (-x, 2 * x)).broken == "positive"
    assert verdict_on(made, lambda x: (-x, 2 * x[:1])).broken == ""
    assert verdict_on(made, lambda x: (-x, None)).broken == ""


def test_values_of():
    array = np.ones(2)
    assert values_of(describe(array)).tolist() == [1.0, 1.0]
    assert [part is None for part in values_of(describe((array, None)))] == [False, True]
    assert values_of(describe(None)) is None


@pytest.mark.parametrize("value", [None, [1.0], NotImplemented])
def test_a_reference_that_fails_is_the_authors_mistake(value):
    with pytest.raises(ValueError, match=r"reference of 'doubled'.*'three numbers'"):
        truths(exercise(lambda x: value), "a seed")


def test_inputs_are_fresh_each_time():
    (truth,) = truths(exercise(), "a seed")
    truth.inputs[0][:] = 0
    assert isinstance(truth, Truth)
    assert truth.inputs[0].min() >= 1
