"""Lesson 10: what is compared, and the task. Needs no torch: results are read without it."""

from typing import NamedTuple

SCALES = ("1", "1/√dₖ", "1/dₖ", "learned", "QK-norm", "smaller start")
OPTIMIZERS = ("SGD", "Adam")
WIDTHS = (16, 32, 64, 128, 256, 512)


class Task(NamedTuple):
    """What is looked up, and for how long the model may learn it. The pilot chose these numbers (see `pilot`)."""

    names: int = 64
    values: int = 16
    pairs: int = 16
    """Pairs in a list."""
    asked: int = 4
    """Questions to a list."""
    lists: int = 16
    """Lists in a step."""
    d_model: int = 32
    steps: int = 200
    every: int = 5
    """Steps between two looks at the accuracy."""
    held_out: int = 64
    """Lists at which one looks; no step trains on them."""


TASK = Task()


class Arm(NamedTuple):
    """One way to build and to train the model."""

    d_k: int
    scale: str
    optimizer: str


ARMS = tuple(Arm(d, scale, optimizer) for d in WIDTHS for optimizer in OPTIMIZERS for scale in SCALES)


def key_of(arm: Arm) -> str:
    """Its name in the file of results, e.g. "512 1/√dₖ Adam"."""
    return f"{arm.d_k} {arm.scale} {arm.optimizer}"
