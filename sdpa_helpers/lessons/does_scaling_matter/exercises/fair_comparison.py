"""Lesson 10, exercise `fair_comparison`: compare arms at the rates that their own tuning chose."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`fair_comparison(tuning, evaluation)`: the number that you may report for each arm.

- `tuning`, shape `(arms, rates, tuning_seeds)`: accuracies of the tuning runs.
- `evaluation`, shape `(arms, rates, seeds)`: accuracies with other seeds.
- Returns shape `(arms,)`: for each arm, its mean accuracy in `evaluation` at the rate that **its own tuning runs** choose. That is the rate with the highest mean accuracy in `tuning`; of rates that tie, the first.

Example: {inputs:1}. The first arm's tuning chooses its second rate, the second arm's its first: the answer is {result:1}.
"""


def fair_comparison(tuning, evaluation):
    """Mean accuracy of each arm at the rate that its tuning chose: (a, r, t), (a, r, s) -> (a,)."""
    chosen = tuning.mean(axis=-1).argmax(axis=-1)
    return evaluation.mean(axis=-1)[np.arange(len(chosen)), chosen]


def _in_parts(*, source, over_seeds, choose, report):
    """fair_comparison in four parts, each of which can be wrong; see MISTAKES."""

    def answer(tuning, evaluation):
        chosen, runs = choose(over_seeds(source(tuning, evaluation))), report(tuning, evaluation)
        return runs[np.arange(len(runs)), chosen]

    return answer


_RIGHT = {
    "source": lambda tuning, evaluation: tuning,
    "over_seeds": lambda runs: runs.mean(axis=-1),
    "choose": lambda means: means.argmax(axis=-1),
    "report": lambda tuning, evaluation: evaluation.mean(axis=-1),
}


def _answer(**parts):
    return _in_parts(**(_RIGHT | parts))


def _best_starts_at_zero(tuning, evaluation):
    means = tuning.mean(axis=-1)
    return evaluation.mean(axis=-1)[
        np.arange(len(means)), np.where((means > 0).any(-1), means.argmax(-1), -1)
    ]


def _first_at_the_highest(tuning, evaluation):
    """Stops with an error where a mean is NaN, which no accuracy is: so no finding of a bug rests on one."""
    return np.array(
        [
            next(runs.mean() for mean, runs in zip(means, arm, strict=True) if mean == means.max())
            for means, arm in zip(tuning.mean(axis=-1), evaluation, strict=True)
        ]
    )


MISTAKES = Products(
    (
        Factor(
            "source",
            _RIGHT["source"],
            (Option("tuned-on-the-evaluation", lambda tuning, evaluation: evaluation),),
        ),
        Factor(
            "over_seeds",
            _RIGHT["over_seeds"],
            (
                Option("tuned-by-the-best-seed", lambda runs: runs.max(axis=-1)),
                Option("tuned-by-the-worst-seed", lambda runs: runs.min(axis=-1)),
                Option("tuned-by-one-seed", lambda runs: runs[..., 0]),
                Option("tuned-by-the-median", lambda runs: np.median(runs, axis=-1)),
            ),
        ),
        Factor(
            "choose",
            _RIGHT["choose"],
            (
                Option("one-rate-for-all", lambda means: means.mean(axis=0).argmax()),
                Option("the-first-arms-rate", lambda means: means[0].argmax()),
                Option("lowest-accuracy", lambda means: means.argmin(axis=-1)),
                Option("last-of-a-tie", lambda means: means.shape[-1] - 1 - means[..., ::-1].argmax(axis=-1)),
            ),
        ),
        Factor(
            "report",
            _RIGHT["report"],
            (
                Option("tuning-runs-reported", lambda tuning, evaluation: tuning.mean(axis=-1)),
                Option("best-seed-reported", lambda tuning, evaluation: evaluation.max(axis=-1)),
                Option("one-seed-reported", lambda tuning, evaluation: evaluation[..., 0]),
                Option("median-reported", lambda tuning, evaluation: np.median(evaluation, axis=-1)),
            ),
        ),
    ),
    _in_parts,
)


def _runs(rng, arms, rates, tuning_seeds, seeds):
    """Arms that are best at different rates; evaluation likes another rate best than tuning does."""
    tuning = rng.uniform(0.2, 0.5, (arms, rates, tuning_seeds))
    evaluation = rng.uniform(0.2, 0.5, (arms, rates, seeds))
    best = (np.arange(arms) * 2 + rng.integers(rates)) % rates
    rows = np.arange(arms)
    tuning[rows, best] += 0.3
    evaluation[rows, best] += 0.2
    evaluation[rows, (best + 1) % rates] += 0.35  # by luck, better still
    tuning[rows, (best + 2) % rates, -1] = 0.95  # one lucky run, which the mean does not fall for
    return tuning, evaluation


def _nearly_tied(rng):
    """The second rate is better in the twelfth digit."""
    tuning = np.full((2, 3, 4), 0.5)
    tuning[:, 1] += 1e-12
    return tuning, rng.uniform(0.2, 0.9, (2, 3, 5))


def _many(rng):
    """Fourteen rates, eleven and thirteen seeds; the best rates stand late, and their early seeds look bad."""
    tuning, evaluation = rng.uniform(0.3, 0.6, (3, 14, 11)), rng.uniform(0.2, 0.9, (3, 14, 13))
    rows, best = np.arange(3), rng.integers(9, 14, size=3)
    tuning[rows, best, :8], tuning[rows, best, 8:] = 0.4, 1.0
    return tuning, evaluation


def _disagreeing(rng):
    """Mean, median, best, worst and first seed each like another rate."""
    rates = np.array(
        [[0.55, 0.95, 0.6], [0.5, 0.8, 0.7], [0.6, 0.62, 0.61], [0.2, 0.1, 0.99], [0.75, 0.1, 0.3]]
    )
    tuning = np.stack([rates[rng.permutation(5)] for _ in range(3)])
    return tuning, rng.uniform(0.2, 0.9, (3, 5, 4))


def _tied(rng):
    """The last arm learned nothing at any rate."""
    tuning = np.array(
        [
            [[0.25, 0.5], [0.5, 0.25], [0.25, 0.25]],
            [[0.25, 0.25], [0.5, 0.75], [0.75, 0.5]],
            [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
        ]
    )
    return tuning, rng.uniform(0.2, 0.9, (3, 3, 5))


EXERCISE = Exercise(
    name="fair_comparison",
    lesson="10_does_scaling_matter",
    title="Compare fairly",
    prompt=PROMPT,
    examples=(
        Example(
            ([[[0.5, 0.3], [0.8, 0.8]], [[0.7, 0.9], [0.9, 0.1]]], [[[0.3], [0.7]], [[0.75], [0.95]]]),
            shows="[0.7, 0.75]",
        ),
    ),
    section="4. One learning rate for all?",
    difficulty=2,
    minutes=8,
    reference=fair_comparison,
    cases=(
        Case("four arms, five rates", lambda rng: _runs(rng, 4, 5, 3, 7)),
        Case("two rates tie", _tied, says="Of rates that tie, the first; also where all are 0."),
        Case(
            "as many arms as rates as seeds, read-only",
            lambda rng: tuple(map(read_only, _runs(rng, 5, 5, 5, 5))),
        ),
        Case(
            "one lucky seed, one unlucky one",
            _disagreeing,
            says="The mean over the tuning seeds decides: not the best of them, nor the worst, nor the one in the middle.",
        ),
        Case("nearly a tie", _nearly_tied, says="Only equal means tie."),
        Case("fourteen rates, many seeds", _many),
        Case("one arm", lambda rng: _runs(rng, 1, 6, 3, 4)),
        Case("one rate", lambda rng: (rng.random((3, 1, 2)), rng.random((3, 1, 5)))),
        Case("one seed each", lambda rng: (rng.random((6, 4, 1)), rng.random((6, 4, 1)))),
        Case("float32", lambda rng: tuple(part.astype(np.float32) for part in _runs(rng, 3, 7, 4, 5))),
    ),
    wrong=(
        WrongAnswer(
            "tuned-on-the-evaluation",
            _answer(source=lambda tuning, evaluation: evaluation),
            "You chose the rate by the runs that you report. Then luck is reported too: choose by `tuning` alone.",
        ),
        WrongAnswer(
            "each-arm-at-all-rates",
            lambda tuning, evaluation: evaluation[:, tuning.mean(axis=-1).argmax(axis=-1)].mean(axis=-1),
            "`evaluation[:, chosen]` takes the rates of all arms from every arm. Pair each arm with its own: "
            "`evaluation[np.arange(len(chosen)), chosen]`.",
        ),
        WrongAnswer(
            "tuned-by-the-best-seed",
            _answer(over_seeds=lambda runs: runs.max(axis=-1)),
            "You chose the rate with the best single run. Choose by the mean over the tuning seeds.",
        ),
        WrongAnswer(
            "tuned-by-the-worst-seed",
            _answer(over_seeds=lambda runs: runs.min(axis=-1)),
            "You chose by each rate's worst run. Choose by the mean over the tuning seeds.",
        ),
        WrongAnswer(
            "tuned-by-one-seed",
            _answer(over_seeds=lambda runs: runs[..., 0]),
            "You chose by one seed. Choose by the mean over the tuning seeds.",
        ),
        WrongAnswer(
            "tuned-by-the-median",
            _answer(over_seeds=lambda runs: np.median(runs, axis=-1)),
            "You chose by the median. Choose by the mean over the tuning seeds.",
        ),
        WrongAnswer(
            "one-rate-for-all",
            _answer(choose=lambda means: means.mean(axis=0).argmax()),
            "All arms get the rate that is best on average. Each arm gets the one that its own tuning chooses.",
        ),
        WrongAnswer(
            "the-first-arms-rate",
            _answer(choose=lambda means: means[0].argmax()),
            "All arms get the first arm's rate. Each gets the one that its own tuning chooses.",
        ),
        WrongAnswer(
            "lowest-accuracy",
            _answer(choose=lambda means: means.argmin(axis=-1)),
            "You chose the rate with the lowest accuracy. These are accuracies, not losses.",
        ),
        WrongAnswer(
            "last-of-a-tie",
            _answer(choose=lambda means: means.shape[-1] - 1 - means[..., ::-1].argmax(axis=-1)),
            "Of rates that tie you took the last. Take the first.",
        ),
        WrongAnswer(
            "best-starts-at-zero",
            _best_starts_at_zero,
            "Your search for the highest accuracy starts at 0 and looks for more. An arm that learned nothing has no "
            "accuracy above 0, and no rate is chosen for it: start at −∞, or at the first rate.",
        ),
        WrongAnswer(
            "tuning-runs-reported",
            _answer(report=lambda tuning, evaluation: tuning.mean(axis=-1)),
            "You report the tuning runs themselves. The rate was chosen because they looked good: report `evaluation`.",
        ),
        WrongAnswer(
            "best-seed-reported",
            _answer(report=lambda tuning, evaluation: evaluation.max(axis=-1)),
            "You report each arm's best seed. Report the mean over seeds.",
        ),
        WrongAnswer(
            "one-seed-reported",
            _answer(report=lambda tuning, evaluation: evaluation[..., 0]),
            "You report one seed. Report the mean over seeds.",
        ),
        WrongAnswer(
            "median-reported",
            _answer(report=lambda tuning, evaluation: np.median(evaluation, axis=-1)),
            "You report the median over seeds. Report the mean.",
        ),
    ),
    also_right=(
        _first_at_the_highest,
        lambda tuning, evaluation: np.array(
            [
                arm[int(np.argmax(tried.mean(axis=1)))].mean()
                for tried, arm in zip(tuning, evaluation, strict=True)
            ]
        ),
        lambda tuning, evaluation: np.take_along_axis(
            evaluation.mean(-1), tuning.mean(-1).argmax(-1)[:, None], axis=1
        )[:, 0],
    ),
    hints=(
        "There are two questions: which rate, and how good is it? Which of the two arrays may answer which question?",
        "`tuning.mean(axis=-1)` has a row for each arm. The place of its largest number is the arm's rate.",
        "To take one entry from each row: `means[np.arange(len(chosen)), chosen]`.",
    ),
    mistakes=MISTAKES,
    spared=(
        (
            "return evaluation.mean(axis=-1)[np.arange(len(chosen)), chosen] → return np.nan_to_num("
            "evaluation.mean(axis=-1)[np.arange(len(chosen)), chosen])",
            "accuracies are finite: no mean of them is infinite or NaN",
        ),
    ),
)
