"""Lesson 10, exercise `best_rate`: choose an arm's learning rate from its tuning runs."""

import warnings

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`best_rate(rates, losses)`: the learning rate that tuning chooses.

- `rates`, shape `(n_rates,)`: positive numbers, in any order.
- `losses`, shape `(n_rates, n_seeds)`: the loss at the end of each run. A run that diverged has NaN or infinity.
- Returns one number: the rate with the lowest **mean** loss over its seeds.
- A rate with a diverged run is out, however good its other runs are. Of rates that tie, return the smallest. If no rate is left, return NaN.

Example: {inputs:1}. The middle rate has a lower loss in the run that survived, but it is out: the answer is {result:1}.
"""


def best_rate(rates, losses):
    """The rate with the lowest mean loss; diverged runs rule a rate out: (r,), (r, s) -> one number."""
    means = np.where(np.isfinite(losses).all(axis=1), losses.mean(axis=1), np.inf)
    best = rates[np.isfinite(means) & (means == means.min())]
    return best.min() if best.size else np.nan


def _alive(losses):
    return np.isfinite(losses).all(axis=1)


def _over_seeds(summary):
    return lambda losses: np.where(_alive(losses), summary(losses), np.inf)


def _over_survivors(losses):
    kept = np.where(np.isfinite(losses), losses, np.nan)
    return np.array([row[np.isfinite(row)].mean() if np.isfinite(row).any() else np.inf for row in kept])


def _nanmean_and_the_first(rates, losses):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of NaN alone
        return rates[np.nanmean(losses, axis=1).argmin()]


def _smallest(rates, values):
    return rates[values == values.min()].min()


def _last(rates, values):
    return rates[np.flatnonzero(values == values.min())[-1]]


def _in_parts(*, summary, pick, nothing):
    """best_rate in three parts, each of which can be wrong; see MISTAKES."""

    def answer(rates, losses):
        values = summary(losses)
        return pick(rates, values) if np.isfinite(values).any() else nothing(rates)

    return answer


def _finite_for_infinity(rates, losses):
    means = np.where(_alive(losses), losses.mean(axis=1), 1e9)
    return _smallest(rates, means) if _alive(losses).any() else np.nan


def _only_nan_and_plus_infinity(rates, losses):
    out = (np.isnan(losses) | (losses == np.inf)).any(axis=1)
    means = np.where(out, np.inf, losses.mean(axis=1))
    return np.nan if out.all() else _smallest(rates, means)


MISTAKES = Products(
    (
        Factor(
            "summary",
            _over_seeds(lambda losses: losses.mean(axis=1)),
            (
                Option("mean-of-the-survivors", _over_survivors),
                Option(
                    "diverged-counts-as-zero",
                    lambda losses: np.where(np.isfinite(losses), losses, 0.0).mean(axis=1),
                ),
                Option("luckiest-seed", _over_seeds(lambda losses: losses.min(axis=1))),
                Option("unluckiest-seed", _over_seeds(lambda losses: losses.max(axis=1))),
                Option("median-not-mean", _over_seeds(lambda losses: np.median(losses, axis=1))),
                Option("first-seed-only", _over_seeds(lambda losses: losses[:, 0])),
            ),
        ),
        Factor(
            "pick",
            _smallest,
            (
                Option(
                    "highest-loss",
                    lambda rates, values: rates[
                        np.where(np.isfinite(values), values, -np.inf) == values[np.isfinite(values)].max()
                    ].min(),
                ),
                Option("first-of-a-tie", lambda rates, values: rates[values.argmin()]),
                Option("last-of-a-tie", _last),
                Option("largest-of-a-tie", lambda rates, values: rates[values == values.min()].max()),
                Option("a-place-not-a-rate", lambda rates, values: values.argmin()),
                Option("the-loss-not-the-rate", lambda rates, values: values.min()),
            ),
        ),
        Factor(
            "nothing",
            lambda rates: np.nan,
            (
                Option("something-from-nothing", lambda rates: rates[0]),
                Option("something-from-nothing", lambda rates: rates.min()),
                Option("something-from-nothing", lambda rates: 0.0),
            ),
        ),
    ),
    _in_parts,
)


def _answer(**parts):
    """An answer with these options in place of the right ones."""
    right = {
        "summary": _over_seeds(lambda losses: losses.mean(axis=1)),
        "pick": _smallest,
        "nothing": lambda r: np.nan,
    }
    return _in_parts(**(right | parts))


def _rates(rng, count):
    return rng.permutation(0.001 * 1.8 ** np.arange(count) * rng.uniform(1, 1.5))


def _ordinary(rng, n_rates=5, n_seeds=3):
    """Losses whose best rate by the mean is neither the first nor that with the luckiest seed."""
    losses = rng.uniform(1.0, 2.0, (n_rates, n_seeds))
    losses[2] = 0.6 + 0.05 * rng.random(n_seeds)
    losses[3, -1] = 0.1 + 0.05 * rng.random()  # one lucky run of a rate that is not the best
    return _rates(rng, n_rates), losses


def _diverged(rng):
    rates, losses = _ordinary(rng, 6, 3)
    losses[4] = 0.2 * rng.random(3)
    losses[4, rng.integers(3)] = np.nan
    return rates, losses


def _infinite(rng):
    """One run at +∞ and one at −∞, among finite losses beyond every number that might stand for infinity."""
    rates, losses = _ordinary(rng, 6, 3)
    losses[4] = 0.2 * rng.random(3)
    losses *= 1e40
    losses[4, rng.integers(3)], losses[5, rng.integers(3)] = np.inf, -np.inf
    rates[4:] = np.sort(rates[4:])  # so that the one at −∞ is chosen for one reason only
    return rates, losses


def _tied(rng):
    """Seven rates, close together, tie. Each wrong way to choose among them leads to a rate of its own: the first, the
    last, the largest, the one in the middle, and the third, which has the best worst seed. The smallest stands second."""
    losses = np.array([[1.0, 2.0], [2.0, 1.0], [1.5, 1.5], *[[1.0, 2.0], [2.0, 1.0]] * 2, [3.0, 3.0]])
    rates = 0.01 * np.sort(_rates(rng, 8))
    return rates[[6, 1, 3, 7, 4, 2, 5, 0]], losses


def _two_diverged(rng):
    """The survivor of a rate is no better than the best rate: only who counts the others as 0 falls for it."""
    rates, losses = _ordinary(rng, 6, 3)
    losses[4] = rng.permutation([0.9 + 0.05 * rng.random(), np.nan, np.nan])
    return rates, losses


def _outlier(rng):
    """The median likes the first rate, the mean and the worst seed the third."""
    losses = np.array([[0.2, 0.3, 4.0], [1.4, 1.2, 1.3], [0.9, 0.8, 1.0], [0.1, 1.9, 1.8]])
    return _rates(rng, 4), losses[:, rng.permutation(3)] + 0.01 * rng.random((4, 3))


def _nearly_tied(rng):
    """Losses far below 1 that differ in the tenth digit; the smaller rates, before the best and after it, are the worse."""
    rates = np.sort(_rates(rng, 4))
    return rates[[0, 2, 1, 3]], 1e-12 * np.array([[1 + 1e-9] * 2, [1.0] * 2, [1 + 1e-9] * 2, [1.5] * 2])


def _many(rng):
    """Thirteen rates, eleven seeds. The best rate stands late, and its early seeds look bad."""
    losses = rng.uniform(1, 2, (13, 11))
    losses[10, :8], losses[10, 8:] = 1.6, 0.05
    return _rates(rng, 13), losses


def _nothing_left(rng):
    losses = rng.uniform(1, 2, (4, 3))
    losses[np.arange(4), rng.integers(3, size=4)] = [np.nan, np.inf, np.nan, np.nan]
    return _rates(rng, 4), losses


EXERCISE = Exercise(
    name="best_rate",
    lesson="10_does_scaling_matter",
    title="Choose the learning rate",
    prompt=PROMPT,
    examples=(Example(([0.1, 1, 10], [[2, 3], [1, np.nan], [2, 2]]), shows="10"),),
    section="4. One learning rate for all?",
    difficulty=2,
    minutes=8,
    reference=best_rate,
    cases=(
        Case("five rates, three seeds", _ordinary),
        Case(
            "a run that diverged",
            _diverged,
            says="A mean over the runs that survived rewards luck: one diverged run rules its rate out.",
        ),
        Case(
            "a run that ended at infinity, read-only",
            lambda rng: tuple(map(read_only, _infinite(rng))),
            says="A run at infinity, also at −∞, rules its rate out. A finite loss counts, however large it is.",
        ),
        Case("two runs of a rate diverged", _two_diverged),
        Case(
            "seven rates tie",
            _tied,
            says="Of rates that tie, the smallest counts; rates come in any order.",
        ),
        Case("one bad seed", _outlier, says="The mean counts every seed, the unlucky ones too."),
        Case("no rate is left", _nothing_left, says="If every rate has a diverged run, return NaN."),
        Case("nearly a tie", _nearly_tied, says="Only equal means tie."),
        Case("thirteen rates, eleven seeds", _many),
        Case("one seed", lambda rng: _ordinary(rng, 7, 1)),
        Case("one rate", lambda rng: (_rates(rng, 1), rng.uniform(1, 2, (1, 4)))),
        Case(
            "float32",
            lambda rng: tuple(part.astype(np.float32) for part in _ordinary(rng, 6, 5)),
        ),
    ),
    wrong=(
        WrongAnswer(
            "mean-of-the-survivors",
            _answer(summary=_over_survivors),
            "You took the mean over the runs that survived. One diverged run rules its rate out.",
        ),
        WrongAnswer(
            "nanmean-and-the-first",
            _nanmean_and_the_first,
            "`np.nanmean` takes the mean over the runs that survived, and one diverged run rules its rate out. Then two "
            "smaller things: of rates that tie return the smallest, and NaN if no rate is left.",
        ),
        WrongAnswer(
            "nan-wins-argmin",
            lambda rates, losses: rates[losses.mean(axis=1).argmin()],
            "`argmin` takes NaN for the lowest number, so a diverged rate wins. Give such rates a mean of infinity. Then two "
            "smaller things: of rates that tie return the smallest, and NaN if no rate is left.",
        ),
        WrongAnswer(
            "diverged-counts-as-zero",
            _answer(summary=lambda losses: np.where(np.isfinite(losses), losses, 0.0).mean(axis=1)),
            "A diverged run counts as a loss of 0 here: the best that there is. It rules its rate out.",
        ),
        WrongAnswer(
            "luckiest-seed",
            _answer(summary=_over_seeds(lambda losses: losses.min(axis=1))),
            "You compared the best seed of each rate. That rewards luck; compare means.",
        ),
        WrongAnswer(
            "unluckiest-seed",
            _answer(summary=_over_seeds(lambda losses: losses.max(axis=1))),
            "You compared the worst seed of each rate. Compare means.",
        ),
        WrongAnswer(
            "median-not-mean",
            _answer(summary=_over_seeds(lambda losses: np.median(losses, axis=1))),
            "You compared medians, which do not see a bad seed. Compare means.",
        ),
        WrongAnswer(
            "first-seed-only",
            _answer(summary=_over_seeds(lambda losses: losses[:, 0])),
            "You looked at one seed only. Take the mean over all of them.",
        ),
        WrongAnswer(
            "highest-loss",
            _answer(
                pick=lambda rates, values: rates[
                    np.where(np.isfinite(values), values, -np.inf) == values[np.isfinite(values)].max()
                ].min()
            ),
            "This is the rate with the highest loss. A loss is better when it is lower.",
        ),
        WrongAnswer(
            "first-of-a-tie",
            _answer(pick=lambda rates, values: rates[values.argmin()]),
            "Of rates that tie you return the one that stands first. Return the smallest.",
        ),
        WrongAnswer(
            "last-of-a-tie",
            _answer(pick=_last),
            "Of rates that tie you return the one that stands last. Return the smallest.",
        ),
        WrongAnswer(
            "finite-number-for-infinity",
            _finite_for_infinity,
            "A finite number stands for the loss of a diverged run, or for the best so far at the start. A run may end at a "
            "larger loss and still count: use np.inf.",
        ),
        WrongAnswer(
            "minus-infinity-wins",
            _only_nan_and_plus_infinity,
            "A run at −∞ has the lowest loss of all, and its rate wins in your answer. It diverged: np.isfinite finds NaN "
            "and both infinities.",
        ),
        WrongAnswer(
            "largest-of-a-tie",
            _answer(pick=lambda rates, values: rates[values == values.min()].max()),
            "Of rates that tie you return the largest. Return the smallest.",
        ),
        WrongAnswer(
            "a-place-not-a-rate",
            _answer(pick=lambda rates, values: values.argmin()),
            "This is the place of the best rate in the array. Return the rate that stands there.",
        ),
        WrongAnswer(
            "the-loss-not-the-rate",
            _answer(pick=lambda rates, values: values.min()),
            "This is the lowest mean loss. Return the rate that reached it.",
        ),
        WrongAnswer(
            "something-from-nothing",
            _answer(nothing=lambda rates: rates[0]),
            "No rate is left, and still you return a number. Return NaN: a comparison has to know that this arm failed.",
        ),
    ),
    also_right=(
        lambda rates, losses: min(
            ((row.mean(), rate) for rate, row in zip(rates, losses, strict=True) if np.isfinite(row).all()),
            default=(np.nan, np.nan),
        )[1],
    ),
    hints=(
        "Three steps: which rates are in the running, what is the mean loss of each, and which of them is the smallest?",
        "Give the rates that are out a mean of infinity: then nothing picks them, unless all are out.",
        "`np.isfinite(losses).all(axis=1)` says which rates are in; `rates[means == means.min()]` are those that tie.",
    ),
    mistakes=MISTAKES,
)
