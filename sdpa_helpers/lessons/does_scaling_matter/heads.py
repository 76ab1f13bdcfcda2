"""Lesson 10: trained heads for the walk-through, small enough to show.

    python -m sdpa_helpers.lessons.does_scaling_matter.heads

writes `sdpa_helpers/show/trained_heads.json`, and the first head's matrices into `sdpa_helpers/head/looks_up.json`.
Here every word is a query and a key: five words that each say who drinks what, and a sixth that asks for one of them.
Trained is the answer of the last word alone. The four numbers of a value are votes for the four drinks, in the order
of "columns".
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

FILE = Path(__file__).parents[2] / "show" / "trained_heads.json"
LOOKS_UP = Path(__file__).parents[2] / "head" / "looks_up.json"
COMMAND = "python -m sdpa_helpers.lessons.does_scaling_matter.heads"
PEOPLE = ("Ann", "Ben", "Cem", "Dee", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea")
DRINKS = ("tea", "milk", "juice", "water")
SAYING, D_MODEL, LISTS = 5, 16, 64


class Lists(NamedTuple):
    """Lists of five people with their drinks, and which of the five is asked for."""

    people: Tensor
    drinks: Tensor
    asked: Tensor


def draw(rng: np.random.Generator, count: int) -> Lists:
    """Random lists; nobody stands in a list twice."""
    people = np.argsort(rng.random((count, len(PEOPLE))), axis=1)[:, :SAYING]
    drinks, asked = rng.integers(len(DRINKS), size=(count, SAYING)), rng.integers(SAYING, size=count)
    return Lists(*map(torch.from_numpy, (people, drinks, asked)))


def start(d_k: int, seed: int) -> dict[str, Tensor]:
    """First weights: coordinates of queries and keys have variance 1."""
    rng = np.random.default_rng(seed)
    shapes = {
        **{
            "question": (len(PEOPLE), D_MODEL),
            "person": (len(PEOPLE), D_MODEL),
            "drink": (len(DRINKS), D_MODEL),
        },
        **{"W_q": (D_MODEL, d_k), "W_k": (D_MODEL, d_k), "W_v": (D_MODEL, len(DRINKS))},
    }
    spread = {key: D_MODEL**-0.5 if key.startswith("W") else 1.0 for key in shapes}
    return {
        key: torch.tensor(spread[key] * rng.standard_normal(s)).requires_grad_() for key, s in shapes.items()
    }


def project(weights: dict[str, Tensor], lists: Lists) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of all six words of each list."""
    says = (weights["person"][lists.people] + weights["drink"][lists.drinks]) * 0.5**0.5
    asks = weights["question"][lists.people.gather(1, lists.asked[:, None])]
    words = torch.cat([says, asks], dim=1)
    return words @ weights["W_q"], words @ weights["W_k"], words @ weights["W_v"]


def answers(weights: dict[str, Tensor], lists: Lists, scale: float) -> tuple[Tensor, Tensor]:
    """(logits of the drinks, weights) of the word that asks."""
    q, k, v = project(weights, lists)
    A = (q[:, -1:] @ k.mT * scale).softmax(-1)
    return (A @ v)[:, 0], A[:, 0]


def train(d_k: int, scale: float, seed: int, steps: int, rate: float, adam: bool) -> dict[str, Tensor]:
    """One model."""
    weights, rng = start(d_k, seed), np.random.default_rng([3, seed])
    kind = torch.optim.Adam if adam else torch.optim.SGD
    optimizer = kind(list(weights.values()), lr=rate)
    for _ in range(steps):
        lists = draw(rng, LISTS)
        right = lists.drinks.gather(1, lists.asked[:, None])[:, 0]
        loss = torch.nn.functional.cross_entropy(answers(weights, lists, scale)[0], right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {key: W.detach() for key, W in weights.items()}


def share_right(weights: dict[str, Tensor], scale: float) -> float:
    """Accuracy on a thousand new lists."""
    lists = draw(np.random.default_rng(99), 1000)
    guessed = answers(weights, lists, scale)[0].argmax(1)
    return float((guessed == lists.drinks.gather(1, lists.asked[:, None])[:, 0]).double().mean())


def shown(weights: dict[str, Tensor], lists: Lists, scale: float) -> dict[str, Any]:
    """One list as the walk-through wants it."""
    q, k, v = (part[0].numpy().round(3).tolist() for part in project(weights, lists))
    people = [PEOPLE[i] for i in lists.people[0]]
    words = [f"{person} {DRINKS[i]}" for person, i in zip(people, lists.drinks[0], strict=True)]
    asks = f"{people[int(lists.asked[0])]}?"
    return {
        **{"words": [*words, asks], "queries": q, "keys": k, "values": v, "columns": list(DRINKS)},
        **{"scale": round(scale, 6), "is_causal": False, "query": SAYING},
    }


def first_list(weights: dict[str, Tensor], scale: float, right: bool) -> Lists:
    """The first list with five different answers at stake that the head gets right, or wrong while it is sure."""
    rng = np.random.default_rng(11)
    while True:
        lists = draw(rng, 1)
        wanted = int(lists.drinks[0, lists.asked[0]])
        if (lists.drinks[0] == wanted).sum() > 1 or len(set(lists.drinks[0].tolist())) < len(DRINKS):
            continue
        logits, A = answers(weights, lists, scale)
        if (int(logits.argmax()) == wanted) == right and (right or float(A.max()) > 0.9):
            return lists


def looks_up() -> dict[str, Tensor]:
    """The head that has learned, and that the learner's functions run."""
    return train(8, 8**-0.5, seed=0, steps=400, rate=0.01, adam=True)


def heads() -> list[dict[str, Any]]:
    """Three heads: one that has learned, the same one before, and one that has not learned everything."""
    scale = 8**-0.5
    good = looks_up()
    blank = {key: W.detach() for key, W in start(8, seed=0).items()}
    stuck = train(16, 1.0, seed=0, steps=400, rate=0.3, adam=False)
    lists = first_list(good, scale, right=True)
    return [
        described("looks up", "Trained for 400 steps with 1/√dₖ (Adam)", good, lists, scale),
        described("before training", "The same head before its first step", blank, lists, scale),
        described(
            "sure and wrong",
            "Trained for 400 steps without a scale (SGD, dₖ = 16): for one of twelve people the word that asks still "
            "looks at itself",
            stuck,
            first_list(stuck, 1.0, right=False),
            1.0,
        ),
    ]


def described(
    name: str, story: str, weights: dict[str, Tensor], lists: Lists, scale: float
) -> dict[str, Any]:
    """A head with its name and where it is from."""
    about = f"{story}; right in {share_right(weights, scale):.0%} of 1,000 new lists. From lesson 10."
    return {"name": name, "about": about, **shown(weights, lists, scale)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    lines = ",\n".join(json.dumps(head, ensure_ascii=False) for head in heads())
    FILE.write_text(f'{{"command": "{COMMAND}",\n"heads": [\n{lines}\n]}}\n', encoding="utf-8")
    rows = {name: W.numpy().round(3).tolist() for name, W in looks_up().items()}
    vectors = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in rows.items())
    LOOKS_UP.write_text(
        f'{{"command": "{COMMAND}",\n"people": {json.dumps(PEOPLE)},\n"drinks": {json.dumps(DRINKS)},\n'
        f'"vectors": {{\n{vectors}\n}}}}\n',
        encoding="utf-8",
    )
