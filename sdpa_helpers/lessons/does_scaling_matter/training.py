"""Lesson 10: small attention models that look things up, many of them trained at once.

A list shows pairs of a name and a value; a question is one of its names, and the answer is that name's value. The model
is one attention layer: embeddings (of a name in a question, of a name in a pair, of a value), W_q, W_k and W_v. Its
outputs are the logits of the values. `train` stacks models
with different seeds and learning rates in the first axis, so that one product of matrices serves all of them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor

from sdpa_helpers.lessons.does_scaling_matter.arms import TASK, Arm, Task


class Lists(NamedTuple):
    """Lists of several models: the first axis is the model."""

    names: Tensor
    """models × lists × pairs."""
    values: Tensor
    asked: Tensor
    """models × lists × questions: the place of the pair that holds the answer."""


class Looks(NamedTuple):
    """What was seen of each model, at step 0 and then every `every` steps: looks × models."""

    steps: Array
    accuracy: Array
    loss: Array
    entropy: Array
    """Of the weights, divided by ln(pairs): the entropy share, a mean over rows."""
    score_std: Array
    scale: Array
    """The factor at the scores. For QK-norm: the gain at the cosines."""
    gradient: Array
    """Norm of the gradient at W_q."""
    row_median: Array
    """Median over rows of the norm of the gradient at the scaled scores."""
    row_mean: Array


class Trained(NamedTuple):
    """Models after training."""

    looks: Looks
    weights: dict[str, Tensor]


def draw(task: Task, rngs: Sequence[np.random.Generator], lists: int) -> Lists:
    """Lists for each model, from its own random numbers. The names of a list differ; its values may repeat."""
    drawn = [
        (
            np.argsort(rng.random((lists, task.names)), axis=-1)[:, : task.pairs],
            rng.integers(task.values, size=(lists, task.pairs)),
            np.argsort(rng.random((lists, task.pairs)), axis=-1)[:, : task.asked],
        )
        for rng in rngs
    ]
    return Lists(*(torch.from_numpy(np.stack(part)) for part in zip(*drawn, strict=True)))


def start(task: Task, arm: Arm, seeds: Sequence[int]) -> dict[str, Tensor]:
    """First weights: every coordinate of a query or a key has variance 1. The seed decides, not the scale."""
    shapes = {
        "question": (task.names, task.d_model),
        "name": (task.names, task.d_model),
        "value": (task.values, task.d_model),
        "W_q": (task.d_model, arm.d_k),
        "W_k": (task.d_model, arm.d_k),
        "W_v": (task.d_model, task.values),
    }
    weights = {}
    for number, (key, shape) in enumerate(shapes.items()):
        first = [np.random.default_rng([1, number, seed]).standard_normal(shape) for seed in seeds]
        spread = 1.0 if key in ("question", "name", "value") else task.d_model**-0.5
        if arm.scale == "smaller start" and key in ("W_q", "W_k"):
            spread *= arm.d_k**-0.25  # on both sides: the scores start with variance 1
        weights[key] = torch.from_numpy(spread * np.stack(first)).float()
    if arm.scale in ("learned", "QK-norm"):
        # The logarithm is learned: the factor stays positive. QK-norm's start: Henry and others 2020, section 3.
        first_scale = arm.d_k**-0.5 if arm.scale == "learned" else np.log2(task.pairs**2 - task.pairs)
        weights["log_scale"] = torch.full((len(seeds), 1, 1), float(np.log(first_scale)))
    return weights


def factor(arm: Arm, weights: dict[str, Tensor]) -> Tensor | float:
    """What the scores are multiplied by."""
    if "log_scale" in weights:
        return weights["log_scale"].exp()
    return {"1": 1.0, "smaller start": 1.0, "1/√dₖ": arm.d_k**-0.5, "1/dₖ": 1 / arm.d_k}[arm.scale]


def scaled_scores(arm: Arm, weights: dict[str, Tensor], lists: Lists) -> Tensor:
    """models × lists × questions × pairs.

    A key is the projected sum of a name and a value, over √2. So its score is a sum of two numbers from two small
    tables, name by name and name by value: cheaper than to project every pair of every list.
    """
    q = weights["question"] @ weights["W_q"]
    by_name, by_value = (weights[part] @ weights["W_k"] * 0.5**0.5 for part in ("name", "value"))
    who = lists.names.gather(-1, lists.asked)
    S = _picked(q @ by_name.mT, who, lists.names) + _picked(q @ by_value.mT, who, lists.values)
    if arm.scale == "QK-norm":
        squares = (
            (by_name**2).sum(-1)[:, :, None] + (by_value**2).sum(-1)[:, None] + 2 * by_name @ by_value.mT
        )
        lengths = squares.flatten(1).gather(1, (lists.names * squares.shape[-1] + lists.values).flatten(1))
        lengths = lengths.view(lists.names.shape).clamp_min(1e-12).sqrt()
        own = q.norm(dim=-1).gather(1, who.flatten(1)).view(who.shape)
        S = S / (own[..., None] * lengths[:, :, None])
    scale = factor(arm, weights)
    return S * (scale[..., None] if isinstance(scale, Tensor) else scale)


def _picked(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """table[model, row, column] for each row and column of each list."""
    places = rows[..., None] * table.shape[-1] + columns[:, :, None]
    return table.flatten(1).gather(1, places.flatten(1)).view(places.shape)


def logits(weights: dict[str, Tensor], A: Tensor, lists: Lists) -> Tensor:
    """models × lists × questions × values: the weighted average of what the pairs say."""
    V = [(weights[part] @ weights["W_v"] * 0.5**0.5) for part in ("name", "value")]
    which = torch.arange(len(A))[:, None, None]
    return A @ (V[0][which, lists.names] + V[1][which, lists.values])


def loss_of(answers: Tensor, lists: Lists) -> Tensor:
    """−ln of the right value's share, for each model."""
    right = lists.values.gather(-1, lists.asked)
    chosen = answers.log_softmax(-1).gather(-1, right[..., None])
    return -chosen.mean(dim=(1, 2, 3))


Step = Callable[[dict[str, Tensor], dict[str, Tensor], int], None]


def stepper(optimizer: str, rates: Tensor) -> Step:
    """Plain SGD, or Adam with its usual constants; each model has its own rate."""
    rate, memory = rates[:, None, None], {}

    def sgd(weights: dict[str, Tensor], gradients: dict[str, Tensor], step: int) -> None:
        for key, g in gradients.items():
            weights[key].sub_(rate * g)

    def adam(weights: dict[str, Tensor], gradients: dict[str, Tensor], step: int) -> None:
        for key, g in gradients.items():
            first, second = memory.setdefault(key, (torch.zeros_like(g), torch.zeros_like(g)))
            first.lerp_(g, 0.1)
            second.lerp_(g * g, 0.001)
            size = (second / (1 - 0.999**step)).sqrt_().add_(1e-8)
            weights[key].sub_(rate / (1 - 0.9**step) * first / size)

    return {"SGD": sgd, "Adam": adam}[optimizer]


def look(task: Task, arm: Arm, weights: dict[str, Tensor], lists: Lists) -> tuple[Array, ...]:
    """One look at every model: the fields of `Looks`, without the step."""
    asked = {key: W.detach().requires_grad_() for key, W in weights.items()}
    S = scaled_scores(arm, asked, lists)
    A = S.softmax(-1)
    answers = logits(asked, A, lists)
    loss = loss_of(answers, lists)
    at_w, at_s = torch.autograd.grad(loss.sum(), [asked["W_q"], S])
    rows = at_s.flatten(1, 2).norm(dim=-1) * at_s[0, ..., 0].numel()
    right = answers.argmax(-1) == lists.values.gather(-1, lists.asked)
    entropy = -(A * A.clamp_min(1e-30).log()).sum(-1).mean((1, 2)) / np.log(task.pairs)
    scale = factor(arm, weights)
    scales = scale.flatten() if isinstance(scale, Tensor) else torch.full((len(A),), scale)
    found = (
        *(right.float().mean((1, 2)), loss, entropy, S.flatten(1).std(-1), scales),
        *(at_w.flatten(1).norm(dim=-1), rows.median(-1).values, rows.mean(-1)),
    )
    return tuple(part.detach().numpy().copy() for part in found)


def train(arm: Arm, rates: Sequence[float], seeds: Sequence[int], task: Task = TASK) -> Trained:
    """Train len(rates) models, each with its own rate and seed. A run that diverges has a loss that is not finite."""
    weights = start(task, arm, seeds)
    step_once = stepper(arm.optimizer, torch.tensor(rates))
    held_out = draw(task, [np.random.default_rng([2, seed]) for seed in seeds], task.held_out)
    streams = {seed: np.random.default_rng([3, seed]) for seed in seeds}
    order = list(streams)
    same = torch.tensor([order.index(seed) for seed in seeds])  # models of one seed see the same lists
    seen = [look(task, arm, weights, held_out)]
    for step in range(1, task.steps + 1):
        lists = Lists(*(part[same] for part in draw(task, list(streams.values()), task.lists)))
        asked = {key: W.requires_grad_() for key, W in weights.items()}
        loss = loss_of(logits(asked, scaled_scores(arm, asked, lists).softmax(-1), lists), lists).sum()
        gradients = dict(zip(asked, torch.autograd.grad(loss, list(asked.values())), strict=True))
        weights = {key: W.detach() for key, W in asked.items()}
        step_once(weights, gradients, step)
        if step % task.every == 0:
            seen.append(look(task, arm, weights, held_out))
    steps = np.arange(len(seen)) * task.every
    return Trained(Looks(steps, *(np.stack(part) for part in zip(*seen, strict=True))), weights)
