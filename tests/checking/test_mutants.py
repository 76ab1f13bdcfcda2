"""Mutants of a reference: those that a case misses are found, those that are no mistakes are not."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdpa_helpers.checking.authors import survivors
from sdpa_helpers.checking.authors.survivors import hunt, hunt_in_styles
from sdpa_helpers.checking.exercise import Case
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
from sdpa_helpers.checking.naming.mutants import mutants_of
from tests.checking.made_up import asking


def _compared(x, threshold):
    return x > threshold


def share_above(x, threshold):
    """Share of the numbers above a threshold."""
    above = _compared(x, threshold)
    return above.mean()


def halvings(n):
    """How often a whole number can be halved until 1 is left."""
    count = 0
    while n > 1:
        n = n // 2
        count = count + 1
    return count


def doubled(x, n):
    """x repeated until there are n numbers at least."""
    while x.size < n:
        x = np.concatenate([x, x])
    return x


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Some of these mutants never end."""
    monkeypatch.setattr(survivors, "SECONDS", 0.05)


def exercise(reference, *cases):
    return asking(reference, *cases, name=reference.__name__, lesson="none")


SOMEWHERE = Case("somewhere", lambda rng: (rng.normal(size=12), 0.3))
AT_THE_THRESHOLD = Case("at the threshold", lambda rng: (np.array([1.0, 2, 3, 3, 5]), 3.0))
ONE_SEED = (PUBLIC_SEED,)
HOLE = "return x > threshold → return x >= threshold"


def names(found):
    return {survivor.mutant.name for survivor in found.survivors}


def test_a_mutant_that_no_case_kills_is_found_with_an_example_also_in_a_function_that_is_called():
    found = hunt(exercise(share_above, SOMEWHERE))
    assert not found.clean
    (hole,) = [survivor for survivor in found.survivors if survivor.mutant.name == HOLE]
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[hole.mutant.line - 1].strip() == "return x > threshold"
    assert hole.mutant.function(*hole.inputs) != share_above(*hole.inputs)
    assert "expected" in hole.example
    assert str(hole.inputs[1]) in hole.example


def test_a_case_for_it_kills_it():
    found = hunt(exercise(share_above, SOMEWHERE, AT_THE_THRESHOLD))
    assert found.mutants > 40
    assert HOLE not in names(found)


def test_a_case_that_kills_a_mutant_by_luck_does_not_count():
    often = Case(
        "often", lambda rng: (np.array([1.0, 2, 3, 3, 5]), float(rng.integers(2, 4)) + rng.choice([0, 0.5]))
    )
    (hole,) = [s for s in hunt(exercise(share_above, often)).survivors if s.mutant.name == HOLE]
    assert 0 < len(hole.seeds) < len(survivors.SEEDS)


def test_what_is_the_same_function_in_other_words_is_no_survivor():
    same = "return above.mean() → return np.abs(above.mean())"
    tried = exercise(share_above, SOMEWHERE)
    assert same in {mutant.name for mutant in mutants_of(tried)}
    found = hunt(tried)
    assert found.equivalent
    assert same not in names(found)


def test_a_survivor_with_a_reason_is_left_alone_and_a_reason_without_survivor_is_not():
    small = exercise(halvings, Case("eight", lambda rng: (8,)))
    alive = names(hunt(small, ONE_SEED))
    assert alive
    spared = replace(small, spared=tuple((name, "only powers of two are asked for") for name in alive))
    assert hunt(spared, ONE_SEED).clean
    stale = replace(spared, spared=(*spared.spared, (HOLE, "it was there once")))
    assert hunt(stale, ONE_SEED).stale == (HOLE,)
    assert not hunt(stale, ONE_SEED).clean


@pytest.mark.skipif(sys.platform == "win32", reason="no signals and no limits of memory there")
def test_what_never_ends_or_eats_memory_is_ended():
    cases = [Case(f"{n}", lambda rng, n=n: (n,)) for n in (1, 5, 8, 1000)]
    endless = "n = n // 2 → pass"
    assert endless in {mutant.name for mutant in mutants_of(exercise(halvings, *cases))}
    assert endless not in names(hunt(exercise(halvings, *cases), ONE_SEED))

    cases = [Case(f"{n}", lambda rng, n=n: (rng.normal(size=3), n)) for n in (2, 3, 30)]
    hungry = "while x.size < n: → while True:"
    assert hungry in {mutant.name for mutant in mutants_of(exercise(doubled, *cases))}
    assert hungry not in names(hunt(exercise(doubled, *cases), ONE_SEED))


def counted(x, threshold):
    """The same share, number by number."""
    largest = -np.inf
    for number in x:
        largest = max(largest, number)
    if largest <= threshold:
        return np.float64(0.0)
    return np.float64(sum(number > threshold for number in x) / len(x))


def test_mutants_of_another_right_answer_are_tried_and_a_case_that_its_form_needs_is_missed():
    tried = exercise(share_above, SOMEWHERE, AT_THE_THRESHOLD)
    hole = "for number in x: → for number in list(x)[1:]:"  # it shows where the first alone is above the threshold
    assert hole not in names(hunt(tried))
    assert hole in names(hunt_in_styles(tried, [counted]))
    first = Case("the first alone", lambda rng: (np.array([5.0, 1, 2, 0, 1]), 3.0))
    assert hole not in names(hunt_in_styles(exercise(share_above, *tried.cases, first), [counted]))


def test_an_input_on_which_right_answers_differ_shows_nothing():
    careless = lambda x, threshold: share_above(x, threshold) if x.size < 12 else np.float64(-1.0)  # noqa: E731
    tried = exercise(share_above, Case("seven", lambda rng: (rng.normal(size=7), 0.3)))
    alone, both = (hunt_in_styles(tried, styles) for styles in ([counted], [counted, careless]))
    assert all(s.inputs[0].size < 12 for s in both.survivors)
    assert both.mutants == alone.mutants


def test_a_reference_without_a_source_is_refused():
    with pytest.raises(ValueError, match="cannot be changed"):
        list(mutants_of(replace(exercise(share_above), reference=np.sort)))
