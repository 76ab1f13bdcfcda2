"""Lesson 02, the variance of a score: its tables, as text. They measure what they are given and decide nothing."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.variance_proof.experiments import interval, theory_when_broken


def table_of_coins(scores: Mapping[int, Array]) -> str:
    """Mean, variance and largest of the scores of all pairs of coin vectors, for each d_k."""
    lines = [" dₖ  pairs  mean  variance  largest"]
    lines += [
        f"{d_k:3} {s.size:6,} {s.mean():5.0f} {s.var():9.0f} {s.max():8.0f}" for d_k, s in scores.items()
    ]
    return "\n".join(lines)


def table_of_growth(dims: Sequence[int], found: Sequence[Interval]) -> str:
    """The measured standard deviation beside √d_k."""
    lines = ["   dₖ     √dₖ   measured   95% interval"]
    lines += [
        f"{d_k:5,} {d_k**0.5:7.0f} {sd.value:10.1f}   {sd.low:.1f} to {sd.high:.1f}"
        for d_k, sd in zip(dims, found, strict=True)
    ]
    return "\n".join(lines)


def mean_and_variance(scores: Float[Array, "n"]) -> str:
    """E.g. "mean 64, variance 192 (95% interval 188 to 196)"."""
    v = interval(scores, np.var)
    mean = f"{scores.mean():.0f}".replace("-0", "0").replace("-", "−")
    return f"mean {mean}, variance {v.value:,.0f} (95% interval {v.low:,.0f} to {v.high:,.0f})"


def table_of_breaks(broken: Mapping[str, Float[Array, "n"]]) -> str:
    """What each broken assumption did to mean and variance, beside what theory says; d_k = 64, correlations 0.5."""
    theory = theory_when_broken(64)
    lines = [f"{'broken':23}   mean  exact   variance  95% interval     exact"]
    for name, scores in broken.items():
        (mean, variance), v = theory[name], interval(scores, np.var)
        measured = f"{scores.mean():.1f}".replace("-", "−")
        lines.append(
            f"{name:23} {measured:>6} {mean:6.0f} {v.value:10,.0f}"
            f"  {f'{v.low:,.0f} to {v.high:,.0f}':16} {variance:5,.0f}"
        )
    return "\n".join(lines)


def table_of_variances(scores: Mapping[str, Float[Array, "n"]]) -> str:
    """The variance of each sample of scores, with its interval."""
    wide = max(map(len, scores))
    lines = []
    for name, sample in scores.items():
        v = interval(sample, np.var)
        lines.append(f"{name:{wide}} {v.value:7.2f}   95% interval {v.low:.2f} to {v.high:.2f}")
    return "\n".join(lines)


def table_of_losses(losses: Mapping[str, Mapping[str, float]]) -> str:
    """The loss of each scale in each world."""
    first = next(iter(losses.values()))
    lines = [f"{'loss with the scale':22}" + "".join(f"{name:>10}" for name in first)]
    lines += [
        f"{world:22}" + "".join(f"{loss:10.1f}" for loss in by_scale.values())
        for world, by_scale in losses.items()
    ]
    return "\n".join(lines)
