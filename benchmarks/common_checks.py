"""Checks as public courses and exercise sites write them, in eight styles, after their descriptions.

Each takes an exercise and an answer, and says how far the answer is from what the check asks for: up to 1 it is
accepted, and infinity stands for an error, a NaN or another shape. So a test can see that nothing is decided by the
last digits. None where a check of this style can't be written.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.answers.observe import copies, quiet
from sdpa_helpers.checking.exercise import Exercise


@dataclass(frozen=True)
class Sizes:
    """How large the inputs of a check are; the numbers of features are even, so that they make two heads."""

    batch: tuple[int, ...]
    n_q: int
    n_k: int
    d_k: int
    d_v: int


SMALL, SQUARE, UNEQUAL = Sizes((), 2, 3, 2, 2), Sizes((), 4, 4, 4, 4), Sizes((2,), 3, 5, 4, 6)


@dataclass(frozen=True)
class Draw:
    """What inputs are made from."""

    of: Sizes
    numbers: Callable[..., np.ndarray]
    """Called with the axes of an array."""
    mask: Callable[[int, int], np.ndarray] = lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)
    large: bool = False
    """Whether numbers are large: scores a thousand times, all others thirty times, whose products are scores."""
    full: bool = False
    """Whether arguments have another value than the simplest: those with a default, blocks, windows."""

    def __call__(self, axes: str) -> np.ndarray:
        """Numbers for a batch of these axes: of queries, of keys, of features d, of values' features v, or a digit."""
        factor = (1000.0 if axes == "qk" else 30.0) if self.large else 1.0
        return factor * self.numbers(*self.of.batch, *map(self.size, axes))

    def size(self, axis: str) -> int:
        return (
            int(axis) if axis.isdigit() else getattr(self.of, {"d": "d_k", "v": "d_v"}.get(axis, f"n_{axis}"))
        )


INPUTS: dict[str, Callable[[Draw], tuple]] = {
    "attention": lambda d: (d("qd"), d("kd"), d("kv"), d.mask(d.of.n_q, d.of.n_k)),
    "causal_mask_with_cache": lambda d: (d.of.n_q, d.of.n_k),
    "grouped_query_attention": lambda d: (d("6qd"), d("2kd"), d("2kv")),
    "linear_attention": lambda d: tuple(x.clip(-10, 10) for x in (d("qd"), d("kd"), d("kv"))),
    "log_softmax": lambda d: (d("qk"), *([0] if d.full else [])),
    "masked_softmax": lambda d: (d("qk"), d.mask(d.of.n_q, d.of.n_k)),
    "multi_head_attention": lambda d: (d("qd"), *_matrices(d), 2, d.mask(d.of.n_q, d.of.n_q)),
    "online_softmax": lambda d: (d("qk"), 3 if d.full else 2),
    "rotate": lambda d: (d("qd"), *([np.arange(d.of.n_q)[::-1], 99.0] if d.full else [np.arange(d.of.n_q)])),
    "scaled_scores": lambda d: (d("qd"), d("kd")),
    "sliding_window_mask": lambda d: (d.of.n_q, d.of.n_k, 3 if d.full else 2),
    "softmax": lambda d: (d("qk"), *([0] if d.full else [])),
    "softmax_backward": lambda d: (softmax(d("qk")), d("qk")),
    "tiled_attention": lambda d: (d("qd"), d("kd"), d("kv"), 2, 3 if d.full else 2, d.full),
}
"""Exercise → the arguments of a call."""


def _matrices(d: Draw) -> list[np.ndarray]:
    return [d.numbers(d.of.d_k, width) for width in (d.of.d_k, d.of.d_k, d.of.d_k, d.of.d_v)]


def _counted(*shape: int) -> np.ndarray:
    return np.arange(float(math.prod(shape))).reshape(shape) % 3


def _normal(seed: int) -> Callable[..., np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda *shape: rng.normal(size=shape)


def beyond(got, want, rtol: float = 1e-5, atol: float = 1e-8, *, shapes: bool = False) -> float:
    """How many times the tolerance of `np.allclose`; as there, shapes need only broadcast, unless asked for."""
    if isinstance(want, tuple):
        return max(beyond(g, w, rtol, atol, shapes=shapes) for g, w in zip(got, want, strict=True))
    got, want = np.asarray(got), np.asarray(want)
    if shapes and got.shape != want.shape:
        return math.inf
    got, want = got.astype(float), want.astype(float)
    off = np.where(got == want, 0.0, np.abs(got - want) / (atol + rtol * np.abs(want)))
    return float(np.nan_to_num(off, nan=np.inf).max(initial=0.0))


def _beside(asked: Exercise, answer: Callable, draw: Draw, **how) -> float:
    inputs = INPUTS[asked.name](draw)
    return beyond(answer(*copies(inputs)), asked.reference(*copies(inputs)), **how)


def by_hand(asked: Exercise, answer: Callable) -> float:
    """One small shape, small whole numbers, and what comes out written down to four digits."""
    inputs = INPUTS[asked.name](Draw(SMALL, _counted))
    want = asked.reference(*copies(inputs))
    want = tuple(np.round(1.0 * w, 4) for w in want) if isinstance(want, tuple) else np.round(1.0 * want, 4)
    return beyond(answer(*copies(inputs)), want, atol=1e-3)


def one_square(asked: Exercise, answer: Callable) -> float:
    """`np.allclose` to the reference on one random input, all of whose sizes are 4."""
    return _beside(asked, answer, Draw(SQUARE, _normal(0)))


def one_unequal(asked: Exercise, answer: Callable) -> float:
    """`np.allclose` to the reference on one random batch, in which no two sizes are equal."""
    return _beside(asked, answer, Draw(UNEQUAL, _normal(0)))


SHOULD_BE_ZERO: dict[str, Callable] = {
    "attention": lambda out: out[1].sum(axis=-1) - 1,
    "masked_softmax": lambda out: out.sum(axis=-1) - 1,
    "softmax": lambda out: out.sum(axis=-1) - 1,
    "log_softmax": lambda out: np.exp(out).sum(axis=-1) - 1,
    "softmax_backward": lambda out: out.sum(axis=-1),
    "online_softmax": lambda out: out[1].clip(max=1) - 1,
}
"""What a check of the shape adds; for all others, that no number is NaN or infinite."""


def shape_and_sum(asked: Exercise, answer: Callable) -> float:
    """The shape, and that rows add up to 1, where they should; else that all numbers are finite."""
    inputs = INPUTS[asked.name](Draw(UNEQUAL, _normal(0)))
    got, want = answer(*copies(inputs)), asked.reference(*copies(inputs))
    for g, w in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        if np.shape(g) != np.shape(w):
            return math.inf
    off = SHOULD_BE_ZERO.get(asked.name, lambda out: 0.0 * out)(got)
    return float(np.nan_to_num(np.abs(off), nan=np.inf).max() / 1e-5)


def as_the_framework(asked: Exercise, answer: Callable) -> float | None:
    """`allclose` at its default tolerance to what PyTorch has for it, on a random batch."""
    import torch
    from torch.nn import functional as F

    def heads(x, *rest):
        """Attention of several heads with these matrices, out of torch's fused call."""
        *inner, outer, n, mask = rest
        cut = ((x @ w).unflatten(-1, (n, -1)).transpose(-2, -3) for w in inner)
        made = F.scaled_dot_product_attention(*cut, attn_mask=mask)
        return made.transpose(-2, -3).flatten(-2) @ outer

    own = {
        "attention": F.scaled_dot_product_attention,
        "causal_mask_with_cache": lambda n, cached: torch.ones(n, cached + n).tril(cached),
        "grouped_query_attention": lambda *qkv: F.scaled_dot_product_attention(*qkv, enable_gqa=True),
        "log_softmax": lambda x: x.log_softmax(-1),
        "masked_softmax": lambda x, mask: x.masked_fill(~mask, -math.inf).softmax(-1),
        "multi_head_attention": heads,
        "online_softmax": lambda x, _: (x.amax(-1), (x.logsumexp(-1) - x.amax(-1)).exp()),
        "sliding_window_mask": lambda n, keys, window: torch.ones(n, keys).tril().triu(1 - window),
        "softmax": lambda x: x.softmax(-1),
        "softmax_backward": lambda w, g: torch._softmax_backward_data(g, w, -1, w.dtype),
        "tiled_attention": lambda q, k, v, *_: F.scaled_dot_product_attention(q, k, v),
    }
    if asked.name not in own:
        return None
    inputs = INPUTS[asked.name](Draw(UNEQUAL, _normal(1)))
    want = own[asked.name](*(torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in inputs))
    got = answer(*copies(inputs))
    if asked.name == "attention":
        got, _weights = got
    return beyond(got, tuple(map(np.asarray, want)) if isinstance(want, tuple) else np.asarray(want))


def loss_goes_down(asked: Exercise, answer: Callable) -> float | None:
    """Twelve steps of gradient descent on the first input end below nine tenths of the first loss."""
    if "mask" in asked.name.removeprefix("masked_"):
        return None  # nothing to train
    first, *rest = INPUTS[asked.name](Draw(SMALL, _normal(0)))
    other, given, is_slope = _normal(1)(*first.shape), tuple(rest), asked.name == "softmax_backward"
    goal = softmax(other) if is_slope else _flat(asked.reference(other, *copies(given)))

    def loss(x: np.ndarray) -> float:
        out = softmax(x) if is_slope else _flat(answer(x.copy(), *copies(given)))
        return float(np.square(out - goal).mean())

    def slope(x: np.ndarray) -> np.ndarray:
        """The slope of the loss: the answer's own where it is one, else by central differences, up to a factor."""
        if is_slope:
            return answer(softmax(x), softmax(x) - goal)
        steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
        return np.array([loss(x + s) - loss(x - s) for s in steps]).reshape(x.shape)

    x, began = first, loss(first)
    for _ in range(12):
        down = slope(x)
        x = x - 0.1 * down / (np.linalg.norm(down) + 1e-30)
    ratio = loss(x) / (0.9 * began)
    return ratio if math.isfinite(ratio) else math.inf


def _flat(out) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in (out if isinstance(out, tuple) else (out,))])


def three_hidden(asked: Exercise, answer: Callable) -> float:
    """Three fixed cases that nobody sees, with their shapes: a matrix, a batch, large numbers."""
    draws = (Draw(SQUARE, _normal(2)), Draw(UNEQUAL, _normal(3)), Draw(SQUARE, _normal(4), large=True))
    return max(_beside(asked, answer, draw, shapes=True) for draw in draws)


def thirty_drawn(asked: Exercise, answer: Callable) -> float:
    """Thirty random inputs with random sizes, masks, magnitudes and all arguments: what a careful author writes."""
    return max(_beside(asked, answer, draw, shapes=True) for draw in _draws())


def _draws() -> Iterator[Draw]:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_q, n_k, d_v = (int(n) for n in rng.integers(1, 7, size=3))
        batch = ((), (2,), (2, 3))[seed % 3]
        sizes = Sizes(batch, n_q, n_k, 2 * int(rng.integers(1, 4)), d_v)
        mask = rng.random((6, 6)) < 0.6
        large, full = seed // 3 % 2 == 1, seed % 2 == 1
        yield Draw(sizes, _normal(seed), lambda a, b, m=mask: m[:a, :b], large, full)


STYLES = (
    by_hand,
    one_square,
    one_unequal,
    shape_and_sum,
    as_the_framework,
    loss_goes_down,
    three_hidden,
    thirty_drawn,
)


def asked_by(style: Callable, asked: Exercise, answer: Callable) -> float | None:
    """What the check says, with infinity for an answer that fails with an error."""
    with quiet():
        try:
            return style(asked, answer)
        except Exception:  # whatever an answer raises: a check refuses it
            return math.inf
