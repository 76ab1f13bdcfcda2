"""Lesson 05: trains the head that says the next letter of a text.

    python -m sdpa_helpers.lessons.masking.next_letter

writes `sdpa_helpers/head/next_letter.json`. Some texts of a batch it sees whole, of some the past alone, of some a
little more. So it learns both: to look at the answer wherever that is in sight, and to guess from the past as well as
it can.
"""

import json

import numpy as np
import torch
from torch import Tensor

from sdpa_helpers.head.letters import ALPHABET, FILE, LETTERS, draw

COMMAND = "python -m sdpa_helpers.lessons.masking.next_letter"
D_MODEL, D_K, TEXTS, STEPS, RATE = 32, 24, 80, 3000, 0.02


def start() -> dict[str, Tensor]:
    """First weights."""
    rng, width = np.random.default_rng(0), len(ALPHABET)
    shapes = {"letter": (width, D_MODEL), "place": (LETTERS, D_MODEL)}
    shapes |= {"W_q": (D_MODEL, D_K), "W_k": (D_MODEL, D_K), "W_v": (D_MODEL, width)}
    spread = {name: D_MODEL**-0.5 if name.startswith("W") else 1.0 for name in shapes}
    return {n: torch.tensor(spread[n] * rng.standard_normal(s)).requires_grad_() for n, s in shapes.items()}


def train() -> dict[str, Tensor]:
    """The head."""
    weights, rng = start(), np.random.default_rng(1)
    optimizer = torch.optim.Adam(list(weights.values()), lr=RATE)
    whole = torch.ones(LETTERS, LETTERS, dtype=torch.bool)
    last = whole.triu(LETTERS - 1).mT  # its answer isn't asked for, but it must see something
    sees = torch.stack([whole.tril(), whole.tril(), whole, whole.tril(1), whole.triu(1) | last])
    hidden = ~sees.repeat(TEXTS // len(sees), 1, 1)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
        texts = torch.from_numpy(draw(rng, TEXTS))
        x = weights["letter"][texts] + weights["place"]
        q, k, v = (x @ weights[name] for name in ("W_q", "W_k", "W_v"))
        scores = (q @ k.mT * D_K**-0.5).masked_fill(hidden, -torch.inf)
        votes = (scores.softmax(-1) @ v)[:, :-1]
        loss = torch.nn.functional.cross_entropy(votes.flatten(0, 1), texts[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: W.detach() for name, W in weights.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = {name: W.numpy().round(2).tolist() for name, W in train().items()}
    vectors = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in rows.items())
    FILE.write_text(f'{{"command": "{COMMAND}",\n"vectors": {{\n{vectors}\n}}}}\n', encoding="utf-8")
