"""Lesson 02, the variance of a score: the experiments. They return data and draw nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.interval import Interval

Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]
Attention = Callable[[Array, Array, Array], Array]

DRAWS: Mapping[str, Draw] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
    "coins": lambda rng, size: rng.integers(0, 2, size) * 2.0 - 1.0,
}
"""Ways to draw a coordinate: three shapes, all with mean 0 and variance 1."""

SCALES: Mapping[str, Callable[[float], float]] = {
    "1": lambda d: 1.0,
    "1/√d": lambda d: d**-0.5,
    "1/d": lambda d: 1.0 / d,
}
_CHUNK = 1 << 20  # numbers drawn at a time


# Coins: every case counted --------------------------------------------------------------------------------


def coin_vectors(d: int) -> Float[Array, "vectors d"]:
    """Every vector of d coins, each +1 or −1: there are 2ᵈ of them."""
    bits = (np.arange(2**d)[:, None] >> np.arange(d - 1, -1, -1)) & 1
    return 1.0 - 2.0 * bits


def all_coin_scores(d: int) -> Float[Array, "pairs"]:
    """The score of every query of coins with every key of coins, all 4ᵈ pairs: exact, nothing is sampled."""
    vectors = coin_vectors(d)
    return (vectors @ vectors.T).ravel()


# Sampled scores -------------------------------------------------------------------------------------------


def sample_scores(
    d: int, count: int, seed: int = 0, kind: str = "normal", means: tuple[float, float] = (0.0, 0.0)
) -> Float[Array, "count"]:
    """`count` independent scores: each has its own query and its own key of independent coordinates."""
    rng = np.random.default_rng(seed)

    def chunk(n: int) -> Array:
        q, k = (DRAWS[kind](rng, (n, d)) + mean for mean in means)
        return (q * k).sum(axis=-1)

    return _in_chunks(chunk, count, d)


def broken_assumptions(d: int, count: int, seed: int = 3, rho: float = 0.5) -> dict[str, Array]:
    """Scores of normal coordinates of variance 1, with one assumption broken at a time: what the ledger runs. The
    lesson's own function adds up one coordinate after the other; a test compares.

    "alike in q and k" gives every two coordinates of a vector the correlation `rho`.
    """
    rng = np.random.default_rng(seed)

    def chunk(n: int) -> Array:
        q, k = rng.standard_normal((2, n, d))
        shared_q, shared_k = rng.standard_normal((2, n, 1))
        alike_q = np.sqrt(rho) * shared_q + np.sqrt(1 - rho) * q
        alike_k = np.sqrt(rho) * shared_k + np.sqrt(1 - rho) * k
        pairs = [(q, k), (q + 0.5, k + 0.5), (alike_q, alike_k), (q, q)]
        return np.stack([(a * b).sum(axis=-1) for a, b in pairs], axis=-1)

    names = ("none", "mean 0.5", "alike in q and k", "q = k")
    return dict(zip(names, _in_chunks(chunk, count, 4 * d).T, strict=True))


def exact_moments(
    d: int, mean: float = 0.0, within_q: float = 0.0, within_k: float = 0.0
) -> tuple[float, float]:
    """Mean and variance of q·k for q independent of k, all coordinates of variance 1 and this mean, any two of q's
    with the covariance `within_q`, of k's with `within_k`."""
    covariance = within_q * within_k + within_q * mean**2 + within_k * mean**2
    return d * mean**2, d * (1 + 2 * mean**2) + d * (d - 1) * covariance


def theory_when_broken(d: int, rho: float = 0.5) -> dict[str, tuple[float, float]]:
    """Mean and variance of the score by theory, for each assumption that lesson 02 breaks; normal coordinates."""
    return {
        "none": exact_moments(d),
        "means 0.5": exact_moments(d, 0.5),
        "correlated within q": exact_moments(d, 0, rho),
        "correlated within both": exact_moments(d, 0, rho, rho),
        "q = k": (d, 2 * d),
        "kᵢ correlated with qᵢ": (d * rho, d * (1 + rho**2)),
    }


def _in_chunks(chunk: Callable[[int], Array], count: int, width: int) -> Array:
    size = max(1, _CHUNK // width)
    return np.concatenate([chunk(min(size, count - start)) for start in range(0, count, size)])


def interval(
    samples: Float[Array, "n"], statistic: Callable[..., Array] = np.std, seed: int = 0, resamples: int = 300
) -> Interval:
    """Draw the sample again from itself, with replacement, `resamples` times: how far does the statistic move?"""
    rng = np.random.default_rng(seed)
    again = [statistic(samples[rng.integers(0, samples.size, samples.size)]) for _ in range(resamples)]
    low, high = np.percentile(again, [2.5, 97.5])
    return Interval(float(statistic(samples)), float(low), float(high))


def largest(found: Mapping[str, Interval]) -> str:
    """The name with the largest value; "the same" when its interval reaches into all the others."""
    name = max(found, key=lambda key: found[key].value)
    return "the same" if all(found[name].low <= other.high for other in found.values()) else name


def unharmed(d: int, broken: Mapping[str, Array]) -> str:
    """The broken assumption whose scores still have mean 0 and variance d: the closest one."""

    def harm(name: str) -> float:
        return abs(float(broken[name].mean())) / np.sqrt(d) + abs(float(broken[name].var()) / d - 1)

    return min((name for name in broken if name != "none"), key=harm)


def excess_kurtosis(samples: Float[Array, "n"]) -> float:
    """How heavy the tails are against a bell curve of the same variance: 0 for a bell curve."""
    centred = samples - samples.mean()
    return float(np.mean(centred**4) / np.mean(centred**2) ** 2 - 3)


def expected_kurtosis(kind: str, d: int) -> float:
    """Excess kurtosis of q·k from the fourth moments m of the coordinates: (m² − 3)/d."""
    fourth_moment = {"normal": 3.0, "uniform": 9 / 5, "coins": 1.0}[kind]
    return (fourth_moment**2 - 3) / d


# Scales side by side --------------------------------------------------------------------------------------


class ScoreSample(NamedTuple):
    """Raw scores of queries against their own keys, and the squared length of each query."""

    scores: Float[Array, "n_q n_k"]
    squares: Float[Array, "n_q"]

    def with_match(self, rho: float) -> Float[Array, "n_q n_k"]:
        """The scores after key 0 became a match: correlated by `rho` with its query, coordinate by coordinate."""
        scores = self.scores.copy()
        scores[:, 0] = rho * self.squares + np.sqrt(1 - rho**2) * self.scores[:, 0]
        return scores


def draw_row(d: int, n_q: int = 400, n_k: int = 16, seed: int = 4) -> ScoreSample:
    """Independent normal queries, each with its own `n_k` independent normal keys."""
    rng = np.random.default_rng(seed)

    def chunk(n: int) -> Array:
        q, K = rng.standard_normal((n, d)), rng.standard_normal((n, n_k, d))
        return np.column_stack([np.einsum("nd,nkd->nk", q, K), (q * q).sum(axis=-1)])

    table = _in_chunks(chunk, n_q, n_k * d)
    return ScoreSample(table[:, :-1], table[:, -1])


def entropy_share(weights: Float[Array, "n_q n_k"]) -> Float[Array, "n_q"]:
    """Entropy over log n: 1 when every key gets the same weight, 0 when one key gets all."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(axis=-1) / np.log(weights.shape[-1])


def side_by_side(
    unrelated: Mapping[int, Array], matched: Mapping[int, Array]
) -> dict[str, dict[str, list[float]]]:
    """For each scale and d_k, from raw scores (n_q, n_k): the entropy share of unrelated keys; then, where key 0 is a
    match, its weight and its mean scaled score."""
    out: dict[str, dict[str, list[float]]] = {}
    for name, scale in SCALES.items():
        weights = [softmax(scale(d) * scores) for d, scores in unrelated.items()]
        found = [scale(d) * scores for d, scores in matched.items()]
        out[name] = {
            "entropy share": [float(entropy_share(w).mean()) for w in weights],
            "match weight": [float(softmax(s)[:, 0].mean()) for s in found],
            "match score": [float(s[:, 0].mean()) for s in found],
        }
    return out


def loss_of_scale(scale: float, scores: Float[Array, "n_q n_k"], sure: float = 0.9) -> float:
    """Mean cross-entropy when key 0 should get the weight `sure`, and the other keys share the rest evenly."""
    z = scale * scores
    top = z.max(axis=-1, keepdims=True)
    log_weights = z - top - np.log(np.exp(z - top).sum(axis=-1, keepdims=True))
    return float(-(log_weights @ _target(scores.shape[-1], sure)).mean())


def learn_scale(scores: Float[Array, "n_q n_k"], sure: float = 0.9, steps: int = 50) -> float:
    """The one number that makes `loss_of_scale` smallest. The loss is convex in it: Newton's method, halved
    whenever a step goes uphill."""
    scale, target = 0.0, _target(scores.shape[-1], sure)
    for _ in range(steps):
        weights = softmax(scale * scores)
        mean = (weights * scores).sum(axis=-1)
        slope = (mean - scores @ target).mean()
        curvature = ((weights * scores**2).sum(axis=-1) - mean**2).mean()
        step = slope / curvature
        while (
            loss_of_scale(scale - step, scores, sure) > loss_of_scale(scale, scores, sure)
            and abs(step) > 1e-12
        ):
            step /= 2
        scale -= step
    return float(scale)


def _target(n_k: int, sure: float) -> Float[Array, "n_k"]:
    target = np.full(n_k, (1 - sure) / (n_k - 1))
    target[0] = sure
    return target


def learned_scales(rows: Mapping[int, ScoreSample]) -> dict[str, list[float]]:
    """The learned scale for each d_k in two worlds: the match is correlated by 0.5 whatever d_k is, or by 2/√d_k."""
    return {
        "correlation 0.5": [learn_scale(row.with_match(0.5)) for row in rows.values()],
        "correlation 2/√dₖ": [learn_scale(row.with_match(2 / np.sqrt(d))) for d, row in rows.items()],
    }


def exponent(dims: Sequence[float], values: Sequence[float]) -> float:
    """The p of a power law values ∝ dimsᵖ, fitted on logarithms."""
    return float(np.polyfit(np.log(dims), np.log(values), 1)[0])


def exponents_again(seed: int) -> str:
    """The exponents of `learned_scales` once more, from a fresh draw of three sizes."""
    fresh = {d: draw_row(d, n_q=300, seed=seed) for d in (64, 256, 1024)}
    found = {world: exponent(list(fresh), scales) for world, scales in learned_scales(fresh).items()}
    return ",   ".join(f"{world}: {p:.1f}" for world, p in found.items()).replace("-", "−")


# Dividing by the maximum, and reading the scale off a function --------------------------------------------


def weights_by_maximum(scores: Float[Array, "n_k"]) -> Float[Array, "n_k"]:
    """The rule that attention does NOT use: softmax of scores that were divided by their largest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return softmax(scores / scores.max())


def scale_probe(attention: Attention, d: int) -> float:
    """The scale that `attention(Q, K, V)` uses. One query e₁ and the keys e₁ and 0 have the raw scores 1 and 0;
    with V = I the output IS the weights, and the logarithm of their ratio is the scale."""
    Q, K, V = np.eye(1, d), np.eye(2, d) * [[1.0], [0.0]], np.eye(2)
    high, low = attention(Q, K, V)[0]
    return float(np.log(high / low))


def attention_with(scale: Callable[[Array, Array, Array], float]) -> Attention:
    """Attention with a scale that may depend on all three inputs: right, or wrong in a way to be found."""
    return lambda Q, K, V: softmax(scale(Q, K, V) * (Q @ np.swapaxes(K, -1, -2))) @ V


SUSPECTS: Mapping[str, Attention] = {
    "divides by √d": attention_with(lambda Q, K, V: Q.shape[-1] ** -0.5),
    "no scale at all": attention_with(lambda Q, K, V: 1.0),
    "multiplies by √d": attention_with(lambda Q, K, V: Q.shape[-1] ** 0.5),
    "divides twice": attention_with(lambda Q, K, V: 1.0 / Q.shape[-1]),
    "divides by √n": attention_with(lambda Q, K, V: K.shape[-2] ** -0.5),
    "d^¼ in q and in k": lambda Q, K, V: softmax((Q / Q.shape[-1] ** 0.25) @ (K / K.shape[-1] ** 0.25).T) @ V,
}
"""Six ways to write attention. Two of them are right."""


def outputs_by_scale(Q: Array, K: Array, V: Array, scales: Sequence[float]) -> Float[Array, "scales n_q d_v"]:
    """Attention's output for each scale."""
    return np.stack([softmax(scale * (Q @ K.T)) @ V for scale in scales])
