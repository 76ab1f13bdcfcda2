"""A seal accepts what the checks accept, refuses what differs by more than a cell, and tells next to nothing."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers import sealed as sealed_module
from sdpa_helpers.checking.answers.observe import describe
from sdpa_helpers.checking.answers.sealed import SealedCase, seal
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.exercise import Case, Exercise, sealed_case
from sdpa_helpers.checking.judging.difference import tolerances
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.course.registry import find


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Seals that are quickly tried: what they accept does not depend on it."""
    monkeypatch.setattr(sealed_module, "WORK", 16)


def sealed(value, salt="a salt"):
    answer = describe(value)
    form = (answer.kind, answer.type_name, answer.array.dtype.name)
    return seal(form, answer.array, tolerances(answer.array), salt)


def arrays():
    rng = np.random.default_rng(7)
    for dtype in (np.float64, np.float32, np.float16):
        yield rng.normal(size=(3, 4)).astype(dtype)
        yield (rng.normal(size=40) * 10.0 ** rng.integers(-4, 4, size=40)).astype(dtype)
        yield np.zeros((2, 2), dtype=dtype)
        yield np.array(-2.5, dtype=dtype)
    yield rng.normal(size=300) * 1e12
    yield rng.normal(size=5) * 1e-200
    yield np.array([1e300, -1e-300])


@pytest.mark.parametrize(
    "expected", [*arrays()], ids=lambda x: f"{x.dtype} {x.shape} up to {abs(x).max():.1g}"
)
def test_every_answer_within_the_tolerance_fits(expected):
    kept = sealed(expected)
    relative, absolute = tolerances(expected)
    allowed = 0.99 * (absolute + relative * np.abs(expected.astype(float)))
    rng = np.random.default_rng(8)
    assert kept.fits(expected)
    assert kept.fits(expected.astype(float) + allowed)
    assert kept.fits(expected.astype(float) - allowed)
    assert kept.fits(expected.astype(float) + allowed * rng.uniform(-1, 1, size=expected.shape))


@pytest.mark.parametrize(
    "expected", [*arrays()], ids=lambda x: f"{x.dtype} {x.shape} up to {abs(x).max():.1g}"
)
def test_one_number_a_cell_away_does_not_fit(expected):
    kept = sealed(expected)
    for away in (kept.width, -kept.width, 1e6 * kept.width, np.nan, np.inf, -np.inf):
        other = expected.astype(float)
        other.flat[-1] += away
        assert not kept.fits(other), away


def test_numbers_that_are_none():
    wild = np.array([np.nan, np.inf, -np.inf, 1.0, -0.0])
    kept = sealed(wild)
    assert kept.fits(wild.copy())
    assert kept.fits(np.array([np.nan, np.inf, -np.inf, 1.0, 0.0]))
    for place in range(5):
        for other in (np.nan, np.inf, -np.inf, 7.0):
            if not np.array_equal(other, wild[place], equal_nan=True):
                changed = wild.copy()
                changed[place] = other
                assert not kept.fits(changed), (place, other)
    assert sealed(np.full(3, np.inf)).fits(np.full(3, np.inf))


def test_whole_numbers_and_booleans_have_to_be_equal():
    flops = sealed(np.array([2 * 10**12, 3]))
    assert flops.fits(np.array([2 * 10**12, 3]))
    assert not flops.fits(np.array([2 * 10**12 + 1, 3]))
    assert sealed(7).fits(np.array(7, dtype=np.int32))
    assert sealed(np.array([True, False])).fits(np.array([True, False]))
    assert not sealed(np.array([True, False])).fits(np.array([True, True]))
    assert sealed(2e12).fits(np.array(2 * 10**12))  # a Python int where a float is expected
    assert sealed(np.zeros((0, 3))).fits(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="complex"):
        sealed(1j)


def test_what_can_be_read_is_the_same_for_numbers_that_differ_by_cells():
    x = np.array([0.3, -0.7, 0.01, 0.9])
    one = sealed(x)
    other = sealed(x + one.width * np.array([5, -1000, 12345, -77]))
    assert replace(one, digest="") == replace(other, digest="")
    assert one.digest != other.digest
    assert sealed(x, "another salt").digest != one.digest


def behind_seals(exercise: Exercise) -> Exercise:
    """The same exercise, as an edition without answers has it."""

    def case(truth) -> Case:
        parts = truth.expected.items or (truth.expected,)
        seals = tuple(sealed(part.array[()], truth.case.name) for part in parts)
        about = {"points": truth.case.points, "says": truth.case.says, "peak_bytes": truth.case.peak_bytes}
        kept = SealedCase(truth.packed, seals, truth.expected.kind == "tuple")
        return sealed_case(kept, truth.case.name, **about)

    def stub():
        return NotImplemented

    cases = tuple(case(truth) for truth in truths(exercise, PUBLIC_SEED))
    return replace(exercise, cases=cases, reference=stub, wrong=(), also_right=(), mistakes=None, examples=())


@pytest.fixture
def homework():
    return behind_seals(find("softmax"))


def shifted(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def faults(exercise, function):
    return [case.verdict.fault for case in try_out(exercise, function).cases]


def test_right_answers_earn_all_points(homework):
    softmax = find("softmax")
    for right in (softmax.reference, *softmax.also_right):
        assert try_out(homework, right).points == softmax.max_points


def test_what_is_public_is_said_as_ever_and_of_numbers_that_they_differ(homework):
    def unshifted(x, axis=-1):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)

    softmax = find("softmax")
    for wrong in (
        lambda x, axis=-1: shifted(x, axis).tolist(),
        lambda x, axis=-1: shifted(x, axis)[None],
        lambda x, axis=-1: shifted(x, axis) > 0.5,
        lambda x, axis=-1: None,
        lambda x, axis=-1: NotImplemented,
        lambda x, axis=-1: shifted(x, axes=axis),
        lambda x, axis=-1: shifted(x.sort() or x, axis),
    ):
        assert faults(homework, wrong) == faults(softmax, wrong)
    ours, full = try_out(homework, unshifted), try_out(softmax, unshifted)
    assert [c.verdict.passed for c in ours.cases] == [c.verdict.passed for c in full.cases]
    assert (ours.mistakes, ours.pattern) == ((), "")
    failed = next(c.verdict for c in ours.cases if not c.verdict.passed)
    assert failed.seen == "the numbers are not what is expected; 80 of your 120 are NaN"
    assert (failed.fault, failed.broken) == ("not-finite", "")
    assert not any(c.verdict.compare for c in ours.cases)


def test_what_every_right_answer_has_is_still_asked_for(homework):
    result = try_out(homework, lambda x, axis=-1: 2 * shifted(x, axis))
    assert {c.verdict.broken for c in result.cases} == {"does-not-sum-to-one"}


def test_it_does_not_compare_with_the_swapped_axes():
    scores = behind_seals(find("attention_scores"))
    told = [c.verdict.seen for c in try_out(scores, lambda Q, K: K @ np.swapaxes(Q, -1, -2)).cases]
    assert any("shape" in text for text in told)
    assert not any("swapped" in text for text in told)


def test_of_a_tuple_it_says_which_part():
    moments = find("correlated_mean_and_variance")
    half = behind_seals(moments)
    wrong = try_out(half, lambda d_k, rho: (moments.reference(d_k, rho)[0], -1.0))
    assert {c.verdict.seen for c in wrong.cases} == {"`variance`: the number is not what is expected"}
    assert try_out(half, moments.reference).passed
    short = try_out(half, lambda d_k, rho: (1.0,))
    assert {c.verdict.fault for c in short.cases} == {"wrong-kind"}


def test_conduct_has_its_names_without_answers(homework):
    def in_place(x, axis=-1):
        x -= x.max(axis=axis, keepdims=True)
        return shifted(x, axis)

    result = try_out(homework, in_place)
    assert [mistake.name for mistake in result.mistakes] == ["changes-its-input"]


def test_other_seeds_are_refused(homework):
    with pytest.raises(ValueError, match="no answer in this edition"):
        truths(homework, "hidden")
