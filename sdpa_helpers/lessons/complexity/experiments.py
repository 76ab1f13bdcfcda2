"""Lesson 06: what needs a clock. Times are compared within one run only."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.course.needs import needs

# The processor's time is blind to other programs; where it ticks too slowly (Windows), the wall clock has to do.
_clock = time.process_time if time.get_clock_info("process_time").resolution < 1e-5 else time.perf_counter


@contextmanager
def _torch() -> Iterator[Any]:
    """torch on one thread without gradients; the caller's settings come back afterwards."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # read when torch loads: its profiler logs to stderr
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield torch
    finally:
        torch.set_num_threads(threads)


# Time -------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A number with a 95% bootstrap interval: the spread of repeated timings in one run, and nothing else."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} (95%: {self.low:.2f} to {self.high:.2f})"


class Timings(NamedTuple):
    sizes: Array
    seconds: Float[Array, "sizes repeats"]

    @property
    def medians(self) -> Float[Array, "sizes"]:
        """One time per size."""
        return np.median(self.seconds, axis=-1)

    @property
    def local_slopes(self) -> Float[Array, "sizes-1"]:
        """The exponent between each size and the next: constant only for a true power law."""
        return np.diff(np.log(self.medians)) / np.diff(np.log(self.sizes))


def interleaved(
    functions: Sequence[Callable[[], Any]], repeats: int, at_least: float = 1.5e-3
) -> Float[Array, "functions repeats"]:
    """Seconds per call. The functions take turns, so that a slow moment of the machine hits all of them."""
    calls = [1] * len(functions)
    for i, function in enumerate(functions):
        function()
        while _time(function, calls[i]) * calls[i] < at_least:
            calls[i] *= 2
    return np.array([[_time(f, n) for f, n in zip(functions, calls, strict=True)] for _ in range(repeats)]).T


def _time(function: Callable[[], Any], calls: int) -> float:
    start = _clock()
    for _ in range(calls):
        function()
    return max(_clock() - start, 1e-9) / calls


def fit(timings: Timings, seed: int = 0, resamples: int = 2000) -> Estimate:
    """The exponent p of time ∝ size^p: the slope in logarithms, least squares through the medians."""
    x = np.log(np.asarray(timings.sizes, dtype=float))
    x = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    drawn = _resample(timings.seconds, seed, resamples)
    slopes = np.log(np.median(drawn, axis=-1)) @ x
    low, high = np.percentile(slopes, [2.5, 97.5])
    return Estimate(float(np.log(timings.medians) @ x), float(low), float(high))


def ratio(slow: Float[Array, "repeats"], fast: Float[Array, "repeats"], seed: int = 0) -> Estimate:
    """How many times as long: medians, with an interval from the repeats."""
    drawn = np.median(_resample(np.stack([slow, fast]), seed, 2000), axis=-1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return Estimate(float(np.median(slow) / np.median(fast)), float(low), float(high))


def _resample(seconds: Float[Array, "k repeats"], seed: int, resamples: int) -> Float[Array, "m k repeats"]:
    rows, repeats = seconds.shape
    picks = np.random.default_rng(seed).integers(repeats, size=(resamples, rows, repeats))
    return np.take_along_axis(np.broadcast_to(seconds, picks.shape), picks, axis=-1)


def _step_by_step(q: Any, k: Any, v: Any) -> Any:
    """Attention as three torch calls, every matrix of scores written to memory."""
    return (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) @ v


def _random(torch: Any, *shapes: tuple[int, ...], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(rng.standard_normal(shape, dtype=np.float32)) for shape in shapes]


@needs("torch")
def time_against_n(
    sizes: Sequence[int] = (256, 512, 1024, 2048, 4096), d: int = 64, repeats: int = 9, *, fused: bool = False
) -> Timings:
    """Attention in torch, step by step or by the fused call, for growing sequences."""
    return _times(sizes, [(n, d) for n in sizes], repeats, fused)


@needs("torch")
def time_against_d(
    sizes: Sequence[int] = (16, 32, 64, 128, 256, 512), n: int = 1024, repeats: int = 9
) -> Timings:
    """Attention step by step, for growing heads."""
    return _times(sizes, [(n, d) for d in sizes], repeats, fused=False)


def _times(sizes: Sequence[int], shapes: Sequence[tuple[int, int]], repeats: int, fused: bool) -> Timings:
    with _torch() as torch:
        way = torch.nn.functional.scaled_dot_product_attention if fused else _step_by_step
        inputs = [_random(torch, *[(1, 1, *shape)] * 3) for shape in shapes]
        return Timings(np.array(sizes), interleaved([lambda x=x: way(*x) for x in inputs], repeats))


class LayerRace(NamedTuple):
    sizes: Array
    rest: Timings
    step_by_step: Timings
    fused: Timings

    def crossover(self, way: str) -> float:
        """The length at which attention, done in this way, takes as long as the rest; NaN beyond the sizes."""
        gap = np.log(getattr(self, way).medians / self.rest.medians)
        above = np.flatnonzero(gap > 0)
        if not above.size or above[0] == 0:
            return float("nan")
        i = above[0]
        share = -gap[i - 1] / (gap[i] - gap[i - 1])
        return float(np.exp((1 - share) * np.log(self.sizes[i - 1]) + share * np.log(self.sizes[i])))


@needs("torch")
def layer_race(
    d_model: int = 128, sizes: Sequence[int] = (128, 256, 512, 1024, 2048), repeats: int = 5
) -> LayerRace:
    """Time of one layer's projections and MLP against time of its attention, with heads of 64."""
    with _torch() as torch:
        attend = torch.nn.functional.scaled_dot_product_attention
        square, up, down = _random(torch, (d_model, d_model), (d_model, 4 * d_model), (4 * d_model, d_model))
        work: list[Callable[[], Any]] = []
        for n in sizes:
            (x,) = _random(torch, (n, d_model))
            heads = _random(torch, *[(1, d_model // 64, n, 64)] * 3)

            def rest(x: Any = x) -> Any:
                return [x @ square for _ in range(4)], torch.relu(x @ up) @ down

            work += [rest, lambda h=heads: _step_by_step(*h), lambda h=heads: attend(*h)]
        lengths, seconds = np.array(sizes), interleaved(work, repeats)
        return LayerRace(lengths, *(Timings(lengths, seconds[i::3]) for i in range(3)))


class Race(NamedTuple):
    step_by_step: Float[Array, "repeats"]
    fused: Float[Array, "repeats"]
    largest_difference: float
    flops: float


@needs("torch")
def race(n: int = 4096, d: int = 64, repeats: int = 5) -> Race:
    """Step by step against the fused call: time, and how far their results differ."""
    with _torch() as torch:
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = _random(torch, *[(1, 1, n, d)] * 3)
        seconds = interleaved([lambda: _step_by_step(q, k, v), lambda: attend(q, k, v)], repeats)
        difference = (_step_by_step(q, k, v) - attend(q, k, v)).abs().max()
        return Race(seconds[0], seconds[1], float(difference), 4.0 * n * n * d)


@needs("torch")
def which_kernel(**options: Any) -> list[str]:
    """What torch's profiler saw inside F.scaled_dot_product_attention, called with these options.

    `attn_mask=True` stands for a lower-triangular boolean mask.
    """
    with _torch() as torch:
        q, k, v = _random(torch, *[(1, 2, 128, 16)] * 3)
        if options.get("attn_mask"):
            options["attn_mask"] = torch.ones(128, 128, dtype=torch.bool).tril()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)
        seen = [event.key.removeprefix("aten::") for event in profile.key_averages()]
        return [name for name in seen if name.startswith("_scaled") or name in ("bmm", "_softmax")]


class CausalRace(NamedTuple):
    """Seconds of the fused call: on all pairs, with is_causal, and with the same triangle as a mask."""

    full: Float[Array, "repeats"]
    is_causal: Float[Array, "repeats"]
    as_mask: Float[Array, "repeats"]


@needs("torch")
def causal_race(n: int = 4096, d: int = 64, repeats: int = 5) -> CausalRace:
    """Whether the fused call leaves out what a causal mask hides."""
    with _torch() as torch:
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = _random(torch, *[(1, 1, n, d)] * 3)
        triangle = torch.ones(n, n, dtype=torch.bool).tril()
        ways = (
            lambda: attend(q, k, v),
            lambda: attend(q, k, v, is_causal=True),
            lambda: attend(q, k, v, attn_mask=triangle),
        )
        return CausalRace(*interleaved(ways, repeats))


# The roofline -------------------------------------------------------------------------------------------------


class Machine(NamedTuple):
    """peak: FLOP/s of the best large matrix product. bandwidth: bytes/s of a copy too large for the caches."""

    peak: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """The FLOPs per byte from which on the arithmetic is the limit."""
        return self.peak / self.bandwidth


def machine(repeats: int = 5) -> Machine:
    """Measure one core of the machine that runs this."""
    with _torch() as torch:
        n = 1024
        a, b = _random(torch, (n, n), (n, n))
        c = torch.empty_like(a)
        product = interleaved([lambda: torch.mm(a, b, out=c)], repeats, at_least=0.05)
        source, target = torch.ones(1 << 25), torch.zeros(1 << 25)  # 128 MiB each
        copy = interleaved([lambda: target.copy_(source)], repeats)
        return Machine(2 * n**3 / float(product.min()), 2 * source.nbytes / float(copy.min()))


class Point(NamedTuple):
    """One operation on the roofline, for `heads` heads together; decoding is one query against many keys."""

    name: str
    seconds: float
    n_q: int
    n_k: int
    heads: int


@needs("torch")
def roofline_points(n: int = 2048, d: int = 64, heads: int = 8, repeats: int = 3) -> list[Point]:
    """Time attention's steps, the whole, the fused call, and one step of decoding."""
    with _torch() as torch:
        attend = torch.nn.functional.scaled_dot_product_attention
        q, k, v = _random(torch, *[(1, heads, n, d)] * 3)
        scores = q @ k.mT
        weights, out = torch.empty_like(scores), torch.empty_like(q)
        last = q[:, :, -1:]
        work = {
            "QKᵀ": lambda: torch.matmul(q, k.mT, out=scores),
            "softmax": lambda: torch.softmax(scores, -1, out=weights),
            "A·V": lambda: torch.matmul(weights, v, out=out),
            "step by step": lambda: _step_by_step(q, k, v),
            "fused": lambda: attend(q, k, v),
        }
        seconds = np.median(interleaved(list(work.values()), repeats), axis=-1)
        points = [Point(name, float(s), n, n, heads) for name, s in zip(work, seconds, strict=True)]
        # Sixteen times the keys, so that the cache of keys and values does not fit into the processor's own.
        K, V = (x.repeat(1, 16, 1, 1) for x in (k, v))
        last = last.repeat(1, 16, 1, 1)
        decode = np.median(interleaved([lambda: attend(last, K, V)], repeats))
        return [*points, Point("decoding", float(decode), 1, n, 16 * heads)]
