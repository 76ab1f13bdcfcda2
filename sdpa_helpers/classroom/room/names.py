"""Names for those who join: a color and an animal, which can be called across a room and say nothing of a person."""

import secrets
from collections.abc import Set

COLORS = {
    "amber": "#c98a00", "blue": "#2f6fdb", "brown": "#8a5a2b", "copper": "#b4602f", "coral": "#e4674f",
    "gold": "#b8960c", "gray": "#7a7f87", "green": "#2f8f46", "indigo": "#4b4fc4", "lilac": "#a57bd1",
    "olive": "#77801f", "pink": "#d6579a", "purple": "#8440b4", "red": "#c93a3a", "teal": "#1b8a8a",
    "violet": "#6b3fd4",
}  # fmt: skip
"""Each with how it looks beside the name."""
ANIMALS = (
    "badger", "bear", "beaver", "bee", "bison", "camel", "cat", "cod", "crab", "crane", "crow", "deer", "dolphin",
    "dove",
    "duck", "eagle", "eel", "elk", "falcon", "ferret", "finch", "fox", "frog", "gecko", "goat", "goose", "gull", "hare",
    "hawk", "hedgehog", "heron", "horse", "ibex", "jay", "koala", "lark", "lemur", "lion", "llama", "lynx", "marten",
    "mole", "moose", "moth", "newt", "otter", "owl", "panda", "puffin", "quail", "rabbit", "raven", "robin", "salmon",
    "seal", "shrew", "stork", "swan", "tiger", "toad", "trout", "turtle", "vole", "walrus", "whale", "wolf", "wren",
    "yak",
)  # fmt: skip


def new_name(taken: Set[str]) -> str:
    """One that nobody has; with a number where all are given out."""
    free = [f"{color} {animal}" for color in COLORS for animal in ANIMALS]
    free = [name for name in free if name not in taken] or [f"{name} {len(taken)}" for name in free]
    return secrets.choice(free)


def color_of(name: str) -> str:
    """How its color looks."""
    return COLORS.get(name.split(" ")[0], "#7a7f87")
