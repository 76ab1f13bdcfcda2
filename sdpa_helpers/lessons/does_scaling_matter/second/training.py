"""The second experiment's training: the first one's model, with a rate of its own for W_q and W_k.

Scores come from q · k = x_q (W_q W_kᵀ) x_kᵀ: one small square matrix a model, however large d_k is.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor

from sdpa_helpers.lessons.does_scaling_matter.arms import Arm, Task
from sdpa_helpers.lessons.does_scaling_matter.second.design import ENOUGH, Way
from sdpa_helpers.lessons.does_scaling_matter.training import Lists, draw, logits, loss_of, start

Weights = dict[str, Tensor]


class Model(NamedTuple):
    """What is trained, and how: one arm."""

    task: Task
    way: Way
    d_k: int
    optimizer: str


def first_weights(model: Model, seeds: Sequence[int], dtype: torch.dtype = torch.float32) -> Weights:
    """The first experiment's, by seed; the way decides how large W_q and W_k are, and whether the factor learns."""
    weights = {
        key: W.to(dtype) for key, W in start(model.task, Arm(model.d_k, "1", model.optimizer), seeds).items()
    }
    for name in ("W_q", "W_k"):
        weights[name] = weights[name] * model.d_k**model.way.start
    if model.way.kind == "learned":
        weights["log_scale"] = torch.full((len(seeds), 1, 1), model.way.power * float(np.log(model.d_k)))
    if model.way.kind == "normed":
        theirs = start(model.task, Arm(model.d_k, "QK-norm", model.optimizer), seeds)
        weights["log_scale"] = theirs["log_scale"]
    return weights


def scores(model: Model, weights: Weights, lists: Lists) -> Tensor:
    """models × lists × questions × pairs, with the factor."""
    asks, name, value = weights["question"], weights["name"] * 0.5**0.5, weights["value"] * 0.5**0.5
    left = asks @ (weights["W_q"] @ weights["W_k"].mT)
    who = lists.names.gather(-1, lists.asked)
    S = _picked(left @ name.mT, who, lists.names) + _picked(left @ value.mT, who, lists.values)
    if model.way.kind == "normed":
        within_q, within_k = (weights[part] @ weights[part].mT for part in ("W_q", "W_k"))
        own = ((asks @ within_q) * asks).sum(-1).gather(1, who.flatten(1)).view(who.shape)
        by_name, by_value = ((part @ within_k * part).sum(-1) for part in (name, value))
        squares = by_name[:, :, None] + by_value[:, None] + 2 * name @ within_k @ value.mT
        at = lists.names * squares.shape[-1] + lists.values
        lengths = squares.flatten(1).gather(1, at.flatten(1)).view(at.shape)
        S = S / (own[..., None] * lengths[:, :, None]).clamp_min(1e-12).sqrt()
    learned = weights.get("log_scale")
    return S * (model.d_k**model.way.power if learned is None else learned.exp()[..., None])


def _picked(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    places = rows[..., None] * table.shape[-1] + columns[:, :, None]
    return table.flatten(1).gather(1, places.flatten(1)).view(places.shape)


def slope(model: Model, weights: Weights, lists: Lists) -> tuple[Tensor, Weights]:
    """Each model's loss, and its gradients."""
    asked = {key: W.detach().requires_grad_() for key, W in weights.items()}
    losses = loss_of(logits(asked, scores(model, asked, lists).softmax(-1), lists), lists)
    found = torch.autograd.grad(losses.sum(), list(asked.values()))
    return losses.detach(), dict(zip(asked, found, strict=True))


def rates_of(model: Model, rates: Tensor, weights: Weights) -> Weights:
    """Each parameter's rate, a number a model."""
    power = model.way.rates * (1 if model.optimizer == "SGD" else 0.5)
    own = model.d_k**power
    return {key: (rates * (own if key in ("W_q", "W_k") else 1.0))[:, None, None] for key in weights}


def step(weights: Weights, gradients: Weights, rates: Weights, memory: dict, count: int | None) -> None:
    """One step, in place: SGD's where there is no count, else Adam's of this number."""
    for key, g in gradients.items():
        if count is None:
            weights[key] -= rates[key] * g
            continue
        first, second = memory.setdefault(key, (torch.zeros_like(g), torch.zeros_like(g)))
        first.lerp_(g, 0.1)
        second.lerp_(g * g, 0.001)
        size = (second / (1 - 0.999**count)).sqrt_().add_(1e-8)
        weights[key] -= rates[key] / (1 - 0.9**count) * first / size


@lru_cache(maxsize=1)
def lessons(task: Task, seeds: tuple[int, ...]) -> list[Lists]:
    """The lists of every step, for every seed: drawn once for all arms."""
    streams = [np.random.default_rng([3, seed]) for seed in seeds]
    return [draw(task, streams, task.lists) for _ in range(task.steps)]


def train(model: Model, rates: Sequence[float], seeds: tuple[int, ...]) -> Array:
    """Every rate with every seed: the share right at each look, rates × seeds × looks.

    A run that has learned enough, or has diverged, isn't trained further: it counts as `ENOUGH`, or as 0, from then on.
    """
    task, count = model.task, len(rates) * len(seeds)
    right = np.zeros((task.steps // task.every, count))
    alive, of = torch.arange(count), torch.arange(len(seeds)).repeat(len(rates))
    weights = {key: W[of] for key, W in first_weights(model, seeds).items()}
    each = torch.tensor(rates).repeat_interleave(len(seeds))
    held_out = draw(task, [np.random.default_rng([2, seed]) for seed in seeds], task.held_out)
    memory: dict[str, tuple[Tensor, Tensor]] = {}
    for number, drawn in enumerate(lessons(task, seeds), 1):
        _, gradients = slope(model, weights, Lists(*(part[of[alive]] for part in drawn)))
        adam = number if model.optimizer == "Adam" else None
        step(weights, gradients, rates_of(model, each[alive], weights), memory, adam)
        if number % task.every:
            continue
        share, finite = shares(model, weights, Lists(*(part[of[alive]] for part in held_out)))
        going = finite & (share < ENOUGH)
        done, from_now = (~going).numpy(), slice(number // task.every - 1, None)
        right[from_now, alive.numpy()] = share.numpy()
        right[from_now, alive.numpy()[done]] = np.where(finite.numpy(), ENOUGH, 0.0)[done]
        alive = alive[going]
        weights = {key: W[going] for key, W in weights.items()}
        memory = {key: (first[going], second[going]) for key, (first, second) in memory.items()}
        if not len(alive):
            break
    return right.T.reshape(len(rates), len(seeds), -1)


@torch.no_grad()
def shares(model: Model, weights: Weights, lists: Lists) -> tuple[Tensor, Tensor]:
    """Of each model: the share of questions that it gets right, and whether its votes are finite."""
    votes = logits(weights, scores(model, weights, lists).softmax(-1), lists)
    hits = votes.argmax(-1) == lists.values.gather(-1, lists.asked)
    finite = votes.flatten(1).isfinite().all(-1)
    return hits.float().mean((1, 2)) * finite, finite
